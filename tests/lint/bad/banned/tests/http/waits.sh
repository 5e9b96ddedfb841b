# no sleep here
	sleep 1
