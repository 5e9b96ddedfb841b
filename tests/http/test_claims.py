#!/usr/bin/env python3
"""Requests that are sent twice, and executors that wait for work (chapters 4.1 "Idempotency", 4.2 handoffs)."""
import os
import sys
import threading

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
from daemon import READ, free, is_problem, reads, rfc3339, run_scenes, scene  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
from tap import check, equal  # noqa: E402


def key(name):
    return {"Idempotency-Key": name}


def claim(world, name, label="a", client=None, **body):
    answer = (client or world.daemon.executor).post("/v1/packages/%s/handoff" % world.pid(label), body, key(name))
    if answer.status == 200 and answer["runToken"] not in world.daemon.secrets:
        world.daemon.secrets.append(answer["runToken"])
    return answer


def approved(daemon, *packages):
    world = daemon.world()
    world.submit(*(packages or (free("a"),)))
    world.approve()
    return world


@scene
def a_claim_sent_again_is_the_same_claim_after_a_restart_too(daemon):
    world = approved(daemon)
    first = claim(world, "c1", worker="w").must(200)
    equal(claim(world, "c1", worker="w").must(200).json, first.json)
    daemon.restart()
    equal(claim(world, "c1", worker="w").must(200).json, first.json)
    equal(len(daemon.executor.get("/v1/runs?project=" + world.id).must(200)["items"]), 1, "runs")
    again = daemon.request("POST", "/v1/runs/%s/outcome" % first["run"]["id"], {"outcome": "released"}, first["runToken"])
    equal(again.must(200)["run"]["outcome"], "released")


@scene
def what_was_said_of_a_plan_has_its_tag_again(daemon):
    world = daemon.world()
    world.submit(free("a"))
    path, body = "/v1/tasks/%s/changes" % world.task_id(), {"planRevision": "1"}
    first, again = [daemon.operator.post(path, body, key("s1")).must(200) for _ in range(2)]
    equal((again.json, again.headers["etag"]), (first.json, first.headers["etag"]))


@scene
def a_project_that_is_shown_with_its_grant_is_no_new_grant(daemon):
    world = daemon.world()
    world.project_grant(READ)
    answers = [daemon.admin.post("/v1/projects/%s/archive" % world.id, {}, key("a1")).must(200) for _ in range(2)]
    equal([(answer["grant"]["revision"], answer.headers.get("location")) for answer in answers], [("1", None)] * 2)


@scene
def a_key_with_another_body_is_refused_and_does_nothing(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    path = "/v1/packages/%s/grants" % world.pid("a")
    body = {"decision": "approved", "expectedRevision": "0", "rootRevision": "1"}
    first = daemon.approver.post(path, body, key("g1")).must(201)
    same = daemon.approver.post(path, dict(reversed(list(body.items()))), key("g1")).must(201)
    equal((same.json, same.headers["location"]), (first.json, first.headers["location"]))
    is_problem(daemon.approver.post(path, {"decision": "denied", "expectedRevision": "1"}, key("g1")), 422, "idempotency_mismatch")
    equal(world.latest_revision(world.pid("a")), "1")


@scene
def a_key_belongs_to_its_token_and_its_package(daemon):
    world = approved(daemon, free("a"), free("b"))
    other = daemon.client("other-runner", "executor")
    first = claim(world, "k").must(200)
    is_problem(claim(world, "k", client=other), 409, "package_status")
    check(claim(world, "k", label="b").must(200)["run"]["id"] != first["run"]["id"], "one run for two packages")


@scene
def what_took_no_effect_is_not_remembered(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    path = "/v1/packages/%s/grants" % world.pid("a")
    body = {"decision": "approved", "expectedRevision": "0", "rootRevision": "1"}
    is_problem(daemon.approver.post("/v1/tasks/%s/approval" % world.task_id(), {"planRevision": "1"}, key("a")), 409,
               "admission_blocked")
    equal(sorted(daemon.approver.post(path + "?dryRun=true", body, key("a")).must(200).json), ["impact"])
    daemon.approver.post(path, body, key("a")).must(201)
    daemon.approver.post("/v1/tasks/%s/approval" % world.task_id(), {"planRevision": "1"}, key("a")).must(200)


@scene
def a_key_is_one_header_of_visible_characters(daemon):
    world = approved(daemon)
    for bad in ("", "a b", "k" * 201):
        is_problem(claim(world, bad), 400, "bad_request")
    claim(world, "k" * 200).must(200)


@scene
def of_many_that_send_one_key_one_claims(daemon):
    world = approved(daemon)
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(claim(world, "one"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken = [answer for answer in answers if answer.status == 200]
    check(taken, "nobody got it: %r" % answers)
    equal({answer["run"]["id"] for answer in taken}, {taken[0]["run"]["id"]})
    for answer in answers:
        check(answer.status == 200 or answer.code == "in_progress", repr(answer))
    equal(len(daemon.executor.get("/v1/runs?project=" + world.id).must(200)["items"]), 1, "runs")


# ---- waiting


@scene
def a_waiting_executor_gets_the_package_that_comes(daemon):
    world = daemon.world()
    world.submit(free("a"))
    answers = []

    def wait():
        answers.append(daemon.executor.post("/v1/handoffs", {"project": world.id, "waitSeconds": 30}))

    thread = threading.Thread(target=wait)
    thread.start()
    world.approve()
    thread.join()
    equal(answers[0].must(200)["package"]["label"], "a")
    daemon.secrets.append(answers[0]["runToken"])


@scene
def a_waiting_executor_gets_what_a_grant_opens(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    world.grant("a")
    world.approve()
    world.grant("a", decision="denied")
    equal(daemon.executor.post("/v1/handoffs", {"project": world.id}).status, 204)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(
        daemon.executor.post("/v1/handoffs", {"project": world.id, "waitSeconds": 30})))
    thread.start()
    world.grant("a", expiresAt=rfc3339(3600))
    thread.join()
    equal(answers[0].must(200)["package"]["label"], "a")
    daemon.secrets.append(answers[0]["runToken"])


@scene
def a_wait_ends_with_nothing(daemon):
    world = daemon.world()
    answer = daemon.executor.post("/v1/handoffs", {"project": world.id, "waitSeconds": 1}).must(204)
    check(int(answer.headers["retry-after"]) > 0, "no Retry-After")
    is_problem(daemon.executor.post("/v1/handoffs", {"waitSeconds": 31}), 422, "invalid_document")


@scene
def who_waits_for_another_agent_gets_nothing(daemon):
    world = approved(daemon)
    equal(daemon.executor.post("/v1/handoffs", {"project": world.id, "agent": "docs", "waitSeconds": 1}).status, 204)
    equal(daemon.executor.get("/v1/runs?project=" + world.id).must(200)["items"], [])


if __name__ == "__main__":
    run_scenes()
