#!/usr/bin/env python3
"""What admitctl does without a daemon: help, exit codes, evaluate, explain, catalog check."""
import json
import os
import re
import socket
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "lib"))
from tap import check, equal, run, test  # noqa: E402

ADMITCTL = os.environ.get("ADMITCTL", "admitctl")
COMMANDS = ("status", "recovery", "watch", "task submit", "preview", "approve", "reject", "changes", "cancel", "retry", "rework",
            "handoff", "heartbeat", "outcome", "grant", "deny", "revoke", "project set",
            "project show", "project list", "project archive", "project unarchive", "token create", "token list", "token revoke", "evaluate", "explain",
            "server set", "server show", "import",
            "server list", "server check", "server remove", "register", "health list", "health report", "test", "replay", "rejudge", "catalog check", "catalog show", "catalog put", "catalog liveness", "redact", "materialize",
            "audit verify", "backup", "restore", "doctor", "bundle list", "bundle card", "bundle ask", "bundle fetch", "inventory", "search", "mcp")
PACKAGE = {
    "label": "backend",
    "entries": [{"requirementKey": "fs", "sourceRequirementIndex": 0, "mcpId": "filesystem", "agent": "backend",
                 "requirement": "required", "capabilities": ["filesystem.project.read"], "fallback": {"action": "block"},
                 "assignment": {"type": "agent", "targetId": "backend"}}],
    "subtasks": [{"id": "schema", "agent": "backend", "mcpCapabilities": ["filesystem.project.read"]}],
}


def admitctl(*words, given="", env=None):
    """Exit code, standard output, standard error."""
    whole = {key: value for key, value in os.environ.items() if not key.startswith("ADMITD")}
    whole.update(env or {})
    done = subprocess.run([ADMITCTL, *words], input=given.encode("utf-8", "surrogateescape"), env=whole,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def results(text):
    return [json.loads(line) for line in text.splitlines()]


# ---- help and usage

@test
def the_help_names_every_command():
    code, out, err = admitctl("--help")
    equal((code, err), (0, ""))
    for name in COMMANDS:
        check(re.search(r"^[* ] %s +\S" % name, out, re.M), "not in the help: " + name)
    equal(len(re.findall(r"^[* ] [a-z]+( [a-z]+)? {2,}[A-Z]", out, re.M)), len(COMMANDS), "commands in the help")
    check("Exit status: 0 done, 1 refused or blocked, 2 usage, 3 unreachable" in out, "the help has no exit codes")


@test
def every_command_has_help_with_examples():
    for name in COMMANDS:
        for words in ([*name.split(), "--help"], ["help", *name.split()], ["--help", *name.split()]):
            code, out, err = admitctl(*words)
            equal((code, err), (0, ""), " ".join(words))
            check(out.startswith("usage: admitctl " + name), "%s: %s" % (words, out[:60]))
            check("\nExamples\n  admitctl " + name in out, "%s has no example of itself" % name)
            check(max(map(len, out.splitlines())) <= 125, "%s has a line that is too long" % name)


@test
def the_version_is_a_line():
    code, out, err = admitctl("--version")
    equal((code, err), (0, ""))
    check(re.fullmatch(r"admitctl \d+\.\d+\.\d+\n", out), out)


@test
def a_wrong_command_line_is_exit_2_and_says_how():
    for words, said in (
            ([], "no command"), (["bogus"], "bogus: no such command"), (["task"], "usage: admitctl task submit FILE"),
            (["task", "bogus"], "task bogus: no such command"), (["preview"], "a task or --file"),
            (["preview", "a", "b"], "too many arguments"), (["approve"], "an argument is missing"),
            (["approve", "a", "--bogus"], "--bogus"), (["--bogus"], "--bogus"), (["handoff"], "--task or --any"),
            (["handoff", "pkg_1", "--any"], "one of them"), (["handoff", "pkg_1", "--agent", "x"], "belong to --any"),
            (["status", "--timeout", "x"], "from 1 to 3600"), (["status", "--timeout", "3601"], "from 1 to 3600"),
            (["outcome", "run_1", "expired"], "succeeded, failed or released"), (["grant"], "a package or --project"),
            (["grant", "--project", "p"], "needs --capability"), (["token", "create", "--role", "admin"], "--principal"),
            (["project", "set", "p", "--root", "/", "--no-root"], "one of them"),
            (["evaluate", "--projection", "bogus"], "--projection takes"),
            (["grant", "pkg_1", "--expected-revision", "0", "--root-revision", "1", "--expires", "soon"], "--expires takes"),
            (["status", "--timeout", "0"], "from 1 to 3600"), (["status", "--url", "ftp://x"], "not a URL"),
            (["status", "--url", "http://me:secret@x"], "not a URL"), (["help", "bogus"], "no such command")):
        code, out, err = admitctl(*words)
        equal((code, out), (2, ""), "%s: %s" % (words, err))
        check(said in err, "%s said %r" % (words, err))


@test
def no_daemon_is_exit_3_and_says_that_nothing_was_sent():
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        code, out, err = admitctl("status", "--url", "http://127.0.0.1:%d" % taken.getsockname()[1])
    equal((code, out), (3, ""))
    check("nothing was sent" in err, err)


@test
def a_file_that_is_not_there_is_exit_2():
    for words in (["task", "submit", "absent.json"], ["evaluate", "absent.json"], ["catalog", "check", "absent.json"],
                  ["preview", "--file", "absent.json"], ["status", "--token-file", "absent.token"]):
        code, out, err = admitctl(*words)
        equal((code, out), (2, ""), str(words))
        check("No such file" in err, err)


# ---- what is written elsewhere of the command line

def long_options(text):
    """The long options that a help lists."""
    return set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", text, re.M))


def complete(*words):
    """What bash offers for the last word."""
    script = os.path.join(ROOT, "packaging", "admitctl.bash-completion")
    line = ' '.join("'%s'" % word for word in ("admitctl",) + words)
    done = subprocess.run(
        ["bash", "--norc", "-c", 'source "$0"; COMP_WORDS=(%s); COMP_CWORD=%d; _admitctl; printf "%%s\\n" "${COMPREPLY[@]}"'
         % (line, len(words)), script], stdout=subprocess.PIPE, timeout=60, check=True)
    return set(done.stdout.decode().split())


@test
def the_completion_offers_what_the_help_lists():
    equal(complete(""), {name.split()[0] for name in COMMANDS} | {"help"})
    equal(complete("--"), long_options(admitctl("--help")[1]))
    for name in COMMANDS:
        equal(complete(*name.split(), "--"), long_options(admitctl(*name.split(), "--help")[1]), name)
        if " " in name:
            check(name.split()[1] in complete(name.split()[0], ""), name)
    equal(complete("--url", "http://x", "outcome", "run_1", "fa"), {"failed"})
    equal(complete("token", "create", "--role", "a"), {"approver", "auditor", "admin"})


@test
def the_manual_page_has_every_command_and_option_of_the_help_and_no_other():
    with open(os.path.join(ROOT, "docs", "man", "admitctl.1"), encoding="utf-8") as file:
        page = file.read().replace("\\-", "-")
    parts = dict(re.findall(r"^\.S[SH] (.+)\n((?:(?!\.S[SH]).*\n)*)", page, re.M))
    equal({title[9:] for title in parts if title.startswith("admitctl ")}, set(COMMANDS))
    shared = set()
    for title in ("Of every command", "Reaching the daemon"):
        shared |= set(re.findall(r"\\fB(--[a-z-]+)\\fR", parts[title]))
    equal(shared, long_options(admitctl("--help")[1]))
    for name in COMMANDS:
        text = admitctl(*name.split(), "--help")[1]
        own = long_options(text.split("\nOptions of every command")[0])
        equal(set(re.findall(r"\\fB(--[a-z-]+)\\fR", parts["admitctl " + name])), own, name)
        for line in text.split("\nExamples\n")[1].splitlines():
            check(line[2:] in page.replace("\\(aq", "'"), "no example in the page: " + line)


# ---- evaluate

@test
def a_document_gives_one_line_and_exit_0_also_when_it_is_blocked():
    code, out, err = admitctl("evaluate", given=json.dumps(PACKAGE))
    equal((code, err), (0, ""))
    found = results(out)
    equal(len(found), 1)
    equal(found[0]["aggregate"]["status"], "blocked")
    equal(found[0]["evaluations"][0]["decision"]["recoveryAction"], "approve_project_filesystem_context")
    equal(admitctl("evaluate", "--fail-blocked", given=json.dumps(PACKAGE))[0], 1)


@test
def either_spelling_of_a_package_gives_the_same_bytes():
    other = {"label": PACKAGE["label"], "mcpRequirements": PACKAGE["entries"], "mcpAwareSubtasks": PACKAGE["subtasks"]}
    equal(admitctl("evaluate", given=json.dumps(other))[1], admitctl("evaluate", given=json.dumps(PACKAGE))[1])


@test
def json_lines_and_documents_over_several_lines_may_be_mixed():
    blank = dict(PACKAGE, label="blank")
    given = "\n%s\n%s\n\n%s" % (json.dumps(PACKAGE), json.dumps(blank, indent=2), json.dumps(PACKAGE))
    code, out, err = admitctl("evaluate", given=given)
    equal((code, err), (0, ""))
    equal(len(results(out)), 3)


@test
def files_are_decided_in_the_order_of_the_command_line():
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for name, entries in (("one", PACKAGE["entries"]), ("none", [])):
            names.append(os.path.join(folder, name))
            with open(names[-1], "w", encoding="utf-8") as file:
                json.dump(dict(PACKAGE, entries=entries, subtasks=[]), file, indent=1)
        code, out, _ = admitctl("evaluate", *names)
        equal(code, 0)
        equal([len(found["evaluations"]) for found in results(out)], [1, 0])


@test
def a_malformed_line_gives_its_own_line_and_the_rest_goes_on():
    good = json.dumps(PACKAGE)
    for bad in ("nonsense", '{"a":1', '{"a":1}}', '{"a":1,"a":2}', '"\\u0000"', '["\\ud800"]', "[" * 65 + "]" * 65,
                "\udcff", "{'a':1}", "[1,]", "}"):
        code, out, err = admitctl("evaluate", given="%s\n%s\n%s\n" % (good, bad, good))
        equal(code, 1, bad)
        found = results(out)
        equal(len(found), 3, bad)
        equal(sorted(found[1]["error"]), ["code", "offset"], bad)
        equal(found[1]["error"]["code"], "invalid_json", bad)
        check(0 <= found[1]["error"]["offset"] <= len(bad) + 1, "%s: offset %s" % (bad, found[1]["error"]["offset"]))
        equal([sorted(found[0]), sorted(found[2])], [sorted(found[0])] * 2)
        check("line 2" in err, err)


@test
def the_depth_that_the_api_takes_is_taken():
    equal(admitctl("evaluate", given="[" * 64 + "]" * 64)[0], 0)
    code, out, _ = admitctl("evaluate", given="[" * 65 + "]" * 65)
    equal(code, 1)
    equal(results(out), [{"error": {"code": "invalid_json", "offset": 64}}])


@test
def a_broken_document_over_several_lines_is_one_error():
    broken = json.dumps(PACKAGE, indent=2).replace('"required"', "required")
    code, out, _ = admitctl("evaluate", given="%s\n%s\n" % (broken, json.dumps(PACKAGE)))
    equal(code, 1)
    equal([list(found)[0] == "error" for found in results(out)], [True, False])


@test
def a_refusal_never_quotes_the_input():
    code, out, err = admitctl("evaluate", given='{"password": hunter2hunter2}\n')
    equal(code, 1)
    check("hunter2" not in out + err, out + err)


@test
def each_projection_gives_its_own_shape():
    for name, members in (("validation", ["blocked", "health", "status", "warnings"]), ("grantPreview", None),
                          ("brokerCheck", None), ("filesystemGate", None), ("operatorState", None)):
        code, out, err = admitctl("evaluate", "--projection", name, given=json.dumps(PACKAGE))
        equal((code, err), (0, ""), name)
        found = results(out)
        equal(len(found), 1, name)
        if members:
            equal(sorted(found[0]), members, name)
    equal(found[0]["aggregate"]["key"], "needs_project_context")


@test
def nothing_to_decide_is_exit_2():
    equal(admitctl("evaluate", given=" \n\n")[0], 2)


@test
def every_named_vector_is_decided_as_written():
    done = subprocess.run([sys.executable, "-B", os.path.join(ROOT, "tests", "vectors", "check.py"), ADMITCTL, "evaluate"],
                          stdout=subprocess.PIPE, timeout=120, check=False)
    equal(done.returncode, 0, done.stdout.decode()[-400:])


# ---- explain

def explain(*words):
    code, out, err = admitctl("explain", "--json", *words)
    equal(err, "", str(words))
    return code, json.loads(out)


@test
def each_rule_of_the_classes_is_named():
    for words, rule, kind, code in (
            (["slack.messages.read"], 1, "unknown", 1), (["filesystem.project.read", "--mcp", "slack"], 1, "unknown", 1),
            (["a\nb", "--mcp", "github"], 1, "unknown", 1),
            (["filesystem.project.read", "--mcp", "github"], 2, "unknown", 1),
            (["filesystem.project.write"], 3, "planning_only", 0), (["github.issues.create"], 4, "deferred_live_mcp", 0),
            (["filesystem.write"], 4, "deferred_live_mcp", 0), (["Filesystem.Project.Read "], 5, "bounded_read_only", 0),
            (["github.actions.read"], 5, "bounded_read_only", 0), (["github.secerts.write"], 6, "unknown", 1)):
        found_code, found = explain(*words)
        equal((found_code, found["rule"], found["class"]), (code, rule, kind), str(words))


@test
def an_alias_is_read_as_its_capability():
    _, found = explain("filesystem.read")
    equal((found["capability"], found["owner"], found["deliveryKind"]),
          ("filesystem.project.read", "filesystem", "bounded_context_packet"))
    equal(found["address"], {"resource": "project", "operation": "read"})


@test
def the_short_form_has_an_address_and_its_long_form_has_none():
    equal(explain("filesystem.write")[1]["address"], {"resource": "root", "operation": "write"})
    equal(explain("filesystem.root.write")[1]["address"], None)
    equal(explain("github.issues")[1]["address"], None)
    equal(explain("github.issues.read.more")[1]["address"], None)


@test
def a_typo_gets_the_closest_known_name():
    equal(explain("github.issues.reed")[1]["nearest"], "github.issues.read")
    equal(explain("github.issues.read")[1]["nearest"], None)


@test
def an_explanation_for_people_shows_hostile_text_harmlessly():
    code, out, _ = admitctl("explain", "github.iss\u202eues.read")
    equal(code, 1)
    check("\u202e" not in out, repr(out))
    check("rule 1" in out, out)


# ---- catalog

def default_catalog():
    code, out, err = admitctl("catalog", "show", "--default", "--json")
    equal((code, err), (0, ""))
    return json.loads(out)


def check_catalog(catalog):
    return admitctl("catalog", "check", "-", given=catalog if isinstance(catalog, str) else json.dumps(catalog))


@test
def the_default_catalog_is_sound_and_keeps_its_digest():
    code, out, err = check_catalog(default_catalog())
    equal((code, err), (0, ""))
    digest = out.split()[0]
    check(re.fullmatch(r"sha256:[0-9a-f]{64}", digest), digest)
    equal(admitctl("catalog", "show", "--default")[1].split()[0], digest)
    counted = json.loads(admitctl("catalog", "check", "-", "--json", given=json.dumps(default_catalog()))[1])
    equal(counted["digest"], digest)
    equal([(mcp["mcpId"], mcp["safeReads"], mcp["planningOnly"]) for mcp in counted["mcps"]],
          [("filesystem", 3, 1), ("github", 9, 0)])


@test
def a_faulty_catalog_is_exit_1_and_names_the_entry():
    catalog = default_catalog()
    text = json.dumps(catalog).replace('"github.issues.read"', '"github.issues.write"', 1)
    code, out, err = check_catalog(text)
    equal((code, out), (1, ""))
    check(re.search(r"^admitctl: -: /\S+: ", err), err)
    code, out, _ = admitctl("catalog", "check", "--json", "-", given=text)
    equal((code, sorted(json.loads(out)["fault"])), (1, ["detail", "pointer"]))
    equal(check_catalog("not json")[0], 1)
    equal(check_catalog(dict(catalog, surprise=1))[0], 1)


@test
def another_catalog_decides_otherwise():
    text = admitctl("catalog", "show", "--default", "--json")[1].replace('"github.issues.read"', '"github.issues.get"')
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "catalog.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        equal(admitctl("explain", "github.issues.get", "--catalog", path)[0], 0)
        equal(admitctl("explain", "github.issues.read", "--catalog", path)[0], 1)
        given = json.dumps(dict(PACKAGE, entries=[dict(PACKAGE["entries"][0], mcpId="github",
                                                       capabilities=["github.issues.get"])], subtasks=[]))
        kinds = [results(admitctl("evaluate", *words, given=given)[1])[0]["evaluations"][0]["decision"]["capabilityClasses"][0]
                 ["class"] for words in ([], ["--catalog", path])]
        equal(kinds, ["unknown", "bounded_read_only"])


if __name__ == "__main__":
    run()
