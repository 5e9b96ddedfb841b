#!/usr/bin/env python3
"""The socket for programs of this machine: who may what by his uid alone (4.1 "Unix socket"). Speaks TAP."""
import json
import os
import stat
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from daemon import check, equal, is_problem, reads, running  # noqa: E402
from local_socket import Unix, ask  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "lib"))
from tap import run, test  # noqa: E402

OTHER_UID = 54321       # nobody's here


class Local:
    """A folder with a socket's name, and a daemon that listens there with these peers."""

    def __init__(self, peers):
        self.folder = tempfile.TemporaryDirectory(prefix="admitd-test.")
        self.path = os.path.join(self.folder.name, "admitd.sock")
        self.config = "[server]\nsocket = %s\n[peers]\n%s" % (self.path, peers)

    def __enter__(self):
        self.running = running(self.config)
        self.daemon = self.running.__enter__()
        return self

    def __exit__(self, *exception):
        try:
            return self.running.__exit__(*exception)
        finally:
            self.folder.cleanup()

    def ask(self, *arguments, **headers):
        return ask(self.path, *arguments, **headers)


def mine(roles):
    return "%d = %s\n" % (os.getuid(), roles)


@test
def a_uid_has_the_roles_that_the_file_gives_it_and_no_more():
    with Local(mine("planner executor")) as local:
        found = local.ask("GET", "/v1/session").must(200)
        equal((found["principal"], found["roles"], found["projects"]), ("uid:%d" % os.getuid(), ["planner", "executor"], None))
        world = local.daemon.world()
        local.ask("PUT", "/v1/tasks/" + world.task_id(), world.plan(reads("a"))).must(201)
        equal(world.task()["submittedBy"], {"token": "peer:%d" % os.getuid(), "principal": "uid:%d" % os.getuid()})
        is_problem(local.ask("POST", "/v1/tasks/%s/approval" % world.task_id(), {"planRevision": "1"}), 403, "forbidden")
        is_problem(local.ask("GET", "/v1/tokens"), 403, "forbidden")


@test
def reading_is_all_that_read_gives():
    with Local(mine("read")) as local:
        world = local.daemon.world()
        world.submit(reads("a"))
        equal(local.ask("GET", "/v1/session").must(200)["roles"], [])
        for target in ("/v1/tasks/" + world.task_id(), "/v1/recovery", "/v1/packages/" + world.pid("a"), "/v1/grants"):
            local.ask("GET", target).must(200)
        for method, target, body in (("PUT", "/v1/tasks/x", world.plan(reads("a"))), ("PUT", "/v1/projects/x", {}), ("GET", "/metrics", None),
                                     ("POST", "/v1/packages/%s/grants" % world.pid("a"), {"decision": "denied", "expectedRevision": "0"})):
            is_problem(local.ask(method, target, body), 403, "forbidden")


@test
def a_uid_that_the_file_does_not_name_needs_a_token():
    with Local("%d = admin\n" % OTHER_UID) as local:
        found = is_problem(local.ask("GET", "/v1/session"), 401, "unauthenticated")
        equal(found["detail"], "[peers] doesn't name uid %d" % os.getuid())
        local.ask("GET", "/healthz").must(200)
        bearer = "Bearer " + local.daemon.planner.token
        equal(local.ask("GET", "/v1/session", Authorization=bearer).must(200)["principal"], "planner-service")


@test
def a_token_goes_before_the_uid_and_a_wrong_one_is_no_request_without():
    with Local(mine("operator")) as local:
        bearer = "Bearer " + local.daemon.planner.token
        equal(local.ask("GET", "/v1/session", Authorization=bearer).must(200)["roles"], ["planner"])
        for wrong in ("Bearer wrong", "Basic eDp5", "Bearer", ""):
            is_problem(local.ask("GET", "/v1/session", Authorization=wrong), 401, "unauthenticated")


@test
def no_uid_approves_what_it_sent():
    with Local(mine("planner approver")) as local:
        check(b"may approve without a token" in local.daemon.log(), "no warning")
        world = local.daemon.world()
        local.ask("PUT", "/v1/tasks/" + world.task_id(), world.plan(reads("a"))).must(201)
        body = {"decision": "approved", "expectedRevision": "0", "rootRevision": "1"}
        is_problem(local.ask("POST", "/v1/packages/%s/grants" % world.pid("a"), body), 403, "self_approval")
        is_problem(local.ask("POST", "/v1/tasks/%s/approval" % world.task_id(), {"planRevision": "1"}), 403, "self_approval")
        world.submit(reads("b"), name="another")
        local.ask("POST", "/v1/packages/%s/grants" % world.pid("b", "another"), body).must(201)


@test
def a_foreign_page_is_refused_there_too_and_any_host_is_not():
    with Local(mine("operator")) as local:
        is_problem(local.ask("GET", "/v1/session", Origin="http://evil.example"), 403, "origin")
        local.ask("GET", "/v1/session", Host="whatever.example").must(200)
        is_problem(local.daemon.nobody.request("GET", "/v1/session"), 401, "unauthenticated")


@test
def a_watcher_without_a_token_sees_the_log_grow_over_beats():
    with Local(mine("read") + "[events]\nbeat = 1\n") as local:
        connection = Unix(local.path)
        connection.request("GET", "/v1/events", headers={"Accept": "application/x-ndjson"})
        lines = connection.getresponse()
        types = []
        while types.count("beat") < 3:
            types.append(json.loads(lines.readline())["type"])
        local.daemon.world()
        while "project.changed" not in types:
            types.append(json.loads(lines.readline())["type"])
        connection.close()


@test
def what_a_dead_daemon_left_is_replaced_and_nothing_else_is():
    with Local(mine("read")) as local:
        equal(stat.S_IMODE(os.stat(local.path).st_mode), 0o666)
        local.daemon.kill9()
        local.daemon.start()
        local.ask("GET", "/v1/session").must(200)
        local.daemon.restart()
        local.ask("GET", "/v1/session").must(200)
        local.daemon.stop()
        os.unlink(local.path)
        with open(local.path, "w", encoding="ascii") as file:
            file.write("something else")
        try:
            local.daemon.start()
            raise AssertionError("it started")
        except Exception as fault:  # pylint: disable=broad-except
            check("ended with 1" in str(fault), str(fault))
        with open(local.path, encoding="ascii") as file:
            equal(file.read(), "something else")
        os.unlink(local.path)
        local.daemon.start()


if __name__ == "__main__":
    run()
