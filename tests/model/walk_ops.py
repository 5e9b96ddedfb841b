"""What a walk may do next: operations by name, with the model's names for everything, so that they can be left out and replayed.

An operation is a dict with `op` and what it needs. Revisions are words ("current", "stale", "other") that are looked up when the
operation is performed. Most choices make sense in the model's state of the moment; some never do.
"""
from judge import CATALOGS, InForce
from ledger import stands
from lifecycle import GRANTABLE
from plans import LIST, READ, SEARCH, changed_plan, random_plan

PROJECTS = ("p0", "p1")
TASKS = ("t0", "t1", "t2", "t3")
SENSIBLE = 0.85
SENSELESS = 0.07             # where nothing makes sense
REVISIONS = ("current",) * 9 + ("stale", "other")
APPROVERS = ("approver",) * 6 + ("approver-planner", "approver-planner2")
PLANNERS = ("planner", "planner", "planner2")
STATES = (("installed", "healthy", True),) * 5 + (("installed", "auth_required", True), ("missing", "unknown", True),
                                                  ("installed", "disabled", False), ("installed", "unhealthy", True))

# operation -> (weight, route it needs, as a pattern for the start of a walk)
OPERATIONS = {
    "submit": (9, None), "approve": (9, None), "hand_off": (8, None), "hand_off_next": (6, None), "hand_off_any": (5, None),
    "outcome": (14, None), "grant_package": (12, None), "grant_project": (6, None), "health": (4, None), "root": (1.5, None),
    "preview": (2, None), "unknown": (0.5, None), "wait": (0.15, None), "restart": (0.05, None), "again": (1.5, None), "catalog": (0.4, None),
    "heartbeat": (2, "/v1/runs/x/heartbeat"), "changes": (2, "/v1/tasks/x/changes"), "reject": (0.7, "/v1/tasks/x/rejection"),
    "cancel_task": (0.4, "/v1/tasks/x/cancellation"), "cancel_package": (2, "/v1/packages/x/cancellation"),
    "retry": (5, "/v1/packages/x/retry"), "rework": (4, "/v1/packages/x/rework"),
    "archive": (0.15, "/v1/projects/x/archive"), "unarchive": (0.8, "/v1/projects/x/unarchive"),
}


class Chooser:
    """Draws operations; `left_out` are names that it never draws."""

    def __init__(self, random, world, left_out=()):
        self.random = random
        self.world = world
        # Some walks go well, in some most runs fail.
        self.outcomes = random.choice((("succeeded",) * 6 + ("failed", "released"), ("succeeded",) * 5 + ("failed",) * 4 + ("released",),
                                       ("succeeded", "released") + ("failed",) * 8))
        self.names = [name for name in OPERATIONS if name not in left_out]
        self.weights = [OPERATIONS[name][0] for name in self.names]

    def draw(self):
        while True:
            name = self.random.choices(self.names, self.weights)[0]
            drawn = getattr(self, "draw_" + name)()
            if drawn is not None:
                return dict(drawn, op=name)

    def some(self, things, wanted):
        """The name of one of them: mostly one that `wanted` is true of, if there is any."""
        good = [thing for thing in things if wanted(thing)]
        if good and self.random.random() < SENSIBLE:
            return self.random.choice(good).name
        return self.random.choice(list(things)).name if things and self.random.random() < SENSELESS else None

    def task(self, *statuses):
        return self.some(list(self.world.tasks.values()), lambda task: task.status in statuses)

    def package(self, *statuses):
        return self.some(list(self.world.packages.values()), lambda package: package.status() in statuses)

    def revision(self):
        return self.random.choice(REVISIONS)

    # ---- projects

    def draw_root(self):
        return {"project": self.random.choice(PROJECTS), "root": self.random.choice(("x", "x", "y", "keep", None))}

    def draw_health(self):
        install, status, enabled = self.random.choice(STATES)
        return {"project": self.random.choice(PROJECTS), "status": status, "installState": install, "enabled": enabled,
                "stale": self.random.random() < 0.1, "valid": self.random.choice((None, None, None, 3600, 1))}

    def draw_archive(self):
        return {"project": self.random.choice(PROJECTS)}

    def draw_unarchive(self):
        project = self.some(list(self.world.projects.values()), lambda project: project.archived)
        return project and {"project": project}

    def draw_catalog(self):
        return {"name": self.random.choice(sorted(CATALOGS))}

    def draw_wait(self):
        return {}

    draw_restart = draw_again = draw_wait

    # ---- plans

    def draw_submit(self):
        name = self.random.choice(TASKS)
        task = self.world.tasks.get(name)
        project = task.project.name if task and self.random.random() < 0.97 else self.random.choice(PROJECTS)
        if task is None or (task.status in ("rejected", "completed", "cancelled") and self.random.random() < 0.9):
            name = next((free for free in ["t%d" % number for number in range(40)] if free not in self.world.tasks))
            if sum(other.is_open() for other in self.world.tasks.values()) >= 4:
                return None
            return {"task": name, "project": self.random.choice(PROJECTS), "plan": random_plan(self.random),
                    "client": self.random.choice(PLANNERS)}
        if task.status != "changes_requested" and self.random.random() < 0.7:
            return None
        plan = self.random.choice((task.plan, changed_plan(self.random, task.plan), changed_plan(self.random, task.plan),
                                   random_plan(self.random)))
        return {"task": name, "project": project, "plan": plan, "client": self.random.choice(PLANNERS)}

    def draw_approve(self):
        task = self.some(list(self.world.tasks.values()),
                         lambda task: task.status == "proposed" and not any(package.hold for package in task.packages))
        root = self.random.choice((None, None, "current", "current", "other"))
        return task and {"task": task, "revision": self.revision(), "root": root, "client": self.random.choice(APPROVERS)}

    def draw_preview(self):
        task = self.task("proposed", "approved")
        return task and {"task": task}

    def draw_changes(self):
        task = self.task("proposed", "approved", "failed", "rejected")
        return task and {"task": task, "revision": self.revision()}

    def draw_reject(self):
        task = self.task("proposed")
        return task and {"task": task, "revision": self.revision()}

    def draw_cancel_task(self):
        task = self.task("proposed", "approved", "failed", "changes_requested")
        return task and {"task": task, "revision": self.random.choice((None, "current", "current", "other"))}

    # ---- packages

    def draw_cancel_package(self):
        package = self.package("blocked", "pending", "ready", "running")
        return package and {"package": package, "cascade": self.random.random() < 0.6}

    def draw_retry(self):
        package = self.package("failed")
        return package and {"package": package}

    def draw_rework(self):
        package = self.some(list(self.world.packages.values()),
                            lambda package: package.end == "completed" and package.task.status == "approved")
        return package and {"package": package, "cascade": self.random.random() < 0.7}

    def draw_hand_off(self):
        package = self.package("ready", "ready", "blocked")
        return package and {"package": package}

    def draw_hand_off_next(self):
        task = self.task("approved")
        return task and {"task": task}

    def draw_hand_off_any(self):
        return {"project": self.random.choice((None,) + PROJECTS), "agent": self.random.choice((None, None, None, "backend", "docs"))}

    def run(self):
        """Nearly always a live one: ended ones only refuse."""
        return self.some(list(self.world.runs.values()), lambda run: run.outcome is None)

    def draw_outcome(self):
        run = self.run()
        return run and {"run": run, "outcome": self.random.choice(self.outcomes)}

    def draw_heartbeat(self):
        run = self.run()
        return run and {"run": run}

    # ---- grants

    def is_to_grant(self, package):
        """Held for a grant, or, sometimes, free though it asks for reads: what was decided is decided again."""
        if package.status() not in GRANTABLE or not package.needs():
            return False
        return bool(package.hold and package.hold["kind"] == "needs_grant") or self.random.random() < 0.2

    def is_to_revoke(self, package):
        own = [grant for grant in package.task.project.ledger if grant.package == package.name]
        return package.status() in GRANTABLE and bool(own) and stands(own[-1], package.task.project.root_revision, package.live_name())

    def draw_grant_package(self):
        decision = self.random.choice(("approved",) * 7 + ("denied", "denied", "revoked", "revoked"))
        package = self.some(list(self.world.packages.values()), self.is_to_revoke if decision == "revoked" else self.is_to_grant)
        if package is None:
            return None
        needs = sorted(self.world.packages[package].needs())
        capabilities = self.random.choice((None, None, needs, needs, [READ], [READ, LIST, SEARCH]))
        if capabilities and self.random.random() < 0.2:
            capabilities = [item.replace(".project", "") for item in capabilities]
        return {"package": package, "decision": decision,
                "capabilities": capabilities or None, "expected": self.revision(), "root": self.random.choice(("current",) * 9 + ("other",)),
                "end": self.random.choice((None, None, None, "far", "soon")), "client": self.random.choice(APPROVERS),
                "dry": self.random.random() < 0.1}

    def draw_grant_project(self):
        capabilities = self.random.sample((READ, LIST, SEARCH), self.random.choice((1, 1, 2, 3)))
        if InForce.name == "wider" and self.random.random() < 0.3:
            capabilities = capabilities + ["filesystem.project.get"]
        elif self.random.random() < 0.04:
            capabilities = capabilities + ["github.issues.read"]
        elif self.random.random() < 0.15:
            capabilities = [item.replace(".project", "") for item in capabilities]
        return {"project": self.random.choice(PROJECTS), "decision": self.random.choice(("approved",) * 3 + ("revoked",)),
                "capabilities": capabilities, "replace": self.random.random() < 0.4, "expected": self.revision(),
                "root": self.random.choice(("current",) * 9 + ("other",)), "end": self.random.choice((None, None, None, "far", "soon")),
                "client": self.random.choice(APPROVERS), "dry": self.random.random() < 0.1}

    def draw_unknown(self):
        return {"path": self.random.choice(("/v1/packages/pkg_none/grants", "/v1/packages/pkg_none/handoff", "/v1/tasks/none/approval",
                                            "/v1/runs/run_none/outcome", "/v1/projects/none/grants", "/v1/tasks/none/handoff"))}
