"""servers.py - tool servers for suites that check them through the real daemon and its prober: specs of fakes, and the servers of a project.

A suite ends with serve(), which runs its scenes in one daemon that may run the fakes and has a key for credentials."""
import contextlib
import os
import shutil
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "http"))
sys.path.insert(0, HERE)
from daemon import Failed, check, package, requirement, running  # noqa: E402
from fake_http import FakeServer  # noqa: E402
from tap import run  # noqa: E402

FAKE = os.path.join(HERE, "fake_stdio.py")
MISSING = "/nonexistent/tool-server"
SCRATCH = tempfile.mkdtemp(prefix="admitd-prober.")
KEY = os.path.join(SCRATCH, "secrets.key")


def write_key(path=KEY):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(os.urandom(32))


def config(key=KEY, commands=(sys.executable, MISSING)):
    text = "[servers]\ncommands = %s\n" % " ".join(commands) if commands else ""
    return text + ("[secrets]\nkey_file = %s\n" % key if key else "")


HTTP = FakeServer()


def stdio(mode, *more, **members):
    return dict({"transport": "stdio", "command": sys.executable, "args": ["-I", FAKE, mode] + list(more)}, **members)


def http(mode, **members):
    return dict({"transport": "http", "url": HTTP.url(mode)}, **members)


class Servers:
    """The tool servers of a fresh project."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.world = daemon.world()
        self.path = "/v1/projects/%s/servers/" % self.world.id

    def put(self, spec, name="github", status=None, **members):
        answer = self.daemon.admin.put(self.path + name, dict({"spec": spec}, **members))
        if status is None and answer.status not in (200, 201):
            raise Failed("%r" % answer)
        return answer if status is None else answer.must(status)

    def health_of(self, spec, name="github"):
        """What the first look at a server like this finds."""
        return self.put(spec, name)["health"]

    def finds(self, spec, status, words=None, name="github"):
        began = time.monotonic()
        health = self.health_of(spec, name)
        check(health["status"] == status and health["source"] == "probed", "wanted %s, found %r" % (status, health))
        check(words is None or words in (health["error"] or ""), "no %r in %r" % (words, health["error"]))
        check((health["error"] is None) == (status == "healthy"), repr(health))
        check(time.monotonic() - began < 6, "it took %.1f s" % (time.monotonic() - began))
        return health

    def check(self, name="github", status=200):
        return self.daemon.operator.post(self.path + name + "/check", {}).must(status).json

    def row(self, name="github"):
        items = self.daemon.admin.get("/v1/projects/%s/health" % self.world.id).must(200)["items"]
        return next((item for item in items if item["mcpId"] == name), None)


def needs_github(label="a"):
    """A package that GitHub's health holds."""
    return package(label, requirement("gh-" + label, mcp="github", capabilities=["github.issues.read"]),
                   overlays={"gh-" + label: "Issue 7: due dates."})


def processes(word):
    """Processes whose command line has this word."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open("/proc/%s/cmdline" % number, "rb") as file:
            if word.encode() in file.read():
                found.append(int(number))
    return found


@contextlib.contextmanager
def configured():
    write_key()
    with running(config()) as daemon:
        yield daemon


def serve():
    """Runs the scenes of a suite."""
    try:
        run(configured)
    finally:
        HTTP.close()
        shutil.rmtree(SCRATCH, ignore_errors=True)
