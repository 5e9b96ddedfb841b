#!/usr/bin/env python3
"""The recovery queue: example 9 member for member, every kind of item, and a client that follows actions blindly. Speaks TAP."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from compare import Comparison, Names  # noqa: E402
from daemon import (LIST, READ, Failed, broken, check, equal, free, is_problem, package, reads, requirement,  # noqa: E402
                    rfc3339, run_scenes, running, scene)

EXAMPLE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "examples", "9-recovery.http")
# What chapter 4.2 has beyond the example, which shows it shorter.
EXTRA = ("/items/*/tag", "/items/*/words", "/tags", "/items/*/title", "/items/*/agent", "/items/*/mcpId", "/items/*/packages", "/items/*/facts/actor",
         "/items/*/facts/left", "/items/*/opens", "/items/*/besides", "/items/*/cause/does",
         "/items/*/actions/*/because", "/items/*/cause/actions/*/because")


def queue(client, query=""):
    return client.get("/v1/recovery" + query).must(200).json


def items_of(daemon, world, query=""):
    return queue(daemon.admin, "?project=%s&limit=500%s" % (world.id, query))["items"]


def one(items, kind):
    found = [item for item in items if item["kind"] == kind]
    equal(len(found), 1, "items %s" % kind)
    return found[0]


def follow(client, action):
    """All that a client knows of an action: where it goes, how, and with what."""
    return client.request(action["method"], action["href"], action["body"])


def failing(world, label, name="t"):
    """Lets a package fail until it has no attempts left."""
    for _ in range(3):
        world.outcome(world.handoff(label, name), "failed", summary="no")
    equal(world.package(label, name)["status"], "failed")


def needs_setup(label):
    return package(label, requirement("gh-" + label, mcp="github", capabilities=["github.issues.read"]),
                   overlays={"gh-" + label: "Issue 7."})


# ---- the example

@scene
def the_queue_is_the_written_example(daemon):
    names = Names()
    root = os.path.join(daemon.folder, "tracker")
    os.mkdir(root)
    daemon.operator.put("/v1/projects/tracker", {"name": "tracker", "root": root}).must(201)

    def put(task, *packages, status=201):
        plan = {"project": "tracker", "title": task, "packages": list(packages)}
        return daemon.planner.put("/v1/tasks/" + task, plan).must(status).json["packages"]

    def run(package_id, outcome):
        run = daemon.executor.post("/v1/packages/%s/handoff" % package_id, {}).must(200)
        daemon.secrets.append(run["runToken"])
        daemon.executor.post("/v1/runs/%s/outcome" % run["run"]["id"], {"outcome": outcome}).must(200)

    def approve(task, revision="1"):
        daemon.approver.post("/v1/tasks/%s/approval" % task, {"planRevision": revision}).must(200)

    qa = put("tracker-40", free("qa"))[0]["id"]
    approve("tracker-40")
    for _ in range(3):
        run(qa, "failed")
    put("tracker-43", free("a"))
    put("tracker-43", free("b"), status=200)
    backend = put("tracker-42", reads("backend"), free("frontend", after=["backend"]))[0]["id"]
    daemon.approver.post("/v1/packages/%s/grants" % backend, {"decision": "approved", "expectedRevision": "0",
                                                              "rootRevision": "1"}).must(201)
    approve("tracker-42")
    run(backend, "released")

    with open(EXAMPLE, encoding="utf-8") as file:
        request, _, wanted = file.read().partition("\n{\n")
    answer = daemon.operator.get(request.split()[1]).must(200).json
    check(names.bind("pkg_5s0a8r3e6w", qa) and names.bind("pkg_6f1x0c2v8m", backend), "packages")
    comparison = Comparison(names, EXTRA)
    comparison.compare(json.loads("{" + wanted), answer)
    differences = [line for line in comparison.differences if not line.startswith("/asOfEvent")]
    if differences:
        raise Failed("%d differences\n%s" % (len(differences), "\n".join(differences)))
    check(re.fullmatch("[1-9][0-9]*", answer["asOfEvent"]), answer["asOfEvent"])
    equal([answer["items"][2]["opens"][name] for name in ("once", "always")], [[backend], [backend]])


# ---- each kind of item, and each action of it followed by a client that knows only method, href and body

GRANT = ["approve_once", "approve_always", "deny", "request_changes", "cancel_package"]
DRAFT = GRANT[:-1]


def waiting(daemon, *capabilities, root=True):
    world = daemon.world(root)
    world.submit(reads("a", *capabilities))
    return world


def never_approved(daemon):
    return waiting(daemon)


def denied(daemon):
    world = waiting(daemon)
    world.grant("a", decision="denied", reason="not this one")
    return world


def taken_back(daemon):
    world = waiting(daemon)
    world.grant("a")
    world.grant("a", decision="revoked")
    return world


def removed(daemon):
    world = waiting(daemon)
    world.project_grant(READ)
    world.project_grant(decision="revoked", reason="moved")
    return world


def narrowed(daemon):
    world = waiting(daemon, READ, LIST)
    world.project_grant(READ, LIST)
    world.project_grant(READ, replace=True)
    return world


def root_changed(daemon):
    world = waiting(daemon)
    world.grant("a")
    os.mkdir(world.root + ".new")
    daemon.operator.put("/v1/projects/" + world.id, {"root": world.root + ".new"}).must(200)
    return world


def expired(daemon):
    world = waiting(daemon)
    world.grant("a", expiresAt=rfc3339(0.4))
    daemon.wait_until(lambda: (world.package("a")["hold"] or {}).get("arm") == "expired", "the end of the approval")
    return world


def used_up(daemon):
    world = waiting(daemon)
    world.grant("a")
    world.approve()
    world.outcome(world.handoff("a"), "released")
    return world


def no_root(daemon):
    return waiting(daemon, root=False)


def held_for_setup(daemon):
    world = daemon.world()
    world.submit(needs_setup("a"))
    return world


def held_for_change(daemon):
    world = daemon.world()
    world.submit(broken("a"))
    return world


def held_in_an_approved_plan(daemon):
    world = daemon.world()
    world.submit(needs_setup("a"), free("b", after=["a"]))
    world.health()
    world.approve()
    world.health(state="unhealthy", error="refused")
    return world


def plan_ready(daemon):
    world = daemon.world()
    world.submit(free("a"), free("b"))
    return world


def failed_package(daemon):
    world = plan_ready(daemon)
    world.approve()
    failing(world, "a")
    return world


def sent_back(daemon):
    world = plan_ready(daemon)
    daemon.operator.post("/v1/tasks/%s/changes" % world.task_id(), {"planRevision": "1", "reason": "split it"}).must(200)
    return world


# What is built, the item it gives (kind, arm), and the actions of 2.6's table for it.
SITUATIONS = (
    (never_approved, "package_held", "never_approved", DRAFT), (denied, "package_held", "denied", [id for id in DRAFT if id != "deny"]),
    (taken_back, "package_held", "taken_back", DRAFT), (removed, "package_held", "removed", DRAFT),
    (narrowed, "package_held", "narrowed", DRAFT), (root_changed, "package_held", "root_changed", DRAFT),
    (expired, "package_held", "expired", DRAFT), (used_up, "package_held", "used_up", GRANT),
    (no_root, "package_held", "no_root", ["set_root", "deny", "request_changes"]), (no_root, "project_without_root", "no_root", ["set_root"]),
    (held_for_setup, "package_held", None, ["check_server", "request_changes"]),
    (held_in_an_approved_plan, "package_held", None, ["check_server", "request_changes", "cancel_package"]),
    (held_for_change, "package_held", None, ["request_changes"]),
    (never_approved, "plan_waits_for_approval", None, ["approve_once", "approve_always", "deny", "request_changes", "reject"]),
    (held_for_setup, "plan_waits_for_approval", None, ["check_server", "request_changes", "reject"]),
    (plan_ready, "plan_waits_for_approval", None, ["approve", "request_changes", "reject"]),
    (failed_package, "package_failed", None, ["retry", "request_changes", "cancel_task"]),
    (sent_back, "plan_sent_back", None, ["cancel_task"]),
)


def complete(world, action):
    """An action's body with what a person has to add to it."""
    if "root" in action["inputs"]:
        return dict(action, body=dict(action["body"], root=world.root))
    return action


def expect_after(world, daemon, item, action):
    after = [other for other in items_of(daemon, world) if other["id"] == item["id"]]
    if action["id"] == "check_server":
        return
    if action["id"] == "set_root" and item["kind"] == "package_held":
        equal(after[0]["arm"], "never_approved")
    elif action["id"] == "deny" and item["kind"] == "package_held":
        equal(after[0]["arm"], "no_root" if item["arm"] == "no_root" else "denied")
        equal(daemon.admin.get("/v1/grants?package=" + world.pid("a")).must(200)["items"][0]["decision"], "denied")
    elif item["kind"] == "plan_waits_for_approval" and action["id"] in ("approve_once", "approve_always"):
        equal([other["id"] for other in after[0]["actions"]][0], "approve")
    elif item["kind"] == "plan_waits_for_approval" and action["id"] == "deny":
        equal(after[0]["blocked"][0]["arm"], "denied")
    else:
        equal(after, [], "what %s left" % action["id"])
    if action["id"] in ("approve_once", "approve_always") and item["kind"] == "package_held":
        equal(world.package("a")["hold"], None, "its hold")
        check(world.pid("a") in item["opens"]["once" if action["id"] == "approve_once" else "always"], "it was not promised")


def register_situation(build, kind, arm, actions):
    def situation(daemon):
        names = ["the list"] + actions
        for name in names:
            world = build(daemon)
            item = one(items_of(daemon, world), kind)
            equal(item.get("arm"), arm)
            equal([action["id"] for action in item["actions"]], actions)
            if name == "the list":
                continue
            action = next(action for action in item["actions"] if action["id"] == name)
            check(action["allowed"], "%s is not allowed" % name)
            answer = follow(daemon.admin, complete(world, action))
            check(answer.status in (200, 201), "%s: %r" % (name, answer))
            expect_after(world, daemon, item, action)
    situation.__name__ = "%s gives %s with %s and each does what it says" % (build.__name__, kind, " ".join(actions))
    scene(situation)


for row in SITUATIONS:
    register_situation(*row)


@scene
def an_action_whose_world_has_changed_is_refused_and_the_queue_says_what_is(daemon):
    world = waiting(daemon)
    old = {action["id"]: action for action in one(items_of(daemon, world), "package_held")["actions"]}
    follow(daemon.admin, old["deny"]).must(201)
    follow(daemon.admin, old["approve_once"]).must(409, "revision_conflict")
    follow(daemon.admin, old["approve_always"]).must(409, "revision_conflict")
    now = one(items_of(daemon, world), "package_held")
    equal(now["arm"], "denied")
    follow(daemon.admin, now["actions"][0]).must(201)
    equal(world.package("a")["hold"], None)


@scene
def who_contributed_is_told_that_he_may_not_approve(daemon):
    world = waiting(daemon)
    both = daemon.client("planner-service", "approver", "operator")
    for item in queue(both, "?project=" + world.id)["items"]:
        for action in item["actions"]:
            if action["id"] in ("approve_once", "approve_always", "approve"):
                equal((action["allowed"], action.get("whyNot")), (False, "self_approval"), action["id"])
                follow(both, action).must(403, "self_approval")


@scene
def a_run_that_missed_two_renewals_is_silent_and_its_package_can_be_cancelled(_):
    with running("[runs]\nlease_seconds = 9\n") as daemon:
        world = daemon.world()
        world.submit(free("a"), free("b", after=["a"]))
        world.approve()
        run = world.handoff("a")["run"]
        equal(items_of(daemon, world), [])
        daemon.wait_until(lambda: items_of(daemon, world), "the silence")
        item = one(items_of(daemon, world), "run_silent")
        equal((item["run"], item["label"], [action["id"] for action in item["actions"]]), (run["id"], "a", ["cancel_package"]))
        check("silent for" in item["reason"], item["reason"])
        equal(item["actions"][0]["body"], {"cascade": True})
        follow(daemon.admin, item["actions"][0]).must(200)
        equal(items_of(daemon, world), [])
        equal(world.task()["status"], "cancelled")


# ---- causes, and what an approval opens

@scene
def what_one_deed_frees_is_one_cause_with_that_deed(daemon):
    world = daemon.world()
    world.submit(reads("a"), reads("b", LIST), free("c"))
    world.submit(reads("d", READ, LIST), name="other")
    world.project_grant(READ, LIST)
    world.project_grant(decision="revoked", reason="moved")
    held = [item for item in items_of(daemon, world) if item["kind"] == "package_held"]
    equal(len(held), 3)
    equal(len({item["cause"]["key"] for item in held}), 1)
    cause = held[0]["cause"]
    equal((cause["headline"], cause["count"]), ("Project access was removed in " + world.id, 3))
    equal([(action["id"], sorted(action["body"]["capabilities"])) for action in cause["actions"]], [("approve_always", [LIST, READ])])
    follow(daemon.admin, cause["actions"][0]).must(201)
    equal([item for item in items_of(daemon, world) if item["kind"] == "package_held"], [])


@scene
def what_waits_for_one_server_is_one_cause(daemon):
    world = daemon.world()
    world.submit(needs_setup("a"), needs_setup("b"), reads("c"))
    held = {item["label"]: item for item in items_of(daemon, world) if item["kind"] == "package_held"}
    equal(held["a"]["cause"]["key"], held["b"]["cause"]["key"])
    equal(held["a"]["cause"]["count"], 2)
    check("cause" not in held["c"], "it stands alone")
    check(held["a"]["retryable"] and not held["c"]["retryable"], "retryable")


@scene
def what_stands_alone_has_no_cause_and_another_project_shares_none(daemon):
    for world in (removed(daemon), removed(daemon)):
        check("cause" not in one(items_of(daemon, world), "package_held"), "a cause")


@scene
def opens_names_what_each_approval_would_free_and_no_more(daemon):
    world = daemon.world()
    both = package("both", requirement("fs-both"), requirement("gh-both", mcp="github", capabilities=["github.issues.read"], index=1),
                   overlays={"gh-both": "Issue 7."})
    world.submit(reads("a"), reads("b"), reads("c", READ, LIST), both)
    ids = {label: world.pid(label) for label in ("a", "b", "c", "both")}
    held = {item["label"]: item for item in items_of(daemon, world) if item["kind"] == "package_held"}
    equal(held["a"]["opens"]["once"], [ids["a"]])
    equal(sorted(held["a"]["opens"]["always"]), sorted([ids["a"], ids["b"]]))
    equal(sorted(held["c"]["opens"]["always"]), sorted([ids["a"], ids["b"], ids["c"]]))
    equal(held["both"]["opens"]["once"], [], "a server holds it too")
    for label in ("a", "c"):
        action = next(item for item in held[label]["actions"] if item["id"] == "approve_always")
        impact = daemon.admin.request("POST", action["href"] + "?dryRun=true", action["body"]).must(200)["impact"]
        equal(sorted(impact["opens"]), sorted(held[label]["opens"]["always"]), "the dry run of " + label)


@scene
def a_blocked_plan_says_what_blocks_it_and_its_actions_free_it(daemon):
    world = daemon.world()
    world.submit(reads("a"), reads("b", LIST), free("c"), free("d"))
    plan = one(items_of(daemon, world), "plan_waits_for_approval")
    equal(([item["label"] for item in plan["blocked"]], plan["warnings"]), (["a", "b"], 2))
    for blocking in plan["blocked"]:
        equal(blocking["operatorState"]["key"], "needs_project_context")
        equal(blocking["arm"], "never_approved")
    always = [action for action in plan["actions"] if action["id"] == "approve_always"]
    equal([sorted(action["body"]["capabilities"]) for action in always], [[LIST, READ]])
    follow(daemon.admin, always[0]).must(201)
    plan = one(items_of(daemon, world), "plan_waits_for_approval")
    check("blocked" not in plan, "still blocked")
    follow(daemon.admin, plan["actions"][0]).must(200)
    equal(world.task()["status"], "approved")


# ---- the head of the queue

@scene
def the_head_counts_what_waits_and_what_no_executor_takes(daemon):
    world = daemon.world()
    world.submit(reads("a"), free("b"), free("c", after=["b"]))
    counts = queue(daemon.admin, "?project=" + world.id)["counts"]
    equal(counts, {"package_held": 1, "plan_waits_for_approval": 1, "ready": {"count": 0, "oldestSince": None}})
    world.grant("a")
    world.approve()
    found = queue(daemon.admin, "?project=" + world.id)
    equal((found["items"], found["counts"]["ready"]["count"]), ([], 2))
    approved_at = found["counts"]["ready"]["oldestSince"]
    equal(approved_at, world.task()["approvedAt"])
    run = world.handoff("b")
    equal(queue(daemon.admin, "?project=" + world.id)["counts"]["ready"], {"count": 1, "oldestSince": approved_at})
    world.handoff("a")
    world.outcome(run)
    ready = queue(daemon.admin, "?project=" + world.id)["counts"]["ready"]
    equal(ready["count"], 1)
    check(ready["oldestSince"] > approved_at, "c is ready since b was completed")


@scene
def as_of_event_is_the_last_event_that_the_queue_saw(daemon):
    world = daemon.world()
    before = int(queue(daemon.admin)["asOfEvent"])
    world.submit(reads("a"))
    found = queue(daemon.admin, "?project=" + world.id)
    check(int(found["asOfEvent"]) > before, "no event came")
    equal(queue(daemon.admin, "?project=" + world.id), found, "asking again")


@scene
def an_item_says_of_what_it_is_without_another_question(daemon):
    world = daemon.world()
    world.submit(reads("a", agent="writer"), needs_setup("s"), free("c"))
    items = items_of(daemon, world)
    plan = one(items, "plan_waits_for_approval")
    equal((plan["title"], plan["packages"], plan["warnings"], len(plan["blocked"])), ("A plan", 3, 1, 2))
    held = {item["label"]: item for item in items if item["kind"] == "package_held"}
    equal([held[label][name] for label in "as" for name in ("title", "agent", "mcpId")],
          ["A plan", "writer", "filesystem", "A plan", "backend", "github"])
    world.submit(free("f"), name="failing")
    world.approve("failing")
    failing(world, "f", "failing")
    failed = one(items_of(daemon, world), "package_failed")
    equal((failed["title"], failed["agent"]), ("A plan", "backend"))


# ---- filters, pages, forms

@scene
def filters_leave_what_they_name(daemon):
    world = waiting(daemon)
    world.submit(broken("b"), name="other")
    query = "&task=" + world.task_id("other")
    equal([item["task"] for item in items_of(daemon, world, query)], [world.task_id("other")] * 2)
    equal([item["kind"] for item in items_of(daemon, world, "&kind=plan_waits_for_approval")], ["plan_waits_for_approval"] * 2)
    equal(items_of(daemon, world, "&kind=run_silent"), [])
    equal(queue(daemon.admin, "?project=%s&kind=run_silent" % world.id)["counts"]["package_held"], 2, "counts are of all kinds")
    for query in ("kind=held", "mine=yes", "project=a&project=b", "limit=0", "cursor=x", "cursor=1-9-1", "cursor=-1-0-1", "what=1"):
        is_problem(daemon.admin.get("/v1/recovery?" + query), 400, "bad_request")


@scene
def mine_is_what_the_token_may_act_on(daemon):
    world = waiting(daemon)
    for role, count in (("planner", 0), ("executor", 0), ("auditor", 0), ("approver", 2), ("operator", 2), ("admin", 2)):
        items = queue(getattr(daemon, role), "?mine=true&project=" + world.id)["items"]
        equal(len(items), count, role)
        equal(len(queue(getattr(daemon, role), "?project=" + world.id)["items"]), 2, role)
    bare = daemon.world(root=False)
    bare.submit(reads("a"))
    kinds = {role: [item["kind"] for item in queue(getattr(daemon, role), "?mine=true&project=" + bare.id)["items"]]
             for role in ("approver", "operator")}
    check("project_without_root" in kinds["operator"] and "project_without_root" not in kinds["approver"], kinds)


@scene
def pages_put_together_are_the_queue_oldest_first(daemon):
    world = daemon.world(root=False)
    for number in range(3):
        world.submit(*[reads("r%d" % index) for index in range(5)], broken("b"), name="t%d" % number)
    world.submit(free("a"), name="failing")
    world.approve("failing")
    failing(world, "a", "failing")
    whole = items_of(daemon, world)
    equal(len(whole), 18 + 3 + 1 + 1)
    equal([item["since"] for item in whole], sorted(item["since"] for item in whole))
    for limit in (1, 2, 7):
        path, found = "/v1/recovery?project=%s&limit=%d" % (world.id, limit), []
        while path:
            answer = daemon.admin.get(path).must(200)
            check(len(answer["items"]) <= limit, "a page is too long")
            found += answer["items"]
            path = answer["next"]
        equal([item["id"] for item in found], [item["id"] for item in whole], "limit %d" % limit)
        equal(found, whole)


@scene
def a_token_sees_the_queue_of_its_projects_only(daemon):
    world, other = waiting(daemon), waiting(daemon)
    scoped = daemon.client("scoped", "operator", projects=[other.id])
    found = queue(scoped)
    equal({item["project"] for item in found["items"]}, {other.id})
    equal(found["counts"]["package_held"], 1)
    equal(queue(scoped, "?project=" + world.id)["items"], [])


@scene
def a_person_may_have_it_as_a_table(daemon):
    world = waiting(daemon)
    answer = daemon.admin.get("/v1/recovery?project=" + world.id, Accept="text/plain").must(200)
    equal(answer.headers["content-type"], "text/plain; charset=utf-8")
    lines = answer.raw.decode().splitlines()
    equal(lines[0].split(), ["SINCE", "KIND", "PROJECT", "TASK", "PACKAGE", "WHY", "ACTIONS"])
    at = lines[0].index("WHY")
    for line in lines[1:3]:
        check(line[at - 1] == " " and line[at] != " ", "not aligned: " + line)
    check("Waiting for read access" in answer.raw.decode(), "it does not say why")
    for accept in ("application/json", "*/*", "text/plain;q=0.1, application/json", "text/html, */*;q=0.1", "application/*"):
        equal(daemon.admin.get("/v1/recovery", Accept=accept).must(200).headers["content-type"], "application/json", accept)
    for accept in ("text/*", "text/plain, application/json;q=0.9", "application/json;q=0, */*"):
        check("text/plain" in daemon.admin.get("/v1/recovery", Accept=accept).must(200).headers["content-type"], accept)
    is_problem(daemon.admin.get("/v1/recovery", Accept="image/png"), 406, "not_acceptable")


@scene
def tasks_and_grants_have_tables_too(daemon):
    world = waiting(daemon)
    world.grant("a", reason="a\u202ereason\x1b")
    for path, headings in (("/v1/tasks?project=" + world.id, ["TASK", "STATUS", "PLAN", "PROJECT", "SUBMITTED", "BY", "TITLE"]),
                           ("/v1/grants?project=" + world.id, ["AT", "DECISION", "PROJECT", "PACKAGE", "BY", "UNTIL", "CAPABILITIES", "REASON"])):
        answer = daemon.admin.get(path, Accept="text/plain").must(200)
        lines = answer.raw.decode().splitlines()
        equal(lines[0].split(), headings)
        check(world.id in lines[1], path)
        check("\u202e" not in answer.raw.decode() and "\x1b" not in answer.raw.decode(), "something that moves a cursor")
        is_problem(daemon.admin.get(path, Accept="image/png"), 406, "not_acceptable")


@scene
def many_held_packages_are_listed_in_pages_that_end(daemon):
    world = daemon.world()
    for number in range(3):
        world.submit(*[reads("p%d" % index) for index in range(200)], name="t%d" % number)
    path, found = "/v1/recovery?limit=500&project=" + world.id, []
    while path:
        answer = daemon.admin.get(path).must(200)
        check(answer["items"], "a page without items")
        found += answer["items"]
        path = answer["next"]
    equal(len({item["id"] for item in found}), 603)
    item = next(item for item in found if item["kind"] == "package_held")
    equal(len(item["opens"]["always"]), 600)


if __name__ == "__main__":
    run_scenes()
