#!/usr/bin/env python3
"""The plans in examples/ do what examples/README.md says of them. Speaks TAP."""
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
from daemon import check, equal, run_scenes, scene  # noqa: E402

EXAMPLES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "examples")


def read(name):
    with open(os.path.join(EXAMPLES, name), encoding="utf-8") as file:
        return file.read()


def submitted(daemon, name):
    """A world in which the example is submitted under its own project's name."""
    world = daemon.world()
    plan = json.loads(read(name + ".json"))
    equal(plan["project"], "tracker")
    plan["project"] = world.id
    daemon.planner.put("/v1/tasks/" + world.task_id(), plan).must(201)
    return world


def previewed(world):
    return {item["label"]: item for item in world.preview()["packages"]}


@scene
def the_readme_speaks_of_every_package_and_no_other(daemon):
    text = read("README.md")
    for name in ("tracker", "cannot-be-approved"):
        section = text.split("## %s.json" % name)[1].split("\n## ")[0]
        told = re.findall(r"^\| `([a-z-]+)` \|", section, re.MULTILINE)
        equal(told, [package["label"] for package in json.loads(read(name + ".json"))["packages"]], name)


@scene
def the_tracker_waits_for_two_grants_and_goes_the_whole_way(daemon):
    world = submitted(daemon, "tracker")
    found = previewed(world)
    equal({label: item["status"] for label, item in found.items()},
          {"backend": "blocked", "frontend": "blocked", "qa": "warning", "docs": "warning"})
    for label in ("backend", "frontend"):
        equal(world.package(label)["hold"]["arm"], "never_approved", label)
    equal([item["label"] for item in world.approve(status=409)["blocked"]], ["backend", "frontend"])
    world.grant("backend")
    world.grant("frontend")
    world.approve()
    order = []
    while world.task()["status"] == "approved":
        handed = daemon.executor.post("/v1/tasks/%s/handoff" % world.task_id(), {}).must(200).json
        daemon.secrets.append(handed["runToken"])
        order.append((handed["package"]["label"], sorted(handed["given"]["subtasks"])))
        world.outcome(handed)
    equal((order[:2], sorted(order[2:])), ([("backend", ["review", "schema"]), ("frontend", ["date-field"])], [("docs", []), ("qa", [])]))
    equal(world.task()["status"], "completed")


@scene
def the_trackers_github_text_is_admitted_while_the_server_is_healthy(daemon):
    world = submitted(daemon, "tracker")
    world.health()
    equal(previewed(world)["qa"]["status"], "allowed")
    world.health(state="unhealthy", error="connection refused")
    equal(previewed(world)["qa"]["status"], "warning")


@scene
def nothing_of_the_plan_that_cannot_be_approved_is_opened_by_a_grant(daemon):
    world = submitted(daemon, "cannot-be-approved")
    world.health()
    world.project_grant("filesystem.project.read", "filesystem.project.list", "filesystem.project.search")
    told = dict(re.findall(r"^\| `([a-z-]+)` \| (\S+) \|", read("README.md").split("## cannot-be-approved.json")[1], re.MULTILINE))
    words = {"2": "is not known to the catalog", "4": "is a live operation", "3": "is prohibited", "6a": "has no text for the prompt",
             "\u2013": "is not bound to exactly one requirement"}
    blocked = world.approve(status=409)["blocked"]
    equal([item["label"] for item in blocked], list(told))
    for item in blocked:
        equal((item["primaryRecoveryAction"], item["retryable"]), ("revise_plan", False), item["label"])
        check(words[told[item["label"]]] in item["reason"], "%s: %s" % (item["label"], item["reason"]))


@scene
def the_legacy_artifact_is_joined_and_asks_again(daemon):
    world = submitted(daemon, "legacy")
    evaluations = previewed(world)["import"]["result"]["evaluations"]
    equal([(item["source"]["requirementKey"], item["source"]["decisionId"], item["decision"]["status"]) for item in evaluations],
          [("legacy-0-filesystem-backend", "adm-2024-0117", "blocked"),
           ("legacy-1-github-backend", "req-legacy-1-github-backend", "warning")])
    equal(world.package("import")["hold"]["arm"], "never_approved")
    world.grant("import")
    world.approve()
    equal(world.handoff("import")["given"]["subtasks"], ["read-old-issues"])


if __name__ == "__main__":
    run_scenes()
