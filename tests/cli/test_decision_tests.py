#!/usr/bin/env python3
"""admitctl's side of decisions: tests beside a catalog, replay, rejudge, and replacing the catalog. Speaks TAP."""
import copy
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
for folder in ("lib", "http"):
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), folder))
from daemon import LIST, READ, package, reads, requirement, rfc3339, run_scenes, scene  # noqa: E402
from tap import check, equal  # noqa: E402

ADMITCTL = os.environ.get("ADMITCTL", "admitctl")
EXAMPLES = os.path.join(ROOT, "examples", "decision-tests")
NEVER = "filesystem.project.search"


def admitctl(*words, env=None, wanted=0):
    """Standard output and error, after the exit code was `wanted`."""
    whole = {key: value for key, value in os.environ.items() if not key.startswith("ADMITD")}
    whole.update(env or {})
    done = subprocess.run([ADMITCTL, *words], env=whole, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=60, check=False)
    text, said = done.stdout.decode(), done.stderr.decode()
    equal(done.returncode, wanted, "%s: %s%s" % (" ".join(words), text, said))
    return text, said


class Person:
    def __init__(self, daemon, role):
        self.env = {"ADMITD_URL": "http://127.0.0.1:%d" % daemon.port, "ADMITD_TOKEN": getattr(daemon, role).token}

    def __call__(self, *words, wanted=0):
        return admitctl(*words, env=self.env, wanted=wanted)[0]

    def json(self, *words, wanted=0):
        return json.loads(self(*words, "--json", wanted=wanted))


def write(daemon, name, value, folder=""):
    """A file of the daemon's folder; its path."""
    path = os.path.join(daemon.folder, folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(value if isinstance(value, str) else json.dumps(value))
    return path


def default_catalog():
    return json.loads(admitctl("catalog", "show", "--default", "--json")[0])


def without(document, capability):
    made = copy.deepcopy(document)
    entry = made["mcps"]["filesystem"]
    entry["runtime"]["capabilities"].remove(capability)
    entry["aliases"] = {alias: name for alias, name in entry["aliases"].items() if name != capability}
    return made


def one_test(capability, **expect):
    return {"name": "reads " + capability, "input": {"entries": [requirement("k", capabilities=[capability])], "subtasks": []},
            "expect": {"evaluations": [{"decision": expect}]}}


# ---- test

@scene
def the_example_tests_pass_and_count_what_they_leave_out(daemon):
    text, _ = admitctl("test", EXAMPLES)
    check(text.startswith("5 tests, 0 failed; "), text)
    found = json.loads(admitctl("test", EXAMPLES, "--json")[0])
    equal((found["run"], found["failed"], len(found["tests"])), (5, 0, 5))
    left = {item["name"] for item in found["untouched"]}
    for name in ("filesystem.read", "filesystem.project.read", "filesystem.search", "filesystem.project.write", "github.issues.create"):
        check(name not in left, name + " is touched")
    check({"github.secrets.write", "filesystem.list"} <= left, left)
    check(len(left) == len(found["untouched"]) < found["entries"], found["entries"])
    admitctl("test", EXAMPLES, "--fail-untouched", wanted=1)
    check("filesystem.list = filesystem.project.list" in admitctl("test", EXAMPLES, "--untouched")[0], "the alias isn't listed")


@scene
def what_differs_is_told_by_its_path(daemon):
    folder = os.path.dirname(write(daemon, "b.json", one_test(READ, mode="planning_only", status="blocked", notThere=1), "differs"))
    write(daemon, "a.jsonl", json.dumps(one_test(LIST, status="blocked")) + "\n\n" + json.dumps(one_test(READ, recoveryAction=None)), "differs")
    write(daemon, "notes.txt", "no test", "differs")
    found = json.loads(admitctl("test", folder, "--json", wanted=1)[0])
    equal([(item["file"], item["passed"]) for item in found["tests"]], [("a.jsonl", True), ("a.jsonl", False), ("b.json", False)])
    equal(found["tests"][1]["differences"], [{"pointer": "/evaluations/0/decision/recoveryAction", "wanted": None,
                                              "found": "approve_project_filesystem_context"}])
    equal([(item["pointer"], item["found"]) for item in found["tests"][2]["differences"]],
          [("/evaluations/0/decision/mode", "bounded_context_required"), ("/evaluations/0/decision/notThere", None)])
    text, _ = admitctl("test", folder, wanted=1)
    check("FAIL  b.json: reads %s\n" % READ in text and "/evaluations/0/decision/mode: wanted \"planning_only\"" in text, text)
    check("reads " + LIST not in text, "a test that passed is shown")


@scene
def a_catalog_beside_the_tests_is_the_one_that_is_tested(daemon):
    folder = os.path.dirname(write(daemon, "read.json", one_test(LIST, mode="blocked"), "beside"))
    admitctl("test", folder, wanted=1)
    path = write(daemon, "catalog.json", without(default_catalog(), LIST), "beside")
    equal(json.loads(admitctl("test", folder, "--json")[0])["failed"], 0)
    other = write(daemon, "other.json", default_catalog())
    admitctl("test", folder, "--catalog", other, wanted=1)
    write(daemon, "catalog.json", {"schemaVersion": 2}, "beside")
    check("/schemaVersion" in admitctl("test", folder, wanted=2)[1], path)


@scene
def what_is_no_test_is_a_usage_error(daemon):
    empty = os.path.join(daemon.folder, "empty")
    os.makedirs(empty)
    check("no test" in admitctl("test", empty, wanted=2)[1], "an empty folder")
    for number, (name, text, said) in enumerate((
            ("a.json", "{", "line 1: not JSON"), ("a.jsonl", "{}\n{\"a\":}\n", "a test is {name, input, expect}"),
            ("a.jsonl", json.dumps(one_test(READ)) + "\n{\"a\":}\n", "line 2: not JSON"),
            ("a.json", "[{\"input\":{},\"expect\":[]}]", "expect is an object"))):
        folder = os.path.dirname(write(daemon, name, text, "broken%d" % number))
        out, err = admitctl("test", folder, wanted=2)
        check(said in err and out == "", err)
    check("No such file" in admitctl("test", os.path.join(daemon.folder, "absent"), wanted=2)[1], "an absent folder")


# ---- against a daemon

@scene
def a_decision_is_replayed_and_rejudged_from_a_terminal(daemon):
    world = daemon.world()
    world.submit(reads("a", LIST), package("b", requirement("k", prohibitedCapabilities=[NEVER], capabilities=[READ])))
    world.grant("a")
    world.grant("b")
    made = {item["label"]: item["decisionId"] for item in world.approve()["packages"]}
    auditor = Person(daemon, "auditor")
    text = auditor("replay", made["a"])
    check("SAME BYTES" in text.upper() and made["a"] in text, text)
    equal(auditor.json("replay", made["a"])["same"], True)
    auditor("replay", "sha256:none", wanted=1)
    other = write(daemon, "next.json", without(default_catalog(), LIST))
    text = auditor("rejudge", made["a"], "--catalog", other)
    check("1 of 1 decisions would change" in text and "row 5c allowed -> row 2 blocked" in text, text)
    auditor("rejudge", made["a"], "--catalog", other, "--fail-changed", wanted=1)
    check("0 of 1 decisions would change" in auditor("rejudge", made["a"], "--fail-changed"), "it would change")
    found = auditor.json("rejudge", "--project", world.id, "--from", rfc3339(-60), "--catalog", other, "--limit", "1")
    equal((len(found["changes"]), found["counts"]["changed"] >= 1, found["counts"]["unlike"]), (1, True, 0))
    broken = write(daemon, "broken.json", {"schemaVersion": 2})
    auditor("rejudge", "--catalog", broken, wanted=1)
    text = auditor("catalog", "liveness", "--project", world.id)
    check(NEVER in text and "never" in text, text)
    check("No decision of that time" in auditor("catalog", "liveness", "--to", "2001-01-01T00:00:00Z"), "it counts")


@scene
def a_catalog_is_rehearsed_and_put_in_force_from_a_terminal(daemon):
    world = daemon.world()
    world.submit(reads("a", LIST))
    world.preview()
    admin = Person(daemon, "admin")
    before = default_catalog()
    now = admin.json("catalog", "show")
    equal(now, before)
    other = write(daemon, "next.json", without(before, LIST))
    text = admin("catalog", "put", other, "--dry-run", "--days", "1")
    check("NOTHING WAS CHANGED" in text.upper() and "gone " in text and LIST in text, text)
    check("of " in text and "would change" in text, text)
    equal(admin.json("catalog", "show"), before)
    try:
        made = admin.json("catalog", "put", other)
        equal((made["changed"], admin.json("catalog", "show")), (True, without(before, LIST)))
        check("UNCHANGED" in admin("catalog", "put", other).upper(), "the same again")
        admin("catalog", "put", other, "--if-digest", made["previous"], wanted=1)
    finally:
        check("IN FORCE" in admin("catalog", "put", write(daemon, "before.json", before)).upper(), "it isn't in force")
    broken = write(daemon, "broken.json", {"schemaVersion": 1, "mcps": {"A": {}}})
    admin("catalog", "put", broken, wanted=1)
    equal(admin.json("catalog", "show"), before)
    Person(daemon, "operator")("catalog", "put", other, wanted=1)
    admin("catalog", "put", other, "--days", "1", wanted=2)


if __name__ == "__main__":
    run_scenes()
