#!/usr/bin/env python3
"""story.py - a daemon with something to look at, for the tests of the console.

It starts a daemon, lives through a day and a half of three projects (with its clock behind, in parts, each nearer to now), prints one line of JSON (its address, tokens and ids) and then does what each
line of its input says: `stop`, `start`, `kill`. It answers each with `done`, and ends with its input.
"""
import glob
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "http"))
import daemon as house  # noqa: E402
from daemon import LIST, READ, broken, check, equal, free, package, requirement  # noqa: E402

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
        requirement("gh-triage", agent=agent, mcp="github", capabilities=["github.issues.create"], level="optional",
                    action="continue_without_mcp", index=2),
        agent=agent, after=["read-the-build-files"], overlays={"gh-read": "The open issues about the build."},
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
        answer = self.daemon.planner.put("/v1/tasks/" + task, plan)
        check(answer.status in (200, 201), repr(answer))
        return answer.json

    def task_id(self, name="t"):
        return name

    def health(self, mcp="github", state="healthy", seconds_ago=0, **more):
        """A report at the daemon's own time."""
        return super().health(mcp, state, checkedAt=house.rfc3339(-self.daemon.ago_s - seconds_ago), **more)


HOUR = 60  # the parts of the story are so many minutes ago


def asks(label, agent, *capabilities, **more):
    """A package of this agent that waits for a grant."""
    return package(label, requirement("fs-" + label, agent=agent, capabilities=capabilities or (READ,)), agent=agent, **more)


def support_archive(atlas, *more):
    """The plan that was revised twice: three of its seven packages can't go ahead any more."""
    atlas.send("index-the-support-archive", "Index the support archive", asks("read-tickets", "archive-1"), asks("group-by-topic", "archive-1", LIST),
               broken("sort-reports", after=["read-tickets"]), free("collect-links"), *more)
    atlas.preview("index-the-support-archive")


def modernise(atlas, *more):
    atlas.send("modernise-the-build", "Modernise the build", asks("read-the-build-files", "backend-1"), map_boundaries(),
               asks("find-dead-configuration", "backend-1"), asks("draft-release-notes", "docs-1"), *more)


def well(place):
    """The place, its GitHub seen healthy just now."""
    place.health("github")
    return place


def stop_at_the_handoff(atlas):
    well(atlas).handoff("map-module-boundaries", "modernise-the-build", status=409)


def live_atlas(atlas, ana, marek):
    """Read access given, a plan approved, access removed: what was next is held; another plan waits. [(minutes ago, what was done)]"""
    build, archive, runs = "modernise-the-build", "index-the-support-archive", []
    return [
        (27 * HOUR, lambda: atlas.project_grant(READ, LIST, client=ana, reason="Build work of this quarter")),
        (26 * HOUR, lambda: support_archive(atlas)),
        (3 * HOUR + 5, lambda: support_archive(atlas, free("name-owners"))),
        (91, lambda: modernise(atlas)),
        (90, lambda: modernise(atlas, asks("count-test-gaps", "reviewer-1"))),
        (89, lambda: well(atlas).preview(build)),
        (71, lambda: well(atlas).approve(build, "2", client=ana)),
        (64, lambda: runs.append(atlas.handoff("read-the-build-files", build))),
        (43, lambda: atlas.outcome(runs[0], summary="12 files read")),
        (38, lambda: atlas.project_grant(decision="revoked", client=marek, reason="moving to a new checkout")),
        (36, lambda: stop_at_the_handoff(atlas)),
        (24, lambda: support_archive(atlas, free("name-owners"), free("tidy-labels"),
                                     free("write-the-index", after=["group-by-topic", "sort-reports"]))),
        (0, lambda: well(atlas).daemon.operator.post("/v1/projects/atlas/servers/filesystem/check", {}).must(200)),
    ]


def licence_audit(quarry, ana):
    quarry.health("github")
    quarry.send("licence-audit", "Licence audit", github("check-licence-headers", agent="reviewer-2"), github("list-stale-branches", agent="backend-4"))
    quarry.approve("licence-audit", client=ana)


def lose_the_sign_in(quarry, seconds_ago=0):
    quarry.health("github", "auth_required", error="the sign-in of the bot account has ended", seconds_ago=seconds_ago)


def link_check(quarry):
    quarry.send("nightly-link-check", "Nightly link check", free("collect-links"), free("report-dead-links", after=["collect-links"]))
    quarry.preview("nightly-link-check")


def live_quarry(quarry, ana):
    """A tool server that lost its sign-in, a plan with nothing against it, one that can't be."""
    keys = broken("rotate-staging-keys", agent="ops-1")
    return [
        (4 * HOUR + 20, lambda: quarry.send("rotate-staging-keys", "Rotate staging keys", keys)),
        (80, lambda: licence_audit(quarry, ana)),
        (72, lambda: lose_the_sign_in(quarry)),
        (6, lambda: link_check(quarry)),
        (0, lambda: lose_the_sign_in(quarry, seconds_ago=12)),
    ]


REVIEW = "quarterly-review"
REVIEWED = ("profile-the-import-job", "rebuild-the-glossary", "trace-slow-queries")


def approve_the_review(borealis, ana):
    borealis.send(REVIEW, "Quarterly review", asks(REVIEWED[0], "backend-3"), asks(REVIEWED[1], "docs-2"), asks(REVIEWED[2], "backend-3", SEARCH))
    for label in REVIEWED:
        borealis.grant(label, REVIEW, client=ana)
    borealis.approve(REVIEW, client=ana)


def fail_the_glossary(borealis):
    borealis.outcome(borealis.handoff("rebuild-the-glossary", REVIEW), "failed", summary="The glossary's index was locked")


def live_borealis(borealis, ana):
    """A denial, a used-up approval, one that was taken back."""
    return [
        (29 * HOUR, lambda: approve_the_review(borealis, ana)),
        (28 * HOUR, lambda: borealis.grant("profile-the-import-job", REVIEW, decision="denied", client=ana, reason="not this quarter")),
        (2 * HOUR + 5, lambda: fail_the_glossary(borealis)),
        (52, lambda: borealis.grant("trace-slow-queries", REVIEW, decision="revoked", client=ana, reason="wrong package")),
    ]


# ---- The routine of a day, so that its hours have something to count: what one plan of the hour was told, and then it was called off.

ALLOWED = (2, 2, 3, 4, 5, 8, 10, 9, 7, 5, 3, 3, 2, 2, 1, 1, 2, 2, 4, 5, 8, 6)
WARNED = (1, 0, 0, 1, 2, 2, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 1)
BLOCKED = (0, 1, 0, 1, 1, 2, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1)


def run_routine(quarry, at):
    name = "routine-%d" % at
    packages = [package("watch-%d" % k) for k in range(ALLOWED[at])] + [free("sweep-%d" % k) for k in range(WARNED[at])]
    quarry.send(name, "Routine %d" % (at + 1), *packages, *(broken("probe-%d" % k) for k in range(BLOCKED[at])))
    quarry.preview(name)
    quarry.daemon.operator.post("/v1/tasks/%s/cancellation" % name, {"reason": "done for this hour"}).must(200)


def live_the_day(quarry):
    return [((len(ALLOWED) - at) * HOUR + 30, lambda at=at: run_routine(quarry, at)) for at in range(len(ALLOWED))]


# ---- Time: the daemon lives through it with its clock behind, moved forward before each part, and ends with the clock of the machine.

FIRST = 30 * HOUR


def library():
    """What moves a program's clock: Debian's faketime. Its command isn't asked: it fails where one of the same number was killed."""
    found = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    if not found:
        sys.exit("story.py: there is no faketime, without which the queue has no ages (Debian: faketime)")
    return found[0]


class Past(house.Daemon):
    """A daemon that reads how far its clock is behind from a file in its state folder, the one folder that it may read."""

    ago_s = FIRST * 60

    def start(self):
        before = dict(os.environ)
        if self.ago_s > 0:
            self.set_clock(self.ago_s // 60)
            # Only the time of day moves; the fix is for C libraries of long ago, and takes waits on the monotonic clock for over.
            os.environ.update(LD_PRELOAD=library(), FAKETIME_TIMESTAMP_FILE=self.clock(), FAKETIME_NO_CACHE="1", FAKETIME_DONT_FAKE_MONOTONIC="1",
                              FAKETIME_FORCE_MONOTONIC_FIX="0", FAKETIME_DISABLE_SHM="1", ASAN_OPTIONS=before.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0")
        super().start()
        os.environ.clear()
        os.environ.update(before)

    def clock(self):
        return os.path.join(self.state, "clock")

    def set_clock(self, minutes_ago):
        self.ago_s = minutes_ago * 60
        with open(self.clock() + ".new", "w", encoding="ascii") as file:
            file.write("-%dm\n" % minutes_ago)
        os.rename(self.clock() + ".new", self.clock())

    def come_to_now(self):
        """From now on it has the clock of the machine."""
        equal(self.stop(), 0, "its exit status")
        os.unlink(self.clock())
        self.ago_s = 0
        self.start()


def live(daemon):
    """The whole story; what the tests are told."""
    clients = {name: daemon.client(name, *roles) for name, roles in PEOPLE.items()}
    daemon.planner = daemon.client("planner-1", "planner")
    daemon.executor = daemon.client("runner-1", "executor")
    ana = clients["ana"]
    atlas, quarry, borealis = (Place(daemon, name.lower(), name) for name in ("Atlas", "Quarry", "Borealis"))
    story = live_atlas(atlas, ana, clients["marek"]) + live_quarry(quarry, ana) + live_borealis(borealis, ana) + live_the_day(quarry)
    for minutes_ago, happen in sorted(story, key=lambda part: -part[0]):
        daemon.set_clock(minutes_ago)
        happen()
    daemon.come_to_now()
    tokens = {name: client.token for name, client in clients.items()}
    tokens.update(planner=daemon.planner.token, executor=daemon.executor.token, operator=daemon.operator.token)
    return {"url": "http://127.0.0.1:%d" % daemon.port, "tokens": tokens, "roots": os.path.join(daemon.folder, "roots")}


def main():
    # A run lasts over parts of the story: its lease too, whenever the daemon looks.
    with house.running("[runs]\nlease_seconds = 3600\n", kind=Past) as daemon:
        print(json.dumps(live(daemon)), flush=True)
        daemon.listen = "127.0.0.1:%d" % daemon.port  # pages know it by its port
        for line in sys.stdin:
            {"stop": daemon.stop, "start": daemon.start, "kill": daemon.kill9}[line.strip()]()
            print("done", flush=True)


if __name__ == "__main__":
    main()
