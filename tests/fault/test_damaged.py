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


# ---- the queue, and the way out

def queued(daemon):
    return daemon.operator.get("/v1/recovery?limit=200").must(200)["items"]


def item_of(items, kind, task):
    return next(item for item in items if (item["kind"], item.get("task")) == (kind, task))


def held_and_damaged(daemon):
    """Two packages wait in one project, and one of them can't be read any more."""
    world = daemon.world()
    world.submit(reads("a"), reads("b"))
    damage(daemon, world.pid("a"))
    return world


@test
def the_queue_shows_what_cannot_be_read_as_that_and_the_rest_as_ever(_):
    with running() as daemon:
        other = daemon.world()
        other.submit(reads("o"))
        other.preview()
        world = held_and_damaged(daemon)
        items = queued(daemon)
        plan = item_of(items, "plan_waits_for_approval", world.task_id())
        equal((plan["title"], plan["words"]["headline"]), (item_of(items, "plan_waits_for_approval", other.task_id())["title"], "Can't be read"))
        check("damaged" in plan["reason"] and "operatorState" not in plan, plan)
        equal([action["id"] for action in plan["actions"]], ["cancel_task"])
        rest = item_of(items, "plan_waits_for_approval", other.task_id())
        equal([blocked["label"] for blocked in rest["blocked"]], ["o"])


@test
def what_cannot_be_read_is_cancelled_from_the_queue(_):
    with running() as daemon:
        world = held_and_damaged(daemon)
        action = item_of(queued(daemon), "plan_waits_for_approval", world.task_id())["actions"][0]
        daemon.operator.request(action["method"], action["href"], dict(action["body"], reason="its record is damaged")).must(200)
        equal([one for one in queued(daemon) if one.get("task") == world.task_id()], [])


@test
def a_held_package_beside_a_damaged_one_keeps_its_item_and_what_frees_it(_):
    with running() as daemon:
        world = daemon.world()
        world.submit(reads("a"), reads("b"), free("f"))
        for label in "ab":
            world.grant(label)
        world.approve()
        for label in "ab":
            world.grant(label, decision="revoked", reason="moved")
        damage(daemon, world.pid("a"))
        items = {item["packageId"]: item for item in queued(daemon) if item["kind"] == "package_held"}
        equal(set(items), {world.pid("a"), world.pid("b")})
        broken, whole = items[world.pid("a")], items[world.pid("b")]
        equal((broken["label"], broken["words"]["headline"]), ("a", "Can't be read"))
        equal([action["id"] for action in broken["actions"]], ["cancel_package"])
        equal((whole["arm"], whole["opens"]["once"]), ("taken_back", [world.pid("b")]))
        said = {one["label"]: one for one in daemon.operator.get("/v1/tasks/" + world.task_id()).must(200)["packages"]}
        check("damaged" in said["a"]["unreadable"] and said["a"]["operatorState"] is None, said["a"])
        equal([action["id"] for action in said["a"]["actions"]], ["request_changes", "cancel_package"])
        check("unreadable" not in said["b"] and said["b"]["operatorState"]["key"] == "needs_project_context", said["b"])
        equal(daemon.operator.get("/v1/packages/" + world.pid("a")).must(200)["unreadable"], said["a"]["unreadable"])
        daemon.operator.get("/v1/projects/" + world.id).must(200)
        daemon.operator.get("/v1/packages/" + world.pid("b")).must(200)
        action = broken["actions"][0]
        daemon.operator.request(action["method"], action["href"], dict(action["body"], reason="its record is damaged")).must(200)
        equal([item["packageId"] for item in queued(daemon) if item["kind"] == "package_held"], [world.pid("b")])


if __name__ == "__main__":
    run(contextlib.nullcontext)
