#!/usr/bin/env python3
"""What admitctl says to a daemon, and makes of its answers: against a stand-in that records and replies."""
import contextlib
import http.server
import json
import os
import pty
import stat
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
from tap import check, equal, run, test  # noqa: E402

ADMITCTL = os.environ.get("ADMITCTL", "admitctl")
TOKEN = "adm_0123456789abcdef"
PACKAGE = "pkg_6f1x0c2v8m"
STATE = {"key": "needs_project_context", "tone": "amber", "headline": "Waiting for read access",
         "body": "backend asks to read filesystem.project.read in tracker; nobody has decided."}


def grant_action(action, href, allowed, **body):
    found = {"id": action, "label": action, "method": "POST", "href": href, "body": body, "inputs": ["reason"],
             "allowed": allowed, "roleNeeded": ["approver"]}
    return found if allowed else dict(found, whyNot="role_missing")


def actions(allowed=True):
    reads = ["filesystem.project.read"]
    return [grant_action("approve_once", "/v1/packages/%s/grants" % PACKAGE, allowed, decision="approved",
                         capabilities=reads, expectedRevision="0", rootRevision="1"),
            grant_action("approve_always", "/v1/projects/tracker/grants", allowed, decision="approved",
                         capabilities=reads, expectedRevision="3", rootRevision="1"),
            grant_action("deny", "/v1/packages/%s/grants" % PACKAGE, allowed, decision="denied", expectedRevision="0")]


def problem(status, code, **members):
    return status, {"Content-Type": "application/problem+json"}, dict(
        {"type": "urn:admitd:problem:" + code, "title": "The title of " + code, "status": status, "code": code,
         "instance": "req_01J"}, **members)


class StandIn(http.server.ThreadingHTTPServer):
    """Answers each request from a list of (status, headers, body), or with what a function of the request gives."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests = []
        self.answers = []
        self.url = "http://127.0.0.1:%d" % self.server_address[1]

    def expect(self, *answers):
        self.requests = []
        self.answers = list(answers)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        length = int(self.headers.get("Content-Length", "0"))
        body = self.rfile.read(length)
        self.server.requests.append((self.command, self.path, dict(self.headers), json.loads(body) if body else None))
        found = self.server.answers.pop(0) if self.server.answers else problem(404, "not_found")
        if found == "hang up":
            self.close_connection = True
            return
        status, headers, content = found
        data = content if isinstance(content, bytes) else b"" if content is None else json.dumps(content).encode()
        self.send_response(status)
        for name, value in dict({"Content-Type": "application/json"}, **headers).items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_DELETE = answer

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def stand_in():
    server = StandIn()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def environment(server, token, **more):
    whole = {key: value for key, value in os.environ.items() if not key.startswith("ADMITD")}
    whole["ADMITD_URL"] = server.url
    if token:
        whole["ADMITD_TOKEN"] = token
    whole.update(more)
    return whole


def admitctl(server, *words, given="", token=TOKEN, **more):
    done = subprocess.run([ADMITCTL, *words], input=given.encode(), env=environment(server, token, **more),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def ok(content, status=200, **headers):
    return status, headers, content


# ---- the request

@test
def the_token_goes_into_the_header_and_nowhere_else(server):
    server.expect(ok({"items": [], "next": None}))
    code, out, err = admitctl(server, "status")
    equal((code, err), (0, ""))
    method, path, headers, _ = server.requests[0]
    equal((method, path), ("GET", "/v1/tasks?limit=500"))
    equal(headers["Authorization"], "Bearer " + TOKEN)
    check(TOKEN not in out, out)


@test
def a_token_file_goes_before_the_state_folder_and_that_before_the_environment(server):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("mine", "tok_file\n"), ("admin.token", "tok_state\n")):
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write(text)
            os.chmod(file.name, 0o600)
        for words, wanted in ((["--state", folder, "--token-file", os.path.join(folder, "mine")], "tok_file"),
                              (["--state", folder], "tok_state"), ([], TOKEN)):
            server.expect(ok({"items": []}))
            code, _, err = admitctl(server, "status", *words)
            equal((code, err), (0, ""), str(words))
            equal(server.requests[0][2]["Authorization"], "Bearer " + wanted)


@test
def a_token_that_others_can_read_is_told(server):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "token")
        with open(path, "w", encoding="ascii") as file:
            file.write("tok_file\n")
        os.chmod(path, 0o644)
        server.expect(ok({"items": []}))
        code, _, err = admitctl(server, "status", "--token-file", path)
        equal(code, 0)
        check("chmod 600" in err, err)


@test
def what_is_no_token_is_never_sent_nor_quoted(server):
    server.expect()
    for token in ("se cret", "secret\r\nX-Evil: 1", "s" * 257):
        code, out, err = admitctl(server, "status", token=token)
        equal((code, out, server.requests), (2, "", []), repr(token))
        check("holds no token" in err and "secret" not in err and "sss" not in err, err)


@test
def without_a_token_none_is_sent_and_the_refusal_says_how(server):
    server.expect(problem(401, "unauthenticated"))
    code, out, err = admitctl(server, "status", token=None)
    equal((code, out), (1, ""))
    check("Authorization" not in server.requests[0][2], str(server.requests[0][2]))
    check("--token-file" in err, err)


@test
def ids_are_encoded_into_paths(server):
    server.expect(problem(404, "not_found"))
    equal(admitctl(server, "status", "../x?y#z ä")[0], 1)
    equal(server.requests[0][1], "/v1/tasks/..%2Fx%3Fy%23z%20%C3%A4")


@test
def a_redirect_is_not_followed(server):
    server.expect((302, {"Location": server.url + "/v1/elsewhere"}, {}))
    code, out, err = admitctl(server, "status")
    equal((code, out, len(server.requests)), (1, "", 1))
    check("not followed" in err, err)


@test
def a_proxy_of_the_environment_is_not_used(server):
    server.expect(ok({"items": []}))
    equal(admitctl(server, "status", http_proxy="http://127.0.0.1:9", ALL_PROXY="http://127.0.0.1:9")[0], 0)


# ---- what did not come

@test
def an_answer_that_is_lost_is_asked_for_again_with_the_same_key(server):
    done = {"run": {"id": "run_1", "outcome": "succeeded"}, "package": {"id": PACKAGE}, "task": {"id": "t"}}
    server.expect("hang up", ok(done))
    code, _, _ = admitctl(server, "outcome", "run_1", "succeeded")
    equal((code, len(server.requests)), (0, 2))
    keys = {request[2]["Idempotency-Key"] for request in server.requests}
    check(len(keys) == 1 and len(keys.pop()) == 32, str(server.requests))


@test
def two_commands_never_share_a_key(server):
    server.expect(problem(409, "run_ended"), problem(409, "run_ended"))
    for _ in range(2):
        equal(admitctl(server, "outcome", "run_1", "failed")[0], 1)
    equal(len({request[2]["Idempotency-Key"] for request in server.requests}), 2)


@test
def no_answer_at_all_is_exit_3_and_says_how_to_learn_what_happened(server):
    server.expect(*["hang up"] * 4)
    code, out, err = admitctl(server, "outcome", "run_1", "failed", "--idempotency-key", "my-key")
    equal((code, out, len(server.requests)), (3, "", 4))
    check("--idempotency-key my-key" in err, err)
    equal({request[2]["Idempotency-Key"] for request in server.requests}, {"my-key"})


@test
def what_asks_to_be_repeated_is_repeated(server):
    for status, code in ((503, "queue_full"), (429, "rate_limited"), (409, "inputs_changed"), (409, "in_progress")):
        again = problem(status, code)
        server.expect((again[0], dict(again[1], **{"Retry-After": "0"}), again[2]), ok({"items": []}))
        equal(admitctl(server, "status")[0], 0, code)
        equal(len(server.requests), 2, code)


@test
def what_asks_for_too_long_a_wait_is_told_at_once(server):
    late = problem(503, "queue_full")
    server.expect((late[0], dict(late[1], **{"Retry-After": "3600"}), late[2]))
    code, _, err = admitctl(server, "status")
    equal((code, len(server.requests)), (3, 1))
    check("queue_full" in err, err)


@test
def a_conflict_is_not_repeated(server):
    conflict = problem(409, "revision_conflict")
    server.expect((conflict[0], dict(conflict[1], **{"Retry-After": "0"}), conflict[2]))
    equal((admitctl(server, "status")[0], len(server.requests)), (1, 1))


# ---- problems

@test
def a_problem_is_told_with_everything_that_helps(server):
    server.expect(problem(422, "invalid_document", detail="2 faults", faults=[
        {"pointer": "/packages/0/label", "detail": "is taken"}, {"pointer": "", "detail": "no title"}]))
    code, out, err = admitctl(server, "task", "submit", "-", "--id", "t", given="{}")
    equal((code, out), (1, ""))
    for said in ("The title of invalid_document (422 invalid_document)", "2 faults", "/packages/0/label: is taken",
                 "/: no title", "request req_01J"):
        check(said in err, "%r is not in %s" % (said, err))


@test
def a_missing_role_is_named(server):
    server.expect(problem(403, "forbidden", roleNeeded=["approver", "operator"]))
    code, _, err = admitctl(server, "approve", "t", "--plan-revision", "1")
    equal(code, 1)
    check("approver, operator" in err, err)


@test
def a_problem_cannot_reach_the_terminal(server):
    server.expect(problem(409, "task_status", detail="x\x1b]0;pwned\x07\u202e\ny"))
    _, _, err = admitctl(server, "preview", "t")
    check("\x1b" not in err and "\u202e" not in err and "<U+001B>" in err, repr(err))


@test
def a_problem_as_json_is_printed_as_it_came(server):
    answer = problem(409, "task_status", detail="later")
    server.expect(answer)
    code, out, err = admitctl(server, "preview", "t", "--json")
    equal((code, json.loads(out), err), (1, answer[2], ""))


@test
def an_answer_of_something_else_is_told(server):
    server.expect((404, {"Content-Type": "text/html"}, b"<html>\x1b[2J"))
    code, out, err = admitctl(server, "status")
    equal((code, out), (1, ""))
    check("is this URL admitd's?" in err and "html" not in err, err)


# ---- the way once

@test
def a_plan_is_sent_without_its_id(server):
    plan = {"id": "tracker-42", "project": "tracker", "title": "Due dates", "packages": []}
    stored = dict(plan, status="proposed", planRevision="1", packages=[
        {"id": PACKAGE, "label": "backend", "agent": "backend", "status": "draft", "attempts": 0,
         "hold": {"kind": "needs_grant", "arm": "never_approved"}}])
    server.expect(ok(stored, 201))
    code, out, err = admitctl(server, "task", "submit", "-", given=json.dumps(plan))
    equal((code, err), (0, ""))
    method, path, _, body = server.requests[0]
    equal((method, path), ("PUT", "/v1/tasks/tracker-42"))
    equal(body, {"project": "tracker", "title": "Due dates", "packages": []})
    check("needs grant, never approved" in out and "admitctl preview tracker-42" in out, out)


@test
def a_preview_shows_the_state_and_the_command_that_frees_it(server):
    preview = {"surface": "preview", "task": "tracker-42", "planRevision": "1", "status": "blocked",
               "counts": {"allowed": 0, "warning": 0, "blocked": 1},
               "packages": [{"packageId": PACKAGE, "label": "backend", "status": "blocked", "operatorState": STATE,
                             "comparedWith": None, "changedInputs": [], "actions": actions(),
                             "result": {"aggregate": {"blockedReason": "it needs a grant"}}}]}
    server.expect(ok(preview))
    code, out, err = admitctl(server, "preview", "tracker-42")
    equal((code, err, server.requests[0][:2]), (1, "", ("POST", "/v1/tasks/tracker-42/preview")))
    check("Content-Type" not in server.requests[0][2], "no body has no type")
    equal(out.splitlines(), [
        "BLOCKED  backend  " + PACKAGE, "  Waiting for read access", "  " + STATE["body"], "  why        it needs a grant",
        "  to free    admitctl grant %s --expected-revision 0 --root-revision 1" % PACKAGE,
        "  or always  admitctl grant --project tracker --capability filesystem.project.read --expected-revision 3 "
        "--root-revision 1", "", "0 allowed, 0 with a warning, 1 blocked"])


@test
def a_command_that_was_shown_runs_as_it_stands(server):
    server.expect(ok({"grant": {"id": "grt_1", "decision": "approved", "mode": "allow_once",
                                "capabilities": ["filesystem.project.read"]}, "impact": {"opens": [PACKAGE]}}, 201))
    code, out, err = admitctl(server, "grant", PACKAGE, "--expected-revision", "0", "--root-revision", "1")
    equal((code, err), (0, ""))
    equal(server.requests[0][3], {"decision": "approved", "expectedRevision": "0", "rootRevision": "1"})
    check("grt_1" in out and "opens" in out, out)


@test
def what_was_not_seen_is_read_before_it_is_decided_on(server):
    server.expect(ok({"id": PACKAGE, "project": "tracker", "actions": actions()}), ok({"grant": {"id": "grt_1"}}, 201))
    code, _, err = admitctl(server, "grant", PACKAGE, "--reason", "one run", "--capability", "filesystem.project.read")
    equal(code, 0)
    equal([request[:2] for request in server.requests],
          [("GET", "/v1/packages/" + PACKAGE), ("POST", "/v1/packages/%s/grants" % PACKAGE)])
    equal(server.requests[1][3], {"decision": "approved", "capabilities": ["filesystem.project.read"],
                                  "reason": "one run", "expectedRevision": "0", "rootRevision": "1"})
    check("revision 0, folder revision 1" in err, err)


@test
def a_project_is_decided_on_at_all_its_decisions_and_revoked_at_its_own(server):
    project = {"id": "tracker", "rootRevision": "2", "decisionRevision": "9", "grant": {"revision": "5"}}
    for words, wanted in (
            (["grant", "--project", "tracker", "-c", "filesystem.project.read", "--replace"],
             {"decision": "approved", "capabilities": ["filesystem.project.read"], "replace": True,
              "expectedRevision": "9", "rootRevision": "2"}),
            (["revoke", "--project", "tracker"], {"decision": "revoked", "expectedRevision": "5"})):
        server.expect(ok(project), ok({"grant": {"id": "grt_1"}}, 201))
        equal(admitctl(server, *words)[0], 0)
        equal(server.requests[1][3], wanted)


@test
def an_end_from_now_on_is_a_time(server):
    server.expect(ok({"impact": {"opens": []}}))
    words = ["grant", PACKAGE, "--expected-revision", "0", "--root-revision", "1", "--dry-run", "--expires"]
    equal(admitctl(server, *words, "7d")[0], 0)
    equal(server.requests[0][1], "/v1/packages/%s/grants?dryRun=true" % PACKAGE)
    check(server.requests[0][3]["expiresAt"].endswith(".000Z"), str(server.requests[0][3]))
    server.expect(ok({"impact": {}}))
    equal(admitctl(server, *words, "2026-12-07T00:00:00Z")[0], 0)
    equal(server.requests[0][3]["expiresAt"], "2026-12-07T00:00:00Z")


@test
def an_approval_reads_the_revision_and_says_which(server):
    server.expect(ok({"id": "tracker-42", "planRevision": "7"}), ok({
        "task": "tracker-42", "status": "approved", "planRevision": "7", "approvedBy": {"principal": "ana"},
        "approvedAt": "2026-11-30T09:04:15.900Z", "packages": [], "warnings": []}))
    code, out, err = admitctl(server, "approve", "tracker-42", "--reason", "sprint 12")
    equal((code, server.requests[1][3]), (0, {"planRevision": "7", "reason": "sprint 12"}))
    check("revision 7" in err and "ana, 2026-11-30 09:04:15 UTC" in out, err + out)


@test
def a_blocked_approval_shows_each_block_and_what_changed(server):
    server.expect(problem(409, "admission_blocked", detail="1 of 2 packages is blocked; nothing was changed", blocked=[{
        "packageId": PACKAGE, "label": "backend", "reason": "it needs a grant", "operatorState": STATE,
        "comparedWith": {"surface": "preview", "decisionId": "sha256:1"},
        "changedInputs": [{"path": "/grants/fs", "before": {"phase": "approved"}, "after": None}],
        "actions": actions(allowed=False)}], warnings=[{"packageId": "pkg_2", "label": "docs", "reason": "goes on"}]))
    code, out, err = admitctl(server, "approve", "tracker-42", "--plan-revision", "1")
    equal((code, err), (1, ""))
    for said in ("BLOCKED  backend", "  changed    since preview:\n             grants/fs: approved -> nothing\n",
                 "needs role approver", "WARNING  docs", "Nothing was approved: 1 of 2"):
        check(said in out, "%r is not in\n%s" % (said, out))


@test
def a_handoff_keeps_the_runs_token_out_of_sight(server):
    answer = {"surface": "handoff", "comparedWith": {"surface": "approval"}, "changedInputs": [], "status": "allowed",
              "run": {"id": "run_1", "task": "t", "attempt": 1, "grants": [
                  {"id": "grt_1", "mode": "allow_once", "requirementKeys": ["fs"]}],
                      "lease": {"expiresAt": "2026-11-30T09:06:00.000Z", "renewAfterSeconds": 20}},
              "runToken": "art_secret", "package": {"id": PACKAGE, "label": "backend", "agent": "backend"},
              "given": {"promptOverlays": {}, "subtasks": ["schema"], "readScope": [
                  {"requirementKey": "fs", "capabilities": ["filesystem.project.read"]}]}}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.token")
        server.expect(ok(answer))
        code, out, err = admitctl(server, "handoff", PACKAGE, "--worker", "runner-3", "--token-out", path)
        equal((code, server.requests[0][3]), (0, {"worker": "runner-3"}))
        check("art_secret" not in out + err, out)
        check("admitctl outcome run_1 succeeded" in out and "nothing since approval" in out, out)
        with open(path, encoding="ascii") as file:
            equal(file.read(), "art_secret\n")
        equal(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        server.expect(ok(answer))
        equal(json.loads(admitctl(server, "handoff", "--task", "t", "--json")[1])["runToken"], "art_secret")
        equal(server.requests[0][1], "/v1/tasks/t/handoff")


@test
def nothing_to_hand_over_is_exit_1(server):
    server.expect((204, {"Retry-After": "5"}, None))
    code, out, err = admitctl(server, "handoff", "--any", "--agent", "backend", "--project", "p")
    equal((code, out, server.requests[0][1]), (1, "", "/v1/handoffs"))
    equal(server.requests[0][3], {"agent": "backend", "project": "p"})
    check("in 5 s" in err, err)


@test
def a_held_package_is_shown_at_its_handoff(server):
    server.expect(problem(409, "admission_blocked", packageId=PACKAGE, detail="used by an earlier run", operatorState=STATE,
                          comparedWith={"surface": "approval"}, actions=actions(),
                          changedInputs=[{"path": "/grants/fs/consumed", "before": False, "after": True}]))
    code, out, err = admitctl(server, "handoff", PACKAGE)
    equal((code, err), (1, ""))
    for said in ("BLOCKED  " + PACKAGE, "grants/fs/consumed: false -> true", "admitctl grant " + PACKAGE):
        check(said in out, out)


@test
def the_status_of_a_task_has_the_commands_that_free_it(server):
    held = {"id": PACKAGE, "label": "backend", "status": "blocked", "attempts": 1,
            "hold": {"kind": "needs_grant", "arm": "used_up"}}
    server.expect(ok({"id": "t", "title": "Due dates", "status": "approved", "planRevision": "1", "project": "tracker",
                      "packages": [held, {"id": "pkg_2", "label": "docs", "status": "pending", "hold": None}]}),
                  ok(dict(held, packageId=PACKAGE, operatorState=STATE, actions=actions())))
    code, out, err = admitctl(server, "status", "t")
    equal((code, err), (0, ""))
    equal([request[1] for request in server.requests], ["/v1/tasks/t", "/v1/packages/" + PACKAGE])
    check("needs grant, used up" in out and "  to free    admitctl grant " + PACKAGE in out, out)


@test
def a_new_tokens_secret_goes_into_a_file_of_its_owner(server):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ana.token")
        words = ["token", "create", "--principal", "ana", "--role", "approver", "--role", "operator", "--project", "p",
                 "--out", path]
        server.expect(ok({"id": "tok_1", "secret": "adt_secret"}, 201))
        code, out, err = admitctl(server, *words)
        equal((code, out), (0, ""))
        check("adt_secret" not in err, err)
        equal(server.requests[0][3], {"principal": "ana", "roles": ["approver", "operator"], "projects": ["p"]})
        with open(path, encoding="ascii") as file:
            equal(file.read(), "adt_secret\n")
        equal(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        server.expect(ok({"id": "tok_2", "secret": "adt_other"}, 201))
        code, _, err = admitctl(server, *words)
        equal((code, server.requests), (2, []))
        check("exists" in err, err)
        os.unlink(path)
        server.expect(problem(403, "forbidden", roleNeeded=["admin"]))
        equal((admitctl(server, *words)[0], os.listdir(folder)), (1, []))


@test
def a_token_is_revoked_without_a_body(server):
    server.expect((204, {}, None))
    equal(admitctl(server, "token", "revoke", "tok_1")[:2], (0, ""))
    method, path, headers, body = server.requests[0]
    equal((method, path, body), ("DELETE", "/v1/tokens/tok_1", None))
    check("Content-Type" not in headers, str(headers))


# ---- the terminal

def on_a_terminal(server, *words, **more):
    """What a terminal gets, and the exit code."""
    leader, follower = pty.openpty()
    with subprocess.Popen([ADMITCTL, *words], stdin=subprocess.DEVNULL, stdout=follower, stderr=subprocess.DEVNULL,
                          env=environment(server, TOKEN, TERM="xterm", **more)) as process:
        os.close(follower)
        got = b""
        with contextlib.suppress(OSError):  # the end of a terminal
            while piece := os.read(leader, 65536):
                got += piece
        os.close(leader)
        return process.wait(60), got.decode().replace("\r\n", "\n")


@test
def colour_is_for_terminals_and_never_the_only_sign(server):
    tasks = ok({"items": [{"id": "t", "title": "x\x1b[2J", "status": "failed", "planRevision": "1", "project": "p"}]})
    server.expect(tasks)
    check("\x1b" not in admitctl(server, "status")[1], "a pipe got colour")
    for words, more, painted in (([], {}, True), (["--no-color"], {}, False), ([], {"NO_COLOR": "1"}, False)):
        server.expect(tasks)
        code, got = on_a_terminal(server, "status", *words, **more)
        equal((code, "\x1b[31m" in got), (0, painted), str((words, more)))
        check("failed" in got and "\x1b[2J" not in got and "x<U+001B>[2J" in got, repr(got))


if __name__ == "__main__":
    run(stand_in)
