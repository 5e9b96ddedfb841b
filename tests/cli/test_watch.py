#!/usr/bin/env python3
"""admitctl recovery and watch against a real daemon: what waits, live, and on behind the last event. Speaks TAP."""
import contextlib
import json
import os
import pty
import re
import select
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "http"))
from daemon import TIMEOUT_S, Failed, broken, check, equal, free, reads, run_scenes, scene, without_words  # noqa: E402

ADMITCTL = os.environ.get("ADMITCTL", "admitctl")


def environment(daemon, client):
    token = os.path.join(daemon.folder, "token." + client.token[-8:])
    with open(os.open(token, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
        file.write(client.token + "\n")
    return dict(os.environ, ADMITD_URL="http://127.0.0.1:%d" % daemon.port, ADMITD_TOKEN_FILE=token, NO_COLOR="1", TERM="xterm",
                LC_ALL="C.UTF-8", COLUMNS="200")


def command(daemon, client, *words):
    env = environment(daemon, client)
    return [ADMITCTL, *words, "--token-file", env["ADMITD_TOKEN_FILE"]], env


def run_ctl(daemon, client, *words):
    line, env = command(daemon, client, *words)
    return subprocess.run(line, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


@contextlib.contextmanager
def started(line, env, output):
    """The program for as long as the block lasts, however it ends."""
    with subprocess.Popen(line, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


class Reader:
    """What a program writes, waited for."""

    def __init__(self, descriptor):
        self.descriptor, self.text = descriptor, ""

    def until(self, condition, what):
        deadline = time.monotonic() + TIMEOUT_S
        while not condition(self.text):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.descriptor], [], [], left)[0]:
                raise Failed("waited in vain for %s in %r" % (what, self.text[-500:]))
            piece = os.read(self.descriptor, 65536)
            if not piece:
                raise Failed("it ended before %s: %r" % (what, self.text[-500:]))
            self.text += piece.decode()
        return self.text


def screen(text):
    """What the last drawing left."""
    return text.rsplit("\x1b[2J", 1)[-1]


@scene
def recovery_shows_what_waits_and_commands_that_free_it(daemon):
    world = daemon.world()
    world.submit(reads("importer"), broken("old"), free("c"))
    done = run_ctl(daemon, daemon.approver, "recovery", "--project", world.id)
    equal((done.returncode, done.stderr), (0, ""))
    check("3 wait for a person: 2 packages held, 1 plans to decide." in done.stdout, done.stdout)
    check("Waiting for read access" in done.stdout and "importer" in done.stdout, done.stdout)
    line = re.search(r"to free +(admitctl grant \S+ .*)", done.stdout).group(1)
    freed = run_ctl(daemon, daemon.approver, *line.split()[1:])
    equal(freed.returncode, 0, freed.stderr)
    equal(world.package("importer")["hold"], None)
    done = run_ctl(daemon, daemon.approver, "recovery", "--project", world.id, "--kind", "package_held", "--json")
    equal([item["label"] for item in json.loads(done.stdout)["items"]], ["old"])
    equal(run_ctl(daemon, daemon.planner, "recovery", "--mine").stdout.count("admitctl"), 0)
    equal(run_ctl(daemon, daemon.planner, "recovery", "--kind", "x").returncode, 1)


@scene
def watch_prints_each_event_as_a_line(daemon):
    world = daemon.world()
    start = daemon.admin.get("/v1/recovery").must(200)["asOfEvent"]
    world.submit(reads("a"))
    events = daemon.admin.get("/v1/tasks/%s/timeline" % world.task_id()).must(200)["items"]
    done = run_ctl(daemon, daemon.auditor, "watch", "--after", start, "--count", str(len(events)))
    equal((done.returncode, done.stderr), (0, ""))
    equal([json.loads(line) for line in done.stdout.splitlines()], without_words(events))


@scene
def watch_goes_on_behind_the_last_event_when_the_daemon_comes_back(daemon):
    world = daemon.world()
    line, env = command(daemon, daemon.auditor, "watch", "--json", "--project", world.id)
    start = daemon.admin.get("/v1/recovery").must(200)["asOfEvent"]
    port = daemon.port
    with started(line + ["--after", start], env, subprocess.PIPE) as process:
        reader = Reader(process.stdout.fileno())
        world.submit(reads("a"))
        reader.until(lambda text: "hold.opened" in text, "the hold")
        equal(daemon.stop(), 0)
        restart_at(daemon, port)
        world.grant("a")
        reader.until(lambda text: "hold.cleared" in text, "the end of the hold")
        ids = [int(json.loads(line)["id"]) for line in reader.text.splitlines() if line.endswith("}")]
        equal(ids, sorted(set(ids)), "events out of order, or twice")


def restart_at(daemon, port):
    """The daemon again, where clients know it."""
    with open(daemon.config, "w", encoding="utf-8") as file:
        file.write("")
    original = subprocess.Popen

    def at_port(words, *args, **kwargs):
        return original([word.replace("127.0.0.1:0", "127.0.0.1:%d" % port) for word in words], *args, **kwargs)
    subprocess.Popen = at_port
    try:
        daemon.start()
    finally:
        subprocess.Popen = original
    for client in (daemon.planner, daemon.approver, daemon.executor, daemon.operator, daemon.auditor, daemon.admin, daemon.nobody):
        client.close()


@scene
def watch_draws_the_queue_on_a_terminal_again_when_something_happens(daemon):
    world = daemon.world()
    world.submit(reads("importer"))
    line, env = command(daemon, daemon.operator, "watch", "--project", world.id)
    master, slave = pty.openpty()
    with started(line, env, slave):
        os.close(slave)
        reader = Reader(master)
        reader.until(lambda text: "Waiting for read access" in screen(text) and "importer" in screen(text), "the queue")
        world.grant("importer")
        world.approve()
        reader.until(lambda text: "Nothing waits for a person. 1 ready" in screen(text), "the empty queue")
    os.close(master)


@scene
def watch_says_at_once_when_there_is_no_daemon_or_no_right(daemon):
    line, env = command(daemon, daemon.operator, "watch")
    env["ADMITD_URL"] = "http://127.0.0.1:1"
    equal(subprocess.run(line, env=env, capture_output=True, timeout=TIMEOUT_S, check=False).returncode, 3)
    nobody = daemon.client("leaver", "auditor")
    daemon.admin.delete("/v1/tokens/" + nobody.id).must(204)
    equal(run_ctl(daemon, nobody, "watch").returncode, 1)
    equal(run_ctl(daemon, daemon.auditor, "watch", "--count", "0").returncode, 2)


if __name__ == "__main__":
    run_scenes("")
