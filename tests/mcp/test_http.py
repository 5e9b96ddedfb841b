#!/usr/bin/env python3
"""MCP at /mcp: both eras over HTTP, sessions, headers, who may, and the daemon's windows, which show what its routes show. Speaks TAP."""
import http.client
import json
import os
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from rpc import LEGACY, META, MODERN, Stdio, call_result, is_error, is_refused, message, meta  # noqa: E402
from daemon import (READ, ROLES, Client, broken, but_for_decisions, check, equal, free, is_problem, reads, run_scenes, scene, see, together, unchanged)  # noqa: E402

ANY = ROLES + ("admin",)
WINDOWS = ["recovery_list", "admission_preview", "admission_explain", "admission_status"]


def headers_of(sent, **more):
    """What a client of the stateless era mirrors."""
    fields = {"MCP-Protocol-Version": MODERN, "Mcp-Method": sent.get("method")}
    if sent.get("method") == "tools/call":
        fields["Mcp-Name"] = sent["params"]["name"]
    fields.update(more)
    return fields


def post(client, sent, headers=None, status=200):
    answer = client.request("POST", "/mcp", sent, dict({"Accept": "application/json, text/event-stream"}, **(headers or {})))
    answer.must(status)
    if answer.raw:
        equal(answer.headers["content-type"], "application/json", "content type")
    return answer


def modern(client, method, params=None, status=200, **headers):
    sent = message(method, params, modern=True)
    return post(client, sent, headers_of(sent, **headers), status).json


def call(client, name, arguments=None):
    return modern(client, "tools/call", {"name": name, "arguments": arguments or {}})


def shown(client, name, arguments=None):
    """What a window shows."""
    result = call_result(call(client, name, arguments))
    equal(result["isError"], False, "isError of %r" % result)
    return result["structuredContent"]


def open_session(client, version=LEGACY[0]):
    answer = post(client, message("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}))
    equal(answer["result"]["protocolVersion"], version)
    return {"Mcp-Session-Id": answer.headers["mcp-session-id"], "MCP-Protocol-Version": version}


# ---- the older era

@scene
def a_session_is_opened_served_and_ended(daemon):
    for version in LEGACY:
        session = open_session(daemon.planner, version)
        equal(post(daemon.planner, message("notifications/initialized", number=None), session, 202).raw, b"")
        equal(post(daemon.planner, message("ping"), session)["result"], {})
        equal([tool["name"] for tool in post(daemon.planner, message("tools/list"), session)["result"]["tools"]][:4], WINDOWS)
        called = post(daemon.planner, message("tools/call", {"name": "recovery_list"}), session).json
        equal(set(call_result(called)), {"content", "structuredContent", "isError"}, "members for the older era")
        daemon.planner.request("DELETE", "/mcp", None, session).must(204)
        is_error(post(daemon.planner, message("tools/list"), session, 404).json, -32001, 1)
        is_error(post(daemon.planner, message("notifications/initialized", number=None), session, 404).json, -32001)
        is_problem(daemon.planner.request("DELETE", "/mcp", None, session), 404, "not_found")


@scene
def without_a_session_only_the_beginning_is_served(daemon):
    is_error(post(daemon.planner, message("tools/list"), None, 400).json, -32600, 1)
    is_error(post(daemon.planner, message("tools/call", {"name": "recovery_list"}), None, 400).json, -32600, 1)
    equal(post(daemon.planner, message("ping"))["result"], {})
    is_error(post(daemon.planner, message("tools/list"), {"Mcp-Session-Id": "0" * 32}, 404).json, -32001, 1)
    is_problem(daemon.planner.request("DELETE", "/mcp"), 404, "not_found")


@scene
def a_session_is_of_the_token_that_opened_it(daemon):
    session = open_session(daemon.planner)
    is_error(post(daemon.auditor, message("tools/list"), session, 404).json, -32001, 1)
    is_problem(daemon.auditor.request("DELETE", "/mcp", None, session), 404, "not_found")
    post(daemon.planner, message("tools/list"), session)


@scene
def a_thousand_sessions_are_kept_and_the_oldest_goes(daemon):
    first, second = open_session(daemon.planner), open_session(daemon.planner)
    for number in range(1023):
        if number == 500:
            post(daemon.planner, message("ping"), first)
        open_session(daemon.planner)
    post(daemon.planner, message("tools/list"), first)
    is_error(post(daemon.planner, message("tools/list"), second, 404).json, -32001, 1)


# ---- the stateless era

@scene
def the_stateless_era_needs_no_session_and_gives_none(daemon):
    for method in ("server/discover", "tools/list"):
        sent = message(method, modern=True)
        answer = post(daemon.planner, sent, headers_of(sent, **{"Mcp-Session-Id": "none of ours"}))
        check("mcp-session-id" not in answer.headers, "a session id")
        equal(answer["result"]["resultType"], "complete")
        equal(answer["result"]["cacheScope"], "public")


@scene
def headers_that_are_missing_or_differ_are_refused(daemon):
    listed = message("tools/list", modern=True)
    called = message("tools/call", {"name": "recovery_list"}, modern=True)
    wrong = [(listed, {"MCP-Protocol-Version": None}), (listed, {"MCP-Protocol-Version": "2099-01-01"}), (listed, {"Mcp-Method": None}),
             (listed, {"Mcp-Method": "tools/call"}), (listed, {"Mcp-Method": "TOOLS/LIST"}), (called, {"Mcp-Name": None}),
             (called, {"Mcp-Name": "admission_status"}), (called, {"Mcp-Name": "=?base64?cmVjb3ZlcnlfbGlzdA?="}),
             (called, {"Mcp-Name": "=?base64?cmVjb3Zl!nlfbGlzdA==?="}), (called, {"Mcp-Name": "=?base64??="})]
    for sent, changed in wrong:
        is_error(post(daemon.planner, sent, headers_of(sent, **changed), 400).json, -32020, 1)
    for changed in ({"Mcp-Name": "=?base64?cmVjb3ZlcnlfbGlzdA==?="}, {"Mcp-Name": "  recovery_list  "}, {"Mcp-Method": " tools/call\t"}):
        post(daemon.planner, called, headers_of(called, **changed))
    lower = {name.lower(): value for name, value in headers_of(listed).items()}
    post(daemon.planner, listed, lower)


@scene
def a_header_alone_makes_a_message_stateless(daemon):
    for params in (None, {}, {"_meta": {}}, {"_meta": {META + "protocolVersion": MODERN}}, {"_meta": {META + "clientCapabilities": {}}}):
        sent = message("server/discover", params)
        is_error(post(daemon.planner, sent, headers_of(sent), 400).json, -32602, 1)
    sent = message("tools/list")
    is_error(post(daemon.planner, sent, {"MCP-Protocol-Version": "2099-01-01"}, 400).json, -32602, 1)


@scene
def another_version_is_refused_with_those_that_are_known(daemon):
    sent = message("tools/list", {"_meta": meta("2099-01-01")})
    answer = post(daemon.planner, sent, headers_of(sent, **{"MCP-Protocol-Version": "2099-01-01"}), 400).json
    equal(is_error(answer, -32022, 1)["data"], {"supported": [MODERN], "requested": "2099-01-01"})


@scene
def an_unknown_method_is_404_in_the_stateless_era_alone(daemon):
    for method in ("initialize", "ping", "logging/setLevel", "unknown/method"):
        is_error(modern(daemon.planner, method, {"protocolVersion": MODERN}, 404), -32601, 1)
    is_error(post(daemon.planner, message("unknown/method"), open_session(daemon.planner)).json, -32601, 1)


# ---- messages, and HTTP around them

@scene
def what_is_no_message_is_refused_in_the_protocols_words(daemon):
    for body, code in ((b"{", -32700), (b'{"a":"\xff"}', -32700), (b"7", -32600), (b"[]", -32600), (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600)):
        is_error(post(daemon.planner, body, None, 400).json, code)
    for kind in ("text/plain", "application/json; charset=latin-1", None):
        is_problem(daemon.planner.request("POST", "/mcp", b"{}", {"Content-Type": kind}), 415, "unsupported_media_type")
    is_problem(daemon.planner.request("POST", "/mcp", b" " * (4 * 1024 * 1024 + 1)), 413, "too_large")
    line = json.dumps(message("ping")).encode()
    post(daemon.planner, line + b" " * (4 * 1024 * 1024 - len(line)))


@scene
def there_is_nothing_to_get(daemon):
    answer = is_problem(daemon.planner.get("/mcp"), 405, "method_not_allowed")
    equal(set(answer.headers["allow"].split(", ")), {"POST", "DELETE", "OPTIONS"})


@scene
def another_host_or_origin_is_refused(daemon):
    sent = message("server/discover", modern=True)
    for fields, status in (({"Host": "evil.example.com"}, 400), ({"Origin": "http://evil.example.com"}, 403), ({"Origin": "null"}, 403),
                           ({"Host": "evil.example.com", "Origin": "http://evil.example.com"}, 400)):
        found = daemon.planner.request("POST", "/mcp", sent, dict(headers_of(sent), **fields)).status
        check(400 <= found < 500 and (status == 400 or found == status), "%r: %d" % (fields, found))
    for own in ("127.0.0.1", "localhost"):
        host = "%s:%d" % (own, daemon.port)
        post(daemon.planner, sent, headers_of(sent, Host=host, Origin="http://" + host))


@scene
def every_role_may_and_nobody_else(daemon):
    sent = message("tools/list", modern=True)
    is_problem(daemon.nobody.request("POST", "/mcp", sent, headers_of(sent)), 401, "unauthenticated")
    for role in ANY:
        post(getattr(daemon, role), sent, headers_of(sent))
    world = daemon.world()
    world.submit(free("a"))
    world.approve()
    run = world.handoff("a")
    is_problem(daemon.request("POST", "/mcp", sent, run["runToken"], headers_of(sent)), 403, "forbidden")


# ---- the windows

@scene
def a_window_shows_what_its_route_shows(daemon):
    world = daemon.world()
    world.submit(reads("a"), broken("b"), free("c"))
    task, package = world.task_id(), world.pid("a")
    pairs = (("recovery_list", {}, "/v1/recovery"), ("recovery_list", {"project": world.id, "limit": 1}, "/v1/recovery?project=%s&limit=1" % world.id),
             ("recovery_list", {"task": task, "kind": "package_held"}, "/v1/recovery?task=%s&kind=package_held" % task),
             ("admission_status", {"task": task}, "/v1/tasks/" + task), ("admission_status", {"package": package}, "/v1/packages/" + package),
             ("admission_explain", {"capability": READ}, "/v1/capabilities/" + READ),
             ("admission_explain", {"capability": "Filesystem Read", "mcpId": "github"}, "/v1/capabilities/Filesystem%20Read?mcpId=github"))
    for name, arguments, path in pairs:
        equal(shown(daemon.planner, name, arguments), daemon.planner.get(path).must(200).json, "%s %r" % (name, arguments))
    first = shown(daemon.planner, "recovery_list", {"limit": 1})
    cursor = first["next"].split("cursor=")[1].split("&")[0]
    equal(shown(daemon.planner, "recovery_list", {"limit": 1, "cursor": cursor}), daemon.planner.get(first["next"]).must(200).json)


def changeable(daemon, project):
    """What approving, granting and the like would change; that a preview was asked for is noted in timelines and last decisions (2.3)."""
    return {path: but_for_decisions(value) if path.startswith("/v1/tasks/") else value for path, value in see(daemon, project).items()
            if "timeline" not in path and not path.startswith("/v1/packages/")}


@scene
def preview_shows_what_the_route_shows_and_changes_nothing(daemon):
    world = daemon.world()
    world.submit(reads("a"), free("b"))
    plan = world.plan(reads("a"), broken("c"))
    before = changeable(daemon, world.id)
    for arguments, answer in (({"task": world.task_id()}, daemon.planner.post("/v1/tasks/%s/preview" % world.task_id())),
                              ({"plan": plan}, daemon.planner.post("/v1/preview", plan))):
        found, wanted = shown(daemon.planner, "admission_preview", arguments), answer.must(200).json
        for one in (found, wanted):
            for package in one["packages"]:
                package.pop("comparedWith"), package.pop("changedInputs")
        equal(found, wanted)
    for name in WINDOWS:
        call(daemon.admin, name, {"task": world.task_id()} if name != "admission_explain" else {"capability": READ})
    unchanged(before, changeable(daemon, world.id), "asking windows")


@scene
def what_a_window_refuses_has_its_code(daemon):
    world = daemon.world()
    world.submit(free("a"))
    refused = (("admission_status", {"task": "none"}, "not_found"), ("admission_status", {"package": "pkg_none"}, "not_found"),
               ("admission_status", {}, "argument_invalid"), ("admission_status", {"task": "a", "package": "b"}, "argument_invalid"),
               ("admission_preview", {}, "argument_invalid"), ("admission_preview", {"task": "a", "plan": {}}, "argument_invalid"),
               ("admission_preview", {"task": "none"}, "not_found"), ("admission_preview", {"plan": {"project": world.id}}, "invalid_document"),
               ("admission_preview", {"plan": world.plan(free("a"), typo=1)}, "invalid_document"),
               ("admission_explain", {"capability": ""}, "argument_invalid"), ("admission_explain", {"capability": "a\nb"}, "argument_invalid"),
               ("recovery_list", {"limit": 0}, "argument_invalid"), ("recovery_list", {"limit": 501}, "argument_invalid"),
               ("recovery_list", {"kind": "x"}, "argument_invalid"), ("recovery_list", {"cursor": "x"}, "bad_request"))
    for name, arguments, code in refused:
        is_refused(call(daemon.planner, name, arguments), code)


@scene
def wrong_types_unknown_arguments_and_tools_are_errors(daemon):
    for name, arguments in (("recovery_list", {"limit": "1"}), ("recovery_list", {"limit": 1.0}), ("recovery_list", {"bogus": 1}),
                            ("recovery_list", {"project": None}), ("admission_explain", {}), ("admission_preview", {"plan": []}),
                            ("admission_status", {"task": 7}), ("recovery_list", []), ("admission_approve", {}), ("path_inventory\0", {})):
        sent = message("tools/call", {"name": name, "arguments": arguments}, modern=True)
        headers = headers_of(sent, **({"Mcp-Name": "=?base64?cGF0aF9pbnZlbnRvcnkA?="} if "\0" in name else {}))
        answer = daemon.planner.request("POST", "/mcp", sent, headers)
        check(answer["error"]["code"] in (-32602, -32700), "%s %r: %r" % (name, arguments, answer))


@scene
def a_window_shows_no_more_than_the_token_may_see(daemon):
    world, other = daemon.world(), daemon.world()
    world.submit(reads("a"))
    other.submit(reads("a"))
    scoped = daemon.client("scoped", "approver", projects=[other.id])
    is_refused(call(scoped, "admission_status", {"task": world.task_id()}), "not_found")
    is_refused(call(scoped, "admission_status", {"package": world.pid("a")}), "not_found")
    is_refused(call(scoped, "admission_preview", {"task": world.task_id()}), "not_found")
    is_refused(call(scoped, "admission_preview", {"plan": world.plan(reads("a"))}), "not_found")
    equal({item["project"] for item in shown(scoped, "recovery_list")["items"]}, {other.id})


@scene
def many_calls_at_once_are_all_answered(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    found = together(*[lambda: [shown(daemon.planner, name, {"task": world.task_id()}) for name in ("admission_status", "admission_preview")]
                       for _ in range(24)])
    equal(len(found), 24)


@scene
def a_daemon_that_is_told_to_stop_under_calls_answers_them_and_stops(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    statuses = []

    def ask():
        client = Client(daemon, daemon.planner.token)
        sent = message("tools/call", {"name": "admission_preview", "arguments": {"task": world.task_id()}}, modern=True)
        while True:
            try:
                statuses.append(client.request("POST", "/mcp", sent, headers_of(sent)).status)
            except OSError:
                return
            except http.client.HTTPException:
                return

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    while statuses.count(200) < 30:
        os.sched_yield()
    equal(daemon.stop(), 0, "its exit status")
    for thread in threads:
        thread.join()
    check(set(statuses) <= {200, 503}, "statuses: %r" % set(statuses))
    daemon.start()


# ---- the reading tools, on a project's root

READING = ["path_inventory", "repo_search", "okf_list", "okf_describe", "okf_ask", "okf_fetch"]


def write(root, name, text):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


@scene
def the_reading_tools_are_on_the_root_of_the_project_they_are_given(daemon):
    world, other = daemon.world(), daemon.world()
    write(world.root, "a/b.txt", "needle\n")
    write(other.root, "secret.txt", "needle in another project\n")
    write(world.root, "proj/.okf/kb/index.md", "# Base\n\n* [Things](things.md)\n")
    write(world.root, "proj/.okf/kb/things.md", "---\ntype: Note\ntitle: Things\n---\nAll about widgets.\n")
    project = {"project": world.id}
    tools = {tool["name"]: tool for tool in modern(daemon.planner, "tools/list")["result"]["tools"]}
    equal(list(tools), WINDOWS + READING)
    for name in READING:
        check("project" in tools[name]["inputSchema"]["required"], name)
    hits = shown(daemon.planner, "repo_search", dict(project, pattern="needle"))["matches"]
    equal([hit["file"] for hit in hits], ["a/b.txt"])
    found = shown(daemon.planner, "path_inventory", dict(project, paths=["a/b.txt", "../" + other.id + "/secret.txt"], contents=True))["targets"]
    equal([target["type"] for target in found], ["file", "unreadable"])
    equal(found[0]["contents"], "needle\n")
    bundles = shown(daemon.planner, "okf_list", project)["bundles"]
    equal([(one["id"], one["concepts"]) for one in bundles], [("kb", 1)])
    equal(shown(daemon.planner, "okf_ask", dict(project, question="widgets"))["hits"][0]["concept_id"], "things")
    check("widgets" in json.dumps(shown(daemon.planner, "okf_fetch", dict(project, bundle_id="kb", concept_id="things"))), "the text")
    is_refused(call(daemon.planner, "okf_fetch", dict(project, concept_id="things")), "bundle_required")
    check(world.root not in json.dumps(found) and daemon.folder not in json.dumps(found), "the machine's path")


@scene
def a_project_that_cant_be_read_is_refused_with_its_code(daemon):
    world, bare, moved = daemon.world(), daemon.world(root=False), daemon.world()
    os.rename(moved.root, moved.root + ".old")
    scoped = daemon.client("scoped", "planner", projects=[world.id])
    for client, project, code in ((daemon.planner, "none", "not_found"), (scoped, bare.id, "not_found"), (daemon.planner, bare.id, "root_missing"),
                                  (daemon.planner, moved.id, "root_missing"), (daemon.planner, "", "argument_invalid")):
        is_refused(call(client, "okf_list", {"project": project}), code)
    os.mkdir(moved.root)
    is_refused(call(daemon.planner, "repo_search", {"project": moved.id, "pattern": "x"}), "root_changed")
    for arguments in ({}, {"project": 7}, {"project": world.id, "bogus": 1}):
        is_error(call(daemon.planner, "okf_list", arguments), -32602, 1)


# ---- the same windows over standard input and output

def stdio(daemon, client, *options):
    return Stdio("--url", "http://127.0.0.1:%d" % daemon.port, *options, env={"ADMITD_TOKEN": client.token})


@scene
def the_stdio_server_shows_the_daemons_windows(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    with stdio(daemon, daemon.planner) as server:
        server.initialize()
        check([tool["name"] for tool in server.ask("tools/list")["tools"] if tool["name"] in WINDOWS] == WINDOWS, "the windows")
        for name, arguments in (("recovery_list", {}), ("admission_status", {"task": world.task_id()}), ("admission_explain", {"capability": READ})):
            equal(call_result(server.call(name, arguments))["structuredContent"], shown(daemon.planner, name, arguments), name)
        is_refused(server.call("admission_status", {"task": "none"}), "not_found")
        is_refused(server.call("admission_status", {}), "argument_invalid")
        is_error(server.call("admission_status", {"task": 1}), -32602, server.number)


@scene
def without_a_daemon_its_windows_are_not_listed(daemon):
    with Stdio() as server:
        server.initialize()
        equal([tool["name"] for tool in server.ask("tools/list")["tools"] if tool["name"] in WINDOWS], [])
    for options, token in ((("--url", "http://127.0.0.1:1"), daemon.planner.token), (("--url", "http://127.0.0.1:%d" % daemon.port), "wrong")):
        with Stdio(*options, env={"ADMITD_TOKEN": token}) as server:
            server.initialize()
            equal([tool["name"] for tool in server.ask("tools/list")["tools"] if tool["name"] in WINDOWS], [])
            check("windows are not listed" in server.errors() and token not in server.errors(), server.errors())


@scene
def a_daemon_that_went_is_gone_for_the_stdio_server(daemon):
    with stdio(daemon, daemon.planner) as server:
        server.initialize()
        call_result(server.call("recovery_list"))
        daemon.restart()
        is_refused(server.call("recovery_list"), "daemon_gone")
        is_refused(server.call("recovery_list"), "daemon_gone")
        equal(server.ask("ping"), {})


if __name__ == "__main__":
    run_scenes()
