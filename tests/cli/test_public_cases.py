#!/usr/bin/env python3
"""Faults that were reported in public, as what a job brings along and what lies in a folder (chapters 5.4, 5.6, 5.7). Each test names its
case; inputs are in cases/. Where a case and chapter 5 differ, chapter 5 stands, and the test says so."""
import json
import os
import subprocess
import sys
import tempfile

try:
    import tomllib
except ImportError:  # before Python 3.11
    tomllib = None

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from materializing import ADMITCTL, Place, mode, read, strict  # noqa: E402
from tap import check, equal, run, test  # noqa: E402

CASES = os.path.join(HERE, "cases")
CANARY = "CANARY"
SKILL_TRAPS = ("block", "bomb", "colon", "crlf", "bom", "dup", "open", "rule-in-body", "tab")


def case(*parts):
    with open(os.path.join(CASES, *parts), "rb") as file:
        return file.read()


def document(*parts):
    return json.loads(case(*parts).decode())


def written(function):
    with tempfile.TemporaryDirectory() as folder:
        function(Place(folder))


def make(place, body, *words):
    """Writes it for this process: the answer, and what was said. No canary is in either, nor in the note of what was written."""
    path = place.write("body.json", body)
    code, out, err = place.ctl("--ungoverned", "--owner", str(os.getpid()), "--json", "--body", path, *words)
    equal(code, 0, err)
    made = strict(out)
    for text in (out, err, read(made["directory"], "admission.json")):
        check(CANARY not in text, "a secret is shown: %s" % text)
    return made


def of_claude(made):
    return strict(read(made["directory"], "mcp-servers.json"))["mcpServers"]


def drops(made):
    return {item["pointer"]: item["reason"] for item in made["dropped"]}


# ---- tool servers that a job brings along

@test
def a_server_without_a_way_to_reach_it_does_not_hide_the_good_one():  # C98
    @written
    def _(place):
        made = make(place, document("C98", "mcp.json"))
        equal(of_claude(made), {"forge": {"type": "http", "url": "https://api.forge.example.invalid/mcp/"}})
        equal(drops(made)["/mcpServers/base"], "it has no command and no url")
        check("/mcpServers/forge/link" in drops(made), made["dropped"])


@test
def a_container_is_dropped_by_its_name():  # C121
    @written
    def _(place):
        made = make(place, {"mcpServers": {"charts": {"container": "acme/charts-mcp:2.0.1", "allowed": ["list_sources"]},
                                           "good": {"command": "x"}}})
        equal(made["servers"], ["good"])
        check("names a container" in drops(made)["/mcpServers/charts"], made["dropped"])


@test
def a_member_that_nobody_judged_is_told_and_left_out():  # C101; the case would keep it, chapter 5.6 knows url and headers
    @written
    def _(place):
        made = make(place, document("C101", "mcp.json"))
        equal(of_claude(made)["chat"], {"type": "http", "url": "https://chat.example.invalid/mcp"})
        equal(list(drops(made)), ["/mcpServers/chat/oauth"])
        check("1234567890123" not in json.dumps(made), "its value is repeated")


@test
def what_tells_two_servers_apart_stays_byte_for_byte():  # C104, C99
    @written
    def _(place):
        for name in ("a.json", "b.json"):
            given = document("C104", name)
            for file, words in (("mcp-servers.json", []), ("config.toml", ["--agent", "codex", "--codex-http"])):
                made = make(place, given, *words)
                check('"%s"' % given["mcpServers"]["db"]["url"] in read(made["directory"], file), made)
        given = document("C99", "mcp.json")["mcpServers"]
        found = of_claude(make(place, {"mcpServers": given}))
        equal(found, {name: {"type": "stdio", **{key: value for key, value in server.items() if key != "description"}}
                      for name, server in given.items()})


@test
def json_within_a_text_stays_that_text_in_both_configs_and_is_shown_in_none():  # C119
    entry = document("C119", "mcp.json")["mcpServers"]["DocStore"]

    @written
    def _(place):
        made = make(place, {"mcpServers": {"DocStore": entry, "docstore": entry}})
        check("/mcpServers/DocStore" in drops(made), made["dropped"])  # an id is lower-case
        equal(of_claude(made)["docstore"]["env"], entry["env"])
        check(entry["env"]["CONNECTION_PROFILES"] in json.loads(read(made["directory"], "secrets.json")), "the filter doesn't know it")
        made = make(place, {"mcpServers": {"docstore": entry}}, "--agent", "codex")
        if tomllib is not None:
            equal(tomllib.loads(read(made["directory"], "config.toml"))["mcp_servers"]["docstore"]["env"], entry["env"])


@test
def a_secret_in_an_argument_or_an_address_takes_its_server_along_and_is_not_shown():  # C90
    @written
    def _(place):
        made = make(place, document("C90", "spec.json"))
        equal((made["servers"], made["arguments"]), ([], ["--strict-mcp-config"]))
        for pointer in ("/mcpServers/a/args/5", "/mcpServers/b/url"):
            check(pointer in drops(made), made["dropped"])


@test
def every_value_of_the_environment_is_kept_whatever_its_name_and_none_is_shown():  # C91
    env = document("C91", "env.json")

    @written
    def _(place):
        for more in ({"secretKeys": list(env)}, {}):
            body = {"servers": [{"id": "a", "transport": "stdio", "command": "x", "env": env, **more}]}
            made = make(place, body)
            equal((of_claude(made)["a"]["env"], made["dropped"]), (env, []))
            text = read(make(place, body, "--agent", "codex")["directory"], "config.toml")
            for name, value in env.items():
                check('"%s" = "%s"' % (name, value) in text, text)


@test
def a_wrong_type_is_told_with_its_place_and_not_its_value():  # C43
    @written
    def _(place):
        for name, pointer in (("env-number", "/env/PORT"), ("env-bool", "/env/DEBUG"), ("env-null", "/env/K"), ("env-object", "/env/K"),
                              ("args-string", "/args"), ("args-number", "/args/1"), ("command-array", "/command")):
            made = make(place, document("C43", name + ".json"))
            check("/mcpServers/a" + pointer in drops(made), "%s: %s" % (name, made["dropped"]))
            check("8080" not in json.dumps(made["dropped"]), made["dropped"])
        made = make(place, document("C43", "port-string.json"), "--agent", "codex")
        check('"8080"' in read(made["directory"], "config.toml"), "a text became a number")


@test
def a_name_that_would_open_another_table_is_no_id():  # C41
    @written
    def _(place):
        names = json.loads(case("C41", "names.json").decode())
        made = make(place, {"mcpServers": {name: {"command": "x"} for name in names}}, "--agent", "codex")
        equal(read(made["directory"], "config.toml"), 'cli_auth_credentials_store = "file"\n')
        equal((made["servers"], len(made["dropped"])), ([], len(names)))


@test
def a_token_stands_in_a_file_of_the_run_alone_and_never_in_an_argument():  # C96; a reference stays one, and chapter 5.7 writes values
    @written
    def _(place):
        given = document("C96", "expected-claude.json")
        made = make(place, given)
        equal(strict(read(made["directory"], "mcp-servers.json")), given)
        given["mcpServers"]["api"]["headers"]["Authorization"] = "Bearer CANARY-value"
        for words in ([], ["--agent", "codex", "--codex-http"]):
            made = make(place, given, *words)
            equal(mode(made["directory"]), 0o700)
            for item in os.listdir(made["directory"]):
                equal(mode(made["directory"], item), 0o600, item)
            check(CANARY not in json.dumps([made["arguments"], made["environment"]]), made)


@test
def a_body_that_is_broken_is_refused_without_a_word_of_it():  # C94, C37
    @written
    def _(place):
        for folder, name in [("C94", name) for name in ("bare.json", "newline.json", "dup.json", "missing-comma.json", "bad.toml",
                                                        "bad.yaml")] + [("C37", "dup-server.json"), ("C37", "dup-escape.json")]:
            path = os.path.join(CASES, folder, name)
            code, out, err = place.ctl("--ungoverned", "--owner", str(os.getpid()), "--body", path)
            check(code in (1, 2) and out == "" and err != "", "%s: exit %d %s" % (name, code, err))
            check(CANARY not in err, err)
        equal(place.runs(), [])
        path = os.path.join(CASES, "C94", "nul.json")
        code, out, err = place.ctl("--ungoverned", "--owner", str(os.getpid()), "--body", path)
        check(CANARY not in out + err, out + err)


# ---- skills

def skills():
    """The cases' SKILL.md as what a job would bring: the whole file is the text."""
    return {"C116": case("C116", "SKILL.md"), "C118": case("C118", "SKILL.md"), "C119": case("C119", "mcp-setup", "SKILL.md"),
            "C121": case("C121", "plan.md"), **{"C122-" + name: case("C122", name + ".md") for name in SKILL_TRAPS}}


@test
def what_a_skills_text_claims_grants_nothing():  # C116, C118, C119, C121, C122
    @written
    def _(place):
        body = {"servers": [{"id": "load", "transport": "stdio", "command": "x", "allowedTools": ["get"]}],
                "skills": [{"name": name, "description": "d", "instructions": text.decode()} for name, text in skills().items()]}
        made = make(place, body, "--own-home")
        equal((sorted(made["skills"]), made["servers"], list(of_claude(made))), (sorted(skills()), ["load"], ["load"]))
        allowed = made["arguments"][made["arguments"].index("--allowedTools") + 1].split(",")
        equal([name for name in allowed if name.startswith("mcp__")], ["mcp__load__get"])
        for name, text in skills().items():
            manifest = case(made["directory"], "home", "skills", name, "SKILL.md")
            head = ('---\nname: "%s"\ndescription: "d"\n---\n\n' % name).encode()
            equal(manifest[:len(head)], head)  # the one block that a client reads is ours
            equal(manifest[len(head):].rstrip(b"\n"), text.rstrip(b"\n"), name)


@test
def a_description_that_parsers_get_wrong_is_written_as_text():  # C118, C119, C122
    texts = [line.split(": ", 1)[1] for name in ("C118", "C119", "C122-colon")
             for line in skills()[name].decode().splitlines() if line.startswith("description: ")]
    yaml_pairs = os.path.join(os.environ.get("BUILDDIR", "."), "yaml_pairs")

    @written
    def _(place):
        made = make(place, {"skills": [{"name": "s%d" % at, "description": text, "instructions": "x"} for at, text in enumerate(texts)]},
                    "--own-home")
        equal(len(texts), 3)
        for at, text in enumerate(texts):
            head = read(made["directory"], "home/skills/s%d/SKILL.md" % at).split("---\n")[1]
            found = subprocess.run([yaml_pairs], input=head.encode(), stdout=subprocess.PIPE, timeout=60, check=True).stdout
            equal(json.loads(found), {"name": "s%d" % at, "description": text})


# ---- the same files in a folder of concepts

def bundle(folder, *words):
    done = subprocess.run([ADMITCTL, "bundle", *words, "--bundle", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                          check=False)
    equal((done.returncode, done.stderr), (0, b""))
    return json.loads(done.stdout.decode())


def card_of(files):
    """The card of a bundle with these concepts, all of which can be fetched as they are."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            with open(os.path.join(folder, name + ".md"), "wb") as file:
                file.write(content)
        with open(os.path.join(folder, "index.md"), "w", encoding="utf-8") as file:
            file.write("".join("- [x](%s.md)\n" % name for name in files))
        for name, content in files.items():
            equal(bundle(folder, "fetch", name)["text"].encode(), content, name)
        card = bundle(folder, "card")["cards"][0]
        equal(card["concepts"], len(files))
        return {"keys": {field["name"]: field["count"] for field in card["fields"]}, **card["findings"]}


@test
def a_broken_block_is_counted_as_broken_and_never_absent():  # C122
    for name in ("colon", "open", "tab"):
        found = card_of({name: case("C122", name + ".md")})
        equal((found["front_matter_malformed"], found["no_type"], found["keys"]), (1, 0, {}), name)
    equal(card_of({"x": case("C122", "rule-in-body.md")})["no_front_matter"], 1)
    large = b"---\nname: rev\nd: " + b"x" * (1 << 19) + b"\n---\n"
    equal(card_of({"x": large})["front_matter_malformed"], 1)


@test
def line_ends_a_mark_a_bar_and_aliases_are_read_within_bounds():  # C122; a second key counts once (chapter 5.4)
    for name, keys in (("crlf", ["description", "name"]), ("bom", ["description", "name"]), ("block", ["description", "name"]),
                       ("dup", ["description", "name", "requires-mcp-servers"]), ("bomb", list("abcd") + ["description", "e", "f", "name"])):
        found = card_of({name: case("C122", name + ".md")})
        equal((found["front_matter_malformed"], found["no_front_matter"], found["keys"]), (0, 0, {key: 1 for key in keys}), name)


@test
def what_a_block_asks_for_is_named_and_nothing_more():  # C116, C118, C119, C121
    found = card_of({name.lower(): text for name, text in skills().items() if not name.startswith("C122")})
    equal((found["front_matter_malformed"], found["no_front_matter"]), (0, 0))
    for key in ("requires-mcp-servers", "allowed-tools", "mcp-servers"):
        equal(found["keys"][key], 1)
    check("delete_everything" not in json.dumps(found), found)
    broken = card_of({"x": case("C94", "bad.yaml")})
    equal((broken["front_matter_malformed"], CANARY in json.dumps(broken)), (1, False))


if __name__ == "__main__":
    sys.exit(run())
