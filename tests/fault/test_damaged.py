#!/usr/bin/env python3
"""One project's damaged row against everybody else: what time does is written for the others, it is told, and nobody's write waits for it. Speaks TAP."""
import contextlib
import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "http"))
from daemon import check, equal, free, reads, rfc3339, running  # noqa: E402
from tap import run, test  # noqa: E402

SOON_S = 1.5


def damage(daemon, package_id):
    """What a broken disk, or a hand in the file, leaves of a package's document. While the daemon is away: it knows none by heart then."""
    equal(daemon.stop(), 0)
    db = sqlite3.connect(os.path.join(daemon.state, "admitd.db"))
    changed = db.execute("UPDATE documents SET bytes = 'damaged' WHERE digest = (SELECT document_digest FROM packages WHERE id = ?)",
                         (package_id,)).rowcount
    db.commit()
    db.close()
    equal(changed, 1, "documents damaged")
    daemon.start()


def make_damaged(daemon, seconds=SOON_S):
    """A project in which an end comes soon, and a package that can't be read any more by then."""
    world = daemon.world()
    world.submit(reads("a"))
    package_id = world.pid("a")
    world.grant("a", expiresAt=rfc3339(seconds))
    damage(daemon, package_id)
    return world


def upkeep(daemon, name="due"):
    found = daemon.operator.get("/v1/health").must(200)["upkeep"]
    return next(item for item in found if item["name"] == name)


def wait_for_the_end(daemon, name="due"):
    def failing():
        found = upkeep(daemon, name)
        return found if found["failing"] else None
    return daemon.wait_until(failing, "upkeep %s that fails" % name)


def metric(daemon, line):
    return line in daemon.auditor.get("/metrics").must(200).raw.decode().splitlines()


# ---- writes of others

@test
def an_end_that_cannot_be_written_holds_up_no_write_of_another_project(_):
    with running() as daemon:
        other = daemon.world()
        other.submit(reads("r"), free("f"))
        other.grant("r", expiresAt=rfc3339(SOON_S + 0.5))
        broken = make_damaged(daemon)
        wait_for_the_end(daemon)
        daemon.wait_until(lambda: (other.package("r")["hold"] or {}).get("arm") == "expired", "the end of another project's grant")
        other.grant("r")
        other.approve()
        other.outcome(other.handoff("f"))
        equal(other.package("f")["status"], "completed")
        equal(daemon.world().submit(reads("x"))["status"], "proposed")
        daemon.approver.post("/v1/projects/%s/grants" % broken.id, {
            "decision": "approved", "capabilities": ["filesystem.project.list"], "expectedRevision": "1", "rootRevision": "1"}).must(500, "internal")


@test
def the_next_of_all_tasks_passes_a_damaged_project_over(_):
    with running() as daemon:
        broken = make_damaged(daemon)
        other = daemon.world()
        other.submit(free("f"))
        other.approve()
        wait_for_the_end(daemon)
        answer = daemon.executor.post("/v1/handoffs", {"worker": "w"}).must(200)
        daemon.secrets.append(answer["runToken"])
        equal(answer["run"]["project"] if "project" in answer["run"] else other.id, other.id)
        equal(other.package("f")["status"], "running")
        check(broken.id != other.id, "two projects")


@test
def a_start_after_the_end_waits_for_no_damaged_project(_):
    with running() as daemon:
        make_damaged(daemon)
        wait_for_the_end(daemon)
        daemon.restart()
        equal(wait_for_the_end(daemon)["name"], "due")
        daemon.world().submit(reads("x"))


@test
def a_run_that_cannot_be_ended_holds_up_no_other_end(_):
    with running("[runs]\nlease_seconds = 1\n") as daemon:
        broken, other = daemon.world(), daemon.world()
        for world, label in ((broken, "b"), (other, "o")):
            world.submit(free(label))
            world.approve()
        first = broken.handoff("b")["run"]["id"]
        second = other.handoff("o")["run"]["id"]
        damage(daemon, broken.pid("b"))
        ended = daemon.wait_until(lambda: daemon.operator.get("/v1/runs/" + second).must(200)["outcome"], "the end of the other run")
        equal(ended, "expired")
        equal(wait_for_the_end(daemon, "leases")["project"], broken.id)
        equal(daemon.operator.get("/v1/runs/" + first).must(200)["outcome"], None)


@test
def a_project_that_cannot_be_asked_about_keeps_no_server_of_others_from_being_asked(_):
    with running("[health]\nmax_age_seconds = 1\n") as daemon:
        broken, other = daemon.world(), daemon.world()
        for world, label in ((broken, "b"), (other, "o")):
            world.submit(reads(label))
            world.grant(label)
            os.rename(world.root, world.root + ".away")
            daemon.wait_until(lambda w=world: w.preview()["status"] == "blocked", "a folder that is missed")
            daemon.wait_until(lambda w=world, of=label: (w.package(of)["hold"] or {}).get("kind") == "needs_setup", "the hold")
        damage(daemon, broken.pid("b"))
        for world in (broken, other):
            os.rename(world.root + ".away", world.root)
        daemon.wait_until(lambda: other.package("o")["hold"] is None, "the hold's end")
        equal(wait_for_the_end(daemon, "recheck")["project"], broken.id)


# ---- told

@test
def the_fault_is_told_where_an_operator_looks(_):
    with running() as daemon:
        equal([item["failing"] for item in daemon.operator.get("/v1/health").must(200)["upkeep"]], [False] * 4)
        equal(daemon.operator.get("/v1/health")["status"], "ok")
        check(metric(daemon, 'admitd_upkeep_failing{what="due"} 0'), "the metric before")
        broken = make_damaged(daemon)
        found = wait_for_the_end(daemon)
        equal((found["code"], found["project"], found["projects"]), ("internal", broken.id, 1))
        check(broken.id in found["detail"] and "other projects" in found["detail"], found["detail"])
        check(found["since"] is not None, found)
        equal(daemon.operator.get("/v1/health")["status"], "failing")
        check(metric(daemon, 'admitd_upkeep_failing{what="due"} 1'), "the metric")
        check(metric(daemon, 'admitd_upkeep_failing_projects{what="due"} 1'), "the metric of projects")
        check(b"writing down what time did failed in project " + broken.id.encode() in daemon.log(), "the log")
        stranger = daemon.client("stranger", "operator", projects=["elsewhere"])
        hidden = next(item for item in stranger.get("/v1/health").must(200)["upkeep"] if item["name"] == "due")
        equal((hidden["failing"], hidden["project"]), (True, None))
        check(broken.id not in hidden["detail"], hidden["detail"])


if __name__ == "__main__":
    run(contextlib.nullcontext)
