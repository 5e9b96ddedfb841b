#!/usr/bin/env python3
"""No room for the store: every write is refused and has not happened, reads go on, and with room again the same requests do what they
say (chapters 3.2 and 4.4). The limit of a file's size stands for a full disk: it needs no file system of its own. Speaks TAP."""
import json
import os
import resource
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "http"))
from daemon import READ, check, equal, free, is_problem, reads, rfc3339, run_scenes, scene  # noqa: E402

PAGE = 4096
STEPS = 200  # of a page more room each; far more than a write takes


def largest(daemon):
    return max(os.path.getsize(os.path.join(daemon.state, name)) for name in os.listdir(daemon.state))


class Full:
    """While it lasts, no file of the daemon's grows beyond the largest now, or some bytes more."""

    def __init__(self, daemon, more=0):
        self.pid = daemon.process.pid
        self.limits = resource.prlimit(self.pid, resource.RLIMIT_FSIZE)
        self.size = largest(daemon) + more

    def __enter__(self):
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (self.size, self.limits[1]))

    def __exit__(self, *_):
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, self.limits)


def verdict_is_whole(daemon):
    verdict = json.loads(daemon.auditor.get("/v1/audit/verify").must(200).raw.splitlines()[-1])["result"]
    equal(verdict["faults"], [])


def deeds(world):
    """One of each kind of write, as a call that asks, and what the answer's status is when it is done."""
    daemon, project = world.daemon, "/v1/projects/" + world.id
    always = {"decision": "approved", "capabilities": [READ], "rootRevision": world.project()["rootRevision"]}
    healthy = {"mcpId": "github", "installState": "installed", "status": "healthy", "enabled": True, "error": None, "checkedAt": rfc3339()}
    run = world.handoff("a")
    world.submit(free("a"), reads("b"), name="u")
    task, held = "/v1/tasks/" + world.task_id("u"), world.pid("b", "u")
    return (
        (lambda: daemon.approver.post("/v1/packages/%s/grants" % held, {"decision": "denied", "expectedRevision": "0"}), 201),
        (lambda: daemon.approver.post(project + "/grants", dict(always, expectedRevision=world.project()["decisionRevision"])), 201),
        (lambda: daemon.executor.post("/v1/runs/%s/outcome" % run["run"]["id"], {"outcome": "succeeded"}), 200),
        (lambda: daemon.executor.post("/v1/packages/%s/handoff" % world.pid("b")), 200),
        (lambda: daemon.planner.put("/v1/tasks/" + world.task_id("v"), world.plan(free("a"))), 201),
        (lambda: daemon.approver.post(task + "/approval", {"planRevision": "1"}), 200),
        (lambda: daemon.operator.post(task + "/cancellation", {"planRevision": "1"}), 200),
        (lambda: daemon.operator.put("/v1/projects/%s-more" % world.id, {"name": "More"}), 201),
        (lambda: daemon.operator.put(project + "/health/github", healthy), 200),
    )


@scene
def without_room_nothing_is_stored_and_with_room_again_the_same_request_is_done(daemon):
    world = daemon.world()
    world.submit(free("a"), free("b"))
    equal(world.approve()["status"], "approved")
    for ask, status in deeds(world):
        before = world.see()
        with Full(daemon):
            for _ in range(3):
                answer = ask()
                is_problem(answer, 503, "not_stored")
                check("retry-after" in answer.headers, answer.headers)
            daemon.auditor.get("/v1/recovery").must(200)
        equal(world.see(), before)
        ask().must(status)
    verdict_is_whole(daemon)


@scene
def wherever_the_room_ends_a_write_is_whole_or_not_there(daemon):
    world = daemon.world()
    refused = stored = 0
    for step in range(STEPS):
        plan = world.plan(*[free("p%d" % number) for number in range(20)])
        name = world.task_id("w%d" % step)
        with Full(daemon, step * PAGE):
            answer = daemon.planner.put("/v1/tasks/" + name, plan)
        if answer.status == 201:
            stored += 1
            equal(len(daemon.planner.get("/v1/tasks/" + name).must(200)["packages"]), 20)
        else:
            refused += 1
            is_problem(answer, 503, "not_stored")
            daemon.planner.get("/v1/tasks/" + name).must(404)
        if stored == 3:
            break
    check(refused > 3 and stored == 3, "%d refused, %d stored" % (refused, stored))
    daemon.kill9()
    daemon.start()
    equal(len(daemon.planner.get("/v1/tasks?limit=500&project=" + world.id).must(200)["items"]), stored)
    verdict_is_whole(daemon)


if __name__ == "__main__":
    run_scenes()
