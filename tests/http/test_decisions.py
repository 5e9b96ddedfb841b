#!/usr/bin/env python3
"""Decisions that explain themselves and travel in time: why, again, by another catalog; and the catalog itself, replaced while the
daemon runs (chapters 2.4, 2.7, 4.2). Speaks TAP."""
import contextlib
import copy
import json
import os
import sqlite3
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from catalogs import catalog, without  # noqa: E402
from daemon import (LIST, READ, check, equal, free, is_problem, package, reads, requirement, rfc3339, run_scenes,  # noqa: E402
                    scene, together, unchanged)

SEARCH = "filesystem.project.search"


def lines(answer):
    """The progress lines and the last one of a job's answer."""
    answer.must(200)
    equal(answer.headers["content-type"], "application/x-ndjson")
    found = [json.loads(line) for line in answer.raw.splitlines()]
    check(all(list(line) == ["progress"] for line in found[:-1]), answer)
    return found[:-1], found[-1]


def rejudge(client, status=200, **body):
    answer = client.post("/v1/rejudge", body)
    if status != 200:
        return answer.must(status)
    return lines(answer)[1]["result"]


def decided(world, label, name="t"):
    return {item["label"]: item["decisionId"] for item in world.preview(name)["packages"]}[label]


def stored(daemon, decision):
    """A preview's record is on disk within a second. The event comes with it; the decision may have been there for the hold."""
    def is_there():
        return rows(daemon, "SELECT 1 FROM events WHERE surface = 'preview' AND decision_id = ?", decision)
    return daemon.wait_until(is_there, "the record of " + decision)


def rows(daemon, text, *values):
    """What a question to the store of a running daemon gives."""
    with contextlib.closing(sqlite3.connect("file:%s?mode=ro" % os.path.join(daemon.state, "admitd.db"), uri=True)) as store:
        return store.execute(text, values).fetchall()


# ---- why

@scene
def a_decision_says_which_row_decided_and_where_it_is_written(daemon):
    world = daemon.world()
    world.submit(package("a", requirement("k", capabilities=["filesystem.read", "github.issues.read"]),
                         requirement("z", index=1, level="optional", action="continue_without_mcp", capabilities=[LIST],
                                     prohibitedCapabilities=["filesystem.search"]),
                         subtasks=[{"id": "s", "agent": "backend", "mcpCapabilities": ["Filesystem.Search"]}]))
    decision = decided(world, "a")
    stored(daemon, decision)
    found = daemon.planner.get("/v1/decisions/" + decision).must(200).json
    equal((found["id"], found["documentKept"]), (decision, True))
    equal({name: found["rule"][name] for name in ("row", "requirementKey")}, {"row": "2", "requirementKey": "k"})
    first, second = found["requirements"]
    equal([(step["row"], step["met"]) for step in first["trace"]], [("0", False), ("1", False), ("2", True)])
    equal(second["rule"]["row"], "5a")
    equal(second["trace"][-1], {"row": "5a", "met": True, "asks": "approved, unused, covering?", "answer": "no",
                                  "because": "nobody has approved it"})
    equal([(item["asWritten"], item["pointer"], item["capability"], item["rule"]) for item in first["capabilities"]],
          [("filesystem.read", "/mcpRequirements/0/capabilities/0", READ, 5),
           ("github.issues.read", "/mcpRequirements/0/capabilities/1", "github.issues.read", 2)])
    task = found["subtasks"][0]
    equal((task["asWritten"], task["pointer"], task["prohibitedBy"], task["status"]),
          ("Filesystem.Search", "/mcpAwareSubtasks/0/mcpCapabilities/0", "z", "blocked"))


@scene
def a_granted_capability_names_its_grant_and_an_unknown_one_its_neighbour(daemon):
    world = daemon.world()
    world.submit(reads("a"), package("b", requirement("k", mcp="github", capabilities=["github.secerts.write"])))
    grant = world.grant("a")["grant"]["id"]
    first, second = decided(world, "a"), decided(world, "b")
    stored(daemon, first)
    stored(daemon, second)
    asked = daemon.auditor.get("/v1/decisions/" + first)["requirements"][0]
    equal((asked["capabilities"][0]["coveredBy"], asked["rule"]["row"]), (grant, "5c"))
    asked = daemon.auditor.get("/v1/decisions/" + second)["requirements"][0]["capabilities"][0]
    equal((asked["class"], asked["rule"], asked["nearest"]), ("unknown", 6, "github.secrets.write"))


@scene
def two_decisions_are_compared_by_their_inputs(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    before = decided(world, "a")
    world.grant("a")
    after = decided(world, "a")
    stored(daemon, before)
    stored(daemon, after)
    found = daemon.auditor.get("/v1/decisions/%s?with=%s" % (after, before)).must(200)
    equal(found["comparedWith"], before)
    equal([change["path"] for change in found["changedInputs"]], ["/grants/fs-a"])
    is_problem(daemon.auditor.get("/v1/decisions/%s?with=sha256:none" % after), 404, "not_found")


@scene
def a_decision_names_the_last_places_where_it_was_made(daemon):
    world = daemon.world()
    other = daemon.world()
    world.submit(reads("a"), reads("b"))
    decision = decided(world, "a")
    stored(daemon, decision)
    seen = daemon.client("seer", "auditor", projects=[other.id])
    found = daemon.auditor.get("/v1/decisions/" + decision).must(200)["places"]
    equal([(place["surface"], place["project"], place["packageId"], place["label"]) for place in found][0],
          ("preview", world.id, world.pid("a"), "a"))
    is_problem(seen.get("/v1/decisions/" + decision), 404, "not_found")


@scene
def a_capability_is_explained_with_every_spelling(daemon):
    found = daemon.planner.get("/v1/capabilities/Filesystem.Read").must(200)
    equal((found["capability"], found["owner"], found["rule"], found["deliveryKind"]), (READ, "filesystem", 5, "bounded_context_packet"))
    equal(found["spellings"], [READ, "filesystem.read"])
    equal(found["address"], {"resource": "project", "operation": "read"})
    found = daemon.planner.get("/v1/capabilities/filesystem.raed").must(200)
    equal((found["class"], found["nearest"]), ("unknown", READ))
    found = daemon.planner.get("/v1/capabilities/filesystem.read?mcpId=github").must(200)
    equal((found["rule"], found["class"], found["because"]), (2, "unknown", "it isn't owned by the MCP under which it is asked"))


# ---- again

@scene
def a_replay_gives_the_same_bytes_on_every_surface(daemon):
    world = daemon.world()
    world.submit(reads("a"), free("b"), package("c", requirement("k", mcp="github", capabilities=["github.issues.read"],
                                                                 level="optional", action="continue_without_mcp"),
                                                overlays={"k": "the issues, as text"}))
    world.grant("a")
    world.health()
    made = [item["decisionId"] for item in world.approve()["packages"]]
    made.append(world.handoff("a")["decisionId"])
    for decision in made:
        answer = daemon.auditor.post("/v1/decisions/%s/replay" % decision).must(200)
        equal((answer["decisionId"], answer["same"], answer["sameEngine"]), (decision, True, True))
        equal(answer["inputsDigest"], {"recorded": decision, "replayed": decision})
        equal(answer["resultDigest"]["recorded"], answer["resultDigest"]["replayed"])
        equal(answer["resultDigest"]["recorded"], daemon.auditor.get("/v1/decisions/" + decision)["resultDigest"])


@scene
def what_was_previewed_without_being_stored_can_be_judged_again(daemon):
    world = daemon.world()
    made = daemon.planner.post("/v1/preview", world.plan(reads("a", READ, LIST))).must(200)["packages"][0]["decisionId"]
    stored(daemon, made)
    equal(daemon.auditor.post("/v1/decisions/%s/replay" % made).must(200)["same"], True)
    equal(daemon.auditor.get("/v1/decisions/" + made)["requirements"][0]["rule"]["row"], "5a")


@scene
def replaying_needs_an_auditor_and_a_decision_that_is_seen(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    made = decided(world, "a")
    stored(daemon, made)
    is_problem(daemon.planner.post("/v1/decisions/%s/replay" % made), 403, "forbidden")
    is_problem(daemon.auditor.post("/v1/decisions/sha256:none/replay"), 404, "not_found")
    elsewhere = daemon.client("auditor-2", "auditor", projects=["another"])
    is_problem(elsewhere.post("/v1/decisions/%s/replay" % made), 404, "not_found")
    is_problem(elsewhere.post("/v1/rejudge", {"decisionId": made}), 404, "not_found")
    equal(rejudge(elsewhere)["counts"]["judged"], 0)


# ---- by another catalog

@scene
def one_decision_is_judged_by_another_catalog(daemon):
    world = daemon.world()
    world.submit(reads("a", READ, LIST, subtasks=[{"id": "s", "agent": "backend", "mcpCapabilities": [LIST]}]))
    made = decided(world, "a")
    stored(daemon, made)
    document, _ = catalog(daemon)
    before = world.see()
    same = rejudge(daemon.auditor, decisionId=made)
    equal((same["counts"]["judged"], same["counts"]["same"], same["changes"]), (1, 1, []))
    found = rejudge(daemon.auditor, decisionId=made, catalog=without(document, LIST))
    equal((found["counts"]["changed"], found["complete"], found["next"], found["nextReasons"]), (1, True, None, None))
    equal((found["changes"], found["counts"]["outcomes"], found["counts"]["reasons"]), ([], 0, 1))
    change = found["reasons"][0]
    equal((change["project"], change["task"], change["packageId"], change["label"]), (world.id, world.task_id(), world.pid("a"), "a"))
    equal((change["wordsBefore"]["headline"], change["wordsAfter"]["headline"]),
          ("Blocked by row 5a: it reads project files, and access doesn't cover them.",
           "Blocked by row 2: it asks for something that the catalog doesn't know."))
    check(LIST in change["wordsAfter"]["detail"], change)
    equal((change["decisionId"], change["before"], change["after"]), (made, "blocked", "blocked"))
    row = change["requirements"][0]
    equal((row["before"]["row"], row["after"]["row"]), ("5a", "2"))
    equal((row["before"]["classes"], row["after"]["classes"]), (["bounded_read_only"] * 2, ["bounded_read_only", "unknown"]))
    equal([(item["subtaskId"], item["before"]["class"], item["after"]["class"]) for item in change["subtasks"]],
          [("s", "bounded_read_only", "unknown")])
    unchanged(before, world.see(), "judging again")


@scene
def a_period_is_judged_with_counts_and_goes_on_where_the_list_ended(daemon):
    world = daemon.world()
    world.submit(*[reads("p%d" % number, READ if number % 2 else LIST) for number in range(10)])
    world.project_grant(READ, LIST)
    made = {item["label"]: item["decisionId"] for item in world.approve()["packages"]}
    document, _ = catalog(daemon)
    body = {"project": world.id, "from": rfc3339(-3600), "catalog": without(document, LIST), "limit": 3}
    progress, last = lines(daemon.auditor.post("/v1/rejudge", body))
    found = last["result"]
    check(progress and progress[0]["progress"]["done"] == 0, progress)
    changed = [item["decisionId"] for item in found["changes"]]
    equal(len(changed), 3)
    wanted = {made["p%d" % number] for number in range(0, 10, 2)}
    counts = found["counts"]
    equal(counts["changed"], counts["outcomes"] + counts["reasons"])
    check(all(item["before"] != item["after"] for item in found["changes"]), found)
    check(all(item["before"] == item["after"] for item in found["reasons"]), found)
    check(counts["changed"] >= 5 and counts["judged"] == counts["same"] + counts["changed"], counts)
    equal((counts["unlike"], counts["otherEngine"], counts["notKept"]), (0, 0, 0))
    check({"before": "allowed", "after": "blocked", "count": 5} in found["byStatus"], found["byStatus"])
    while found["next"] is not None:
        found = rejudge(daemon.auditor, **dict(body, cursor=found["next"]))
        check(len(found["changes"]) <= 3, found)
        changed += [item["decisionId"] for item in found["changes"]]
    equal(len(changed), len(set(changed)), "one twice")
    check(wanted <= set(changed), "some are missing")
    equal(rejudge(daemon.auditor, project=world.id, to="2001-01-01T00:00:00Z")["counts"]["judged"], 0)
    equal(rejudge(daemon.auditor, project="nowhere")["counts"]["judged"], 0)


@scene
def prohibitions_that_never_matched_are_told(daemon):
    world = daemon.world()
    world.submit(package("a", requirement("k", capabilities=[READ], prohibitedCapabilities=["filesystem.search"]),
                         requirement("l", index=1, capabilities=[LIST], prohibitedCapabilities=[LIST])))
    decision = decided(world, "a")
    stored(daemon, decision)
    found = rejudge(daemon.auditor, project=world.id, prohibitions=True)["prohibitions"]
    equal([(item["capability"], item["matched"] > 0) for item in found], [(LIST, True), (SEARCH, False)])
    check(all(item["declared"] >= 1 for item in found), found)
    equal((found[0]["lastMatched"]["decisionId"], found[1]["lastMatched"]), (decision, None))


@scene
def a_rejudgement_that_makes_no_sense_is_refused_with_every_fault(daemon):
    answer = rejudge(daemon.auditor, 422, decisionId="sha256:x", project="p", limit=0, catalog={"schemaVersion": 2}, typo=1)
    equal(sorted(fault["pointer"] for fault in answer["faults"]), ["/catalog", "/decisionId", "/limit", "/typo"])
    is_problem(daemon.auditor.post("/v1/rejudge", {"decisionId": "sha256:none"}), 404, "not_found")
    is_problem(daemon.planner.post("/v1/rejudge", {}), 403, "forbidden")


@scene
def many_rejudgements_at_once_are_answered_or_told_to_wait(daemon):
    world = daemon.world()
    world.submit(*[reads("p%d" % number) for number in range(20)])
    world.preview()
    refused = 0
    for _ in range(20):
        answers = together(*[lambda: daemon.auditor.post("/v1/rejudge", {}) for _ in range(32)])
        for answer in answers:
            if answer.status == 503:
                equal((answer.code, answer.headers["retry-after"]), ("jobs_full", "1"))
                refused += 1
            else:
                check("result" in lines(answer)[1], answer)
        check(any(answer.status == 200 for answer in answers), "nobody was served")
        if refused:
            break
    check(refused > 0, "there was always room: nothing was shown")


# ---- the catalog, replaced

@scene
def a_dry_run_says_what_would_change_and_changes_nothing(daemon):
    world = daemon.world()
    world.submit(reads("a", LIST))
    world.grant("a")
    made = world.approve()["packages"][0]["decisionId"]
    document, tag = catalog(daemon)
    other = without(document, LIST)
    other["mcps"]["tracker"] = copy.deepcopy(other["mcps"]["github"])
    for part in ("aliases", "planningOnly", "safeReadSupplement", "deferred"):
        other["mcps"]["tracker"][part] = type(other["mcps"]["tracker"][part])()
    other["mcps"]["tracker"]["runtime"]["capabilities"] = ["tracker.tickets.read"]
    before = world.see()
    found = daemon.admin.put("/v1/catalog?dryRun=true", other, {"If-Match": tag}).must(200)
    equal((found["current"], found["changes"]["mcps"]["added"]), (tag.strip('"'), ["tracker"]))
    equal(found["changes"]["capabilities"]["removed"], [{"capability": LIST, "class": "bounded_read_only"}])
    equal(found["changes"]["capabilities"]["added"], [{"capability": "tracker.tickets.read", "class": "bounded_read_only"}])
    equal(found["changes"]["aliases"]["removed"], [{"alias": "filesystem.list", "capability": LIST}])
    check(found["decisions"]["counts"]["changed"] >= 1 and found["decisions"]["complete"], found["decisions"])
    check({"before": "allowed", "after": "blocked"}.items() <= found["decisions"]["byStatus"][-1].items(), found["decisions"])
    first = found["decisions"]["changes"][0]
    check(first["label"] and first["project"] and first["before"] != first["after"], first)
    equal((first["wordsBefore"]["headline"], first["wordsAfter"]["sign"]),
          ("Allowed by row 5c: it reads project files, and access covers them.", "square, x"))
    check(found["digest"] not in (made, tag.strip('"')), "the digest")
    equal(catalog(daemon), (document, tag))
    unchanged(before, world.see(), "the dry run")
    equal(daemon.admin.put("/v1/catalog?dryRun=true", document).must(200)["changes"]["mcps"], {"added": [], "removed": [], "changed": []})


@scene
def a_catalog_that_does_not_load_keeps_the_old_one_and_names_the_entry(daemon):
    document, tag = catalog(daemon)
    bad = copy.deepcopy(document)
    bad["mcps"]["filesystem"]["runtime"]["capabilities"].append("github.issues.read")
    for path in ("/v1/catalog", "/v1/catalog?dryRun=true"):
        answer = daemon.admin.put(path, bad).must(422, "invalid_document")
        equal([fault["pointer"][:27] for fault in answer["faults"]], ["/mcps/filesystem/runtime/ca"])
        is_problem(daemon.admin.put(path, document, {"If-Match": '"sha256:0"'}), 412, "precondition_failed")
        is_problem(daemon.admin.put(path, document, {"If-Match": "sha256:0"}), 400, "bad_request")
        is_problem(daemon.operator.put(path, document), 403, "forbidden")
    is_problem(daemon.admin.put("/v1/catalog?dryRun=perhaps", document), 400, "bad_request")
    equal(catalog(daemon), (document, tag))
    same = daemon.admin.put("/v1/catalog", document, {"If-Match": tag}).must(200)
    equal((same["changed"], same["digest"], same.headers["etag"]), (False, tag.strip('"'), tag))


@scene
def another_catalog_is_used_at_once_and_holds_follow_it(daemon):
    world = daemon.world()
    world.submit(reads("a", LIST), reads("b"))
    other_task = world.submit(reads("c", LIST), name="u")
    check(other_task, "no task")
    world.grant("a")
    world.grant("b")
    world.approve()
    document, tag = catalog(daemon)
    made = daemon.admin.put("/v1/catalog", without(document, LIST), {"If-Match": tag}).must(200)
    equal((made["changed"], made["previous"]), (True, tag.strip('"')))
    # at once: a claim, an approval and a preview see it, whatever was reconciled meanwhile
    equal(world.handoff("a", status=409)["hold"]["kind"], "needs_plan_change")
    equal(world.preview("u")["packages"][0]["result"]["aggregate"]["primaryRecoveryAction"], "revise_plan")
    equal(daemon.auditor.get("/v1/decisions/" + world.handoff("b")["decisionId"])["catalogDigest"], made["digest"])
    # and every hold follows
    daemon.wait_until(lambda: world.package("c", "u")["hold"]["kind"] == "needs_plan_change", "the hold of c")
    daemon.wait_until(lambda: not world.package("c", "u").get("rejudging"), "the stamp of c")
    equal(world.package("a")["status"], "blocked")
    # it stays over a restart, because a person put it in force
    daemon.restart()
    equal(catalog(daemon)[1], '"%s"' % made["digest"])
    back = daemon.admin.put("/v1/catalog", document, {"If-Match": '"%s"' % made["digest"]}).must(200)
    equal(back["digest"], tag.strip('"'))
    check(int(back["epoch"]) == int(made["epoch"]) + 1, back)
    told = [json.loads(row[0]) for row in rows(daemon, "SELECT payload_json FROM events WHERE type = 'catalog.replaced' AND "
                                               "actor_principal = 'admin' ORDER BY sequence")]
    wanted = {"digest": back["digest"], "previous": made["digest"], "epoch": int(back["epoch"])}
    check(wanted in told, told)
    daemon.wait_until(lambda: world.package("a")["hold"] is None, "the hold of a")
    daemon.wait_until(lambda: world.package("c", "u")["hold"]["kind"] == "needs_grant", "the hold of c")
    equal(world.handoff("a")["run"]["attempt"], 1)


@scene
def what_will_not_be_judged_again_says_nothing_of_it(daemon):
    world = daemon.world()
    world.submit(free("a"), free("b"))
    world.submit(reads("c"), name="u")
    world.approve()
    world.handoff("a")
    daemon.approver.post("/v1/tasks/%s/rejection" % world.task_id("u"), {"planRevision": "1"}).must(200)
    document, _ = catalog(daemon)
    daemon.admin.put("/v1/catalog", without(document, LIST)).must(200)
    daemon.wait_until(lambda: not world.package("b").get("rejudging"), "the stamp of b")
    equal([world.package(label, name).get("rejudging") for label, name in (("a", "t"), ("c", "u"))], [None, None])
    daemon.admin.put("/v1/catalog", document).must(200)


@scene
def decisions_of_an_older_catalog_are_replayed_with_their_own(daemon):
    world = daemon.world()
    world.submit(reads("a", LIST))
    old = decided(world, "a")
    stored(daemon, old)
    document, tag = catalog(daemon)
    made = daemon.admin.put("/v1/catalog", without(document, LIST)).must(200)
    try:
        answer = daemon.auditor.post("/v1/decisions/%s/replay" % old).must(200)
        equal((answer["same"], answer["catalogDigest"]), (True, tag.strip('"')))
        equal(daemon.auditor.get("/v1/decisions/" + old)["requirements"][0]["rule"]["row"], "5a")
        found = rejudge(daemon.auditor, decisionId=old)
        equal((found["catalogDigest"], found["counts"]["changed"]), (made["digest"], 1))
    finally:
        daemon.admin.put("/v1/catalog", document).must(200)


@scene
def a_catalog_that_comes_while_a_plan_is_approved_leaves_each_answer_to_one_catalog(daemon):
    document, tag = catalog(daemon)
    knows, lacks = tag.strip('"'), daemon.admin.put("/v1/catalog", without(document, LIST)).must(200)["digest"]
    try:
        for number in range(12):
            daemon.admin.put("/v1/catalog", document if number % 2 else without(document, LIST)).must(200)
            world = daemon.world()
            world.submit(reads("b", LIST), name="u")
            path = "/v1/tasks/" + world.task_id("u")
            if number % 2:
                world.grant("b", "u")
            preview, approval, _ = together(
                lambda at=path: daemon.planner.post(at + "/preview"),
                lambda at=path: daemon.approver.post(at + "/approval", {"planRevision": "1"}),
                lambda at=number: daemon.admin.put("/v1/catalog", without(document, LIST) if at % 2 else document).must(200))
            check(approval.status in (200, 409), approval)
            for surface, answer in (("preview", preview.must(200)), ("approval", approval)):
                one = (answer.json.get("packages") or answer.json.get("blocked"))[0]
                if surface == "preview":
                    stored(daemon, one["decisionId"])
                made_with = daemon.auditor.get("/v1/decisions/" + one["decisionId"]).must(200)["inputs"]["catalogDigest"]
                check(made_with in (knows, lacks), made_with)
                check(daemon.auditor.post("/v1/decisions/%s/replay" % one["decisionId"]).must(200)["same"], "%s isn't replayed" % surface)
                if surface == "approval":
                    equal(answer.status, 200 if made_with == knows and number % 2 else 409, "an approval by the catalog that %s it" % (
                        "knows" if made_with == knows else "lacks"))
            # whichever came first, the last catalog has the last word
            daemon.wait_until(lambda w=world: not w.package("b", "u").get("rejudging"), "the stamp of b")
            hold = world.package("b", "u")["hold"]
            equal(hold["kind"], "needs_plan_change" if number % 2 else "needs_grant")
            if approval.status == 200:
                world.handoff("b", "u", status=409)
    finally:
        daemon.admin.put("/v1/catalog", document).must(200)


if __name__ == "__main__":
    run_scenes()
