#!/usr/bin/env python3
"""The reading tools over standard input and output: which root (K32), what --only leaves, answers that fit their schemas, and what the
process can't do any more. What the tools themselves find is tested with the reader. Speaks TAP."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from rpc import Stdio, admitctl, call_result, check, equal, is_error, is_refused  # noqa: E402
from schema import Schemas  # noqa: E402
from tap import run, test  # noqa: E402

LIST, SEARCH, READ = ("filesystem.project." + word for word in ("list", "search", "read"))


def folder(**files):
    """A directory that goes when nobody has it any more."""
    made = tempfile.TemporaryDirectory(prefix="admitd-mcp.")
    for name, text in files.items():
        with open(os.path.join(made.name, name), "w", encoding="utf-8") as file:
            file.write(text)
    return made


def names(server):
    return [tool["name"] for tool in server.ask("tools/list", modern=True)["tools"]]


def shown(server, name, arguments):
    result = call_result(server.call(name, arguments, modern=True))
    equal(result["isError"], False, "isError of %.500r" % result)
    return result["structuredContent"]


def hits(server, pattern="needle"):
    return [match["file"] for match in shown(server, "repo_search", {"pattern": pattern})["matches"]]


# ---- which root (K32)

@test
def the_root_is_the_option_else_the_clients_project_else_where_it_was_started():
    with folder(option="needle") as option, folder(environment="needle") as environment, folder(here="needle") as here:
        with Stdio(cwd=here) as server:
            equal(hits(server), ["here"])
        with Stdio(cwd=here, env={"CLAUDE_PROJECT_DIR": environment}) as server:
            equal(hits(server), ["environment"])
        with Stdio("--root", option, cwd=here, env={"CLAUDE_PROJECT_DIR": environment}) as server:
            equal(hits(server), ["option"])


@test
def a_root_that_is_none_is_a_usage_error():
    with folder(file="x") as here:
        for options, env in ((["--root", ""], {}), ([], {"CLAUDE_PROJECT_DIR": ""}), (["--root", os.path.join(here, "file")], {}),
                             (["--root", os.path.join(here, "none")], {}), (["--only", ""], {}), (["--only", "filesystem.project.write"], {}),
                             (["--bogus"], {}), (["word"], {})):
            done = subprocess.run([admitctl(), "mcp"] + options, env=dict(os.environ, **env), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            equal((done.returncode, done.stdout), (2, b""), "%r %r" % (options, env))
            check(done.stderr, "nothing was said for %r" % options)


@test
def the_root_stays_what_it_was_when_its_name_changes_hands():
    with folder(first="needle") as here, folder(other="needle") as other:
        link = os.path.join(other, "link")
        os.symlink(here, link)
        with Stdio("--root", link) as server:
            server.ask("ping")
            os.unlink(link)
            os.symlink(other, link)
            equal(hits(server), ["first"])


# ---- what was granted

@test
def only_what_was_granted_is_listed_and_answered():
    rows = (((), ["path_inventory", "repo_search"]), ((LIST,), ["path_inventory"]), ((SEARCH,), ["repo_search"]), ((READ,), ["path_inventory"]),
            ((LIST, SEARCH), ["path_inventory", "repo_search"]))
    for capabilities, wanted in rows:
        options = sum((["--only", one] for one in capabilities), [])
        with folder(a="needle") as here, Stdio("--root", here, *options) as server:
            equal([name for name in names(server) if name in ("path_inventory", "repo_search")], wanted, "%r" % (capabilities,))
            for name in {"path_inventory", "repo_search"} - set(wanted):
                is_error(server.call(name, {"paths": ["."], "pattern": "x"}, modern=True), -32602, server.number)


@test
def to_list_is_not_to_read():
    with folder(a="needle") as here:
        with Stdio("--root", here, "--only", LIST) as server:
            equal(shown(server, "path_inventory", {"paths": ["a"]})["targets"][0]["bytes"], 6)
            is_refused(server.call("path_inventory", {"paths": ["a"], "contents": True}, modern=True), "not_granted")
        with Stdio("--root", here, "--only", LIST, "--only", READ) as server:
            equal(shown(server, "path_inventory", {"paths": ["a"], "contents": True})["targets"][0]["contents"], "needle")


@test
def under_only_no_window_is_listed():
    with Stdio("--only", LIST, "--url", "http://127.0.0.1:1", env={"ADMITD_TOKEN": "x"}) as server:
        check("recovery_list" not in names(server), "a window")
        equal(server.errors(), "")


# ---- knowledge bundles (O01 to O08, as far as they are about the protocol)

OKF = ["okf_list", "okf_describe", "okf_ask", "okf_fetch"]


def bundle(parent, name, *concepts):
    """A bundle with a concept for each word, which is also its text."""
    os.makedirs(os.path.join(parent, name))
    with open(os.path.join(parent, name, "index.md"), "w", encoding="utf-8") as file:
        file.write("# %s\n\n" % name + "".join("* [%s](%s.md)\n" % (word, word) for word in concepts))
    for word in concepts:
        with open(os.path.join(parent, name, word + ".md"), "w", encoding="utf-8") as file:
            file.write("---\ntype: Note\ntitle: %s\n---\nAll about %s.\n" % (word, word))


@test
def one_bundle_is_served_alone_and_without_its_id():
    with folder() as here:
        bundle(here, "kb", "widgets", "gadgets")
        with Stdio("--bundle", os.path.join(here, "kb")) as server:
            tools = server.ask("tools/list", modern=True)["tools"]
            equal([tool["name"] for tool in tools], OKF)
            for tool in tools:
                check("bundle_id" not in tool["inputSchema"]["properties"], tool["name"])
            equal(shown(server, "okf_list", {})["bundles"][0]["concepts"], 2)
            check("All about widgets." in json.dumps(shown(server, "okf_fetch", {"concept_id": "widgets"})), "the text")
            equal(shown(server, "okf_ask", {"question": "gadgets"})["hits"][0]["concept_id"], "gadgets")
            is_error(server.call("okf_describe", {"bundle_id": "kb"}, modern=True), -32602, server.number)
            is_refused(server.call("okf_fetch", {"concept_id": "none"}, modern=True), "concept_unknown")


@test
def below_roots_bundles_are_found_and_named_by_their_ids():
    with folder() as here, folder() as there:
        bundle(here, "one", "widgets")
        bundle(there, "two", "gadgets")
        with Stdio("--root", here, "--root", there) as server:
            equal([name for name in names(server) if name in OKF], OKF)
            equal([one["id"] for one in shown(server, "okf_list", {})["bundles"]], ["one", "two"])
            check("All about gadgets." in json.dumps(shown(server, "okf_fetch", {"bundle_id": "two", "concept_id": "gadgets"})), "the text")
            is_refused(server.call("okf_fetch", {"concept_id": "gadgets"}, modern=True), "bundle_required")
            message = is_refused(server.call("okf_fetch", {"bundle_id": "none", "concept_id": "gadgets"}, modern=True), "bundle_unknown")
            check(here not in message and there not in message, message)
            # Nothing is remembered: the sandbox lets what is new be read.
            bundle(here, "three", "doodads")
            equal([one["id"] for one in shown(server, "okf_list", {})["bundles"]], ["one", "three", "two"])


@test
def bundles_take_the_right_to_read():
    for capability, wanted in ((LIST, []), (SEARCH, []), (READ, OKF)):
        with Stdio("--only", capability) as server:
            equal([name for name in names(server) if name in OKF], wanted, capability)
    for options in (["--bundle", "."], ["--bundle", ".", "--root", "."]):
        done = subprocess.run([admitctl(), "mcp"] + options, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        equal(done.returncode, 2 if "--root" in options else 0, "%r" % options)


# ---- types, values and answers

@test
def types_are_errors_and_values_are_refusals():
    wrong = (("path_inventory", {}), ("path_inventory", {"paths": "a"}), ("path_inventory", {"paths": [1]}), ("path_inventory", {"paths": ["a"], "bogus": 1}),
             ("path_inventory", {"paths": ["a"], "contents": "yes"}), ("repo_search", {"pattern": "x", "bogus": 1}), ("repo_search", {"pattern": 7}),
             ("repo_search", {"pattern": "x", "max": 1.5}), ("repo_search", {"pattern": "x", "paths": None}))
    out_of_bounds = (("path_inventory", {"paths": []}), ("path_inventory", {"paths": ["a"], "maxEntries": -1}), ("repo_search", {"pattern": ""}),
                     ("path_inventory", {"paths": ["a"], "maxContentBytes": 16777217}), ("repo_search", {"pattern": "x", "max": 100001}),
                     ("repo_search", {"pattern": "x", "paths": ["%d" % number for number in range(5001)]}))
    with Stdio() as server:
        for name, arguments in wrong:
            message = is_error(server.call(name, arguments, modern=True), -32602, server.number)["message"]
            check(message.startswith("arguments"), message)
        for name, arguments in out_of_bounds:
            is_refused(server.call(name, arguments, modern=True), "argument_invalid")
        shown(server, "repo_search", {"pattern": "nowhere to be found", "paths": ["none"] * 5001})


@test
def an_error_shows_no_bytes_that_move_a_cursor():
    with Stdio() as server:
        for key in ("\x1b[2J", "a\nb", "é" * 100):
            found = server.call("path_inventory", {"paths": ["a"], key: 1}, modern=True)["error"]["message"]
            check(found.isascii() and found.isprintable() and len(found) < 200, repr(found))


@test
def every_answer_fits_the_schema_that_is_listed():
    with folder(a="needle\n", b="x\0y") as here, Stdio("--root", here) as server:
        schemas = {tool["name"]: tool["outputSchema"] for tool in server.ask("tools/list", modern=True)["tools"]}
        known = Schemas({})
        calls = (("path_inventory", {"paths": ["a", ".", "none", "../a"], "contents": True}), ("repo_search", {"pattern": "needle"}),
                 ("repo_search", {"pattern": ""}), ("path_inventory", {"paths": ["a"], "maxTotalBytes": 0, "contents": True}))
        for name, arguments in calls:
            equal(schemas[name]["type"], "object", "type of the schema of " + name)
            content = call_result(server.call(name, arguments, modern=True))["structuredContent"]
            equal(known.faults(schemas[name], content), [], "%s %r" % (name, arguments))
            check(known.faults(schemas[name], {"neither": 1}), "the schema of %s takes anything" % name)


@test
def every_tool_says_that_it_only_reads():
    with Stdio() as server:
        for tool in server.ask("tools/list", modern=True)["tools"]:
            marks = {name: value for name, value in tool["annotations"].items() if name.endswith("Hint")}
            equal(marks, {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}, tool["name"])
            equal(tool["inputSchema"]["type"], "object")
            equal(tool["inputSchema"]["additionalProperties"], False)
            check(not {"anyOf", "oneOf", "allOf"} & set(tool["inputSchema"]), "some clients' services refuse it")


@test
def no_answer_names_the_machines_path():
    with folder(a="x") as here, Stdio("--root", here) as server:
        for arguments in ({"paths": ["none", "../x", "/etc/passwd", "a/b", ""]}, {"paths": [here + "/a", here + "/none"]}):
            text = json.dumps(shown(server, "path_inventory", arguments))
            check(here not in text.replace(json.dumps(here + "/a")[1:-1], "").replace(here + "/none", ""), text)


if __name__ == "__main__":
    run()
