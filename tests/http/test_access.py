#!/usr/bin/env python3
"""Who may do what: each route with each role, ids that are not there or not theirs, and every row of the grants' precedence that
decisions over HTTP can reach. Speaks TAP."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from daemon import (LIST, READ, ROLES, Client, check, equal, free, is_problem, reads, requirement, rfc3339, run_scenes, running,  # noqa: E402
                    package, scene, see, unchanged)

ANY = ROLES + ("admin",)
NOBODY = "without a token"
# Routes as in 4.2, with a body that is refused after the role was looked at, so that asking changes nothing.
TABLE = (
    ("GET", "/", None, (NOBODY,) + ANY), ("GET", "/web/console.css", None, (NOBODY,) + ANY), ("GET", "/web/vendor/htm.js", None, (NOBODY,) + ANY),
    ("GET", "/v1/version", None, (NOBODY,) + ANY), ("GET", "/healthz", None, (NOBODY,) + ANY), ("GET", "/readyz", None, (NOBODY,) + ANY),
    ("GET", "/v1/session", None, ANY), ("GET", "/v1/health", None, ANY), ("GET", "/v1/catalog", None, ANY),
    ("GET", "/v1/capabilities/filesystem.read", None, ANY), ("POST", "/v1/evaluate", 7, ("planner",)),
    ("GET", "/v1/projects", None, ANY), ("GET", "/v1/projects/{project}", None, ANY), ("PUT", "/v1/projects/{project}", 7, ("operator",)),
    ("GET", "/v1/projects/{project}/health", None, ANY), ("PUT", "/v1/projects/{project}/health/github", 7, ("operator",)),
    ("GET", "/v1/projects/{project}/servers", None, ANY), ("GET", "/v1/projects/{project}/servers/none", None, ANY),
    ("PUT", "/v1/projects/{project}/servers/github", 7, ("admin",)), ("DELETE", "/v1/projects/{project}/servers/none", None, ("admin",)),
    ("POST", "/v1/projects/{project}/servers/github/check", 7, ("operator",)),
    ("PUT", "/v1/tasks/{task}", 7, ("planner",)), ("GET", "/v1/tasks", None, ANY), ("GET", "/v1/tasks/{task}", None, ANY),
    ("GET", "/v1/tasks/{task}/timeline", None, ANY), ("GET", "/v1/packages/{package}", None, ANY),
    ("GET", "/v1/packages/{package}/timeline", None, ANY),
    ("POST", "/v1/preview", 7, ANY), ("POST", "/v1/tasks/{task}/approval", 7, ("approver",)),
    ("POST", "/v1/packages/{package}/handoff", 7, ("executor",)), ("POST", "/v1/tasks/{task}/handoff", 7, ("executor",)),
    ("POST", "/v1/handoffs", 7, ("executor",)), ("GET", "/v1/runs", None, ANY), ("GET", "/v1/runs/{run}", None, ANY),
    ("POST", "/v1/packages/{package}/grants", 7, ("approver",)), ("POST", "/v1/projects/{project}/grants", 7, ("approver",)),
    ("GET", "/v1/grants", None, ANY), ("GET", "/v1/grants/{grant}", None, ANY), ("GET", "/v1/decisions/{decision}", None, ANY),
    ("POST", "/v1/decisions/{decision}/replay", 7, ("auditor",)), ("POST", "/v1/rejudge", 7, ("auditor",)),
    ("PUT", "/v1/catalog", 7, ("admin",)),
    ("GET", "/v1/recovery", None, ANY), ("GET", "/v1/stats", None, ANY), ("GET", "/v1/search?q=a", None, ANY),
    ("GET", "/metrics", None, ("auditor",)),
    ("POST", "/v1/tasks/{task}/rejection", 7, ("approver",)), ("POST", "/v1/tasks/{task}/changes", 7, ("approver", "operator")),
    ("POST", "/v1/tasks/{task}/cancellation", 7, ("operator",)), ("POST", "/v1/packages/{package}/cancellation", 7, ("operator",)),
    ("POST", "/v1/packages/{package}/retry", 7, ("operator",)), ("POST", "/v1/packages/{package}/rework", 7, ("executor", "operator")),
    ("POST", "/v1/runs/{run}/context", 7, ("executor",)),
    ("GET", "/v1/runs/none/agent-config?agent=codex", None, ("executor",)),
    ("POST", "/v1/runs/{run}/heartbeat", 7, ("executor",)), ("POST", "/v1/projects/{project}/archive", 7, ("admin",)),
    ("POST", "/v1/projects/{project}/unarchive", 7, ("admin",)),
    ("GET", "/v1/audit", None, ("auditor",)), ("GET", "/v1/audit/verify", None, ("auditor",)), ("POST", "/v1/backup", None, ("admin",)),
    ("GET", "/v1/tokens", None, ("admin",)), ("POST", "/v1/tokens", 7, ("admin",)), ("DELETE", "/v1/tokens/tok_none", None, ("admin",)),
)


class Filled:
    """A world with one of each thing."""
    made = None

    def __init__(self, daemon):
        world = daemon.world()
        world.submit(reads("a"))
        grant = world.grant("a")["grant"]["id"]
        decision = world.approve()["packages"][0]["decisionId"]
        self.world = world
        self.names = {"project": world.id, "task": world.task_id(), "package": world.pid("a"), "grant": grant, "decision": decision,
                      "run": world.handoff("a")["run"]["id"]}

    @classmethod
    def of(cls, daemon):
        cls.made = cls.made or cls(daemon)
        return cls.made


def ask(client, method, path, body):
    return client.request(method, path, body)


def register_route(method, pattern, body, allowed):
    def route(daemon):
        filled = Filled.of(daemon)
        path = pattern.format(**filled.names)
        before = see(daemon, filled.world.id)
        answer = ask(daemon.nobody, method, path, body)
        if NOBODY in allowed:
            equal(answer.status, 200, NOBODY)
        else:
            check("bearer" in is_problem(answer, 401, "unauthenticated").headers["www-authenticate"].lower(), "no challenge")
        for role in ANY:
            answer = ask(getattr(daemon, role), method, path, body)
            if role in allowed or role == "admin":
                wanted = 422 if body is not None else 404 if "none" in path else 200
                equal(answer.status, wanted, "%s: %r" % (role, answer))
            else:
                equal(is_problem(answer, 403, "forbidden")["roleNeeded"], sorted(set(allowed)), role)
        unchanged(before, see(daemon, filled.world.id), "asking")
    route.__name__ = "%s %s is for %s" % (method, pattern, "any" if ANY[0] in allowed and ANY[-1] in allowed else " ".join(allowed))
    scene(route)


for row in TABLE:
    register_route(*row)


@scene
def what_is_no_token_is_refused_like_none(daemon):
    for word in ("adm_" + "0" * 40, "x", daemon.planner.token[:-1], daemon.planner.token + "x", daemon.planner.token.upper()):
        is_problem(Client(daemon, word).get("/v1/tasks"), 401, "unauthenticated")
    for scheme in ("Basic ", "", "Token ", "Bearer  "):
        answer = daemon.nobody.get("/v1/tasks", Authorization=scheme + daemon.planner.token)
        check(answer.status == 401 or scheme == "Bearer  ", "%r: %r" % (scheme, answer))


@scene
def previews_of_a_stored_task_are_for_every_role(daemon):
    filled = Filled.of(daemon)
    for role in ANY:
        getattr(daemon, role).post("/v1/tasks/%s/preview" % filled.world.task_id()).must(200)


@scene
def what_is_unknown_and_what_is_out_of_scope_look_the_same(daemon):
    names = Filled.of(daemon).names
    other = daemon.world()
    outside = daemon.client("scoped", *ROLES, "admin", projects=[other.id])
    unknown = {"project": "none", "task": "none", "package": "pkg_" + "0" * 10, "grant": "grt_" + "0" * 10, "run": "run_" + "0" * 10,
               "decision": "sha256:" + "0" * 64}
    health = {"mcpId": "github", "installState": "installed", "status": "healthy", "enabled": True, "error": None,
              "checkedAt": "2026-01-01T00:00:00.000Z"}
    bodies = {"approval": {"planRevision": "1"}, "grants": {"decision": "revoked", "expectedRevision": "0"}, "handoff": {}, "preview": None,
              "outcome": {"outcome": "succeeded"}, "github": health, "rejection": {"planRevision": "1"}, "changes": {"planRevision": "1"}}
    before = see(daemon, names["project"])
    for method, pattern in (("GET", "/v1/projects/{project}"), ("GET", "/v1/projects/{project}/health"), ("GET", "/v1/tasks/{task}"),
                            ("GET", "/v1/tasks/{task}/timeline"), ("GET", "/v1/packages/{package}"), ("GET", "/v1/grants/{grant}"),
                            ("GET", "/v1/packages/{package}/timeline"), ("GET", "/v1/runs/{run}"), ("GET", "/v1/decisions/{decision}"),
                            ("PUT", "/v1/projects/{project}/health/github"), ("POST", "/v1/tasks/{task}/preview"),
                            ("POST", "/v1/tasks/{task}/approval"), ("POST", "/v1/tasks/{task}/handoff"),
                            ("POST", "/v1/packages/{package}/handoff"), ("POST", "/v1/packages/{package}/grants"),
                            ("POST", "/v1/projects/{project}/grants"), ("POST", "/v1/runs/{run}/outcome"),
                            ("POST", "/v1/tasks/{task}/rejection"), ("POST", "/v1/tasks/{task}/changes"),
                            ("POST", "/v1/tasks/{task}/cancellation"), ("POST", "/v1/packages/{package}/cancellation"),
                            ("POST", "/v1/packages/{package}/retry"), ("POST", "/v1/packages/{package}/rework"),
                            ("POST", "/v1/runs/{run}/heartbeat"), ("POST", "/v1/runs/{run}/context"), ("POST", "/v1/projects/{project}/archive"),
                            ("POST", "/v1/projects/{project}/unarchive")):
        body = bodies.get(pattern.rsplit("/", 1)[1]) if method != "GET" else None
        seen = []
        for ids in (names, unknown):
            answer = is_problem(outside.request(method, pattern.format(**ids), body), 404, "not_found")
            seen.append({key: value for key, value in answer.json.items() if key != "instance"})
        equal(seen[0], seen[1], "%s %s" % (method, pattern))
    plan = {"project": names["project"], "title": "t", "packages": [free("x")]}
    is_problem(outside.put("/v1/tasks/mine", plan), 404, "not_found")
    is_problem(outside.post("/v1/preview", plan), 404, "not_found")
    for path in ("/v1/projects", "/v1/tasks", "/v1/runs", "/v1/grants"):
        items = outside.get(path).must(200)["items"]
        check(not [item for item in items if item.get("project", item["id"]) == names["project"]], "%s shows another project" % path)
    unchanged(before, see(daemon, names["project"]), "asking")


@scene
def a_revoked_token_is_worth_nothing(daemon):
    client = daemon.client("leaver", "approver")
    client.get("/v1/tasks").must(200)
    daemon.admin.delete("/v1/tokens/" + client.id).must(204)
    is_problem(client.get("/v1/tasks"), 401, "unauthenticated")
    listed = {item["id"]: item for item in daemon.admin.get("/v1/tokens?limit=500").must(200)["items"]}
    check("secret" not in str(listed), "a secret is listed")


@scene
def root_paths_are_shown_to_operators_only(daemon):
    world = daemon.world()
    for role in ROLES + ("admin",):
        answer = getattr(daemon, role).get("/v1/projects/" + world.id).must(200)
        equal(world.root.encode() in answer.raw, role in ("operator", "admin"), role)


# ---- precedence (2.4)

def arm(world, label="a"):
    hold = world.package(label)["hold"]
    return hold and hold.get("arm")


def waiting(daemon, *capabilities):
    world = daemon.world()
    world.submit(reads("a", *capabilities))
    return world


@scene
def P1_a_later_usable_project_approval_overrides_a_denial(daemon):
    world = waiting(daemon)
    world.grant("a", decision="denied")
    impact = world.project_grant(READ)["impact"]
    equal((arm(world), impact["opens"], impact["overrides"]), (None, [world.pid("a")], [world.pid("a")]))


@scene
def P2_a_denial_outweighs_an_earlier_project_approval(daemon):
    world = waiting(daemon)
    world.project_grant(READ)
    equal(arm(world), None)
    impact = world.grant("a", decision="denied")["impact"]
    equal((arm(world), impact["holds"]), ("denied", [world.pid("a")]))


@scene
def P2_a_later_project_approval_that_does_not_cover_leaves_the_denial(daemon):
    world = waiting(daemon, READ, LIST)
    world.grant("a", decision="denied")
    equal(world.project_grant(READ)["impact"]["stays"], [world.pid("a")])
    equal(arm(world), "denied")


@scene
def P3_a_one_time_approval_opens_a_package(daemon):
    world = waiting(daemon, READ, LIST)
    answer = world.grant("a", reason="once")
    equal((arm(world), answer["grant"]["mode"], sorted(answer["grant"]["capabilities"])), (None, "allow_once", [LIST, READ]))
    equal(answer["grant"]["revision"], "1")


@scene
def P4_a_project_approval_outlives_a_used_or_withdrawn_package_approval(daemon):
    world = waiting(daemon)
    world.grant("a")
    world.project_grant(READ)
    world.grant("a", decision="revoked")
    equal(arm(world), None)
    equal(world.grant("a", status=409)["code"], "already_covered")


@scene
def P5_a_used_approval_waits_for_another(daemon):
    world = waiting(daemon)
    world.grant("a")
    world.approve()
    world.outcome(world.handoff("a"), "released")
    equal(arm(world), "used_up")


@scene
def P6_and_P10_approvals_do_not_follow_another_root(daemon):
    for decide in (lambda world: world.grant("a"), lambda world: world.project_grant(READ)):
        world = waiting(daemon)
        decide(world)
        equal(arm(world), None)
        old = world.root
        new = old + ".new"
        os.mkdir(new)
        equal(daemon.operator.put("/v1/projects/" + world.id, {"root": new}).must(200)["rootRevision"], "2")
        equal(arm(world), "root_changed")
        daemon.operator.put("/v1/projects/" + world.id, {"root": old}).must(200)
        equal(arm(world), "root_changed", "pointing back revives nothing")


def ends(daemon, world, decide):
    """Waits until an approval that ends soon has ended."""
    decide(world, rfc3339(1.0))
    equal(arm(world), None)
    daemon.wait_until(lambda: arm(world) == "expired", "the end of the approval")


@scene
def P7_a_one_time_approval_ends_when_it_says(daemon):
    world = waiting(daemon)
    ends(daemon, world, lambda world, end: world.grant("a", expiresAt=end))
    world.grant("a")
    equal(arm(world), None, "another approval opens it again")


@scene
def P12_a_project_approval_ends_when_it_says_and_a_handoff_sees_it(daemon):
    world = waiting(daemon)
    world.submit(free("b"), name="other")
    world.project_grant(READ, expiresAt=rfc3339(1.0))
    world.approve()
    daemon.wait_until(lambda: arm(world) == "expired", "the end of the approval")
    equal(world.handoff("a", status=409)["hold"]["arm"], "expired")
    equal(world.package("a")["status"], "blocked")


@scene
def an_approval_that_ends_while_the_daemon_is_down_has_ended_when_it_is_back(daemon):
    world = waiting(daemon)
    world.grant("a", expiresAt=rfc3339(0.5))
    daemon.restart()
    daemon.wait_until(lambda: arm(world) == "expired", "the end of the approval")


@scene
def an_approval_of_long_ends_does_not_hide_one_of_short(daemon):
    world = daemon.world()
    world.submit(reads("a"), reads("b"))
    world.grant("b", expiresAt=rfc3339(3600))
    world.grant("a", expiresAt=rfc3339(1.0))
    daemon.wait_until(lambda: arm(world) == "expired", "the end of the approval")
    equal(arm(world, "b"), None)


@scene
def a_reported_observation_ends_when_it_says(daemon):
    world = daemon.world()
    world.submit(package("a", requirement("gh", mcp="github", capabilities=["github.issues.read"]), overlays={"gh": "Issue 7."}))
    seen_at = rfc3339(0.5)
    world.health(validSeconds=1, checkedAt=seen_at)
    equal(world.package("a")["hold"], None)
    daemon.wait_until(lambda: world.package("a")["hold"], "the end of the observation")
    equal(world.package("a")["hold"]["kind"], "needs_setup")
    world.health(validSeconds=1, checkedAt=seen_at)
    equal(world.package("a")["hold"]["kind"], "needs_setup", "the same observation again has ended too")
    other = waiting(daemon)
    other.grant("a", expiresAt=rfc3339(0.5))
    daemon.wait_until(lambda: arm(other) == "expired", "an end after one that was written twice")
    world.health()
    equal(world.package("a")["hold"], None)


@scene
def P8_an_approval_can_be_taken_back(daemon):
    world = waiting(daemon)
    world.grant("a")
    answer = world.grant("a", decision="revoked", reason="not yet")
    equal((arm(world), answer["impact"]["holds"]), ("taken_back", [world.pid("a")]))


@scene
def P9_a_project_approval_can_be_revoked(daemon):
    world = waiting(daemon)
    world.project_grant(READ)
    world.project_grant(decision="revoked")
    equal(arm(world), "removed")


@scene
def P11_a_project_approval_can_be_narrowed(daemon):
    world = waiting(daemon, READ, LIST)
    world.project_grant(READ, LIST)
    equal(arm(world), None)
    answer = world.project_grant(READ, replace=True)
    equal((arm(world), answer["grant"]["capabilities"], answer["impact"]["holds"]), ("narrowed", [READ], [world.pid("a")]))
    world.project_grant(LIST)
    equal(arm(world), None, "an approval adds")


@scene
def P13_what_nobody_decided_waits(daemon):
    world = waiting(daemon, READ, LIST)
    equal(arm(world), "never_approved")
    world.project_grant(READ)
    equal(arm(world), "never_approved", "only a part with nothing dropped")


@scene
def a_project_without_a_root_waits_for_one(daemon):
    world = daemon.world(root=False)
    world.submit(reads("a"))
    equal(arm(world), "no_root")
    answer = daemon.approver.post("/v1/packages/%s/grants" % world.pid("a"), {"decision": "approved", "expectedRevision": "0",
                                                                             "rootRevision": "0"})
    is_problem(answer, 422, "root_missing")
    world.grant("a", decision="denied")
    daemon.operator.put("/v1/projects/" + world.id, {"root": world.root}).must(200)
    check(arm(world) != "no_root", "the root changed nothing")


@scene
def a_dry_run_says_what_would_be_and_writes_nothing(daemon):
    world = waiting(daemon)
    before = world.see()
    path = "/v1/packages/%s/grants?dryRun=true" % world.pid("a")
    answer = daemon.approver.post(path, {"decision": "approved", "expectedRevision": "0", "rootRevision": "1"})
    check(answer.status in (200, 201), repr(answer))
    equal(answer["impact"]["opens"], [world.pid("a")])
    unchanged(before, world.see(), "a dry run")


@scene
def every_decision_is_one_revision_of_its_project(daemon):
    world = daemon.world()
    world.submit(reads("a"), package("b", requirement("fs-b", capabilities=[LIST])))
    made = [world.grant("a"), world.grant("b", decision="denied"), world.project_grant(LIST), world.project_grant(decision="revoked"),
            world.grant("a", decision="revoked")]
    equal([item["grant"]["revision"] for item in made], ["1", "2", "3", "4", "5"])
    equal(world.project()["decisionRevision"], "5")
    ledger = daemon.auditor.get("/v1/grants?project=%s&limit=500" % world.id).must(200)["items"]
    equal(sorted(item["revision"] for item in ledger), ["1", "2", "3", "4", "5"])


@scene
def an_action_sent_unchanged_is_valid(daemon):
    world = waiting(daemon, READ, LIST)
    for wanted, then in (("deny", "denied"), ("approve_once", None)):
        actions = {item["id"]: item for item in daemon.approver.get("/v1/packages/" + world.pid("a")).must(200)["actions"]}
        action = actions[wanted]
        equal(action["allowed"], True, wanted)
        daemon.approver.request(action["method"], action["href"], action["body"]).must(201)
        equal(arm(world), then, wanted)


# ---- how much one token may ask

@scene
def a_token_that_asks_too_often_waits_and_nobody_else_does(_daemon):
    with running("[limits]\nrequests_per_minute = 60\n") as daemon:
        busy, other = daemon.client("busy", "planner"), daemon.client("other", "planner")
        answers = []
        while not answers or answers[-1].status == 200:
            check(len(answers) < 1000, "no end to it")
            answers.append(busy.get("/v1/projects"))
        check(len(answers) > 10, "ten seconds' worth at once: %d" % len(answers))
        refused = is_problem(answers[-1], 429, "rate_limited")
        check(1 <= int(refused.headers["retry-after"]) <= 2, refused.headers["retry-after"])
        other.get("/v1/projects").must(200)
        daemon.nobody.get("/healthz").must(200)
        is_problem(busy.request("PUT", "/v1/projects/none", {}), 429, "rate_limited")
        daemon.wait_until(lambda: busy.get("/v1/projects").status == 200, "its next turn")


if __name__ == "__main__":
    run_scenes()
