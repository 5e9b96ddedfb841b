#!/usr/bin/env python3
"""What the three surfaces promise together: one decision for one world, all or nothing at approval, one run at a time, and
grants that mean what they say. Speaks TAP."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from daemon import (LIST, READ, broken, but_for_decisions, check, equal, free, is_problem, package, reads,  # noqa: E402
                    requirement, rfc3339, run_scenes, scene, together, unchanged)

SEARCH = "filesystem.project.search"


def decisions(answer):
    return {item["label"]: item["decisionId"] for item in answer["packages"]}


def statuses(world, name="t"):
    return {item["label"]: item["status"] for item in world.task(name)["packages"]}


def held(world, label, name="t"):
    """(kind, arm) of a package's hold, or None."""
    hold = world.package(label, name)["hold"]
    return hold and (hold["kind"], hold.get("arm"))


# ---- one world, one decision

@scene
def preview_approval_and_handoff_of_an_unchanged_package_name_one_decision(daemon):
    world = daemon.world()
    world.submit(reads("a"), free("b"))
    world.grant("a")
    shown = decisions(world.preview())
    approved = world.approve()
    equal(decisions(approved), shown)
    for item in approved["packages"]:
        equal((item["comparedWith"], item["changedInputs"]), ({"surface": "preview", "decisionId": shown[item["label"]]}, []))
    for label in ("a", "b"):
        handed = world.handoff(label)
        equal(handed["decisionId"], shown[label])
        equal((handed["comparedWith"], handed["changedInputs"]), ({"surface": "approval", "decisionId": shown[label]}, []))


@scene
def an_unstored_preview_decides_like_the_stored_one_and_stores_nothing(daemon):
    world = daemon.world()
    before = world.see()
    plan = world.plan(reads("a"), free("b"))
    unstored = daemon.planner.post("/v1/preview", plan).must(200).json
    unchanged(before, world.see(), "the preview")
    equal(daemon.planner.get("/v1/tasks/" + world.task_id()).status, 404)
    world.submit(*plan["packages"])
    stored = world.preview()
    for left, right in zip(unstored["packages"], stored["packages"]):
        for name in ("label", "status", "result"):
            equal(left[name], right[name], name)


@scene
def what_changed_between_two_surfaces_is_named(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    first = decisions(world.preview())["a"]
    made = world.grant("a")["grant"]["id"]
    item = world.approve()["packages"][0]
    equal(item["comparedWith"]["decisionId"], first)
    check(item["decisionId"] != first, "another world, the same decision")
    equal([change["path"] for change in item["changedInputs"]], ["/grants/fs-a"])
    equal(item["changedInputs"][0]["after"]["grantApprovalId"], made)


@scene
def the_same_plan_again_changes_nothing_whatever_the_status(daemon):
    world = daemon.world()
    plan = [reads("a"), free("b", after=["a"])]
    made = world.submit(*plan)
    before = world.see()
    equal(world.submit(*plan, status=200)["planRevision"], "1")
    unchanged(before, world.see(), "the same plan")
    world.grant("a")
    world.approve()
    before = world.see()
    again = world.submit(*plan, status=200)
    equal([item["id"] for item in again["packages"]], [item["id"] for item in made["packages"]])
    unchanged(before, world.see(), "the same plan of an approved task")


@scene
def another_plan_is_another_revision_and_asks_again(daemon):
    world = daemon.world()
    first = world.submit(reads("a"), free("b"))
    world.grant("a")
    second = world.submit(reads("a", READ, LIST), free("b"), status=200)
    equal((second["planRevision"], len(second["superseded"])), ("2", 2))
    check(not {item["id"] for item in first["packages"]} & {item["id"] for item in second["packages"]}, "a package was carried over")
    equal(held(world, "a"), ("needs_grant", "never_approved"))
    is_problem(daemon.approver.post("/v1/tasks/%s/approval" % world.task_id(), {"planRevision": "1"}), 409, "plan_revision_conflict")


# ---- approval: all or nothing

def refused_with(world, *labels):
    """Refuses the approval, naming exactly these; nothing is changed but what was recorded of the refusal."""
    task = world.task()
    before = {label: world.package(label) for label in statuses(world)}
    grants = world.daemon.approver.get("/v1/grants?project=" + world.id).must(200).json
    answer = world.approve(status=409)
    equal((answer["code"], [item["label"] for item in answer["blocked"]]), ("admission_blocked", list(labels)))
    equal(but_for_decisions(world.task()), but_for_decisions(task), "the task")
    for label, package_before in before.items():
        after = world.package(label)
        for name in ("status", "hold", "attempts", "actions", "documentDigest"):
            equal(after[name], package_before[name], "%s of %s" % (name, label))
    equal(world.daemon.approver.get("/v1/grants?project=" + world.id).must(200).json, grants, "the grants")
    equal(world.daemon.executor.get("/v1/runs?project=" + world.id).must(200)["items"], [])
    return answer


@scene
def one_blocked_of_three_stops_the_approval_and_is_named(daemon):
    world = daemon.world()
    world.submit(free("a"), reads("b"), free("c"))
    answer = refused_with(world, "b")
    equal([item["label"] for item in answer["warnings"]], ["a", "c"])
    is_problem(daemon.executor.post("/v1/packages/%s/handoff" % world.pid("a"), {}), 409, "task_status")


@scene
def two_blocked_of_three_are_both_named_with_their_own_ways_out(daemon):
    world = daemon.world()
    world.submit(broken("a"), free("b"), reads("c"))
    answer = refused_with(world, "a", "c")
    equal([item["primaryRecoveryAction"] for item in answer["blocked"]], ["revise_plan", "approve_project_filesystem_context"])
    equal([item["operatorState"]["key"] for item in answer["blocked"]], ["plan_needs_changes", "needs_project_context"])


@scene
def two_approvals_at_once_are_one(daemon):
    for number in range(8):
        world = daemon.world()
        world.submit(free("a"), free("b"))
        path = "/v1/tasks/%s/approval" % world.task_id()
        answers = together(*[lambda path=path: daemon.approver.post(path, {"planRevision": "1"}) for _ in range(2)])
        equal([answer.status for answer in answers], [200, 200], "round %d" % number)
        equal(sorted(answer["alreadyApproved"] for answer in answers), [False, True])
        equal(answers[0]["approvedAt"], answers[1]["approvedAt"])
        equal(answers[0]["packages"], answers[1]["packages"])


@scene
def an_approval_again_is_the_stored_answer(daemon):
    world = daemon.world()
    world.submit(free("a"))
    first = world.approve()
    again = world.approve()
    equal(dict(again, alreadyApproved=False), first)
    equal(again["alreadyApproved"], True)


@scene
def nobody_approves_or_grants_what_is_partly_their_own(daemon):
    world = daemon.world()
    both = daemon.client("planner-service", "planner", "approver", "admin")
    world.submit(reads("a"), free("b"))
    before = world.see()
    for path, body in (("/v1/tasks/%s/approval" % world.task_id(), {"planRevision": "1"}),
                       ("/v1/packages/%s/grants" % world.pid("a"), {"decision": "approved", "expectedRevision": "0", "rootRevision": "1"}),
                       ("/v1/projects/%s/grants" % world.id, {"decision": "approved", "capabilities": [READ], "expectedRevision": "0",
                                                            "rootRevision": "1"})):
        is_problem(both.post(path, body), 403, "self_approval")
    unchanged(before, world.see(), "self-approval")
    world.grant("a", decision="denied", client=both)
    equal(held(world, "a"), ("needs_grant", "denied"))


@scene
def a_contributor_to_an_earlier_revision_approves_once_nothing_of_it_is_left(daemon):
    world = daemon.world()
    other = daemon.client("other-planner", "planner", "approver")
    world.submit(free("a"))
    other.put("/v1/tasks/" + world.task_id(), world.plan(free("b"))).must(200)
    is_problem(other.post("/v1/tasks/%s/approval" % world.task_id(), {"planRevision": "2"}), 403, "self_approval")
    first = daemon.client("planner-service", "approver")
    equal(world.approve(revision="2", client=first)["status"], "approved")


# ---- claims

def race(daemon, clients):
    world = daemon.world()
    world.submit(reads("a"))
    world.grant("a")
    world.approve()
    path = "/v1/packages/%s/handoff" % world.pid("a")
    answers = together(*[lambda number=number: daemon.executor.post(path, {"worker": "w%d" % number}) for number in range(clients)])
    won = [answer for answer in answers if answer.status == 200]
    equal(len(won), 1, "runs of %d claims" % clients)
    daemon.secrets.append(won[0]["runToken"])
    for answer in answers:
        if answer.status != 200:
            is_problem(answer, 409, "package_status")
    equal(len(daemon.executor.get("/v1/runs?package=" + world.pid("a")).must(200)["items"]), 1)
    equal(world.package("a")["status"], "running")


@scene
def of_two_claims_at_once_one_runs(daemon):
    for _ in range(5):
        race(daemon, 2)


@scene
def of_32_claims_at_once_one_runs(daemon):
    race(daemon, 32)


@scene
def claims_of_the_next_package_at_once_take_different_ones(daemon):
    world = daemon.world()
    world.submit(*[free("a%d" % number) for number in range(6)])
    world.approve()
    path = "/v1/tasks/%s/handoff" % world.task_id()
    answers = together(*[lambda: daemon.executor.post(path, {}) for _ in range(8)])
    won = [answer for answer in answers if answer.status == 200]
    daemon.secrets.extend(answer["runToken"] for answer in won)
    equal(sorted(answer["package"]["label"] for answer in won), ["a%d" % number for number in range(6)])
    equal([answer.status for answer in answers if answer.status != 200], [204, 204])


@scene
def a_one_time_approval_is_for_one_attempt(daemon):
    for outcome, attempts in (("failed", 1), ("released", 0)):
        world = daemon.world()
        world.submit(reads("a"))
        world.grant("a")
        world.approve()
        run = world.handoff("a")
        equal([(grant["mode"], grant["requirementKeys"]) for grant in run["run"]["grants"]], [("allow_once", ["fs-a"])])
        world.outcome(run, outcome)
        equal((held(world, "a"), world.package("a")["attempts"]), (("needs_grant", "used_up"), attempts), outcome)
        is_problem(daemon.executor.post("/v1/packages/%s/handoff" % world.pid("a"), {}), 409, "admission_blocked")
        world.grant("a")
        world.outcome(world.handoff("a"))
        equal(world.task()["status"], "completed")


@scene
def a_project_approval_serves_every_attempt(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    world.project_grant(READ)
    world.approve()
    for _ in range(2):
        world.outcome(world.handoff("a"), "failed")
        equal((held(world, "a"), world.package("a")["status"]), (None, "ready"))
    world.outcome(world.handoff("a"), "failed")
    equal((world.package("a")["status"], world.task()["status"]), ("failed", "failed"))
    is_problem(daemon.executor.post("/v1/packages/%s/handoff" % world.pid("a"), {}), 409, "package_status")
    is_problem(daemon.executor.post("/v1/tasks/%s/handoff" % world.task_id(), {}), 409, "task_status")


@scene
def an_outcome_is_reported_once(daemon):
    world = daemon.world()
    world.submit(free("a"))
    world.approve()
    run = world.handoff("a")
    first = world.outcome(run, "succeeded", summary="done")
    equal(world.outcome(run, "succeeded", summary="done"), first)
    equal(world.outcome(run, "failed", status=409)["code"], "outcome_conflict")
    own = type(daemon.executor)(daemon, run["runToken"])
    equal(own.post("/v1/runs/%s/outcome" % run["run"]["id"], {"outcome": "succeeded", "summary": "done"}).must(200).json, first)


@scene
def a_run_belongs_to_its_token_and_its_claimer(daemon):
    world = daemon.world()
    world.submit(free("a"), free("b"))
    world.approve()
    run, second = world.handoff("a"), world.handoff("b")
    path = "/v1/runs/%s/outcome" % run["run"]["id"]
    stranger = daemon.client("another-runner", "executor")
    other_run = type(daemon.executor)(daemon, second["runToken"])
    for client in (stranger, other_run):
        answer = client.post(path, {"outcome": "succeeded"})
        check((answer.status, answer.code) in ((403, "forbidden"), (404, "not_found")), repr(answer))
    own = type(daemon.executor)(daemon, run["runToken"])
    for method, address in (("GET", "/v1/tasks"), ("POST", "/v1/handoffs"), ("GET", "/v1/tokens")):
        answer = own.request(method, address)
        check(answer.status in (401, 403, 404), "a run's token read %s: %r" % (address, answer))
    equal(own.post(path, {"outcome": "succeeded"}).must(200)["package"]["status"], "completed")


# ---- what waits for what

@scene
def a_held_package_does_not_hold_its_siblings(daemon):
    world = daemon.world()
    world.submit(reads("a"), free("b"))
    world.project_grant(READ)
    world.approve()
    world.project_grant(decision="revoked")
    equal(statuses(world), {"a": "blocked", "b": "ready"})
    handed = daemon.executor.post("/v1/tasks/%s/handoff" % world.task_id(), {}).must(200)
    daemon.secrets.append(handed["runToken"])
    equal(handed["package"]["label"], "b")
    world.outcome(handed.json)
    equal((world.task()["status"], held(world, "a")), ("approved", ("needs_grant", "removed")))


@scene
def packages_run_in_the_order_of_their_dependencies(daemon):
    world = daemon.world()
    world.submit(free("c", after=["a", "b"]), free("a"), free("b", after=["a"]))
    world.approve()
    equal(statuses(world), {"a": "ready", "b": "pending", "c": "pending"})
    is_problem(daemon.executor.post("/v1/packages/%s/handoff" % world.pid("b"), {}), 409, "package_status")
    order = []
    for _ in range(3):
        handed = daemon.executor.post("/v1/tasks/%s/handoff" % world.task_id(), {}).must(200)
        daemon.secrets.append(handed["runToken"])
        order.append(handed["package"]["label"])
        equal(daemon.executor.post("/v1/tasks/%s/handoff" % world.task_id(), {}).status, 204)
        world.outcome(handed.json)
    equal((order, world.task()["status"]), (["a", "b", "c"], "completed"))


@scene
def a_keyless_legacy_package_goes_the_whole_way(daemon):
    world = daemon.world()
    ask = {"mcpId": "filesystem", "assignedRole": "backend", "requirement": "required", "permissions": ["filesystem.read"],
           "fallback": {"action": "block"}}
    envelope = {"decisionId": "adm-17", "mcpId": "filesystem", "agent": "backend", "requirement": "required",
                "requiredCapabilities": ["filesystem.read"], "fallback": {"action": "block"},
                "assignment": {"type": "agent", "targetId": "backend"}}
    world.submit({"label": "a", "agent": "backend", "dependsOn": [], "promptOverlays": {},
                  "document": {"mcpRequirements": [ask], "metadata": {"mcpGrants": [envelope], "mcpAwareSubtasks": []}}})
    found = world.preview()["packages"][0]["result"]
    equal([(item["source"]["requirementKey"], item["source"]["decisionId"]) for item in found["evaluations"]],
          [("legacy-0-filesystem-backend", "adm-17")])
    equal(found["evaluations"][0]["decision"]["normalizedCapabilities"], [READ])
    world.grant("a")
    world.approve()
    handed = world.handoff("a")
    equal(handed["given"]["readScope"], [{"requirementKey": "legacy-0-filesystem-backend", "capabilities": [READ]}])
    world.outcome(handed)
    equal(world.task()["status"], "completed")


@scene
def a_keyless_requirement_may_get_the_name_that_another_has_as_its_key(daemon):
    world = daemon.world()
    keyless = {"mcpId": "filesystem", "agent": "backend", "requirement": "required", "permissions": [READ],
               "fallback": {"action": "block"}}
    keyed = requirement("legacy-0-filesystem-backend", capabilities=["filesystem.project.list"], index=1)
    world.submit(package("a", keyless, keyed))
    world.grant("a")
    world.approve()
    handed = world.handoff("a")
    equal([item["requirementKey"] for item in handed["given"]["readScope"]], ["legacy-0-filesystem-backend"] * 2)
    world.outcome(handed)
    equal(world.task()["status"], "completed")


@scene
def what_was_given_at_handoff_is_what_was_decided(daemon):
    world = daemon.world()
    world.health()
    world.submit(package("a", requirement("fs", capabilities=[READ]),
                         requirement("gh", mcp="github", capabilities=["github.issues.read"], index=1),
                         overlays={"gh": "Read issue 7."}, subtasks=[
                             {"id": "schema", "agent": "backend", "mcpCapabilities": [READ],
                              "capabilityBindings": [{"capability": READ, "requirementKey": "fs"}]}]))
    world.grant("a")
    world.approve()
    given = world.handoff("a")["given"]
    equal((given["promptOverlays"], given["subtasks"]), ({"gh": "Read issue 7."}, ["schema"]))
    equal(given["readScope"], [{"requirementKey": "fs", "capabilities": [READ]}])


# ---- health

def github_reads(label):
    return package(label, requirement("gh", mcp="github", capabilities=["github.issues.read"]), overlays={"gh": "Issue 7: due dates."})


@scene
def an_unhealthy_server_holds_its_materialised_context_until_it_recovers(daemon):
    world = daemon.world()
    world.submit(github_reads("a"))
    world.health(state="unhealthy", error="connection refused")
    equal(held(world, "a"), ("needs_setup", None))
    blocked = world.approve(status=409)["blocked"][0]
    equal((blocked["primaryRecoveryAction"], blocked["retryable"], blocked["operatorState"]["key"]),
          ("install_or_fix_mcp", True, "mcp_needs_setup"))
    world.health()
    equal(held(world, "a"), None)
    world.approve()
    world.health(state="auth_required")
    equal((held(world, "a"), statuses(world)), (("needs_setup", None), {"a": "blocked"}))
    answer = world.handoff("a", status=409)
    check([change["path"] for change in answer["changedInputs"]] and all(
        change["path"].startswith("/health/github") for change in answer["changedInputs"]), repr(answer["changedInputs"]))
    world.health()
    equal(statuses(world), {"a": "ready"})
    world.outcome(world.handoff("a"))


@scene
def a_server_nobody_saw_is_unobserved_and_never_a_made_up_row(daemon):
    world = daemon.world()
    world.submit(github_reads("a"))
    row = [item for item in world.preview()["health"] if item["mcpId"] == "github"]
    equal(row, [{"schemaVersion": 1, "observed": False, "mcpId": "github", "installState": "unknown", "status": "unknown", "enabled": False,
                 "error": None, "checkedAt": None}])
    equal(held(world, "a"), ("needs_setup", None))


@scene
def an_older_observation_is_refused(daemon):
    world = daemon.world()
    newer, older = rfc3339(-10), rfc3339(-20)
    world.health(checkedAt=newer)
    before = world.see()
    body = {"mcpId": "github", "installState": "installed", "status": "unhealthy", "enabled": True, "error": "x", "checkedAt": older}
    is_problem(daemon.operator.put("/v1/projects/%s/health/github" % world.id, body), 409, "stale_observation")
    unchanged(before, world.see(), "an older observation")


@scene
def a_root_that_went_away_holds_what_reads_it(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    world.grant("a")
    os.rename(world.root, world.root + ".gone")
    os.mkdir(world.root)
    daemon.operator.put("/v1/projects/" + world.id, {"root": world.root}).must(200)
    equal(held(world, "a"), ("needs_grant", "root_changed"))


if __name__ == "__main__":
    run_scenes()
