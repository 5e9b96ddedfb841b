#!/usr/bin/env python3
"""A tool server on standard input and output that behaves as its first argument says."""
import json
import os
import subprocess
import sys
import threading

MODE = sys.argv[1] if len(sys.argv) > 1 else "good"
MARK = sys.argv[2] if len(sys.argv) > 2 else ""


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def answer(number, **members):
    say(json.dumps(dict({"jsonrpc": "2.0", "id": number}, **members)))


def refuse(number, message):
    answer(number, error={"code": -32000, "message": message})


def for_ever():
    threading.Event().wait()


def told():
    """What the process sees of the world around it."""
    if MODE == "env":
        return "env " + " ".join(sorted(key for key in os.environ if key != "LC_CTYPE"))
    if MODE == "place":
        numbers = sorted(int(name) for name in os.listdir("/proc/self/fd"))
        return "%s leader=%s fds=%s" % (os.getcwd(), os.getsid(0) == os.getpid(), [number for number in numbers[:-1] if number > 2])
    try:
        with open(MARK, "rb") as file:
            return "it read %d bytes" % len(file.read())
    except OSError as fault:
        return "open: " + os.strerror(fault.errno)


def on_initialize(number):
    if MODE == "dies":
        sys.exit(3)
    if MODE == "hangs":
        for_ever()
    if MODE == "garbage":
        say("Welcome to the server!")
    if MODE == "huge":
        say("x" * (2 << 20))
    if MODE == "echo":
        refuse(number, "bad token " + os.environ["TOKEN"])
    elif MODE in ("env", "place", "open"):
        refuse(number, told())
    elif MODE == "refuses":
        refuse(number, "no licence")
    elif MODE == "wrong":
        answer(number, result={"tools": 1})
    else:
        if MODE == "chatty":
            say(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "hi"}}))
            say(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}))
        answer(number, result={"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "fake", "version": "1"}})


def main():
    if MODE == "leaves":
        # One that leaves the session, and outlives its parent unless somebody looks after it.
        subprocess.Popen([sys.executable, __file__, "stays", MARK], start_new_session=True, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL)
    if MODE == "stays":
        for_ever()
    if MODE == "slow":
        threading.Event().wait(1)
    for line in sys.stdin:
        message = json.loads(line)
        if message["method"] == "initialize":
            on_initialize(message["id"])
        elif message["method"] == "tools/list":
            if MODE == "toolless":
                answer(message["id"], result={})
            else:
                answer(message["id"], result={"tools": [{"name": "list", "inputSchema": {"type": "object"}}]})
    if MODE == "stubborn":
        for_ever()


if __name__ == "__main__":
    main()
