#!/usr/bin/env python3
"""What the prober sees is what decides: health in decisions, servers that recover, and what changes between the look and the decision
(chapters 1.6, 2.3, 2.6). Speaks TAP."""
import functools
import os
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "http"))
sys.path.insert(0, HERE)
from daemon import check, equal, is_problem, rfc3339, running, scene, together  # noqa: E402
from servers import HTTP, Servers, config, http, needs_github, serve  # noqa: E402

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


if __name__ == "__main__":
    serve()
