#!/usr/bin/env python3
"""The actions that views offer: what is allowed is taken, what isn't is refused, and each changes what it says. Speaks TAP."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from daemon import LIST, READ, check, equal, free, reads, run_scenes, scene  # noqa: E402


def action_of(view, name):
    found = [action for action in view["actions"] if action["id"] == name]
    equal(len(found), 1, "actions " + name)
    return found[0]


def follow(client, action):
    """All that a client knows of an action: where it goes, how, and with what."""
    return client.request(action["method"], action["href"], action["body"])


def view(client, world, label, name="t"):
    return client.get("/v1/packages/" + world.pid(label, name)).must(200).json


# ---- an approval for the project is off for whoever has a plan of his own that asks for it (4.1)

def sent_by(world, client, *packages, name):
    client.put("/v1/tasks/" + world.task_id(name), world.plan(*packages)).must(201)


@scene
def always_is_off_for_who_sent_another_open_plan_that_asks_for_it(daemon):
    world = daemon.world()
    both = daemon.client("both-1", "planner", "approver")
    world.submit(reads("a"), reads("l", LIST))
    sent_by(world, both, reads("b"), name="own")
    action = action_of(view(both, world, "a"), "approve_always")
    equal((action["allowed"], action.get("whyNot")), (False, "self_approval"))
    follow(both, action).must(403, "self_approval")
    check(action_of(view(both, world, "l"), "approve_always")["allowed"], "nothing of his lists files")
    check(action_of(view(both, world, "a"), "approve_once")["allowed"], "once is for that package alone")
    check(action_of(view(daemon.approver, world, "a"), "approve_always")["allowed"], "somebody else")
    follow(both, action_of(view(both, world, "l"), "approve_always")).must(201)


@scene
def always_is_on_again_when_his_plan_is_over(daemon):
    world = daemon.world()
    both = daemon.client("both-2", "planner", "approver")
    world.submit(reads("a"))
    sent_by(world, both, reads("b"), name="own")
    daemon.operator.post("/v1/tasks/%s/cancellation" % world.task_id("own"), {}).must(200)
    action = action_of(view(both, world, "a"), "approve_always")
    check(action["allowed"], "still off")
    follow(both, action).must(201)


@scene
def what_the_queue_merges_is_off_if_a_part_of_it_is(daemon):
    world = daemon.world()
    both = daemon.client("both-3", "planner", "approver")
    world.submit(reads("a", LIST), reads("b"))
    sent_by(world, both, reads("c"), name="own")
    items = both.get("/v1/recovery?kind=plan_waits_for_approval&task=" + world.task_id()).must(200)["items"]
    action = action_of(items[0], "approve_always")
    equal((sorted(action["body"]["capabilities"]), action["allowed"]), ([LIST, READ], False))
    follow(both, action).must(403, "self_approval")


@scene
def the_action_of_a_cause_is_off_if_a_part_of_it_is(daemon):
    world = daemon.world()
    both = daemon.client("both-4", "planner", "approver")
    world.submit(reads("a", LIST), reads("b", LIST))
    sent_by(world, both, reads("c"), name="own")
    world.project_grant(READ, LIST)
    world.project_grant(decision="revoked")
    items = both.get("/v1/recovery?kind=package_held&project=" + world.id).must(200)["items"]
    causes = [item["cause"] for item in items if "cause" in item]
    equal(len(causes), 3)
    for cause in causes:
        action = cause["actions"][0]
        equal((sorted(action["body"]["capabilities"]), action["allowed"]), ([LIST, READ], False))
        follow(both, action).must(403, "self_approval")


if __name__ == "__main__":
    run_scenes()
