#!/usr/bin/env python3
"""Faults that were reported in public, at the strict door for tool servers (chapter 5.6): groups B (config files), E (secrets) and F (real
files), with the inputs that tests/cli sends through the lenient one. There what is wrong is dropped and told; here the whole document is refused,
with a pointer and never a value, and nothing is stored. Where a case and chapter 5 differ, chapter 5 stands. Speaks TAP."""
import json
import os
import sys
import urllib.parse

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
from daemon import check, equal, run_scenes, scene  # noqa: E402

CASES = os.path.join(os.path.dirname(HERE), "cli", "cases")
STRANGE = "isn't a member of such a spec"


def data(*parts):
    with open(os.path.join(CASES, *parts), "rb") as file:
        return file.read()


def document(*parts):
    return json.loads(data(*parts).decode())


def entries(*parts):
    return document(*parts)["mcpServers"]


def as_spec(entry, **more):
    """A client's entry as the door takes it: `transport` for `type`, all else as written."""
    spec = {"transport": "http" if "url" in entry else "stdio", **entry, **more}
    spec.pop("type", None)
    return spec


class Door:
    """The servers of a fresh project. No answer holds a canary, and a refusal leaves the list as it was."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.path = "/v1/projects/%s/servers" % daemon.world().id

    def listed(self):
        return [item for item in self.daemon.admin.get(self.path).must(200)["items"] if item["kind"] == "spec"]

    def send(self, body, name="srv"):
        answer = self.daemon.admin.put("%s/%s" % (self.path, urllib.parse.quote(name, safe="")), body)
        check(b"CANARY" not in answer.raw, "a secret is shown: %r" % answer)
        return answer

    def takes(self, spec, name="srv"):
        answer = self.send({"spec": spec}, name)
        check(answer.status in (200, 201), answer)
        shown = next(item for item in self.listed() if item["mcpId"] == name)["spec"]
        check("CANARY" not in json.dumps(shown), "a secret is shown: %s" % shown)
        return shown

    def refuses(self, spec, wanted, name="srv"):
        """`wanted`: {pointer: detail}, or the pointers alone."""
        before = self.listed()
        faults = {fault["pointer"]: fault["detail"] for fault in self.send({"spec": spec}, name).must(422, "invalid_document")["faults"]}
        equal(faults if isinstance(wanted, dict) else sorted(faults), wanted if isinstance(wanted, dict) else sorted(wanted))
        equal(self.listed(), before, "what is stored")

    def refuses_bytes(self, body, what):
        before = self.listed()
        answer = self.send(body).must(400, "invalid_json")
        check("offset" in answer.json, "%s: no place: %r" % (what, answer))
        equal(self.listed(), before, "what is stored")


# ---- B: config files

@scene
def a_mark_before_it_or_another_encoding_is_no_json(daemon):  # C29: a body has no need of a mark
    door = Door(daemon)
    for name in ("bom.mcp.json", "bom.settings.json", "double-bom.mcp.json", "utf16.mcp.json"):
        door.refuses_bytes(data("C29", name), name)


@scene
def comments_and_commas_too_many_are_refused_with_their_place(daemon):  # C30
    door = Door(daemon)
    for name in ("comment.json", "trailing.json", "block.json"):
        door.refuses_bytes(data("C30", name), name)


@scene
def a_name_that_stands_twice_is_refused_however_it_is_spelled(daemon):  # C37
    door = Door(daemon)
    for name in ("dup-server.json", "dup-root.json", "dup-escape.json", "dup-deep.json"):
        door.refuses_bytes(data("C37", name), name)
    for twice in (b'"env":{"A":"1","A":"2"}', b'"env":{"A":"1","\\u0041":"2"}', b'"command":"y"'):
        door.refuses_bytes(b'{"spec":{"transport":"stdio","command":"x",' + twice + b"}}", twice)


@scene
def a_whole_config_in_any_of_its_shapes_is_no_spec(daemon):  # C38: one server each, and never a guess at what was meant
    door = Door(daemon)
    for name in ("wrapped", "flat", "snake", "schema", "mixed", "vscode"):
        given = document("C38", name + ".json")
        door.refuses(given, ["/spec/transport"] + ["/spec/" + member for member in given])
        door.refuses(as_spec(given), ["/spec/command"] + ["/spec/" + member for member in given])


@scene
def a_name_that_would_open_another_table_is_no_id(daemon):  # C41
    door = Door(daemon)
    for name in document("C41", "names.json"):
        answer = door.send({"spec": {"transport": "stdio", "command": "x"}}, name)
        check((answer.status, answer.code) in ((422, "invalid_document"), (400, "bad_request"), (404, "not_found")), "%r: %r" % (name, answer))
        if answer.status == 422:
            equal([fault["pointer"] for fault in answer["faults"]], ["/spec/id"])
    equal(door.listed(), [])


@scene
def a_wrong_type_is_told_with_its_place_and_not_its_value(daemon):  # C43
    door = Door(daemon)
    for name, pointer, detail in (
            ("env-number", "/env/PORT", "must be a text"), ("env-bool", "/env/DEBUG", "must be a text"), ("env-null", "/env/K", "must be a text"),
            ("env-object", "/env/K", "must be a text"), ("args-string", "/args", "must be an array"), ("args-number", "/args/1", "must be a text"),
            ("command-array", "/command", "must be a text"), ("both", "/command", STRANGE)):
        door.refuses(as_spec(entries("C43", name + ".json")["a"]), {"/spec" + pointer: detail})
    shown = door.takes(as_spec(entries("C43", "port-string.json")["a"]))
    equal({name: value["set"] for name, value in shown["env"].items()}, {"PORT": True, "VER": True, "YES": True})


# ---- E: secrets

@scene
def a_secret_that_others_could_read_is_refused_and_not_shown(daemon):  # C90
    door = Door(daemon)
    given = entries("C90", "spec.json")
    before = door.listed()
    for name, pointers in (("a", ("/spec/args/5",)), ("b", ("/spec/url",))):
        faults = door.send({"spec": as_spec(given[name])}, name).must(422, "invalid_document")["faults"]
        for pointer in pointers:
            check(any(fault["pointer"] == pointer and "secret" in fault["detail"] for fault in faults), faults)
    equal(door.listed(), before)
    shown = door.takes(as_spec({"command": "docker", "args": ["run"], "env": given["a"]["env"]}), "a")
    equal(sorted(shown["env"]), ["API_KEY", "HARMLESS"])
    shown = door.takes(as_spec({"url": "https://h.invalid/mcp", "headers": given["b"]["headers"]}), "b")
    equal(sorted(shown["headers"]), ["Cookie", "X-Anything"])


@scene
def of_variables_only_whether_they_are_set_is_told_whatever_their_name(daemon):  # C91
    door = Door(daemon)
    env = document("C91", "env.json")
    for more in ({}, {"secretKeys": list(env)}):
        shown = door.takes(as_spec({"command": "x", "env": env}, **more))
        equal(sorted(shown["env"]), sorted(env))
        equal({frozenset(value) for value in shown["env"].values()}, {frozenset(("credential", "set"))})
        for name, value in env.items():
            check(len(value) < 6 or value not in json.dumps(shown), "the value of %s is shown" % name)


@scene
def a_body_that_is_broken_beside_a_secret_is_refused_without_a_word_of_it(daemon):  # C94
    door = Door(daemon)
    for name in ("bare.json", "newline.json", "nul.json", "dup.json", "missing-comma.json", "bad.toml", "bad.yaml"):
        door.refuses_bytes(data("C94", name), name)
    check(b"CANARY-" not in daemon.log(), "the log holds a secret")


@scene
def a_reference_to_a_token_stays_one_and_a_token_is_a_credential(daemon):  # C96
    door = Door(daemon)
    given = as_spec(entries("C96", "expected-claude.json")["api"])
    equal(door.takes(given)["headers"], {"Authorization": {"credential": False, "set": True}})
    given["headers"]["Authorization"] = "Bearer CANARY-value-of-it"
    check(door.takes(dict(given, secretKeys=["Authorization"]))["headers"]["Authorization"]["credential"], "it is no credential")


# ---- F: real files

@scene
def a_member_that_nobody_judged_is_refused_by_its_name(daemon):  # C98, C99, C101, C121; only the lenient door leaves one out
    door = Door(daemon)
    given = entries("C98", "mcp.json")
    door.refuses(as_spec(given["base"]), {"/spec/command": "is needed", "/spec/link": STRANGE})
    door.refuses(as_spec(given["forge"]), {"/spec/link": STRANGE})
    door.takes({"transport": "http", "url": given["forge"]["url"]}, "forge")
    door.refuses(as_spec(entries("C101", "mcp.json")["chat"]), {"/spec/oauth": STRANGE})
    door.refuses(as_spec(entries("C99", "mcp.json")["range_ext"]), {"/spec/description": STRANGE})
    door.refuses({"transport": "stdio", "container": "acme/charts-mcp:2.0.1"}, {"/spec/command": "is needed", "/spec/container": STRANGE})
    door.refuses(dict(entries("C101", "mcp.json")["todo"]), ["/spec/transport", "/spec/type"])


@scene
def what_tells_two_servers_apart_stays_as_it_was_given(daemon):  # C99, C104
    door = Door(daemon)
    for name in ("a", "b"):
        url = entries("C104", name + ".json")["db"]["url"]
        equal(door.takes(as_spec({"url": url}), "db-" + name)["url"], url)
    equal(len({item["spec"]["url"] for item in door.listed()}), 2)
    for name, entry in entries("C99", "mcp.json").items():
        shown = door.takes(as_spec({key: value for key, value in entry.items() if key != "description"}), name)
        equal((shown["command"], shown["args"]), (entry["command"], entry["args"]))
    check(b"aaaaaaaaaaaaaaaaaaaa" not in daemon.log(), "the log holds what an address asks for")


@scene
def json_within_a_text_is_taken_and_shown_to_nobody(daemon):  # C119
    door = Door(daemon)
    entry = entries("C119", "mcp.json")["DocStore"]
    door.refuses(as_spec(entry), ["/spec/id"], "DocStore")
    shown = door.takes(as_spec(entry), "docstore")
    equal((shown["args"], sorted(shown["env"])), (entry["args"], sorted(entry["env"])))


@scene
def ordinary_files_of_teams_are_taken_without_a_word(daemon):  # C105, C107
    door = Door(daemon)
    for folder, name in (("C105", "mcp.json"), ("C107", "a.json"), ("C107", "b.json")):
        for server, entry in entries(folder, name).items():
            shown = door.takes(as_spec(entry), server.lower())
            equal(shown.get("command", shown.get("url")), entry.get("command", entry.get("url")))


if __name__ == "__main__":
    run_scenes()
