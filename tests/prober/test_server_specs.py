#!/usr/bin/env python3
"""Tool servers as they are set: the routes, every fault of a spec, and the published schema (chapter 5.6). Speaks TAP."""
import json
import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "http"))
sys.path.insert(0, HERE)
from daemon import check, diagnostic, equal, is_problem, scene  # noqa: E402
from servers import HTTP, Servers, http, serve, stdio  # noqa: E402

# ---- the routes

@scene
def a_server_comes_is_replaced_and_goes(daemon):
    servers = Servers(daemon)
    made = servers.put(http("good"), status=201)
    equal(made.headers["location"], servers.path + "github")
    again = servers.put(http("good"), status=200)
    check(int(again["revision"]) > int(made["revision"]), "the revision didn't grow")
    listed = daemon.planner.get(servers.path[:-1]).must(200)["items"]
    equal([(item["mcpId"], item["kind"], item["spec"] and item["spec"]["transport"]) for item in listed],
          [("filesystem", "builtin", None), ("github", "spec", "http")])
    daemon.admin.delete(servers.path + "github").must(204)
    is_problem(daemon.admin.delete(servers.path + "github"), 404, "not_found")
    is_problem(daemon.admin.get(servers.path + "github"), 404, "not_found")
    equal(servers.row(), None, "its health")
    equal(servers.check()["asked"], False)
    is_problem(daemon.operator.post(servers.path + "none/check", {}), 404, "not_found")


@scene
def kinds_fit_their_servers(daemon):
    servers = Servers(daemon)
    for name, body, pointer in (("github", {"kind": "builtin"}, "/kind"), ("filesystem", {"kind": "reported"}, "/kind"),
                                ("filesystem", {"spec": http("good")}, "/kind"), ("github", {"kind": "spec"}, "/spec"),
                                ("github", {"kind": "reported", "spec": http("good")}, "/kind"), ("Bad%20Id", {}, ""),
                                ("a__b", {}, ""), ("github", {"enable": True}, "/enable"), ("github", {"spec": []}, "/spec")):
        answer = is_problem(daemon.admin.put(servers.path + name, body), 422, "invalid_document")
        check(pointer in [fault["pointer"] for fault in answer["faults"]], "%s %r: %r" % (name, body, answer))
    equal(daemon.admin.put(servers.path + "filesystem", {"enabled": False}).must(201)["kind"], "builtin")


@scene
def every_fault_of_a_spec_is_told_and_nothing_is_stored(daemon):
    servers = Servers(daemon)
    bad = {"id": "other", "transport": "stdio", "command": "", "args": [1], "env": {"A": None}, "allowedTools": ["a,b"], "url": "x"}
    answer = is_problem(servers.put(bad, status=422), 422, "invalid_document")
    equal(sorted(fault["pointer"] for fault in answer["faults"]),
          ["/spec/allowedTools/0", "/spec/args/0", "/spec/command", "/spec/env/A", "/spec/id", "/spec/url"])
    equal([item["mcpId"] for item in daemon.admin.get(servers.path[:-1]).must(200)["items"]], ["filesystem"])


@scene
def a_project_has_at_most_64_servers(daemon):
    servers = Servers(daemon)
    for number in range(64):
        servers.put(http("good"), "s%d" % number, status=201, enabled=False)
    is_problem(servers.put(http("good"), "one-more", enabled=False, status=422), 422, "invalid_document")
    servers.put(http("good"), "s7", status=200, enabled=False)


# ---- the published schema agrees with the daemon

AGREED = (
    (True, {"transport": "stdio", "command": "/x"}), (True, {"transport": "stdio", "command": "x", "args": ["a\nb"], "env": {"A.B": ""}}),
    (True, {"transport": "http", "url": "https://x.example/", "headers": {"X-A": "b"}, "allowedTools": ["a"]}),
    (True, {"id": "github", "transport": "http", "url": "HTTP://LOCALHOST"}),
    (False, {"transport": "stdio"}), (False, {"transport": "stdio", "command": ""}), (False, {"command": "/x"}),
    (False, {"transport": "http", "command": "/x"}), (False, {"transport": "http", "url": "https://x.example/", "args": []}),
    (False, {"transport": "sse", "url": "https://x.example/"}), (False, {"transport": "http", "url": "ws://x.example/"}),
    (False, {"transport": "http", "url": "https://x.example/ y"}), (False, {"transport": "http", "url": "https://a\\b/"}),
    (False, {"transport": "stdio", "command": "/x", "allowedTools": []}), (False, {"transport": "stdio", "command": "/x", "more": 1}),
    (False, {"transport": "stdio", "command": "/x", "env": {"A": 3}}), (False, {"transport": "stdio", "command": "/x", "env": {"A=B": "1"}}),
    (False, {"transport": "http", "url": "https://x.example/", "headers": {"a b": "1"}}),
    (False, {"transport": "http", "url": "https://x.example/", "headers": {"A": "1\r\n"}}),
    (False, {"transport": "stdio", "command": "/x", "allowedTools": ["get_*"]}), (False, []), (False, None), (False, 7),
)


@scene
def the_schema_says_what_the_daemon_takes(daemon):
    servers = Servers(daemon)
    with open(os.path.join(HERE, "..", "..", "docs", "spec.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    try:
        import jsonschema
        validator = jsonschema.Draft202012Validator(schema)
    except (ImportError, AttributeError):
        diagnostic("no JSON Schema validator here: only the daemon is asked")
        validator = None
    for is_good, spec in AGREED:
        if validator is not None:
            equal(validator.is_valid(spec), is_good, "the schema on %r" % (spec,))
        if spec is not None:
            status = servers.put(spec, "github", enabled=False, **({} if is_good else {"status": 422})).status
            check((status in (200, 201)) == is_good, "the daemon on %r: %d" % (spec, status))


if __name__ == "__main__":
    serve()
