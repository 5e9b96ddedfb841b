#!/usr/bin/env python3
"""Bad input is normal input: each malformed request is a problem document that says where and never quotes, the daemon stays up, and
nothing that can be read has changed. Speaks TAP."""
import functools
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from daemon import (CANARY, LIST, READ, broken, check, equal, free, is_problem, package, reads, requirement,  # noqa: E402
                    rfc3339, run_scenes, scene, see, unchanged)

# A secret by its shape, for places where a name may be shown.
SECRET = "ghp_" + "Zx9Qw7Er5Ty3Ui1Op8As6Df4Gh2Jk0Lz9XcV"
PAST, LATER = "2001-01-01T00:00:00.000Z", rfc3339(3600)


class Bench:
    """One project with a held plan, a plan that runs, and all that can be read of the daemon."""

    made = None

    def __init__(self, daemon):
        self.daemon = daemon
        self.world = daemon.world()
        self.world.submit(reads("backend", READ, LIST), reads("docs"), name="held")
        self.world.submit(free("backend"), name="busy")
        self.world.approve("busy")
        self.run = self.world.handoff("backend", "busy")["run"]["id"]
        self.names = {"project": self.world.id, "held": self.world.task_id("held"), "busy": self.world.task_id("busy"),
                      "package": self.world.pid("backend", "held"), "running": self.world.pid("backend", "busy"), "run": self.run}
        self.before = see(daemon, self.world.id)

    @classmethod
    def of(cls, daemon):
        if cls.made is None:
            cls.made = cls(daemon)
        return cls.made

    def refuse(self, role, method, path, body, status, code, pointer=None, headers=None):
        """Sends a request that must be refused so; of a `code` that is None any 422 will do."""
        if callable(body):
            body = body(self)
        answer = getattr(self.daemon, role).request(method, path.format(**self.names), body, headers)
        is_problem(answer, status, code or answer.code)
        check(CANARY.encode() not in answer.raw, "the input is quoted: %r" % answer)
        check(SECRET.encode() not in answer.raw, "a secret is quoted: %r" % answer)
        for value in answer.headers.values():
            check(CANARY not in value and SECRET not in value, "a header quotes the input: " + value)
        if code == "invalid_json":
            check(isinstance(answer["offset"], int) and 0 <= answer["offset"] <= len(body), "offset: %r" % answer)
        if code == "invalid_document":
            check(answer["faults"] and all(set(fault) == {"pointer", "detail"} for fault in answer["faults"]), repr(answer))
        if pointer is not None:
            pointers = [fault["pointer"] for fault in answer["faults"]]
            check(pointer in pointers, "faults at %r, wanted %s" % (pointers, pointer))
        return answer


def refusals(function):
    """Registers a test of refusals, after which nothing that can be read of the bench has changed."""
    @functools.wraps(function)
    def whole(daemon):
        bench = Bench.of(daemon)
        Bench.made = None       # kept only if all is as it was
        function(bench)
        unchanged(bench.before, see(daemon, bench.world.id), "a refused request")
        Bench.made = bench
    scene(whole)


def case(name, *row, **more):
    """Registers one refused request as a test of this name."""
    def refused(bench):
        bench.refuse(*row, **more)
    refused.__name__ = name.replace(" ", "_")
    refusals(refused)


# ---- each address that takes a body: role, method, path, a whole body, and what of it is required

GRANT = {"decision": "approved", "capabilities": [READ, LIST], "reason": "r", "expiresAt": LATER, "expectedRevision": "0",
         "rootRevision": "1"}
PLAN = {"project": "none", "title": "t", "packages": [dict(reads("a"), redo=False), reads("b", after=["a"])]}
HEALTH = {"mcpId": "github", "installState": "installed", "status": "healthy", "enabled": True, "error": None,
          "checkedAt": "2026-01-01T00:00:00.000Z", "validSeconds": 60}
ROUTES = {
    "project": ("operator", "PUT", "/v1/projects/{project}", {"name": "other"}, ()),
    "health": ("operator", "PUT", "/v1/projects/{project}/health/github", HEALTH,
               ("mcpId", "installState", "status", "enabled", "error", "checkedAt")),
    "task": ("planner", "PUT", "/v1/tasks/{held}", PLAN, ("project", "title", "packages")),
    "preview": ("planner", "POST", "/v1/preview", PLAN, ("project",)),
    "approval": ("approver", "POST", "/v1/tasks/{held}/approval", {"planRevision": "1", "rootRevision": "1", "reason": "r"},
                 ("planRevision",)),
    "package grant": ("approver", "POST", "/v1/packages/{package}/grants", GRANT, ("decision", "expectedRevision")),
    "project grant": ("approver", "POST", "/v1/projects/{project}/grants", dict(GRANT, replace=False),
                      ("decision", "expectedRevision")),
    "handoff": ("executor", "POST", "/v1/packages/{package}/handoff", {"worker": "w"}, ()),
    "outcome": ("executor", "POST", "/v1/runs/{run}/outcome", {"outcome": "succeeded", "summary": "s"}, ("outcome",)),
    "token": ("admin", "POST", "/v1/tokens", {"principal": "x", "roles": ["planner"], "projects": ["p1"], "expiresAt": LATER},
              ("principal", "roles")),
    "evaluate": ("planner", "POST", "/v1/evaluate", {"entries": [], "subtasks": []}, ()),
}


def bytes_of(text):
    return text if isinstance(text, bytes) else text.encode()


# ---- syntax: every fault on some address, the worst on all of them

C = CANARY
SYNTAX = {
    "an object that does not end": '{"a":"%s"' % C,
    "a text that does not end": '{"a":"%s' % C,
    "a comma too much": '{"a":"%s",}' % C,
    "a missing comma": '{"a":"%s" "b":1}' % C,
    "a missing colon": '{"a" "%s"}' % C,
    "single quotes": "{'a':'%s'}" % C,
    "a name without quotes": "{%s:1}" % C.replace("-", "_"),
    "a comment": '{"a":1 /* %s */}' % C,
    "a second value": '{"a":1}{"b":"%s"}' % C,
    "text behind the value": '{"a":1} %s' % C,
    "a raw NUL and a second document": '{"a":1}\0{"b":"%s"}' % C,
    "a raw NUL behind a number": '{"b":"%s","a":1\0}' % C,
    "a raw NUL in a text": '{"a":"%s\0x"}' % C,
    "an escaped NUL in a value": '{"a":"%s\\u0000x"}' % C,
    "an escaped NUL in a name": '{"%s\\u0000":1}' % C,
    "a high surrogate alone": '{"a":"%s\\ud800"}' % C,
    "a low surrogate alone": '{"a":"%s\\udc00x"}' % C,
    "two high surrogates": '{"a":"%s\\ud800\\ud800"}' % C,
    "a surrogate pair the wrong way round": '{"a":"%s\\udc00\\ud800"}' % C,
    "a byte that is never UTF-8": b'{"a":"%s\xff"}' % C.encode(),
    "an overlong UTF-8 slash": b'{"a":"%s\xc0\xaf"}' % C.encode(),
    "a surrogate in UTF-8": b'{"a":"%s\xed\xa0\x80"}' % C.encode(),
    "a code point beyond Unicode": b'{"a":"%s\xf4\x90\x80\x80"}' % C.encode(),
    "a character cut short": b'{"a":"%s\xe2\x82"}' % C.encode(),
    "a byte order mark": b'\xef\xbb\xbf{"a":"%s"}' % C.encode(),
    "UTF-16": ('{"a":"%s"}' % C).encode("utf-16"),
    "65 arrays deep": '{"a":' + "[" * 64 + '"%s"' % C + "]" * 64 + "}",
    "65 objects deep": '{"a":' * 65 + '"%s"' % C + "}" * 65,
    "a million open brackets": "[" * 1000000,
    "a control byte in a text": '{"a":"%s\x01"}' % C,
    "a line feed in a text": '{"a":"%s\n"}' % C,
    "an escape that is none": '{"a":"%s\\x41"}' % C,
    "an escape of three digits": '{"a":"%s\\u12g4"}' % C,
    "a member twice": '{"a":"%s","a":"b"}' % C,
    "a member twice at depth": '{"a":[{"b":{"%s":1,"%s":2}}]}' % (C, C),
    "a member twice by an escape": '{"ab":"%s","\\u0061b":2}' % C,
    "2 to the 63": '{"%s":9223372036854775808}' % C,
    "2 to the 64": '{"%s":18446744073709551616}' % C,
    "a number beyond all doubles": '{"%s":1e999}' % C,
    "a number of a thousand digits": '{"%s":%s}' % (C, "7" * 1000),
    "a hexadecimal number": '{"%s":0x10}' % C,
    "NaN": '{"%s":NaN}' % C,
    "Infinity": '{"%s":-Infinity}' % C,
    "a leading zero": '{"%s":01}' % C,
    "a number that ends in a point": '{"%s":1.}' % C,
    "a number that begins with a point": '{"%s":.5}' % C,
    "a plus sign": '{"%s":+1}' % C,
    "True with a capital": '{"%s":True}' % C,
    "only white space": "  \n ",
}
WORST = ("an object that does not end", "a raw NUL and a second document", "an escaped NUL in a value", "65 objects deep",
         "a member twice by an escape", "a byte that is never UTF-8", "2 to the 64")

for number, (fault, text) in enumerate(SYNTAX.items()):
    address = list(ROUTES)[number % len(ROUTES)]
    case("%s is no JSON for %s" % (fault, address), *ROUTES[address][:3], bytes_of(text), 400, "invalid_json")

for address, row in ROUTES.items():
    def all_of_the_worst(bench, row=row):
        for fault in WORST:
            bench.refuse(*row[:3], bytes_of(SYNTAX[fault]), 400, "invalid_json")
    all_of_the_worst.__name__ = "%s_refuses_the_worst_of_JSON" % address.replace(" ", "_")
    refusals(all_of_the_worst)


@refusals
def a_duplicate_is_told_by_its_place(bench):
    text = json.dumps(PLAN)[:-1] + ',"title":"%s"}' % C
    answer = bench.refuse("planner", "PUT", "/v1/tasks/{held}", text.encode(), 400, "invalid_json")
    equal((answer.json.get("pointer"), answer["offset"]), ("/title", text.index(',"title":"' + C) + 1))


# ---- shape: every member of every body, of every wrong type

TYPES = {"null": None, "a number": 7, "a real number": 1.5, "true": True, "a text": C, "an array": [C], "an object": {C: C}}
TAKES = {str: "a text", bool: "true", int: "a number", list: "an array", dict: "an object", type(None): "null"}
# Where null says the same as absence, or is a value.
NULLABLE = {"error", "reason", "summary", "worker", "expiresAt", "root", "rootRevision", "validSeconds", "projects", "name", "replace",
            "capabilities", "redo", "promptOverlays", "dependsOn"}


def wrong(name, value):
    """Values of the wrong type for a member that has this one; of the right one, those that no member takes."""
    for kind, bad in TYPES.items():
        if kind == TAKES[type(value)] or (kind == "null" and name in NULLABLE) or (kind == "a text" and name == "error"):
            continue
        yield bad
    if name not in ("reason", "summary", "worker", "error", "title", "name", "redo", "enabled") and isinstance(value, str):
        yield from (C + "\u202e", " ", "x" * 5000)


def replaced(body, name, value):
    return dict(body, **{name: value})


def register_members(address, row, body, at="", wrap=lambda body: body):
    for name, value in body.items():
        def of_wrong_types(bench, name=name, value=value):
            for bad in wrong(name, value):
                bench.refuse(*row[:3], wrap(replaced(body, name, bad)), 422, "invalid_document", None)
        of_wrong_types.__name__ = "%s_refuses_%s_of_a_wrong_type" % (address.replace(" ", "_"), (at + name).strip("/"))
        refusals(of_wrong_types)


for address, row in ROUTES.items():
    if address == "evaluate":
        continue
    register_members(address, row, row[3])
register_members("task", ROUTES["task"], PLAN["packages"][0], "/packages/0/", lambda one: dict(PLAN, packages=[one]))


@refusals
def what_is_required_is_told_when_it_is_missing(bench):
    for role, method, path, body, required in ROUTES.values():
        for name in required:
            rest = {key: value for key, value in body.items() if key != name}
            bench.refuse(role, method, path, rest, 422, "invalid_document", "/" + name)


@refusals
def a_body_that_is_no_object_is_a_fault_of_the_whole(bench):
    for role, method, path, _, _ in ROUTES.values():
        for body in (b"[]", b'"%s"' % C.encode(), b"7", b"true", b"null"):
            bench.refuse(role, method, path, body, 422, "invalid_document", "")


@refusals
def members_nobody_knows_are_told_by_their_places(bench):
    for role, method, path, body, _ in list(ROUTES.values())[:-1]:
        bench.refuse(role, method, path, dict(body, planrevision="1"), 422, "invalid_document", "/planrevision")
        bench.refuse(role, method, path, dict(body, **{"a/b~c": 1}), 422, "invalid_document", "/a~1b~0c")
    bench.refuse("planner", "PUT", "/v1/tasks/{held}", dict(PLAN, packages=[dict(reads("a"), depends_on=[])]), 422,
                            "invalid_document", "/packages/0/depends_on")


@refusals
def a_secret_among_the_names_is_not_told(bench):
    for role, method, path, body, _ in list(ROUTES.values())[:-1]:
        bench.refuse(role, method, path, dict(body, **{SECRET: 1}), 422, "invalid_document")
    for one in (dict(reads("a"), **{SECRET: 1}), dict(reads("a"), promptOverlays={SECRET + " x": "t"}),
                dict(reads("a"), promptOverlays={SECRET: ""})):
        bench.refuse("planner", "PUT", "/v1/tasks/{held}", dict(PLAN, packages=[one]), 422, "invalid_document")


@refusals
def every_fault_is_told_not_only_the_first(bench):
    plan = {"project": "P!", "title": 7, "packages": [dict(reads("a b"), agent="", dependsOn=[1]), 8], "more": 1}
    answer = bench.refuse("planner", "PUT", "/v1/tasks/{held}", plan, 422, "invalid_document")
    equal({fault["pointer"] for fault in answer["faults"]},
          {"/project", "/title", "/packages/0/label", "/packages/0/agent", "/packages/0/dependsOn/0", "/packages/1", "/more"})


# ---- plans

def plan_case(name, packages, pointer, **more):
    case(name, "planner", "PUT", "/v1/tasks/{held}", dict(PLAN, packages=packages, **more), 422, "invalid_document", pointer=pointer)


plan_case("a plan needs a package", [], "/packages")
plan_case("201 packages are too many", [free("a%d" % number) for number in range(201)], "/packages")
for shown, label in (("empty", ""), ("of 65 letters", "a" * 65), ("with a space", "a b"), ("with a slash", "a/b"),
                     ("with a dot first", ".a"), ("with a hyphen first", "-a"), ("with an umlaut", "\xe4"), ("padded", " a"),
                     ("with a line feed", "a\n"), ("with a wide dot", "a\uff0e")):
    plan_case("a label %s is refused" % shown, [dict(free("a"), label=label)], "/packages/0/label")
plan_case("a label stands once", [free("a"), free("b"), free("a")], "/packages/2/label")
plan_case("labels that differ by case are two but depend by exact bytes", [free("a"), free("A", after=["B"])], "/packages/1/dependsOn/0")
plan_case("an unknown dependency is refused", [free("a"), free("b", after=["a", CANARY])], "/packages/1/dependsOn/1")
plan_case("a package does not depend on itself", [free("a", after=["a"])], "/packages/0/dependsOn/0")
plan_case("a dependency stands once", [free("a"), free("b", after=["a", "a"])], "/packages/1/dependsOn/1")
plan_case("two packages do not wait for each other", [free("a", after=["b"]), free("b", after=["a"])], "/packages/1/dependsOn")
plan_case("three packages do not wait in a ring", [free("a", after=["c"]), free("b", after=["a"]), free("c", after=["b"])], None)
plan_case("41 overlays are too many", [free("a", overlays={"k%d" % number: "t" for number in range(41)})], "/packages/0/promptOverlays")
plan_case("an overlay of 2001 characters is too long", [free("a", overlays={"k": "\xe9" * 2001})], "/packages/0/promptOverlays/k")
plan_case("an overlay is not empty", [free("a", overlays={"k": ""})], "/packages/0/promptOverlays/k")
plan_case("an overlay is text", [free("a", overlays={"k": [CANARY]})], "/packages/0/promptOverlays/k")
plan_case("an overlay's key has no white space", [free("a", overlays={"k x": CANARY})], "/packages/0/promptOverlays/k x")
plan_case("a title has at most 240 characters", PLAN["packages"], "/title", title="x" * 241)
plan_case("a title is not empty", PLAN["packages"], "/title", title="")
plan_case("an agent unknown is none", [dict(free("a"), agent="unknown")], "/packages/0/agent")
plan_case("a project id has no capitals", PLAN["packages"], "/project", project="P1")
case("a task id has no capitals", "planner", "PUT", "/v1/tasks/Held", PLAN, 422, "invalid_document")
case("a task id has at most 64 characters", "planner", "PUT", "/v1/tasks/" + "x" * 65, PLAN, 422, "invalid_document")
case("a project id of 65 characters is refused", "operator", "PUT", "/v1/projects/" + "x" * 65, {}, 422, "invalid_document")


def own_plan(bench):
    return bench.world.plan(free("other"))


case("a plan for a project nobody made is 404", "planner", "PUT", "/v1/tasks/new", dict(PLAN, project="none"), 404, "not_found")
case("another plan for an approved task is refused", "planner", "PUT", "/v1/tasks/{busy}", own_plan, 409, "task_status")
case("If-Match names the plan revision", "planner", "PUT", "/v1/tasks/{held}", own_plan, 412, "precondition_failed",
     headers={"If-Match": '"7"'})
case("If-None-Match asks for a new task", "planner", "PUT", "/v1/tasks/{held}", own_plan, 412, "precondition_failed",
     headers={"If-None-Match": "*"})
case("an If-Match that is no revision is refused", "planner", "PUT", "/v1/tasks/{held}", PLAN, 400, "bad_request",
     headers={"If-Match": CANARY})


# ---- revisions and decisions

for shown, value in (("a leading zero", "01"), ("a sign", "-1"), ("a point", "1.0"), ("a space", " 1"), ("letters", CANARY),
                     ("nothing", ""), ("20 digits", "99999999999999999999"), ("wide digits", "\uff11")):
    case("a revision with %s is none" % shown, "approver", "POST", "/v1/tasks/{held}/approval", {"planRevision": value}, 422,
         "invalid_document", pointer="/planRevision")
case("an old plan is not approved", "approver", "POST", "/v1/tasks/{held}/approval", {"planRevision": "2"}, 409, "plan_revision_conflict")
case("an approval names the root it saw", "approver", "POST", "/v1/tasks/{held}/approval", {"planRevision": "1", "rootRevision": "7"}, 409,
     "root_changed")


def grant_case(name, status, code, pointer=None, target="package", **members):
    body = {key: value for key, value in dict(GRANT, **members).items() if value is not ...}
    path = "/v1/packages/{package}/grants" if target == "package" else "/v1/projects/{project}/grants"
    case(name, "approver", "POST", path, body, status, code, pointer=pointer)


grant_case("a grant covers only what is asked", 422, "grant_not_asked", capabilities=[READ, LIST, "filesystem.project.search"])
grant_case("a grant covers all that is asked", 422, "grant_insufficient", capabilities=[READ])
grant_case("a grant of nothing is insufficient", 422, None, capabilities=[])
grant_case("a write is never granted", 422, None, capabilities=[READ, LIST, "filesystem.project.write"])
grant_case("a live operation is never granted", 422, None, capabilities=[READ, LIST, "github.issues.write"])
grant_case("a read without a packet is never granted to a project", 422, None, target="project", capabilities=["github.issues.read"])
grant_case("a capability nobody knows is never granted to a project", 422, None, target="project", capabilities=["filesystem.project.reed"])
grant_case("a wildcard is no capability", 422, None, target="project", capabilities=["filesystem.*"])
grant_case("an unsafe capability is not echoed", 422, None, target="project", capabilities=["filesystem.project.read\u202e" + CANARY])
grant_case("201 capabilities are too many", 422, "invalid_document", "/capabilities", target="project", capabilities=[READ] * 201)
grant_case("a grant on an older revision is refused", 409, "revision_conflict", expectedRevision="3")
grant_case("a project grant on an older revision is refused", 409, "revision_conflict", target="project", expectedRevision="3")
grant_case("a grant for another root is refused", 409, "root_changed", rootRevision="2")
grant_case("an approval says which root it saw", 422, "invalid_document", "/rootRevision", rootRevision=...)
grant_case("an approval does not end in the past", 422, "invalid_document", "/expiresAt", expiresAt=PAST)
grant_case("a denial has no end", 422, "invalid_document", "/expiresAt", decision="denied", capabilities=..., rootRevision=...)
grant_case("a package's grant replaces nothing", 422, "invalid_document", "/replace", replace=True)
grant_case("a decision with a capital is none", 422, "invalid_document", "/decision", decision="Approved")
grant_case("allow is no decision", 422, "invalid_document", "/decision", decision="allow")
grant_case("there is nothing to take back", 409, "nothing_to_revoke", decision="revoked", capabilities=..., rootRevision=...,
           expiresAt=...)
grant_case("there is nothing to take back from a project", 409, "nothing_to_revoke", target="project", decision="revoked",
           capabilities=..., rootRevision=..., expiresAt=...)
for shown, value in (("without a zone", "2036-01-01T00:00:00"), ("of February 30", "2036-02-30T00:00:00Z"),
                     ("of hour 25", "2036-01-01T25:00:00Z"), ("of words", "tomorrow " + CANARY),
                     ("of year 10000", "10000-01-01T00:00:00Z")):
    grant_case("a time %s is none" % shown, 422, "invalid_document", "/expiresAt", expiresAt=value)
case("a reason has a limit", "approver", "POST", "/v1/packages/{package}/grants", dict(GRANT, reason="x" * 100000), 422, "invalid_document",
     pointer="/reason")
case("a dry run is true or false", "approver", "POST", "/v1/packages/{package}/grants?dryRun=maybe", GRANT, 400, "bad_request")


# ---- runs, health, projects, tokens

case("an outcome is one of three words", "executor", "POST", "/v1/runs/{run}/outcome", {"outcome": "expired"}, 422, "invalid_document",
     pointer="/outcome")
case("a package that runs is not claimed again", "executor", "POST", "/v1/packages/{running}/handoff", {}, 409, "package_status")
case("a package of a proposed task is not handed off", "executor", "POST", "/v1/packages/{package}/handoff", {}, 409, "task_status")
case("a worker's name has a limit", "executor", "POST", "/v1/packages/{package}/handoff", {"worker": "x" * 10000}, 422, "invalid_document",
     pointer="/worker")
for name, value in (("installState", "broken"), ("status", "ok"), ("checkedAt", "yesterday"), ("checkedAt", LATER), ("validSeconds", -1),
                    ("validSeconds", 10 ** 12), ("validSeconds", 1.0), ("mcpId", "filesystem")):
    case("health with %s %s is refused" % (name, value if value is not LATER else "to come"), "operator", "PUT",
         "/v1/projects/{project}/health/github", dict(HEALTH, **{name: value}), 422, "invalid_document", pointer="/" + name)
case("the built-in server's health is not reported", "operator", "PUT", "/v1/projects/{project}/health/filesystem",
     dict(HEALTH, mcpId="filesystem"), 422, "invalid_document")
case("health of a server nobody knows is 404", "operator", "PUT", "/v1/projects/{project}/health/desk_app", dict(HEALTH, mcpId="desk_app"),
     404, "not_found")
case("health in a project nobody made is 404", "operator", "PUT", "/v1/projects/none/health/github", HEALTH, 404, "not_found")
for shown, root in (("relative", "tracker/" + CANARY), ("empty", ""), ("with dots", "../" + CANARY)):
    case("a root that is %s is refused" % shown, "operator", "PUT", "/v1/projects/{project}", {"root": root}, 422, None)
case("a root that is not there is not allowed", "operator", "PUT", "/v1/projects/{project}", {"root": "/nowhere/" + CANARY}, 422,
     "root_not_allowed")
case("a root that is no folder is not allowed", "operator", "PUT", "/v1/projects/{project}", {"root": "/dev/null"}, 422, "root_not_allowed")
case("the state folder is no root", "operator", "PUT", "/v1/projects/{project}",
     lambda bench: {"root": bench.daemon.state}, 422, "root_not_allowed")
for shown, body in (("no role", {"principal": "x", "roles": []}), ("a role nobody knows", {"principal": "x", "roles": ["root"]}),
                    ("an empty principal", {"principal": "", "roles": ["planner"]}),
                    ("an end in the past", {"principal": "x", "roles": ["planner"], "expiresAt": PAST}),
                    ("a role twice as a number", {"principal": "x", "roles": ["planner", 7]}),
                    ("a principal with a control character", {"principal": "x\u0007" + CANARY, "roles": ["planner"]})):
    case("a token with %s is refused" % shown, "admin", "POST", "/v1/tokens", body, 422, "invalid_document")


# ---- types and sizes

for shown, kind in (("text", "text/plain"), ("a form", "application/x-www-form-urlencoded"),
                    ("a JSON patch", "application/json-patch+json"), ("UTF-16", "application/json; charset=utf-16"),
                    ("two types at once", "application/json, text/plain"), ("no type", None)):
    case("a body of %s is 415" % shown, "approver", "POST", "/v1/tasks/{held}/approval", {"planRevision": "1"}, 415,
         "unsupported_media_type", headers={"Content-Type": kind})
case("a plan over 4 MiB is 413", "planner", "PUT", "/v1/tasks/{held}", b" " * (4 << 20) + b"{}", 413, "too_large")
case("an approval over 1 MiB is 413", "approver", "POST", "/v1/tasks/{held}/approval", b" " * (1 << 20) + b"{}", 413, "too_large")
case("a document of a million values is refused", "planner", "PUT", "/v1/tasks/{held}",
     json.dumps(dict(PLAN, packages=[dict(reads("a"), document={"x": [0] * 1000000})])).encode(), 400, "invalid_json")
case("an address that takes no body refuses one", "planner", "GET", "/v1/tasks/{held}", b"{}", 400, "bad_request")


# ---- what looks bad and isn't

@scene
def what_a_document_has_beyond_the_contract_is_kept_and_counted(daemon):
    world = daemon.world()
    one = reads("a")
    one["document"].update({"note": {"nested": [1, 2.5, None, "\u00e9\U0001f600"]}, "contextRequest": {"paths": []}})
    first = world.submit(one)
    one["document"]["note"] = 1
    second = world.submit(one, status=200)
    check(first["packages"][0]["documentDigest"] != second["packages"][0]["documentDigest"], "the digest misses an unknown member")


@scene
def eighty_one_entries_are_a_blocked_package_not_a_refusal(daemon):
    world = daemon.world()
    world.submit(package("a", *[requirement("k%d" % number, index=number) for number in range(81)]), package("b", requirement("k")))
    found = world.preview()["packages"]
    equal([item["status"] for item in found], ["blocked", "blocked"])
    equal((found[0]["result"]["evaluations"], found[0]["primaryMode"], found[0]["primaryRecoveryAction"]), ([], "blocked", "revise_plan"))
    equal(found[1]["primaryRecoveryAction"], "approve_project_filesystem_context")


@scene
def documents_of_any_shape_are_stored_and_blocked(daemon):
    world = daemon.world()
    documents = [{"mcpRequirements": 7}, {"mcpRequirements": None}, {"mcpAwareSubtasks": {}}, {"mcpRequirements": [7, None, []]},
                 {"metadata": 7}, {"metadata": {"mcpGrants": "x"}}, {"mcpRequirements": [{"mcpId": ["x"]}]}]
    plan = [dict(reads("a%d" % number), document=document) for number, document in enumerate(documents)]
    world.submit(*plan)
    found = world.preview()["packages"]
    check(all(item["status"] == "blocked" for item in found if item["label"] != "a4"), "a shape is not blocked: %r" % [
        (item["label"], item["status"]) for item in found])


@scene
def the_largest_plan_is_taken(daemon):
    world = daemon.world()
    world.submit(*[broken("a%d" % number, after=["a%d" % (number - 1)] if number else []) for number in range(200)])
    equal(world.preview()["counts"], {"allowed": 0, "warning": 0, "blocked": 200})


if __name__ == "__main__":
    run_scenes()
