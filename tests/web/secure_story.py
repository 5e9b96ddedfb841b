#!/usr/bin/env python3
"""secure_story.py - a daemon that speaks TLS, with one thing to decide, for the tests of the console over https: story.py's protocol."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "http"))
from daemon import reads  # noqa: E402
from secure import Secure  # noqa: E402


def main():
    with Secure() as secure:
        daemon = secure.daemon
        daemon.world().submit(reads("read-the-archive"))
        ana = daemon.client("ana", "approver", "operator", "auditor")
        print(json.dumps({"url": "https://127.0.0.1:%d" % daemon.port, "tokens": {"ana": ana.token}}), flush=True)
        for line in sys.stdin:
            if line.strip() == "renew":
                secure.renew("second")
                secure.hang_up()
            print("done", flush=True)


if __name__ == "__main__":
    main()
