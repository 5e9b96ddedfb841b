#!/usr/bin/env python3
"""Tool servers that are checked by the real daemon through its prober: every way to be well or not, what one gets, and the other process
(chapters 3.2, 5.6). Speaks TAP."""
import contextlib
import os
import select
import signal
import socket
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "http"))
sys.path.insert(0, HERE)
from daemon import TIMEOUT_S, check, children, diagnostic, equal, running, scene  # noqa: E402
from servers import FAKE, HTTP, KEY, MISSING, Servers, http, processes, serve, stdio  # noqa: E402

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


if __name__ == "__main__":
    serve()
