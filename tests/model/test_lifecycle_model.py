#!/usr/bin/env python3
"""The executable model of chapter 2: by itself, and beside a real admitd (found through ADMITD) in random operations of one client.

3000 steps, always the same; ADMITD_SLOW=1 walks 100 000, each time others, by the seed that it prints; ADMITD_SEED names one. Speaks TAP.
"""
import itertools
import os
import random
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "http"))
sys.path.insert(0, HERE)
import random_walk  # noqa: E402
import walk_drive  # noqa: E402
from daemon import running  # noqa: E402
from ledger import Grant, dropped_by, effective  # noqa: E402
from lifecycle import World  # noqa: E402
from plans import LIST, READ, SEARCH, package  # noqa: E402
from tap import Failed, check, equal, run, test  # noqa: E402
from walk_drive import PRINCIPALS  # noqa: E402

SLOW = os.environ.get("ADMITD_SLOW") == "1"
STEPS = 100000 if SLOW else 3000
SEED = os.environ.get("ADMITD_SEED") or (str(random.SystemRandom().randrange(10**6)) if SLOW else "check")

ROWS = {"P%d" % number for number in range(1, 14)}
ARMS = {"never_approved", "denied", "used_up", "removed", "narrowed", "root_changed", "expired", "taken_back", "no_root",
        "insufficient"}


# ---- the model by itself

def record(decision, revision, package_name=None, capabilities=(READ,), root=1, expired=False, used=None, dropped=()):
    made = Grant(name="g%d" % revision, package=package_name, decision=decision, capabilities=capabilities, dropped=dropped,
                 revision=revision, root_revision=root, has_end=expired, replaces=None)
    made.expired, made.used_by = expired, used
    return made


def own(decision, revision=1, **more):
    return record(decision, revision, "t0/a#1", **more)


@test
def each_row_of_the_precedence_table_decides_where_it_says():
    usable = record("approved", 2)
    for wanted, mine, projects in (
            ("P1", own("denied"), usable), ("P2", own("denied"), None), ("P2", own("denied", 3), usable), ("P3", own("approved"), None),
            ("P3", own("approved", 3), usable), ("P4", own("approved"), usable), ("P4", None, usable),
            ("P4", own("approved", 3, used="r"), usable), ("P4", own("denied", root=7), usable), ("P4", own("revoked", 3), usable),
            ("P5", own("approved", used="r"), None), ("P5", own("approved", capabilities=[LIST]), record("revoked", 2)),
            ("P6", own("denied", root=7), None), ("P6", own("approved", root=7, expired=True), None), ("P6", own("revoked", root=7), None),
            ("P7", own("approved", expired=True), None), ("P7", own("approved", expired=True, used="r"), None), ("P8", own("revoked"), None),
            ("P9", None, record("revoked", 2, root=7)), ("P10", None, record("approved", 2, root=7)),
            ("P11", None, record("approved", 2, capabilities=[LIST], dropped=[READ])),
            ("P12", None, record("approved", 2, expired=True)), ("P13", None, None), ("P13", None, record("approved", 2, capabilities=[LIST]))):
        equal(effective(mine, projects, 1, frozenset([READ]))[0], wanted, "%s, %s" % (mine and mine.__dict__, projects and projects.__dict__))


@test
def every_pair_of_records_lands_on_a_row():
    mine = [None] + [own(decision, revision, root=root, expired=expired, used=used) for decision, revision, root, expired, used
                     in itertools.product(("approved", "denied", "revoked"), (1, 9), (1, 2), (False, True), (None, "r"))]
    projects = [None] + [record(decision, 5, root=root, expired=expired, capabilities=capabilities) for decision, root, expired, capabilities
                         in itertools.product(("approved", "revoked"), (1, 2), (False, True), ((READ,), (LIST,)))]
    rows = {effective(left, right, 1, frozenset([READ]))[0] for left in mine for right in projects}
    equal(len(rows), 12, "rows (all but P11, which wants something dropped)")


@test
def what_is_dropped_is_remembered_for_one_root():
    first = record("approved", 1, capabilities=[READ, LIST])
    equal(dropped_by(first, 1, [LIST, SEARCH]), {READ})
    equal(dropped_by(record("revoked", 2, capabilities=(), dropped=[READ]), 1, [SEARCH]), {READ})
    equal(dropped_by(first, 2, [SEARCH]), frozenset())


@test
def a_world_goes_the_whole_way():
    world = World(PRINCIPALS)
    world.put_project("p0", "x")
    world.submit("t0", "p0", [package("a", "reads", "backend", [READ]), package("b", "plain", "docs", [], after=["a"])], "planner")
    equal(world.approve("t0", 1, None, "approver").faults, {(409, "admission_blocked")})
    equal(world.grant_package("t0/a#1", "approved", 0, "approver-planner", root_revision=1).faults, {(403, "self_approval")})
    equal(world.grant_package("t0/a#1", "approved", 0, "approver", root_revision=1).faults, set())
    equal(world.approve("t0", 1, 1, "approver").faults, set())
    equal([one.status() for one in world.tasks["t0"].packages], ["ready", "pending"])
    for label in ("a", "b"):
        claimed = world.hand_off_next("t0", "executor").value
        equal(claimed.package.label, label)
        equal(world.put_project("p0", "y").faults, {(409, "run_active")} if label == "a" else set())
        world.report_outcome(claimed.name, "succeeded")
    equal(world.tasks["t0"].status, "completed")


# ---- beside the daemon

def walk(daemon, seed, steps):
    class Arguments:
        episode, leave_out = 300, ""
    Arguments.seed, Arguments.steps = seed, steps
    return random_walk.walk_on(daemon, Arguments)


@test
def the_daemon_and_the_model_agree_step_by_step():
    with running(random_walk.CONFIG) as daemon:
        equal(random_walk.missing_operations(daemon), [], "operations without a route")
        walked, failed = walk(daemon, SEED, STEPS)
        check(failed is None, "seed %s: %s" % (SEED, failed and failed[0]))
        check(walked.abandoned <= walked.episodes // 10, "%d of %d episodes were given up" % (walked.abandoned, walked.episodes))
        if SLOW:
            equal(ROWS - walked.rows, set(), "rows of the table that decided nothing")
            equal(ARMS - {arm for kind, arm in walked.arms if kind == "needs_grant"}, set(), "arms that no hold had")


class Forgetful(World):
    """A wrong model: a used approval stays unused."""

    def claim(self, package, client):
        verdict = super().claim(package, client)
        for grant in verdict.value.grants.values():
            grant.used_by = None
        self.reconcile(package.task.project)
        return verdict


@test
def a_model_that_is_wrong_is_told_from_the_daemon():
    walk_drive.World = Forgetful
    try:
        with running(random_walk.CONFIG) as daemon:
            _, failed = walk(daemon, "wrong", 3000)
    finally:
        walk_drive.World = World
    if failed is None:
        raise Failed("3000 steps agree with a model that forgets what was used")
    check(len(failed[2]) < 30, "the sequence was not made short: %d operations" % len(failed[2]))


if __name__ == "__main__":
    random_walk.check_some_exchanges()
    run()
