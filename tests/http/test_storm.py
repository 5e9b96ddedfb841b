#!/usr/bin/env python3
"""16 clients at once on the same few projects, tasks and packages, doing what comes to mind; afterwards every invariant of chapter 6.2 is
looked at, over HTTP and in a copy of the SQLite file. 2000 operations; 10 000 with ADMITD_SLOW=1. ADMITD_SEED walks other ways. Speaks TAP."""
import contextlib
import os
import random
import sqlite3
import sys
import threading
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "model"))
import invariants  # noqa: E402
from daemon import LIST, READ, Failed, check, diagnostic, equal, reads, rfc3339, run_scenes, scene  # noqa: E402
from plans import SEARCH, changed_plan, random_plan  # noqa: E402

CLIENTS = 16
OPERATIONS = 10000 if os.environ.get("ADMITD_SLOW") == "1" else 2000
SEED = int(os.environ.get("ADMITD_SEED", "1"))
PROJECTS, TASKS = 2, 5
READS_MEANWHILE = 1100      # more than operations may wait
READS_AFTER = 100           # time for a write to come in
MAY_REFUSE = (403, 404, 409, 412, 422)      # what a client may be told that did not look first
WEIGHTS = {"plan": 6, "approve": 10, "grant": 14, "grant_project": 6, "hand_off": 8, "hand_off_next": 8, "hand_off_any": 6, "outcome": 22,
           "health": 3, "root": 2, "preview": 3, "heartbeat": 3, "changes": 1.5, "reject": 0.5, "cancel": 0.5, "cancel_package": 2, "retry": 5,
           "rework": 4}


class Storm:
    """What all clients share, and what each was told."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.worlds = [daemon.world() for _ in range(PROJECTS)]
        self.lock = threading.Lock()
        self.left = OPERATIONS
        self.names = 0
        self.open = []               # ids of tasks that are worked on
        self.runs = {}               # id -> package, of all that were handed
        self.grants, self.approvals, self.outcomes = {}, [], {}
        self.counts, self.faults = {}, []

    def take(self):
        with self.lock:
            self.left -= 1
            return self.left >= 0

    def task(self, draws):
        """(id, project's world, whether it is new)"""
        with self.lock:
            if len(self.open) < TASKS:
                self.names += 1
                self.open.append("s-%d" % self.names)
                return self.open[-1], self.worlds[self.names % PROJECTS], True
            name = draws.choice(self.open)
            return name, self.worlds[int(name[2:]) % PROJECTS], False

    def finished(self, task):
        with self.lock:
            if task in self.open:
                self.open.remove(task)


class Worker(threading.Thread):
    def __init__(self, storm, number):
        super().__init__()
        self.storm = storm
        self.daemon = storm.daemon
        self.draws = random.Random("%d/%d" % (SEED, number))
        self.name = "worker-%d" % number
        self.outcomes = ("succeeded",) * 6 + ("failed",) * (2 + number % 8) + ("released",)

    def run(self):
        weights = [WEIGHTS[name] for name in WEIGHTS]
        while self.storm.take() and not self.storm.faults:
            name = self.draws.choices(list(WEIGHTS), weights)[0]
            try:
                answer = getattr(self, name)()
                if answer is not None:
                    self.look(name, answer)
            except Exception as fault:  # shown by the test
                self.storm.faults.append("%s: %s: %s" % (name, type(fault).__name__, fault))

    def look(self, name, answer):
        """Only what chapter 4.4 allows."""
        kind = "done" if answer.status < 300 else answer.code
        with self.storm.lock:
            self.storm.counts.setdefault(name, {}).setdefault(kind, 0)
            self.storm.counts[name][kind] += 1
        if answer.status == 503:
            check("retry-after" in answer.headers, "503 without Retry-After: %r" % answer)
        else:
            check(answer.status < 300 or answer.status in MAY_REFUSE, repr(answer))

    # ---- what is there now; it may be gone before it is used

    def see(self):
        """A task as it is shown, made first if there are too few, or None."""
        name, world, is_new = self.storm.task(self.draws)
        if is_new:
            self.look("plan", self.daemon.planner.put("/v1/tasks/" + name, world.plan(*random_plan(self.draws))))
        answer = self.daemon.planner.get("/v1/tasks/" + name)
        if answer.status == 404:
            return None
        answer.must(200)
        if answer["status"] in ("completed", "cancelled", "rejected") or (answer["status"] == "failed" and self.draws.random() < 0.1):
            self.storm.finished(name)
        return answer.json

    def world_of(self, task):
        return next(world for world in self.storm.worlds if world.id == task["project"])

    def see_package(self, *statuses):
        """A package, mostly one with such a status, or None."""
        task = self.see()
        if task is None or not task["packages"]:
            return None
        wanted = [item for item in task["packages"] if item["status"] in statuses]
        return self.draws.choice(wanted or task["packages"])

    # ---- operations

    def plan(self):
        task = self.see()
        if task is None or task["status"] not in ("proposed", "changes_requested") and self.draws.random() < 0.7:
            return None
        plan = random_plan(self.draws)
        if self.draws.random() < 0.5:
            plan = changed_plan(self.draws, plan)
        headers = {"If-Match": '"%s"' % task["planRevision"]} if self.draws.random() < 0.3 else None
        return self.daemon.planner.put("/v1/tasks/" + task["id"], self.world_of(task).plan(*plan), headers)

    def approve(self):
        task = self.see()
        if task is None:
            return None
        answer = self.daemon.approver.post("/v1/tasks/%s/approval" % task["id"], {"planRevision": task["planRevision"]})
        if answer.status == 200:
            self.storm.approvals.append(answer.json)
        return answer

    def of_plan(self, route, client):
        task = self.see()
        return task and client.post("/v1/tasks/%s/%s" % (task["id"], route), {"planRevision": task["planRevision"]})

    def changes(self):
        return self.of_plan("changes", self.daemon.operator)

    def reject(self):
        return self.of_plan("rejection", self.daemon.approver)

    def cancel(self):
        return self.of_plan("cancellation", self.daemon.operator)

    def keep_grant(self, answer):
        if answer.status == 201:
            self.storm.grants[answer["grant"]["id"]] = answer["grant"]
        return answer

    def approval_of(self, project, body):
        body["rootRevision"] = self.daemon.operator.get("/v1/projects/" + project).must(200)["rootRevision"]
        end = self.draws.choice((None, None, None, 0.2, 3600))
        return body if end is None else dict(body, expiresAt=rfc3339(end))

    def grant(self):
        package = self.see_package("blocked", "draft")
        if package is None:
            return None
        found = self.daemon.approver.get("/v1/grants?package=%s&limit=1" % package["id"]).must(200)["items"]
        body = {"decision": self.draws.choice(("approved",) * 5 + ("denied", "revoked")), "expectedRevision": found[0]["revision"] if found else "0"}
        if body["decision"] == "approved":
            project = self.daemon.approver.get("/v1/packages/" + package["id"]).must(200)["project"]
            body = self.approval_of(project, body)
        return self.keep_grant(self.daemon.approver.post("/v1/packages/%s/grants" % package["id"], body))

    def grant_project(self):
        world = self.draws.choice(self.storm.worlds)
        decision = self.draws.choice(("approved", "approved", "revoked"))
        body = {"decision": decision, "expectedRevision": world.project_revision(decision)}
        if decision == "approved":
            body = self.approval_of(world.id, dict(body, capabilities=self.draws.sample((READ, LIST, SEARCH), self.draws.randrange(1, 4)),
                                                   replace=self.draws.random() < 0.4))
        return self.keep_grant(self.daemon.approver.post("/v1/projects/%s/grants" % world.id, body))

    def claim(self, path, body=None):
        answer = self.daemon.executor.post(path, body or {})
        if answer.status == 200:
            with self.storm.lock:
                self.daemon.secrets.append(answer["runToken"])
                self.storm.runs[answer["run"]["id"]] = answer.json
        return answer

    def hand_off(self):
        package = self.see_package("ready")
        return package and self.claim("/v1/packages/%s/handoff" % package["id"])

    def hand_off_next(self):
        task = self.see()
        return task and self.claim("/v1/tasks/%s/handoff" % task["id"])

    def hand_off_any(self):
        return self.claim("/v1/handoffs", self.draws.choice(({}, {"agent": "docs"}, {"project": self.storm.worlds[0].id})))

    def some_run(self):
        with self.storm.lock:
            live = [name for name in self.storm.runs if name not in self.storm.outcomes]
            if not live or self.draws.random() < 0.05:
                live = list(self.storm.runs) if self.draws.random() < 0.3 else []
            return self.draws.choice(live) if live else None

    def outcome(self):
        run, word = self.some_run(), self.draws.choice(self.outcomes)
        if run is None:
            return None
        answer = self.daemon.executor.post("/v1/runs/%s/outcome" % run, {"outcome": word})
        with self.storm.lock:
            if answer.status == 200:
                check(self.storm.outcomes.setdefault(run, word) == word, "two outcomes of %s were taken" % run)
            elif answer.code == "run_ended":
                self.storm.outcomes.setdefault(run, answer["outcome"])
        return answer

    def heartbeat(self):
        run = self.some_run()
        return run and self.daemon.executor.post("/v1/runs/%s/heartbeat" % run, {})

    def cancel_package(self):
        package = self.see_package("blocked", "pending")
        return package and self.daemon.operator.post("/v1/packages/%s/cancellation" % package["id"],
                                                     {"cascade": self.draws.random() < 0.5})

    def retry(self):
        package = self.see_package("failed")
        if package is None or package["status"] != "failed" and self.draws.random() < 0.9:
            return None
        return self.daemon.operator.post("/v1/packages/%s/retry" % package["id"], {})

    def rework(self):
        package = self.see_package("completed")
        return package and self.daemon.operator.post("/v1/packages/%s/rework" % package["id"], {"cascade": self.draws.random() < 0.5})

    def health(self):
        world = self.draws.choice(self.storm.worlds)
        body = {"mcpId": "github", "installState": "installed", "status": self.draws.choice(("healthy", "healthy", "healthy", "auth_required")),
                "enabled": True, "error": None, "checkedAt": rfc3339()}
        return self.daemon.operator.put("/v1/projects/%s/health/github" % world.id, body)

    def root(self):
        world = self.draws.choice(self.storm.worlds)
        other = os.path.join(self.daemon.folder, "roots", world.id + "-other")
        os.makedirs(other, exist_ok=True)
        return self.daemon.operator.put("/v1/projects/" + world.id, {"name": "Project", "root": self.draws.choice((world.root, other))})

    def preview(self):
        task = self.see()
        return task and self.daemon.planner.post("/v1/tasks/%s/preview" % task["id"])


# ---- afterwards

def answers_are_visible(daemon, storm):
    """Each 2xx is there: grants and runs as they were told, approvals with their decisions, outcomes."""
    shown = {}
    for world in storm.worlds:
        for path in ("/v1/grants?project=", "/v1/runs?project="):
            url = path + world.id + "&limit=500"
            while url:
                page = daemon.admin.get(url).must(200).json
                shown.update({item["id"]: item for item in page["items"]})
                url = page["next"]
    for name, grant in storm.grants.items():
        check(name in shown, "grant %s is gone" % name)
        equal({member: shown[name].get(member) for member in grant if member != "expired"}, grant, "grant " + name)
    for name, claimed in storm.runs.items():
        check(name in shown, "run %s is gone" % name)
        equal((shown[name]["packageId"], shown[name]["decisionId"], shown[name]["attempt"]),
              (claimed["package"]["id"], claimed["decisionId"], claimed["run"]["attempt"]), "run " + name)
    for name, word in storm.outcomes.items():
        equal(shown[name]["outcome"], word, "outcome of " + name)
    extra = {name for name in shown if name not in storm.grants and name not in storm.runs}
    equal(extra, set(), "grants and runs that nobody was told of")


def approvals_have_their_records(store, storm):
    found = {(row["package_id"], row["decision_id"]) for row in invariants.rows(
        store, "SELECT package_id, decision_id FROM events WHERE surface = 'approval'")}
    for answer in storm.approvals:
        for item in answer["packages"]:
            check((item["packageId"], item["decisionId"]) in found, "the approval of %s has no record" % answer["task"])


def report(storm, took):
    diagnostic("%d operations by %d clients in %.1f s, seed %d: %d runs, %d grants, %d approvals, %d tasks" % (
        OPERATIONS, CLIENTS, took, SEED, len(storm.runs), len(storm.grants), len(storm.approvals), storm.names))
    for name, kinds in sorted(storm.counts.items()):
        diagnostic("  %-15s %s" % (name, " ".join("%s %d" % pair for pair in sorted(kinds.items(), key=str))))


@scene
def a_store_that_was_tampered_with_is_found_out(daemon):
    """The invariants can fail: each of these changes in a copy is found by the one that it breaks."""
    world = daemon.world()
    world.submit(reads("a"), reads("b"))
    for label in ("a", "b"):
        world.grant(label)
    world.approve()
    world.outcome(world.handoff("a"))
    world.grant("b", decision="revoked")
    equal(daemon.stop(), 0)
    for change, found_by in (
            ("UPDATE packages SET hold_json = NULL, hold_since = NULL WHERE hold_json IS NOT NULL", "every hold is what the world gives"),
            ("UPDATE packages SET hold_json = replace(hold_json, 'taken_back', 'expired') WHERE task_id = '%s'" % world.task_id(), "every hold is what the world gives"),
            ("UPDATE tasks SET status = 'completed'", "the status events tell the status"),
            ("UPDATE projects SET decision_revision = 9", "revisions are contiguous"),
            ("INSERT INTO dependencies SELECT a.id, b.id FROM packages a, packages b WHERE a.label = 'a' AND b.label = 'b'",
             "dependencies were met"),
            ("UPDATE runs SET outcome = 'failed' WHERE outcome = 'succeeded'", "no package runs twice"),
            ("DROP TRIGGER events_keep; UPDATE events SET at = at + 1 WHERE sequence = 9", "the event chain is whole"),
            ("DROP TRIGGER run_grants_stay; DELETE FROM run_grants", "used grants are those that runs name"),
            ("DROP TRIGGER decisions_keep; UPDATE decisions SET result_json = result_json || ' '", "every decision is named by its inputs")):
        with invariants.store_copy(daemon.state) as store:
            invariants.check_all(store)
            store.executescript(change)
            try:
                invariants.check_all(store)
            except Failed as fault:
                check(str(fault).startswith(found_by), "%s was found by %s" % (change, fault))
            else:
                raise Failed("nobody found: " + change)
    daemon.start()


@scene
def reads_leave_room_for_writes_while_the_disk_stands_still(daemon):
    """A token's use is noted after its answers, and its notes wait like every write: there must not be one for each read."""
    world = daemon.world()
    reader = daemon.client("reader", "planner")
    with contextlib.closing(sqlite3.connect(os.path.join(daemon.state, "admitd.db"), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for _ in range(READS_MEANWHILE):
            reader.get("/v1/session").must(200)
        answers = []
        writer = threading.Thread(target=lambda: answers.append(daemon.operator.put("/v1/projects/" + world.id, {"name": "Later"})))
        writer.start()
        for _ in range(READS_AFTER):
            reader.get("/v1/session").must(200)
        equal(answers, [], "answers while nothing can be written")
        other.execute("ROLLBACK")
        writer.join()
    answers[0].must(200)
    daemon.wait_until(lambda: used(daemon, reader), "the note of its use")


def used(daemon, client):
    return next(item for item in daemon.admin.get("/v1/tokens?limit=500").must(200)["items"] if item["id"] == client.id)["lastUsedAt"]


@scene
def after_a_storm_every_invariant_holds(daemon):
    storm, started = Storm(daemon), time.monotonic()
    workers = [Worker(storm, number) for number in range(CLIENTS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    report(storm, time.monotonic() - started)
    if storm.faults:
        raise Failed("; ".join(storm.faults[:3]))
    answers_are_visible(daemon, storm)
    equal(daemon.stop(), 0, "its exit status")
    with invariants.store_copy(daemon.state) as store:
        invariants.check_all(store)
        approvals_have_their_records(store, storm)
        free, held = invariants.every_hold_is_what_the_world_gives(store)
        diagnostic("%d packages free, %d held at the end" % (free, held))
    daemon.start()
    answers_are_visible(daemon, storm)


if __name__ == "__main__":
    run_scenes("[runs]\nlease_seconds = 1\n")
