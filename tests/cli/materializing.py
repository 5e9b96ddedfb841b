"""What the tests of admitctl materialize share: bodies, a fake agent, and reading what was written."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "lib"))

ADMITCTL = os.environ.get("ADMITCTL", "admitctl")
TOKEN = "tok-abcdef"
BUILT_IN = ("Agent Bash BashOutput Edit ExitPlanMode Glob Grep KillBash KillShell ListMcpResources MultiEdit NotebookEdit "
            "NotebookRead Read ReadMcpResource SlashCommand Skill Task TaskCreate TaskUpdate TodoWrite WebFetch WebSearch "
            "Write").split()

ISSUES = {"id": "issues", "transport": "stdio", "command": "/usr/bin/issue-server", "args": ["-y", "--verbose"],
          "env": {"ISSUE_TOKEN": TOKEN, "STAGE": "production"}, "secretKeys": ["ISSUE_TOKEN"]}
DOCS = {"id": "docs", "transport": "http", "url": "https://docs.example.com/mcp?project_ref=a",
        "headers": {"Authorization": "Bearer " + TOKEN}}


def strict(text):
    """A strict parser: no key twice, no constants that JSON doesn't know."""
    def once(pairs):
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a key stands twice")
        return found

    def refuse(word):
        raise ValueError(word)
    return json.loads(text, object_pairs_hook=once, parse_constant=refuse)


class Place:
    """A base folder, a home of a person and a checkout, all in one temporary folder."""

    def __init__(self, folder):
        self.folder = folder
        self.base = os.path.join(folder, "base")
        self.person = os.path.join(folder, "person")
        os.mkdir(self.person)
        self.env = {key: value for key, value in os.environ.items() if not key.startswith(("ADMITD", "XDG_"))}
        self.env["HOME"] = self.person

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def write(self, name, content):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))
        return path

    def body(self, *servers, skills=None, name="body.json"):
        body = {"servers": list(servers)}
        if skills is not None:
            body["skills"] = skills
        return self.write(name, body)

    def command(self, *words):
        return [ADMITCTL, "materialize", *words]

    def ctl(self, *words, base=True, preexec=None):
        given = list(words)
        if base:
            given[:0] = ["--base", self.base]
        done = subprocess.run(self.command(*given), env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120, check=False, preexec_fn=preexec)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def make(self, *words, **more):
        """Writes for this very process, and gives the answer."""
        code, out, err = self.ctl("--ungoverned", "--owner", str(os.getpid()), "--json", *words, **more)
        if code != 0:
            raise AssertionError("exit %d: %s" % (code, err))
        return strict(out)

    def runs(self):
        return sorted(os.listdir(self.base)) if os.path.isdir(self.base) else []


def read(*parts):
    with open(os.path.join(*parts), encoding="utf-8", newline="") as file:
        return file.read()


def mode(*parts):
    return os.lstat(os.path.join(*parts)).st_mode & 0o7777
