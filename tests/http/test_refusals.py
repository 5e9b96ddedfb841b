#!/usr/bin/env python3
"""Refusals of grants, plans and roots that no other suite plays (chapters 2.2, 2.4, 4.4), and the arm that only a catalog change can
make: each names what is missing, and writes nothing. Speaks TAP."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from catalogs import catalog, without  # noqa: E402
from daemon import READ, changed, check, equal, free, is_problem, reads, run_scenes, scene, unchanged  # noqa: E402

LIST = "filesystem.project.list"
SEARCH = "filesystem.project.search"


def refused(world, status, code, ask):
    """The problem that `ask` gets, and that it changed nothing."""
    before = world.see()
    answer = ask()
    is_problem(answer, status, code)
    unchanged(before, world.see(), code)
    return answer.json


def grant(world, label, client=None, **body):
    path = "/v1/packages/%s/grants" % world.pid(label)
    return lambda: (client or world.daemon.approver).post(path, body)


@scene
def an_approval_that_leaves_something_out_names_it(daemon):
    world = daemon.world()
    world.submit(reads("a", READ, LIST))
    body = {"decision": "approved", "capabilities": [READ], "expectedRevision": "0", "rootRevision": "1"}
    told = refused(world, 422, "grant_insufficient", grant(world, "a", **body))
    equal(told["missing"], [LIST])
    equal(world.grant("a", capabilities=[READ, LIST])["grant"]["capabilities"], sorted([READ, LIST]))


@scene
def an_approval_of_what_nobody_asked_for_is_refused(daemon):
    world = daemon.world()
    world.submit(reads("a"), free("b"))
    body = {"decision": "approved", "capabilities": [READ, SEARCH], "expectedRevision": "0", "rootRevision": "1"}
    refused(world, 422, "grant_not_asked", grant(world, "a", **body))
    refused(world, 422, "grant_not_asked", grant(world, "b", **dict(body, capabilities=[READ])))


@scene
def there_must_be_something_to_take_back(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    refused(world, 409, "nothing_to_revoke", grant(world, "a", decision="revoked", expectedRevision="0"))
    path = "/v1/projects/%s/grants" % world.id
    refused(world, 409, "nothing_to_revoke",
            lambda: daemon.approver.post(path, {"decision": "revoked", "expectedRevision": "0"}))
    world.grant("a")
    taken = world.grant("a", decision="revoked", reason="wrong project")
    equal(taken["grant"]["decision"], "revoked")
    refused(world, 409, "nothing_to_revoke", grant(world, "a", decision="revoked", expectedRevision=world.latest_revision(world.pid("a"))))


@scene
def a_task_belongs_to_the_project_it_was_first_used_in(daemon):
    world, other = daemon.world(), daemon.world()
    world.submit(free("a"))
    refused(world, 409, "task_exists",
            lambda: daemon.planner.put("/v1/tasks/" + world.task_id(), dict(world.plan(free("a")), project=other.id)))
    equal(world.task()["project"], world.id)


@scene
def a_root_lies_where_roots_may_and_is_a_folder_that_opens(daemon):
    world = daemon.world()
    path = "/v1/projects/" + world.id
    with open(os.path.join(world.root, "file"), "w", encoding="utf-8"):
        pass
    for root in ("/", daemon.state, os.path.dirname(daemon.state), os.path.join(world.root, "file"), os.path.join(world.root, "none"),
                 world.root + "/../../state"):
        told = refused(world, 422, "root_not_allowed",
                       lambda root=root: daemon.operator.put(path, {"name": "Project", "root": root}))
        check(root not in str(told) or root == "/", "the path is told: %r" % told)


@scene
def an_approval_that_another_catalog_made_too_narrow_waits_for_what_is_missing(daemon):
    world = daemon.world()
    whole, tag = catalog(daemon)
    daemon.admin.put("/v1/catalog", without(whole, LIST), {"If-Match": tag}).must(200)
    world.submit(reads("a", READ, LIST))
    equal(world.package("a")["hold"]["kind"], "needs_plan_change")
    equal(world.grant("a")["grant"]["capabilities"], [READ])
    daemon.admin.put("/v1/catalog", whole).must(200)
    daemon.wait_until(lambda: world.package("a")["hold"]["kind"] == "needs_grant", "the hold by the whole catalog")
    hold = world.package("a")["hold"]
    equal((hold["arm"], hold["facts"]["left"], hold["facts"]["missing"]), ("insufficient", [READ], [LIST]))
    before = world.see()
    world.grant("a")
    equal(world.package("a")["hold"], None)
    check(changed(before, world.see()), "the grant changed nothing")


@scene
def more_packages_than_one_transaction_takes_follow_another_catalog(daemon):
    world = daemon.world()
    for number in range(3):
        world.submit(*[reads("p%d" % index, LIST) for index in range(200)], name="t%d" % number)
    whole, tag = catalog(daemon)
    daemon.admin.put("/v1/catalog", without(whole, LIST), {"If-Match": tag}).must(200)

    def holds():
        held = daemon.admin.get("/v1/stats?project=" + world.id).must(200)["holds"]
        return {item["kind"]: item["count"] for item in held}

    daemon.wait_until(lambda: holds() == {"needs_plan_change": 600}, "all holds by the narrower catalog")
    daemon.admin.put("/v1/catalog", whole).must(200)
    daemon.wait_until(lambda: holds() == {"needs_grant": 600}, "all holds by the whole catalog")
    check(not any(one.get("rejudging") for one in world.task("t2")["packages"]), "a stamp is old")


if __name__ == "__main__":
    run_scenes()
