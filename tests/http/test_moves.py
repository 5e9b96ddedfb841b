#!/usr/bin/env python3
"""What people do to plans, packages and projects (chapter 2.2, 2.4): each move, each refusal, each race, and a restart in every state.
Speaks TAP."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from daemon import (LIST, READ, check, equal, free, is_problem, reads, run_scenes, scene, see, together, unchanged)  # noqa: E402

ROUNDS = 12


def act(world, what, name="t", status=200, code=None, client=None, **body):
    """A move of a task: rejection, changes or cancellation."""
    body.setdefault("planRevision", "1")
    client = client or (world.daemon.approver if what == "rejection" else world.daemon.operator)
    answer = client.post("/v1/tasks/%s/%s" % (world.task_id(name), what), body)
    return answer.must(status, code).json if code is None else is_problem(answer, status, code).json


def move(world, what, label, name="t", status=200, code=None, client=None, **body):
    """A move of a package: cancellation, retry or rework."""
    answer = (client or world.daemon.operator).post("/v1/packages/%s/%s" % (world.pid(label, name), what), body)
    return answer.must(status, code).json if code is None else is_problem(answer, status, code).json


def archive(world, status=200, what="archive", **body):
    return world.daemon.admin.post("/v1/projects/%s/%s" % (world.id, what), body).must(status).json


def chain(daemon):
    """A world with an approved plan: a, b after a, c after b."""
    world = daemon.world()
    world.submit(free("a"), free("b", after=["a"]), free("c", after=["b"]))
    world.approve()
    return world


def fail(world, label, name="t"):
    for _ in range(3):
        world.outcome(world.handoff(label, name), "failed")


def complete(world, *labels, name="t"):
    for label in labels:
        world.outcome(world.handoff(label, name))


def statuses(world, name="t"):
    return {item["label"]: item["status"] for item in world.task(name)["packages"]}


def events(daemon, path):
    return daemon.admin.get(path + "/timeline?limit=500").must(200)["items"]


# ---- plans


@scene
def a_plan_is_rejected_with_who_when_and_why(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    answer = act(world, "rejection", reason="not this quarter")
    equal((answer["status"], answer["statusReason"], answer["statusBy"]["principal"]), ("rejected", "not this quarter", "approver-1"))
    equal([(item["status"], item["hold"]) for item in answer["packages"]], [("draft", None)])
    equal(act(world, "rejection", status=409, code="task_status")["currentStatus"], "rejected")
    equal(act(world, "cancellation", status=409, code="task_status")["currentStatus"], "rejected")
    is_problem(daemon.approver.post("/v1/tasks/%s/approval" % world.task_id(), {"planRevision": "1"}), 409, "task_status")
    told = [event for event in events(daemon, "/v1/tasks/" + world.task_id()) if event["type"] == "task.status"][-1]
    equal((told["changed"]["after"], told["changed"]["reason"]), ("rejected", "not this quarter"))
    equal(act(world, "changes", reason="well then")["status"], "changes_requested")


@scene
def a_move_of_another_revision_is_refused_with_the_current_one(daemon):
    world = daemon.world()
    world.submit(free("a"))
    world.submit(free("b"), status=200)
    before = see(daemon, world.id)
    for what in ("rejection", "changes", "cancellation"):
        equal(act(world, what, status=409, code="plan_revision_conflict")["current"]["revision"], "2")
    for what in ("rejection", "changes"):
        client = daemon.approver
        is_problem(client.post("/v1/tasks/%s/%s" % (world.task_id(), what), {}), 422, "invalid_document")
        is_problem(client.post("/v1/tasks/%s/%s" % (world.task_id(), what), {"planRevision": "2", "why": 1}), 422, "invalid_document")
    unchanged(before, see(daemon, world.id), "asking")


@scene
def a_plan_sent_back_ends_its_runs_and_keeps_what_is_completed(daemon):
    world = chain(daemon)
    complete(world, "a")
    run = world.handoff("b")
    gone = [world.pid("b"), world.pid("c")]
    answer = act(world, "changes", client=daemon.approver, reason="split b")
    equal((answer["status"], answer["statusReason"], answer["superseded"]), ("changes_requested", "split b", gone))
    equal(statuses(world), {"a": "completed"})
    equal(is_problem(daemon.executor.post("/v1/runs/%s/outcome" % run["run"]["id"], {"outcome": "succeeded"}), 409,
                     "run_ended")["outcome"], "cancelled")
    is_problem(daemon.executor.post("/v1/packages/%s/handoff" % gone[1], {}), 409, "package_status")
    is_problem(daemon.approver.post("/v1/packages/%s/grants" % gone[1], {"decision": "denied", "expectedRevision": "0"}), 409,
               "package_status")


@scene
def a_new_plan_keeps_completed_packages_unless_they_are_to_be_redone(daemon):
    world = chain(daemon)
    complete(world, "a")
    kept = world.pid("a")
    act(world, "changes")
    world.submit(free("a"), free("b", after=["a"]), free("c", after=["b"]), status=200)
    equal(world.task()["status"], "changes_requested", "the same plan again")
    world.submit(free("a"), free("d", after=["a"]), status=200)
    equal((world.pid("a"), statuses(world)), (kept, {"a": "completed", "d": "draft"}))
    act(world, "changes", planRevision="2")
    world.submit(free("a", redo=True), free("d", after=["a"]), status=200)
    check(world.pid("a") != kept, "it was not made anew")
    equal(statuses(world), {"a": "draft", "d": "draft"})
    world.approve(revision="3")
    equal(statuses(world), {"a": "ready", "d": "pending"})


@scene
def a_cancelled_task_is_over(daemon):
    world = chain(daemon)
    run = world.handoff("a")
    answer = act(world, "cancellation", reason="not needed")
    equal((answer["status"], answer["statusReason"], len(answer["cancelled"])), ("cancelled", "not needed", 3))
    equal(set(statuses(world).values()), {"cancelled"})
    equal(daemon.admin.get("/v1/runs/" + run["run"]["id"])["outcome"], "cancelled")
    for what in ("cancellation", "changes"):
        equal(act(world, what, status=409, code="task_status")["currentStatus"], "cancelled")
    is_problem(daemon.executor.post("/v1/tasks/%s/handoff" % world.task_id(), {}), 409, "task_status")
    is_problem(daemon.planner.put("/v1/tasks/" + world.task_id(), world.plan(free("z"))), 409, "task_status")


@scene
def a_task_is_cancelled_without_a_revision_and_without_a_body(daemon):
    world = daemon.world()
    world.submit(free("a"))
    equal(daemon.operator.post("/v1/tasks/%s/cancellation" % world.task_id()).must(200)["status"], "cancelled")


@scene
def a_move_sent_twice_with_its_key_is_one(daemon):
    world = daemon.world()
    world.submit(free("a"))
    path, body, key = "/v1/tasks/%s/changes" % world.task_id(), {"planRevision": "1", "reason": "x"}, {"Idempotency-Key": "c"}
    first = daemon.operator.post(path, body, key).must(200)
    again = daemon.operator.post(path, body, key).must(200)
    equal((again.json, again.headers["etag"]), (first.json, first.headers["etag"]))
    is_problem(daemon.operator.post(path, body), 409, "task_status")


# ---- packages


@scene
def a_package_takes_along_what_depends_on_it_or_stays(daemon):
    world = chain(daemon)
    before = see(daemon, world.id)
    refused = move(world, "cancellation", "a", status=409, code="has_dependents")
    equal(refused["dependents"], [world.pid("b"), world.pid("c")])
    unchanged(before, see(daemon, world.id), "asking")
    complete(world, "a")
    answer = move(world, "cancellation", "b", cascade=True, reason="gone")
    equal((answer["package"]["status"], answer["along"], answer["task"]["status"]), ("cancelled", [world.pid("c")], "completed"))
    told = [event for event in events(daemon, "/v1/packages/" + world.pid("b")) if event["packageId"] == world.pid("b")][-1]["changed"]
    equal((told["after"], told["reason"]), ("cancelled", "gone"))
    equal(move(world, "cancellation", "a", status=409, code="package_status")["currentStatus"], "completed")


@scene
def cancelling_a_running_package_ends_its_run_without_an_attempt(daemon):
    world = chain(daemon)
    run = world.handoff("a")
    move(world, "cancellation", "a", cascade=True)
    equal(world.task()["status"], "cancelled")
    equal(daemon.admin.get("/v1/packages/" + world.pid("a"))["attempts"], 0)
    for what, body in (("outcome", {"outcome": "failed"}), ("heartbeat", {})):
        answer = daemon.executor.post("/v1/runs/%s/%s" % (run["run"]["id"], what), body)
        equal(is_problem(answer, 409, "run_ended")["outcome"], "cancelled")


@scene
def a_failed_package_is_retried_by_a_person_only(daemon):
    world = chain(daemon)
    equal(move(world, "retry", "a", status=409, code="not_retryable")["currentStatus"], "ready")
    fail(world, "a")
    equal((world.task()["status"], statuses(world)["a"]), ("failed", "failed"))
    answer = move(world, "retry", "a", reason="the runner was broken")
    equal((answer["task"]["status"], answer["package"]["status"], answer["package"]["attemptsLeft"]), ("approved", "ready", 3))
    equal(world.task()["statusReason"], "the runner was broken")
    complete(world, "a", "b", "c")
    equal(world.task()["status"], "completed")


@scene
def what_failed_in_a_plan_that_is_over_is_not_retried(daemon):
    world = chain(daemon)
    fail(world, "a")
    act(world, "cancellation")
    equal(move(world, "retry", "a", status=409, code="task_status")["currentStatus"], "cancelled")


@scene
def a_retry_does_not_revive_a_used_grant(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    world.grant("a")
    world.approve()
    for left in (2, 1, 0):
        world.outcome(world.handoff("a"), "failed")
        if left:
            world.grant("a")
    answer = move(world, "retry", "a")
    equal((answer["package"]["status"], answer["package"]["hold"]["arm"]), ("blocked", "used_up"))
    world.handoff("a", status=409)


@scene
def rework_returns_what_was_built_on_the_result_too(daemon):
    world = chain(daemon)
    equal(move(world, "rework", "a", status=409, code="package_status")["currentStatus"], "ready")
    complete(world, "a", "b")
    equal(move(world, "rework", "a", status=409, code="has_dependents")["dependents"], [world.pid("b")])
    answer = move(world, "rework", "a", cascade=True, reason="wrong schema")
    equal((answer["package"]["status"], answer["along"]), ("ready", [world.pid("b")]))
    equal(statuses(world), {"a": "ready", "b": "pending", "c": "pending"})
    equal(world.handoff("a")["run"]["attempt"], 2)


@scene
def an_executor_asks_for_rework_of_what_it_builds_on(daemon):
    world = chain(daemon)
    complete(world, "a")
    other = daemon.client("other-runner", "executor")
    for client in (other, daemon.executor):
        refused = is_problem(client.post("/v1/packages/%s/rework" % world.pid("a"), {}), 403, "forbidden")
        equal(refused["roleNeeded"], ["operator"])
    run = world.handoff("b", client=other)
    equal(move(world, "rework", "a", client=other)["package"]["status"], "ready")
    other.post("/v1/runs/%s/outcome" % run["run"]["id"], {"outcome": "released"}).must(200)
    equal(statuses(world), {"a": "ready", "b": "pending", "c": "pending"})


@scene
def rework_of_a_finished_task_is_refused(daemon):
    world = chain(daemon)
    complete(world, "a", "b", "c")
    equal(move(world, "rework", "c", status=409, code="task_status")["currentStatus"], "completed")


@scene
def a_failed_package_leaves_its_siblings_alone(daemon):
    world = daemon.world()
    world.submit(free("a"), free("b"), reads("c"))
    world.grant("c")
    world.approve()
    world.grant("c", decision="revoked")
    fail(world, "a")
    equal((world.task()["status"], statuses(world)), ("approved", {"a": "failed", "b": "ready", "c": "blocked"}))
    complete(world, "b")
    equal(world.task()["status"], "approved", "a package that is only held keeps its task open")
    move(world, "cancellation", "c")
    equal(world.task()["status"], "failed")


# ---- projects


@scene
def an_archived_project_keeps_its_ledger_and_decides_nothing(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    world.submit(free("a"), name="done")
    world.approve("done")
    complete(world, "a", name="done")
    ledger = world.project_grant(READ)["grant"]["id"]
    world.approve()
    run = world.handoff("a")
    answer = archive(world, reason="moved away")
    equal((answer["archived"], answer["rootRevision"], answer["cancelled"]), (True, "0", [world.task_id()]))
    equal((world.task()["status"], world.task("done")["status"]), ("cancelled", "completed"))
    equal(daemon.admin.get("/v1/runs/" + run["run"]["id"])["outcome"], "cancelled")
    equal(daemon.admin.get("/v1/grants/" + ledger)["id"], ledger)
    before = see(daemon, world.id)
    revision = world.project()["decisionRevision"]
    grants = {"decision": "approved", "capabilities": [READ], "expectedRevision": revision, "rootRevision": "1"}
    for client, method, path, body in (
            (daemon.operator, "PUT", "/v1/projects/" + world.id, {"root": world.root}),
            (daemon.operator, "PUT", "/v1/projects/" + world.id, {"name": "x"}),
            (daemon.planner, "PUT", "/v1/tasks/" + world.task_id("new"), world.plan(free("x"))),
            (daemon.approver, "POST", "/v1/projects/%s/grants" % world.id, grants),
            (daemon.approver, "POST", "/v1/projects/%s/grants" % world.id, {"decision": "revoked", "expectedRevision": revision}),
            (daemon.operator, "POST", "/v1/tasks/%s/changes" % world.task_id(), {"planRevision": "1"}),
            (daemon.operator, "POST", "/v1/packages/%s/rework" % world.pid("a", "done"), {}),
            (daemon.operator, "POST", "/v1/packages/%s/retry" % world.pid("a"), {})):
        is_problem(client.request(method, path, body), 409, "project_archived")
    unchanged(before, see(daemon, world.id), "asking")
    archive(world)
    unchanged(before, see(daemon, world.id), "archiving again")
    equal(archive(world, what="unarchive")["archived"], False)
    daemon.operator.put("/v1/projects/" + world.id, {"root": world.root}).must(200)
    equal(world.project()["rootRevision"], "2")
    world.submit(reads("a"), name="new")
    equal(world.package("a", "new")["hold"]["arm"], "root_changed", "pointing back revives nothing")


@scene
def a_root_stays_while_a_run_was_given_what_is_in_it(daemon):
    world = daemon.world()
    world.submit(reads("a"), free("b"))
    world.project_grant(READ)
    world.approve()
    other = os.path.join(daemon.folder, "roots", "other-" + world.id)
    os.makedirs(other)
    run, plain = world.handoff("a"), world.handoff("b")
    refused = is_problem(daemon.operator.put("/v1/projects/" + world.id, {"root": other}), 409, "run_active")
    equal(refused["runs"], [run["run"]["id"]])
    world.outcome(run)
    daemon.operator.put("/v1/projects/" + world.id, {"root": other}).must(200)
    world.outcome(plain)


# ---- the ledger


@scene
def a_dry_run_says_what_a_decision_would_do_and_does_nothing(daemon):
    world = daemon.world()
    world.submit(reads("a"), reads("b", LIST))
    before = see(daemon, world.id)
    body = {"decision": "approved", "capabilities": [READ], "expectedRevision": "0", "rootRevision": "1"}
    impact = daemon.approver.post("/v1/projects/%s/grants?dryRun=true" % world.id, body).must(200)["impact"]
    equal((impact["opens"], impact["stays"], impact["holds"], impact["revision"]), ([world.pid("a")], [world.pid("b")], [], "1"))
    package = {"decision": "approved", "expectedRevision": "0", "rootRevision": "1"}
    impact = daemon.approver.post("/v1/packages/%s/grants?dryRun=true" % world.pid("b"), package).must(200)["impact"]
    equal((impact["opens"], impact["holds"]), ([world.pid("b")], []))
    unchanged(before, see(daemon, world.id), "asking")
    told = daemon.approver.post("/v1/projects/%s/grants" % world.id, body).must(201)["impact"]
    equal(told["opens"], [world.pid("a")])
    narrower = {"decision": "approved", "capabilities": [LIST], "replace": True, "expectedRevision": "1", "rootRevision": "1"}
    impact = daemon.approver.post("/v1/projects/%s/grants?dryRun=true" % world.id, narrower).must(200)["impact"]
    equal((impact["opens"], impact["holds"]), ([world.pid("b")], [world.pid("a")]))
    equal(daemon.approver.post("/v1/projects/%s/grants" % world.id, narrower).must(201)["impact"]["holds"], [world.pid("a")])
    equal(world.package("a")["hold"]["arm"], "narrowed")


@scene
def the_ledger_tells_what_stands_from_what_is_past(daemon):
    world = daemon.world()
    world.submit(reads("a"), reads("b"))
    world.grant("a")
    world.grant("a", decision="revoked", reason="no more")
    live = world.grant("b")["grant"]["id"]
    past = daemon.approver.get("/v1/grants?package=" + world.pid("a")).must(200)["items"]
    equal([(item["decision"], item["reason"], item["actor"]["principal"]) for item in past],
          [("revoked", "no more", "approver-1"), ("approved", None, "approver-1")])
    equal(past[0]["replaces"], past[1]["id"])
    always = world.project_grant(LIST)["grant"]["id"]

    def standing():
        return [item["id"] for item in daemon.approver.get("/v1/grants?project=%s&live=true" % world.id).must(200)["items"]]

    equal(standing(), [always, live])
    page = daemon.approver.get("/v1/grants?project=%s&live=true&limit=1" % world.id).must(200)
    equal(([item["id"] for item in page["items"]], "next" in page.json), ([always], True))
    move(world, "cancellation", "b")
    equal(standing(), [always], "a package's grant dies with it")
    other = os.path.join(daemon.folder, "roots", "ledger-" + world.id)
    os.makedirs(other)
    daemon.operator.put("/v1/projects/" + world.id, {"root": other}).must(200)
    equal(standing(), [], "nothing stands for another folder")
    equal(len(daemon.approver.get("/v1/grants?project=%s&limit=500" % world.id).must(200)["items"]), 4, "the ledger")


# ---- races


@scene
def of_two_cancels_one_cancels(daemon):
    for number in range(ROUNDS):
        world = chain(daemon)
        if number % 2:
            calls = [lambda: daemon.operator.post("/v1/tasks/%s/cancellation" % world.task_id(), {})] * 2
            code = "task_status"
        else:
            path = "/v1/packages/%s/cancellation" % world.pid("a")
            calls, code = [lambda: daemon.operator.post(path, {"cascade": True})] * 2, "package_status"
        answers = sorted(together(*calls), key=lambda answer: answer.status)
        answers[0].must(200)
        is_problem(answers[1], 409, code)
        told = [event["changed"]["after"] for event in events(daemon, "/v1/packages/" + world.pid("a")) if event["type"] == "package.status"]
        equal(told.count("cancelled"), 1)


@scene
def a_revoked_grant_admits_no_later_claim(daemon):
    first = set()
    for _ in range(ROUNDS):
        world = daemon.world()
        world.submit(reads("a"))
        grant = world.grant("a")["grant"]["id"]
        world.approve()
        package = world.pid("a")
        revoked, claimed = together(
            lambda: daemon.approver.post("/v1/packages/%s/grants" % package, {"decision": "revoked", "expectedRevision": "1"}),
            lambda: daemon.executor.post("/v1/packages/%s/handoff" % package, {}))
        if claimed.status == 200:
            first.add("claim")
            daemon.secrets.append(claimed["runToken"])
            revoked.must(201)
            equal([item["id"] for item in claimed["run"]["grants"]], [grant])
        else:
            first.add("revocation")
            revoked.must(201)
            equal(is_problem(claimed, 409, "admission_blocked")["hold"]["arm"], "taken_back")
            equal(daemon.admin.get("/v1/runs?package=" + package)["items"], [])
    check(first, "nothing happened")


@scene
def a_grant_and_a_claim_at_once_end_in_one_of_two_ways(daemon):
    for _ in range(ROUNDS):
        world = daemon.world()
        world.submit(reads("a"))
        world.grant("a")
        world.approve()
        world.grant("a", decision="denied")
        package = world.pid("a")
        body = {"decision": "approved", "expectedRevision": "2", "rootRevision": "1"}
        granted, claimed = together(lambda: daemon.approver.post("/v1/packages/%s/grants" % package, body),
                                    lambda: daemon.executor.post("/v1/packages/%s/handoff" % package, {}))
        granted.must(201)
        if claimed.status == 200:
            daemon.secrets.append(claimed["runToken"])
            equal([item["id"] for item in claimed["run"]["grants"]], [granted["grant"]["id"]])
        else:
            equal(is_problem(claimed, 409, "admission_blocked")["hold"]["arm"], "denied")
            equal(world.package("a")["status"], "ready", "the grant opened it")


@scene
def a_root_and_a_claim_at_once_end_in_one_of_two_ways(daemon):
    for number in range(ROUNDS):
        world = daemon.world()
        world.submit(reads("a"))
        world.grant("a")
        world.approve()
        package = world.pid("a")
        other = os.path.join(daemon.folder, "roots", "race-%d" % number)
        os.makedirs(other)
        moved, claimed = together(lambda: daemon.operator.put("/v1/projects/" + world.id, {"root": other}),
                                  lambda: daemon.executor.post("/v1/packages/%s/handoff" % package, {}))
        if claimed.status == 200:
            daemon.secrets.append(claimed["runToken"])
            equal(is_problem(moved, 409, "run_active")["runs"], [claimed["run"]["id"]])
        else:
            moved.must(200)
            equal(is_problem(claimed, 409, "admission_blocked")["hold"]["arm"], "root_changed")


@scene
def sending_back_and_a_claim_at_once_leave_no_live_run(daemon):
    for _ in range(ROUNDS):
        world = chain(daemon)
        package = world.pid("a")
        sent, claimed = together(
            lambda: daemon.operator.post("/v1/tasks/%s/changes" % world.task_id(), {"planRevision": "1"}),
            lambda: daemon.executor.post("/v1/packages/%s/handoff" % package, {}))
        sent.must(200)
        if claimed.status == 200:
            daemon.secrets.append(claimed["runToken"])
        else:
            check(claimed.code in ("package_status", "task_status"), repr(claimed))
        equal(daemon.admin.get("/v1/runs?live=true&project=" + world.id)["items"], [])


@scene
def of_two_approvers_both_see_one_approval(daemon):
    for number in range(ROUNDS):
        world = daemon.world()
        world.submit(free("a"))
        other = daemon.client("approver-%d" % (number + 2), "approver")
        path = "/v1/tasks/%s/approval" % world.task_id()
        answers = together(lambda: daemon.approver.post(path, {"planRevision": "1"}), lambda: other.post(path, {"planRevision": "1"}))
        equal(sorted(answer.must(200)["alreadyApproved"] for answer in answers), [False, True])
        equal(answers[0]["approvedBy"], answers[1]["approvedBy"])


@scene
def an_outcome_and_a_cancellation_at_once_agree(daemon):
    for _ in range(ROUNDS):
        world = chain(daemon)
        run = world.handoff("a")["run"]["id"]
        package = world.pid("a")
        ended, cancelled = together(lambda: daemon.executor.post("/v1/runs/%s/outcome" % run, {"outcome": "succeeded"}),
                                    lambda: daemon.operator.post("/v1/packages/%s/cancellation" % package, {"cascade": True}))
        if ended.status == 200:
            is_problem(cancelled, 409, "package_status")
            equal(world.package("a")["status"], "completed")
        else:
            equal(is_problem(ended, 409, "run_ended")["outcome"], "cancelled")
            cancelled.must(200)


# ---- restart


def every_state(daemon):
    """A world with a task in each status, and a package in each."""
    world = daemon.world()
    world.submit(free("a"), reads("b"), name="proposed")
    for name in ("approved", "rejected", "back", "completed", "failed", "cancelled"):
        world.submit(free("a"), free("b", after=["a"]), free("c"), reads("d"), name=name)
    act(world, "rejection", "rejected")
    for name in ("approved", "completed", "failed", "cancelled"):
        world.grant("d", name)
        world.approve(name)
    act(world, "changes", "back")
    world.grant("d", "approved", decision="denied")
    world.handoff("c", "approved")
    complete(world, "a", "b", "c", "d", name="completed")
    complete(world, "c", "d", name="failed")
    fail(world, "a", "failed")
    act(world, "cancellation", "cancelled")
    return world


def without_leases(value):
    if isinstance(value, dict):
        return {key: without_leases(item) for key, item in value.items() if key != "lease"}
    return [without_leases(item) for item in value] if isinstance(value, list) else value


@scene
def a_restart_finds_every_state_as_it_was_and_every_move_goes_on(daemon):
    world = every_state(daemon)
    archive(daemon.world())
    before = without_leases(see(daemon))
    wanted = {"proposed": "proposed", "approved": "approved", "rejected": "rejected", "back": "changes_requested",
              "completed": "completed", "failed": "failed", "cancelled": "cancelled"}
    equal({name: world.task(name)["status"] for name in wanted}, wanted)
    equal(statuses(world, "approved"), {"a": "ready", "b": "pending", "c": "running", "d": "blocked"})
    for end in (daemon.restart, lambda: (daemon.kill9(), daemon.start())):
        end()
        unchanged(before, without_leases(see(daemon)), "the restart")
    move(world, "retry", "a", "failed")
    act(world, "changes", "rejected")
    act(world, "rejection", "proposed")
    act(world, "cancellation", "back")
    move(world, "cancellation", "d", "approved")
    complete(world, "a", name="failed")
    equal(world.task("failed")["status"], "approved")


if __name__ == "__main__":
    run_scenes()
