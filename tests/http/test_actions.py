#!/usr/bin/env python3
"""The actions that views offer: what is allowed is taken, what isn't is refused, and each changes what it says. Speaks TAP."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from daemon import LIST, READ, broken, check, equal, free, reads, rfc3339, run_scenes, scene  # noqa: E402


LATER = rfc3339(7 * 24 * 3600)


def action_of(view, name):
    found = [action for action in view["actions"] if action["id"] == name]
    equal(len(found), 1, "actions " + name)
    return found[0]


def follow(client, action):
    """All that a client knows of an action: where it goes, how, and with what."""
    return client.request(action["method"], action["href"], action["body"])


def view(client, world, label, name="t"):
    return client.get("/v1/packages/" + world.pid(label, name)).must(200).json


# ---- an approval for the project is off for whoever has a plan of his own that asks for it (4.1)

def sent_by(world, client, *packages, name):
    client.put("/v1/tasks/" + world.task_id(name), world.plan(*packages)).must(201)


@scene
def always_is_off_for_who_sent_another_open_plan_that_asks_for_it(daemon):
    world = daemon.world()
    both = daemon.client("both-1", "planner", "approver")
    world.submit(reads("a"), reads("l", LIST))
    sent_by(world, both, reads("b"), name="own")
    action = action_of(view(both, world, "a"), "approve_always")
    equal((action["allowed"], action.get("whyNot")), (False, "self_approval"))
    follow(both, action).must(403, "self_approval")
    check(action_of(view(both, world, "l"), "approve_always")["allowed"], "nothing of his lists files")
    check(action_of(view(both, world, "a"), "approve_once")["allowed"], "once is for that package alone")
    check(action_of(view(daemon.approver, world, "a"), "approve_always")["allowed"], "somebody else")
    follow(both, action_of(view(both, world, "l"), "approve_always")).must(201)


@scene
def always_is_on_again_when_his_plan_is_over(daemon):
    world = daemon.world()
    both = daemon.client("both-2", "planner", "approver")
    world.submit(reads("a"))
    sent_by(world, both, reads("b"), name="own")
    daemon.operator.post("/v1/tasks/%s/cancellation" % world.task_id("own"), {}).must(200)
    action = action_of(view(both, world, "a"), "approve_always")
    check(action["allowed"], "still off")
    follow(both, action).must(201)


@scene
def what_the_queue_merges_is_off_if_a_part_of_it_is(daemon):
    world = daemon.world()
    both = daemon.client("both-3", "planner", "approver")
    world.submit(reads("a", LIST), reads("b"))
    sent_by(world, both, reads("c"), name="own")
    items = both.get("/v1/recovery?kind=plan_waits_for_approval&task=" + world.task_id()).must(200)["items"]
    action = action_of(items[0], "approve_always")
    equal((sorted(action["body"]["capabilities"]), action["allowed"]), ([LIST, READ], False))
    follow(both, action).must(403, "self_approval")


@scene
def the_action_of_a_cause_is_off_if_a_part_of_it_is(daemon):
    world = daemon.world()
    both = daemon.client("both-4", "planner", "approver")
    world.submit(reads("a", LIST), reads("b", LIST))
    sent_by(world, both, reads("c"), name="own")
    world.project_grant(READ, LIST)
    world.project_grant(decision="revoked")
    items = both.get("/v1/recovery?kind=package_held&project=" + world.id).must(200)["items"]
    causes = [item["cause"] for item in items if "cause" in item]
    equal(len(causes), 3)
    for cause in causes:
        action = cause["actions"][0]
        equal((sorted(action["body"]["capabilities"]), action["allowed"]), ([LIST, READ], False))
        follow(both, action).must(403, "self_approval")


# ---- each status of a package has its actions, and each of them is taken

def names(found):
    return [action["id"] for action in found["actions"]]


def drafted(daemon, world):
    world.submit(free("a"))


def readied(daemon, world):
    world.submit(free("a"), free("b", after=["a"]))
    world.approve()


def running(daemon, world):
    readied(daemon, world)
    world.handoff("a")


def failed(daemon, world):
    readied(daemon, world)
    for _ in range(3):
        world.outcome(world.handoff("a"), "failed")


def completed(daemon, world):
    world.submit(free("a"), free("b", after=["a"]), free("c"))
    world.approve()
    for label in "ab":
        world.outcome(world.handoff(label))


def approved_once(daemon, world):
    world.submit(reads("a"))
    world.grant("a")
    world.approve()


def reading(daemon, world):
    approved_once(daemon, world)
    world.handoff("a")


STATUSES = {
    drafted: ("draft", ["request_changes"]),
    readied: ("ready", ["request_changes", "cancel_package"]),
    running: ("running", ["request_changes", "cancel_package"]),
    failed: ("failed", ["retry", "request_changes", "cancel_task"]),
    completed: ("completed", ["rework"]),
    approved_once: ("ready", ["request_changes", "cancel_package", "take_back"]),
    reading: ("running", ["request_changes", "cancel_package", "take_back"]),
}


def each_status_has_its_actions_and_each_is_taken(make):
    status, wanted = STATUSES[make]

    def a_status(daemon):
        for name in wanted:
            world = daemon.world()
            make(daemon, world)
            found = view(daemon.admin, world, "a")
            equal((found["status"], names(found)), (status, wanted))
            action = action_of(found, name)
            check(action["allowed"], name)
            answer = follow(daemon.admin, action)
            check(answer.status in (200, 201), "%s: %r" % (name, answer))
            after = daemon.admin.get("/v1/packages/" + found["id"]).must(200).json
            check((after["status"], after["actions"]) != (found["status"], found["actions"]), "%s changed nothing" % name)
    a_status.__name__ = "what_may_be_done_with_one_that_is_%s" % make.__name__
    return a_status


for one in STATUSES:
    scene(each_status_has_its_actions_and_each_is_taken(one))


@scene
def who_lacks_the_role_is_told_which_it_is_and_is_refused(daemon):
    world = daemon.world()
    failed(daemon, world)
    for action in view(daemon.executor, world, "a")["actions"]:
        equal((action["allowed"], action["whyNot"]), (False, "role_missing"), action["id"])
        equal(follow(daemon.executor, action).must(403, "forbidden")["roleNeeded"], action["roleNeeded"], action["id"])


@scene
def rework_is_on_for_the_executor_that_ran_what_depends_on_it(daemon):
    world = daemon.world()
    completed(daemon, world)
    stranger = daemon.client("other-runner", "executor")
    action = action_of(view(stranger, world, "a"), "rework")
    equal((action["allowed"], action["roleNeeded"]), (False, ["operator"]))
    follow(stranger, action).must(403, "forbidden")
    action = action_of(view(daemon.executor, world, "a"), "rework")
    check(action["allowed"] and action["body"]["cascade"], action)
    follow(daemon.executor, action).must(200)
    equal(view(daemon.admin, world, "a")["status"], "ready")


@scene
def taking_back_names_the_grant_and_holds_the_package_again(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    granted = world.grant("a")["grant"]["id"]
    action = action_of(view(daemon.approver, world, "a"), "take_back")
    equal(action["undoes"], granted)
    follow(daemon.approver, action).must(201)
    found = view(daemon.approver, world, "a")
    equal(found["hold"]["arm"], "taken_back")
    check("take_back" not in names(found), "there is nothing left")


def undo_of(answer):
    found = [action for action in answer["actions"] if "undoes" in action]
    equal((len(found), found[0]["undoes"], "noUndo" in answer), (1, answer["grant"]["id"], False))
    return found[0]


@scene
def the_answer_of_an_approval_has_its_undo(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    answer = world.grant("a", expiresAt=LATER)
    undo = undo_of(answer)
    equal(undo["id"], "take_back")
    answer = follow(daemon.approver, undo).must(201).json
    undo = undo_of(answer)
    equal((undo["id"], undo["body"]["expiresAt"]), ("approve_once", LATER), "and back again")
    follow(daemon.approver, undo).must(201)
    equal(world.package("a")["hold"], None)


@scene
def what_widens_narrows_or_ends_a_projects_access_is_put_back(daemon):
    world = daemon.world()
    world.submit(reads("a"), reads("l", LIST))
    answer = world.project_grant(READ, expiresAt=LATER)
    equal(undo_of(answer)["id"], "remove_access")

    def standing():
        grant = world.project()["grant"]
        return grant["decision"], sorted(grant["capabilities"]), grant["expiresAt"]
    before = standing()
    wider = world.project_grant(LIST)
    check("undoes" not in action_of(wider, "remove_access"), "it would take the first approval away too")
    equal(undo_of(wider)["id"], "narrow")
    follow(daemon.approver, undo_of(wider)).must(201)
    equal(standing(), before)
    follow(daemon.approver, undo_of(world.project_grant(LIST, replace=True))).must(201)
    equal(standing(), before)
    ended = world.project_grant(decision="revoked")
    equal(undo_of(ended)["id"], "approve_always")
    follow(daemon.approver, undo_of(ended)).must(201)
    equal(standing(), before)


@scene
def a_denial_is_taken_back_only_where_it_ended_an_approval(daemon):
    world = daemon.world()
    world.submit(reads("a"), reads("b"))
    denied = world.grant("a", decision="denied")
    equal((denied["actions"], denied["noUndo"]), ([], "Only an approval ends it."))
    world.grant("b")
    denied = world.grant("b", decision="denied")
    follow(daemon.approver, undo_of(denied)).must(201)
    equal(world.package("b")["hold"], None)


@scene
def nobody_puts_back_for_himself_what_he_may_not_approve(daemon):
    world = daemon.world()
    both = daemon.client("both-u", "planner", "approver")
    both.put("/v1/tasks/" + world.task_id(), world.plan(reads("a"))).must(201)
    world.grant("a")
    denied = world.grant("a", decision="denied", client=both)
    equal((undo_of(denied)["allowed"], undo_of(denied)["whyNot"]), (False, "self_approval"))
    follow(both, undo_of(denied)).must(403, "self_approval")
    world.project_grant(READ)
    removed = world.project_grant(decision="revoked", client=both)
    equal((undo_of(removed)["allowed"], undo_of(removed)["whyNot"]), (False, "self_approval"))
    follow(both, undo_of(removed)).must(403, "self_approval")


@scene
def a_spent_approval_says_that_it_cannot_be_taken_back(daemon):
    world = daemon.world()
    approved_once(daemon, world)
    take_back = action_of(view(daemon.approver, world, "a"), "take_back")
    world.outcome(world.handoff("a"), "released")
    action = action_of(view(daemon.approver, world, "a"), "take_back")
    used = "Attempt 1 has used it, that can't be undone."
    equal((action["allowed"], action["whyNot"], action["because"]), (False, "used_up", used))
    equal(follow(daemon.approver, take_back).must(409, "nothing_to_revoke")["detail"], used)


@scene
def only_cancelling_ends_an_approved_plan(daemon):
    world = daemon.world()
    world.submit(free("a"))
    equal(world.approve()["noUndo"], "Only cancelling ends it.")
    again = world.approve()
    equal((again["alreadyApproved"], again["noUndo"]), (True, "Only cancelling ends it."))


@scene
def nothing_may_be_done_with_what_is_over(daemon):
    world = daemon.world()
    readied(daemon, world)
    pids = [world.pid(label) for label in "ab"]
    daemon.operator.post("/v1/tasks/%s/cancellation" % world.task_id(), {}).must(200)
    for pid in pids:
        equal(daemon.admin.get("/v1/packages/" + pid).must(200)["actions"], [])
    done = daemon.world()
    done.submit(free("a"))
    done.approve()
    done.outcome(done.handoff("a"))
    equal(view(daemon.admin, done, "a")["actions"], [], "its task is completed")


# ---- what else a view tells

@scene
def a_plan_tells_of_each_package_what_the_package_tells(daemon):
    world = daemon.world()
    world.submit(reads("a"), free("b", after=["a"]), free("c"), broken("d"))
    world.approve(status=409)
    told = ("operatorState", "lastDecision", "actions")

    def same(client, status=None):
        shown = client.get("/v1/tasks/" + world.task_id()).must(200)["packages"]
        for one in shown:
            alone = client.get("/v1/packages/" + one["id"]).must(200).json
            equal({name: one[name] for name in told}, {name: alone[name] for name in told}, "%s %s" % (one["label"], one["status"]))
        return {one["label"]: one for one in shown}
    held = same(daemon.approver)
    equal((held["a"]["operatorState"]["headline"], held["a"]["lastDecision"]["surface"], names(held["a"])[0]),
          ("Waiting for read access", "approval", "approve_once"))
    equal(held["d"]["operatorState"]["key"], "plan_needs_changes")
    check(all(not action["allowed"] for action in same(daemon.auditor)["a"]["actions"]), "an auditor decides nothing")
    daemon.approver.post("/v1/tasks/%s/changes" % world.task_id(), {"planRevision": "1"}).must(200)
    world.submit(reads("a"), free("b", after=["a"]), free("c"), status=200)
    world.grant("a")
    world.approve(revision="2")
    world.handoff("a")
    world.outcome(world.handoff("c"))
    moved = same(daemon.admin)
    equal([(moved[label]["status"], moved[label]["lastDecision"]["surface"]) for label in "abc"],
          [("running", "handoff"), ("pending", "approval"), ("completed", "handoff")])
    equal((moved["a"]["operatorState"], moved["c"]["operatorState"], names(moved["c"])), (None, None, ["rework"]))


@scene
def a_package_tells_its_plan_and_what_it_waits_for(daemon):
    world = daemon.world()
    world.submit(free("a"), free("b"), free("c", after=["a", "b"]))
    world.approve()
    world.outcome(world.handoff("a"))
    found = view(daemon.planner, world, "c")
    equal(found["title"], "A plan")
    equal(found["after"], [{"id": world.pid("a"), "label": "a", "status": "completed"}, {"id": world.pid("b"), "label": "b", "status": "ready"}])
    equal([item["id"] for item in found["after"]], found["dependsOn"])
    equal(view(daemon.planner, world, "a")["after"], [])


@scene
def the_ledger_names_packages(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    grant = world.grant("a")["grant"]["id"]
    world.project_grant(LIST)
    found = daemon.planner.get("/v1/grants?project=" + world.id).must(200)["items"]
    equal([one.get("packageLabel") for one in found], [None, "a"])
    equal(daemon.planner.get("/v1/grants/" + grant).must(200)["packageLabel"], "a")


@scene
def a_tool_server_has_a_history_of_its_changes(daemon):
    world, other = daemon.world(), daemon.world()
    other.health(state="healthy")
    for state, error in (("healthy", None), ("healthy", None), ("unhealthy", "connection refused"), ("auth_required", None)):
        world.health(state=state, error=error)
    rows = {row["mcpId"]: row for row in daemon.planner.get("/v1/projects/%s/health" % world.id).must(200)["items"]}
    history = rows["github"]["history"]
    equal([(seen["status"], seen["error"]) for seen in history],
          [("auth_required", None), ("unhealthy", "connection refused"), ("healthy", None)])
    equal(history[0]["checkedAt"], rows["github"]["checkedAt"])
    equal({seen["mcpId"] for seen in rows["filesystem"]["history"]}, {"filesystem"})
    for _ in range(15):
        for state in ("healthy", "unhealthy"):
            world.health(state=state)
    rows = {row["mcpId"]: row for row in daemon.planner.get("/v1/projects/%s/health" % world.id).must(200)["items"]}
    equal(len(rows["github"]["history"]), 20)


if __name__ == "__main__":
    run_scenes()
