"""The life cycle of chapter 2, once more, as plainly as it can be said: in memory, without a clock, without HTTP.

It exists to disagree with daemon/lifecycle where that is wrong, so it was written from the chapter and shares nothing with the C.
Every operation of World returns a Verdict: the faults for which it may be refused (status, code), and nothing has changed; or none,
and it has happened. Where several faults apply at once, the chapter leaves open which one is told. Operations take the names that the
model gives: tasks `t0`, packages `t0/a#1` (the first package made with that label), runs `t0/a#1@1`, grants `g1`.
"""
from judge import InForce, Judgement, known_reads, needs_of
from ledger import Grant, dropped_by, latest, stands

ATTEMPTS = 3
NOT_FOUND = (404, "not_found")
ENDS = ("completed", "failed", "cancelled", "superseded")
GRANTABLE = ("draft", "pending", "ready", "blocked", "running")
ALIASES = {"filesystem." + operation: "filesystem.project." + operation for operation in ("read", "list", "search")}


class Verdict:
    def __init__(self, faults=(), status=200, value=None):
        self.faults = set(faults)
        self.status = status
        self.value = value


def conflict(code):
    return (409, code)


class Project:
    def __init__(self, name):
        self.name = name
        self.root = None
        self.root_revision = 0
        self.root_counter = 0
        self.decision_revision = 0
        self.archived = False
        self.ledger = []
        self.health = {}             # reported rows: mcp -> {"status", "enabled", "installState", "expired"}

    def record(self):
        return latest([grant for grant in self.ledger if grant.package is None])

    def health_rows(self):
        """What the engine is given. The row's time and error text decide nothing."""
        rows = {"filesystem": ("installed", "healthy", True)} if self.root is not None else {}
        for mcp, row in self.health.items():
            if not row["expired"]:
                rows[mcp] = (row["installState"], row["status"], row["enabled"])
        return {mcp: {"mcpId": mcp, "installState": state, "status": status, "enabled": enabled, "error": None,
                      "checkedAt": "2026-01-01T00:00:00Z"} for mcp, (state, status, enabled) in rows.items()}


class Package:
    def __init__(self, name, task, asked, submitter):
        self.name = name
        self.task = task
        self.label = asked["label"]
        self.agent = asked["agent"]
        self.document = asked["document"]
        self.overlays = asked["promptOverlays"]
        self.submitter = submitter
        self.after = []              # packages it depends on
        self.attempts = 0
        self.limit = ATTEMPTS
        self.end = None
        self.hold = None
        self.hold_since = 0          # the step at which its kind and arm became what they are
        self.runs = []

    def needs(self):
        return frozenset().union(*needs_of(self.document, self.overlays).values())

    def live_run(self):
        return self.runs[-1] if self.runs and self.runs[-1].outcome is None else None

    def live_name(self):
        return self.live_run().name if self.live_run() else None

    def is_unfinished(self):
        return self.end is None

    def status(self):
        if self.end:
            return self.end
        if self.task.status in ("proposed", "rejected", "changes_requested"):
            return "draft"
        if self.live_run():
            return "running"
        if self.hold:
            return "blocked"
        return "ready" if all(other.end == "completed" for other in self.after) else "pending"


class Task:
    def __init__(self, name, project):
        self.name = name
        self.project = project
        self.plan = None
        self.revision = 0
        self.status = None
        self.packages = []           # the live ones, in the plan's order
        self.contributors = set()
        self.approved_revision = 0
        self.approved_step = 0

    def dependents(self, package):
        """Live packages that depend on it, directly or not."""
        found = [package]
        for one in found:
            found += [other for other in self.packages if one in other.after and other not in found]
        return found[1:]

    def settle(self):
        """2.2: what an approved task has become."""
        if self.status != "approved":
            return
        ends = [package.end for package in self.packages]
        if all(end in ("completed", "cancelled") for end in ends):
            self.status = "completed" if "completed" in ends else "cancelled"
            return
        doomed = [other for package in self.packages if package.end == "failed" for other in self.dependents(package)]
        if "failed" in ends and all(package.end or (package in doomed and not package.live_run()) for package in self.packages):
            self.status = "failed"

    def is_open(self):
        return self.status not in ("completed", "rejected", "cancelled")


class Run:
    def __init__(self, name, package, client, grants):
        self.name = name
        self.package = package
        self.client = client
        self.attempt = package.attempts + 1
        self.grants = grants         # requirement key -> grant
        self.outcome = None
        self.ended_by_daemon = False


class World:
    """Every entity by its name. `principals`: client -> principal."""

    def __init__(self, principals):
        self.principals = principals
        self.projects, self.tasks, self.packages, self.runs, self.grants = {}, {}, {}, {}, {}
        self.step = 0
        self.rows_seen = set()       # rows P1–P13 that have decided something
        self.arms_seen = set()

    # ---- what every change ends with

    def judge(self, package):
        project = package.task.project
        own = latest([grant for grant in project.ledger if grant.package == package.name])
        judgement = Judgement(package, own, project.record(), project.root_revision, project.health_rows())
        self.rows_seen |= judgement.rows()
        return judgement

    def reconcile(self, project):
        """2.4: one reconciliation, the same for every change. A finished or running package has no hold."""
        for task in self.tasks.values():
            if task.project is not project:
                continue
            task.settle()
            for package in task.packages:
                if not package.is_unfinished() or package.live_run() or task.status == "rejected":
                    self.put_hold(package, None)
                elif task.status in ("proposed", "approved", "failed"):
                    self.put_hold(package, self.judge(package).hold())

    def put_hold(self, package, hold):
        before = package.hold
        if hold and (not before or (before["kind"], before["arm"]) != (hold["kind"], hold["arm"])):
            package.hold_since = self.step
        if hold:
            self.arms_seen.add((hold["kind"], hold["arm"]))
        package.hold = hold

    def end_run(self, run, outcome, by_daemon=False):
        run.outcome, run.ended_by_daemon = outcome, by_daemon
        package = run.package
        if outcome == "succeeded":
            package.end = "completed"
        elif outcome in ("failed", "expired"):
            package.attempts += 1
            if package.attempts >= package.limit:
                package.end = "failed"

    def finish(self, package, end):
        if package.live_run():
            self.end_run(package.live_run(), "cancelled", by_daemon=True)
        package.end = end
        package.hold = None

    def replace_catalog(self, name):
        """2.4: one row, and all projects are reconciled."""
        InForce.name = name
        for project in self.projects.values():
            self.reconcile(project)
        return Verdict()

    # ---- projects

    def put_project(self, name, root):
        """`root`: a directory's name, None: taken away, "keep"."""
        project = self.projects.get(name)
        if project is None:
            project = Project(name)
            self.projects[name] = project
            status = 201
        else:
            status = 200
        moves = root != "keep" and root != project.root
        faults = set()
        if project.archived:
            faults.add(conflict("project_archived"))
        if moves and any(run.outcome is None and run.grants and run.package.task.project is project for run in self.runs.values()):
            faults.add(conflict("run_active"))
        if faults:
            return Verdict(faults)
        if moves:
            project.root = root
            project.root_counter += root is not None
            project.root_revision = project.root_counter if root is not None else 0
        self.reconcile(project)
        return Verdict(status=status)

    def archive(self, name):
        project = self.projects[name]
        for task in self.tasks.values():
            if task.project is project and task.is_open():
                self.cancel_all(task)
        project.archived, project.root, project.root_revision = True, None, 0
        self.reconcile(project)
        return Verdict()

    def unarchive(self, name):
        self.projects[name].archived = False
        return Verdict()

    def report_health(self, name, mcp, row, checked_at):
        project = self.projects[name]
        faults = [conflict("project_archived")] if project.archived else []
        if mcp in project.health and checked_at < project.health[mcp]["checked_at"]:
            faults.append(conflict("stale_observation"))
        if faults:
            return Verdict(faults)
        project.health[mcp] = dict(row, checked_at=checked_at, expired=False)
        self.reconcile(project)
        return Verdict()

    def expire_health(self, name, mcp):
        self.projects[name].health[mcp]["expired"] = True
        self.reconcile(self.projects[name])
        return Verdict()

    # ---- plans

    def submit(self, name, project_name, plan, client):
        """`plan`: a list of packages as PUT takes them."""
        project, task = self.projects[project_name], self.tasks.get(name)
        if task is not None and task.project is project and task.plan == plan and not project.archived:
            return Verdict()
        faults = [conflict("project_archived")] if project.archived else []
        if task is not None and task.project is not project:
            faults.append(conflict("task_exists"))
        if task is not None and task.status not in ("proposed", "changes_requested"):
            faults.append(conflict("task_status"))
        if faults:
            return Verdict(faults)
        status = 200 if task else 201
        task = self.tasks.setdefault(name, task or Task(name, project))
        self.replace_plan(task, plan, self.principals[client])
        self.reconcile(project)
        return Verdict(status=status)

    def replace_plan(self, task, plan, principal):
        kept = {(package.label, repr(package.document)): package for package in task.packages if package.end == "completed"}
        for package in task.packages:
            if package.end != "completed":
                self.finish(package, "superseded")
        task.plan, task.revision, task.status = plan, task.revision + 1, "proposed"
        task.contributors, packages = {principal}, {}
        for asked in plan:
            found = None if asked.get("redo") else kept.get((asked["label"], repr(asked["document"])))
            packages[asked["label"]] = found or self.make_package(task, asked, principal)
            if found:
                task.contributors.add(found.submitter)
        for package in task.packages:
            if package.end == "completed" and package not in packages.values():
                package.end = "superseded"
        task.packages = list(packages.values())
        for asked in plan:
            packages[asked["label"]].after = [packages[label] for label in asked["dependsOn"]]

    def make_package(self, task, asked, principal):
        prefix = "%s/%s#" % (task.name, asked["label"])
        number = 1 + sum(name.startswith(prefix) for name in self.packages)
        package = Package(prefix + str(number), task, asked, principal)
        self.packages[package.name] = package
        return package

    # ---- deciding on plans

    def approve(self, name, revision, root_revision, client):
        task = self.tasks.get(name)
        if task is None:
            return Verdict([NOT_FOUND])
        if task.status in ("approved", "completed", "failed") and revision == task.approved_revision:
            return Verdict(value={"alreadyApproved": True})
        faults = self.faults_of_archive(task)
        if task.status != "proposed":
            faults.add(conflict("task_status"))
        if revision != task.revision:
            faults.add(conflict("plan_revision_conflict"))
        if root_revision is not None and root_revision != task.project.root_revision:
            faults.add(conflict("root_changed"))
        if self.principals[client] in task.contributors:
            faults.add((403, "self_approval"))
        if not faults and any(package.hold for package in task.packages):
            faults.add(conflict("admission_blocked"))
        if faults:
            return Verdict(faults)
        task.status, task.approved_revision, task.approved_step = "approved", revision, self.step
        self.reconcile(task.project)
        return Verdict(value={"alreadyApproved": False})

    def act_on_plan(self, name, revision, statuses):
        """(task, faults) of what a person says of a plan as a whole."""
        task = self.tasks.get(name)
        if task is None:
            return None, {NOT_FOUND}
        faults = set()
        if task.status not in statuses:
            faults.add(conflict("task_status"))
        if revision is not None and revision != task.revision:
            faults.add(conflict("plan_revision_conflict"))
        return task, faults | self.faults_of_archive(task)

    @staticmethod
    def faults_of_archive(task):
        return {conflict("project_archived")} if task.project.archived else set()

    def reject(self, name, revision):
        task, faults = self.act_on_plan(name, revision, ("proposed",))
        if faults:
            return Verdict(faults)
        task.status = "rejected"
        self.reconcile(task.project)
        return Verdict()

    def send_back(self, name, revision):
        task, faults = self.act_on_plan(name, revision, ("proposed", "approved", "failed", "rejected"))
        if faults:
            return Verdict(faults)
        for package in task.packages:
            if package.end != "completed":
                self.finish(package, "superseded")
        task.packages = [package for package in task.packages if package.end == "completed"]
        task.status = "changes_requested"
        self.reconcile(task.project)
        return Verdict()

    def cancel_all(self, task):
        for package in task.packages:
            if package.is_unfinished():
                self.finish(package, "cancelled")
        task.status = "cancelled"

    def cancel_task(self, name, revision):
        task, faults = self.act_on_plan(name, revision, ("proposed", "approved", "failed", "changes_requested"))
        if faults:
            return Verdict(faults)
        self.cancel_all(task)
        self.reconcile(task.project)
        return Verdict()

    # ---- packages

    def cancel_package(self, name, cascade):
        package = self.packages[name]
        along = [other for other in package.task.dependents(package) if other.is_unfinished()]
        faults = self.faults_of_archive(package.task)
        if not package.is_unfinished():
            faults.add(conflict("package_status"))
        if package.task.status not in ("proposed", "approved", "failed"):
            faults.add(conflict("task_status"))
        if along and not cascade:
            faults.add(conflict("has_dependents"))
        if faults:
            return Verdict(faults)
        for one in [package] + along:
            self.finish(one, "cancelled")
        self.reconcile(package.task.project)
        return Verdict()

    def retry(self, name):
        package = self.packages[name]
        faults = self.faults_of_archive(package.task)
        if package.end != "failed":
            faults |= {conflict("not_retryable"), conflict("package_status")}
        if package.task.status not in ("approved", "failed"):
            faults |= {conflict("task_status"), conflict("not_retryable")}
        if faults:
            return Verdict(faults)
        package.end = None
        package.limit = package.attempts + ATTEMPTS
        package.task.status = "approved"
        self.reconcile(package.task.project)
        return Verdict()

    def rework(self, name, cascade):
        package = self.packages[name]
        along = [other for other in package.task.dependents(package) if other.end == "completed"]
        faults = self.faults_of_archive(package.task)
        if package.task.status != "approved":
            faults.add(conflict("task_status"))
        if package.end != "completed":
            faults.add(conflict("package_status"))
        if along and not cascade:
            faults.add(conflict("has_dependents"))
        if faults:
            return Verdict(faults)
        for one in [package] + along:
            one.end = None
            one.attempts += 1        # the one that succeeded: it returns as a new attempt, and as many are left as were
            one.limit += 1
        self.reconcile(package.task.project)
        return Verdict()

    # ---- handoffs

    def ready(self, tasks, agent=None):
        """The first that can be claimed: oldest approval first, then in the plan's order."""
        ordered = sorted((task for task in tasks if task.status == "approved"), key=lambda task: task.approved_step)
        return next((package for task in ordered for package in task.packages
                     if package.status() == "ready" and agent in (None, package.agent)), None)

    def claim(self, package, client):
        admitted = self.judge(package).admitted()
        name = "%s@%d" % (package.name, len(package.runs) + 1)
        run = Run(name, package, client, admitted)
        for grant in admitted.values():
            if grant.mode == "allow_once":
                grant.used_by = name
        package.runs.append(run)
        self.runs[name] = run
        self.reconcile(package.task.project)
        return Verdict(value=run)

    def hand_off(self, name, client):
        package = self.packages[name]
        faults = self.faults_of_archive(package.task)
        if package.task.status != "approved":
            faults.add(conflict("task_status"))
        if package.status() not in ("ready", "blocked") or any(other.end != "completed" for other in package.after):
            faults.add(conflict("package_status"))
        if not faults and package.hold:
            faults.add(conflict("admission_blocked"))
        return Verdict(faults) if faults else self.claim(package, client)

    def hand_off_next(self, name, client):
        task = self.tasks.get(name)
        if task is None or task.status != "approved":
            return Verdict([NOT_FOUND] if task is None else {conflict("task_status")} | self.faults_of_archive(task))
        found = self.ready([task])
        return self.claim(found, client) if found else Verdict(status=204)

    def hand_off_any(self, project, agent, client):
        found = self.ready([task for task in self.tasks.values() if project in (None, task.project.name)], agent)
        return self.claim(found, client) if found else Verdict(status=204)

    # ---- runs

    def report_outcome(self, name, outcome):
        run = self.runs[name]
        if run.outcome is None:
            self.end_run(run, outcome)
            self.reconcile(run.package.task.project)
            return Verdict()
        if run.ended_by_daemon:
            return Verdict([conflict("run_ended")])
        return Verdict() if run.outcome == outcome else Verdict([conflict("outcome_conflict")])

    def heartbeat(self, name):
        return Verdict() if self.runs[name].outcome is None else Verdict([conflict("run_ended")])

    def expire_lease(self, name):
        run = self.runs[name]
        self.end_run(run, "expired", by_daemon=True)
        self.reconcile(run.package.task.project)
        return Verdict()

    # ---- grants

    def append(self, project, decision, capabilities, has_end, package=None):
        before = latest([grant for grant in project.ledger if grant.package == (package and package.name)])
        project.decision_revision += 1
        dropped = dropped_by(before, project.root_revision, capabilities) & known_reads() if package is None else ()
        grant = Grant(name="g%d" % (len(self.grants) + 1), package=package and package.name, decision=decision,
                      capabilities=capabilities, dropped=dropped, revision=project.decision_revision,
                      root_revision=project.root_revision, has_end=has_end, replaces=before and before.name)
        project.ledger.append(grant)
        self.grants[grant.name] = grant
        self.reconcile(project)
        return Verdict(status=201, value=grant)

    def expire_grant(self, name):
        grant = self.grants[name]
        grant.expired = True
        project = next(project for project in self.projects.values() if grant in project.ledger)
        self.reconcile(project)
        return Verdict()

    def is_covered(self, package):
        """Is it the project's grant that all its reads come from?"""
        states = self.judge(package).states
        return all(states[name][0] in ("P1", "P4") for name, needs in needs_of(package.document, package.overlays).items() if needs)

    def grant_package(self, name, decision, expected, client, capabilities=None, root_revision=None, has_end=False):
        package = self.packages[name]
        project = package.task.project
        own = latest([grant for grant in project.ledger if grant.package == name])
        faults = [conflict("project_archived")] if project.archived else []
        if package.status() not in GRANTABLE:
            faults.append(conflict("package_status"))
        if expected != (own.revision if own else 0):
            faults.append(conflict("revision_conflict"))
        if decision == "revoked" and not stands(own, project.root_revision, package.live_name()):
            faults.append(conflict("nothing_to_revoke"))
        named = package.needs() if capabilities is None else frozenset(ALIASES.get(item, item) for item in capabilities)
        if decision == "approved":
            faults += self.faults_of_approval(package, named, root_revision)
            if self.principals[client] in package.task.contributors:
                faults.append((403, "self_approval"))
        if faults:
            return Verdict(faults)
        return self.append(project, decision, named if decision == "approved" else (), has_end, package)

    def faults_of_approval(self, package, named, root_revision):
        faults = self.faults_of_root(package.task.project, root_revision)
        if named - package.needs() or not package.needs():
            faults.append((422, "grant_not_asked"))
        if package.needs() - named or not package.needs():
            faults.append((422, "grant_insufficient"))
        if package.needs() and self.is_covered(package):
            faults.append(conflict("already_covered"))
        return faults

    @staticmethod
    def faults_of_root(project, root_revision):
        if root_revision != project.root_revision:
            return [conflict("root_changed")] + ([(422, "root_missing")] if project.root_revision == 0 else [])
        return [(422, "root_missing")] if project.root_revision == 0 else []

    def grant_project(self, name, decision, expected, client, capabilities=(), replace=False, root_revision=None, has_end=False):
        project = self.projects[name]
        record = project.record()
        faults = [conflict("project_archived")] if project.archived else []
        if decision == "revoked":
            if not stands(record, project.root_revision):
                faults.append(conflict("nothing_to_revoke"))
            if expected != (record.revision if record else 0):
                faults.append(conflict("revision_conflict"))
            return Verdict(faults) if faults else self.append(project, "revoked", (), False)
        named = frozenset(ALIASES.get(item, item) for item in capabilities)
        faults += self.faults_of_root(project, root_revision)
        if expected != project.decision_revision:
            faults.append(conflict("revision_conflict"))
        if named - known_reads():
            faults.append((422, "invalid_document"))
        if self.is_own_plan_served(project, named, self.principals[client]):
            faults.append((403, "self_approval"))
        if faults:
            return Verdict(faults)
        is_added = stands(record, project.root_revision) and not replace
        return self.append(project, "approved", named | (record.capabilities & known_reads()) if is_added else named, has_end)

    def is_own_plan_served(self, project, named, principal):
        """4.1: an open plan of this person in the project asks for what that covers."""
        return any(task.project is project and task.is_open() and principal in task.contributors and
                   any(package.is_unfinished() and package.needs() & named for package in task.packages)
                   for task in self.tasks.values())
