#!/usr/bin/env python3
"""What the HTTP core refuses, bounds and survives (chapter 4.1, 6.2 "Abuse"), byte by byte on raw sockets. Speaks TAP."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "lib"))
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from tap import check, equal, run, test  # noqa: E402
from wire import server  # noqa: E402

JSON = b'{"server":"a","tool":"b","reason":"' + b"x" * 4000 + b'"}'
SECRET = "planner"


def refused_and_closed(running, data, status=400, code="bad_request"):
    """Sends bytes and, behind them, a whole request that must not be answered."""
    with running.wire() as wire:
        wire.send(data + wire.head("GET /v1/open HTTP/1.1"))
        answer = wire.response()
        equal(answer.status, status, repr(data[:60]))
        equal(answer.code, code, repr(data[:60]))
        equal(answer.field("connection"), "close")
        check(wire.is_closed(), "the connection lives on after %r" % data[:60])


def plain_head(running, first, *fields, token=SECRET):
    with running.wire() as wire:
        return wire.head(first, *fields, token=token)


def json_head(wire, path, *fields):
    return wire.head("POST %s HTTP/1.1" % path, "Content-Type: application/json", *fields)


def json_text(size):
    """A JSON text of that many bytes."""
    return b'"' + b"y" * (size - 2) + b'"'


# ---- malformed heads


@test
def header_names_that_are_no_tokens_end_the_connection(running):
    for field in ("Content-Length : 5", "X Y: 1", "X(Y): 1", ": 1", "X\x01: 1", "Content-Length\t: 5", "X\xe9: 1"):
        refused_and_closed(running, plain_head(running, "POST /v1/echo HTTP/1.1", field) + b"12345")


@test
def control_bytes_in_values_end_the_connection(running):
    for value in ("a\x01b", "a\x7fb", "\x1b[31m", "a\x0bb", "a\x00b", "b\x00\x00\x00\x00"):
        refused_and_closed(running, plain_head(running, "GET /v1/open HTTP/1.1", "X-Value: " + value))


@test
def folded_headers_and_bare_line_feeds_end_the_connection(running):
    with running.wire() as wire:
        host = b"Host: 127.0.0.1:%d\r\n" % wire.port
    for data in (b"GET /v1/open HTTP/1.1\r\n" + host + b"X-A: b\r\n c\r\n\r\n",
                 b"GET /v1/open HTTP/1.1\r\n" + host + b"X-A: b\r\n\tContent-Length: 5\r\nX-B: c\r\n\r\n",
                 b"GET /v1/open HTTP/1.1\n" + host + b"\r\n",
                 b"GET /v1/open HTTP/1.1\r\n" + host + b"X-A: b\nX-B: c\r\n\r\n",
                 b"GET /v1/open HTTP/1.1\r\n" + host + b"X-A: b\n\r\n",
                 b"GET /v1/open HTTP/1.1\r\n" + host + b"X-A: b\r\n\n"):
        refused_and_closed(running, data)


@test
def ordinary_heads_of_odd_looks_are_taken(running):
    for fields in (["X-A:b"], ["X-A:  \t b"], ["X-A: b  "], ["X-A:"], ["X-A: " + "y" * 3000], ["x!#$%&'*+-.^_`|~1: b"]):
        equal(running.once("GET /v1/open HTTP/1.1", *fields).status, 200, repr(fields[0][:20]))
    many = ["X-%d: %d" % (number, number) for number in range(50)]
    equal(running.once("GET /v1/open HTTP/1.1", *many).status, 200)


@test
def two_hosts_or_none_end_the_connection(running):
    refused_and_closed(running, plain_head(running, "GET /v1/open HTTP/1.1", "Host: 127.0.0.1:%d" % running.port))
    refused_and_closed(running, b"GET /v1/open HTTP/1.1\r\nX-A: b\r\n\r\n")
    refused_and_closed(running, b"GET /v1/open HTTP/1.0\r\nX-A: b\r\n\r\n")


@test
def doubtful_lengths_end_the_connection(running):
    line = "POST /v1/echo HTTP/1.1"
    for fields in (["Content-Length: 2", "Content-Length: 2"], ["Content-Length: 2", "Content-Length: 3"],
                   ["Content-Length: 2", "Transfer-Encoding: chunked"], ["Transfer-Encoding: chunked", "Content-Length: 2"],
                   ["Transfer-Encoding: gzip"], ["Transfer-Encoding: gzip, chunked"], ["Transfer-Encoding: identity"],
                   ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], ["Transfer-Encoding: xchunked"],
                   ["transfer-encoding: chunked, chunked"]):
        refused_and_closed(running, plain_head(running, line, "Content-Type: application/json", *fields) + b"{}")


@test
def a_length_that_is_no_number_is_never_taken(running):
    for value in ("+2", "-1", "0x2", "2 ", "2, 2", "99999999999999999999999", ""):
        with running.wire() as wire:
            wire.send(json_head(wire, "/v1/echo", "Content-Length: " + value) + b"{}")
            while wire.more():
                pass
            # the library answers these itself and closes, saying its head twice
            check(wire.read[:13] in (b"HTTP/1.1 400 ", b"HTTP/1.1 413 "), "%r gave %r" % (value, wire.read[:40]))
            check(b"200 OK" not in wire.read, "taken after %r" % value)


@test
def targets_that_are_no_paths_end_the_connection(running):
    for target in ("http://127.0.0.1/v1/open", "https://x/", "v1/open", "?q=1", "127.0.0.1:80"):
        refused_and_closed(running, plain_head(running, "GET %s HTTP/1.1" % target))
    refused_and_closed(running, plain_head(running, "GET * HTTP/1.1"))
    refused_and_closed(running, plain_head(running, "CONNECT example.com:443 HTTP/1.1"))


@test
def paths_with_bytes_no_path_may_hold_end_the_connection(running):
    for path in ("/v1/things/7%00/x", "/v1/things/7%2Fapprove", "/v1/things/7%2fx", "/v1/things/7%0d%0aX-A:%20b",
                 "/v1/things/%0a", "/v1/things/%1f", "/v1/things/%7f", "/v1/things/%zz", "/v1/things/%2", "/v1/things/%",
                 "/v1/things/%ff", "/v1/things/%c0%af", "/v1/things/%ed%a0%80", "/v1/things/%2e%2e/x", "/v1/things/..",
                 "/v1/things/.", "/v1/things/a#b", "/v1/things/\xe9", "/v1/things/a\x01", "/v1/things/a b",
                 "/v1/things/7?q=7%00x", "/v1/things/7?q=%0d", "/v1/things/7?q=%zz", "/v1/things/7?q=1&q=2",
                 "/v1/things/7?q=%ff", "/v1/things/7?" + "&".join("a%d=1" % number for number in range(33))):
        refused_and_closed(running, plain_head(running, "GET %s HTTP/1.1" % path))


@test
def raw_nul_in_a_target_ends_the_connection(running):
    refused_and_closed(running, plain_head(running, "GET /v1/open\0/secret HTTP/1.1"))
    refused_and_closed(running, plain_head(running, "GET  /v1/open HTTP/1.1"))


@test
def too_many_or_too_large_header_fields_get_431(running):
    for fields in (["X-%d: 1" % number for number in range(70)], ["X-%d: %s" % (number, "y" * 1500) for number in range(6)]):
        with running.wire() as wire:
            wire.send(wire.head("GET /v1/open HTTP/1.1", *fields))
            equal(wire.response().status, 431)
            check(wire.is_closed(), "open after 431")


@test
def an_endless_header_is_cut_off_by_size(running):
    with running.wire() as wire:
        wire.send(b"GET /v1/open HTTP/1.1\r\nX-A: " + b"y" * 30000)
        equal(wire.response().status, 431)


# ---- methods


@test
def unknown_methods_get_501_and_end_the_connection(running):
    for method in ("get", "FROB", "Post", "GETX", "PROPFIND"):
        refused_and_closed(running, plain_head(running, method + " /v1/open HTTP/1.1"), 501, "not_implemented")


@test
def known_methods_that_a_route_lacks_get_405_with_allow(running):
    with running.wire() as wire:
        for method in ("DELETE", "TRACE", "PATCH", "POST"):
            answer = wire.ask(method + " /v1/open HTTP/1.1")
            equal((answer.status, answer.code), (405, "method_not_allowed"), method)
            equal(answer.field("allow"), "GET, HEAD, OPTIONS")
        equal(wire.ask("DELETE /v1/things/1 HTTP/1.1").field("allow"), "GET, HEAD, PUT, OPTIONS")
        equal(wire.ask("GET /v1/echo HTTP/1.1").field("allow"), "POST, OPTIONS")


@test
def head_of_a_writing_route_does_nothing(running):
    with running.wire() as wire:
        answer = wire.ask("HEAD /v1/write HTTP/1.1")
        equal((answer.status, answer.field("allow")), (405, "POST, OPTIONS"))
        equal(wire.ask("GET /v1/open HTTP/1.1").status, 200)


@test
def head_has_the_head_of_get_and_no_body_and_the_next_request_is_read_right(running):
    with running.wire() as wire:
        wire.send(wire.head("HEAD /v1/things/1 HTTP/1.1") + wire.head("GET /v1/things/2 HTTP/1.1"))
        head = wire.response(has_body=False)
        got = wire.response()
        equal((head.status, head.body), (200, b""))
        equal(int(head.field("content-length")), len(got.body))
        equal(head.field("etag"), '"7"')
        equal(got.json()["p0"], "2")


@test
def options_tells_methods_and_allows_no_foreign_page(running):
    for target, allow in (("/v1/things/1", "GET, HEAD, PUT, OPTIONS"), ("*", "GET, HEAD, POST, PUT, DELETE, OPTIONS")):
        answer = running.once("OPTIONS %s HTTP/1.1" % target, "Origin: http://evil.example",
                              "Access-Control-Request-Method: PUT", token=None)
        equal((answer.status, answer.field("allow"), answer.body), (204, allow, b""))
        check(not any(name.startswith("access-control") for name in answer.fields), "CORS headers")


# ---- routes


@test
def segments_are_decoded_once_and_never_split_again(running):
    with running.wire() as wire:
        equal(wire.ask("GET /v1/things/a%20b%25252F HTTP/1.1").json()["p0"], "a b%252F")
        equal(wire.ask("GET /v1/things/caf%C3%A9/parts/%3F%26 HTTP/1.1").json()["p1"], "?&")
        equal(wire.ask("GET /v1/things/7;x=1 HTTP/1.1").json()["p0"], "7;x=1")
        equal(wire.ask("GET /v1/things/7?q=a%2Fb+c%2B&empty HTTP/1.1").json()["q"], "a/b c+")
        equal(wire.ask("GET /v1/things/7?q= HTTP/1.1").json()["q"], "")
        equal(wire.ask("GET /v1/things/latest HTTP/1.1").json()["route"], "/v1/things/latest")
        equal(wire.ask("GET / HTTP/1.1").json()["route"], "/")


@test
def what_differs_by_a_byte_is_another_path(running):
    with running.wire() as wire:
        for path in ("//v1///open", "/v1/open/", "/V1/open", "/v1/open.", "/v1/things/", "/v1//things/1", "/v1", "//",
                     "/v1/things/1/parts", "/" + "a/" * 40):
            answer = wire.ask("GET %s HTTP/1.1" % path)
            equal((answer.status, answer.code), (404, "not_found"), path)


# ---- who asks, and from where


@test
def a_request_without_a_valid_token_gets_401(running):
    with running.wire() as wire:
        for fields in ([], ["Authorization: Bearer wrong"], ["Authorization: Basic cGxhbm5lcg=="], ["Authorization: Bearer"],
                       ["Authorization: Bearer plan ner"], ["Authorization: planner"], ["Authorization: Bearer " + "x" * 300]):
            answer = wire.ask("GET /v1/things/1 HTTP/1.1", *fields, token=None)
            equal((answer.status, answer.code), (401, "unauthenticated"), repr(fields))
            equal(answer.field("www-authenticate"), 'Bearer realm="admitd"')
        equal(wire.ask("GET /v1/things/1 HTTP/1.1", "authorization: bearer planner", token=None).status, 200)


@test
def a_token_without_the_role_gets_403_with_the_roles_needed(running):
    with running.wire() as wire:
        answer = wire.ask("POST /v1/approve HTTP/1.1")
        equal((answer.status, answer.code), (403, "forbidden"))
        equal(answer.json()["roleNeeded"], ["approver", "operator"])
        equal(wire.ask("POST /v1/approve HTTP/1.1", token="approver").status, 200)
        equal(wire.ask("POST /v1/approve HTTP/1.1", token="admin").status, 200)


@test
def a_run_token_opens_its_own_routes_only(running):
    with running.wire() as wire:
        equal(wire.ask("GET /v1/run HTTP/1.1", token="art_run").json()["run"], "run_1")
        equal(wire.ask("GET /v1/things/1 HTTP/1.1", token="art_run").status, 403)
        equal(wire.ask("GET /v1/run HTTP/1.1", token="planner").status, 403)


@test
def wrong_tokens_are_budgeted_and_right_ones_still_served(_):
    with server("auth_failures=3") as running, running.wire() as wire:
        found = [wire.ask("GET /v1/things/1 HTTP/1.1", token="wrong").status for _ in range(5)]
        equal(found, [401, 401, 401, 429, 429])
        answer = wire.ask("GET /v1/things/1 HTTP/1.1", token="wrong")
        equal(answer.code, "rate_limited")
        check(1 <= int(answer.field("retry-after")) <= 61, "Retry-After")
        equal(wire.ask("GET /v1/things/1 HTTP/1.1").status, 200)
        equal(wire.ask("GET /v1/things/1 HTTP/1.1", token=None).status, 401)


@test
def only_hosts_we_were_told_are_served(running):
    port = running.port
    table = (("127.0.0.1:%d", 200), ("localhost:%d", 200), ("[::1]:%d", 200), ("LOCALHOST:%d", 200),
             ("admit.example:%d", 200), ("proxy.example:443", 200), ("127.0.0.1", 403), ("evil.example", 403),
             ("localhost.evil.example:%d", 403), ("127.0.0.1.nip.example:%d", 403), ("0x7f.1:%d", 403), ("127.0.0.1:1", 403),
             ("localhost.:%d", 403), ("127.0.0.1:%d@evil.example", 403), ("proxy.example", 403), ("", 403),
             ("proxy.example:%d", 403), ("127.0.0.1:%d0", 403))
    with running.wire() as wire:
        for host, status in table:
            host = host.replace("%d", str(port))
            answer = wire.ask("GET /v1/open HTTP/1.1", "Host: " + host, host=False)
            equal(answer.status, status, host)
            if status == 403:
                equal((answer.code, "detail" in answer.json()), ("origin", False))


@test
def only_our_own_pages_may_ask(running):
    port = running.port
    table = (("http://127.0.0.1:%d" % port, 200), ("null", 403), ("http://127.0.0.1", 403), ("https://127.0.0.1:%d" % port, 403),
             ("http://evil.example", 403), ("http://localhost:3000", 403), ("http://localhost:%d" % port, 403), ("", 403),
             ("HTTP://127.0.0.1:%d" % port, 403), ("http://127.0.0.1:%d/" % port, 403))
    with running.wire() as wire:
        for origin, status in table:
            for line in ("GET /v1/things/1 HTTP/1.1", "POST /v1/optional HTTP/1.1"):
                equal(wire.ask(line, "Origin: " + origin).status, status, origin)


@test
def a_browser_that_hides_the_origin_may_not_write(running):
    with running.wire() as wire:
        for site in ("cross-site", "same-site", "none", "same-origin"):
            equal(wire.ask("POST /v1/optional HTTP/1.1", "Sec-Fetch-Site: " + site).status, 403, site)
        equal(wire.ask("GET /v1/things/1 HTTP/1.1", "Sec-Fetch-Site: cross-site").status, 403)
        equal(wire.ask("GET / HTTP/1.1", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate").status, 200)
        equal(wire.ask("GET /v1/things/1 HTTP/1.1", "Sec-Fetch-Site: same-origin").status, 200)
        own = "Origin: http://127.0.0.1:%d" % running.port
        equal(wire.ask("POST /v1/optional HTTP/1.1", "Sec-Fetch-Site: same-origin", own).status, 200)


# ---- bodies


@test
def bodies_that_are_not_called_json_get_415(running):
    table = (([], 415), (["Content-Type: text/plain"], 415), (["Content-Type: application/x-www-form-urlencoded"], 415),
             (["Content-Type: application/json-patch+json"], 415), (["Content-Type: application/json; charset=latin1"], 415),
             (["Content-Type: text/plain", "Content-Type: application/json"], 415), (["Content-Type: "], 415),
             (["Content-Type: application/json", "Content-Type: application/json"], 415),
             (["Content-Type: APPLICATION/JSON; charset=utf-8"], 200), (["Content-Type: application/json;charset=\"UTF-8\""], 200),
             (["Content-Type: application/json"], 200))
    with running.wire() as wire:
        for fields, status in table:
            for path in ("/v1/echo", "/v1/optional"):
                wire.send(wire.head("POST %s HTTP/1.1" % path, "Content-Length: 2", *fields) + b"{}")
                equal(wire.response().status, status, "%s %r" % (path, fields))


@test
def a_foreign_type_gets_415_even_where_no_body_is_needed(running):
    with running.wire() as wire:
        for path in ("/v1/optional", "/v1/nothing", "/v1/write"):
            equal(wire.ask("POST %s HTTP/1.1" % path, "Content-Type: text/plain", "Content-Length: 0").status, 415, path)
            equal(wire.ask("POST %s HTTP/1.1" % path, "Content-Length: 0").status, 200, path)
        equal(wire.ask("POST /v1/echo HTTP/1.1", "Content-Length: 0").status, 415)
        equal(wire.ask("POST /v1/echo HTTP/1.1", "Content-Type: application/json", "Content-Length: 0").code, "invalid_json")
        equal(wire.ask("POST /v1/nothing HTTP/1.1", body=b"{}").code, "bad_request")


@test
def every_framing_of_a_body_means_the_same(running):
    with running.wire() as wire:
        whole = wire.ask("POST /v1/echo HTTP/1.1", body=JSON).json()
        equal(whole["bytes"], len(JSON))
        wire.send(json_head(wire, "/v1/echo", "Content-Length: %d" % len(JSON)))
        for index in range(len(JSON)):
            wire.send(JSON[index:index + 1])
        equal(wire.response().json(), whole)
        chunked = json_head(wire, "/v1/echo", "Transfer-Encoding: chunked")
        wire.send(chunked + b"".join(b"1\r\n%c\r\n" % byte for byte in JSON) + b"0\r\n\r\n")
        equal(wire.response().json(), whole)
        wire.send(chunked + b"%x\r\n" % len(JSON) + JSON + b"\r\n0\r\nX-Trailer: 1\r\n\r\n")
        equal(wire.response().json(), whole)


@test
def a_body_over_the_limit_is_refused_before_it_is_read(running):
    with running.wire() as wire:
        wire.send(json_head(wire, "/v1/echo", "Content-Length: %d" % (1024 * 1024 + 1)))
        answer = wire.response()
        equal((answer.status, answer.code), (413, "too_large"))
        check(wire.is_closed(), "open after 413")
    with running.wire() as wire:
        wire.send(json_head(wire, "/v1/echo", "Expect: 100-continue", "Content-Length: 9999999"))
        equal(wire.response().status, 413)
        check(wire.is_closed(), "open after 413")


@test
def a_chunked_body_is_cut_at_the_limit_and_the_client_learns_why(running):
    with running.wire() as wire:
        wire.send(json_head(wire, "/v1/echo", "Transfer-Encoding: chunked"))
        try:
            for _ in range(1024):
                wire.send(b"10000\r\n" + b"y" * 65536 + b"\r\n")
        except ConnectionError:
            pass
        answer = wire.response()
        equal((answer.status, answer.code), (413, "too_large"))
        check(answer.field("x-request-id").startswith("req_"), "no request id")
        check(wire.is_closed(), "open after 413")


@test
def a_body_of_exactly_the_limit_is_taken(running):
    for path, size in (("/v1/echo", 1024 * 1024), ("/v1/document", 4 * 1024 * 1024)):
        equal(running.once("POST %s HTTP/1.1" % path, body=json_text(size)).json()["bytes"], size)


@test
def a_client_that_asks_first_is_told_to_go_on(running):
    with running.wire() as wire:
        wire.send(json_head(wire, "/v1/echo", "Expect: 100-continue", "Content-Length: 2"))
        equal(wire.response().status, 100)
        equal(wire.send(b"{}").response().status, 200)


@test
def bodies_in_flight_are_bounded_in_sum(_):
    with server("bodies_bytes=1000000") as running, running.wire() as first, running.wire() as second:
        first.send(json_head(first, "/v1/document", "Content-Length: 500002") + json_text(500002)[:-1])
        running.wait_for(lambda connections, sleepers, size: size > 500000)
        answer = second.ask("POST /v1/document HTTP/1.1", body=json_text(500002))
        equal((answer.status, answer.code, answer.field("retry-after")), (503, "queue_full", "1"))
        equal(first.send(b'"').response().json()["bytes"], 500002)
        running.wait_for(lambda connections, sleepers, size: size == 0)
        equal(second.ask("POST /v1/document HTTP/1.1", body=json_text(500002)).status, 200)


@test
def broken_json_is_told_with_its_place_and_without_its_text(running):
    with running.wire() as wire:
        for body, offset in ((b'{"a":CANARY}', 5), (b'{"CANARY":1,"CANARY":2}', 12), (b'{"a":"CANARY\\u0000"}', 12),
                             (b'{"a":1}\0{"CANARY":1}', 7), (b'{"a":"CANARY\nx"}', 12), (b'"CANARY', 0)):
            answer = wire.ask("POST /v1/echo HTTP/1.1", body=body)
            equal((answer.status, answer.code, answer.json()["offset"]), (400, "invalid_json", offset), repr(body))
            check(b"CANARY" not in answer.body, "the answer quotes the input")
        answer = wire.ask("POST /v1/echo HTTP/1.1", body=b'{"packages":[{"label":1,"l\\u0061bel":2}]}')
        equal(answer.status, 400)
        answer = wire.ask("POST /v1/echo HTTP/1.1", body=b'{"packages":[{"label":1,"label":2}]}')
        equal(answer.json()["pointer"], "/packages/0/label")


@test
def every_fault_of_a_shape_is_told_at_once(running):
    with running.wire() as wire:
        faulty = b'{"name":"far too long a name","decision":"maybe","inner":{"count":11,"x":1},"nmae":1}'
        answer = wire.ask("POST /v1/shape HTTP/1.1", body=faulty)
        equal((answer.status, answer.code), (422, "invalid_document"))
        equal(sorted(fault["pointer"] for fault in answer.json()["faults"]),
              ["/decision", "/inner/count", "/inner/x", "/name", "/nmae"])
        answer = wire.ask("POST /v1/shape HTTP/1.1")
        equal(sorted(fault["pointer"] for fault in answer.json()["faults"]), ["/decision", "/name"])
        equal([fault["pointer"] for fault in wire.ask("POST /v1/shape HTTP/1.1", body=b"[]").json()["faults"]], [""])
        equal(wire.ask("POST /v1/shape HTTP/1.1", body=b'{"name":"a","decision":"denied"}').status, 204)


if __name__ == "__main__":
    run(server)
