"""The model's state beside what the daemon shows, object by object. Raises Difference where they are not the same."""
from lifecycle import ALIASES

HOLD_MEMBERS = ("kind", "arm", "mode", "recoveryAction", "requirementKey", "subtaskId", "retryable")


class Difference(Exception):
    """The daemon and the model disagree."""


class NeverCame(Difference):
    """Something that the daemon does by itself was waited for in vain."""


def same(what, wanted, found):
    if wanted != found:
        raise Difference("%s: want %r, have %r" % (what, wanted, found))


def canonical(capabilities):
    return sorted({ALIASES.get(item, item) for item in capabilities})


def held(world):
    return {name: package.hold for name, package in world.packages.items() if package.is_unfinished()}


# ---- which objects

def compare(episode, touched):
    """What an operation touched, and the grants and holds of its project where it says `all`."""
    if touched is None:
        return
    world = episode.world
    if "everything" in touched:
        compare_all(episode)
    task = world.tasks.get(touched.get("task"))
    if task:
        compare_task(episode, task)
        compare_project(episode, task.project)
    if "project" in touched:
        compare_project(episode, world.projects[touched["project"]])
        for other in world.tasks.values():
            if other.project.name == touched["project"] and ("all" in touched or other.is_open()):
                compare_task(episode, other)
    if touched.get("package"):
        compare_package(episode, world.packages[touched["package"]])
    if touched.get("run"):
        compare_run(episode, world.runs[touched["run"]])


def compare_all(episode):
    world = episode.world
    for project in world.projects.values():
        compare_project(episode, project)
        compare_ledger(episode, project)
        compare_runs(episode, project)
    for task in world.tasks.values():
        compare_task(episode, task)
    for package in world.packages.values():
        compare_package(episode, package)


def items(episode, path):
    """All of a list, page by page."""
    found, url = [], path + ("&" if "?" in path else "?") + "limit=500"
    while url:
        page = episode.get(url)
        found += page["items"]
        url = page["next"]
    return found


# ---- one object

def compare_project(episode, project):
    shown = episode.get("/v1/projects/" + episode.id_of_project(project.name))
    what = "project " + project.name
    same(what + " rootRevision", str(project.root_revision), shown["rootRevision"])
    same(what + " decisionRevision", str(project.decision_revision), shown["decisionRevision"])
    same(what + " archived", project.archived, shown["archived"])
    record = project.record()
    same(what + " grant", record and str(record.revision), shown["grant"] and shown["grant"]["revision"])


def compare_task(episode, task):
    shown = episode.get("/v1/tasks/" + episode.id_of_task(task.name))
    same("task %s status" % task.name, task.status, shown["status"])
    same("task %s planRevision" % task.name, str(task.revision), shown["planRevision"])
    same("packages of task " + task.name, [(package.label, episode.ids[package.name]) for package in task.packages],
         [(item["label"], item["id"]) for item in shown["packages"]])
    for package, item in zip(task.packages, shown["packages"]):
        compare_package_part(episode, package, item)


def compare_package_part(episode, package, shown):
    what = "package " + package.name
    same(what + " status", package.status(), shown["status"])
    same(what + " attempts", package.attempts, shown["attempts"])
    same(what + " documents", package.label, shown["label"])
    if package.end != "superseded":
        same(what + " dependsOn", sorted(episode.ids[other.name] for other in package.after), sorted(shown["dependsOn"]))
    found = shown["hold"] and {name: shown["hold"].get(name) for name in HOLD_MEMBERS}
    same(what + " hold", package.hold, found)
    if found:
        first = episode.since.setdefault((package.name, package.hold_since), shown["hold"]["since"])
        same(what + " since", first, shown["hold"]["since"])


def compare_package(episode, package):
    shown = episode.get("/v1/packages/" + episode.ids[package.name])
    compare_package_part(episode, package, shown)
    same("package %s attemptsLeft" % package.name, max(package.limit - package.attempts, 0), shown["attemptsLeft"])
    live = package.live_run()
    same("run of " + package.name, live and episode.ids[live.name], shown["run"])


def compare_run(episode, run):
    compare_run_part(episode, run, episode.get("/v1/runs/" + episode.ids[run.name]))


def compare_run_part(_episode, run, shown):
    same("run %s attempt" % run.name, run.attempt, shown["attempt"])
    same("run %s outcome" % run.name, run.outcome, shown["outcome"])
    same("run %s status" % run.name, "ended" if run.outcome else "running", shown["status"])


def compare_runs(episode, project):
    shown = {item["id"]: item for item in items(episode, "/v1/runs?project=" + episode.id_of_project(project.name))}
    runs = [run for run in episode.world.runs.values() if run.package.task.project is project]
    same("runs of project " + project.name, sorted(episode.ids[run.name] for run in runs), sorted(shown))
    for run in runs:
        compare_run_part(episode, run, shown[episode.ids[run.name]])


def compare_ledger(episode, project):
    shown = items(episode, "/v1/grants?project=" + episode.id_of_project(project.name))
    same("ledger of " + project.name, [str(grant.revision) for grant in reversed(project.ledger)], [row["revision"] for row in shown])
    for grant, row in zip(reversed(project.ledger), shown):
        compare_grant(episode, grant, row)


def compare_grant(episode, grant, row):
    wanted = {"id": episode.ids[grant.name], "packageId": grant.package and episode.ids[grant.package], "decision": grant.decision,
              "mode": grant.mode, "capabilities": sorted(grant.capabilities), "rootRevision": str(grant.root_revision),
              "replaces": grant.replaces and episode.ids[grant.replaces], "expires": grant.has_end, "expired": grant.expired,
              "usedBy": grant.used_by and episode.ids[grant.used_by], "dropped": sorted(grant.dropped)}
    found = {"id": row["id"], "packageId": row["packageId"], "decision": row["decision"], "mode": row["mode"],
             "capabilities": canonical(row["capabilities"]), "rootRevision": row["rootRevision"], "replaces": row["replaces"],
             "expires": row["expiresAt"] is not None, "expired": row.get("expired", False), "usedBy": row.get("usedBy"),
             "dropped": canonical(row.get("dropped", []))}
    same("grant " + grant.name, wanted, found)


# ---- answers

def compare_claim(episode, run, shown, answer):
    same("attempt of " + run.name, run.attempt, shown["attempt"])
    wanted = {}
    for key, grant in run.grants.items():
        wanted.setdefault((episode.ids[grant.name], grant.mode), []).append(key)
    same("grants of " + run.name, {grant: sorted(keys) for grant, keys in wanted.items()},
         {(item["id"], item["mode"]): sorted(item["requirementKeys"]) for item in shown["grants"]})
    same("read scope of " + run.name, sorted(run.grants), sorted(item["requirementKey"] for item in answer["given"]["readScope"]))


def compare_impact(episode, impact, before, after, grant):
    opens = [name for name in after if before[name] and not after[name]]
    holds = [name for name in after if after[name] and not before[name]]
    same("impact opens", sorted(episode.ids[name] for name in opens), sorted(impact["opens"]))
    same("impact holds", sorted(episode.ids[name] for name in holds), sorted(impact["holds"]))
    same("impact revision", str(grant.revision), impact["revision"])
