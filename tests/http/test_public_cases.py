#!/usr/bin/env python3
"""Faults that were reported in public in software that does a part of this job, over HTTP: groups A (permission and approval) and D
(HTTP, JSON, SQLite). Each test begins with its case; inputs are in cases/, and what has no counterpart here stands for the nearest
thing that has. Speaks TAP."""
import glob
import json
import os
import sqlite3
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
from daemon import (LIST, READ, Failed, but_for_decisions, check, equal, free, is_problem, package, reads, requirement, run_scenes, scene,  # noqa: E402
                    together, unchanged)

CASES = os.path.join(HERE, "cases")


def data(name):
    with open(os.path.join(CASES, name), "rb") as file:
        return file.read()


def rows(name):
    return [json.loads(line) for line in data(name).splitlines() if line.strip()]


def evaluate(daemon, *requirements, **more):
    body = dict({"label": "case", "entries": list(requirements), "subtasks": []}, **more)
    return daemon.planner.post("/v1/evaluate", body).must(200).json


def by_key(result):
    return {item["source"]["requirementKey"]: item["decision"] for item in result["evaluations"]}


# ---- A: permission, approval, admission

@scene
def C01_a_prohibition_wins_wherever_it_stands(daemon):
    layers = json.loads(data("C01/layers.json"))
    equal([len(layers[name][rule]) for name, rule in (("user", "deny"), ("project", "ask"), ("local", "allow"))], [1, 1, 1])
    asks = [requirement("allow", capabilities=[READ, LIST]), requirement("ask", capabilities=[READ], index=1),
            requirement("deny", capabilities=[], index=2, level="optional", action="continue_without_mcp",
                        prohibitedCapabilities=["filesystem.read"])]
    results = [evaluate(daemon, *order) for order in (asks, asks[::-1], [asks[1], asks[2], asks[0]])]
    equal(results[0], results[1], "in another order")
    equal(results[0], results[2], "in a third order")
    found = by_key(results[0])
    for key in ("allow", "ask"):
        equal((found[key]["status"], found[key]["recoveryAction"]), ("blocked", "revise_plan"), key)
        check(READ in found[key]["reason"], "the reason names not what decided: " + found[key]["reason"])


@scene
def C02_a_prohibition_blocks_only_what_it_names(daemon):
    found = by_key(evaluate(daemon, requirement("named", capabilities=[READ]), requirement("other", capabilities=[LIST], index=1),
                            requirement("deny", capabilities=[], index=2, level="optional", action="continue_without_mcp",
                                        prohibitedCapabilities=[READ])))
    equal(found["named"]["recoveryAction"], "revise_plan")
    equal((found["other"]["mode"], found["other"]["recoveryAction"]), ("bounded_context_required", "approve_project_filesystem_context"))
    check(READ not in found["other"]["reason"], "the prohibition is named where it did not decide")


@scene
def C04_a_spelling_gains_nothing(daemon):
    deny = requirement("deny", capabilities=[], index=1, level="optional", action="continue_without_mcp",
                       prohibitedCapabilities=["  FILESYSTEM.Project.READ "])
    for row in rows("C04/calls.jsonl"):
        server = "filesystem" if row["server"].strip().isupper() is False else row["server"].replace("PAYROLL", "FILESYSTEM")
        server = server if row["server"] == row["server"].strip() else "\tfilesystem"
        tool = row["tool"].replace("export", "read").replace("EXPORT", "READ")
        found = by_key(evaluate(daemon, requirement("ask", mcp=server, capabilities=["filesystem.project." + tool]), deny))["ask"]
        equal(found["status"], "blocked", repr(row))
        equal(found["recoveryAction"], "revise_plan", repr(row))
    for mcp in ("Filesystem", "filesystem ", "file system", "\tfilesystem"):
        found = by_key(evaluate(daemon, requirement("ask", mcp=mcp), grants={"ask": {
            "phase": "approved", "source": "package-local", "status": "approved", "grantMode": "allow_once",
            "coveredCapabilities": [READ]}}))["ask"]
        equal((found["status"], found["mode"]), ("blocked", "blocked"), mcp)


@scene
def C06_no_identity_is_taken_out_of_a_qualified_name(daemon):
    for row in rows("C06/calls.jsonl"):
        name = row.get("qualified") or "%s__%s" % (row["server"], row["tool"])
        for mcp, capability in (("my__server", "my__server." + row.get("tool", "do")), ("filesystem", name), ("my", name),
                                ("filesystem", "mcp__filesystem__project__read"), ("github", "filesystem.project.read")):
            found = by_key(evaluate(daemon, requirement("ask", mcp=mcp, capabilities=[capability])))["ask"]
            equal((found["status"], found["recoveryAction"]), ("blocked", "revise_plan"), "%s of %s" % (capability, mcp))


@scene
def C07_a_prohibition_that_would_do_nothing_blocks(daemon):
    for pattern in json.loads(data("C07/patterns.json")) + ["filesystem.*", "filesystem.project.*", "*.read", "filesystem"]:
        found = by_key(evaluate(daemon, requirement("ask", prohibitedCapabilities=[pattern])))["ask"]
        equal((found["mode"], found["recoveryAction"]), ("blocked", "revise_plan"), repr(pattern))


@scene
def C07_a_pattern_is_never_granted(daemon):
    world = daemon.world()
    before = world.see()
    for pattern in json.loads(data("C07/patterns.json")) + ["filesystem.*", "*", "filesystem.project.*"]:
        answer = daemon.approver.post("/v1/projects/%s/grants" % world.id, {
            "decision": "approved", "capabilities": [pattern], "expectedRevision": "0", "rootRevision": "1"})
        is_problem(answer, 422, answer.code)
    unchanged(before, world.see(), "a pattern")


@scene
def C09_what_is_prohibited_is_so_on_every_route_and_spelling(daemon):
    world = daemon.world()
    plans = [package("a", requirement("ask", capabilities=[spelling]), requirement(
        "deny", capabilities=[], index=1, level="optional", action="continue_without_mcp", prohibitedCapabilities=["filesystem.read"]))
        for spelling in (READ, "filesystem.read", " Filesystem.Read")]
    batch = [free("ok"), dict(plans[1], label="danger")]
    world.project_grant(READ, LIST)
    for plan in plans:
        document = plan["document"]
        equal(evaluate(daemon, *document["mcpRequirements"])["aggregate"]["status"], "blocked")
        answer = daemon.planner.post("/v1/preview", {"project": world.id, "document": document}).must(200)
        equal(answer["status"], "blocked")
    world.submit(*batch)
    equal({item["label"]: item["status"] for item in world.preview()["packages"]}, {"ok": "warning", "danger": "blocked"})
    equal([item["label"] for item in world.approve(status=409)["blocked"]], ["danger"])


def noted(name):
    """A package that reads and carries this file as a member nobody judges."""
    one = reads("a")
    one["document"]["call"] = json.loads(data(name))
    return one


def C11_body(world, name):
    """The plan with the bytes of this file in it, as they are."""
    plan = json.dumps(world.plan(reads("a")))
    return plan.replace('"mcpAwareSubtasks": []', '"mcpAwareSubtasks": [], "call": ' + data(name).decode()).encode()


@scene
def C11_a_grant_belongs_to_the_very_document_that_was_shown(daemon):
    path = "/v1/tasks/%s"
    for name, same in (("a-reordered.json", True), ("a.json", True), ("b.json", False), ("c-type.json", False)):
        world = daemon.world()
        daemon.planner.put(path % world.task_id(), C11_body(world, "C11/a.json")).must(201)
        first = world.pid("a")
        world.grant("a")
        world.approve(status=200) if same else None
        answer = daemon.planner.put(path % world.task_id(), C11_body(world, "C11/" + name)).must(200)
        equal(answer["planRevision"], "1" if same else "2", name)
        equal(world.pid("a") == first, same, name)
        equal(world.package("a")["hold"] is None, same, name)


@scene
def C11_an_escape_does_not_make_another_document(daemon):
    world = daemon.world()
    unescaped = data("C11/d-unicode.json").replace(b"\\u0065", b"e")
    check(unescaped != data("C11/d-unicode.json"), "the case has no escape")
    daemon.planner.put("/v1/tasks/" + world.task_id(), C11_body(world, "C11/d-unicode.json")).must(201)
    body = C11_body(world, "C11/d-unicode.json").replace(b"\\u0065", b"e")
    equal(daemon.planner.put("/v1/tasks/" + world.task_id(), body).must(200)["planRevision"], "1")


@scene
def C12_of_32_clients_one_uses_the_one_time_approval(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    world.grant("a")
    world.approve()
    path = "/v1/packages/%s/handoff" % world.pid("a")
    answers = together(*[lambda: daemon.executor.post(path, {}) for _ in range(32)])
    won = [answer for answer in answers if answer.status == 200]
    equal((len(won), {answer.code for answer in answers if answer.status != 200}), (1, {"package_status"}))
    daemon.secrets.append(won[0]["runToken"])
    equal(len(daemon.executor.get("/v1/runs?package=%s" % world.pid("a")).must(200)["items"]), 1)
    world.outcome(won[0].json, "released")
    equal(world.package("a")["hold"]["arm"], "used_up")


@scene
def C16_work_runs_on_the_policy_of_today(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    world.project_grant(READ)
    world.approve()
    world.project_grant(decision="revoked")
    answer = world.handoff("a", status=409)
    equal((answer["hold"]["arm"], answer["comparedWith"]["surface"]), ("removed", "approval"))
    check(any(change["path"].startswith("/grants/") for change in answer["changedInputs"]), "what changed is not named: %r" % answer)


@scene
def C17_a_changed_document_is_another_package_and_asks_again(daemon):
    for name, same in (("v5-same-reordered.json", True), ("v2-command.json", False), ("v3-env.json", False), ("v4-argsplit.json", False)):
        world = daemon.world()
        world.submit(noted("C17/v1.json"))
        world.grant("a")
        world.submit(noted("C17/" + name), status=200)
        equal(world.package("a")["hold"] is None, same, name)


@scene
def C21_what_a_package_says_of_its_own_rights_counts_for_nothing(daemon):
    world = daemon.world()
    claims = json.loads(data("C21/package.json"))
    for member in ("policy", "allowed_tools", "approved"):
        answer = daemon.planner.put("/v1/tasks/" + world.task_id(), world.plan(dict(reads("a"), **{member: claims[member]})))
        equal(is_problem(answer, 422, "invalid_document")["faults"][0]["pointer"], "/packages/0/" + member)
    one = reads("a")
    one["document"].update(claims)
    one["document"]["mcpGrants"] = [dict(requirement("fs-a"), decisionId="d", promptOverlayPresent=True, status="approved",
                                         grants={"fs-a": {"phase": "approved"}})]
    world.submit(one)
    found = world.preview()["packages"][0]
    equal((found["status"], found["primaryRecoveryAction"]), ("blocked", "approve_project_filesystem_context"))


@scene
def C23_a_rule_that_says_nothing_known_is_refused(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    before = world.see()
    path = "/v1/packages/%s/grants" % world.pid("a")
    for name in ("missing-tool", "typo-effect", "typo-key", "unknown-field"):
        is_problem(daemon.approver.post(path, data("C23/%s.json" % name)), 422, "invalid_document")
    for body in ({"decision": "Deny", "expectedRevision": "0"}, {"decision": "denied", "expectedRevison": "0"},
                 {"decision": "denied", "expectedRevision": "0", "when": {"arguments.url": "https://*"}}):
        is_problem(daemon.approver.post(path, body), 422, "invalid_document")
    unchanged(before, world.see(), "a rule")


@scene
def C24_preview_and_the_real_thing_say_the_same_and_preview_writes_nothing(daemon):
    world = daemon.world()
    world.submit(reads("a"), free("b"))
    before = but_for_decisions(world.task())
    first, second = world.preview(), world.preview()
    equal(but_for_decisions(world.task()), before, "the task")
    equal([item["decisionId"] for item in first["packages"]], [item["decisionId"] for item in second["packages"]])
    blocked = world.approve(status=409)["blocked"]
    shown = [item for item in first["packages"] if item["status"] == "blocked"]
    for left, right in zip(shown, blocked):
        for name in ("decisionId", "primaryMode", "primaryRecoveryAction", "operatorState", "retryable"):
            equal(left[name], right[name], name)


@scene
def C26_a_decision_about_an_unknown_server_writes_nothing(daemon):
    decision = json.loads(data("C26/decision.json"))
    world = daemon.world()
    before = world.see()
    name = "%s.window.%s" % (decision["server"], decision["tool"])
    answer = daemon.approver.post("/v1/projects/%s/grants" % world.id, {"decision": "approved", "capabilities": [name], "rootRevision": "1",
                                                                       "expectedRevision": "0"})
    is_problem(answer, 422, answer.code)
    world.health(decision["server"], status=404)
    unchanged(before, world.see(), "the decision")


# ---- D: HTTP, JSON, SQLite

def bodies(world):
    """(role, method, path) of addresses that take a body."""
    task = world.task_id()
    return (("planner", "PUT", "/v1/tasks/" + task), ("planner", "POST", "/v1/preview"), ("planner", "POST", "/v1/evaluate"),
            ("approver", "POST", "/v1/tasks/%s/approval" % task), ("approver", "POST", "/v1/projects/%s/grants" % world.id),
            ("executor", "POST", "/v1/tasks/%s/handoff" % task), ("admin", "POST", "/v1/tokens"))


def refused_everywhere(daemon, names, status, code):
    world = daemon.world()
    world.submit(reads("a"))
    before = world.see()
    for name in names:
        for role, method, path in bodies(world):
            is_problem(getattr(daemon, role).request(method, path, data(name)), status, code)
    unchanged(before, world.see(), "a body")


@scene
def C71_duplicate_members_are_refused_at_any_depth_and_spelling(daemon):
    refused_everywhere(daemon, ["C71/dup.json", "C71/dup-escape.json", "C71/dup-array.json"], 400, "invalid_json")


@scene
def C71_members_that_differ_by_case_are_two(daemon):
    world = daemon.world()
    path = "/v1/projects/%s/grants" % world.id
    answer = daemon.approver.post(path, {"decision": "denied", "Decision": "approved", "expectedRevision": "0"})
    check("/Decision" in [fault["pointer"] for fault in is_problem(answer, 422, "invalid_document")["faults"]], repr(answer))


@scene
def C72_a_NUL_is_refused_wherever_it_is(daemon):
    refused_everywhere(daemon, ["C72/val.json", "C72/key.json", "C72/raw-after.bin", "C72/raw-in.bin"], 400, "invalid_json")


NO_NUMBERS = ("9223372036854775808", "18446744073709551616", "1e999", "0x10", "NaN", "Infinity", "01", "1.", ".5")


@scene
def C74_numbers_are_taken_whole_or_not_at_all(daemon):
    world = daemon.world()
    for text in data("C74/numbers.txt").decode().split():
        plan = json.dumps(world.plan(reads("a"))).replace('"mcpAwareSubtasks": []', '"mcpAwareSubtasks": [], "n": ' + text)
        answer = daemon.planner.put("/v1/tasks/" + world.task_id(), plan.encode())
        if text in NO_NUMBERS:
            is_problem(answer, 400, "invalid_json")
        else:
            check(answer.status in (200, 201), "%s: %r" % (text, answer))
    for text in ("1.0", "1E2", "9223372036854775807"):
        body = '{"mcpId":"github","installState":"installed","status":"healthy","enabled":true,"error":null,' \
            '"checkedAt":"2026-01-01T00:00:00.000Z","validSeconds":%s}' % text
        answer = daemon.operator.put("/v1/projects/%s/health/github" % world.id, body.encode())
        check("/validSeconds" in [fault["pointer"] for fault in is_problem(answer, 422, "invalid_document")["faults"]], repr(answer))


def C76_send(daemon, mode, data_sent):
    with daemon.wire() as wire:
        fields = ["Content-Type: application/json"]
        line = "POST /v1/evaluate HTTP/1.1"
        if mode == "chunk1":
            wire.send(wire.head(line, "Transfer-Encoding: chunked", *fields, token=daemon.planner.token))
            wire.send(b"".join(b"1\r\n" + data_sent[at:at + 1] + b"\r\n" for at in range(len(data_sent))) + b"0\r\n\r\n")
        else:
            wire.send(wire.head(line, "Content-Length: %d" % len(data_sent), *fields, token=daemon.planner.token))
            step = 1 if mode == "bytewise" else len(data_sent)
            for at in range(0, len(data_sent), step):
                wire.send(data_sent[at:at + step])
        return wire.response()


@scene
def C76_a_body_in_pieces_is_the_same_body(daemon):
    body = json.dumps({"label": "x" * 100, "entries": [requirement("k")], "subtasks": [],
                       "prompt": {"k" * 100 + str(number): True for number in range(30)}})
    answers = [C76_send(daemon, mode, body.encode()) for mode in ("whole", "bytewise", "chunk1")]
    equal([answer.status for answer in answers], [200, 200, 200])
    check(answers[0].body == answers[1].body == answers[2].body, "the framing changed the answer")


def peak_kib(daemon):
    """The most memory that the daemon ever had."""
    with open("/proc/%d/status" % daemon.process.pid, encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("VmHWM")).split()[1])


@scene
def C76_a_chunked_body_without_end_is_cut_at_the_limit(daemon):
    before = peak_kib(daemon)
    with daemon.wire() as wire:
        wire.send(wire.head("POST /v1/preview HTTP/1.1", "Transfer-Encoding: chunked", "Content-Type: application/json",
                            token=daemon.planner.token))
        try:
            for _ in range(1024):
                wire.send(b"10000\r\n" + b"y" * 65536 + b"\r\n")
        except ConnectionError:
            pass
        equal(wire.response().status, 413)
        check(wire.is_closed(), "open after 413")
    grown = peak_kib(daemon) - before
    check(grown < 16 << 10, "%d KiB were needed" % grown)


@scene
def C76_a_length_over_the_limit_is_told_before_the_body(daemon):
    with daemon.wire() as wire:
        wire.send(wire.head("POST /v1/preview HTTP/1.1", "Content-Length: 67108864", "Content-Type: application/json",
                            token=daemon.planner.token))
        equal((wire.response().status), 413)


@scene
def C76_a_short_body_has_no_effect(daemon):
    world = daemon.world()
    before = world.see()
    body = json.dumps(world.plan(reads("a"))).encode()
    with daemon.wire() as wire:
        wire.send(wire.head("PUT /v1/tasks/%s HTTP/1.1" % world.task_id(), "Content-Length: %d" % (len(body) + 1),
                            "Content-Type: application/json", token=daemon.planner.token) + body)
    unchanged(before, world.see(), "a short body")


def raw(daemon, name, path=None, old=None, token=None):
    """Sends a case's bytes with the nearest real path and our Host; the wire, for its answers."""
    text = data(name).replace(b"Host: 127.0.0.1\r\n", b"Host: 127.0.0.1:%d\r\n" % daemon.port + (
        b"Authorization: Bearer %s\r\n" % token.encode() if token else b""))
    if path:
        check(old.encode() in text, "%s has no %s" % (name, old))
        text = text.replace(old.encode(), path.encode())
    return daemon.wire().send(text)


@scene
def C78_HEAD_of_an_approval_does_nothing_and_has_no_body(daemon):
    world = daemon.world()
    world.submit(free("a"))
    before = world.see()
    path = "/v1/tasks/%s/approval" % world.task_id()
    with raw(daemon, "C78/head-approve.txt", path, "/v1/approvals/1/approve", token=daemon.approver.token) as wire:
        equal(wire.response(has_body=False).status, 405)
        equal(wire.response().status, 200)
        check(wire.is_closed(), "more came")
    unchanged(before, world.see(), "HEAD")


@scene
def C78_words_that_are_no_methods_of_the_address_act_on_nothing(daemon):
    world = daemon.world()
    world.submit(free("a"))
    before = world.see()
    with raw(daemon, "C78/lower.txt", "/healthz", "/v1/health") as wire:
        equal(wire.response().status, 501)
    with raw(daemon, "C78/trace.txt", "/healthz", "/v1/health") as wire:
        answer = wire.response()
        equal((answer.status, b"X-Secret" in answer.body), (405, False))
    with raw(daemon, "C78/options.txt") as wire:
        equal(wire.response().status, 204)
    paths = ["/v1/tasks/%s/approval" % world.task_id(), "/v1/tasks/" + world.task_id(), "/v1/evaluate", "/v1/preview", "/v1/runs",
             "/v1/packages/%s/handoff" % world.pid("a"), "/v1/projects/" + world.id, "/v1/grants"]
    for path in paths:
        allowed = daemon.admin.request("OPTIONS", path).headers["allow"].split(", ")
        for method in ("GET", "PUT", "POST", "DELETE", "PATCH", "TRACE"):
            if method in allowed:
                continue
            answer = is_problem(daemon.admin.request(method, path), 405, "method_not_allowed")
            equal(answer.headers["allow"].split(", "), allowed, path)
    unchanged(before, world.see(), "a word")


@scene
def C79_percent_tricks_reach_no_route(daemon):
    for name, old, path, status in (
            ("nul.txt", "/v1/approvals/7%00/x", "/v1/tasks/7%00/approval", 400), ("slash.txt", "/v1/approvals/7%2F", "/v1/tasks/7%2F", 400),
            ("dots.txt", "/v1/bundles/kb/", "/v1/tasks/kb/", 400), ("crlf.txt", "/v1/approvals/", "/v1/tasks/", 400),
            ("bad.txt", "/v1/approvals/", "/v1/tasks/", 400), ("dslash.txt", "//v1///health", "//v1///tasks", 404),
            ("qnul.txt", "/v1/decisions?run=", "/v1/runs?package=", 400)):
        with raw(daemon, "C79/" + name, path, old, token=daemon.admin.token) as wire:
            answer = wire.response()
            equal(answer.status, status, name)
            check("x-a" not in answer.fields, "a header came out of the path")
    check(b"X-A: b" not in daemon.log(), "a path broke a log line")


@scene
def C81_what_a_foreign_page_can_send_is_refused_before_it_is_used(daemon):
    world = daemon.world()
    world.submit(free("a"))
    before = world.see()
    path = "/v1/tasks/%s/approval" % world.task_id()
    for name in ("text.txt", "none.txt", "two-types.txt"):
        with raw(daemon, "C81/" + name, path, "/v1/approvals/1/approve", token=daemon.approver.token) as wire:
            answer = wire.response()
            equal(answer.status, 415, name)
            check(not [field for field in answer.fields if field.startswith("access-control")], "CORS on %s" % name)
    with raw(daemon, "C81/upper.txt", path, "/v1/approvals/1/approve", token=daemon.approver.token) as wire:
        equal(wire.response().status, 422, "upper.txt")
    handoff = "POST /v1/packages/%s/handoff HTTP/1.1" % world.pid("a")
    with daemon.wire() as wire:
        equal(wire.ask(handoff, "Content-Type: text/plain", token=daemon.executor.token).status, 415)
    unchanged(before, world.see(), "a page")


@scene
def C82_only_our_own_names_are_served(daemon):
    for line in data("C82/hosts.txt").decode().splitlines():
        host, wanted = line.replace("PORT", str(daemon.port)).split()
        with daemon.wire() as wire:
            answer = wire.ask("GET /healthz HTTP/1.1", "Host: " + host, host=False, token=None)
        if wanted == "ok":
            equal(answer.status, 200, host)
        else:
            check(answer.status in (400, 403), "%s gave %r" % (host, answer))


@scene
def C82_only_our_own_pages_may_act(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    before = world.see()
    for line in data("C82/origins.txt").decode().splitlines():
        origin, wanted = line.replace("PORT", str(daemon.port)).split()
        fields = [] if origin == "(absent)" else ["Origin: " + origin]
        with daemon.wire() as wire:
            answer = wire.ask("POST /v1/tasks/%s/approval HTTP/1.1" % world.task_id(), *fields, body=b'{"planRevision":"7"}',
                              token=daemon.approver.token)
        equal(answer.status, 409 if wanted == "ok" else 403, origin)
    unchanged(before, world.see(), "a page")


@scene
def C83_a_locked_store_is_waited_for_or_told_and_nothing_is_lost(daemon):
    world = daemon.world()
    world.submit(free("a"))
    before = world.task()
    files = [path for path in glob.glob(os.path.join(daemon.state, "*")) if open_header(path).startswith(b"SQLite format 3")]
    equal(len(files), 1, "store files")
    lock = sqlite3.connect(files[0], isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    try:
        answer = daemon.approver.post("/v1/tasks/%s/approval" % world.task_id(), {"planRevision": "1"})
        is_problem(answer, 503, answer.code)
        check(int(answer.headers["retry-after"]) >= 0, "no Retry-After")
        equal(world.task(), before, "the task while the store is locked")
    finally:
        lock.execute("ROLLBACK")
        lock.close()
    equal(world.approve()["alreadyApproved"], False)
    if world.task()["status"] != "approved":
        raise Failed("the approval was not stored")


def open_header(path):
    if not os.path.isfile(path):
        return b""
    with open(path, "rb") as file:
        return file.read(16)


if __name__ == "__main__":
    run_scenes()
