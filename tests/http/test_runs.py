#!/usr/bin/env python3
"""Runs (chapter 2.5): leases that are renewed, that end, and that outlive a restart; runs that somebody else ended; runs whose answer was
lost. Speaks TAP."""
import calendar
import os
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from daemon import (check, equal, free, is_problem, reads, run_scenes, running, scene, see, unchanged)  # noqa: E402

SHORT = "[runs]\nlease_seconds = 1\n"


def approved(daemon, *packages):
    world = daemon.world()
    world.submit(*(packages or (free("a"),)))
    world.approve()
    return world


def seconds(text):
    """A time of an answer, as a number."""
    whole, fraction = text.rstrip("Z").split(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float("0." + fraction)


def run_of(daemon, run):
    return daemon.admin.get("/v1/runs/" + run["run"]["id"]).must(200).json


def beat(daemon, run, token=None):
    path = "/v1/runs/%s/heartbeat" % run["run"]["id"]
    return daemon.request("POST", path, None, token) if token else daemon.executor.post(path)


def expires(daemon, run):
    """Waits until the daemon has ended it."""
    daemon.wait_until(lambda: run_of(daemon, run)["outcome"] is not None, "the end of the lease")
    equal(run_of(daemon, run)["outcome"], "expired")


# ---- the lease


@scene
def a_lease_is_a_minute_and_is_renewed_to_a_full_one(daemon):
    world = approved(daemon)
    run = world.handoff("a")
    equal((run["run"]["lease"]["seconds"], run["run"]["lease"]["renewAfterSeconds"]), (60, 20))
    equal(run["links"]["heartbeat"], "/v1/runs/%s/heartbeat" % run["run"]["id"])
    before = run["run"]["lease"]["expiresAt"]
    answer = daemon.wait_until(lambda: next((found for found in [beat(daemon, run).must(200)["run"]]
                                             if found["lease"]["expiresAt"] > before), None), "a later end")
    equal((answer["id"], answer["status"]), (run["run"]["id"], "running"))
    equal(run_of(daemon, run)["lease"]["expiresAt"], answer["lease"]["expiresAt"])


@scene
def a_run_is_used_by_its_token_and_by_who_claimed_it(daemon):
    world = approved(daemon, free("a"), free("b"))
    run, other = world.handoff("a"), world.handoff("b")
    beat(daemon, run, run["runToken"]).must(200)
    beat(daemon, run).must(200)
    is_problem(beat(daemon, run, other["runToken"]), 404, "not_found")
    stranger = daemon.client("stranger", "executor")
    is_problem(beat(daemon, run, stranger.token), 403, "forbidden")
    is_problem(beat(daemon, run, daemon.planner.token), 403, "forbidden")
    is_problem(daemon.executor.post("/v1/runs/%s/heartbeat" % run["run"]["id"], {"more": 1}), 422, "invalid_document")
    before = see(daemon, world.id)
    for method, path, body in (("GET", "/v1/tasks", None), ("POST", "/v1/handoffs", {}), ("GET", "/v1/runs", None),
                               ("POST", "/v1/packages/%s/rework" % world.pid("a"), {}),
                               ("POST", "/v1/packages/%s/cancellation" % world.pid("a"), {})):
        answer = daemon.request(method, path, body, run["runToken"])
        check(answer.status in (401, 403), "%s %s: %r" % (method, path, answer))
    unchanged(before, see(daemon, world.id), "a run's token")


@scene
def a_restart_gives_a_live_run_a_fresh_term(daemon):
    world = approved(daemon)
    run = world.handoff("a")
    before = run_of(daemon, run)["lease"]["expiresAt"]
    for end in (daemon.restart, lambda: (daemon.kill9(), daemon.start())):
        end()
        after = run_of(daemon, run)["lease"]["expiresAt"]
        check(after > before, "%s is not after %s" % (after, before))
        before = after
    beat(daemon, run, run["runToken"]).must(200)
    world.outcome(run)


@scene
def a_silent_run_expires_and_its_executor_is_told_to_stop(daemon):
    with running(SHORT) as short:
        world = approved(short)
        run = world.handoff("a")
        equal((run["run"]["lease"]["seconds"], run["run"]["lease"]["renewAfterSeconds"]), (1, 1))
        expires(short, run)
        ended = run_of(short, run)
        equal((ended["lease"], ended["endedBy"], ended["status"]), (None, None, "ended"))
        package = world.package("a")
        equal((package["status"], package["attempts"], package["attemptsLeft"]), ("ready", 1, 2))
        for token in (None, run["runToken"]):
            equal(is_problem(beat(short, run, token), 409, "run_ended")["outcome"], "expired")
        equal(is_problem(short.executor.post("/v1/runs/%s/outcome" % run["run"]["id"], {"outcome": "succeeded"}), 409,
                         "run_ended")["outcome"], "expired")
        equal(world.handoff("a")["run"]["attempt"], 2)


@scene
def three_silent_runs_fail_the_package(daemon):
    with running(SHORT) as short:
        world = approved(short)
        for _ in range(3):
            expires(short, world.handoff("a"))
        equal((world.package("a")["status"], world.task()["status"]), ("failed", "failed"))
        short.operator.post("/v1/packages/%s/retry" % world.pid("a")).must(200)
        equal(world.package("a")["attemptsLeft"], 3)


@scene
def a_run_that_gives_signs_of_life_outlives_many_terms(daemon):
    with running(SHORT) as short:
        world = approved(short)
        run = world.handoff("a")
        claimed = seconds(run_of(short, run)["claimedAt"])
        short.wait_until(lambda: seconds(beat(short, run).must(200)["run"]["lease"]["expiresAt"]) > claimed + 4, "three terms")
        world.outcome(run)
        equal(world.package("a")["status"], "completed")


@scene
def a_run_that_was_live_when_the_daemon_died_expires_after_its_fresh_term(daemon):
    with running(SHORT) as short:
        world = approved(short)
        run = world.handoff("a")
        short.kill9()
        short.start()
        expires(short, run)
        equal(world.package("a")["attempts"], 1)


@scene
def who_waits_gets_what_a_silent_run_leaves(daemon):
    with running(SHORT) as short:
        world = approved(short)
        first = world.handoff("a")
        answers = []
        thread = threading.Thread(target=lambda: answers.append(short.executor.post("/v1/handoffs", {"waitSeconds": 30})))
        thread.start()
        thread.join()
        answers[0].must(200)
        short.secrets.append(answers[0]["runToken"])
        equal((answers[0]["run"]["attempt"], run_of(short, first)["outcome"]), (2, "expired"))


@scene
def a_grant_that_ends_during_a_lease_is_for_the_next_claim_to_miss(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    world.grant("a", expiresAt=time.strftime("%Y-%m-%dT%H:%M:%S.999Z", time.gmtime(time.time() + 1)))
    world.approve()
    run = world.handoff("a")
    grants = "/v1/grants?package=" + world.pid("a")
    daemon.wait_until(lambda: daemon.admin.get(grants)["items"][0].get("expired"), "the end of the grant")
    beat(daemon, run).must(200)
    equal(world.outcome(run, "released")["package"]["hold"]["arm"], "expired")


# ---- the end


@scene
def an_outcome_is_said_once_and_may_be_repeated(daemon):
    for outcome in ("succeeded", "failed", "released"):
        world = approved(daemon)
        run = world.handoff("a")
        first = world.outcome(run, outcome, summary="so it went")
        equal(world.outcome(run, outcome, summary="another word"), first)
        other = "failed" if outcome != "failed" else "succeeded"
        equal(world.outcome(run, other, status=409)["code"], "outcome_conflict")
        equal(is_problem(beat(daemon, run), 409, "run_ended")["outcome"], outcome)
        daemon.restart()
        equal(world.outcome(run, outcome), first)


@scene
def a_package_given_back_has_lost_no_attempt_but_its_grant(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    world.grant("a")
    world.approve()
    answer = world.outcome(world.handoff("a"), "released")
    equal((answer["package"]["attempts"], answer["package"]["status"], answer["package"]["hold"]["arm"]), (0, "blocked", "used_up"))


@scene
def a_claim_whose_answer_was_lost_is_found(daemon):
    world = approved(daemon, free("a"), free("b"))
    mine = daemon.client("lost-runner", "executor")
    run = world.handoff("a", client=mine)
    world.handoff("b")
    found = mine.get("/v1/runs?claimedBy=me&live=true").must(200)["items"]
    equal([item["id"] for item in found], [run["run"]["id"]])
    check("runToken" not in found[0] and run["runToken"] not in str(found), "the token is shown")
    mine.post("/v1/runs/%s/outcome" % found[0]["id"], {"outcome": "released"}).must(200)
    equal(mine.get("/v1/runs?claimedBy=me&live=true").must(200)["items"], [])


@scene
def a_claim_and_an_end_at_once_give_one_run(daemon):
    world = approved(daemon)
    package = world.pid("a")
    clients = [daemon.client("runner-%d" % number, "executor") for number in range(4)]
    answers = []
    threads = [threading.Thread(target=lambda client=client: answers.append(client.post("/v1/packages/%s/handoff" % package, {})))
               for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    claimed = [answer for answer in answers if answer.status == 200]
    equal(len(claimed), 1, "claims")
    daemon.secrets.append(claimed[0]["runToken"])
    for answer in answers:
        check(answer.status == 200 or answer.code == "package_status", repr(answer))


if __name__ == "__main__":
    run_scenes()
