#!/usr/bin/env python3
"""What may be done with a project, as its view offers it: each allowed action is taken, each other says why not. Speaks TAP."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from daemon import LIST, READ, check, equal, free, reads, rfc3339, run_scenes, scene  # noqa: E402


def view(client, world):
    return client.get("/v1/projects/" + world.id).must(200).json


def action_of(shown, name):
    found = [action for action in shown["actions"] if action["id"] == name]
    equal(len(found), 1, "actions " + name)
    return found[0]


def off(action):
    return None if action["allowed"] else (action["whyNot"], action["because"])


def offs(shown):
    return {action["id"]: off(action) for action in shown["actions"]}


def follow(client, action, **more):
    """All that a client knows of an action: where it goes, how, and with what."""
    return client.request(action["method"], action["href"], dict(action["body"], **more))


NO_ACCESS = ("no_access", "The project has no standing access.")
NOTHING_ASKED = ("nothing_asked", "No package waits for read access here.")


@scene
def a_project_where_nothing_waits_says_what_cant_be_done_and_why(daemon):
    world = daemon.world()
    shown = view(daemon.admin, world)
    equal([action["id"] for action in shown["actions"]], ["approve_always", "narrow", "remove_access", "set_root"])
    equal(offs(shown), {"approve_always": NOTHING_ASKED, "narrow": NO_ACCESS, "remove_access": NO_ACCESS, "set_root": None})
    equal(action_of(shown, "set_root")["label"], "Change the folder…")
    rootless = daemon.world(False)
    rootless.submit(reads("a"))
    shown = view(daemon.admin, rootless)
    equal((off(action_of(shown, "approve_always")), action_of(shown, "set_root")["label"]),
          (("no_root", "The project has no folder yet."), "Set the folder…"))


@scene
def always_offers_what_waits_and_nothing_more(daemon):
    world = daemon.world()
    world.submit(reads("a"), reads("l", LIST), free("f"))
    action = action_of(view(daemon.approver, world), "approve_always")
    equal((off(action), sorted(action["body"]["capabilities"])), (None, [LIST, READ]))
    equal(sorted(daemon.approver.post(action["href"] + "?dryRun=true", action["body"]).must(200)["impact"]["opens"]),
          sorted(world.pid(label) for label in "al"))
    follow(daemon.approver, action).must(201)
    equal(offs(view(daemon.approver, world))["approve_always"], NOTHING_ASKED)
    other = daemon.world()
    other.submit(reads("a"))
    other.project_grant(LIST)
    action = action_of(view(daemon.approver, other), "approve_always")
    equal((action["label"], action["body"]["capabilities"]), ("Widen project access…", [READ]))
    follow(daemon.approver, action).must(201)
    equal(sorted(view(daemon.approver, other)["grant"]["capabilities"]), [LIST, READ])


@scene
def narrowing_keeps_the_end_and_takes_nothing_by_itself(daemon):
    world = daemon.world()
    end = rfc3339(3600)
    world.project_grant(READ, LIST, expiresAt=end)
    world.submit(reads("a"))
    action = action_of(view(daemon.approver, world), "narrow")
    equal((action["label"], action["inputs"]), ("Narrow…", ["reason", "expiresAt"]))
    equal((action["body"]["replace"], sorted(action["body"]["capabilities"]), action["body"]["expiresAt"]), (True, [LIST, READ], end))
    grant = follow(daemon.approver, action, capabilities=[LIST], reason="enough").must(201)["grant"]
    equal((grant["capabilities"], grant["expiresAt"], grant["reason"]), ([LIST], end, "enough"))
    equal(world.package("a")["hold"]["arm"], "narrowed")


@scene
def removing_takes_the_access_away_and_can_be_done_once(daemon):
    world = daemon.world()
    world.project_grant(READ)
    world.submit(reads("a"))
    action = action_of(view(daemon.approver, world), "remove_access")
    equal((off(action), action["inputs"]), (None, ["reason"]))
    equal(daemon.approver.post(action["href"] + "?dryRun=true", action["body"]).must(200)["impact"]["headline"], "Holds 1 package")
    follow(daemon.approver, action).must(201)
    shown = view(daemon.approver, world)
    equal((off(action_of(shown, "remove_access")), action_of(shown, "approve_always")["label"]), (NO_ACCESS, "Always allow again…"))
    follow(daemon.approver, action).must(409, "revision_conflict")


@scene
def an_old_folders_access_is_none(daemon):
    world = daemon.world()
    world.project_grant(READ)
    os.mkdir(world.root + ".new")
    follow(daemon.operator, action_of(view(daemon.operator, world), "set_root"), root=world.root + ".new").must(200)
    equal(offs(view(daemon.approver, world))["narrow"], NO_ACCESS)


@scene
def the_folder_stays_while_a_run_reads_it(daemon):
    world = daemon.world()
    world.project_grant(READ)
    world.submit(reads("a"))
    world.approve()
    run = world.handoff("a")
    action = action_of(view(daemon.operator, world), "set_root")
    equal(off(action), ("run_active", "A run reads it now."))
    os.mkdir(world.root + ".new")
    follow(daemon.operator, action, root=world.root + ".new").must(409, "run_active")
    world.outcome(run)
    action = action_of(view(daemon.operator, world), "set_root")
    check(action["allowed"], action)
    follow(daemon.operator, action, root=world.root + ".new").must(200)


@scene
def roles_and_ones_own_plan_are_told_as_everywhere(daemon):
    world = daemon.world()
    both = daemon.client("both-p", "planner", "approver")
    both.put("/v1/tasks/" + world.task_id(), world.plan(reads("a"))).must(201)
    action = action_of(view(both, world), "approve_always")
    equal(off(action), ("self_approval", "Someone else must approve what you sent."))
    follow(both, action).must(403, "self_approval")
    world.project_grant(READ)
    equal(off(action_of(view(both, world), "narrow"))[0], "self_approval")
    equal(off(action_of(view(both, world), "remove_access")), None)
    shown = view(daemon.auditor, world)
    equal(off(action_of(shown, "remove_access")), ("role_missing", "Needs role approver."))
    equal(off(action_of(shown, "set_root")), ("role_missing", "Needs role operator."))
    world.submit(reads("b"), name="u")
    package = daemon.auditor.get("/v1/packages/" + world.pid("b", "u")).must(200)
    equal(off(action_of(package, "request_changes")), ("role_missing", "Needs role approver or operator."))


@scene
def each_server_can_be_looked_at_where_the_daemon_can_look(daemon):
    world = daemon.world()
    world.health()
    rows = {row["mcpId"]: row for row in view(daemon.operator, world)["servers"]}
    equal(list(rows), ["filesystem"])
    for path in ("", "/servers", "/health"):
        answer = daemon.operator.get("/v1/projects/%s%s" % (world.id, path)).must(200).json
        for row in answer["items"] if path else answer["servers"] + answer["health"]:
            (action,) = row["actions"]
            equal((action["id"], action["href"]), ("check_server", "/v1/projects/%s/servers/%s/check" % (world.id, row["mcpId"])))
            if row["mcpId"] == "github":
                equal(off(action), ("reported", "Only its outside checker can look at it."))
            else:
                equal((off(action), follow(daemon.operator, action).must(200)["asked"]), (None, True))


@scene
def an_archived_project_offers_nothing(daemon):
    world = daemon.world()
    world.project_grant(READ)
    daemon.admin.post("/v1/projects/%s/archive" % world.id, {}).must(200)
    shown = view(daemon.admin, world)
    equal(shown["actions"], [])
    equal([row["actions"] for row in shown["servers"] + shown["health"]], [[]] * len(shown["servers"] + shown["health"]))


if __name__ == "__main__":
    run_scenes()
