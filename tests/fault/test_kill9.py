#!/usr/bin/env python3
"""kill -9 at any moment: what was acknowledged is in the store after the restart, with its record, and nothing stands there by halves.
ADMITD_SLOW=1 plays more rounds. Speaks TAP."""
import http.client
import os
import random
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "http"))
from daemon import READ, Client, check, diagnostic, equal, free, is_problem, reads, run_scenes, scene  # noqa: E402

ROUNDS = 50 if os.environ.get("ADMITD_SLOW") == "1" else 6
CLIENTS = 4
TASKS = 6       # of each client and round
SEED = int(os.environ.get("ADMITD_SEED", "1"))


def kill_and_start(daemon):
    daemon.kill9()
    daemon.start()


def events(daemon, path):
    return daemon.auditor.get(path + "/timeline?limit=500").must(200)["items"]


def decision_is_whole(daemon, decision, project):
    found = daemon.auditor.get("/v1/decisions/" + decision).must(200).json
    equal(found.get("decisionId", found.get("id")), decision, "the decision of " + project)


# ---- one answer, then the end

@scene
def an_approval_survives_with_its_decisions_health_and_event(daemon):
    world = daemon.world()
    world.submit(reads("a"), free("b"))
    world.grant("a")
    answer = world.approve()
    kill_and_start(daemon)
    task = world.task()
    equal((task["status"], task["planRevision"]), ("approved", "1"))
    again = world.approve()
    equal(dict(again, alreadyApproved=False), answer, "the stored answer, with its health")
    for item in answer["packages"]:
        decision_is_whole(daemon, item["decisionId"], world.id)
        found = [event for event in events(daemon, "/v1/packages/" + item["packageId"])
                 if event.get("surface") == "approval" and event.get("decisionId") == item["decisionId"]]
        equal(len(found), 1, "approval events of " + item["label"])
    check([event for event in events(daemon, "/v1/tasks/" + task["id"]) if event["type"] == "task.status"], "no task.status event")


@scene
def C14_a_grant_survives_and_opens_what_it_opened(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    made = world.grant("a", reason="once")["grant"]
    kill_and_start(daemon)
    equal(daemon.approver.get("/v1/grants/" + made["id"]).must(200).json, dict(made, packageLabel="a"))
    equal(world.package("a")["hold"], None)
    check([event for event in events(daemon, "/v1/packages/" + world.pid("a")) if event["type"] == "grant.recorded"], "no event")


@scene
def a_handoff_survives_and_its_one_time_approval_stays_used(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    world.grant("a")
    world.approve()
    handed = world.handoff("a")
    kill_and_start(daemon)
    run = daemon.executor.get("/v1/runs/" + handed["run"]["id"]).must(200).json
    equal((run["status"], run["packageId"], run["grants"]), ("running", world.pid("a"), handed["run"]["grants"]))
    is_problem(daemon.executor.post("/v1/packages/%s/handoff" % world.pid("a"), {}), 409, "package_status")
    decision_is_whole(daemon, handed["decisionId"], world.id)
    own = Client(daemon, handed["runToken"])
    own.post("/v1/runs/%s/outcome" % handed["run"]["id"], {"outcome": "released"}).must(200)
    equal(world.package("a")["hold"]["arm"], "used_up")


@scene
def an_outcome_survives_and_is_answered_again(daemon):
    world = daemon.world()
    world.submit(free("a"), free("b", after=["a"]))
    world.approve()
    handed = world.handoff("a")
    answer = world.outcome(handed, summary="done")
    kill_and_start(daemon)
    equal(world.outcome(handed, summary="done"), answer)
    equal({item["label"]: item["status"] for item in world.task()["packages"]}, {"a": "completed", "b": "ready"})
    equal(world.outcome(handed, "failed", status=409)["code"], "outcome_conflict")


@scene
def a_remembered_answer_survives_with_its_key(daemon):
    world = daemon.world()
    world.submit(free("a"))
    world.approve()
    path, key = "/v1/packages/%s/handoff" % world.pid("a"), {"Idempotency-Key": "k-1"}
    first = daemon.executor.post(path, {"worker": "w"}, key).must(200)
    daemon.secrets.append(first["runToken"])
    kill_and_start(daemon)
    equal(daemon.executor.post(path, {"worker": "w"}, key).must(200).json, first.json)


@scene
def a_preview_survives_its_second(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    decision = world.preview()["packages"][0]["decisionId"]
    daemon.wait_until(lambda: daemon.auditor.get("/v1/decisions/" + decision).status == 200, "the record of a preview")
    kill_and_start(daemon)
    decision_is_whole(daemon, decision, world.id)


# ---- rounds under load

class Load(threading.Thread):
    """One client's work: plans, grants, approvals, claims and outcomes, until the daemon is gone. Keeps what was acknowledged."""

    def __init__(self, world, number, round_number):
        super().__init__()
        self.world = world
        self.number = number
        self.round_number = round_number
        self.acknowledged = []
        self.begun = threading.Event()
        self.fault = None

    def run(self):
        try:
            for number in range(TASKS):
                self.go("%s-r%dc%dn%d" % (self.world.id, self.round_number, self.number, number))
        except (OSError, http.client.HTTPException):
            pass
        except Exception as fault:  # shown by the test
            self.fault = fault
        finally:
            self.begun.set()

    def keep(self, kind, answer, *status):
        answer.must(*status)
        self.acknowledged.append((kind, answer.json))
        self.begun.set()
        return answer

    def go(self, task):
        daemon = self.world.daemon
        plan = self.world.plan(reads("a"), free("b", after=["a"]))
        made = self.keep("plan", daemon.planner.put("/v1/tasks/" + task, plan), 201)
        package = made["packages"][0]["id"]
        self.keep("grant", daemon.approver.post("/v1/packages/%s/grants" % package, {
            "decision": "approved", "expectedRevision": "0", "rootRevision": "1"}), 201)
        self.keep("approval", daemon.approver.post("/v1/tasks/%s/approval" % task, {"planRevision": "1"}), 200)
        for _ in range(2):
            handed = self.keep("handoff", daemon.executor.post("/v1/tasks/%s/handoff" % task, {}), 200)
            daemon.secrets.append(handed["runToken"])
            self.keep("outcome", daemon.executor.post("/v1/runs/%s/outcome" % handed["run"]["id"], {"outcome": "succeeded"}), 200)


class Store:
    """What is read of a project after the restart, by id."""

    def __init__(self, world):
        self.world = world
        self.tasks = self.all("tasks")
        self.grants = self.all("grants")
        self.runs = {run: world.daemon.admin.get("/v1/runs/" + run).must(200).json for run in self.all("runs")}
        self.packages = {}
        for task in self.tasks:
            for package in world.daemon.admin.get("/v1/tasks/" + task).must(200)["packages"]:
                self.packages[package["id"]] = package

    def all(self, name):
        found, path = {}, "/v1/%s?project=%s&limit=500" % (name, self.world.id)
        while path:
            answer = self.world.daemon.admin.get(path).must(200)
            found.update((item["id"], item) for item in answer["items"])
            path = answer["next"]
            if path and not path.startswith("/"):
                path = "/v1/%s?project=%s&limit=500&cursor=%s" % (name, self.world.id, path)
        return found

    def has(self, kind, answer):
        """Checks that an acknowledged answer is there."""
        if kind == "plan":
            equal(self.tasks[answer["id"]]["planRevision"], answer["planRevision"])
            check(all(package["id"] in self.packages for package in answer["packages"]), "a package is gone")
        elif kind == "grant":
            equal(self.grants[answer["grant"]["id"]]["revision"], answer["grant"]["revision"])
        elif kind == "approval":
            check(self.tasks[answer["task"]]["status"] in ("approved", "completed"), "an approval is gone: %r" % self.tasks[answer["task"]])
            for package in answer["packages"]:
                decision_is_whole(self.world.daemon, package["decisionId"], self.world.id)
        elif kind == "handoff":
            equal(self.runs[answer["run"]["id"]]["packageId"], answer["package"]["id"])
            decision_is_whole(self.world.daemon, answer["decisionId"], self.world.id)
        else:
            equal(self.runs[answer["run"]["id"]]["outcome"], answer["run"]["outcome"])
            equal(self.packages[answer["package"]["id"]]["status"], "completed")

    def is_coherent(self):
        """What must hold whatever was acknowledged (6.2)."""
        revisions = sorted(int(grant["revision"]) for grant in self.grants.values())
        equal(revisions, list(range(1, len(revisions) + 1)), "decision revisions")
        equal(self.world.project()["decisionRevision"], str(len(revisions)))
        claimed, used = {}, {}
        for run in self.runs.values():
            check(claimed.setdefault(run["packageId"], run["id"]) == run["id"], "two runs of " + run["packageId"])
            for grant in run["grants"]:
                check(used.setdefault(grant["id"], run["id"]) == run["id"], "a one-time approval served two runs")
        for package in self.packages.values():
            running = [run for run in self.runs.values() if run["packageId"] == package["id"] and run["status"] == "running"]
            equal(package["status"] == "running", bool(running), "a running package without its run: %r" % package)
            if package["hold"]:
                check(package["status"] in ("blocked", "draft"), "held and %s" % package["status"])


def play_round(daemon, chance, number):
    world = daemon.world()
    loads = [Load(world, client, number) for client in range(CLIENTS)]
    for load in loads:
        load.start()
    for load in loads:
        load.begun.wait()
    # The moment is chance; it is counted in answers, of which each is a commit.
    wanted = chance.randrange(CLIENTS, CLIENTS * TASKS * 6)
    while sum(len(load.acknowledged) for load in loads) < wanted and any(load.is_alive() for load in loads):
        daemon.nobody.get("/healthz")
    daemon.kill9()
    for load in loads:
        load.join()
    daemon.start()
    for load in loads:
        if load.fault:
            raise load.fault
    store = Store(world)
    kept = [pair for load in loads for pair in load.acknowledged]
    for kind, answer in kept:
        store.has(kind, answer)
    store.is_coherent()
    return len(kept)


@scene
def nothing_acknowledged_is_lost_under_load(daemon):
    chance = random.Random(SEED)
    kept = [play_round(daemon, chance, number) for number in range(ROUNDS)]
    diagnostic("%d rounds, answers acknowledged before each kill: %s" % (ROUNDS, kept))
    check(sum(kept) > ROUNDS * CLIENTS, "hardly anything was acknowledged: %r" % kept)


@scene
def the_work_goes_on_where_it_was_cut(daemon):
    world = daemon.world()
    world.submit(reads("a"), free("b", after=["a"]))
    world.project_grant(READ)
    for step in (world.approve, lambda: world.outcome(world.handoff("a")), lambda: world.outcome(world.handoff("b"))):
        step()
        kill_and_start(daemon)
    equal(world.task()["status"], "completed")


if __name__ == "__main__":
    run_scenes()
