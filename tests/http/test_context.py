#!/usr/bin/env python3
"""The context packet of a run (chapters 2.5, 5.2): what its grants cover, as long as they stand; nothing of it is kept. Speaks TAP."""
import glob
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from daemon import (LIST, READ, check, equal, free, is_problem, package, reads, requirement, rfc3339, run_scenes, running, scene, together)  # noqa: E402

SEARCH = "filesystem.project.search"
ALL = (READ, LIST, SEARCH)
# In names, folders, contents and patterns of the scene that looks for them afterwards.
MARK = "PACKET-CANARY"
# More than work and wait at once; and how often that is tried before a machine is too fast to show it.
CROWD, ROUNDS = 32, 20


def write(root, name, text="some text\n"):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def asking(label, *capabilities, **request):
    """A package whose document asks for these patterns and paths."""
    made = reads(label, *capabilities)
    made["document"]["contextRequest"] = request
    return made


def granted(daemon, *packages, how="package"):
    """A world with some files, whose packages are granted and handed off: the world, and each run."""
    world = daemon.world()
    write(world.root, "README.md", "# About\nneedle one\n")
    write(world.root, "src/main.c", "int main(void)\n{\n\treturn 0; /* needle two */\n}\n")
    write(world.root, "src/deep/util.c", "int util;\n")
    world.submit(*packages)
    if how == "project":
        world.project_grant(*ALL)
    else:
        for one in packages:
            world.grant(one["label"])
    world.approve()
    return (world, *(world.handoff(one["label"]) for one in packages))


def context(daemon, run, token=None):
    path = "/v1/runs/%s/context" % run["run"]["id"]
    return daemon.request("POST", path, None, token) if token else daemon.executor.post(path)


def run_of(daemon, run):
    return daemon.admin.get("/v1/runs/" + run["run"]["id"]).must(200).json


def text_of(answer):
    return json.dumps(answer["packet"])


@scene
def a_run_reads_what_its_grant_covers(daemon):
    world, run = granted(daemon, reads("a", READ))
    equal(run["links"]["context"], "/v1/runs/%s/context" % run["run"]["id"])
    answer = context(daemon, run, run["runToken"]).must(200)
    equal(answer["run"]["id"], run["run"]["id"])
    equal((answer["facts"]["included"], answer["facts"]["hits"], answer["facts"]["capabilities"]), (3, 0, [READ]))
    for piece in ("README.md", "src/main.c", "src/deep/util.c", "needle two"):
        check(piece in text_of(answer), piece + " is missing")
    check(world.root not in answer.raw.decode(), "the machine's path")
    equal(answer["facts"]["rootRef"], world.project()["rootRef"])


@scene
def each_capability_gives_its_part_and_no_more(daemon):
    _, read, listed, found = granted(
        daemon, asking("a", READ, paths=["src"], patterns=["needle"]), asking("b", LIST, paths=["src"], patterns=["needle"]),
        asking("c", SEARCH, paths=["src"], patterns=["needle"]))
    parts = [context(daemon, one).must(200) for one in (read, listed, found)]
    equal([(one["facts"]["included"], one["facts"]["listed"] > 0, one["facts"]["hits"]) for one in parts],
          [(2, False, 0), (0, True, 0), (0, False, 2)])
    check("README" not in text_of(parts[0]) and "int util" in text_of(parts[0]), "the paths")
    check("needle" not in text_of(parts[1]) and "README.md" in text_of(parts[1]), "the inventory")
    check("int util" not in text_of(parts[2]), "what the search didn't find")


@scene
def a_request_that_cannot_be_understood_never_widens(daemon):
    _, empty, wrong, odd = granted(daemon, asking("a", *ALL, paths=[]), asking("b", READ, paths="src"), asking("c", READ, paths=[7, ""]))
    for one in (empty, wrong, odd):
        answer = context(daemon, one).must(200)
        equal((answer["facts"]["included"], answer["facts"]["hits"]), (0, 0))


@scene
def what_leads_out_of_the_root_is_not_in_it(daemon):
    world, run = granted(daemon, asking("a", READ, paths=["link", "../other", "/etc/passwd", "README.md"]))
    write(daemon.folder, "other/loot.txt", "LOOT\n")
    os.symlink(os.path.join(daemon.folder, "other"), os.path.join(world.root, "link"))
    answer = context(daemon, run).must(200)
    check("LOOT" not in text_of(answer) and "root:" not in text_of(answer), "another folder's bytes")
    equal(answer["facts"]["included"], 1)


@scene
def it_is_the_same_until_something_changes_and_its_facts_are_kept(daemon):
    world, run = granted(daemon, reads("a", *ALL))
    equal(run_of(daemon, run)["packet"], None)
    first, second = (context(daemon, run).must(200) for _ in range(2))
    equal((first["packet"], first["facts"]["digest"]), (second["packet"], second["facts"]["digest"]))
    equal(run_of(daemon, run)["packet"], second["facts"])
    equal((first["facts"]["reads"], second["facts"]["reads"]), (1, 2))
    write(world.root, "more.txt")
    third = context(daemon, run).must(200)
    check(third["facts"]["digest"] != first["facts"]["digest"], "the same digest of another tree")
    equal((third["facts"]["included"], third["facts"]["reads"]), (4, 3))
    world.outcome(run, "failed")
    equal(run_of(daemon, run)["packet"], third["facts"])


@scene
def a_run_that_has_ended_reads_nothing(daemon):
    world, run = granted(daemon, reads("a"))
    world.outcome(run)
    equal(is_problem(context(daemon, run), 409, "run_ended")["outcome"], "succeeded")
    is_problem(context(daemon, run, run["runToken"]), 409, "run_ended")


@scene
def only_the_run_and_who_claimed_it_may_ask(daemon):
    _, run, other = granted(daemon, reads("a"), reads("b"))
    is_problem(context(daemon, run, other["runToken"]), 404, "not_found")
    is_problem(context(daemon, run, daemon.client("stranger", "executor").token), 403, "forbidden")
    is_problem(context(daemon, run, daemon.planner.token), 403, "forbidden")
    equal(run_of(daemon, run)["packet"], None)


@scene
def a_run_without_a_grant_has_no_packet(daemon):
    world = daemon.world()
    world.submit(free("a"))
    world.approve()
    is_problem(context(daemon, world.handoff("a")), 409, "grant_withdrawn")


# ---- grants that no longer stand


def withdrawn(daemon, run):
    is_problem(context(daemon, run), 409, "grant_withdrawn")
    is_problem(context(daemon, run, run["runToken"]), 409, "grant_withdrawn")


@scene
def a_package_grant_that_was_taken_back_gives_nothing_more(daemon):
    world, run = granted(daemon, reads("a"))
    kept = context(daemon, run).must(200)["facts"]
    world.grant("a", decision="revoked")
    withdrawn(daemon, run)
    equal(run_of(daemon, run)["packet"], kept)
    world.grant("a")
    context(daemon, run).must(200)


@scene
def a_denial_of_the_package_stops_what_the_project_grants(daemon):
    world, run = granted(daemon, reads("a"), how="project")
    context(daemon, run).must(200)
    world.grant("a", decision="denied")
    withdrawn(daemon, run)
    world.project_grant(*ALL)
    context(daemon, run).must(200)


@scene
def a_project_grant_that_was_revoked_or_narrowed_gives_nothing_more(daemon):
    world, run, other = granted(daemon, reads("a", READ), reads("b", LIST), how="project")
    world.project_grant(LIST, replace=True)
    withdrawn(daemon, run)
    context(daemon, other).must(200)
    world.project_grant(decision="revoked")
    withdrawn(daemon, other)


def soon_over(daemon, seconds):
    """A run whose grant ends that soon; None: it ended before the run began."""
    world = daemon.world()
    write(world.root, "a.txt")
    world.submit(reads("a"))
    world.grant("a", expiresAt=rfc3339(seconds))
    if daemon.approver.post("/v1/tasks/%s/approval" % world.task_id(), {"planRevision": "1"}).status != 200:
        return None
    answer = daemon.executor.post("/v1/packages/%s/handoff" % world.pid("a"), {})
    return answer.json if answer.status == 200 and context(daemon, answer.json).status == 200 else None


@scene
def a_grant_that_has_expired_gives_nothing_more(daemon):
    run = next(run for run in (soon_over(daemon, seconds) for seconds in (2, 10, 30)) if run)
    daemon.wait_until(lambda: context(daemon, run).status == 409, "the end of the grant")
    withdrawn(daemon, run)


@scene
def another_folder_at_the_roots_path_is_not_read(daemon):
    world, run = granted(daemon, reads("a"))
    os.rename(world.root, world.root + "-before")
    withdrawn(daemon, run)
    write(world.root, "loot.txt", "LOOT\n")
    withdrawn(daemon, run)
    equal(run_of(daemon, run)["packet"], None)


# ---- bounds, and what is kept


def bounds_are_the_operators():
    with running("[context]\nfiles = 2\nfile_bytes = 1000\ndepth = 1\n") as daemon:
        world, run = granted(daemon, reads("a", READ))
        write(world.root, "AAA.txt", "x" * 1001)
        facts = context(daemon, run).must(200)["facts"]
        equal((facts["included"], facts["omitted"].get("large")), (2, 1))


@scene
def an_operator_sets_how_much_a_packet_takes(daemon):
    bounds_are_the_operators()
    del daemon


@scene
def nothing_of_a_packet_is_in_the_store_the_log_or_an_event(daemon):
    world = daemon.world()
    write(world.root, "dir-%s/name-%s.txt" % (MARK, MARK), "contents-%s needle\n" % MARK)
    made = package("a", requirement("fs-a", capabilities=ALL))
    world.submit(made)
    world.grant("a")
    world.approve()
    run = world.handoff("a")
    answer = daemon.request("POST", "/v1/runs/%s/context" % run["run"]["id"], None, run["runToken"], {"Idempotency-Key": "again"}).must(200)
    for piece in ("dir-", "name-", "contents-"):
        check(piece + MARK in text_of(answer), "the packet itself has no " + piece)
    daemon.executor.post("/v1/runs/%s/context" % run["run"]["id"], {}, {"Idempotency-Key": "again"}).must(200)
    os.rename(world.root, world.root + "-%s" % MARK)
    is_problem(context(daemon, run), 409, "grant_withdrawn")
    for path in ("/v1/runs/" + run["run"]["id"], "/v1/packages/" + world.pid("a"), "/v1/grants?package=" + world.pid("a"),
                 "/v1/packages/%s/timeline" % world.pid("a"), "/v1/tasks/%s/timeline" % world.task_id(), "/v1/audit?limit=500", "/metrics"):
        check(MARK not in daemon.admin.get(path).must(200).raw.decode(), "it stands in " + path)
    daemon.restart()
    looked = 0
    for path in [daemon.log_path] + glob.glob(os.path.join(daemon.state, "**"), recursive=True):
        if os.path.isfile(path):
            looked += 1
            with open(path, "rb") as file:
                check(MARK.encode() not in file.read(), "it stands in " + os.path.basename(path))
    check(looked >= 3, "only %d files were looked at" % looked)


@scene
def of_more_packets_at_once_than_there_is_room_for_some_are_told_to_wait_and_none_is_lost(daemon):
    world, run = granted(daemon, asking("a", READ, SEARCH, patterns=["needle"]))
    for number in range(400):
        write(world.root, "many/%d.txt" % number, "hay\n" * 2000)

    def ask():
        return daemon.executor.post("/v1/runs/%s/context" % run["run"]["id"])

    refused = 0
    for _ in range(ROUNDS):
        answers = together(*[ask for _ in range(CROWD)])
        for answer in answers:
            if answer.status == 503:
                is_problem(answer, 503, "jobs_full")
                equal(answer.headers["retry-after"], "1")
                refused += 1
            else:
                check("needle one" in text_of(answer.must(200)), answer)
        check(any(answer.status == 200 for answer in answers), "nobody was served")
        if refused:
            break
    check(refused > 0, "%d at once all had room, %d times: nothing was shown" % (CROWD, ROUNDS))
    check("needle two" in text_of(ask().must(200)), "it isn't taken afterwards")
    equal(run_of(daemon, run)["outcome"], None)


if __name__ == "__main__":
    run_scenes()
