"""One episode of a walk: a few projects of their own in a real daemon, the model beside it, and each operation done in both.

`Episode.perform(operation)` raises Difference as soon as they disagree: over a status or code, or over what can be read afterwards.
"""
import contextlib
import copy
import os
import time
from datetime import datetime, timezone

import compare_state
from compare_state import Difference, NeverCame
from judge import changed_catalog
from lifecycle import World
from tap import Failed
from walk_ops import PROJECTS

PRINCIPALS = {"planner": "planner-service", "planner2": "other-planner", "approver": "approver-1",
              "approver-planner": "planner-service", "approver-planner2": "other-planner"}
SOON_S = 0.3                # what ends "soon" ends after so long
MARGIN_S = 0.06             # nothing is started so shortly before an end
LEASE_S = 1                 # of random_walk.py's configuration


class Skipped(Exception):
    """The operation names what isn't there (any more)."""


class Abandoned(Exception):
    """An end came while an operation was under way: which of the two was first is not known, so neither is what is right."""


def stamp(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def moment(text):
    return datetime.fromisoformat(text[:-1] + "+00:00").timestamp()


def tags(answer):
    return [answer.headers.get(name) for name in ("location", "etag")]


class Clients:
    """The tokens of a walk, made once in a daemon; those that claim see the projects of their episode only."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.default_catalog = daemon.admin.get("/v1/catalog").json
        self.by_name = {name: getattr(daemon, name) for name in ("planner", "approver", "executor", "operator", "admin")}
        self.by_name["planner2"] = daemon.client("other-planner", "planner")
        self.by_name["approver-planner"] = daemon.client("planner-service", "approver")
        self.by_name["approver-planner2"] = daemon.client("other-planner", "approver")

    def of_episode(self, projects):
        own = dict(self.by_name)
        own["executor"] = self.daemon.client("runner-service", "executor", projects=projects)
        return own


class Episode:
    def __init__(self, daemon, clients, number):
        self.daemon = daemon
        self.world = World(PRINCIPALS)
        self.prefix = "w%d-" % number
        self.default_catalog = clients.default_catalog
        self.clients = clients.of_episode([self.prefix + name for name in PROJECTS])
        self.ids = {}                # model's name of a package, run or grant -> the daemon's
        self.since = {}              # (package, step its hold was opened at) -> the time the daemon shows
        self.keys = 0
        self.remembered = None       # the last POST that took effect, with its key and answer
        self.ends = []               # [(when, operation that says it came)]
        self.asked_end = None        # when what is asked for now would end
        self.counts = {}             # operation -> [done, refused]
        self.catalog({"name": "default"})
        for name in PROJECTS:
            self.put_root({"project": name, "root": "x"}, check=False)

    # ---- one step

    def perform(self, operation):
        """False: skipped."""
        self.pass_time(MARGIN_S)
        self.world.step += 1
        self.asked_end = None
        with self.no_end_between():
            try:
                touched = getattr(self, operation["op"])(operation)
            except Skipped:
                return False
        self.pass_time(MARGIN_S / 2)
        with self.no_end_between():
            compare_state.compare(self, touched)
        return True

    def check_all(self):
        self.pass_time(MARGIN_S * 3)
        with self.no_end_between():
            compare_state.compare_all(self)

    @contextlib.contextmanager
    def no_end_between(self):
        """A difference counts if nothing ended meanwhile."""
        first = min((when for when, _ in self.ends), default=None)
        try:
            yield
        except NeverCame:
            raise
        except Difference:
            if time.time() > min(when for when in (first, self.asked_end, float("inf")) if when is not None) - 0.01:
                raise Abandoned from None
            raise

    def pass_time(self, margin):
        """Waits for what ends within the margin until the daemon shows its end, and tells the model."""
        self.forget_leases()
        for when, operation in sorted(self.ends, key=lambda pair: pair[0]):
            if when > time.time() + margin:
                break
            self.ends.remove((when, operation))
            self.wait_for_end(operation)
            self.world.step += 1
            self.tell_end(operation)
            self.counts.setdefault("time: end of a " + ("grant" if "grant" in operation else "lease" if "run" in operation else "health row"),
                                   [0, 0])[0] += 1

    def tell_end(self, operation):
        if "grant" in operation:
            self.world.expire_grant(operation["grant"])
        elif "run" in operation:
            self.world.expire_lease(operation["run"])
        else:
            self.world.expire_health(operation["project"], operation["mcp"])

    def shows_end(self, operation):
        if "grant" in operation:
            return self.get("/v1/grants/" + self.ids[operation["grant"]]).get("expired", False)
        if "run" in operation:
            return self.get("/v1/runs/" + self.ids[operation["run"]])["outcome"] is not None
        rows = self.get("/v1/projects/%s/health" % self.id_of_project(operation["project"]))["items"]
        return any(row["mcpId"] == operation["mcp"] and row["expired"] for row in rows)

    def wait_for_end(self, operation):
        self.wait_until(lambda: self.shows_end(operation), "%r" % operation)

    def wait_until(self, condition, what):
        """For what the daemon does by itself."""
        try:
            self.daemon.wait_until(condition, what)
        except Failed as fault:
            raise NeverCame(str(fault)) from None

    # ---- helpers

    def id_of_project(self, name):
        return self.prefix + name

    def id_of_task(self, name):
        return self.prefix + name

    def package(self, name):
        if name not in self.world.packages:
            raise Skipped
        return self.world.packages[name]

    def task(self, name):
        if name not in self.world.tasks:
            raise Skipped
        return self.world.tasks[name]

    def get(self, path):
        answer = self.clients["admin"].get(path)
        if answer.status != 200:
            raise Difference("GET %s: %r" % (path, answer))
        return answer.json

    def send(self, client, method, path, body, verdict):
        """The answer, which must be the verdict's."""
        self.keys += 1
        key = {"Idempotency-Key": "k-%d" % self.keys} if method == "POST" else None
        answer = self.clients[client].request(method, path, body, key)
        if key and answer.status in (200, 201) and "?" not in path:
            self.remembered = (client, method, path, body, key, answer)
        counted = self.counts.setdefault(self.operation_of(method, path), [0, 0])
        counted[bool(verdict.faults)] += 1
        found = (answer.status, answer.code if answer.status >= 400 else None)
        wanted = sorted(verdict.faults) if verdict.faults else [(verdict.status, None)]
        if found not in wanted:
            raise Difference("%s %s %s: want %s, have %r" % (method, path, body, " or ".join(map(str, wanted)), answer))
        return answer.json if answer.status < 300 and answer.status != 204 else None

    @staticmethod
    def operation_of(method, path):
        parts = path.split("?")[0].split("/")
        return " ".join([method, parts[2]] + parts[4:5])

    @staticmethod
    def revision(word, current):
        return {"current": current, "stale": max(current - 1, 0), "other": current + 1}[word]

    # ---- projects

    def directory(self, name, project):
        path = os.path.join(self.daemon.folder, "roots", self.prefix + project, name)
        os.makedirs(path, exist_ok=True)
        return path

    def put_root(self, operation, check=True):
        body = {"name": "Project " + operation["project"]}
        if operation["root"] != "keep":
            body["root"] = operation["root"] and self.directory(operation["root"], operation["project"])
        verdict = self.world.put_project(operation["project"], operation["root"])
        self.send("operator", "PUT", "/v1/projects/" + self.id_of_project(operation["project"]), body, verdict)
        return {"project": operation["project"]} if check else None

    root = put_root

    def archive(self, operation):
        return self.post_project(operation, "archive", self.world.archive)

    def unarchive(self, operation):
        return self.post_project(operation, "unarchive", self.world.unarchive)

    def post_project(self, operation, what, change):
        path = "/v1/projects/%s/%s" % (self.id_of_project(operation["project"]), what)
        self.send("admin", "POST", path, {}, change(operation["project"]))
        self.forget_leases()
        return {"project": operation["project"], "all": True}

    def health(self, operation):
        now = int(time.time() * 1000) / 1000
        checked_at = now - 100 if operation["stale"] else now
        row = {name: operation[name] for name in ("status", "installState", "enabled")}
        body = dict(row, mcpId="github", error=None, checkedAt=stamp(checked_at + 0.0001))
        if operation["valid"]:
            body["validSeconds"] = operation["valid"]
        project = operation["project"]
        verdict = self.world.report_health(project, "github", row, checked_at)
        self.send("operator", "PUT", "/v1/projects/%s/health/github" % self.id_of_project(project), body, verdict)
        if not verdict.faults:
            self.ends = [pair for pair in self.ends if pair[1].get("project") != project]
            if operation["valid"] == 1:
                self.ends.append((checked_at + 1, {"op": "time", "project": project, "mcp": "github"}))
        return {"project": project}

    def catalog(self, operation):
        """Waits until no hold is left that an older one gave."""
        verdict = self.world.replace_catalog(operation["name"])
        default = self.default_catalog
        body = dict(default, mcps=changed_catalog(default["mcps"], operation["name"]))
        self.send("admin", "PUT", "/v1/catalog", body, verdict)
        for task in self.world.tasks.values():
            path = "/v1/tasks/" + self.id_of_task(task.name)
            self.wait_until(lambda path=path: not any(item.get("rejudging") for item in self.get(path)["packages"]),
                            "the packages of %s to be judged anew" % task.name)
        return {"everything": True}

    # ---- plans

    def submit(self, operation):
        body = {"project": self.id_of_project(operation["project"]), "title": "A plan", "packages": operation["plan"]}
        verdict = self.world.submit(operation["task"], operation["project"], operation["plan"], operation["client"])
        answer = self.send(operation["client"], "PUT", "/v1/tasks/" + self.id_of_task(operation["task"]), body, verdict)
        task = self.world.tasks.get(operation["task"])
        if answer is not None and task.status == "proposed":
            for package, shown in zip(task.packages, answer["packages"]):
                if self.ids.setdefault(package.name, shown["id"]) != shown["id"]:
                    raise Difference("%s was %s and is %s" % (package.name, self.ids[package.name], shown["id"]))
        return {"task": operation["task"]} if task else {}

    def approve(self, operation):
        task = self.task(operation["task"])
        body = {"planRevision": str(self.revision(operation["revision"], task.revision))}
        if operation["root"]:
            body["rootRevision"] = str(self.revision(operation["root"], task.project.root_revision))
        verdict = self.world.approve(task.name, int(body["planRevision"]), int(body["rootRevision"]) if operation["root"] else None,
                                     operation["client"])
        held = [package.label for package in task.packages if package.hold]
        path = "/v1/tasks/%s/approval" % self.id_of_task(task.name)
        answer = self.clients[operation["client"]].post(path, body)
        self.judge_answer("approve", answer, verdict)
        if answer.code == "admission_blocked" and [item["label"] for item in answer["blocked"]] != held:
            raise Difference("approval tells %s, held are %s" % ([item["label"] for item in answer["blocked"]], held))
        if not verdict.faults and answer["alreadyApproved"] != verdict.value["alreadyApproved"]:
            raise Difference("alreadyApproved is %r" % answer["alreadyApproved"])
        return {"task": task.name}

    def judge_answer(self, what, answer, verdict):
        counted = self.counts.setdefault(what, [0, 0])
        counted[bool(verdict.faults)] += 1
        found = (answer.status, answer.code if answer.status >= 400 else None)
        if found not in (verdict.faults or [(verdict.status, None)]):
            raise Difference("%s: want %s, have %r" % (what, sorted(verdict.faults) or verdict.status, answer))

    def preview(self, operation):
        task = self.task(operation["task"])
        answer = self.clients["planner"].post("/v1/tasks/%s/preview" % self.id_of_task(task.name))
        if answer.status != 200:
            raise Difference("preview: %r" % answer)
        shown = {item["label"]: item["status"] for item in answer["packages"]}
        for package in task.packages:
            if task.status in ("proposed", "approved") and package.is_unfinished() and not package.live_run():
                wanted = self.world.judge(package).status
                if shown.get(package.label) != wanted:
                    raise Difference("preview of %s: want %s, have %s" % (package.name, wanted, shown.get(package.label)))
        return {"task": task.name}

    def say_of_plan(self, operation, route, client, change):
        task = self.task(operation["task"])
        body, revision = {}, None
        if operation["revision"]:
            revision = self.revision(operation["revision"], task.revision)
            body = {"planRevision": str(revision)}
        self.send(client, "POST", "/v1/tasks/%s/%s" % (self.id_of_task(task.name), route), body, change(task.name, revision))
        return {"task": task.name}

    def changes(self, operation):
        return self.say_of_plan(operation, "changes", "operator", self.world.send_back)

    def reject(self, operation):
        return self.say_of_plan(operation, "rejection", "approver", self.world.reject)

    def cancel_task(self, operation):
        return self.say_of_plan(operation, "cancellation", "operator", self.world.cancel_task)

    # ---- packages

    def say_of_package(self, operation, route, verdict, body):
        package = self.world.packages[operation["package"]]
        self.send("operator", "POST", "/v1/packages/%s/%s" % (self.ids[package.name], route), body, verdict)
        return {"task": package.task.name, "package": package.name}

    def cancel_package(self, operation):
        self.package(operation["package"])
        verdict = self.world.cancel_package(operation["package"], operation["cascade"])
        return self.say_of_package(operation, "cancellation", verdict, {"cascade": operation["cascade"]})

    def retry(self, operation):
        self.package(operation["package"])
        return self.say_of_package(operation, "retry", self.world.retry(operation["package"]), {})

    def rework(self, operation):
        self.package(operation["package"])
        verdict = self.world.rework(operation["package"], operation["cascade"])
        return self.say_of_package(operation, "rework", verdict, {"cascade": operation["cascade"]})

    # ---- handoffs and runs

    def hand_off(self, operation):
        package = self.package(operation["package"])
        verdict = self.world.hand_off(package.name, "executor")
        self.claim("/v1/packages/%s/handoff" % self.ids[package.name], verdict)
        return {"task": package.task.name, "package": package.name}

    def hand_off_next(self, operation):
        task = self.task(operation["task"])
        self.claim("/v1/tasks/%s/handoff" % self.id_of_task(task.name), self.world.hand_off_next(task.name, "executor"))
        return {"task": task.name}

    def hand_off_any(self, operation):
        body = {}
        if operation["project"]:
            body["project"] = self.id_of_project(operation["project"])
        if operation["agent"]:
            body["agent"] = operation["agent"]
        verdict = self.world.hand_off_any(operation["project"], operation["agent"], "executor")
        self.claim("/v1/handoffs", verdict, body)
        return {"task": verdict.value.package.task.name} if verdict.value else {}

    def claim(self, path, verdict, body=None):
        asked_at = time.time()
        answer = self.send("executor", "POST", path, body or {}, verdict)
        if answer is None:
            return
        run = verdict.value
        shown = answer["run"]
        if answer["package"]["id"] != self.ids[run.package.name]:
            raise Difference("%s was handed, %s is first" % (answer["package"]["label"], run.package.name))
        self.ids[run.name] = shown["id"]
        self.keep_lease(run, shown["lease"], asked_at)
        self.daemon.secrets.append(answer["runToken"])
        compare_state.compare_claim(self, run, shown, answer)

    def keep_lease(self, run, lease, asked_at):
        """The end of this run, if it is not ended or renewed before: a full term from then on."""
        if not asked_at + LEASE_S - 0.01 <= moment(lease["expiresAt"]) <= time.time() + LEASE_S + 0.01:
            raise Difference("the lease of %s is no full term: %r" % (run.name, lease))
        self.forget_leases(run)
        self.ends.append((moment(lease["expiresAt"]), {"op": "time", "run": run.name}))

    def forget_leases(self, renewed=None):
        """Of the run that is renewed, and of all that have ended."""
        self.ends = [(when, end) for when, end in self.ends if "run" not in end or
                     (self.world.runs[end["run"]] is not renewed and self.world.runs[end["run"]].outcome is None)]

    def outcome(self, operation):
        run = self.run(operation["run"])
        verdict = self.world.report_outcome(run.name, operation["outcome"])
        self.send("executor", "POST", "/v1/runs/%s/outcome" % self.ids[run.name], {"outcome": operation["outcome"]}, verdict)
        return {"task": run.package.task.name, "run": run.name}

    def run(self, name):
        if name not in self.world.runs:
            raise Skipped
        return self.world.runs[name]

    def heartbeat(self, operation):
        run, asked_at = self.run(operation["run"]), time.time()
        answer = self.send("executor", "POST", "/v1/runs/%s/heartbeat" % self.ids[run.name], {}, self.world.heartbeat(run.name))
        if answer is not None:
            self.keep_lease(run, answer["run"]["lease"] if "run" in answer else answer["lease"], asked_at)
        return {"run": run.name}

    # ---- grants

    def approval_body(self, operation, project, body):
        body["rootRevision"] = str(self.revision(operation["root"], project.root_revision))
        if operation["capabilities"] is not None:
            body["capabilities"] = operation["capabilities"]
        if operation["end"]:
            self.asked_end = time.time() + (SOON_S if operation["end"] == "soon" else 3600)
            body["expiresAt"] = stamp(self.asked_end)

    def grant_package(self, operation):
        package = self.package(operation["package"])
        own = [grant for grant in package.task.project.ledger if grant.package == package.name]
        expected = self.revision(operation["expected"], own[-1].revision if own else 0)
        body = {"decision": operation["decision"], "expectedRevision": str(expected)}
        arguments = {"expected": expected, "client": operation["client"]}
        if operation["decision"] == "approved":
            self.approval_body(operation, package.task.project, body)
            arguments.update(capabilities=operation["capabilities"], root_revision=int(body["rootRevision"]),
                             has_end=operation["end"] is not None)
        path = "/v1/packages/%s/grants" % self.ids[package.name]
        self.grant(operation, path, body, lambda world: world.grant_package(package.name, operation["decision"], **arguments))
        return {"task": package.task.name, "package": package.name}

    def grant_project(self, operation):
        project = self.world.projects[operation["project"]]
        record = project.record()
        is_approval = operation["decision"] == "approved"
        current = project.decision_revision if is_approval else record.revision if record else 0
        body = {"decision": operation["decision"], "expectedRevision": str(self.revision(operation["expected"], current))}
        arguments = {"expected": int(body["expectedRevision"]), "client": operation["client"]}
        if is_approval:
            self.approval_body(operation, project, body)
            body["replace"] = operation["replace"]
            arguments.update(capabilities=operation["capabilities"], root_revision=int(body["rootRevision"]),
                             replace=operation["replace"], has_end=operation["end"] is not None)
        path = "/v1/projects/%s/grants" % self.id_of_project(project.name)
        self.grant(operation, path, body, lambda world: world.grant_project(project.name, operation["decision"], **arguments))
        return {"project": project.name, "all": True}

    def grant(self, operation, path, body, change):
        before = compare_state.held(self.world)
        world = copy.deepcopy(self.world) if operation["dry"] else self.world
        verdict = change(world)
        grant = verdict.value
        if operation["dry"]:
            verdict.status, path = 200, path + "?dryRun=true"
        answer = self.send(operation["client"], "POST", path, body, verdict)
        if answer is None:
            return
        compare_state.compare_impact(self, answer["impact"], before, compare_state.held(world), grant)
        if not operation["dry"]:
            self.ids[grant.name] = answer["grant"]["id"]
            compare_state.compare_grant(self, grant, answer["grant"])
            if body.get("expiresAt") and operation["end"] == "soon":
                self.ends.append((moment(body["expiresAt"]), {"op": "time", "grant": grant.name}))

    # ---- the rest

    def unknown(self, operation):
        client = {"grants": "approver", "approval": "approver", "handoff": "executor", "outcome": "executor"}[
            operation["path"].rsplit("/", 1)[1]]
        body = {"grants": {"decision": "revoked", "expectedRevision": "1"}, "approval": {"planRevision": "1"}, "handoff": {},
                "outcome": {"outcome": "failed"}}[operation["path"].rsplit("/", 1)[1]]
        answer = self.clients[client].post(operation["path"], body)
        if (answer.status, answer.code) != (404, "not_found"):
            raise Difference("%s: %r" % (operation["path"], answer))
        return {}

    def wait(self, _operation):
        """Lets come what comes within a second."""
        self.pass_time(1.1)
        return {}

    def again(self, _operation):
        """The last POST that took effect, with its key: the same answer, and nothing happens."""
        if self.remembered is None:
            raise Skipped
        client, method, path, body, key, before = self.remembered
        answer = self.clients[client].request(method, path, body, key)
        self.counts.setdefault("the same POST again", [0, 0])[answer.status != before.status] += 1
        if (answer.status, answer.json, tags(answer)) != (before.status, before.json, tags(before)):
            raise Difference("%s %s again with its key: was %r, is %r" % (method, path, before, answer))
        return {}

    def restart(self, _operation):
        """Each live lease has a fresh term afterwards (2.1)."""
        stopped_at = time.time()
        self.daemon.restart()
        self.counts.setdefault("restart", [0, 0])[0] += 1
        for run in self.world.runs.values():
            if run.outcome is None:
                self.keep_lease(run, self.get("/v1/runs/" + self.ids[run.name])["lease"], stopped_at)
        return {}
