#!/usr/bin/env python3
"""MCP over standard input and output: chapter 5.5's sentences and the cases K26 to K31 of 5-cases, message by message. Speaks TAP."""
import contextlib
import fcntl
import json
import os
import struct
import resource
import subprocess
import sys
import termios
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from rpc import LEGACY, META, MODERN, Stdio, check, equal, is_error, message, meta  # noqa: E402
from tap import run, test  # noqa: E402

MIB = 1024 * 1024


# ---- before initialize (K26)

@test
def before_initialize_a_request_is_refused_and_a_ping_is_answered():
    with Stdio() as server:
        is_error(server.exchange(message("tools/list")), -32600, 1)
        is_error(server.exchange(message("tools/call", {"name": "x"}, 2)), -32600, 2)
        equal(server.ask("ping"), {})
        server.initialize()
        check("tools" in server.ask("tools/list"), "no tools after initialize")


@test
def discovery_and_requests_of_the_stateless_era_need_no_initialize():
    with Stdio() as server:
        equal(server.ask("server/discover")["supportedVersions"], [MODERN])
        equal(server.ask("server/discover", modern=True)["supportedVersions"], [MODERN])
        equal(server.ask("tools/list", modern=True)["resultType"], "complete")
        # It opens no session for the other era.
        is_error(server.exchange(message("tools/list", number=9)), -32600, 9)


@test
def initialize_agrees_on_what_was_asked_for_or_on_our_newest():
    for asked in LEGACY:
        with Stdio() as server:
            equal(server.initialize(asked)["protocolVersion"], asked)
    for asked in (MODERN, "2099-01-01", "1999-01-01", "", "x"):
        with Stdio() as server:
            result = server.initialize(asked)
            equal(result["protocolVersion"], LEGACY[0], "for %r" % asked)
            equal(result["capabilities"], {"tools": {}})
            equal(result["serverInfo"]["name"], "admitd")
    with Stdio() as server:
        is_error(server.exchange(message("initialize", {"protocolVersion": 7})), -32602, 1)


# ---- the stateless era

@test
def a_stateless_request_says_what_it_is_or_is_refused():
    wrong = ({META + "protocolVersion": MODERN}, {META + "clientCapabilities": {}},
             {META + "protocolVersion": 1, META + "clientCapabilities": {}}, {META + "protocolVersion": MODERN, META + "clientCapabilities": []})
    with Stdio() as server:
        for one in wrong:
            is_error(server.exchange(message("tools/list", {"_meta": one})), -32602, 1)
        without = meta()
        del without[META + "clientInfo"]
        check("result" in server.exchange(message("tools/list", {"_meta": without})), "clientInfo was required")
        for version in ("2099-01-01", LEGACY[0], ""):
            error = is_error(server.exchange(message("tools/list", {"_meta": meta(version)})), -32022, 1)
            equal(error["data"], {"supported": [MODERN], "requested": version})


@test
def what_the_stateless_era_dropped_is_unknown_there():
    with Stdio() as server:
        for method in ("initialize", "ping", "logging/setLevel", "resources/subscribe", "tools/none"):
            is_error(server.exchange(message(method, {"protocolVersion": MODERN}, modern=True)), -32601, 1)


@test
def stateless_results_are_whole_named_and_say_how_long_they_may_be_kept():
    with Stdio() as server:
        for method in ("server/discover", "tools/list"):
            result = server.ask(method, modern=True)
            equal(result["resultType"], "complete")
            equal(result["_meta"][META + "serverInfo"]["name"], "admitd")
            check(result["ttlMs"] >= 0 and result["cacheScope"] in ("public", "private"), "no caching in %r" % result)
        server.initialize()
        equal(set(server.ask("tools/list")), {"tools"}, "members for the older era")


@test
def a_progress_token_doesnt_make_a_request_stateless():
    with Stdio() as server:
        server.initialize()
        equal(set(server.ask("tools/list", {"_meta": {"progressToken": 1}})), {"tools"})


# ---- lines (K27, K29, K30)

@test
def a_line_over_four_mib_is_refused_and_nothing_is_read_behind_it():
    for end in (b"\n", b""):
        with Stdio() as server:
            with contextlib.suppress(BrokenPipeError):     # it may end before the ping is written
                server.send(b"x" * (4 * MIB + 1) + end + (json.dumps(message("ping")).encode() + b"\n" if end else b""))
            is_error(server.answer(), -32600)
            equal(server.ends(), 1, "its exit status")


@test
def a_line_of_four_mib_is_taken():
    with Stdio() as server:
        line = json.dumps(message("ping")).encode()
        equal(server.exchange(line[:-1] + b" " * (4 * MIB - len(line)) + b"}\n")["result"], {})


@test
def a_bad_line_is_answered_and_the_next_one_is_served():
    bad = (b"{", b"", b"  ", b"nonsense", b'{"a":1}x', b'{"a":1,"a":2}', b'{"a":"\xff\xfe"}', b'{"id":1,"method":"ping","jsonrpc":"2.0\x00"}',
           b"[" * 65 + b"]" * 65, b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', b'{"n":1e999}')
    with Stdio() as server:
        for line in bad:
            is_error(server.exchange(line + b"\n"), -32700)
            equal(server.exchange(message("ping", number=3)), {"jsonrpc": "2.0", "id": 3, "result": {}})


@test
def what_is_json_and_no_request_is_refused():
    with Stdio() as server:
        for sent in (7, "ping", None, True, {}, {"id": 1}, {"jsonrpc": "1.0", "method": "ping", "id": None}, {"jsonrpc": "2.0", "method": 7}):
            number = sent.get("id") if isinstance(sent, dict) else None
            is_error(server.exchange(sent), -32600, number)
        is_error(server.exchange(dict(message("ping"), jsonrpc="1.0")), -32600, 1)
        is_error(server.exchange(dict(message("ping"), params=[1])), -32602, 1)


@test
def batches_are_refused_as_a_whole():
    with Stdio() as server:
        for batch in ([], [message("ping")], [message("ping"), message("ping", number=2)]):
            is_error(server.exchange(batch), -32600)
        equal(server.ask("ping"), {})


@test
def a_message_of_very_many_values_is_refused():
    with Stdio() as server:
        is_error(server.exchange(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[' + b"0," * 300000 + b"0]}}\n"), -32600)
        equal(server.exchange(message("ping", {"a": "," * 300000}))["result"], {})


@test
def an_id_split_over_two_writes_comes_back_whole():
    line = json.dumps(message("ping", number="ключ-日本"), ensure_ascii=False).encode() + b"\n"
    cut = line.index("日".encode()) + 1
    with Stdio() as server:
        server.send(line[:cut])
        wait_until(lambda: unread(server.process.stdin) == 0, "the first half to be read")
        equal(server.exchange(line[cut:])["id"], "ключ-日本")


@test
def the_last_line_needs_no_end():
    with Stdio() as server:
        server.send(json.dumps(message("ping")).encode())
        server.process.stdin.close()
        equal(server.answer()["result"], {})
        equal(server.ends(), 0, "its exit status")


# ---- ids (K28)

@test
def ids_are_strings_or_integers_of_53_bits_and_come_back_as_they_were():
    with Stdio() as server:
        for number in (42, "42", 0, -1, "", 9007199254740991, "a\"\\\n\u2028"):
            found = server.exchange(message("ping", number=number))["id"]
            equal((type(found), found), (type(number), number))
        for wrong in ("1.5", "null", "{}", "[]", "true", "9007199254740993", "-9007199254740993", "1.0"):
            is_error(server.exchange(b'{"jsonrpc":"2.0","id":%s,"method":"ping"}\n' % wrong.encode()), -32600)


@test
def notifications_and_answers_get_no_answer():
    with Stdio() as server:
        for sent in (message("notifications/initialized", number=None), message("notifications/cancelled", {"requestId": 1}, None),
                     message("tools/call", {"name": "x"}, None), message("nothing", number=None), {"jsonrpc": "2.0", "id": 5, "result": {}},
                     {"jsonrpc": "2.0", "id": 5, "error": {"code": 1, "message": "x"}}):
            server.send(sent)
        equal(server.exchange(message("ping", number=6))["id"], 6)


# ---- methods and tools

@test
def an_unknown_method_tool_or_cursor_is_told_apart():
    with Stdio() as server:
        server.initialize()
        is_error(server.exchange(message("resources/list")), -32601, 1)
        is_error(server.exchange(message("tools/list", {"cursor": "x"})), -32602, 1)
        for params in ({}, {"name": 7}, {"name": "none"}, {"name": "admission_approve"}, {"name": "recovery_list\u2028"}):
            is_error(server.exchange(message("tools/call", params)), -32602, 1)


# ---- its end, and a reader that stops (K31)

def status_of(pid):
    with open("/proc/%d/status" % pid, encoding="ascii") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def is_asleep(pid):
    return status_of(pid)["State"].startswith("S")


def unread(pipe):
    """Bytes that wait in it."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, struct.pack("i", 0)))[0]


def wait_until(condition, what):
    deadline = time.monotonic() + 60
    while not condition():
        check(time.monotonic() < deadline, "waited in vain for " + what)
        os.sched_yield()


@test
def the_end_of_the_input_ends_it():
    with Stdio() as server:
        server.process.stdin.close()
        equal(server.ends(), 0, "its exit status")
    with Stdio() as server:
        server.process.stdout.close()
        server.send(message("ping"))
        equal(server.process.wait(60), 1, "its exit status when nobody reads")


def peak_kib(server):
    return int(status_of(server.process.pid)["VmHWM"].split()[0])


@test
def a_reader_that_stops_is_waited_for_and_gets_its_answers_in_order():
    count = 40000
    # What a sanitizer keeps of freed memory is no cost of ours.
    with Stdio(env={"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"}) as server:
        server.initialize()
        before = peak_kib(server)
        feeder = subprocess.Popen([sys.executable, "-c", "import sys\nfor i in range(%d):\n sys.stdout.write(%r %% i)" % (
            count, '{"jsonrpc":"2.0","id":%d,"method":"tools/list"}\n')], stdout=server.process.stdin)
        # Both pipes are full: the server waits for its reader, and whoever writes to it waits for the server.
        wait_until(lambda: is_asleep(server.process.pid) and is_asleep(feeder.pid), "both to wait")
        for number in range(count):
            equal(server.answer()["id"], number)
        equal(feeder.wait(60), 0)
        grown = peak_kib(server) - before
        check(grown < 16 * 1024, "it grew by %d KiB" % grown)


@test
def it_starts_without_a_lock_beside_another_one():
    with Stdio() as one, Stdio() as other:
        one.initialize()
        for _ in range(3):
            with Stdio() as probe:
                probe.ask("server/discover", modern=True)
        other.initialize()
        equal(one.ask("ping"), {})


# ---- what it gave up

@test
def the_process_has_no_new_privileges_and_a_filter():
    with Stdio() as server:
        server.ask("ping")
        status = status_of(server.process.pid)
        equal(status["NoNewPrivs"], "1")
        equal(status["Seccomp"], "2", "the mode of its filter")


if __name__ == "__main__":
    run()
