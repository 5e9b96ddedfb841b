#!/usr/bin/env python3
"""How connections live and end: keep-alive, pipelining, deadlines, sleepers, stopping (chapters 3.2 and 4.1). Speaks TAP."""
import os
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "lib"))
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from tap import check, equal, run, test  # noqa: E402
from wire import TIMEOUT_S, server  # noqa: E402

JSON = b'{"server":"a","tool":"b","reason":"' + b"x" * 4000 + b'"}'
SECRET = "planner"


@test
def a_refusal_with_a_body_leaves_the_connection_usable(running):
    with running.wire() as wire:
        for line, fields, token, status in (("POST /v1/absent HTTP/1.1", [], "planner", 404), ("POST /v1/echo HTTP/1.1", [], None, 401),
                                            ("POST /v1/open HTTP/1.1", [], "planner", 405), ("POST /v1/approve HTTP/1.1", [], "planner", 403),
                                            ("POST /v1/echo HTTP/1.1", ["Content-Type: text/plain"], "planner", 415),
                                            ("POST /v1/echo HTTP/1.1", ["Origin: null"], "planner", 403)):
            equal(wire.ask(line, *fields, body=JSON, token=token).status, status)
            equal(wire.ask("GET /v1/things/%d HTTP/1.1" % status).json()["p0"], str(status))


@test
def pipelined_requests_are_answered_in_their_order(running):
    with running.wire() as wire:
        wire.send(b"".join(wire.head("GET /v1/things/%d HTTP/1.1" % number) +
                           wire.head("POST /v1/write HTTP/1.1", "Content-Type: application/json", "Content-Length: 2") + b"{}"
                           for number in range(100)))
        for number in range(100):
            equal(wire.response().json()["p0"], str(number))
            equal(wire.response().json()["route"], "/v1/write")


@test
def an_old_client_gets_its_answer_and_the_end(running):
    with running.wire() as wire:
        equal(wire.ask("GET /v1/open HTTP/1.0").status, 200)
        check(wire.is_closed(), "open after HTTP/1.0")


@test
def every_answer_has_an_id_and_is_not_to_be_kept(running):
    with running.wire() as wire:
        trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        for line in ("GET /v1/open HTTP/1.1", "GET /v1/absent HTTP/1.1", "OPTIONS /v1/open HTTP/1.1"):
            answer = wire.ask(line, "traceparent: " + trace)
            check(answer.field("x-request-id").startswith("req_"), "no id of ours")
            equal(answer.field("cache-control"), "no-store")
            equal(answer.field("x-content-type-options"), "nosniff")
            equal(answer.field("traceparent"), trace)
            check("default-src 'none'" in answer.field("content-security-policy"), "no policy")
        equal(wire.ask("GET /v1/absent HTTP/1.1", "X-Request-Id: job-7.a_B").json()["instance"], "job-7.a_B")
        for value in ("a b", "x" * 65, "a/b", "<b>", "\xe9", ""):
            check(wire.ask("GET /v1/open HTTP/1.1", "X-Request-Id: " + value).field("x-request-id").startswith("req_"), value)
        check(wire.ask("GET /v1/open HTTP/1.1", "traceparent: 00-x").field("traceparent") is None, "a broken trace")


@test
def a_handler_that_fails_gives_500_and_no_reason(running):
    with running.wire() as wire:
        for line in ("GET /v1/fails HTTP/1.1", "POST /v1/hold-fails HTTP/1.1", "GET /v1/odd-header HTTP/1.1"):
            answer = wire.ask(line)
            equal((answer.status, answer.code), (500, "internal"), line)
            check("detail" not in answer.json() and answer.field("x-evil") is None, "it says why")


@test
def a_large_answer_arrives_whole(running):
    with running.wire() as wire:
        equal(len(wire.ask("GET /v1/large?bytes=20000000 HTTP/1.1").json()), 200000)
        equal(wire.ask("GET /v1/large?bytes=x HTTP/1.1").status, 400)


# ---- deadlines


@test
def headers_sent_byte_by_byte_are_cut_by_the_deadline(_):
    with server("header_ms=300") as running, running.wire() as slow, running.wire() as honest:
        data = slow.head("GET /v1/open HTTP/1.1", "X-A: " + "y" * 500)
        slow.socket.settimeout(0.02)  # how often a byte is sent
        ended = False
        for index in range(len(data)):
            try:
                slow.send(data[index:index + 1])
                if slow.more() == b"":
                    ended = True
                    break
            except TimeoutError:
                continue
            except ConnectionError:
                ended = True
                break
        check(ended and index < len(data) - 1, "%d bytes were taken" % index)
        equal(honest.ask("GET /v1/open HTTP/1.1").status, 200)


@test
def a_request_line_that_never_ends_is_cut_by_the_same_deadline(_):
    with server("header_ms=200") as running:
        for wire in (running.wire(), running.wire()):
            wire.send(b"GET /v1/op")
            check(wire.is_closed(), "something came")
        with running.wire() as wire:
            equal(wire.ask("GET /v1/open HTTP/1.1").status, 200)
            wire.send(b"GET /v1/op")
            check(wire.is_closed(), "something came")


@test
def half_a_body_is_cut_by_the_deadline_and_has_no_effect(_):
    with server("body_ms=200") as running, running.wire() as wire:
        wire.send(wire.head("POST /v1/hold HTTP/1.1", "Content-Type: application/json", "Content-Length: 999999") + JSON)
        check(wire.is_closed(), "an answer to half a body")
        equal(running.ask("held"), ["held", "0"])


@test
def an_idle_connection_is_closed_after_its_time_and_not_before_its_request(_):
    with server("idle_ms=200") as running, running.wire() as wire:
        equal(wire.ask("GET /v1/open HTTP/1.1").status, 200)
        check(wire.is_closed(), "something came")
        with running.wire() as silent:
            check(silent.is_closed(), "something came")


@test
def a_client_that_does_not_read_is_cut(_):
    with server("idle_ms=200", "step_ms=1") as running, running.wire() as wire:
        wire.request("GET /v1/large?bytes=29000000 HTTP/1.1")
        running.wait_for(lambda connections, sleepers, size: connections == 1)
        running.wait_for(lambda connections, sleepers, size: connections == 0)


@test
def near_the_limit_the_oldest_idle_connection_goes(_):
    with server("connections=40") as running:
        wires = []
        for _ in range(60):
            wires.append(running.wire())
            equal(wires[-1].ask("GET /v1/open HTTP/1.1").status, 200)
        check(wires[0].is_closed(), "the oldest lives")
        equal(wires[-1].ask("GET /v1/open HTTP/1.1").status, 200)
        check(running.figures()[0] <= 40, "too many connections")
        for wire in wires:
            wire.socket.close()


# ---- sleepers


@test
def two_hundred_sleepers_are_woken_by_another_thread(running):
    wires = [running.wire() for _ in range(200)]
    for number, wire in enumerate(wires):
        wire.request("POST /v1/hold?until=200&q=%d HTTP/1.1" % number)
    for number, wire in enumerate(wires):
        equal(wire.response().json()["q"], str(number))
        equal(wire.ask("GET /v1/things/1 HTTP/1.1").status, 200)
        wire.socket.close()


@test
def a_client_that_leaves_while_its_write_waits_does_no_harm(running):
    for _ in range(20):
        with running.wire() as wire:
            wire.request("POST /v1/hold HTTP/1.1", body=JSON)
    running.wait_for(lambda connections, sleepers, size: sleepers == 20)
    running.tell("release")
    running.wait_for(lambda connections, sleepers, size: sleepers == 0 and size == 0)
    equal(running.once("GET /v1/open HTTP/1.1").status, 200)


@test
def a_sleeper_that_nobody_wakes_is_answered_by_its_deadline(_):
    with server("sleep_ms=100") as running, running.wire() as wire:
        answer = wire.ask("POST /v1/hold HTTP/1.1", body=JSON)
        equal((answer.status, answer.code), (503, "outcome_unknown"))
        running.tell("release")
        equal(running.once("POST /v1/write HTTP/1.1").status, 200)
        running.wait_for(lambda connections, sleepers, size: sleepers == 0 and size == 0)


@test
def after_quiescing_new_work_is_refused_and_sleepers_are_answered(_):
    with server() as running, running.wire() as asleep, running.wire() as late:
        equal(late.ask("GET /v1/open HTTP/1.1").status, 200)
        asleep.request("POST /v1/hold HTTP/1.1")
        running.wait_for(lambda connections, sleepers, size: sleepers == 1)
        equal(running.ask("quiesce"), ["quiet"])
        answer = late.ask("POST /v1/write HTTP/1.1", body=b"{}")
        equal((answer.status, answer.code, answer.field("retry-after")), (503, "shutting_down", "1"))
        check(late.is_closed(), "open after 503")
        try:
            running.wire().socket.close()
            refused = False
        except ConnectionError:
            refused = True
        check(refused, "it still listens")
        running.tell("release")
        equal(asleep.response().status, 200)


def connect_until_refused(port, begun):
    """Connects and leaves, again and again, while anybody listens."""
    count = 0
    try:
        while True:
            socket.create_connection(("127.0.0.1", port), TIMEOUT_S).close()
            count += 1
            if count == 5:
                begun.set()
    except ConnectionError:
        begun.set()


@test
def quiescing_in_a_storm_of_connects_refuses_them_and_does_not_abort(_):
    for _ in range(10):
        with server() as running:
            begun = threading.Event()
            clients = [threading.Thread(target=connect_until_refused, args=(running.port, begun)) for _ in range(3)]
            for client in clients:
                client.start()
            begun.wait()
            equal(running.ask("quiesce"), ["quiet"])
            for client in clients:
                client.join()
            equal(running.stop(), 0)


@test
def at_the_limit_clients_wait_for_their_turn(_):
    with server("connections=10") as running:
        full = []
        for number in range(10):  # one by one: near the limit an idle one would have to go
            full.append(running.wire().request("POST /v1/hold HTTP/1.1", body=b"{}"))
            running.wait_for(lambda connections, sleepers, size, number=number: sleepers == number + 1)
        late = running.wire().request("GET /v1/open HTTP/1.1")
        equal(running.figures()[0], 10)
        running.tell("release")
        for wire in full:
            equal(wire.response().status, 200)
            wire.socket.close()
        equal(late.response().status, 200)


@test
def stopping_wakes_every_sleeper_and_does_not_abort(_):
    with server() as running:
        wires = [running.wire() for _ in range(50)]
        for wire in wires:
            wire.request("POST /v1/hold HTTP/1.1", body=b"{}")
        idle = running.wire()
        half = running.wire().send(b"GET /v1/op")
        running.wait_for(lambda connections, sleepers, size: sleepers == 50 and connections == 52)
        equal(running.stop(), 0)
        for wire in wires:
            equal(wire.response().code, "outcome_unknown")
            wire.socket.close()
        check(idle.is_closed() and half.is_closed(), "open after the end")


@test
def stopping_while_clients_hammer_does_not_abort(_):
    for _ in range(5):
        with server() as running:
            begun = threading.Barrier(9)

            def hammer(running=running, begun=begun):
                begun.wait()
                try:
                    with running.wire() as wire:
                        while wire.ask("POST /v1/write HTTP/1.1", body=b"{}").status == 200:
                            pass
                except (OSError, EOFError):
                    pass

            threads = [threading.Thread(target=hammer) for _ in range(8)]
            for thread in threads:
                thread.start()
            begun.wait()
            running.wait_for(lambda connections, sleepers, size: connections >= 4)
            equal(running.stop(), 0)
            for thread in threads:
                thread.join()


@test
def the_log_has_a_line_for_each_request_and_no_secret(_):
    with server() as running:
        running.once("GET /v1/things/a%1bb HTTP/1.1")
        running.once("GET /v1/things/7?q=CANARY HTTP/1.1", "X-Canary: CANARY")
        running.once("POST /v1/echo HTTP/1.1", body=b'{"a":"CANARY"}')
        equal(running.stop(), 0)
        lines = [line for line in running.log if " request " in line]
        equal(len(lines), 3)
        check("path=/v1/things/7 status=200" in lines[1], lines[1])
        text = "".join(running.log)
        check("CANARY" not in text and SECRET not in text, "the log holds a secret")


if __name__ == "__main__":
    run(server)
