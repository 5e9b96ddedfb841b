"""invariants.py - what must be true of any state folder, whatever happened to it: chapter 6.2, read from the SQLite file itself.

    with store_copy(folder) as store:
        check_all(store)

Written from chapters 1, 2 and daemon/store/event.h, on the tests' own evaluator and precedence table. Each function raises Failed.
"""
import contextlib
import hashlib
import json
import os
import shutil
import sqlite3
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "model"))
from judge import Judgement, decide  # noqa: E402
from ledger import Grant, dropped_by, latest  # noqa: E402
from tap import Failed, check, equal  # noqa: E402

DOMAIN = b"admitd/event/1\0"
CHAINED = ("type", "subject_kind", "subject_id", "project_id", "task_id", "package_id", "actor_token", "actor_principal")
A_TIME = "2026-01-01T00:00:00Z"


@contextlib.contextmanager
def store_copy(folder):
    """A copy of the store in this state folder, whose daemon has stopped or was killed, as a connection."""
    copied = tempfile.mkdtemp(prefix="admitd-copy.")
    try:
        for name in os.listdir(folder):
            if name.startswith("admitd.db"):
                shutil.copy(os.path.join(folder, name), copied)
        with contextlib.closing(sqlite3.connect(os.path.join(copied, "admitd.db"))) as store:
            store.row_factory = sqlite3.Row
            yield store
    finally:
        shutil.rmtree(copied)


def rows(store, sql, *arguments):
    return store.execute(sql, arguments).fetchall()


def none(store, sql, what):
    """The query finds nothing."""
    found = store.execute(sql).fetchmany(5)
    if found:
        raise Failed("%s: %s" % (what, [tuple(row) for row in found]))


# ---- the file, the log

def the_file_is_whole(store):
    equal([tuple(row) for row in rows(store, "PRAGMA integrity_check")], [("ok",)], "integrity")
    none(store, "PRAGMA foreign_key_check", "a row names what isn't there")


def prefixed(text):
    if text is None:
        return struct.pack(">I", 0xffffffff)
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack(">I", len(data)) + data


def the_event_chain_is_whole(store):
    store_id, before = rows(store, "SELECT store_id FROM meta")[0][0], bytes(32)
    for number, row in enumerate(store.execute("SELECT * FROM events ORDER BY sequence"), 1):
        equal(row["sequence"], number, "the sequence of an event")
        data = DOMAIN + store_id + before + struct.pack(">Q", number) + b"".join(prefixed(row[name]) for name in CHAINED)
        data += struct.pack(">q", row["at"]) + b"".join(prefixed(row[name]) for name in ("payload_json", "surface", "decision_id", "record_digest"))
        before = hashlib.sha256(data).digest()
        check(before == row["hash"], "the chain breaks at event %d" % number)


def every_surface_event_has_its_decision(store):
    none(store, "SELECT e.sequence FROM events e LEFT JOIN decisions d ON d.id = e.decision_id "
                "WHERE e.surface IS NOT NULL AND d.id IS NULL", "surface events without a decision")
    none(store, "SELECT sequence FROM events WHERE surface IS NULL AND decision_id IS NOT NULL AND type NOT IN ('hold.opened', 'hold.changed')",
         "decisions of no surface and no hold")
    none(store, "SELECT id FROM decisions WHERE id NOT IN (SELECT decision_id FROM events WHERE decision_id IS NOT NULL)",
         "decisions that no event names")


def everything_that_was_decided_has_its_event(store):
    none(store, "SELECT id FROM grants WHERE (SELECT count(*) FROM events WHERE type = 'grant.recorded' AND subject_id = grants.id) <> 1",
         "grants without one event")
    for kind, condition in (("run.claimed", "1"), ("run.ended", "outcome IS NOT NULL")):
        none(store, "SELECT id FROM runs WHERE %s AND (SELECT count(*) FROM events WHERE type = '%s' AND subject_id = runs.id) <> 1" %
             (condition, kind), "runs without one " + kind)
    none(store, "SELECT id FROM runs WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.surface = 'handoff' AND "
                "e.package_id = runs.package_id AND e.decision_id = runs.decision_id)", "runs without their handoff's event")


def every_decision_is_named_by_its_inputs(store):
    for row in store.execute("SELECT id, inputs_json, result_json, result_digest FROM decisions"):
        for name, text in ((row["id"], row["inputs_json"]), (row["result_digest"], row["result_json"])):
            equal(name, "sha256:" + hashlib.sha256(text.encode()).hexdigest(), "a digest")


def the_status_events_tell_the_status(store):
    """Each tells what the one before ended with, and a move; a task's may also tell another plan."""
    last = {}
    for row in store.execute("SELECT type, subject_id, payload_json FROM events WHERE type IN ('task.status', 'package.status') "
                             "ORDER BY sequence"):
        told, before = json.loads(row["payload_json"]), last.get(row["subject_id"], "draft" if row["type"] == "package.status" else None)
        equal(told["before"], before, "the status before of " + row["subject_id"])
        check(told["before"] != told["after"] or "planRevision" in told, "an event of %s tells no change" % row["subject_id"])
        last[row["subject_id"]] = told["after"]
    for row in rows(store, "SELECT id, status FROM tasks"):
        equal(row["status"], last[row["id"]], "status of " + row["id"])
    for row in rows(store, "SELECT id, \"end\" FROM packages WHERE \"end\" IS NOT NULL"):
        equal(row["end"], last[row["id"]], "end of " + row["id"])


# ---- the ledger

def read_ledgers(store):
    """{project: [Grant]} in the order of revisions."""
    expired = {row["subject"] for row in rows(store, "SELECT subject FROM due_records WHERE kind = 'grant'")}
    used = {row["grant_id"]: row["run_id"] for row in rows(store, "SELECT * FROM grant_uses")}
    found = {row["id"]: [] for row in rows(store, "SELECT id FROM projects")}
    for row in rows(store, "SELECT * FROM grants ORDER BY project_id, revision"):
        grant = Grant(name=row["id"], package=row["package_id"], decision=row["decision"], capabilities=json.loads(row["capabilities_json"]),
                      dropped=json.loads(row["dropped_json"]), revision=row["revision"], root_revision=row["root_revision"],
                      has_end=row["expires_at"] is not None, replaces=row["replaces"])
        grant.expired, grant.used_by = row["id"] in expired, used.get(row["id"])
        found[row["project_id"]].append(grant)
    return found


def revisions_are_contiguous(store):
    heads = {row["id"]: row["decision_revision"] for row in rows(store, "SELECT id, decision_revision FROM projects")}
    for project, grants in read_ledgers(store).items():
        equal([grant.revision for grant in grants], list(range(1, heads[project] + 1)), "revisions of " + project)
    for row in rows(store, "SELECT task_id, group_concat(DISTINCT p.plan_revision) AS found, t.plan_revision AS head FROM packages p "
                           "JOIN tasks t ON t.id = p.task_id GROUP BY task_id"):
        check(max(map(int, row["found"].split(","))) <= row["head"], "a package of a plan to come in " + row["task_id"])


def each_record_follows_the_one_before(store):
    for grants in read_ledgers(store).values():
        before = {}
        for grant in grants:
            earlier = before.get(grant.package)
            equal(grant.replaces, earlier and earlier.name, "what %s replaces" % grant.name)
            if grant.package is None:
                equal(grant.dropped, dropped_by(earlier, grant.root_revision, grant.capabilities), "dropped of " + grant.name)
            before[grant.package] = grant


def used_grants_are_those_that_runs_name(store):
    named = {(row[0], row[1]) for row in rows(store, "SELECT grant_id, run_id FROM run_grants WHERE mode = 'allow_once'")}
    equal({(row[0], row[1]) for row in rows(store, "SELECT grant_id, run_id FROM grant_uses")}, named, "used grants")
    equal(len({grant for grant, _ in named}), len(named), "grants that were used once each")
    none(store, "SELECT r.run_id FROM run_grants r JOIN grants g ON g.id = r.grant_id JOIN runs ON runs.id = r.run_id WHERE "
                "g.decision <> 'approved' OR g.root_revision <> runs.root_revision OR "
                "(g.package_id IS NOT NULL AND g.package_id <> runs.package_id) OR g.project_id <> runs.project_id",
         "runs admitted by what can't admit them")


# ---- runs, packages, tasks

def no_package_runs_twice(store):
    none(store, "SELECT package_id FROM runs WHERE outcome IS NULL GROUP BY package_id HAVING count(*) > 1", "packages that run twice")
    none(store, "SELECT r.id FROM runs r JOIN packages p ON p.id = r.package_id JOIN tasks t ON t.id = r.task_id WHERE "
                "r.outcome IS NULL AND (p.\"end\" IS NOT NULL OR t.status <> 'approved' OR p.hold_json IS NOT NULL)", "runs of what doesn't run")
    none(store, "SELECT id FROM (SELECT id, \"end\", attempts - (SELECT count(*) FROM runs WHERE package_id = packages.id AND outcome IN "
                "('failed', 'expired', 'succeeded')) AS more FROM packages) WHERE more <> -(\"end\" IS 'completed') AND NOT "
                "(\"end\" IS 'superseded' AND more = -1)", "attempts that are not the runs that failed, or were not good enough")
    none(store, "SELECT id FROM packages WHERE \"end\" = 'completed' AND 'succeeded' IS NOT (SELECT outcome FROM runs WHERE "
                "package_id = packages.id ORDER BY sequence DESC LIMIT 1)", "completed packages whose last run did not succeed")
    none(store, "SELECT id FROM packages WHERE (\"end\" = 'failed') <> (attempts >= attempt_limit) AND coalesce(\"end\", 'failed') = 'failed'",
         "failed packages that are not at their limit, or the other way round")


def dependencies_were_met(store):
    """In the log's order. What a package depends on is kept of the last plan only, so runs that an earlier one let go are none of these."""
    none(store, "SELECT r.id FROM runs r JOIN packages p ON p.id = r.package_id JOIN dependencies d ON d.package_id = p.id "
                "JOIN events c ON c.type = 'run.claimed' AND c.subject_id = r.id "
                "WHERE c.sequence > (SELECT max(s.sequence) FROM events s WHERE s.type = 'task.status' AND s.task_id = p.task_id AND "
                "s.payload_json ->> '$.after' = 'proposed' AND CAST(s.payload_json ->> '$.planRevision' AS INTEGER) = p.plan_revision) "
                "AND NOT EXISTS (SELECT 1 FROM runs o JOIN events e ON e.type = 'run.ended' AND e.subject_id = o.id WHERE "
                "o.package_id = d.depends_on AND o.outcome = 'succeeded' AND e.sequence < c.sequence)", "runs before what they depend on")


def live_packages(store):
    """{task's id: [row]}"""
    found = {row["id"]: [] for row in rows(store, "SELECT id FROM tasks")}
    for row in rows(store, "SELECT *, EXISTS (SELECT 1 FROM runs WHERE package_id = packages.id AND outcome IS NULL) AS is_running "
                           "FROM packages WHERE \"end\" IS NOT 'superseded' ORDER BY position"):
        found[row["task_id"]].append(row)
    return found


def settled(packages, before):
    """2.2: what the packages make of an approved task."""
    ends = {row["id"]: row["end"] for row in packages}
    if all(end in ("completed", "cancelled") for end in ends.values()):
        return "completed" if "completed" in ends.values() else "cancelled"
    doomed, size = {name for name, end in ends.items() if end == "failed"}, 0
    while len(doomed) != size:
        size = len(doomed)
        doomed |= {name for name, others in before.items() if name in ends and others & doomed}
    stuck = all(row["end"] or (row["id"] in doomed and not row["is_running"]) for row in packages)
    return "failed" if "failed" in ends.values() and stuck else "approved"


def tasks_are_what_their_packages_make_of_them(store):
    before, live = {}, live_packages(store)
    for row in rows(store, "SELECT * FROM dependencies"):
        before.setdefault(row["package_id"], set()).add(row["depends_on"])
    for task in rows(store, "SELECT id, status FROM tasks"):
        if task["status"] in ("approved", "completed", "failed"):
            equal(task["status"], settled(live[task["id"]], before), "status of " + task["id"])
        if task["status"] in ("changes_requested", "cancelled"):
            equal([row["id"] for row in live[task["id"]] if row["end"] is None], [], "unfinished packages of " + task["id"])
        if task["status"] in ("proposed", "rejected"):
            check(not any(row["is_running"] for row in live[task["id"]]), "a run in %s" % task["id"])


# ---- holds

class Asked:
    """A stored package as the model's Judgement takes it."""

    def __init__(self, row, document, overlays):
        self.name = row["id"]
        self.document = document
        self.overlays = overlays


def read_health(store, project):
    expired = {(row["subject"], row["due_at"]) for row in rows(
        store, "SELECT subject, due_at FROM due_records WHERE kind = 'health' AND project_id = ?", project)}
    return {row["mcp_id"]: {"mcpId": row["mcp_id"], "installState": row["install_state"], "status": row["status"],
                            "enabled": bool(row["enabled"]), "error": row["error"], "checkedAt": A_TIME}
            for row in rows(store, "SELECT * FROM health_rows WHERE project_id = ?", project)
            if (row["mcp_id"], row["checked_at"] + 1000 * row["valid_seconds"]) not in expired}


def judged(store, row, document, ledger):
    overlays = [item[0] for item in rows(store, "SELECT requirement_key FROM prompt_overlays WHERE package_id = ?", row["id"])]
    root = rows(store, "SELECT root_revision FROM projects WHERE id = ?", row["project_id"])[0][0]
    own = latest([grant for grant in ledger if grant.package == row["id"]])
    projects = latest([grant for grant in ledger if grant.package is None])
    return Judgement(Asked(row, document, overlays), own, projects, root, read_health(store, row["project_id"]))


def every_hold_is_what_the_world_gives(store):
    """Ledger, root and health of now, through the tests' own table and evaluator: held packages are blocked, by this; free ones are not."""
    ledgers, seen = read_ledgers(store), [0, 0]
    for row in rows(store, "SELECT p.*, d.bytes FROM packages p JOIN tasks t ON t.id = p.task_id JOIN documents d ON d.digest = "
                           "p.document_digest WHERE p.\"end\" IS NULL AND t.status IN ('proposed', 'approved') AND NOT EXISTS "
                           "(SELECT 1 FROM runs WHERE package_id = p.id AND outcome IS NULL)"):
        wanted = judged(store, row, json.loads(row["bytes"]), ledgers[row["project_id"]]).hold()
        found = row["hold_json"] and json.loads(row["hold_json"])
        seen[bool(found)] += 1
        for name in ("kind", "arm", "mode", "recoveryAction", "requirementKey", "subtaskId", "retryable"):
            equal(found and found.get(name), wanted and wanted[name], "%s of the hold of %s" % (name, row["id"]))
    return seen


def every_held_package_was_decided_blocked(store):
    """The decision that a hold names, decided again by the tests' own evaluator from what is stored of its inputs."""
    for row in rows(store, "SELECT p.id, p.hold_json, d.bytes, p.document_digest FROM packages p JOIN documents d ON d.digest = "
                           "p.document_digest WHERE p.hold_json IS NOT NULL AND p.\"end\" IS NULL"):
        hold = json.loads(row["hold_json"])
        found = rows(store, "SELECT * FROM decisions WHERE id = ?", hold["decisionId"])
        equal(len(found), 1, "decisions of the hold of " + row["id"])
        inputs, result = json.loads(found[0]["inputs_json"]), json.loads(found[0]["result_json"])
        equal(inputs["packageDigest"], row["document_digest"], "the document of the decision of " + row["id"])
        health = {mcp: {"mcpId": mcp, "installState": item["installState"], "status": item["status"], "enabled": item["enabled"],
                        "error": None, "checkedAt": A_TIME} for mcp, item in inputs["health"].items() if item["observed"]}
        again = decide(json.loads(row["bytes"]), inputs["prompt"], health, inputs["grants"])["aggregate"]
        for name in ("status", "primaryMode", "primaryRecoveryAction"):
            equal(again[name], result["aggregate"][name], "%s of %s decided again" % (name, hold["decisionId"]))
        equal(again["status"], "blocked", "the decision of the hold of " + row["id"])


ALL = (the_file_is_whole, the_event_chain_is_whole, every_surface_event_has_its_decision, everything_that_was_decided_has_its_event,
       every_decision_is_named_by_its_inputs, the_status_events_tell_the_status, revisions_are_contiguous, each_record_follows_the_one_before,
       used_grants_are_those_that_runs_name, no_package_runs_twice, dependencies_were_met, tasks_are_what_their_packages_make_of_them,
       every_hold_is_what_the_world_gives, every_held_package_was_decided_blocked)


def check_all(store):
    for invariant in ALL:
        try:
            invariant(store)
        except Failed as fault:
            raise Failed("%s: %s" % (invariant.__name__.replace("_", " "), fault)) from None
