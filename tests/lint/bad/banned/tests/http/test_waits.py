import time
from time import sleep

time.sleep(1)
text = "asleep"
