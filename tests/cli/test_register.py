#!/usr/bin/env python3
"""admitctl register: two files of a project, by consent (chapter 5.8): what it writes and what it refuses."""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
from registering import (ADMITCTL, CASES, ENTRY, MCP, NOBODY, RULES, SCRATCH, SETTINGS, WHOLE, Project, Watch, admitctl, asked, is_complete,
                         run_in_scratch, unopened)  # noqa: E402
from tap import check, equal, test  # noqa: E402


# ---- writing

@test
def without_flags_it_prints_entry_and_rules_and_writes_nothing():  # K01
    project = Project()
    code, out, err = admitctl("register", cwd=project.path)
    equal((code, err), (0, ""))
    equal(project.all(), {})
    start = out.index("\n{\n")
    equal(json.loads(out[start:out.index("\n}\n", start) + 2]), ENTRY)
    equal(ENTRY, {"type": "stdio", "command": ADMITCTL, "args": ["mcp"]})
    check(len(RULES) >= 2, RULES)
    for rule in RULES:
        check(rule in out and rule.startswith("mcp__admitd__"), rule)
    check("as you" in out and "without asking" in out, "no words on trust: " + out)
    equal(admitctl("register", "--dry-run", cwd=project.path)[1], out)


@test
def apply_makes_both_files_and_a_second_time_touches_neither():  # K02
    project = Project()
    project.apply()
    equal(project.json(MCP), WHOLE)
    equal(project.json(SETTINGS), {"enabledMcpjsonServers": ["admitd"], "permissions": {"allow": RULES}})
    equal(sorted(project.all()), [".claude", SETTINGS, MCP])
    before = [os.stat(project.at(name)) for name in (MCP, SETTINGS, ".claude", "")]
    check("REGISTERED" in project.apply(), "not said")
    equal([os.stat(project.at(name)).st_mtime_ns for name in (MCP, SETTINGS, ".claude", "")],
          [seen.st_mtime_ns for seen in before])
    equal(asked("--report", cwd=project.path)[1]["state"], "registered")


@test
def mcp_json_is_written_before_the_settings():  # K03
    for project in (Project("{}", "{}"), Project(None, "{}")):
        watch = Watch(Watch.MOVED_TO, project.path, project.at(".claude"))
        project.apply()
        moved = [name for _, name, _ in watch.events() if name in (MCP, "settings.json")]
        equal(moved, [MCP, "settings.json"])
        watch.close()


def as_other(project, *words):
    """As somebody whom permission bits bind, also where the tests run as root."""
    if os.geteuid() != 0:
        return admitctl(*words, cwd=project.path)
    os.chmod(SCRATCH, 0o755)
    binary = os.path.join(SCRATCH, "admitctl")
    if not os.path.exists(binary):
        shutil.copy(ADMITCTL, binary)
        os.chmod(binary, 0o755)
    for folder, folders, files in os.walk(project.path):
        for name in [folder] + [os.path.join(folder, name) for name in folders + files]:
            os.chown(name, NOBODY, NOBODY)
    return admitctl(*words, cwd=project.path, binary=binary, user=NOBODY, group=NOBODY, extra_groups=[])


@test
def where_the_settings_cannot_be_written_the_rest_stands_and_a_second_time_completes_it():  # K04
    for settings in ('{"model":"m"}', None):
        project = Project(None, settings)
        os.makedirs(project.at(".claude"), exist_ok=True)
        os.chmod(project.at(".claude"), 0o555)
        code, _, err = as_other(project, "register", "--apply")
        os.chmod(project.at(".claude"), 0o755)
        equal(code, 1)
        check(SETTINGS in err and "Permission denied (failed)" in err, err)
        check("admitd" in project.json(MCP)["mcpServers"], "the entry is gone")
        equal(sorted(project.all()), sorted([".claude", MCP] + ([SETTINGS] if settings else [])))
        written = project.get(MCP)
        equal(as_other(project, "register", "--apply")[0], 0)
        equal(project.get(MCP), written)
        check(set(RULES) <= set(project.json(SETTINGS)["permissions"]["allow"]), "not completed")


@test
def line_ends_are_those_of_each_file():  # K05
    project = Project('{"mcpServers":{}}\r\n')
    project.apply()
    text = project.get(MCP)
    equal(text.count(b"\n"), text.count(b"\r\n"))
    equal(project.get(SETTINGS).count(b"\r"), 0)
    project = Project('{\r\n  "mcpServers": {}\r\n}')
    project.apply()
    text = project.get(MCP)
    equal((text.count(b"\n"), text.count(b"\r\n"), text[-1:]), (text.count(b"\r\n"), text.count(b"\r\n"), b"}"))
    check(text.count(b"\r\n") > 5, text)


@test
def what_others_have_there_survives_and_ours_comes_behind():  # K06
    project = Project('{"other":1,"mcpServers":{"docs":{"command":"d"}},"last":[2]}',
                      '{"permissions":{"allow":["Bash(ls:*)"],"deny":["Read(./vault/**)"]},"model":"m"}')
    project.apply()
    whole = project.json(MCP)
    equal(list(whole), ["other", "mcpServers", "last"])
    equal(list(whole["mcpServers"]), ["docs", "admitd"])
    settings = project.json(SETTINGS)
    equal(settings["permissions"], {"allow": ["Bash(ls:*)"] + RULES, "deny": ["Read(./vault/**)"]})
    equal(list(settings), ["permissions", "model", "enabledMcpjsonServers"])


@test
def only_what_is_missing_is_put_in():
    project = Project(None, json.dumps({"enabledMcpjsonServers": ["x", "admitd"], "permissions": {"allow": RULES[:1] + ["y"]}}))
    code, answer = asked("--apply", cwd=project.path)
    equal((code, answer["files"][1]["changes"]), (0, ["permissions.allow: " + rule for rule in RULES[1:]]))
    equal(project.json(SETTINGS)["permissions"]["allow"], RULES[:1] + ["y"] + RULES[1:])


@test
def an_entry_with_its_keys_in_another_order_is_current():  # K07
    text = json.dumps({"mcpServers": {"admitd": dict(reversed(list(ENTRY.items())))}})
    project = Project(text)
    project.apply()
    equal(project.get(MCP).decode(), text)
    check(is_complete(project), "not complete")


@test
def an_entry_that_differs_in_any_way_is_refused():  # K08, K09
    others = [dict(ENTRY, env={}), dict(ENTRY, args=["mcp", "--root", "/"]), dict(ENTRY, command="admitctl"),
              {key: value for key, value in ENTRY.items() if key != "type"}, dict(ENTRY, x=12345678901234567890),
              dict(ENTRY, type="http"), None, False, 42, "", [], {}]
    for other in others:
        project = Project(json.dumps({"mcpServers": {"admitd": other}}), '{"model": "m"}')
        project.refused("differs", MCP)
        before = project.all()
        equal(asked("--remove", cwd=project.path)[1]["code"], "differs")
        equal(project.all(), before)


@test
def a_member_of_ours_with_another_type_is_malformed():  # K10
    for mcp, settings, name in (
            ('{"mcpServers": []}', None, MCP), ('{"mcpServers": "x"}', None, MCP), ('{"mcpServers": null}', None, MCP),
            (None, '{"enabledMcpjsonServers": "all"}', SETTINGS), (None, '{"permissions": "x"}', SETTINGS),
            (None, '{"permissions": {"allow": {}}}', SETTINGS), (None, '{"permissions": {"allow": null}}', SETTINGS)):
        project = Project(mcp, settings)
        check("must be an" in project.refused("malformed", name), name)


@test
def what_it_does_not_know_is_left_alone():  # K11
    project = Project('{"mcpServers":{},"whatever":[1],"n":{"d":null}}')
    project.apply()
    equal(project.get(MCP).decode(), '{"mcpServers":{"admitd":%s},"whatever":[1],"n":{"d":null}}' % json.dumps(
        ENTRY, separators=(",", ":")))


@test
def the_rules_are_the_tools_of_the_server_that_the_entry_starts():
    project = Project()
    project.apply()
    found = project.json(MCP)["mcpServers"]["admitd"]
    asks = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}},
            {"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
    # Its exit status is no matter here: the server has given up what a leak checker needs at the end.
    done = subprocess.run([found["command"], *found["args"]], input="".join(json.dumps(ask) + "\n" for ask in asks).encode(),
                          env=dict(os.environ, CLAUDE_PROJECT_DIR=project.path), stdout=subprocess.PIPE, timeout=60, check=False)
    tools = json.loads(done.stdout.splitlines()[1])["result"]["tools"]
    equal(RULES, ["mcp__admitd__" + tool["name"] for tool in tools])


# ---- links, classes and roots

@test
def a_link_is_refused_and_what_it_leads_to_is_not_opened():  # K12, K13, C32
    complete = Project()
    complete.apply()
    linked = Project(None, "{}")
    os.symlink(complete.at(MCP), linked.at(MCP))
    with unopened(complete.at(MCP)):
        check("symbolic link" in linked.refused("wrong_class", MCP), "not said")
    linked = Project("{}")
    os.symlink(complete.at(".claude"), linked.at(".claude"))
    with unopened(complete.at(SETTINGS), complete.at(".claude")):
        check("symbolic link" in linked.refused("wrong_class", ".claude"), "not said")
    linked = Project("{}")
    os.mkdir(linked.at(".claude"))
    for target in (complete.at(SETTINGS), linked.at("absent")):
        os.symlink(target, linked.at(SETTINGS))
        with unopened(complete.at(SETTINGS)):
            linked.refused("wrong_class", SETTINGS)
        os.unlink(linked.at(SETTINGS))
    inside = Project("{}")  # also one that stays in the project, and one to a link
    os.mkdir(inside.at(".claude"))
    inside.put(".claude/real.json", "{}")
    os.symlink("real.json", inside.at(".claude/middle.json"))
    os.symlink("middle.json", inside.at(SETTINGS))
    with unopened(inside.at(".claude/real.json")):
        for mode in ("--dry-run", "--apply", "--remove", "--report"):
            equal(asked(mode, cwd=inside.path)[1]["code"], "wrong_class")


@test
def a_root_that_is_a_link_is_refused_and_nothing_below_it_is_opened():  # K14
    project = Project("{}", "{}")
    link = os.path.join(SCRATCH, "link")
    os.symlink(project.path, link)
    with unopened(project.at(MCP), project.at(SETTINGS), project.at(".claude"), project.path):
        for spelling in (link, link + "/", link + "/.", link + "//./"):
            for mode in ("--dry-run", "--apply", "--remove", "--report"):
                code, answer = asked(mode, "--cwd", spelling, cwd=SCRATCH)
                equal((code, answer["code"], answer["file"]), (1, "root_unusable", spelling))
    os.unlink(link)
    equal(project.get(MCP), b"{}")


@test
def a_root_that_is_no_folder_is_refused():  # K15
    project = Project("{}")
    for root in ("absent", MCP, MCP + "/x"):
        for mode in ("--dry-run", "--apply"):
            code, answer = asked(mode, "--cwd", root, cwd=project.path)
            equal((code, answer["code"], answer["file"]), (1, "root_unusable", root))


@test
def a_wrong_command_line_is_exit_2():  # K16
    project = Project()
    for words in (["--cwd", ""], ["--cwd", "   "], ["--cwd"], ["--dry-run", "--apply"], ["--bogus"], ["--apply", "--remove"],
                  ["--report", "--remove"], ["--report", "--apply"], ["word"]):
        code, out, err = admitctl("register", *words, cwd=project.path)
        equal((code, out), (2, ""), str(words))
        check(err, words)
    equal(admitctl("register", "--help", cwd=project.path)[0], 0)
    equal(project.all(), {})


def masks(project):
    """Ways of being neither file nor folder, one after the other at .mcp.json."""
    os.mkfifo(project.at(MCP))
    yield "FIFO"
    os.unlink(project.at(MCP))
    with socket.socket(socket.AF_UNIX) as taken:
        here = os.getcwd()
        os.chdir(project.path)  # the address of a socket is short
        try:
            taken.bind(MCP)
        finally:
            os.chdir(here)
        yield "socket"


@test
def a_masked_mcp_json_hands_over_what_to_merge():  # K17, K21
    settings = '{\n  "model": "m",\n  "permissions": {\n    "deny": ["Read(./vault/**)"]\n  }\n}\n'
    project = Project(None, settings)
    for kind in masks(project):
        before = project.all()
        for mode in ("--apply", "--dry-run"):
            code, out, err = admitctl("register", mode, cwd=project.path)
            equal((code, err), (0, ""))
            check("MASKED" in out and kind in out and "keep the other servers" in out, out)
            bare, body = out.split("\n{\n", 2)[1:]
            equal(json.loads("{" + bare[:bare.rindex("}") + 1]), ENTRY)
            merged = json.loads("{" + body)
            equal((merged["model"], merged["permissions"]), ("m", {"deny": ["Read(./vault/**)"], "allow": RULES}))
        equal(project.all(), before)
    empty = Project()
    os.mkfifo(empty.at(MCP))
    code, answer = asked("--apply", cwd=empty.path)
    equal((code, answer["state"], list(empty.all())), (0, "masked", [MCP]))
    equal(json.loads(answer["settings"])["permissions"]["allow"], RULES)
    equal(asked("--remove", cwd=empty.path)[1]["state"], "masked")


@test
def a_fifo_for_settings_is_refused_without_waiting():  # K18
    for mcp in (None, "{}"):
        project = Project(mcp)
        os.mkdir(project.at(".claude"))
        os.mkfifo(project.at(SETTINGS))
        check("FIFO" in project.refused("wrong_class", SETTINGS), "not said")


@test
def a_mask_hides_no_refusal():  # K19
    project = Project(None, "{ not json")
    os.mkfifo(project.at(MCP))
    project.refused("malformed", SETTINGS)
    project = Project()
    os.mkfifo(project.at(MCP))
    project.put(".claude", "a file")
    project.refused("wrong_class", ".claude")


@test
def the_class_of_the_settings_is_judged_before_an_entry_that_differs():  # K20
    project = Project('{"mcpServers":{"admitd":{}}}')
    os.mkdir(project.at(".claude"))
    os.mkfifo(project.at(SETTINGS))
    project.refused("wrong_class", SETTINGS)


@test
def a_folder_where_a_file_belongs_is_refused():  # K21
    project = Project(None, "{}")
    os.mkdir(project.at(MCP))
    check("folder" in project.refused("wrong_class", MCP), "not said")
    project = Project("{}")
    os.makedirs(project.at(SETTINGS))
    project.refused("wrong_class", SETTINGS)


# ---- what is not JSON

@test
def what_is_not_json_is_refused_and_stays():  # K22, C29, C30, C37, C94
    texts = [b"{ not json", b"[]", b"", b"\xef\xbb\xbf{}", b'{"a":"\xff"}', b"null", b" ", b'{"a":1}{"b":2}', b'{"a":\x00}']
    for case, names in (("C29", ("bom.mcp.json", "bom.settings.json", "utf16.mcp.json", "double-bom.mcp.json")),
                        ("C30", ("comment.json", "trailing.json", "block.json")),
                        ("C37", ("dup-server.json", "dup-root.json", "dup-escape.json", "dup-deep.json")),
                        ("C94", ("bare.json", "newline.json", "missing-comma.json", "dup.json", "bad.toml", "bad.yaml"))):
        for name in names:
            with open(os.path.join(CASES, case, name), "rb") as file:
                texts.append(file.read())
    for text in texts:
        for project, name in ((Project(text, "{}"), MCP), (Project("{}", text), SETTINGS)):
            detail = project.refused("malformed", name)
            check("CANARY" not in detail and (detail.startswith("line ") or "object" in detail), detail)
            equal(asked("--remove", cwd=project.path)[1]["code"], "malformed")


@test
def a_fault_is_told_with_its_line():  # C30
    with open(os.path.join(CASES, "C30", "comment.json"), "rb") as file:
        detail = Project(None, file.read()).refused("malformed", SETTINGS)
    equal(detail, "line 2, column 3: a comment, which JSON doesn't have")


@test
def a_file_too_deep_or_too_large_is_refused():  # C48
    for text, said in ((b'{"a":' * 5000 + b"1" + b"}" * 5000, "nested too deep"), (b"[" * (2 << 20), "nested too deep"),
                       (b'{"mcpServers":{},"x":"' + b"a" * (20 << 20) + b'"}', "too large"),
                       (b"{" + b",".join(b'"k%d":1' % i for i in range(1000000)) + b"}", "too large")):
        detail = Project(text).refused("malformed", MCP)
        check(said in detail, detail)
    keys = b'{"mcpServers":{},' + b",".join(b'"k%d":1' % i for i in range(200000)) + b"}"  # many, and still fine
    project = Project(keys)
    project.apply()
    equal(len(project.json(MCP)), 200001)


@test
def the_settings_of_one_person_are_never_touched_and_do_not_count():  # K23
    project = Project()
    project.put(".claude/settings.local.json", json.dumps({"permissions": {"allow": RULES}, "enabledMcpjsonServers": ["admitd"]}))
    before = os.stat(project.at(".claude/settings.local.json"))
    with unopened(project.at(".claude/settings.local.json")):
        project.apply()
        after = os.stat(project.at(".claude/settings.local.json"))
    equal((after.st_mtime_ns, after.st_ino), (before.st_mtime_ns, before.st_ino))
    equal(project.json(SETTINGS)["permissions"]["allow"], RULES)


@test
def a_project_that_switched_it_off_counts_as_registered_and_is_told():  # K24
    project = Project()
    project.apply()
    project.put(SETTINGS, json.dumps(dict(project.json(SETTINGS), disabledMcpjsonServers=["admitd"])))
    before = project.all()
    out = project.apply()
    check("REGISTERED" in out and "disabledMcpjsonServers names admitd" in out, out)
    equal(project.all(), before)
    equal(asked("--apply", cwd=project.path)[1]["disabled"], True)


@test
def the_command_that_is_printed_works():  # K25
    folder = os.path.join(tempfile.mkdtemp(dir=SCRATCH), "it's a \"project\" $HOME `x`")
    os.mkdir(folder)
    for words, cwd in ((["--cwd", folder], None), ([], folder)):
        code, out, _ = admitctl("register", *words, cwd=cwd)
        equal(code, 0)
        command = [line for line in out.splitlines() if line.startswith("  to do it")][0].split(None, 3)[3]
        done = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, timeout=60, check=True)
        check(b"APPLIED" in done.stdout, done.stdout)
        equal(sorted(os.listdir(folder)), [".claude", MCP])
        equal(admitctl("register", "--remove", "--cwd", folder)[0], 0)
        equal(os.listdir(folder), [])


if __name__ == "__main__":
    run_in_scratch()
