#!/usr/bin/env python3
"""Tool servers that are checked by the real daemon through its prober: every way a server can be well or not, what a spec may say, and
that no credential is ever seen again (chapters 1.6, 2.3, 2.6, 3.2, 5.6, 5.7). Speaks TAP."""
import base64
import contextlib
import functools
import json
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "http"))
sys.path.insert(0, HERE)
from daemon import CANARY, TIMEOUT_S, Failed, check, diagnostic, equal, is_problem, package, requirement, rfc3339, running, scene, together  # noqa: E402
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


def children(parent):
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open("/proc/%s/stat" % number, encoding="utf-8", errors="replace") as file:
            fields = file.read().rsplit(")", 1)[1].split()
            if int(fields[1]) == parent and fields[0] != "Z":
                found.append(int(number))
    return found


# ---- every way a server can be

STDIO = (
    ("good", "healthy", None), ("slow", "healthy", None), ("chatty", "healthy", None), ("stubborn", "healthy", None),
    ("dies", "unhealthy", "ended before"), ("hangs", "unhealthy", "in time"), ("garbage", "unhealthy", "isn't JSON"),
    ("huge", "unhealthy", "more than 1 MiB"), ("refuses", "unhealthy", "no licence"), ("wrong", "unhealthy", "protocol version"),
    ("toolless", "unhealthy", "lists no tools"),
)
OVER_HTTP = (
    ("good", "healthy", None), ("session", "healthy", None), ("events", "healthy", None),
    ("401", "auth_required", "401"), ("403", "auth_required", "403"), ("404", "unhealthy", "404"), ("500", "unhealthy", "500"),
    ("503", "unhealthy", "503"), ("400", "unhealthy", "400"), ("301", "unhealthy", "redirect"), ("307", "unhealthy", "redirect"),
    ("hangs", "unhealthy", "in time"), ("drips", "unhealthy", "in time"), ("garbage", "unhealthy", "isn't JSON"),
    ("huge", "unhealthy", "more than 1 MiB"),
)


def register(kind, make, mode, status, words):
    def one(daemon):
        Servers(daemon).finds(make(mode), status, words)
    one.__name__ = "a %s server that is %s is %s" % (kind, mode, status)
    scene(one)


for row in STDIO:
    register("stdio", stdio, *row)
for row in OVER_HTTP:
    register("http", http, *row)


@scene
def a_redirect_is_told_and_never_followed(daemon):
    before = HTTP.hits["target"]
    Servers(daemon).finds(http("302"), "unhealthy", "302")
    equal(HTTP.hits["target"], before, "requests to where it points")


@scene
def a_check_is_initialize_initialized_and_a_list_and_ends_its_session(daemon):
    Servers(daemon).finds(http("session"), "healthy")
    equal(HTTP.methods["session"][-4:], ["initialize", "notifications/initialized", "tools/list", "DELETE"])


@scene
def a_port_where_nobody_listens_is_unhealthy(daemon):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = "http://127.0.0.1:%d/" % taken.getsockname()[1]
        Servers(daemon).finds({"transport": "http", "url": url}, "unhealthy", "refuses the connection")


@scene
def an_address_is_judged_where_the_connection_is_made(daemon):
    servers = Servers(daemon)
    for url in ("https://169.254.169.254/latest", "https://10.0.0.1/", "https://[fe80::1]/", "https://127.0.0.1:1/",
                "https://localhost:1/", "https://0.0.0.0/", "https://[::ffff:169.254.169.254]/"):
        servers.finds({"transport": "http", "url": url}, "configuration_required", "may not be asked")
    servers.finds({"transport": "http", "url": HTTP.url("good", "localhost")}, "healthy")


@scene
def only_commands_of_the_configuration_are_run(daemon):
    servers = Servers(daemon)
    servers.finds({"transport": "stdio", "command": "/bin/sh", "args": ["-c", "exit 0"]}, "configuration_required", "[servers] commands")
    servers.finds({"transport": "stdio", "command": os.path.basename(sys.executable), "args": ["-I", FAKE]}, "healthy")
    missing = servers.finds({"transport": "stdio", "command": MISSING}, "configuration_required", "isn't installed")
    equal(missing["installState"], "missing")


# ---- what a server on this machine gets

@scene
def a_stdio_server_has_its_environment_and_nothing_else(daemon):
    servers = Servers(daemon)
    servers.finds(stdio("env", env={"LEVEL": "low", "A_B": "1"}), "unhealthy", "env A_B LEVEL")
    place = servers.health_of(stdio("place"))["error"]
    check("/ leader=True fds=[]" in place, place)


@scene
def a_stdio_server_cannot_open_the_state_folder_or_the_key(daemon):
    if not daemon.nobody.get("/v1/version")["sandbox"]["prober"]["landlock"]:
        diagnostic("this kernel has no Landlock: nothing keeps a tool server out")
        return
    servers = Servers(daemon)
    for path in (os.path.join(daemon.state, "admin.token"), daemon.state, KEY):
        servers.finds(stdio("open", path), "unhealthy", "open: Permission denied")
    servers.finds(stdio("open", FAKE), "unhealthy", "it read")


@scene
def nothing_that_a_server_started_outlives_its_check(daemon):
    mark = "mark-%d-%s" % (os.getpid(), daemon.projects)
    servers = Servers(daemon)
    for mode in ("leaves", "hangs", "stubborn", "good"):
        servers.put(stdio(mode, mark))
    daemon.wait_until(lambda: not processes(mark), "the end of every process")


# ---- the other process

@scene
def a_prober_that_dies_is_followed_by_another(daemon):
    servers = Servers(daemon)
    servers.finds(stdio("good"), "healthy")
    launcher = next(number for number in children(daemon.process.pid))
    for worker in children(launcher):
        os.kill(worker, signal.SIGKILL)
    daemon.wait_until(lambda: servers.check()["health"]["status"] == "healthy", "another prober")
    check(b"it is started again" in daemon.log(), "its death isn't in the log")


def deputy_of(launcher):
    """Its child that has the daemon's control socket too; a worker has not. None: there is none now."""
    with contextlib.suppress(OSError):
        control = os.readlink("/proc/%d/fd/3" % launcher)
        for number in children(launcher):
            with contextlib.suppress(OSError):
                if os.readlink("/proc/%d/fd/3" % number) == control:
                    return number
    return None


@scene
def a_launcher_that_is_killed_is_followed_by_its_deputy(daemon):
    servers = Servers(daemon)
    servers.finds(stdio("good"), "healthy")
    launcher = children(daemon.process.pid)[0]
    for _ in range(2):
        deputy = daemon.wait_until(lambda: deputy_of(launcher), "a deputy")
        for number in [launcher] + [worker for worker in children(launcher) if worker != deputy]:
            os.kill(number, signal.SIGKILL)
        daemon.wait_until(lambda: servers.check()["health"]["status"] == "healthy", "another launcher")
        launcher = deputy
    deputy = daemon.wait_until(lambda: deputy_of(launcher), "a deputy")
    os.kill(deputy, signal.SIGKILL)
    another = daemon.wait_until(lambda: deputy_of(launcher) not in (None, deputy) and deputy_of(launcher), "another deputy")
    with contextlib.ExitStack() as stack:
        ends = [stack.enter_context(open(os.pidfd_open(number), "rb", buffering=0)) for number in (launcher, another)]
        equal(daemon.stop(), 0)
        for end in ends:
            check(select.select([end], [], [], TIMEOUT_S)[0], "one of them outlives the daemon")
    daemon.start()
    equal(servers.check()["health"]["status"], "healthy")


@scene
def without_its_prober_every_server_is_unknown_and_the_daemon_lives(daemon):
    servers = Servers(daemon)
    servers.finds(stdio("good"), "healthy")
    launcher = children(daemon.process.pid)[0]
    for word in (signal.SIGSTOP, signal.SIGKILL):
        for number in [launcher] + children(launcher):
            os.kill(number, word)
    daemon.wait_until(lambda: servers.check()["health"]["status"] == "unknown", "unknown")
    check("prober" in servers.row()["error"], repr(servers.row()))
    check(not daemon.nobody.get("/v1/version")["sandbox"]["prober"]["running"], "it is said to run")
    daemon.wait_until(lambda: b"it is gone for good" in daemon.log(), "a word of it")
    daemon.restart()
    equal(servers.check()["health"]["status"], "healthy")


@scene
def the_sandbox_is_said_as_it_is(daemon):
    sandbox = daemon.nobody.get("/v1/version").must(200)["sandbox"]
    with open("/proc/%d/status" % daemon.process.pid, encoding="ascii") as file:
        status = dict(line.split(":", 1) for line in file.read().splitlines())
    equal(sandbox["seccomp"], status["Seccomp"].strip() == "2")
    if not sandbox["landlock"]:
        diagnostic("this kernel has no Landlock")
    equal(status["NoNewPrivs"].strip(), "1")


# ---- credentials

SECRET = CANARY + "-for-a-tool-server"


def secret_forms():
    return [SECRET.encode(), SECRET.encode().hex().encode(), base64.b64encode(SECRET.encode()).rstrip(b"=")[4:-4]]


def search_everything(daemon, answers):
    """No form of the secret in the store, the log, any answer, or what other users see of the processes."""
    daemon.check_secrets()
    places = [daemon.log_path] + [os.path.join(folder, name) for folder, _, names in os.walk(daemon.state) for name in names]
    launchers = children(daemon.process.pid)
    for number in [daemon.process.pid] + launchers + [worker for launcher in launchers for worker in children(launcher)]:
        places += ["/proc/%d/cmdline" % number, "/proc/%d/environ" % number]
    for place in places:
        with contextlib.suppress(FileNotFoundError), open(place, "rb") as file:
            data = file.read()
            check(not [form for form in secret_forms() if form in data], "the secret stands in " + os.path.basename(place))
    for answer in answers:
        check(not [form for form in secret_forms() if form in answer.raw], "an answer shows the secret: %r" % answer)


@scene
def credentials_reach_their_server_and_are_seen_nowhere_else(daemon):
    servers = Servers(daemon)
    HTTP.token = SECRET
    put = servers.put(http("secret", headers={"Authorization": "Bearer " + SECRET, "X-Team": SECRET}, secretKeys=["X-Team"]))
    equal(put["health"]["status"], "healthy")
    equal(put["spec"]["headers"], {"Authorization": {"credential": True, "set": True}, "X-Team": {"credential": True, "set": True}})
    local = servers.put(stdio("echo", env={"TOKEN": SECRET, "PLAIN": "plain-" + SECRET[-6:]}, secretKeys=["TOKEN"]), "local")
    equal(local["spec"]["env"], {"PLAIN": {"credential": False, "set": True}, "TOKEN": {"credential": True, "set": True}})
    check("***" in local["health"]["error"] and "bad token" in local["health"]["error"], repr(local["health"]))
    echo = servers.put(http("echo", headers={"Authorization": "Bearer " + SECRET}), "echo")
    check("***" in echo["health"]["error"], repr(echo["health"]))
    servers.world.submit(needs_github())
    servers.world.preview()
    daemon.restart()
    equal(servers.check()["health"]["status"], "healthy", "after a restart")
    pages = [put, local, echo] + [daemon.admin.get(path) for path in (
        servers.path[:-1], servers.path + "github", "/v1/projects/" + servers.world.id, "/v1/projects/%s/health" % servers.world.id,
        "/v1/tasks/%s/timeline?limit=500" % servers.world.task_id())]
    search_everything(daemon, pages)


@scene
def a_secret_where_it_could_be_read_is_refused_and_not_repeated(daemon):
    servers = Servers(daemon)
    answers = []
    for spec, pointer in ((stdio("good", "--token=" + SECRET), "/spec/args/3"),
                          (http("good?api_key=" + SECRET), "/spec/url"),
                          (dict(http("good"), url="http://user:%s@127.0.0.1/" % SECRET), "/spec/url"),
                          (stdio("good", env={"TOKEN": "short"}, secretKeys=["TOKEN"]), "/spec/env/TOKEN"),
                          (stdio("good", **{"token=" + SECRET: 1}), None)):
        answer = is_problem(servers.put(spec, status=422), 422, "invalid_document")
        check(pointer is None or pointer in [fault["pointer"] for fault in answer["faults"]], repr(answer))
        answers.append(answer)
    search_everything(daemon, answers)


@scene
def a_credential_that_is_not_set_must_be(daemon):
    servers = Servers(daemon)
    servers.finds(http("good", secretKeys=["X-Key"]), "configuration_required", "isn't set")
    shown = daemon.planner.get(servers.path + "github").must(200)
    equal(shown["spec"]["headers"], {"X-Key": {"credential": True, "set": False}})


@scene
def without_a_key_a_server_with_credentials_must_be_configured(_):
    with running(config(key=None, commands=())) as daemon:
        servers = Servers(daemon)
        HTTP.token = SECRET
        put = servers.put(http("secret", headers={"Authorization": "Bearer " + SECRET}))
        equal(put["health"]["status"], "configuration_required")
        check("key_file" in put["health"]["error"], repr(put["health"]))
        check(not put["spec"]["headers"]["Authorization"]["set"], "it is said to be set")
        servers.finds(http("good"), "healthy")
        servers.finds(stdio("good"), "configuration_required", "[servers] commands")
        search_everything(daemon, [put])


@scene
def what_was_sealed_with_another_key_must_be_set_again(_):
    key = os.path.join(SCRATCH, "other.key")
    write_key(key)
    with running(config(key)) as daemon:
        servers = Servers(daemon)
        HTTP.token = SECRET
        spec = http("secret", headers={"Authorization": "Bearer " + SECRET})
        servers.finds(spec, "healthy")
        write_key(key)
        daemon.restart()
        look = servers.check()["health"]
        equal(look["status"], "configuration_required")
        check("another key" in look["error"], repr(look))
        servers.finds(spec, "healthy")
        os.unlink(key)
        daemon.restart()
        check("key file" in servers.check()["health"]["error"], "the key isn't missed")
        check(b"isn't there" in daemon.log(), "the log doesn't say that the key is missing")


# ---- health in decisions

@scene
def servers_that_hang_hold_up_nobody_else(daemon):
    hanging = [Servers(daemon) for _ in range(4)]
    good = Servers(daemon)
    began = time.monotonic()
    found = together(*[functools.partial(one.health_of, http("hangs")) for one in hanging], functools.partial(good.health_of, http("good")))
    equal([health["status"] for health in found], ["unhealthy"] * 4 + ["healthy"])
    check(time.monotonic() - began < 8, "four that hang took %.1f s" % (time.monotonic() - began))


@scene
def what_the_prober_sees_is_what_decides(daemon):
    servers = Servers(daemon)
    world = servers.world
    servers.put(http("503"))
    world.submit(needs_github())
    hold = world.package("a")["hold"]
    equal(hold["kind"], "needs_setup")
    check(hold["nextRetryAt"] is not None, "no next look is promised: %r" % hold)
    check("503" in hold["facts"]["error"], repr(hold))
    servers.put(http("good"))
    equal(world.package("a")["hold"], None, "the hold of a server that is well")


@scene
def a_server_is_not_asked_again_within_its_age(daemon):
    servers = Servers(daemon)
    servers.put(http("good/age"))
    servers.world.submit(needs_github())
    before = HTTP.hits["good"]
    for _ in range(3):
        servers.world.preview()
    equal(HTTP.hits["good"], before, "requests while it is fresh")
    servers.check()
    check(HTTP.hits["good"] > before, "the check asked nothing")


@scene
def a_server_that_recovers_frees_its_packages_without_anybody(daemon):
    servers = Servers(daemon)
    world = servers.world
    HTTP.down.add("recovers")
    servers.put(http("recovers"))
    world.submit(needs_github())
    promised = world.package("a")["hold"]["nextRetryAt"]
    check(rfc3339(3) < promised < rfc3339(8), "the first look is at %s" % promised)
    HTTP.down.discard("recovers")
    daemon.wait_until(lambda: world.package("a")["hold"] is None, "the daemon to look again")
    types = [event["type"] for event in daemon.admin.get("/v1/tasks/%s/timeline?limit=500" % world.task_id()).must(200)["items"]]
    check("hold.cleared" in types, repr(types))


@scene
def each_vain_look_doubles_the_wait(daemon):
    servers = Servers(daemon)
    world = servers.world
    servers.put(http("500"))
    world.submit(needs_github())
    first = world.package("a")["hold"]["nextRetryAt"]
    second = daemon.wait_until(lambda: next((at for at in [world.package("a")["hold"]["nextRetryAt"]] if at != first), None), "the second look")
    check(rfc3339(6) < second < rfc3339(13), "the second wait ends at %s" % second)


@scene
def the_check_that_a_hold_offers_is_followed_blindly(daemon):
    servers = Servers(daemon)
    world = servers.world
    HTTP.down.add("checked")
    servers.put(http("checked"))
    world.submit(needs_github())
    action = next(item for item in world.package("a")["actions"] if item["id"] == "check_server")
    HTTP.down.discard("checked")
    daemon.operator.request(action["method"], action["href"], action["body"]).must(200)
    equal(world.package("a")["hold"], None)


@scene
def a_reported_server_is_nobodys_to_ask_and_a_probed_one_nobodys_to_report(daemon):
    servers = Servers(daemon)
    servers.world.health(state="unhealthy")
    looked = servers.check()
    equal((looked["asked"], looked["health"]["status"]), (False, "unhealthy"))
    servers.put(http("good"))
    servers.world.health(status=422)
    equal(servers.row()["source"], "probed")


@scene
def the_daemons_own_file_server_is_checked_like_others(daemon):
    servers = Servers(daemon)
    equal(servers.check("filesystem")["health"]["status"], "healthy")
    os.rename(servers.world.root, servers.world.root + ".away")
    equal(servers.check("filesystem")["health"]["status"], "configuration_required")
    os.rename(servers.world.root + ".away", servers.world.root)
    equal(servers.check("filesystem")["health"]["status"], "healthy")


@scene
def what_is_switched_off_is_not_asked_and_not_well(daemon):
    servers = Servers(daemon)
    before = HTTP.hits["good"]
    off = servers.put(http("good/off"), enabled=False)
    equal((off["health"]["status"], off["health"]["enabled"], HTTP.hits["good"]), ("disabled", False, before))
    servers.world.submit(needs_github())
    equal(servers.world.package("a")["hold"]["kind"], "needs_setup")
    servers.put(http("good/off"))
    equal(servers.world.package("a")["hold"], None)


# ---- the routes

@scene
def a_server_comes_is_replaced_and_goes(daemon):
    servers = Servers(daemon)
    made = servers.put(http("good"), status=201)
    equal(made.headers["location"], servers.path + "github")
    again = servers.put(http("good"), status=200)
    check(int(again["revision"]) > int(made["revision"]), "the revision didn't grow")
    listed = daemon.planner.get(servers.path[:-1]).must(200)["items"]
    equal([(item["mcpId"], item["kind"], item["spec"] and item["spec"]["transport"]) for item in listed],
          [("filesystem", "builtin", None), ("github", "spec", "http")])
    daemon.admin.delete(servers.path + "github").must(204)
    is_problem(daemon.admin.delete(servers.path + "github"), 404, "not_found")
    is_problem(daemon.admin.get(servers.path + "github"), 404, "not_found")
    equal(servers.row(), None, "its health")
    equal(servers.check()["asked"], False)
    is_problem(daemon.operator.post(servers.path + "none/check", {}), 404, "not_found")


@scene
def kinds_fit_their_servers(daemon):
    servers = Servers(daemon)
    for name, body, pointer in (("github", {"kind": "builtin"}, "/kind"), ("filesystem", {"kind": "reported"}, "/kind"),
                                ("filesystem", {"spec": http("good")}, "/kind"), ("github", {"kind": "spec"}, "/spec"),
                                ("github", {"kind": "reported", "spec": http("good")}, "/kind"), ("Bad%20Id", {}, ""),
                                ("a__b", {}, ""), ("github", {"enable": True}, "/enable"), ("github", {"spec": []}, "/spec")):
        answer = is_problem(daemon.admin.put(servers.path + name, body), 422, "invalid_document")
        check(pointer in [fault["pointer"] for fault in answer["faults"]], "%s %r: %r" % (name, body, answer))
    equal(daemon.admin.put(servers.path + "filesystem", {"enabled": False}).must(201)["kind"], "builtin")


@scene
def every_fault_of_a_spec_is_told_and_nothing_is_stored(daemon):
    servers = Servers(daemon)
    bad = {"id": "other", "transport": "stdio", "command": "", "args": [1], "env": {"A": None}, "allowedTools": ["a,b"], "url": "x"}
    answer = is_problem(servers.put(bad, status=422), 422, "invalid_document")
    equal(sorted(fault["pointer"] for fault in answer["faults"]),
          ["/spec/allowedTools/0", "/spec/args/0", "/spec/command", "/spec/env/A", "/spec/id", "/spec/url"])
    equal([item["mcpId"] for item in daemon.admin.get(servers.path[:-1]).must(200)["items"]], ["filesystem"])


@scene
def a_project_has_at_most_64_servers(daemon):
    servers = Servers(daemon)
    for number in range(64):
        servers.put(http("good"), "s%d" % number, status=201, enabled=False)
    is_problem(servers.put(http("good"), "one-more", enabled=False, status=422), 422, "invalid_document")
    servers.put(http("good"), "s7", status=200, enabled=False)


# ---- the published schema agrees with the daemon

AGREED = (
    (True, {"transport": "stdio", "command": "/x"}), (True, {"transport": "stdio", "command": "x", "args": ["a\nb"], "env": {"A.B": ""}}),
    (True, {"transport": "http", "url": "https://x.example/", "headers": {"X-A": "b"}, "allowedTools": ["a"]}),
    (True, {"id": "github", "transport": "http", "url": "HTTP://LOCALHOST"}),
    (False, {"transport": "stdio"}), (False, {"transport": "stdio", "command": ""}), (False, {"command": "/x"}),
    (False, {"transport": "http", "command": "/x"}), (False, {"transport": "http", "url": "https://x.example/", "args": []}),
    (False, {"transport": "sse", "url": "https://x.example/"}), (False, {"transport": "http", "url": "ws://x.example/"}),
    (False, {"transport": "http", "url": "https://x.example/ y"}), (False, {"transport": "http", "url": "https://a\\b/"}),
    (False, {"transport": "stdio", "command": "/x", "allowedTools": []}), (False, {"transport": "stdio", "command": "/x", "more": 1}),
    (False, {"transport": "stdio", "command": "/x", "env": {"A": 3}}), (False, {"transport": "stdio", "command": "/x", "env": {"A=B": "1"}}),
    (False, {"transport": "http", "url": "https://x.example/", "headers": {"a b": "1"}}),
    (False, {"transport": "http", "url": "https://x.example/", "headers": {"A": "1\r\n"}}),
    (False, {"transport": "stdio", "command": "/x", "allowedTools": ["get_*"]}), (False, []), (False, None), (False, 7),
)


@scene
def the_schema_says_what_the_daemon_takes(daemon):
    servers = Servers(daemon)
    with open(os.path.join(HERE, "..", "..", "docs", "spec.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    try:
        import jsonschema
        validator = jsonschema.Draft202012Validator(schema)
    except (ImportError, AttributeError):
        diagnostic("no JSON Schema validator here: only the daemon is asked")
        validator = None
    for is_good, spec in AGREED:
        if validator is not None:
            equal(validator.is_valid(spec), is_good, "the schema on %r" % (spec,))
        if spec is not None:
            status = servers.put(spec, "github", enabled=False, **({} if is_good else {"status": 422})).status
            check((status in (200, 201)) == is_good, "the daemon on %r: %d" % (spec, status))


# ---- what changes between the look and the decision


class Meddler:
    """Changes the server whenever it is looked at for a decision, and answers when what the daemon then saw is too old for it."""

    def __init__(self, daemon, rounds):
        self.servers = Servers(daemon)
        self.rounds = rounds
        self.number = 0
        self.is_busy = False
        self.put()
        self.wait_until_old()
        HTTP.meddle = self.meddle

    def put(self):
        self.number += 1
        self.servers.put({"transport": "http", "url": HTTP.url("meddles/%d" % self.number)})

    def wait_until_old(self):
        daemon = self.servers.daemon
        daemon.wait_until(lambda: self.servers.row()["checkedAt"] < rfc3339(-1.05), "a row that is a second old")

    def meddle(self):
        if self.is_busy or self.rounds == 0:
            return
        self.is_busy = True
        self.rounds -= 1
        self.put()
        self.wait_until_old()
        self.is_busy = False


@scene
def a_server_that_changes_under_every_look_is_told_and_twice_is_borne(_):
    with running(config() + "[health]\nmax_age_seconds = 1\n") as daemon:
        for rounds, status in ((2, 200), (3, 409)):
            meddler = Meddler(daemon, rounds)
            world = meddler.servers.world
            world.submit(needs_github())
            preview = "/v1/tasks/%s/preview" % world.task_id()
            answer = daemon.planner.post(preview).must(status)
            equal(meddler.rounds, 0, "rounds left")
            HTTP.meddle = lambda: None
            if status == 409:
                is_problem(answer, 409, "inputs_changed")
                equal(answer.headers["retry-after"], "0")
                equal(world.task()["packages"][0].get("lastDecision"), None, "what was written")
                daemon.planner.post(preview).must(200)


@contextlib.contextmanager
def configured():
    write_key()
    with running(config()) as daemon:
        yield daemon


if __name__ == "__main__":
    try:
        run(configured)
    finally:
        HTTP.close()
        shutil.rmtree(SCRATCH, ignore_errors=True)
