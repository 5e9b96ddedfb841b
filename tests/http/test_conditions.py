#!/usr/bin/env python3
"""Tags of what is read, conditions of what replaces it, and refusals that name the record in the way (4.1). Speaks TAP."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from daemon import check, equal, free, is_problem, reads, run_scenes, scene, unchanged  # noqa: E402

MALFORMED = ("7", '"', '""', '"7', '"x"', '"-1"', '"1", "2"', 'W/"1"', '"9999999999999999999"', '"sha256:0"')


def current(answer, status=412, code="precondition_failed"):
    found = is_problem(answer, status, code)["current"]
    check(found["at"] is not None, "no time: %r" % found)
    return found


def server_path(world):
    return "/v1/projects/%s/servers/github" % world.id


REPORTED = {"kind": "reported"}


# ---- a project

@scene
def a_projects_tag_changes_with_it_and_with_nothing_else(daemon):
    world = daemon.world()
    path = "/v1/projects/" + world.id
    tag = daemon.operator.get(path).headers["etag"]
    equal(tag, '"%s"' % world.project()["revision"])
    world.submit(reads("a"))
    world.project_grant("filesystem.project.read")
    equal(daemon.operator.get(path).headers["etag"], tag, "what is decided in it")
    equal(daemon.operator.put(path, {}).must(200).headers["etag"], tag, "what changes nothing")
    seen = [tag]
    for change in (lambda: daemon.operator.put(path, {"name": "Another"}), lambda: daemon.operator.put(path, {"root": None}),
                   lambda: daemon.admin.post(path + "/archive", {}), lambda: daemon.admin.post(path + "/unarchive", {})):
        tag = change().must(200).headers["etag"]
        check(tag not in seen, "the same tag again")
        equal(daemon.operator.get(path).headers["etag"], tag)
        seen.append(tag)


@scene
def a_project_is_changed_only_as_it_was_read(daemon):
    world = daemon.world()
    path = "/v1/projects/" + world.id
    tag = daemon.operator.get(path).headers["etag"]
    daemon.operator.put(path, {"name": "First"}, {"If-Match": tag}).must(200)
    before = world.see()
    found = current(daemon.operator.put(path, {"name": "Second"}, {"If-Match": tag}))
    equal((found["actor"]["principal"], '"%s"' % found["revision"]), ("operator-1", daemon.operator.get(path).headers["etag"]))
    current(daemon.operator.put(path, {"name": "Third"}, {"If-None-Match": "*"}))
    unchanged(before, world.see(), "a failed condition")
    daemon.operator.put(path, {"name": "Fourth"}, {"If-Match": "*"}).must(200)
    for headers in ({"If-Match": "*"}, {"If-Match": '"1"'}):
        answer = is_problem(daemon.operator.put("/v1/projects/none", {}, headers), 412, "precondition_failed")
        equal(answer["current"], {"revision": "0", "actor": None, "at": None, "reason": None})
    is_problem(daemon.operator.get("/v1/projects/none"), 404, "not_found")
    daemon.operator.put("/v1/projects/conditional", {}, {"If-None-Match": "*"}).must(201)


@scene
def of_two_who_read_the_same_project_one_changes_it(daemon):
    world = daemon.world()
    path = "/v1/projects/" + world.id
    tag = daemon.operator.get(path).headers["etag"]
    statuses = [daemon.operator.put(path, {"name": name}, {"If-Match": tag}).status for name in ("One", "Two")]
    equal(statuses, [200, 412])
    equal(world.project()["name"], "One")


# ---- a tool server

@scene
def a_tool_server_is_replaced_or_taken_away_only_as_it_was_read(daemon):
    world = daemon.world()
    path = server_path(world)
    is_problem(daemon.admin.put(path, REPORTED, {"If-Match": "*"}), 412, "precondition_failed")
    first = daemon.admin.put(path, REPORTED, {"If-None-Match": "*"}).must(201).headers["etag"]
    equal(daemon.admin.get(path).headers["etag"], first)
    second = daemon.admin.put(path, dict(REPORTED, enabled=False), {"If-Match": first}).must(200).headers["etag"]
    for answer in (daemon.admin.put(path, REPORTED, {"If-Match": first}), daemon.admin.delete(path, {"If-Match": first}),
                   daemon.admin.put(path, REPORTED, {"If-None-Match": "*"})):
        found = current(answer)
        equal((found["actor"]["principal"], '"%s"' % found["revision"]), ("admin", second))
    equal(daemon.admin.get(path).must(200)["enabled"], False)
    daemon.admin.delete(path, {"If-Match": second}).must(204)


# ---- a plan, a catalog

@scene
def a_plan_names_who_sent_the_one_that_stands(daemon):
    world = daemon.world()
    world.submit(free("a"))
    path = "/v1/tasks/" + world.task_id()
    for headers in ({"If-Match": '"7"'}, {"If-None-Match": "*"}):
        found = current(daemon.planner.put(path, world.plan(free("b")), headers))
        equal((found["revision"], found["actor"]["principal"]), ("1", "planner-service"))
    daemon.planner.put(path, world.plan(free("b")), {"If-Match": "*"}).must(200)
    is_problem(daemon.planner.put(path + "-new", world.plan(free("b")), {"If-Match": "*"}), 412, "precondition_failed")


@scene
def a_catalog_names_who_put_the_one_in_force(daemon):
    document = daemon.admin.get("/v1/catalog").json
    for path in ("/v1/catalog", "/v1/catalog?dryRun=true"):
        found = current(daemon.admin.put(path, document, {"If-Match": '"sha256:0"'}))
        equal('"%s"' % found["status"], daemon.admin.get("/v1/catalog").headers["etag"])
        check(int(found["revision"]) >= 1, found)


# ---- what is no condition

@scene
def what_is_no_condition_is_refused_and_changes_nothing(daemon):
    world = daemon.world()
    world.submit(free("a"))
    daemon.admin.put(server_path(world), REPORTED).must(201)
    before = world.see()
    for value in MALFORMED:
        for headers in ({"If-Match": value}, {"If-None-Match": value}):
            for path, body in (("/v1/projects/" + world.id, {"name": "x"}), ("/v1/tasks/" + world.task_id(), world.plan(free("b"))),
                               (server_path(world), REPORTED)):
                is_problem(daemon.admin.put(path, body, headers), 400, "bad_request")
            is_problem(daemon.admin.delete(server_path(world), headers), 400, "bad_request")
    unchanged(before, world.see(), "a malformed condition")


# ---- reading again

@scene
def who_knows_the_tag_of_a_record_is_told_that_nothing_changed(daemon):
    world = daemon.world()
    world.submit(reads("a"), free("b"))
    granted = world.grant("a")["grant"]["id"]
    world.approve()
    run = world.handoff("b")
    paths = ["/v1/packages/" + world.pid("a"), "/v1/grants/" + granted, "/v1/runs/" + run["run"]["id"], "/v1/decisions/" + run["decisionId"]]
    for path in paths:
        tag = daemon.admin.get(path).must(200).headers["etag"]
        for known in (tag, '"x", ' + tag, "W/" + tag, "*"):
            answer = daemon.admin.request("GET", path, headers={"If-None-Match": known}).must(304)
            equal((answer.raw, answer.headers["etag"]), (b"", tag), path)
        equal(daemon.admin.request("GET", path, headers={"If-None-Match": '"x"'}).must(200).headers["etag"], tag, path)
    known = daemon.admin.get(paths[0]).headers["etag"]
    world.handoff("a")
    check(daemon.admin.request("GET", paths[0], headers={"If-None-Match": known}).must(200).headers["etag"] != known, "the same tag")


# ---- refusals name the record in the way

@scene
def an_archived_project_says_who_archived_it_and_why(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    daemon.admin.post("/v1/projects/%s/archive" % world.id, {"reason": "moved to another house"}).must(200)
    for answer in (daemon.planner.put("/v1/tasks/" + world.task_id("n"), world.plan(free("a"))),
                   daemon.operator.put("/v1/projects/" + world.id, {"name": "x"}),
                   daemon.approver.post("/v1/projects/%s/grants" % world.id, {"decision": "revoked", "expectedRevision": "0"})):
        found = current(answer, 409, "project_archived")
        equal((found["actor"]["principal"], found["reason"]), ("admin", "moved to another house"))


@scene
def a_package_says_who_gave_it_the_status_that_is_in_the_way(daemon):
    world = daemon.world()
    world.submit(free("a"), free("b"), free("c"))
    world.approve()
    world.handoff("a")
    answer = daemon.executor.post("/v1/packages/%s/handoff" % world.pid("a"), {})
    found = current(answer, 409, "package_status")
    equal((found["status"], found["actor"]["principal"]), ("running", "runner-service"))
    daemon.operator.post("/v1/packages/%s/cancellation" % world.pid("b"), {"reason": "not needed"}).must(200)
    for answer in (daemon.executor.post("/v1/packages/%s/handoff" % world.pid("b"), {}),
                   daemon.operator.post("/v1/packages/%s/cancellation" % world.pid("b"), {}),
                   daemon.approver.post("/v1/packages/%s/grants" % world.pid("b"), {"decision": "denied", "expectedRevision": "0"})):
        found = current(answer, 409, "package_status")
        equal((found["status"], found["actor"]["principal"], found["reason"]), ("cancelled", "operator-1", "not needed"))
    found = current(daemon.operator.post("/v1/packages/%s/retry" % world.pid("c"), {}), 409, "not_retryable")
    equal((found["status"], found["actor"]["principal"]), ("ready", "approver-1"))


# ---- cursors

def lists_of(world):
    task, package = world.task_id(), world.pid("a")
    return ["/v1/projects", "/v1/tasks", "/v1/tasks?project=" + world.id, "/v1/runs", "/v1/grants", "/v1/grants?package=" + package,
            "/v1/decisions", "/v1/recovery", "/v1/tokens", "/v1/audit", "/v1/tasks/%s/timeline" % task, "/v1/packages/%s/timeline" % package]


def with_query(path, query):
    return path + ("&" if "?" in path else "?") + query


@scene
def a_cursor_is_good_for_its_own_list_and_filters_alone(daemon):
    world, other = daemon.world(), daemon.world()
    for one in (world, other):
        one.submit(reads("a"), free("b"), free("c"))
        for decision in ("approved", "denied", "approved"):
            one.grant("a", decision=decision)
        one.approve()
        for label in "abc":
            one.handoff(label)
    cursors = {}
    for path in lists_of(world):
        answer = daemon.admin.get(with_query(path, "limit=1")).must(200)
        if answer["next"] is not None:
            cursors[path] = answer["next"].split("cursor=")[1].split("&")[0]
            daemon.admin.get(answer["next"]).must(200)
    check(len(cursors) >= 10, "only %d lists have a second page" % len(cursors))
    for path in lists_of(world):
        for bad in ("x", "1", "-", "0", "%00", "1-2-3", "zzzz", "9" * 40, "../..", "%27"):
            is_problem(daemon.admin.get(with_query(path, "cursor=" + bad)), 400, "bad_request")
        for its, cursor in cursors.items():
            if its != path:
                is_problem(daemon.admin.get(with_query(path, "cursor=" + cursor)), 400, "bad_request")
    is_problem(daemon.admin.get("/v1/tasks?project=%s&cursor=%s" % (other.id, cursors.get("/v1/tasks"))), 400, "bad_request")
    # In whatever order the filters are given.
    page = daemon.admin.get("/v1/grants?limit=1&live=false&project=" + world.id).must(200)["next"].split("cursor=")[1].split("&")[0]
    daemon.admin.get("/v1/grants?project=%s&cursor=%s&live=false" % (world.id, page)).must(200)


if __name__ == "__main__":
    run_scenes()
