"""registering.py - a project of its own for each test of register, admitctl on it, and what the kernel saw it open.

    project = Project('{"mcpServers":{}}', settings='{"model":"m"}')
    project.apply()
    equal(project.json(MCP), ...)

run_in_scratch() runs the tests of a file and takes its folder away.
"""
import contextlib
import ctypes
import json
import os
import shutil
import stat
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "lib"))
from tap import check, equal, run  # noqa: E402

CASES = os.path.join(HERE, "cases")
SCRATCH = tempfile.mkdtemp(prefix="admitd-register.")
ADMITCTL = os.path.realpath(shutil.which(os.environ.get("ADMITCTL", "admitctl")))
MCP, SETTINGS = ".mcp.json", ".claude/settings.json"
NOBODY = 65534


def admitctl(*words, cwd=None, binary=ADMITCTL, **more):
    """Exit code, standard output, standard error. Whatever waits for a FIFO ends the test."""
    done = subprocess.run([binary, *words], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=60, check=False, **more)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def asked(*words, cwd):
    """The answer for programs: exit code and document."""
    code, out, err = admitctl("register", "--json", *words, cwd=cwd)
    check(out, "no answer: " + err)
    return code, json.loads(out)


class Project:
    """A folder of its own."""

    def __init__(self, mcp=None, settings=None):
        self.path = tempfile.mkdtemp(dir=SCRATCH)
        if mcp is not None:
            self.put(MCP, mcp)
        if settings is not None:
            self.put(SETTINGS, settings)

    def at(self, name):
        return os.path.join(self.path, name)

    def put(self, name, content):
        os.makedirs(os.path.dirname(self.at(name)), exist_ok=True)
        with open(self.at(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    def get(self, name):
        with open(self.at(name), "rb") as file:
            return file.read()

    def json(self, name):
        return json.loads(self.get(name))

    def all(self):
        """Every name, its class and its bytes."""
        found = {}
        for folder, folders, files in os.walk(self.path):
            for name in folders + files:
                path = os.path.join(folder, name)
                mode = os.lstat(path).st_mode
                content = self.get(os.path.relpath(path, self.path)) if stat.S_ISREG(mode) else None
                found[os.path.relpath(path, self.path)] = (stat.S_IFMT(mode), content)
        return found

    def refused(self, code, file, *words):
        """Dry run and apply refuse for the same reason, and nothing changes."""
        before = self.all()
        for mode in ([], ["--apply"]):
            status, answer = asked(*mode, *words, cwd=self.path)
            equal((status, answer["state"], answer["code"], answer["file"]), (1, "refused", code, file), str(mode))
            status, out, err = admitctl("register", *mode, *words, cwd=self.path)
            equal((status, out), (1, ""))
            check(err.startswith("admitctl: " + file + ": ") and "(%s)" % code in err, err)
        equal(self.all(), before)
        return answer["detail"]

    def apply(self, *words):
        code, out, err = admitctl("register", "--apply", *words, cwd=self.path)
        equal((code, err), (0, ""), out)
        return out

    def remove(self):
        code, out, err = admitctl("register", "--remove", cwd=self.path)
        equal((code, err), (0, ""), out)
        return out


def entry():
    return asked(cwd=Project().path)[1]["entry"]


ENTRY = entry()
RULES = [change.split(": ", 1)[1] for change in asked(cwd=Project().path)[1]["files"][1]["changes"]
         if change.startswith("permissions.allow: ")]
WHOLE = {"mcpServers": {"admitd": ENTRY}}


def is_complete(project):
    settings = project.json(SETTINGS)
    return (project.json(MCP)["mcpServers"]["admitd"] == ENTRY and "admitd" in settings["enabledMcpjsonServers"]
            and set(RULES) <= set(settings["permissions"]["allow"]))


class Watch:
    """What happens to files and folders, from the kernel, in order."""
    ACCESS, OPEN, MOVED_TO, CREATE = 0x1, 0x20, 0x80, 0x100

    def __init__(self, mask, *paths):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.file = self.libc.inotify_init1(os.O_CLOEXEC)
        self.names = {}
        for path in paths:
            number = self.libc.inotify_add_watch(self.file, os.fsencode(path), mask)
            check(number > 0, "inotify: %s" % os.strerror(ctypes.get_errno()))
            self.names[number] = path

    def events(self, wait=False):
        """(path, name, mask) since the last call."""
        os.set_blocking(self.file, wait)
        found = []
        try:
            data = os.read(self.file, 65536)
        except BlockingIOError:
            return found
        while data:
            number, mask, _, size = struct.unpack_from("iIII", data)
            found.append((self.names[number], data[16:16 + size].rstrip(b"\0").decode(), mask))
            data = data[16 + size:]
        return found

    def close(self):
        os.close(self.file)


@contextlib.contextmanager
def unopened(*paths):
    """Fails if any of these files is opened or read; the watch is shown to work."""
    watch = Watch(Watch.OPEN | Watch.ACCESS, *paths)
    yield
    equal(watch.events(), [], "opened")
    for path in paths:
        os.close(os.open(path, os.O_RDONLY))
    check(watch.events(), "the watch saw nothing")
    watch.close()


def run_in_scratch():
    os.umask(0o022)
    try:
        run()
    finally:
        shutil.rmtree(SCRATCH)
