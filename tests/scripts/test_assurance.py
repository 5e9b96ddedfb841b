#!/usr/bin/env python3
"""docs/assurance.md names tests that exist, and leaves out no row, arm, hold kind or code. Speaks TAP."""
import glob
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))
from tap import check, equal, run, test  # noqa: E402


def read(*path):
    with open(os.path.join(TOP, *path), encoding="utf-8") as file:
        return file.read()


def named():
    return set(re.findall(r"`(\w+_\w+_\w+)`", read("docs", "assurance.md")))


def existing():
    found = set()
    for path in glob.glob(os.path.join(TOP, "tests", "**", "*.py"), recursive=True):
        found.update(re.findall(r"^@(?:scene|test)\ndef (\w+)\(", read(path), re.M))
    for path in glob.glob(os.path.join(TOP, "tests", "**", "*.c"), recursive=True):
        found.update(re.findall(r"^static void (\w+)\(void \*\*state\)", read(path), re.M))
    return found


def words():
    return set(re.findall(r"\w+", read("docs", "assurance.md")))


@test
def every_test_that_is_named_exists():
    check(len(named()) > 80, "only %d are named" % len(named()))
    equal(sorted(named() - existing()), [], "named, and not there")


def named_sentences():
    return set(re.findall("“(\w[^”]+)”", read("docs", "assurance.md")))


def is_scene(sentence, patterns):
    return any(re.fullmatch(pattern, sentence) for pattern in patterns)


@test
def every_scene_of_the_console_that_is_named_exists():
    patterns = []
    for path in glob.glob(os.path.join(TOP, "tests", "web", "*.mjs")):
        for _, sentence in re.findall(r"^ *test\(([\"`])(.+?)\1, async", read(path), re.M):
            patterns.append(".+".join(map(re.escape, re.split(r"\$\{[^}]*\}", sentence))))
    check(len(named_sentences()) > 50, "only %d are named" % len(named_sentences()))
    equal(sorted(one for one in named_sentences() if not is_scene(one, patterns)), [], "named, and not there")


@test
def every_row_of_the_precedence_table_is_shown():
    equal(sorted({"P%d" % row for row in range(1, 14)} - words()), [])


@test
def every_kind_and_arm_of_a_hold_is_shown():
    source = read("policy", "projection.c")
    found = set(re.findall(r'\[(?:ARM|HOLD)_\w+\] = "(\w+)"', source))
    check(len(found) == 13, found)
    equal(sorted(found - words()), [])


@test
def every_code_is_shown():
    found = set(re.findall(r'\] = \{"(\w+)", \d+', read("daemon", "http", "reply.c")))
    check(len(found) > 40, found)
    equal(sorted(code for code in found - words() if is_answered(code)), [])


def is_answered(code):
    """Whether anything answers it already; a code of a route that is still to come needs no test."""
    sources = [path for path in glob.glob(os.path.join(TOP, "daemon", "**", "*.c"), recursive=True) if not path.endswith("/reply.c")]
    return any(re.search(r'HTTP_PROBLEM_%s\b|"%s"' % (code.upper(), code), read(path)) for path in sources)


if __name__ == "__main__":
    run()
