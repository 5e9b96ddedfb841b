#!/usr/bin/env python3
"""What a rehearsed decision on read access would do, told so that a person can read it (2.4, 7.5). Speaks TAP."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from daemon import LIST, READ, check, equal, free, package, reads, requirement, run_scenes, scene  # noqa: E402


def rehearse(client, world, decision="approved", pid=None, status=200, **more):
    """The impact of a decision on the project, or on a package of it."""
    body = dict({"decision": decision}, **more)
    if decision == "approved":
        body.setdefault("rootRevision", world.project()["rootRevision"])
    body["expectedRevision"] = world.latest_revision(pid) if pid else world.project_revision(decision)
    where = "packages/" + pid if pid else "projects/" + world.id
    return client.post("/v1/%s/grants?dryRun=true" % where, body).must(status)["impact"]


def said(impact):
    return [(line["text"], line["does"]) for line in impact["lines"]]


def signs(impact):
    return [(line["effect"], line["sign"], line["tone"]) for line in impact["lines"]]


def spoilt(label):
    """Asks to read, and for something that no grant gives."""
    return package(label, requirement("fs-" + label, capabilities=[READ]),
                   requirement("gh-" + label, mcp="github", capabilities=["github.secerts.write"]))


def held_again(world):
    """An approved plan whose two packages lost the project's access, and a proposed one of three that never had it."""
    world.submit(reads("map"), reads("draft", after=["map"]))
    world.project_grant(READ)
    world.approve()
    world.project_grant(decision="revoked", reason="moving")
    world.daemon.planner.put("/v1/tasks/" + world.task_id("i"), world.plan(reads("x"), reads("y"), spoilt("z"), title="Index the archive")).must(201)


@scene
def an_approval_tells_what_starts_what_it_frees_of_a_plan_and_what_stays(daemon):
    world = daemon.world()
    held_again(world)
    impact = rehearse(daemon.approver, world, capabilities=[READ])
    equal(said(impact), [
        ("map", "can start"),
        ("draft", "can start when what it waits for is done"),
        ("2 packages of plan Index the archive", "no longer stop its approval"),
        ("1 package of the same plan", "stays blocked: plan needs a change"),
    ])
    equal(signs(impact), [("starts", "check", "green")] * 2 + [("plan", "diamond", "neutral"), ("stays", "square, x", "red")])
    equal((impact["headline"], impact["brief"]), ("Opens 2 held packages now", "opens 2"))
    first, _, plan, stays = impact["lines"]
    equal(first["packages"], [{"id": world.pid("map"), "label": "map"}])
    equal((first["task"], "title" in first), (world.task_id(), False))
    equal([one["label"] for one in plan["packages"]], ["x", "y"])
    equal((plan["task"], plan["title"]), (world.task_id("i"), "Index the archive"))
    equal((stays["operatorState"]["key"], stays["packages"]), ("plan_needs_changes", [{"id": world.pid("z", "i"), "label": "z"}]))
    equal(sorted(one["id"] for line in impact["lines"][:3] for one in line["packages"]), sorted(impact["opens"]))


@scene
def the_last_one_that_a_plan_waits_for_frees_it(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    for impact in (rehearse(daemon.approver, world, capabilities=[READ]), rehearse(daemon.approver, world, pid=world.pid("a"))):
        equal(said(impact), [("1 package of plan A plan", "nothing stops its approval any more")])
        equal((impact["headline"], impact["brief"]), ("Opens 1 held package now", "opens 1"))


@scene
def an_approval_that_frees_nothing_says_so_and_why(daemon):
    world = daemon.world()
    world.submit(reads("a", READ, LIST), spoilt("z"))
    impact = rehearse(daemon.approver, world, pid=world.pid("z"))
    equal((said(impact), impact["headline"], impact["brief"]),
          ([("1 package of plan A plan", "stays blocked: plan needs a change")], "Opens nothing now", None))
    impact = rehearse(daemon.approver, world, capabilities=[READ])
    equal(said(impact), [("1 package of plan A plan", "stays blocked: waiting for read access"),
                         ("1 package of the same plan", "stays blocked: plan needs a change")])
    equal(sorted(one["id"] for line in impact["lines"] for one in line["packages"]), sorted(impact["stays"]))


@scene
def taking_away_tells_what_is_held_and_that_what_runs_keeps_what_it_has(daemon):
    world = daemon.world()
    world.project_grant(READ, LIST)
    world.submit(reads("run"), reads("a"), reads("l", LIST))
    world.approve()
    world.handoff("run")
    impact = rehearse(daemon.approver, world, "revoked")
    equal(said(impact), [("a", "will be held: project access was removed"), ("l", "will be held: project access was removed"),
                         ("run", "keeps what it has while it runs")])
    equal((impact["headline"], impact["brief"]), ("Holds 2 packages; 1 running keeps what it has", "holds 2"))
    equal((impact["lines"][-1]["effect"], impact["lines"][-1]["packages"]), ("keeps", [{"id": world.pid("run"), "label": "run"}]))
    narrower = rehearse(daemon.approver, world, capabilities=[READ], replace=True)
    equal(said(narrower), [("l", "will be held: project access no longer covers this"), ("run", "keeps what it has while it runs")])
    equal(narrower["headline"], "Holds 1 package; 1 running keeps what it has")


@scene
def denying_what_is_held_and_what_runs(daemon):
    world = daemon.world()
    world.submit(reads("a"), reads("b"))
    impact = rehearse(daemon.approver, world, "denied", world.pid("a"))
    equal((said(impact), impact["headline"], impact["brief"]),
          ([("1 package of plan A plan", "stays blocked: read access was denied")], "Holds 1 package", "holds 1"))
    for label in "ab":
        world.grant(label)
    world.approve()
    world.handoff("b")
    impact = rehearse(daemon.approver, world, "denied", world.pid("b"))
    equal((said(impact), impact["headline"], impact["brief"]),
          ([("b", "keeps what it has while it runs")], "Holds nothing now; 1 running keeps what it has", None))


@scene
def an_overridden_denial_is_named(daemon):
    world = daemon.world()
    world.submit(reads("a"), reads("b"))
    world.grant("a", decision="denied")
    impact = rehearse(daemon.approver, world, capabilities=[READ])
    equal(said(impact), [("2 packages of plan A plan", "nothing stops its approval any more"), ("a", "its denial is overridden")])
    equal(signs(impact)[1], ("overrides", "disc, slash", "amber"))


@scene
def a_long_list_is_cut_and_says_by_how_much(daemon):
    world = daemon.world()
    world.project_grant(READ)
    for name in ("one", "two"):
        world.submit(*[reads("p%d" % number) for number in range(40)], name=name)
        world.approve(name)
    impact = rehearse(daemon.approver, world, "revoked")
    equal((len(impact["holds"]), impact["headline"], len(impact["lines"])), (80, "Holds 80 packages", 50))
    equal((impact["lines"][-1]["effect"], impact["lines"][-1]["text"], impact["lines"][-1]["packages"]), ("more", "31 more", []))


@scene
def only_a_rehearsal_is_told_in_words(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    rehearse(daemon.approver, world, capabilities=[READ])
    told = world.project_grant(READ)["impact"]
    check("lines" not in told and "headline" not in told, told)


# ---- before the dialog: what freeing it would open, on the package as in the queue

def lines_of(opens):
    return [[(line["sign"], line["text"]) for line in opens["lines"][name]] for name in ("once", "always")]


def item_of(daemon, world, label, name="t"):
    items = daemon.approver.get("/v1/recovery?project=%s&limit=500" % world.id).must(200)["items"]
    return next(item for item in items if item.get("packageId") == world.pid(label, name))


@scene
def a_package_tells_what_freeing_it_opens_as_the_queue_does(daemon):
    world = daemon.world()
    held_again(world)
    later = ("loop", "every later plan in %s, until its end date" % world.id)
    opens = world.package("map")["opens"]
    equal(lines_of(opens), [[("check", "this package, for one attempt"), (None, "Nothing besides")],
                            [("check", "this and 3 more held packages"), later]])
    equal((opens["once"], len(opens["always"])), ([world.pid("map")], 4))
    spoilt_one = world.package("z", "i")
    equal((spoilt_one["hold"]["kind"], spoilt_one["opens"]), ("needs_plan_change", None))
    item = item_of(daemon, world, "map")
    equal((item["opens"], item["besides"]), (opens, "nothing"))
    equal(item["cause"]["does"], "opens all 4, and later plans")
    world.grant("map")
    equal(world.package("map")["opens"], None)
    equal(lines_of(world.package("draft")["opens"])[1][0], ("check", "this and 2 more held packages"))


@scene
def what_something_else_holds_too_says_that_an_approval_opens_nothing(daemon):
    world = daemon.world()
    world.submit(package("both", requirement("fs-both", capabilities=[READ]),
                         requirement("gh-both", mcp="github", capabilities=["github.issues.read"]), overlays={"gh-both": "Issue 7."}))
    found = world.package("both")
    equal(found["hold"]["kind"], "needs_grant")
    nothing = ("square, x", "nothing now: something else holds it too")
    equal([lines[0] for lines in lines_of(found["opens"])], [nothing, nothing])


@scene
def a_plan_in_the_queue_says_what_its_approval_opens(daemon):
    world = daemon.world()

    def besides():
        items = daemon.approver.get("/v1/recovery?kind=plan_waits_for_approval&project=" + world.id).must(200)["items"]
        return items[0]["besides"]
    world.submit(reads("a"), free("f"), free("g"))
    equal(besides(), "nothing yet")
    world.grant("a")
    equal(besides(), "3 packages")


if __name__ == "__main__":
    run_scenes()
