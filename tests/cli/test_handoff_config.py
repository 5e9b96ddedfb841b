#!/usr/bin/env python3
"""admitctl handoff --agent-config: what a run's agent is given, from the claim's own answer (5.7). Speaks TAP."""
import json
import os
import stat
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "http"))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
from daemon import TIMEOUT_S, check, equal, reads, run_scenes, scene  # noqa: E402

ADMITCTL = os.environ.get("ADMITCTL") or os.path.join(os.environ.get("BUILDDIR", "."), "admitctl")


class Claims:
    """A package that can be claimed, and who claims it."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.world = daemon.world()
        self.world.submit(reads("a"))
        self.world.grant("a")
        self.world.approve()
        self.package = self.world.pid("a")
        self.base = os.path.join(daemon.folder, "base-" + self.world.id)
        self.token = os.path.join(daemon.folder, "token-" + self.world.id)

    def ctl(self, *words):
        env = {key: value for key, value in os.environ.items() if not key.startswith(("ADMITD", "XDG_"))}
        env.update(ADMITD_URL="http://127.0.0.1:%d" % self.daemon.port, ADMITD_TOKEN=self.daemon.executor.token)
        done = subprocess.run([ADMITCTL, *words], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S,
                              check=False)
        return done.returncode, done.stdout, done.stderr

    def claim(self, *words):
        found = self.ctl("handoff", self.package, "--token-out", self.token, *words)
        if os.path.exists(self.token):
            with open(self.token, encoding="ascii") as file:
                self.daemon.secrets.append(file.read().strip())
        return found

    def folder(self):
        names = os.listdir(self.base)
        equal(len(names), 1, names)
        return os.path.join(self.base, names[0])

    def is_claimed(self):
        return self.world.package("a")["status"] == "running"


def read(*parts):
    path = os.path.join(*parts)
    equal(stat.S_IMODE(os.stat(path).st_mode), 0o600, path)
    with open(path, encoding="utf-8") as file:
        return file.read()


@scene
def a_claim_writes_the_folder_that_materialize_would_write(daemon):
    for agent, name in (("claude-code", "mcp-servers.json"), ("codex", "config.toml")):
        claims = Claims(daemon)
        code, out, err = claims.claim("--agent-config", agent, "--owner", str(os.getpid()), "--base", claims.base, "--json")
        equal(code, 0, err)
        answer, written = [json.loads(line) for line in out.splitlines()]
        run = answer["run"]["id"]
        equal((written["run"], written["decisionId"], written["agent"]), (run, answer["decisionId"], agent))
        folder = claims.folder()
        equal(written["directory"], folder)
        equal(json.loads(read(folder, "admission.json"))["owner"]["pid"], os.getpid())
        other = claims.base + "-2"
        code, out, err = claims.ctl("materialize", "--run", run, "--agent", agent, "--owner", str(os.getpid()), "--base", other, "--json")
        equal(code, 0, err)
        equal(read(folder, name), read(json.loads(out)["directory"], name))
        check(claims.world.root in read(folder, name), "another root")
        equal(claims.ctl("materialize", "--check", folder)[0], 0)
        equal(claims.ctl("materialize", "--remove", folder)[0], 0)
        claims.world.outcome(answer)


@scene
def people_see_the_run_and_what_its_agent_is_run_with(daemon):
    claims = Claims(daemon)
    code, out, err = claims.claim("--agent-config", "claude-code", "--owner", str(os.getpid()), "--base", claims.base)
    equal(code, 0, err)
    folder = claims.folder()
    for said in ("RUNNING", "may read", "WRITTEN", folder, "'--mcp-config' '%s/mcp-servers.json'" % folder,
                 "admitctl materialize --remove " + folder):
        check(said in out, "%r is not in %s" % (said, out))
    check(daemon.secrets[-1] not in out + err, "the run's token is shown")


@scene
def without_an_owner_nothing_is_written_and_the_command_that_does_is_shown(daemon):
    claims = Claims(daemon)
    code, out, err = claims.claim("--agent-config", "codex")
    equal(code, 0, err)
    run = daemon.executor.get("/v1/runs?project=" + claims.world.id).must(200)["items"][0]["id"]
    check("admitctl materialize --run %s --agent codex -- COMMAND" % run in out, out)
    claims = Claims(daemon)
    code, out, err = claims.claim("--agent-config", "codex", "--json")
    equal(code, 0, err)
    equal(json.loads(out)["agentConfig"]["files"][0]["name"], "config.toml")


@scene
def what_is_wrong_with_the_folder_is_told_before_anything_is_claimed(daemon):
    claims = Claims(daemon)
    me = str(os.getpid())
    link = os.path.join(daemon.folder, "link")
    os.symlink(daemon.folder, link)
    for words, wanted, said in ((["--owner", me], 2, "belong to --agent-config"), (["--base", claims.base], 2, "belong to --agent-config"),
                                (["--agent-config", "cursor"], 2, "claude-code or codex"),
                                (["--agent-config", "codex", "--base", claims.base], 2, "--base needs --owner"),
                                (["--agent-config", "codex", "--owner", "x"], 2, "a number from 1"),
                                (["--agent-config", "codex", "--owner", "4194303"], 2, "there is no such process"),
                                (["--agent-config", "codex", "--owner", me, "--base", link], 1, "a link, or not this user's alone")):
        code, out, err = claims.claim(*words)
        equal((code, out), (wanted, ""), err)
        check(said in err, "%r is not in %s" % (said, err))
        check(not claims.is_claimed() and not os.path.exists(claims.token), "it claimed: %s" % words)
    check(not os.path.exists(claims.base), "it made a folder")


@scene
def a_folder_that_cant_be_made_leaves_the_claim_and_says_how_to_go_on(daemon):
    claims = Claims(daemon)
    code, out, err = claims.claim("--agent-config", "codex", "--owner", str(os.getpid()), "--base", os.path.join(claims.base, "absent", "x"))
    check(code != 0 and claims.is_claimed(), err)
    run = daemon.executor.get("/v1/runs?project=" + claims.world.id).must(200)["items"][0]["id"]
    check("the run is claimed; admitctl materialize --run %s --agent codex writes its config" % run in err, err)
    check("RUNNING" in out, out)


if __name__ == "__main__":
    run_scenes()
