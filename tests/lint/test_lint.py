#!/usr/bin/env python3
"""scripts/lint finds what it is there for: beside this file, bad/RULE is a small tree that breaks one rule (two
that would be long are written by this script), bad/RULE.expected is every fault of it, in order, each line as far
as the fault's beginning. Speaks TAP.
"""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
LINT = os.path.join(os.path.dirname(os.path.dirname(HERE)), "scripts", "lint")
NEEDS = {"functions": "ctags", "names": "ctags", "format": "clang-format"}


def function(name, lines):
    """A function of so many lines."""
    return "static int %s(int x)\n{\n%s\treturn x;\n}\n\n" % (name, "\tx++;\n" * (lines - 4))


LONG_TREES = {
    "functions": {"policy/long.c": function("one_of_60", 60) + function("one_of_121", 121) + function("of_five", 5)},
    "length": {"policy/length.c": "int length;\n" * 701, "noted.sh": "# a line\n" * 650},
}


def lint(*arguments):
    run = subprocess.run([sys.executable, "-B", LINT, *arguments], stdout=subprocess.PIPE, text=True, check=False)
    return run.returncode, run.stdout.splitlines()


def rules():
    return [line.split()[0] for line in lint("--list")[1]]


def write_tree(root, files):
    for name, text in files.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)


def faults_of(rule):
    with tempfile.TemporaryDirectory() as root:
        write_tree(root, LONG_TREES.get(rule, {}))
        return lint("--root", root if rule in LONG_TREES else os.path.join(HERE, "bad", rule), "--only", rule)


def faults_are_found(rule):
    """The first difference between the faults wanted and the faults found; None when they agree."""
    with open(os.path.join(HERE, "bad", rule + ".expected"), encoding="utf-8") as stream:
        wanted = stream.read().splitlines()
    status, lines = faults_of(rule)
    found = [line for line in lines if ": %s: " % rule in line]
    if status != 1:
        return "exit status %d, wanted 1" % status
    for number in range(max(len(wanted), len(found))):
        if number >= len(wanted):
            return "found too much: " + found[number]
        if number >= len(found) or not found[number].startswith(wanted[number]):
            return "wanted %s, found %s" % (wanted[number], found[number] if number < len(found) else "nothing")
    return None


def clean_tree_has_no_fault():
    with tempfile.TemporaryDirectory() as root:
        write_tree(root, {
            "policy/clean.h": "/* clean.h - a module with one number. */\nextern int clean_number;\n",
            "policy/clean.c": '#include "policy/clean.h"\n\nint clean_number;\n',
        })
        status, lines = lint("--root", root)
    return None if status in (0, 3) else "exit status %d: %s" % (status, " / ".join(lines))


def unknown_rule_is_a_usage_error():
    run = subprocess.run([sys.executable, "-B", LINT, "--only", "nothing"], stderr=subprocess.PIPE, check=False)
    return None if run.returncode == 2 else "exit status %d" % run.returncode


def main():
    cases = [("rule_%s_finds_its_bad_tree" % rule, lambda rule=rule: faults_are_found(rule), NEEDS.get(rule))
             for rule in rules()]
    cases.append(("clean_tree_has_no_fault", clean_tree_has_no_fault, None))
    cases.append(("unknown_rule_is_a_usage_error", unknown_rule_is_a_usage_error, None))
    print("1..%d" % len(cases))
    failed = 0
    for number, (name, case, needs) in enumerate(cases, 1):
        if needs and not shutil.which(needs):
            print("ok %d - %s # SKIP %s is not installed" % (number, name, needs))
            continue
        fault = case()
        failed += fault is not None
        print("%s %d - %s" % ("ok" if fault is None else "not ok", number, name))
        if fault is not None:
            print("# " + fault)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
