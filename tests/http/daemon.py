"""daemon.py - a real admitd on a state folder of its own, and clients that talk to it.

    from daemon import run_scenes, scene

    @scene
    def an_unknown_task_is_404(daemon):
        equal(daemon.admin.get("/v1/tasks/none").status, 404)

    if __name__ == "__main__":
        run_scenes()

Each scene is a test. At its end the daemon must be alive, and neither its log nor any file of its state folder may hold the canary or
a token's secret. The daemon's log is shown when a scene fails. Whatever a Client sends and gets is held against docs/openapi.json.
"""
import contextlib
import functools
import glob
import http.client
import json
import os
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
sys.path.insert(0, HERE)
import openapi  # noqa: E402
from tap import Failed, check, diagnostic, equal, run, test  # noqa: E402
from wire import Wire  # noqa: E402

TIMEOUT_S = 60          # for what never comes
CANARY = "CANARY-d1e5c0de"
ROLES = ("planner", "approver", "executor", "operator", "auditor")
PRINCIPALS = {"planner": "planner-service", "approver": "approver-1", "executor": "runner-service", "operator": "operator-1",
              "auditor": "auditor-1"}
LOG_LINES_SHOWN = 30
SHOWN = 1200            # bytes of an answer
REUSE_S = 20            # the daemon closes what is idle for a minute


def admitd():
    return os.environ.get("ADMITD") or os.path.join(os.environ.get("BUILDDIR", "."), "admitd")


class Answer:
    """One answer: status, header fields by name in lower case, the parsed body (None without one)."""

    def __init__(self, status, headers, raw):
        self.status = status
        self.headers = headers
        self.raw = raw
        kind = headers.get("content-type", "")
        self.json = json.loads(raw) if raw and "json" in kind and "ndjson" not in kind else None

    def __iter__(self):
        return iter((self.status, self.headers, self.json))

    def __getitem__(self, name):
        return self.json[name]

    def __repr__(self):
        return "%d %s" % (self.status, self.raw[:SHOWN].decode("utf-8", "replace"))

    @property
    def code(self):
        return self.json.get("code") if isinstance(self.json, dict) else None

    def must(self, status, code=None):
        """Itself, if its status (and a problem's code) are these."""
        if self.status != status or (code is not None and self.code != code):
            raise Failed("wanted %d %s, found %r" % (status, code or "", self))
        return self


class Client:
    """Sends requests with one token. A connection for each thread, made again where the daemon closed it."""

    def __init__(self, daemon, token=None):
        self.daemon = daemon
        self.token = token
        self.local = threading.local()

    def connection(self):
        port, now = self.daemon.port, time.monotonic()
        if getattr(self.local, "port", None) != port or now - self.local.used > REUSE_S:
            self.close()
            self.local.port = port
            self.local.http = self.daemon.connect()
        self.local.used = now
        return self.local.http

    def close(self):
        if getattr(self.local, "port", None) is not None:
            self.local.http.close()
            self.local.port = None

    def request(self, method, path, body=None, headers=None):
        """A body that is bytes goes as it is, anything else as JSON; its type is JSON unless the headers say another."""
        fields = {}
        if self.token is not None:
            fields["Authorization"] = "Bearer " + self.token
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        if data is not None:
            fields["Content-Type"] = "application/json"
        for name, value in (headers or {}).items():
            fields.pop(name, None)
            if value is not None:
                fields[name] = value
        connection = self.connection()
        try:
            connection.request(method, path, data, fields)
            answer = connection.getresponse()
            raw = answer.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        found = {name.lower(): value for name, value in answer.getheaders()}
        openapi.check_exchange(method, path, fields, data, answer.status, found, raw)
        return Answer(answer.status, found, raw)

    def get(self, path, **headers):
        return self.request("GET", path, None, headers)

    def post(self, path, body=None, headers=None):
        return self.request("POST", path, body, headers)

    def put(self, path, body=None, headers=None):
        return self.request("PUT", path, body, headers)

    def delete(self, path, headers=None):
        return self.request("DELETE", path, None, headers)


class DaemonWire(Wire):
    """A raw connection to the daemon; what is asked of it is held against the description as well."""

    def ask(self, line, *fields, **options):
        answer = super().ask(line, *fields, **options)
        openapi.check_asked(line, fields, options.get("body"), answer)
        return answer


class Daemon:
    """admitd, its folders, and a client for each role in `planner`, `approver`, `executor`, `operator`, `auditor`, `admin`, `nobody`."""

    def __init__(self, config=None, context=None):
        self.context = context      # of TLS; None: plain
        self.folder = tempfile.mkdtemp(prefix="admitd-test.")
        self.state = os.path.join(self.folder, "state")
        self.log_path = os.path.join(self.folder, "stderr")
        self.config = None
        if config is not None:
            self.config = os.path.join(self.folder, "admitd.conf")
            with open(self.config, "w", encoding="utf-8") as file:
                file.write(config)
        os.mkdir(self.state, 0o700)
        self.process = None
        self.port = None
        self.starts = 0
        self.listen = "127.0.0.1:0"
        self.secrets = []
        self.told = set()
        self.projects = 0
        try:
            self.start()
            self.make_clients()
        except BaseException:
            self.show_log()
            self.remove()
            raise

    # ---- its life

    def start(self):
        """Starts it and waits until it is ready."""
        self.starts += 1
        port_file = os.path.join(self.folder, "port.%d" % self.starts)
        command = [admitd(), "--state", self.state, "--listen", self.listen, "--port-file", port_file]
        if self.config is not None:
            command += ["--config", self.config]
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.port = int(self.wait_until(lambda: read_line(port_file), "its port"))
        nobody = Client(self)
        self.wait_until(lambda: nobody.get("/readyz").status == 200, "its readiness")
        nobody.close()

    def wait_until(self, condition, what):
        """Asks again until `condition` gives something, or the daemon ends."""
        end = os.pidfd_open(self.process.pid)
        ended = select.poll()
        ended.register(end, select.POLLIN)
        deadline = time.monotonic() + TIMEOUT_S
        try:
            while time.monotonic() < deadline:
                found = condition()
                if found:
                    return found
                if ended.poll(5):
                    raise Failed("the daemon ended with %r before %s" % (self.process.wait(), what))
        finally:
            os.close(end)
        raise Failed("waited in vain for %s" % what)

    def kill9(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """Ends it politely; its exit status."""
        if self.process is None or self.process.poll() is not None:
            return self.process.returncode if self.process else None
        self.process.terminate()
        try:
            return self.process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill9()
            raise Failed("the daemon did not stop") from None

    def restart(self):
        equal(self.stop(), 0, "its exit status")
        self.start()

    def remove(self):
        if self.process is not None and self.process.poll() is None:
            self.kill9()
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- its clients

    def connect(self):
        """A connection that isn't made yet."""
        if self.context is None:
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=TIMEOUT_S, context=self.context)

    def make_clients(self):
        self.nobody = Client(self)
        self.admin = Client(self, read_line(self.admin_token_path()))
        self.secrets.append(self.admin.token)
        for role in ROLES:
            setattr(self, role, self.client(PRINCIPALS[role], role))

    def admin_token_path(self):
        found = [path for path in [os.path.join(self.state, "admin.token")] if os.path.isfile(path)]
        equal(len(found), 1, "admin token files")
        equal(stat.S_IMODE(os.stat(found[0]).st_mode), 0o600, "mode of the admin token")
        return found[0]

    def client(self, principal, *roles, projects=None):
        """A new token of this principal, as a client."""
        body = {"principal": principal, "roles": list(roles)}
        if projects is not None:
            body["projects"] = projects
        made = self.admin.post("/v1/tokens", body).must(201)
        client = Client(self, made["secret"])
        client.id = made["id"]
        self.secrets.append(client.token)
        return client

    def request(self, method, path, body=None, token=None, headers=None):
        return Client(self, token).request(method, path, body, headers)

    def wire(self):
        """A raw connection; its head() takes the token to send."""
        return DaemonWire(self.port)

    # ---- what must hold at the end of a scene

    def log(self):
        with open(self.log_path, "rb") as file:
            return file.read()

    def show_log(self):
        if os.path.exists(self.log_path):
            diagnostic("the daemon's log ends:")
            for line in self.log().decode("utf-8", "replace").splitlines()[-LOG_LINES_SHOWN:]:
                diagnostic("  " + line)

    def check_whole(self):
        check(self.process.poll() is None, "the daemon ended with %r" % self.process.returncode)
        equal(self.nobody.get("/healthz").status, 200, "healthz")
        self.check_secrets()

    def check_secrets(self):
        """Nothing that must not be kept or told is in the log or the store; what is, is told once."""
        needles = [CANARY.encode()] + [secret.encode() for secret in self.secrets]
        admin_file = self.admin_token_path()
        for path in [self.log_path] + glob.glob(os.path.join(self.state, "**"), recursive=True):
            if not os.path.isfile(path) or path == admin_file:
                continue
            with open(path, "rb") as file:
                data = file.read()
            for needle in needles:
                if needle in data and (needle, path) not in self.told:
                    self.told.add((needle, path))
                    raise Failed("%s… stands in %s" % (needle[:6].decode(), os.path.basename(path)))

    # ---- worlds: a project of its own for each scene

    def world(self, root=True):
        self.projects += 1
        return World(self, "p%d" % self.projects, root)


def read_line(path):
    """The first line of a file that is whole, or None."""
    with contextlib.suppress(FileNotFoundError), open(path, encoding="ascii") as file:
        text = file.read()
        if text.endswith("\n"):
            return text.split("\n", 1)[0]
    return None


# ---- plans

READ = "filesystem.project.read"
LIST = "filesystem.project.list"


def requirement(key, agent="backend", mcp="filesystem", capabilities=(READ,), level="required", action="block", index=0, **more):
    return dict({"requirementKey": key, "sourceRequirementIndex": index, "mcpId": mcp, "agent": agent, "requirement": level,
                 "capabilities": list(capabilities), "fallback": {"action": action},
                 "assignment": {"type": "agent", "targetId": agent}}, **more)


def package(label, *requirements, agent="backend", after=(), subtasks=(), overlays=None, **more):
    return dict({"label": label, "agent": agent, "dependsOn": list(after),
                 "document": {"mcpRequirements": list(requirements), "mcpAwareSubtasks": list(subtasks)},
                 "promptOverlays": overlays or {}}, **more)


def free(label, **more):
    """A package that nothing holds: it warns."""
    key = "gh-" + label
    return package(label, requirement(key, mcp="github", capabilities=["github.issues.create"], level="optional",
                                      action="continue_without_mcp"), **more)


def reads(label, *capabilities, **more):
    """A package that waits for a grant."""
    return package(label, requirement("fs-" + label, capabilities=capabilities or (READ,)), **more)


def broken(label, **more):
    """A package that only another plan can free."""
    return package(label, requirement("gh-" + label, mcp="github", capabilities=["github.secerts.write"]), **more)


class World:
    """A project and what is done in it, each step checked unless it is asked for with another status."""

    def __init__(self, daemon, project, root):
        self.daemon = daemon
        self.id = project
        self.root = os.path.join(daemon.folder, "roots", project)
        os.makedirs(self.root)
        body = {"name": "Project " + project}
        if root:
            body["root"] = self.root
        daemon.operator.put("/v1/projects/" + project, body).must(201)

    def plan(self, *packages, **more):
        return dict({"project": self.id, "title": "A plan", "packages": list(packages)}, **more)

    def task_id(self, name="t"):
        return "%s-%s" % (self.id, name)

    def submit(self, *packages, name="t", status=201):
        """PUT of a plan: the task as answered."""
        answer = self.daemon.planner.put("/v1/tasks/" + self.task_id(name), self.plan(*packages))
        return answer.must(status).json

    def task(self, name="t"):
        return self.daemon.planner.get("/v1/tasks/" + self.task_id(name)).must(200).json

    def package(self, label, name="t"):
        found = [item for item in self.task(name)["packages"] if item["label"] == label]
        equal(len(found), 1, "packages " + label)
        return self.daemon.planner.get("/v1/packages/" + found[0]["id"]).must(200).json

    def pid(self, label, name="t"):
        return next(item["id"] for item in self.task(name)["packages"] if item["label"] == label)

    def project(self):
        return self.daemon.operator.get("/v1/projects/" + self.id).must(200).json

    def preview(self, name="t"):
        return self.daemon.planner.post("/v1/tasks/%s/preview" % self.task_id(name)).must(200).json

    def approve(self, name="t", revision="1", status=200, client=None):
        answer = (client or self.daemon.approver).post("/v1/tasks/%s/approval" % self.task_id(name), {"planRevision": revision})
        return answer.must(status).json

    def handoff(self, label, name="t", status=200, client=None):
        answer = (client or self.daemon.executor).post("/v1/packages/%s/handoff" % self.pid(label, name), {"worker": "runner-3"})
        if answer.status == 200:
            self.daemon.secrets.append(answer["runToken"])
        return answer.must(status).json

    def outcome(self, run, outcome="succeeded", status=200, **more):
        return self.daemon.executor.post("/v1/runs/%s/outcome" % run["run"]["id"], dict({"outcome": outcome}, **more)).must(status).json

    def latest_revision(self, package_id):
        found = self.daemon.approver.get("/v1/grants?package=%s&limit=1" % package_id).must(200)["items"]
        return found[0]["revision"] if found else "0"

    def grant(self, label, name="t", decision="approved", status=201, client=None, **more):
        """A decision on a package, on the revisions of now."""
        package_id = self.pid(label, name)
        body = dict({"decision": decision, "expectedRevision": self.latest_revision(package_id)}, **more)
        if decision == "approved":
            body.setdefault("rootRevision", self.project()["rootRevision"])
        return (client or self.daemon.approver).post("/v1/packages/%s/grants" % package_id, body).must(status).json

    def project_revision(self, decision):
        """What a decision on the project has to expect (2.4)."""
        project = self.project()
        if decision == "approved":
            return project["decisionRevision"]
        return project["grant"]["revision"] if project.get("grant") else "0"

    def project_grant(self, *capabilities, decision="approved", status=201, client=None, **more):
        body = dict({"decision": decision, "expectedRevision": self.project_revision(decision)}, **more)
        if decision == "approved":
            body.update(capabilities=list(capabilities), rootRevision=self.project()["rootRevision"])
        return (client or self.daemon.approver).post("/v1/projects/%s/grants" % self.id, body).must(status).json

    def health(self, mcp="github", state="healthy", status=200, **more):
        body = dict({"mcpId": mcp, "installState": "installed", "status": state, "enabled": True, "error": None,
                     "checkedAt": rfc3339()}, **more)
        return self.daemon.operator.put("/v1/projects/%s/health/%s" % (self.id, mcp), body).must(status).json

    def see(self):
        """What is stored of this project, for a comparison: every list and view of it, without what time alone changes."""
        return see(self.daemon, self.id)


def rfc3339(seconds=0):
    """Now, or so many seconds after, with milliseconds."""
    at = time.time() + seconds
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + ".%03dZ" % (at % 1 * 1000)


VOLATILE = ("ageSeconds", "age", "lastUsedAt", "lastUse", "serverTime", "asOfEvent")


def settled(value):
    """A value without members that change by themselves."""
    if isinstance(value, dict):
        return {key: settled(item) for key, item in value.items() if key not in VOLATILE}
    if isinstance(value, list):
        return [settled(item) for item in value]
    return value


def see(daemon, project=None):
    """{path: body} of all that can be read."""
    seen = {}

    def look(path):
        seen[path] = settled(daemon.admin.get(path).must(200).json)
        return seen[path]

    look("/v1/catalog")
    if project is None:
        look("/v1/tokens?limit=500")
    projects = [project] if project else [item["id"] for item in look("/v1/projects?limit=500")["items"]]
    for item in projects:
        look("/v1/projects/" + item)
        look("/v1/projects/%s/health" % item)
        look("/v1/grants?project=%s&limit=500" % item)
        look("/v1/runs?project=%s&limit=500" % item)
        for task in look("/v1/tasks?project=%s&limit=500" % item)["items"]:
            look("/v1/tasks/%s/timeline?limit=500" % task["id"])
            for one in look("/v1/tasks/" + task["id"])["packages"]:
                look("/v1/packages/" + one["id"])
    return seen


def but_for_decisions(task):
    """A task without the last decision of its packages: a refusal is one too, and all that it leaves."""
    return dict(task, packages=[{key: value for key, value in one.items() if key != "lastDecision"} for one in task["packages"]])


def without_words(events):
    """A timeline as the stream and webhooks have it: what events say to people stands in timelines and the log alone."""
    return [{key: value for key, value in event.items() if key != "words"} for event in events]


def changed(before, after):
    """Paths whose bodies differ."""
    return sorted(path for path in set(before) | set(after) if before.get(path) != after.get(path))


def unchanged(before, after, what=""):
    found = changed(before, after)
    if found:
        raise Failed("%s changed %s: %.400r became %.400r" % (what, found, before.get(found[0]), after.get(found[0])))


# ---- refusals

PROBLEM_MEMBERS = ("type", "title", "status", "code", "instance")


def is_problem(answer, status, code):
    """Checks a problem document (4.1)."""
    answer.must(status, code)
    equal(answer.headers.get("content-type"), "application/problem+json", "content type")
    for name in PROBLEM_MEMBERS:
        check(name in answer.json, "%s is missing in %r" % (name, answer))
    equal(answer["status"], status)
    equal(answer["type"], "urn:admitd:problem:" + code)
    check(answer["instance"], "no instance")
    return answer


# ---- running

def scene(function):
    """Registers a test that gets the daemon of this file, and looks at it afterwards."""
    @functools.wraps(function)
    def whole(daemon):
        try:
            function(daemon)
            daemon.check_whole()
        except BaseException:
            daemon.show_log()
            if daemon.process.poll() is not None:
                daemon.start()
            raise
    return test(whole)


def children(parent):
    """Numbers of the living processes that this one began."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open("/proc/%s/stat" % number, encoding="utf-8", errors="replace") as file:
            fields = file.read().rsplit(")", 1)[1].split()
            if int(fields[1]) == parent and fields[0] != "Z":
                found.append(int(number))
    return found


@contextlib.contextmanager
def running(config=None, kind=Daemon):
    """A daemon for as long as the block lasts; it must stop politely."""
    daemon = kind(config)
    try:
        yield daemon
        equal(daemon.stop(), 0, "its exit status at the end")
        daemon.check_secrets()
    except BaseException as fault:
        # Said in the test's own log too: what goes wrong at the end belongs to no scene.
        print("# at the end: %s" % fault)
        daemon.show_log()
        raise
    finally:
        daemon.remove()


def run_scenes(config=None):
    run(lambda: running(config))


def together(*functions):
    """Calls all at the same moment, each in a thread; their results in order. The first exception is raised."""
    barrier = threading.Barrier(len(functions))
    results = [None] * len(functions)
    faults = []

    def call(number, function):
        try:
            barrier.wait(TIMEOUT_S)
            results[number] = function()
        except Exception as fault:  # shown by the test
            faults.append(fault)

    threads = [threading.Thread(target=call, args=pair) for pair in enumerate(functions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    return results
