#!/usr/bin/env python3
"""GET /v1/events: what watchers get, in which form, from where on, and what the slow and the many do to others. Speaks TAP."""
import contextlib
import json
import os
import resource
import socket
import sqlite3
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from daemon import TIMEOUT_S, Failed, check, equal, free, is_problem, reads, run_scenes, running, scene  # noqa: E402
from openapi import check_line  # noqa: E402

BEAT = "[events]\nbeat = 1\n"
SSE, LINES = "text/event-stream", "application/x-ndjson"


class Watch:
    """One client of the feed. next() waits for the next message: (id, type, data)."""

    def __init__(self, daemon, client, query="", last=None, accept=SSE, window=None):
        self.accept, self.text, self.body, self.ready = accept, b"", b"", []
        self.socket = socket.socket()
        if window:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        self.socket.settimeout(TIMEOUT_S)
        self.socket.connect(("127.0.0.1", daemon.port))
        head = "GET /v1/events%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: %s\r\n" % (query, daemon.port, accept)
        head += "Authorization: Bearer %s\r\n" % client.token
        if last is not None:
            head += "Last-Event-ID: %s\r\n" % last
        self.socket.sendall(head.encode() + b"\r\n")
        self.head = None

    def fill(self):
        piece = self.socket.recv(65536)
        if not piece:
            raise EOFError("the stream ended")
        self.text += piece
        if self.head is None and b"\r\n\r\n" in self.text:
            head, _, self.text = self.text.partition(b"\r\n\r\n")
            self.head = head.decode().lower()
        if self.head is not None:
            self.unchunk()

    def unchunk(self):
        while b"\r\n" in self.text:
            size, _, rest = self.text.partition(b"\r\n")
            length = int(size, 16)
            if length == 0:
                raise EOFError("the stream is complete")
            if len(rest) < length + 2:
                return
            self.body, self.text = self.body + rest[:length], rest[length + 2:]
            self.split()

    def split(self):
        end = b"\n\n" if self.accept == SSE else b"\n"
        while end in self.body:
            message, _, self.body = self.body.partition(end)
            if self.accept == SSE:
                fields = dict(line.split(": ", 1) for line in message.decode().split("\n"))
                self.ready.append((fields["id"], fields["event"], json.loads(fields["data"])))
            else:
                data = json.loads(message)
                self.ready.append((data["id"], data["type"], data))

    def next(self):
        while not self.ready:
            self.fill()
        found = self.ready.pop(0)
        check_line("/v1/events", found[2])
        return found

    def event(self, *types):
        """The next message that is no beat, or the next of these types."""
        while True:
            found = self.next()
            if found[1] in types or (not types and found[1] != "beat"):
                return found

    def until(self, last_id):
        """All events up to this one."""
        found = []
        while not found or int(found[-1][0]) < int(last_id):
            found.append(self.event())
        return found

    def ended(self):
        try:
            while True:
                self.fill()
        except (EOFError, ConnectionError):
            return True

    def close(self):
        self.socket.close()


def head_of_log(daemon):
    return daemon.admin.get("/v1/recovery?limit=1").must(200)["asOfEvent"]


def timeline(daemon, task):
    """Without the words for people, which the stream leaves out."""
    items = daemon.admin.get("/v1/tasks/%s/timeline?limit=500" % task).must(200)["items"]
    return [{name: value for name, value in item.items() if name != "words"} for item in items]


@scene
def a_watcher_is_told_of_each_event_as_timelines_show_it(daemon):
    watch = Watch(daemon, daemon.auditor)
    first = watch.next()
    equal(first[1], "beat")
    check("content-type: text/event-stream" in watch.head and "transfer-encoding: chunked" in watch.head, watch.head)
    equal(first[0], first[2]["asOfEvent"])
    world = daemon.world()
    world.submit(reads("a"))
    world.grant("a")
    world.approve()
    world.outcome(world.handoff("a"))
    found = [event for event in watch.until(head_of_log(daemon)) if event[2].get("task") == world.task_id()]
    equal([event[2] for event in found], timeline(daemon, world.task_id()))
    for number, name, data in found:
        equal((number, name), (data["id"], data["type"]))
    types = {event[1] for event in found}
    for wanted in ("task.status", "hold.opened", "hold.cleared", "grant.recorded", "run.claimed", "run.ended", "surface.handoff"):
        check(wanted in types, "%s is not among %s" % (wanted, sorted(types)))
    watch.close()


@scene
def json_lines_are_the_same_events(daemon):
    start = head_of_log(daemon)
    world = daemon.world()
    world.submit(reads("a"), free("b"))
    last = head_of_log(daemon)
    seen = {}
    for accept in (SSE, LINES):
        watch = Watch(daemon, daemon.admin, "?after=" + start, accept=accept)
        seen[accept] = watch.until(last)
        check("content-type: " + accept in watch.head, watch.head)
        watch.close()
    equal(seen[SSE], seen[LINES])
    equal([int(event[0]) for event in seen[SSE]], list(range(int(start) + 1, int(last) + 1)))


@scene
def a_client_goes_on_where_it_was_also_after_a_restart(daemon):
    world = daemon.world()
    start = head_of_log(daemon)
    world.submit(reads("a"))
    watch = Watch(daemon, daemon.admin, "?after=" + start)
    had = [watch.event(), watch.event()]
    watch.close()
    world.grant("a")
    daemon.restart()
    world.approve()
    last = head_of_log(daemon)
    watch = Watch(daemon, daemon.admin, "?after=1", last=had[-1][0])
    had += watch.until(last)
    equal([int(event[0]) for event in had], list(range(int(start) + 1, int(last) + 1)))
    world.submit(free("x"), name="later")
    check(watch.event()[0] == str(int(last) + 1), "it does not go on live")
    watch.close()


@scene
def what_is_not_in_the_log_is_a_reset(daemon):
    world = daemon.world()
    watch = Watch(daemon, daemon.admin, "?after=999999999")
    number, name, data = watch.next()
    equal((name, data["asOfEvent"]), ("reset", head_of_log(daemon)))
    equal(number, data["asOfEvent"])
    world.submit(free("a"))
    equal(watch.event()[0], str(int(number) + 1))
    watch.close()


@scene
def what_retention_took_away_is_a_reset_in_both_forms(_daemon):
    with running(BEAT) as daemon:
        daemon.world().submit(free("a"))
        equal(daemon.stop(), 0)
        # As retention leaves it: the first segment is gone, and its trim says so.
        with contextlib.closing(sqlite3.connect(os.path.join(daemon.state, "admitd.db"))) as db:
            through = db.execute("SELECT sequence FROM audit_checkpoints WHERE number = 1").fetchone()[0]
            db.execute("INSERT INTO audit_trims (through, after, digest, at) VALUES (?, 0, zeroblob(32), 1)", (through,))
            db.execute("DELETE FROM events WHERE sequence <= ?", (through,))
            db.commit()
        daemon.start()
        for accept in (SSE, LINES):
            for after in range(through):
                watch = Watch(daemon, daemon.admin, "?after=%d" % after, accept=accept)
                number, name, data = watch.next()
                equal((name, data["asOfEvent"], number), ("reset", head_of_log(daemon), data["asOfEvent"]))
                watch.close()
            watch = Watch(daemon, daemon.admin, "?after=%d" % through, accept=accept)
            equal(watch.event()[0], str(through + 1), "the first that is kept")
            watch.close()
        watch = Watch(daemon, daemon.admin, last="1")
        equal(watch.next()[1], "reset", "Last-Event-ID")
        watch.close()


@scene
def malformed_wishes_are_refused(daemon):
    for query in ("?after=x", "?after=-1", "?after=", "?after=1&after=2", "?limit=5", "?after=9999999999999999999"):
        is_problem(daemon.admin.get("/v1/events" + query), 400, "bad_request")
    answer = daemon.admin.request("GET", "/v1/events", None, {"Last-Event-ID": "five"})
    is_problem(answer, 400, "bad_request")
    is_problem(daemon.admin.get("/v1/events", Accept="application/json"), 406, "not_acceptable")
    is_problem(daemon.nobody.get("/v1/events"), 401, "unauthenticated")
    answer = daemon.admin.request("HEAD", "/v1/events")
    equal((answer.status, answer.headers["content-type"]), (200, "text/event-stream; charset=utf-8"))


@scene
def every_role_may_watch(daemon):
    for role in ("planner", "approver", "executor", "operator", "auditor", "admin"):
        watch = Watch(daemon, getattr(daemon, role))
        equal(watch.next()[1], "beat", role)
        watch.close()


@scene
def a_token_of_some_projects_hears_of_those_only(daemon):
    mine, other = daemon.world(), daemon.world()
    scoped = daemon.client("scoped", "auditor", projects=[mine.id])
    start = head_of_log(daemon)
    live = Watch(daemon, scoped)
    equal(live.next()[1], "beat")
    for world, name in ((other, "a"), (mine, "b"), (other, "c")):
        world.submit(reads("a"), name=name)
    mine.submit(free("end"), name="end")
    end = timeline(daemon, mine.task_id("end"))[-1]["id"]
    late = Watch(daemon, scoped, "?after=" + start)
    for watch in (live, late):
        found = watch.until(end)
        equal({event[2]["project"] for event in found}, {mine.id})
        equal(found[-1][0], end)
        watch.close()
    chosen = Watch(daemon, daemon.admin, "?after=%s&project=%s" % (start, other.id))
    equal(chosen.event()[2]["project"], other.id)
    chosen.close()


@scene
def a_stream_ends_with_its_token(daemon):
    client = daemon.client("leaver", "auditor")
    watch = Watch(daemon, client)
    watch.next()
    daemon.admin.delete("/v1/tokens/" + client.id).must(204)
    check(watch.ended(), "it goes on")


@scene
def a_beat_comes_each_interval_with_the_servers_time(daemon):
    watch = Watch(daemon, daemon.admin)
    began = time.monotonic()
    beats = [watch.event("beat") for _ in range(4)]
    check(2.5 < time.monotonic() - began < 20, "four beats took %.1f s" % (time.monotonic() - began))
    times = [beat[2]["serverTime"] for beat in beats]
    equal(times, sorted(times))
    check(len(set(times)) == 4, times)
    watch.close()


@scene
def a_slow_reader_is_bounded_and_holds_nobody_up(daemon):
    world = daemon.world()
    start = head_of_log(daemon)
    slow = Watch(daemon, daemon.admin, window=4096)
    quick = Watch(daemon, daemon.admin)
    quick.next()
    before = memory(daemon)
    for number in range(12):
        world.submit(*[reads("p%d" % index) for index in range(100)], name="t%d" % number)
    last = head_of_log(daemon)
    check(int(last) - int(start) > 1200, "too few events to be slow at")
    equal([int(event[0]) for event in quick.until(last)], list(range(int(start) + 1, int(last) + 1)))
    check(memory(daemon) - before < 64 * 1024 * 1024, "the daemon grew by %d KiB" % ((memory(daemon) - before) // 1024))
    equal([int(event[0]) for event in slow.until(last)], list(range(int(start) + 1, int(last) + 1)), "what the slow one missed")
    slow.close()
    quick.close()


def memory(daemon):
    with open("/proc/%d/status" % daemon.process.pid, encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("VmRSS")).split()[1]) * 1024


@scene
def two_hundred_clients_hear_the_same_and_more_than_may_are_told_to_wait(daemon):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, 2048), hard), hard))
    world = daemon.world()
    watches = [Watch(daemon, daemon.admin) for _ in range(200)]
    for watch in watches:
        equal(watch.next()[1], "beat")
    start = head_of_log(daemon)
    world.submit(reads("a"))
    world.grant("a")
    last = head_of_log(daemon)
    for watch in watches:
        equal([int(event[0]) for event in watch.until(last)], list(range(int(start) + 1, int(last) + 1)))
    more = [Watch(daemon, daemon.admin) for _ in range(56)]
    for watch in more:
        equal(watch.next()[1], "beat")
    answer = is_problem(daemon.admin.get("/v1/events"), 503, "queue_full")
    check("retry-after" in answer.headers, "no Retry-After")
    for watch in watches + more:
        watch.close()

    def is_served():
        watch = Watch(daemon, daemon.admin)
        try:
            while watch.head is None:
                watch.fill()
            return watch.head.startswith("http/1.1 200")
        finally:
            watch.close()
    daemon.wait_until(is_served, "room for a watcher")


@scene
def a_client_that_goes_is_forgotten_without_a_word(daemon):
    world = daemon.world()
    for _ in range(300):
        watch = Watch(daemon, daemon.admin)
        watch.socket.settimeout(0.5)
        watch.close()
    world.submit(reads("a"))

    def is_heard():
        watch = Watch(daemon, daemon.admin)
        try:
            return watch.next()[1] == "beat"
        except (EOFError, ValueError, KeyError, Failed):
            return False
        finally:
            watch.close()
    daemon.wait_until(is_heard, "room for a watcher")


@scene
def stopping_ends_the_streams_well_formed(daemon):
    watches = [Watch(daemon, daemon.admin) for _ in range(5)]
    for watch in watches:
        watch.next()
    began = time.monotonic()
    equal(daemon.stop(), 0)
    check(time.monotonic() - began < 15, "it took %.1f s" % (time.monotonic() - began))
    for watch in watches:
        try:
            while True:
                watch.fill()
        except EOFError as end:
            check("complete" in str(end), "a stream was cut")
    daemon.start()


if __name__ == "__main__":
    # A build with AddressSanitizer keeps what was freed, up to 256 MiB, and would be measured by that.
    os.environ["ASAN_OPTIONS"] = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "quarantine_size_mb=8")))
    run_scenes(BEAT)
