#!/usr/bin/env python3
"""scripts/quickstart-demo walks the whole way on the built programs, tells each step, and leaves nothing running. Speaks TAP."""
import contextlib
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
from tap import check, equal, run, test  # noqa: E402

BUILD = os.environ.get("BUILDDIR", ".")
TIMEOUT_S = 180


class Demo:
    """One run of the script: what it said, step by step."""

    def __init__(self, folder):
        done = subprocess.run([os.path.join(TOP, "scripts", "quickstart-demo"), BUILD], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S, env=dict(os.environ, TMPDIR=folder), check=False)
        self.status, self.said, self.errors = done.returncode, done.stdout, done.stderr
        self.steps = re.split(r"^==> ", self.said, flags=re.MULTILINE)[1:]
        self.folder = re.search(r"everything of this run is in (\S+)", self.said).group(1)

    def step(self, word):
        found = [step for step in self.steps if word in step.split("\n", 1)[0]]
        equal(len(found), 1, "steps that say " + word)
        return found[0]

    def commands(self):
        return [shlex.split(line[2:]) for line in self.said.splitlines() if line.startswith("$ ")]


@contextlib.contextmanager
def demo():
    with tempfile.TemporaryDirectory() as folder:
        yield Demo(folder)


@test
def it_ends_well_and_says_nothing_on_standard_error(shown):
    equal((shown.status, shown.errors), (0, ""), shown.said[-2000:])


@test
def each_step_says_why_in_one_line_before_its_commands(shown):
    check(len(shown.steps) >= 10, "%d steps" % len(shown.steps))
    for step in shown.steps:
        first = step.split("\n", 1)[0]
        check(10 < len(first) < 140, "a step says: " + first)


@test
def the_preview_is_held_and_the_approval_refused_with_both_packages(shown):
    for word in ("previews", "refused"):
        step = shown.step(word)
        for wanted in ("backend", "frontend", "filesystem.project.read"):
            check(wanted in step, "%s is not in the step that %s" % (wanted, word))
    check("admitctl grant pkg_" in shown.step("refused"), "the refusal shows no way out")


@test
def after_the_grants_the_same_approval_goes_through(shown):
    approvals = [words for words in shown.commands() if words[:2] == ["admitctl", "approve"]]
    equal([words[2] for words in approvals], ["tracker-42", "tracker-42"])
    equal(len([words for words in shown.commands() if words[:2] == ["admitctl", "grant"]]), 2)
    check("APPROVED" in shown.step("goes through"), shown.step("goes through"))


@test
def the_package_is_handed_over_and_its_outcome_reported(shown):
    check("RUNNING" in shown.step("executor takes"), shown.step("executor takes"))
    done = shown.step("work is done")
    check("SUCCEEDED" in done and "completed" in done and "ready" in done, done)


@test
def nobody_plays_two_parts(shown):
    parts = {"task": "planner.token", "approve": "approver.token", "grant": "approver.token", "handoff": "executor.token",
             "outcome": "executor.token"}
    for words in shown.commands():
        if words[0] == "admitctl" and words[1] in parts:
            check(parts[words[1]] in words, " ".join(words))


@test
def no_secret_is_shown_and_none_but_the_owner_reads_a_token(shown):
    for name in ("planner.token", "approver.token", "executor.token"):
        path = os.path.join(shown.folder, name)
        equal(os.stat(path).st_mode & 0o077, 0, name)
        with open(path, encoding="ascii") as file:
            check(file.read().strip() not in shown.said, "the secret of %s is shown" % name)


@test
def it_ends_with_what_to_try_next_and_the_daemon_is_gone(shown):
    check(shown.steps[-1].startswith("What to try next"), shown.steps[-1])
    with open(os.path.join(shown.folder, "port"), encoding="ascii") as file:
        port = file.read().strip()
    found = subprocess.run([os.path.join(BUILD, "admitctl"), "status", "--url", "http://127.0.0.1:" + port], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_S, check=False)
    equal(found.returncode, 3, found.stdout)


@test
def a_wrong_call_is_told(shown):
    found = subprocess.run([os.path.join(TOP, "scripts", "quickstart-demo")], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S, check=False)
    equal((found.returncode, found.stdout), (2, ""))
    check(found.stderr.startswith("usage: "), found.stderr)


if __name__ == "__main__":
    run(demo)
