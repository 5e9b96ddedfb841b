#!/usr/bin/env python3
"""Answers that are made while they are sent: order, bounds, clients that go, the end of the server (daemon/http/stream.h). Speaks TAP."""
import json
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "lib"))
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from tap import check, equal, run, test  # noqa: E402
from wire import server  # noqa: E402

LINE = 102  # bytes of one line of /v1/stream


def begin(wire, target="/v1/feed"):
    """Asks for a stream and reads its head; what gives its pieces."""
    wire.request("GET %s HTTP/1.1" % target)
    while b"\r\n\r\n" not in wire.read:
        check(wire.more(), "no head")
    head, wire.read = wire.read.split(b"\r\n\r\n", 1)
    check(head.startswith(b"HTTP/1.1 200"), head)
    check(b"\r\nTransfer-Encoding: chunked" in head, head)
    check(b"\r\nContent-Security-Policy" in head and b"\r\nX-Request-Id" in head, head)
    return wire.chunks()


@test
def each_line_arrives_when_it_is_written(running):
    with running.wire() as wire:
        pieces = begin(wire)
        for number in range(50):
            equal(running.ask("feed line %d" % number), ["fed", "1"])
            equal(next(pieces), b"line %d\n" % number)
        running.tell("end")
        equal(list(pieces), [])
        equal(wire.ask("GET /v1/things/after HTTP/1.1").json()["p0"], "after", "the connection is usable")
    running.wait_for_streams(lambda *now: now[0] == 0)


@test
def a_long_stream_arrives_whole_and_in_order(running):
    with running.wire() as wire:
        for line in ("GET /v1/stream?bytes=3000000 HTTP/1.1", "POST /v1/stream-later?bytes=3000000 HTTP/1.1"):
            body = wire.ask(line).body
            lines = body.splitlines()
            equal(len(lines), -(-3000000 // LINE))
            equal(len(set(lines)), 1)
            check("line" in json.loads(lines[0]), lines[0])
        equal(wire.ask("GET /v1/stream?bytes=0 HTTP/1.1").body, b"")
        equal(running.streams()[4], 0, "cut")


@test
def a_head_request_and_an_old_client_are_served(running):
    with running.wire() as wire:
        answer = wire.ask("HEAD /v1/stream?bytes=100000000 HTTP/1.1")
        equal((answer.status, answer.field("content-length")), (200, None))
        check(wire.is_closed(), "something came behind the head")
    running.wait_for_streams(lambda *now: now[0] == 0 and now[2] == now[3])
    with running.wire() as wire:
        wire.request("GET /v1/stream?bytes=1000 HTTP/1.0")
        while wire.more():
            pass
        head, body = wire.read.split(b"\r\n\r\n", 1)
        check(b"chunked" not in head, head)
        equal(len(body) % LINE, 0)
        equal(len(body), 10 * LINE)


@test
def a_client_that_does_not_read_holds_its_feeder_and_nothing_else(_):
    with server("idle_ms=2000") as running:
        with running.wire() as wire:
            wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            wire.request("GET /v1/stream?bytes=1000000000000 HTTP/1.1")
            running.wait_for_streams(lambda *now: now[1] > 8192)
            for number in range(200):
                equal(running.once("GET /v1/things/%d HTTP/1.1" % number).json()["p0"], str(number))
            # after its time the client is gone, and its feeder is told
            now = running.wait_for_streams(lambda *now: now[3] == 1)
            equal(now[4], 1, "cut")
            check(now[1] < 64 * 1024 * 1024, "the feeder ran ahead of its client: %d" % now[1])
        running.wait_for_streams(lambda *now: now[0] == 0)


@test
def a_client_that_goes_ends_its_feeder(running):
    before = running.streams()
    for _ in range(20):
        with running.wire() as wire:
            wire.request("GET /v1/stream?bytes=1000000000000 HTTP/1.1")
            check(wire.more(), "nothing came")
    running.wait_for_streams(lambda *now: now[0] == 0 and now[3] == before[3] + 20)
    equal(running.streams()[4], before[4] + 20)


@test
def an_offer_is_taken_whole_or_not_at_all(running):
    text = "x" * 40  # a feed holds 64 bytes
    with running.wire() as wire:
        pieces = begin(wire)
        equal(running.ask("feed " + "y" * 80), ["fed", "0"], "more than it ever holds")
        for _ in range(100):
            # whoever takes it tells the feeder before the next one is offered
            notices = running.streams()[5]
            equal(running.ask("feed " + text), ["fed", "1"])
            equal(next(pieces), text.encode() + b"\n")
            running.wait_for_streams(lambda *now, seen=notices: now[5] > seen)
        running.tell("end")
        equal(list(pieces), [])


@test
def what_is_answered_after_all_closes_the_stream(running):
    before = running.streams()
    answer = running.once("GET /v1/no-stream?bytes=100000000 HTTP/1.1")
    equal((answer.status, answer.code), (503, "jobs_full"))
    running.wait_for_streams(lambda *now: now[3] == before[3] + 1 and now[4] == before[4] + 1)


@test
def quiescing_ends_every_stream_with_what_was_written(_):
    with server() as running:
        wires = [running.wire() for _ in range(8)]
        streams = [begin(wire) for wire in wires]
        busy = running.wire()
        busy_pieces = begin(busy, "/v1/stream?bytes=1000000000000")
        next(busy_pieces)
        equal(running.ask("feed last"), ["fed", "8"])
        equal(running.ask("quiesce"), ["quiet"])
        for pieces in streams:
            equal(b"".join(pieces), b"last\n")
        for _ in busy_pieces:
            pass
        running.wait_for_streams(lambda *now: now[3] == 1)
        equal(running.ask("feed later"), ["fed", "0"])
        for wire in wires + [busy]:
            wire.socket.close()


@test
def stopping_does_not_wait_for_a_client_that_sleeps(_):
    with server() as running:
        wires = [running.wire() for _ in range(30)]
        for wire in wires:
            begin(wire)
        slow = running.wire()
        slow.request("GET /v1/stream?bytes=1000000000000 HTTP/1.1")
        check(slow.more(), "nothing came")
        equal(running.stop(), 0)
        for wire in wires + [slow]:
            wire.socket.close()


if __name__ == "__main__":
    run(server)
