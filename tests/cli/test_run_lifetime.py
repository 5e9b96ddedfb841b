#!/usr/bin/env python3
"""admitctl materialize with a command: what the agent sees, what it may print, and when the folder goes (cases H21, H27, H28)."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from materializing import DOCS, ISSUES, Place, TOKEN, read, strict  # noqa: E402
from tap import check, equal, run, test  # noqa: E402

# Copies its config, says where it was, and prints what it was given.
FAKE = r"""#!/usr/bin/env python3
import json, os, shutil, sys
words = sys.argv[1:]
path = words[words.index("--mcp-config") + 1]
shutil.copyfile(path, words[0] + ".config")
with open(words[0] + ".path", "w") as file:
    file.write(os.path.dirname(path))
for server in json.load(open(path))["mcpServers"].values():
    token = server["env"]["ISSUE_TOKEN"]
    sys.stderr.write("production: got %s\n" % token)
    sys.stdout.write(json.dumps({"token": token, "stage": "production"}) + "\n")
sys.exit(int(words[1]))
"""
# Says that it runs, and stays until its input ends.
WAITS = r"""#!/usr/bin/env python3
import sys
print("ready", flush=True)
sys.stdin.read()
"""


def placed(function):
    with tempfile.TemporaryDirectory() as folder:
        place = Place(folder)
        for name, text in (("fake", FAKE), ("waits", WAITS)):
            os.chmod(place.write(name, text), 0o755)
        function(place)


def wait_until(condition, what):
    end = time.monotonic() + 60
    while not condition():
        check(time.monotonic() < end, "waited too long for " + what)


def start(place, *words, body=None):
    return subprocess.Popen(
        place.command("--base", place.base, "--ungoverned", "--body", body or place.body(ISSUES), *words), env=place.env,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@test
def a_token_that_the_agent_prints_is_masked_and_the_rest_is_left():
    @placed
    def _(place):
        code, out, err = place.ctl("--ungoverned", "--body", place.body(ISSUES), "--", place.path("fake"), place.path("one"), "7")
        equal(code, 7)
        equal(json.loads(out), {"token": "***", "stage": "production"})
        check("production: got ***" in err and TOKEN not in out + err, err)
        equal(strict(read(place.path("one.config")))["mcpServers"]["issues"]["env"]["ISSUE_TOKEN"], TOKEN)
        equal(place.runs(), [])


@test
def two_runs_at_once_see_their_own_and_leave_nothing():
    @placed
    def _(place):
        children = []
        for name in ("a", "b"):
            server = dict(ISSUES, id="server-" + name, env={"ISSUE_TOKEN": "token-of-" + name})
            body = place.body(server, name=name + ".json")
            children.append(start(place, "--", place.path("fake"), place.path(name), "0", body=body))
        for child in children:
            child.communicate(timeout=120)
            equal(child.returncode, 0)
        for name in ("a", "b"):
            found = strict(read(place.path(name + ".config")))["mcpServers"]
            equal((list(found), found["server-" + name]["env"]), (["server-" + name], {"ISSUE_TOKEN": "token-of-" + name}))
        check(read(place.path("a.path")) != read(place.path("b.path")), "one folder for both")
        equal(place.runs(), [])


@test
def a_run_that_is_asked_to_end_ends_and_its_folder_goes():
    @placed
    def _(place):
        child = start(place, "--", place.path("waits"))
        equal(child.stdout.readline(), b"ready\n")
        equal(len(place.runs()), 1)
        child.send_signal(signal.SIGTERM)
        equal(child.wait(timeout=120), 128 + signal.SIGTERM)  # its input stays open: that would end it too
        child.communicate()
        equal(place.runs(), [])


@test
def a_run_that_was_killed_is_swept_by_the_next_and_a_living_one_is_not():
    @placed
    def _(place):
        killed, living = start(place, "--", place.path("waits")), start(place, "--", place.path("waits"))
        for child in (killed, living):
            equal(child.stdout.readline(), b"ready\n")
        equal(len(place.runs()), 2)
        killed.kill()
        killed.wait(timeout=120)
        code, _, err = place.ctl("--sweep")
        equal(code, 0)
        check("1 folder of ended runs removed" in err, err)
        equal(len(place.runs()), 1)
        living.communicate(timeout=120)
        equal((living.returncode, place.runs()), (0, []))
        killed.communicate(timeout=120)


@test
def files_without_a_command_stay_as_long_as_their_owner():
    @placed
    def _(place):
        with subprocess.Popen([place.path("waits")], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as owner:
            equal(owner.stdout.readline(), b"ready\n")
            code, out, err = place.ctl("--ungoverned", "--body", place.body(ISSUES), "--owner", str(owner.pid), "--json")
            equal(code, 0, err)
            equal(place.ctl("--sweep")[0], 0)
            equal(place.runs(), [os.path.basename(strict(out)["directory"])])
            owner.stdin.close()
            owner.wait(timeout=120)
        equal(place.ctl("--sweep")[0], 0)
        equal(place.runs(), [])


@test
def a_folder_that_a_crash_left_half_made_is_swept():
    @placed
    def _(place):
        os.mkdir(place.base, 0o700)
        os.makedirs(os.path.join(place.base, "run-half", "home", "skills"), 0o700)
        place.write("base/run-half/mcp-servers.json", "{}")
        os.symlink(place.folder, os.path.join(place.base, "run-link"))
        equal(place.ctl("--sweep")[0], 0)
        equal(place.runs(), ["run-link"])
        check(os.path.exists(place.path("fake")), "what the link leads to is left alone")


@test
def a_command_that_cannot_be_run_leaves_nothing():
    @placed
    def _(place):
        code, _, err = place.ctl("--ungoverned", "--body", place.body(ISSUES, DOCS), "--", place.path("absent"))
        equal(code, 127)
        check("No such file" in err, err)
        equal(place.runs(), [])


@test
def a_child_that_leaves_others_behind_ends_all_the_same():
    @placed
    def _(place):
        code, out, _ = place.ctl("--ungoverned", "--body", place.body(ISSUES), "--", "sh", "-c",
                                 "(exec sleep 600 <&- >&1 2>&1) & echo $!; echo done")
        os.kill(int(out.splitlines()[0]), signal.SIGKILL)
        equal((code, out.splitlines()[1], place.runs()), (0, "done", []))


if __name__ == "__main__":
    sys.exit(run())
