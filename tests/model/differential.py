#!/usr/bin/env python3
"""differential.py [--count N] [--seed S] [--chunk N] -- COMMAND...   hold a command against the model.

COMMAND reads JSON lines and prints one result a line (`admitctl evaluate`). Every field of 1.11 is compared but for the
wording of reasons; `blocked` and `warnings` count. Of the command alone it is asked that its reasons are there, clean and
short, that the aggregate repeats them in order, and that a keyed package gives the same bytes in any order of its entries
and subtasks (1.9). The first input that fails is printed as small as it can be made. Exit 1 if one failed.
"""
import argparse
import copy
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from contract import evaluate  # noqa: E402
from evaluate import load_catalog  # noqa: E402
from generate import generate, generate_orderly  # noqa: E402
from text import WHITE_SPACE, is_bidi, is_control  # noqa: E402

MAX_REASON = 500


class Command:
    """The program under test."""

    def __init__(self, argv):
        self.argv = argv

    def run(self, documents):
        data = "".join(json.dumps(document) + "\n" for document in documents)
        try:
            done = subprocess.run(self.argv, input=data.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        except OSError as error:
            sys.exit("%s: %s" % (self.argv[0], error.strerror))
        return done.stdout.splitlines(), "exit %d %s" % (done.returncode, done.stderr.decode(errors="replace")[:200].strip())

    def answers(self, documents):
        """One line of bytes each; where the command breaks down, what it said then, as text."""
        lines, how = self.run(documents)
        if len(lines) == len(documents):
            return lines
        if len(documents) == 1:
            return ["%d lines for one input, %s" % (len(lines), how)]
        half = len(documents) // 2
        return self.answers(documents[:half]) + self.answers(documents[half:])


def without(mapping, *names):
    return {name: value for name, value in mapping.items() if name not in names}


def structure(result):
    """The result without its wording."""
    aggregate = dict(result["aggregate"], blocked=len(result["aggregate"]["blocked"]),
                     warnings=len(result["aggregate"]["warnings"]),
                     blockedReason=result["aggregate"]["blockedReason"] is not None)
    if "primaryDecision" in aggregate:
        aggregate["primaryDecision"] = without(aggregate["primaryDecision"], "reason")
    return dict(result, aggregate=aggregate,
                evaluations=[dict(item, decision=without(item["decision"], "reason")) for item in result["evaluations"]],
                subtaskDecisions=[without(row, "reason") for row in result["subtaskDecisions"]])


def kind_of(value):
    """bool, int and float are not each other, though Python says True == 1 == 1.0."""
    return type(value).__name__


def first_difference(want, have, path="result"):
    if kind_of(want) != kind_of(have):
        return "%s: want %s, have %s" % (path, json.dumps(want), json.dumps(have))
    if isinstance(want, dict):
        for name in list(want) + [name for name in have if name not in want]:
            if name not in have or name not in want:
                return "%s: %s %s" % (path, "no" if name in want else "unexpected", name)
            found = first_difference(want[name], have[name], "%s.%s" % (path, name))
            if found:
                return found
        return None
    if isinstance(want, list) and len(want) == len(have):
        found = (first_difference(a, b, "%s[%d]" % (path, n)) for n, (a, b) in enumerate(zip(want, have)))
        return next((text for text in found if text), None)
    return None if want == have else "%s: want %s, have %s" % (path, json.dumps(want), json.dumps(have))


def is_clean(text):
    return (isinstance(text, str) and 0 < len(text) <= MAX_REASON and text[0] not in WHITE_SPACE
            and not any(is_control(char) or is_bidi(char) for char in text))


def bad_wording(result):
    """What 1.9 and 1.10 say of the command's own texts."""
    items = [item["decision"] for item in result["evaluations"]] + result["subtaskDecisions"]
    aggregate = result["aggregate"]
    for item in items:
        if not is_clean(item["reason"]):
            return "an unclean reason: %r" % item["reason"]
    if not all(map(is_clean, aggregate["blocked"] + aggregate["warnings"])):
        return "an unclean text in the aggregate"
    blocked = [item["reason"] for item in items if item["status"] == "blocked"]
    warnings = [item["reason"] for item in items if item["status"] == "warning"]
    if items and (aggregate["blocked"] != blocked or aggregate["warnings"][:len(warnings)] != warnings):
        return "the aggregate does not repeat the reasons in order"
    primary = aggregate.get("primaryDecision")
    if primary and primary["reason"] not in blocked:
        return "the primary decision has a reason of its own"
    return None


def disagreement(want, line):
    """What is wrong with the command's answer, or None."""
    if isinstance(line, str):
        return line
    try:
        have = json.loads(line)
        return first_difference(structure(want), structure(have)) or bad_wording(have)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return "not a result: %s %s: %s" % (type(error).__name__, error, line[:200].decode(errors="replace"))


# --- making a failing input small


def paths_of(value, path=()):
    """Everything in it that can be left out, large parts first."""
    level = [(path, value)]
    while level:
        below = []
        for where, part in level:
            children = list(part.items()) if isinstance(part, dict) else list(enumerate(part)) if isinstance(part, list) else []
            for name, child in children:
                yield where + (name,)
                below.append((where + (name,), child))
        level = below


def leave_out(document, path):
    smaller = copy.deepcopy(document)
    holder = smaller
    for name in path[:-1]:
        holder = holder[name]
    del holder[path[-1]]
    return smaller


def minimise(document, failing):
    """`failing(documents)` says of each whether it still fails."""
    while True:
        smaller = [leave_out(document, path) for path in paths_of(document)]
        for start in range(0, len(smaller), 64):
            chunk = smaller[start:start + 64]
            still = failing(chunk)
            if True in still:
                document = chunk[still.index(True)]
                break
        else:
            return document


# --- the two properties


def decisions_failing(command, catalog):
    def failing(documents):
        answers = command.answers(documents)
        return [disagreement(evaluate(document, catalog), line) is not None for document, line in zip(documents, answers)]
    return failing


def report(title, document, complaint):
    print("%s\n  %s\n  input %s" % (title, complaint, json.dumps(document)))


def check_decisions(command, catalog, arguments):
    failed, shown = 0, False
    for start in range(0, arguments.count, arguments.chunk):
        numbers = range(start, min(start + arguments.chunk, arguments.count))
        documents = [generate(arguments.seed, number) for number in numbers]
        for number, document, line in zip(numbers, documents, command.answers(documents)):
            if disagreement(evaluate(document, catalog), line) is None:
                continue
            failed += 1
            if not shown:
                shown = True
                small = minimise(document, decisions_failing(command, catalog))
                complaint = disagreement(evaluate(small, catalog), command.answers([small])[0])
                report("first difference, input %d of seed %s, made small:" % (number, arguments.seed), small, complaint)
    return failed


def check_order(command, arguments):
    failed = 0
    for start in range(0, arguments.order, arguments.chunk):
        numbers = range(start, min(start + arguments.chunk, arguments.order))
        pairs = [generate_orderly(arguments.seed, number) for number in numbers]
        answers = command.answers([document for pair in pairs for document in pair])
        for number, pair in enumerate(pairs):
            one, other = answers[2 * number], answers[2 * number + 1]
            if isinstance(one, bytes) and one == other:
                continue
            failed += 1
            if failed == 1:
                report("another order, other bytes, pair %d of seed %s:" % (start + number, arguments.seed), pair[0],
                       "reordered %s\n  have %s\n  and  %s" % (json.dumps(pair[1]), one, other))
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000, help="inputs held against the model")
    parser.add_argument("--order", type=int, help="pairs in two orders (a fifth of --count)")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--chunk", type=int, default=500, help="inputs a process")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    if arguments.order is None:
        arguments.order = arguments.count // 5
    command, catalog = Command(arguments.command), load_catalog()
    failed = check_decisions(command, catalog, arguments) + check_order(command, arguments)
    print("%d passed, %d failed" % (arguments.count + arguments.order - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
