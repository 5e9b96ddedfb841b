#!/usr/bin/env python3
"""admitctl register beside others (chapter 5.8): bytes that stay, the way back, kills, and writers at the same time."""
import json
import os
import resource
import signal
import stat
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
from registering import (ADMITCTL, CASES, MCP, RULES, SETTINGS, Project, Watch, admitctl, asked, is_complete, run_in_scratch)  # noqa: E402
from tap import check, equal, test  # noqa: E402


# ---- bytes that stay, and the way back

@test
def register_and_remove_give_the_same_bytes():  # C43, C45, C90, C98, C101, C107, C108, C110, C119
    servers = [("C45", name) for name in ("crlf.json", "tabs.json", "nonl.json", "oneline.json", "mixed.json", "numbers.json")]
    servers += [("C107", "a.json"), ("C107", "b.json"), ("C43", "env-number.json"), ("C90", "spec.json")]
    servers += [(case, "mcp.json") for case in ("C98", "C101", "C119")]  # members that nobody here knows, and JSON within a text
    settings = [("C108", "settings.json"), ("C110", "settings.json"), ("C30", "url.json"), ("C45", "numbers.json")]
    own = ['{"mcpServers":{}}', '{\n  "mcpServers": {}\n}\n', '{"a":1}', '{\n\t"z": 1\n}', '{\r\n  "z": [1]\r\n}\r\n', "{}", "{}\n",
           '{"permissions":{"allow":[],"deny":[]}}', '{\n  "permissions": {\n    "allow": []\n  }\n}\n',
           '{\n  "permissions": {},\n  "enabledMcpjsonServers": []\n}\n', '{"enabledMcpjsonServers":["x"],"z":0}',
           '{\n  "permissions": {\n    "allow": [\n      "x"\n    ]\n  }\n}']
    texts = [(case, name) for case, name in servers + settings]
    for text in [open(os.path.join(CASES, case, name), "rb").read() for case, name in texts] + [text.encode() for text in own]:
        for name in (MCP, SETTINGS):
            project = Project(**{"mcp" if name == MCP else "settings": text})
            os.chmod(project.at(name), 0o604)
            project.apply()
            check(is_complete(project), "not complete: %r" % text)
            written = project.get(name)
            equal(stat.S_IMODE(os.stat(project.at(name)).st_mode), 0o604)
            same = len(os.path.commonprefix([text, written])) + len(os.path.commonprefix([text[::-1], written[::-1]]))
            check(name == SETTINGS or same >= len(text), "other bytes changed: %r" % written)
            if name == MCP and b"mcpServers" not in text and b"\n" not in text.strip() and text.strip() != b"{}":
                continue  # on one line an empty mcpServers stays, since it may have been there
            project.remove()
            equal(project.get(name), text, "%s after remove" % name)
            equal(asked("--report", cwd=project.path)[1]["state"], "not_registered")


@test
def remove_takes_only_what_register_wrote():
    project = Project('{"mcpServers":{"docs":{"command":"d"}}}', '{"permissions":{"allow":["x"]},"m":1}')
    project.apply()
    settings = project.json(SETTINGS)
    settings["permissions"]["allow"] += ["mcp__admitd__later", "mcp__admitd__*", "y"]
    project.put(SETTINGS, json.dumps(settings))
    before = project.all()
    code, answer = asked("--remove", "--dry-run", cwd=project.path)
    equal((code, answer["state"]), (0, "would_remove"))
    equal(project.all(), before)
    out = project.remove()
    for change in answer["files"][0]["changes"] + answer["files"][1]["changes"]:
        check("- " + change in out, change)
    equal(project.json(MCP), {"mcpServers": {"docs": {"command": "d"}}})
    equal(project.json(SETTINGS), {"permissions": {"allow": ["x", "mcp__admitd__later", "mcp__admitd__*", "y"]}, "m": 1})
    equal(asked("--remove", cwd=project.path)[1]["state"], "not_registered")


@test
def remove_deletes_files_that_register_made_and_no_folder_with_others_in_it():
    project = Project()
    project.apply()
    project.remove()
    equal(project.all(), {})
    project.apply()
    project.put(".claude/agents.md", "mine")
    project.remove()
    equal(sorted(project.all()), [".claude", ".claude/agents.md"])


@test
def report_says_what_is_missing():
    project = Project()
    code, answer = asked("--report", cwd=project.path)
    equal((code, answer["state"]), (1, "not_registered"))
    project.apply()
    settings = project.json(SETTINGS)
    del settings["permissions"]["allow"][0]
    project.put(SETTINGS, json.dumps(settings))
    code, answer = asked("--report", cwd=project.path)
    equal((code, answer["files"][0]["changes"], answer["files"][1]["changes"]), (1, [], ["permissions.allow: " + RULES[0]]))
    equal(admitctl("register", "--report", cwd=project.path)[0], 1)


# ---- others at the same time, and the end of the process

@test
def a_kill_at_any_moment_leaves_whole_files_and_the_next_time_completes_them():  # C35
    text = json.dumps({"mcpServers": {"docs": {"command": "d"}}, "long": "x" * 200000})
    for moment in range(24):
        project = Project(text, '{"model": "m"}')
        watch = Watch(0xFFF & ~Watch.ACCESS, project.path, project.at(".claude"))
        process = subprocess.Popen([ADMITCTL, "register", "--apply"], cwd=project.path, stdout=subprocess.DEVNULL)
        seen = 0
        while seen <= moment and process.poll() is None:
            seen += len(watch.events())
        process.send_signal(signal.SIGKILL)
        process.wait()
        watch.close()
        for name in (MCP, SETTINGS):
            found = project.json(name)  # whole, or this fails
            check(found.get("model") == "m" or found["mcpServers"]["docs"] == {"command": "d"}, "lost")
        project.apply()
        check(is_complete(project), "not complete after moment %d" % moment)
        equal(sorted(project.all()), [".claude", SETTINGS, MCP], "left after moment %d" % moment)


def with_little_room():
    """For the child: no file may grow over 4 KiB, and the write says so instead of a signal."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


@test
def where_there_is_no_room_the_old_files_stay():  # C35
    text = json.dumps({"mcpServers": {}, "long": "x" * 100000})
    for mcp, settings, file in ((text, "{}", MCP), ("{}", text, SETTINGS)):
        project = Project(mcp, settings)
        before = project.all()
        done = subprocess.run([ADMITCTL, "register", "--apply", "--json"], cwd=project.path, stdout=subprocess.PIPE, timeout=60,
                              preexec_fn=with_little_room, restore_signals=False, check=False)
        answer = json.loads(done.stdout)
        equal((done.returncode, answer["code"], answer["file"]), (1, "failed", file))
        equal(sorted(project.all()), sorted(before))
        equal(project.get(file).decode(), text)
        project.apply()
        check(is_complete(project), "not complete")


@test
def many_at_once_come_to_one_registration():  # C34
    project = Project('{"mcpServers":{"docs":{"command":"d"}}}')
    processes = [subprocess.Popen([ADMITCTL, "register", "--apply", "--json"], cwd=project.path, stdout=subprocess.PIPE)
                 for _ in range(20)]
    answers = [(json.loads(process.communicate()[0]), process.returncode) for process in processes]
    for answer, code in answers:
        check((answer["state"], code) in (("applied", 0), ("registered", 0), ("refused", 1)), answer)
        check(code == 0 or answer["code"] == "changed", answer)
    check(any(code == 0 for _, code in answers), "none got through")
    project.apply()
    check(is_complete(project), "not complete")
    equal(project.json(SETTINGS)["permissions"]["allow"], RULES)
    equal(list(project.json(MCP)["mcpServers"]), ["docs", "admitd"])
    equal(sorted(project.all()), [".claude", SETTINGS, MCP])


class Writer(threading.Thread):
    """Somebody who goes on rewriting .mcp.json, each time with a higher number."""

    def __init__(self, project):
        super().__init__()
        self.project, self.number, self.stop = project, 0, threading.Event()

    def run(self):
        while not self.stop.is_set():
            self.number += 1
            self.project.put("theirs", json.dumps({"n": self.number, "mcpServers": {"docs": {"command": "d"}}}))
            os.rename(self.project.at("theirs"), self.project.at(MCP))


@test
def a_writer_at_the_same_time_never_loses_what_it_wrote():  # C34
    project = Project('{"n":0,"mcpServers":{}}')
    writer = Writer(project)
    writer.start()
    codes = []
    try:
        for _ in range(40):
            code, answer = asked("--apply", cwd=project.path)
            check(code == 0 or answer["code"] == "changed", answer)
            codes.append(code)
            project.json(MCP)  # whole at any time
    finally:
        writer.stop.set()
        writer.join()
    equal(project.json(MCP)["n"], writer.number, "the last that was written (codes %s)" % codes)
    project.apply()
    equal(project.json(MCP)["n"], writer.number)
    equal(sorted(project.all()), [".claude", SETTINGS, MCP])


if __name__ == "__main__":
    run_in_scratch()
