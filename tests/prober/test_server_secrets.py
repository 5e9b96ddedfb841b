#!/usr/bin/env python3
"""Credentials of tool servers: they reach their server and are seen nowhere else, never again (chapters 5.6, 5.7). Speaks TAP."""
import base64
import contextlib
import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "http"))
sys.path.insert(0, HERE)
from daemon import CANARY, check, children, equal, is_problem, running, scene  # noqa: E402
from servers import HTTP, SCRATCH, Servers, config, http, needs_github, processes, serve, stdio, write_key  # noqa: E402

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


if __name__ == "__main__":
    serve()
