#!/usr/bin/env python3
"""random_walk.py [--steps N] [--seed S] [--episode N] [--leave-out OPERATION,…]

Random operations of one client, valid and not, done in a real admitd (found through ADMITD) and in the model of lifecycle.py beside it;
after each the status, the code and what can be read must agree, every 50 steps everything. A difference is printed with its seed,
its step and the shortest sequence that still shows it. Exit 1 on a difference. Operations whose routes the daemon doesn't
have are left out, and listed.
"""
import argparse
import itertools
import json
import os
import random
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "http"))
sys.path.insert(0, HERE)
from compare_state import Difference  # noqa: E402
import openapi  # noqa: E402
from daemon import running  # noqa: E402
from walk_drive import Abandoned, Clients, Episode  # noqa: E402
from walk_ops import OPERATIONS, Chooser  # noqa: E402

EVERYTHING_EVERY = 50
SHRINK_S = 90
READS_CHECKED = 20
CONFIG = "[runs]\nlease_seconds = 1\n"


def check_some_exchanges(every=READS_CHECKED):
    """A walk reads the same again and again: of its reads one in so many is held against docs/openapi.json."""
    check, numbers = openapi.check_exchange, itertools.count()

    def sampled(method, *exchange):
        if method != "GET" or next(numbers) % every == 0:
            check(method, *exchange)
    openapi.check_exchange = sampled


def missing_operations(daemon):
    """Those whose route is unknown."""
    found = []
    for name, (_, path) in OPERATIONS.items():
        if path is None:
            continue
        if "POST" not in daemon.admin.request("OPTIONS", path).headers.get("allow", ""):
            found.append(name)
    return found


class Walk:
    def __init__(self, daemon, seed, left_out):
        self.daemon = daemon
        self.seed = seed
        self.left_out = left_out
        self.clients = Clients(daemon)
        self.episodes = 0
        self.steps = 0
        self.abandoned = 0
        self.counts = {}
        self.rows, self.arms, self.statuses = set(), set(), set()

    def new_episode(self):
        self.episodes += 1
        return Episode(self.daemon, self.clients, self.episodes)

    def run_episode(self, length):
        """None, or (difference, operations so far)."""
        episode = self.new_episode()
        draws = random.Random("%s/%d" % (self.seed, self.episodes))
        chooser = Chooser(draws, episode.world, self.left_out)
        done = []
        try:
            for number in range(length):
                done.append(chooser.draw())
                episode.perform(done[-1])
                self.steps += 1
                if number % EVERYTHING_EVERY == EVERYTHING_EVERY - 1:
                    episode.check_all()
            episode.check_all()
        except Difference as difference:
            return difference, done
        except Abandoned:
            self.abandoned += 1
        finally:
            self.count(episode)
        return None

    def count(self, episode):
        for name, (done, refused) in episode.counts.items():
            held = self.counts.setdefault(name, [0, 0])
            held[0] += done
            held[1] += refused
        self.rows |= episode.world.rows_seen
        self.arms |= episode.world.arms_seen

    def difference_of(self, operations):
        """What a replay on new projects shows, or None."""
        episode = self.new_episode()
        try:
            for operation in operations:
                episode.perform(operation)
            episode.check_all()
        except Difference as difference:
            return str(difference)
        except Abandoned:
            pass
        return None

    def shrink(self, operations):
        """The operations without those that the difference doesn't need: from the end, since the last ones are needed most."""
        deadline, size = time.monotonic() + SHRINK_S, max(len(operations) // 2, 1)
        while size and time.monotonic() < deadline:
            end, before = len(operations), len(operations)
            while end > 0 and time.monotonic() < deadline:
                fewer = operations[:max(end - size, 0)] + operations[end:]
                if self.difference_of(fewer):
                    operations = fewer
                end -= size
            if size > 1 or len(operations) == before:
                size //= 2
        return self.shrink_plans(operations, deadline)

    def shrink_plans(self, operations, deadline):
        """The same with fewer packages in each plan."""
        for number, operation in enumerate(operations):
            for label in [item["label"] for item in operation.get("plan", [])]:
                left = [dict(item, dependsOn=[other for other in item["dependsOn"] if other != label])
                        for item in operation["plan"] if item["label"] != label]
                fewer = operations[:number] + [dict(operation, plan=left)] + operations[number + 1:]
                if left and time.monotonic() < deadline and self.difference_of(fewer):
                    operations, operation = fewer, fewer[number]
        return operations


def show(operation):
    """One line; a plan as its packages."""
    rest = " ".join("%s=%s" % pair for pair in operation.items() if pair[0] not in ("op", "plan"))
    print("#   %s %s" % (operation["op"], rest))
    for item in operation.get("plan", []):
        print("#       %s" % json.dumps(item))


def report(walk, difference, operations):
    print("# DIFFERENCE at step %d of episode %d, seed %s: %s" % (len(operations), walk.episodes, walk.seed, difference))
    small = operations
    if walk.difference_of(operations) is None:
        print("# a replay agrees: it depends on the moment. All operations:")
    else:
        small = walk.shrink(operations)
        print("# the shortest sequence found shows: %s" % walk.difference_of(small))
    for operation in small:
        show(operation)
    return difference, operations, small


def walk_on(daemon, arguments):
    """(walk, None or the difference, the operations that led to it, and the shortest that do). Prints lines that TAP reads over."""
    left_out = missing_operations(daemon)
    for name in left_out:
        print("# LEFT OUT, the daemon has no route for it: " + name)
    walk = Walk(daemon, arguments.seed, left_out + [name for name in arguments.leave_out.split(",") if name])
    started, failed = time.monotonic(), None
    while walk.steps < arguments.steps and not failed:
        failed = walk.run_episode(min(arguments.episode, arguments.steps - walk.steps))
    took = time.monotonic() - started
    if walk.abandoned:
        print("# %d episodes were given up at an operation during which something ended" % walk.abandoned)
    print("# %d steps in %d episodes, seed %s, %.1f s, %.0f steps/s" % (walk.steps, walk.episodes, walk.seed, took, walk.steps / took))
    for name in sorted(walk.counts):
        print("#   %-28s %6d done %6d refused" % ((name,) + tuple(walk.counts[name])))
    print("# rows that decided: %s" % " ".join(sorted(walk.rows, key=lambda row: int(row[1:]))))
    print("# holds: %s" % " ".join(sorted("%s/%s" % (kind, arm or "-") for kind, arm in walk.arms)))
    return walk, report(walk, *failed) if failed else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--episode", type=int, default=300, help="steps on the same projects")
    parser.add_argument("--leave-out", default="", help="operations, with commas between them")
    arguments = parser.parse_args()
    check_some_exchanges()
    with running(CONFIG) as daemon:
        _, failed = walk_on(daemon, arguments)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
