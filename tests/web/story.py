#!/usr/bin/env python3
"""story.py - a daemon with something to look at, for the tests of the console.

It starts a daemon, lives through a day of three projects, prints one line of JSON (its address, tokens and ids) and then does what each
line of its input says: `stop`, `start`, `kill`. It answers each with `done`, and ends with its input.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "http"))
import daemon as house  # noqa: E402
from daemon import LIST, READ, broken, free, package, reads, requirement  # noqa: E402

SEARCH = "filesystem.project.search"
PEOPLE = {"ana": ("approver", "operator", "auditor"), "marek": ("approver", "operator"), "reader": ("auditor",), "pat": ("planner",),
          "root": ("admin",)}


def github(label, **more):
    """A package that needs GitHub to be well."""
    key = "gh-" + label
    return package(label, requirement(key, mcp="github", capabilities=["github.issues.read"]), overlays={key: "The open issues."}, **more)


def map_boundaries():
    """The package of the pictures: two filesystem reads, two things of GitHub it can do without, one subtask."""
    agent = "backend-2"
    return package(
        "map-module-boundaries",
        requirement("fs-map", agent=agent, capabilities=[READ, LIST]),
        requirement("gh-read", agent=agent, mcp="github", capabilities=["github.issues.read"], level="optional",
                    action="continue_without_mcp", index=1),
        requirement("gh-create", agent=agent, mcp="github", capabilities=["github.issues.create"], level="optional",
                    action="continue_without_mcp", index=2),
        agent=agent, after=["read-the-build-files"],
        subtasks=[{"id": "draw-map", "agent": agent, "mcpCapabilities": [LIST],
                   "capabilityBindings": [{"capability": LIST, "requirementKey": "fs-map"}]}])


class Place(house.World):
    """A project of the story, with words of its own."""

    def __init__(self, daemon, project, name):
        super().__init__(daemon, project, True)
        self.name = name

    def send(self, task, title, *packages):
        """PUT of a plan under its own title."""
        plan = {"project": self.id, "title": title, "packages": list(packages)}
        return self.daemon.planner.put("/v1/tasks/" + task, plan).must(201).json

    def task_id(self, name="t"):
        return name

    def run_to_end(self, label, task):
        self.outcome(self.handoff(label, task))


def live_atlas(daemon, ana, marek):
    """Read access given, a plan approved, access removed: what was next is held; another plan waits."""
    atlas = Place(daemon, "atlas", "Atlas")
    atlas.project_grant(READ, LIST, client=ana, reason="Build work of this quarter")
    atlas.send("modernise-the-build", "Modernise the build", reads("read-the-build-files", agent="backend"), map_boundaries(),
               reads("find-dead-configuration"), reads("draft-release-notes"), reads("count-test-gaps", agent="backend"))
    atlas.preview("modernise-the-build")
    atlas.approve("modernise-the-build", client=ana)
    atlas.run_to_end("read-the-build-files", "modernise-the-build")
    atlas.project_grant(decision="revoked", client=marek, reason="moving to a new checkout")
    atlas.handoff("map-module-boundaries", "modernise-the-build", status=409)
    atlas.send("index-the-support-archive", "Index the support archive", reads("read-tickets"), reads("group-by-topic", LIST),
               broken("sort-reports", after=["read-tickets"]), free("collect-links"), free("name-owners"), free("tidy-labels"),
               free("write-the-index", after=["group-by-topic", "sort-reports"]))
    atlas.preview("index-the-support-archive")
    return atlas


def live_quarry(daemon, ana):
    """A tool server that lost its sign-in, a plan with nothing against it, one that can't be."""
    quarry = Place(daemon, "quarry", "Quarry")
    quarry.health("github")
    quarry.send("licence-audit", "Licence audit", github("check-licence-headers"), github("list-stale-branches"))
    quarry.approve("licence-audit", client=ana)
    quarry.health("github", "auth_required", error="the sign-in of the bot account has ended")
    quarry.send("nightly-link-check", "Nightly link check", free("collect-links"), free("report-dead-links", after=["collect-links"]))
    quarry.preview("nightly-link-check")
    quarry.send("rotate-staging-keys", "Rotate staging keys", broken("rotate-staging-keys", agent="ops-1"))
    return quarry


def live_borealis(daemon, ana):
    """A denial, a used-up approval, one nobody decided."""
    borealis = Place(daemon, "borealis", "Borealis")
    borealis.send("quarterly-review", "Quarterly review", reads("profile-the-import-job"), reads("rebuild-the-glossary"),
                  reads("trace-slow-queries", SEARCH))
    for label in ("profile-the-import-job", "rebuild-the-glossary", "trace-slow-queries"):
        borealis.grant(label, "quarterly-review", client=ana)
    borealis.approve("quarterly-review", client=ana)
    borealis.outcome(borealis.handoff("rebuild-the-glossary", "quarterly-review"), "failed", summary="The glossary's index was locked")
    borealis.grant("profile-the-import-job", "quarterly-review", decision="denied", client=ana, reason="not this quarter")
    borealis.grant("trace-slow-queries", "quarterly-review", decision="revoked", client=ana, reason="wrong package")
    return borealis


def live(daemon):
    """The whole story; what the tests are told."""
    clients = {name: daemon.client(name, *roles) for name, roles in PEOPLE.items()}
    daemon.planner = daemon.client("planner-1", "planner")
    daemon.executor = daemon.client("runner-1", "executor")
    live_atlas(daemon, clients["ana"], clients["marek"])
    live_quarry(daemon, clients["ana"])
    live_borealis(daemon, clients["ana"])
    tokens = {name: client.token for name, client in clients.items()}
    tokens.update(planner=daemon.planner.token, executor=daemon.executor.token, operator=daemon.operator.token)
    return {"url": "http://127.0.0.1:%d" % daemon.port, "tokens": tokens, "roots": os.path.join(daemon.folder, "roots")}


def main():
    with house.running() as daemon:
        print(json.dumps(live(daemon)), flush=True)
        daemon.listen = "127.0.0.1:%d" % daemon.port  # pages know it by its port
        for line in sys.stdin:
            {"stop": daemon.stop, "start": daemon.start, "kill": daemon.kill9}[line.strip()]()
            print("done", flush=True)


if __name__ == "__main__":
    main()
