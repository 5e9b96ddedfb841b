#!/usr/bin/env python3
"""The log against whoever holds the file: after a real workload it is sound, and each way of tampering with a copy of the store is found.

The rows' hashes are worked out here once more, from daemon/store/event.h, so that a forger who knows the rule can be played. Speaks TAP."""
import contextlib
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "http"))
from daemon import Daemon, admitd, check, equal, free, reads, rfc3339, running  # noqa: E402
from tap import run, test  # noqa: E402

EVERY_ROWS = 25
FIELDS = ("type", "subject_kind", "subject_id", "project_id", "task_id", "package_id", "actor_token", "actor_principal")


# ---- the workload, and copies of what it left

def config_of(folder, **more):
    key, exported = os.path.join(folder, "audit.key"), os.path.join(folder, "exported")
    os.makedirs(exported, exist_ok=True)
    if not os.path.exists(key):
        subprocess.run([admitd(), "audit-key", key], check=True, stdout=subprocess.DEVNULL)
    lines = {"key_file": key, "export_folder": exported, "every_rows": EVERY_ROWS}
    lines.update(more)
    return "[audit]\n" + "".join("%s = %s\n" % pair for pair in lines.items() if pair[1] is not None)


def work(daemon):
    """Every kind of record: grants used, taken back and expired, runs in every state, tokens, a tool server's health."""
    world = daemon.world()
    world.submit(reads("a"), free("b"), reads("c"), reads("d"), free("e"))
    world.preview()
    world.grant("a", reason="for a")
    world.grant("c", expiresAt=rfc3339(1.5))
    world.grant("d")
    world.approve()
    world.outcome(world.handoff("a"), summary="well")
    world.outcome(world.handoff("b"), "failed", summary="not yet")
    world.outcome(world.handoff("b"), "released")
    world.handoff("e")
    world.grant("d", decision="revoked")
    world.health()
    daemon.wait_until(lambda: (world.package("c")["hold"] or {}).get("arm") == "expired", "the end of a grant")
    daemon.client("somebody", "planner")
    other = daemon.world()
    for number in range(6):
        other.submit(free("x"), free("y"), name="t%d" % number)
        other.approve(name="t%d" % number)
        for label in ("x", "y"):
            other.outcome(other.handoff(label, name="t%d" % number))
    return world


class Store:
    """A stopped daemon's store, and the folder with what was exported."""

    def __init__(self, folder, daemon):
        self.folder = folder
        self.daemon = daemon
        self.database = os.path.join(daemon.state, "admitd.db")
        self.exported = os.path.join(folder, "exported", "checkpoints.jsonl")
        self.public = os.path.join(folder, "audit.key.pub")
        self.copies = 0

    @contextlib.contextmanager
    def copy(self):
        """A copy to tamper with: a connection whose triggers are gone."""
        self.copies += 1
        path = os.path.join(self.folder, "copy.%d.db" % self.copies)
        shutil.copy(self.database, path)
        db = sqlite3.connect(path, isolation_level=None)
        db.row_factory = sqlite3.Row
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute("DROP TRIGGER " + name)
        yield path, db
        db.close()

    def verify(self, path, exported=True, key=True):
        command = [admitd(), "audit-verify", "--json", "--store", path]
        if exported:
            command += ["--export", self.exported]
        if key:
            command += ["--key", self.public]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        check(done.returncode in (0, 1), "exit %d: %s" % (done.returncode, done.stderr.decode()))
        verdict = json.loads(done.stdout)
        equal(verdict["ok"], done.returncode == 0, "the exit status against the verdict")
        equal(verdict["ok"], not verdict["faults"], "the verdict against its faults")
        return verdict


@contextlib.contextmanager
def stopped():
    folder = tempfile.mkdtemp(prefix="admitd-audit.")
    try:
        with running(config_of(folder)) as daemon:
            work(daemon)
            equal(daemon.stop(), 0, "its exit status")
            yield Store(folder, daemon)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# ---- the forger's knowledge

def number(value, size):
    return value.to_bytes(size, "big", signed=value < 0)


def field(value):
    if value is None:
        return b"\xff\xff\xff\xff"
    data = value if isinstance(value, bytes) else value.encode()
    return number(len(data), 4) + data


def row_hash(store_id, before, row):
    data = b"admitd/event/1\0" + store_id + before + number(row["sequence"], 8)
    data += b"".join(field(row[name]) for name in FIELDS) + number(row["at"], 8)
    data += field(row["payload_json"]) + field(row["surface"]) + field(row["decision_id"]) + field(row["record_digest"])
    return hashlib.sha256(data).digest()


def store_id(db):
    return db.execute("SELECT store_id FROM meta").fetchone()[0]


def rechain(db, first):
    """Works all hashes out anew from row `first` on."""
    before = b"\0" * 32
    found = db.execute("SELECT hash FROM events WHERE sequence = ?", (first - 1,)).fetchone()
    if found:
        before = found[0]
    for row in db.execute("SELECT * FROM events WHERE sequence >= ? ORDER BY sequence", (first,)).fetchall():
        before = row_hash(store_id(db), before, row)
        db.execute("UPDATE events SET hash = ? WHERE sequence = ?", (before, row["sequence"]))


def reseal(db):
    """Checkpoints say what the chain says now; nobody can sign that."""
    db.execute("UPDATE audit_checkpoints SET hash = (SELECT hash FROM events e WHERE e.sequence = audit_checkpoints.sequence)")


def one(db, text, *values):
    return db.execute(text, values).fetchone()[0]


def head(db):
    return one(db, "SELECT max(sequence) FROM events")


TAMPERINGS = []


def tampering(*kinds, sequence=None):
    """Registers a way of tampering; its fault is one of `kinds`. It gives the sequence of the first bad row, or None for any."""
    def register(function):
        def found(store):
            with store.copy() as (path, db):
                wanted = function(db)
                verdict = store.verify(path)
            check(verdict["faults"], "nothing was found")
            first = verdict["faults"][0]
            check(first["kind"] in kinds, "found %r" % verdict["faults"])
            if wanted is not None:
                equal(first["sequence"], wanted, "the first bad row of %r" % verdict["faults"])
        found.__name__ = function.__name__ + "_is_found"
        TAMPERINGS.append(found)
        return test(found)
    return register


# ---- what is sound

@test
def a_log_that_nobody_touched_is_sound(store):
    verdict = store.verify(store.database)
    equal(verdict["warnings"], [])
    equal(verdict["firstSequence"], 1)
    check(verdict["checkpoints"] >= 4 and verdict["checkpoints"] == verdict["signedCheckpoints"], verdict)
    equal(verdict["exportedCheckpoints"], verdict["checkpoints"])
    equal(verdict["sealedThrough"], verdict["head"]["sequence"], "the end of the daemon seals the log")
    with store.copy() as (path, db):
        equal(verdict["rows"], head(db))
        rechain(db, 1)
        equal(store.verify(path)["faults"], [], "the hashes as they are worked out here")


@test
def without_a_key_or_an_export_it_says_loudly_what_was_not_checked(store):
    verdict = store.verify(store.database, exported=False, key=False)
    equal(verdict["faults"], [])
    check(any("NO SIGNATURE WAS CHECKED" in text for text in verdict["warnings"]), verdict["warnings"])
    check(any("NO EXPORTED CHECKPOINT WAS COMPARED" in text for text in verdict["warnings"]), verdict["warnings"])


# ---- rows

@tampering("row_changed")
def a_changed_payload(db):
    db.execute("UPDATE events SET payload_json = '{}' WHERE sequence = 30")
    return 30


@tampering("row_changed")
def a_changed_actor(db):
    db.execute("UPDATE events SET actor_principal = 'somebody-else' WHERE sequence = 12")
    return 12


@tampering("row_changed")
def a_changed_time(db):
    db.execute("UPDATE events SET at = at + 1 WHERE sequence = 1")
    return 1


@tampering("row_changed")
def a_changed_type(db):
    sequence = one(db, "SELECT sequence FROM events WHERE type = 'task.status' LIMIT 1")
    db.execute("UPDATE events SET type = 'hold.cleared' WHERE sequence = ?", (sequence,))
    return sequence


@tampering("row_changed")
def a_changed_subject(db):
    sequence = one(db, "SELECT sequence FROM events WHERE subject_kind = 'run' LIMIT 1")
    db.execute("UPDATE events SET subject_id = 'run_other' WHERE sequence = ?", (sequence,))
    return sequence


@tampering("row_changed")
def a_record_digest_that_was_taken_away(db):
    sequence = one(db, "SELECT sequence FROM events WHERE type = 'grant.recorded' LIMIT 1")
    db.execute("UPDATE events SET record_digest = NULL WHERE sequence = ?", (sequence,))
    return sequence


@tampering("row_changed")
def a_changed_hash(db):
    db.execute("UPDATE events SET hash = zeroblob(32) WHERE sequence = 40")
    return 40


@tampering("row_missing")
def a_first_row_that_was_removed(db):
    db.execute("DELETE FROM events WHERE sequence = 1")
    return 1


@tampering("row_missing")
def a_middle_row_that_was_removed(db):
    db.execute("DELETE FROM events WHERE sequence = 33")
    return 33


@tampering("tail_cut")
def a_last_row_that_was_removed(db):
    last = head(db)
    db.execute("DELETE FROM events WHERE sequence = ?", (last,))
    return last


@tampering("row_changed")
def two_rows_that_were_swapped(db):
    for before, after in ((20, -1), (21, 20), (-1, 21)):
        db.execute("UPDATE events SET sequence = ? WHERE sequence = ?", (after, before))
    return 20


@tampering("log_rewritten")
def a_row_put_in_between_with_everything_behind_it_chained_anew(db):
    db.execute("UPDATE events SET sequence = -sequence WHERE sequence > 50")
    db.execute("UPDATE events SET sequence = 1 - sequence WHERE sequence < 0")
    columns = ", ".join(name for name in db.execute("SELECT * FROM events LIMIT 1").fetchone().keys() if name != "sequence")
    db.execute("INSERT INTO events (sequence, %s) SELECT 51, %s FROM events WHERE sequence = 10" % (columns, columns))
    rechain(db, 51)


@tampering("log_rewritten")
def a_tail_that_was_written_anew_with_fitting_hashes(db):
    db.execute("UPDATE events SET actor_principal = 'nobody' WHERE sequence = 60")
    rechain(db, 60)


@tampering("checkpoint_forged")
def a_tail_written_anew_with_its_checkpoints_changed_to_fit(db):
    db.execute("UPDATE events SET actor_principal = 'nobody' WHERE sequence = 60")
    rechain(db, 60)
    reseal(db)


@tampering("tail_cut")
def a_tail_that_was_cut(db):
    db.execute("DELETE FROM events WHERE sequence > 45")
    return 46


@tampering("tail_cut")
def a_tail_that_was_cut_together_with_its_checkpoints(db):
    last = one(db, "SELECT sequence FROM audit_checkpoints WHERE number = 2")
    db.execute("DELETE FROM events WHERE sequence > ?", (last,))
    db.execute("DELETE FROM audit_checkpoints WHERE number > 2")
    db.execute("DELETE FROM grants WHERE sequence > (SELECT count(*) FROM events WHERE type = 'grant.recorded')")
    return last + 1


# ---- checkpoints

@tampering("checkpoint_forged")
def a_checkpoint_with_another_hash(db):
    db.execute("UPDATE audit_checkpoints SET hash = zeroblob(32) WHERE number = 2")
    return one(db, "SELECT sequence FROM audit_checkpoints WHERE number = 2")


@tampering("checkpoint_forged")
def a_checkpoint_with_another_time(db):
    db.execute("UPDATE audit_checkpoints SET at = at - 1000 WHERE number = 1")
    return one(db, "SELECT sequence FROM audit_checkpoints WHERE number = 1")


@tampering("checkpoint_missing")
def a_signature_that_was_removed(db):
    db.execute("UPDATE audit_checkpoints SET signature = NULL, key_id = NULL WHERE number = 3")
    return one(db, "SELECT sequence FROM audit_checkpoints WHERE number = 3")


@tampering("checkpoint_missing")
def signatures_that_were_all_removed(db):
    db.execute("UPDATE audit_checkpoints SET signature = NULL, key_id = NULL")


@tampering("checkpoint_missing")
def a_checkpoint_that_was_removed_from_among_them(db):
    db.execute("DELETE FROM audit_checkpoints WHERE number = 2")


@tampering("checkpoint_missing")
def a_last_checkpoint_that_was_removed(db):
    last = one(db, "SELECT max(sequence) FROM audit_checkpoints")
    db.execute("DELETE FROM audit_checkpoints WHERE sequence = ?", (last,))
    return last


@test
def a_key_that_was_swapped_is_found(store):
    """The forger signs all of it himself: by admitd, with a key of his own, on a store whose checkpoints he took away."""
    folder = tempfile.mkdtemp(prefix="admitd-forger.")
    try:
        with store.copy() as (path, db):
            db.execute("DELETE FROM audit_checkpoints")
            db.execute("UPDATE events SET actor_principal = 'nobody' WHERE sequence = 60")
            rechain(db, 60)
        forger = Daemon(config_of(folder))
        try:
            forger.stop()
            shutil.copy(path, os.path.join(forger.state, "admitd.db"))
            shutil.rmtree(os.path.join(folder, "exported"))
            os.mkdir(os.path.join(folder, "exported"))
            forger.start()
            equal(forger.stop(), 0, "its exit status")
            verdict = store.verify(os.path.join(forger.state, "admitd.db"))
            kinds = {fault["kind"] for fault in verdict["faults"]}
            check("checkpoint_forged" in kinds, verdict["faults"])
        finally:
            forger.remove()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@tampering("checkpoint_forged", "row_changed")
def a_store_id_that_was_changed(db):
    db.execute("UPDATE meta SET store_id = zeroblob(16)")


@tampering("row_missing", "checkpoint_missing", "record_unnamed", "record_changed")
def first_rows_that_were_removed_as_if_by_retention(db):
    through = one(db, "SELECT sequence FROM audit_checkpoints WHERE number = 1")
    db.execute("INSERT INTO audit_trims (through, after, digest, at) VALUES (?, 0, ?, 1)", (through, hashlib.sha256(b"").digest()))
    db.execute("DELETE FROM events WHERE sequence <= ?", (through,))


@tampering("tail_cut")
def a_restore_that_never_was_told_to_hide_a_cut_tail(db):
    last, digest = db.execute("SELECT sequence, hash FROM audit_checkpoints WHERE number = 3").fetchone()
    db.execute("DELETE FROM events WHERE sequence > ?", (last,))
    db.execute("DELETE FROM audit_checkpoints WHERE number > 3")
    db.execute("INSERT INTO epochs VALUES (2, ?, ?, 0, zeroblob(32), 1)", (last, digest))
    return last + 1


# ---- what the rows name

def named(db, kind):
    return one(db, "SELECT sequence FROM events WHERE type = ? ORDER BY sequence LIMIT 1", kind)


@tampering("record_changed")
def a_grant_that_was_changed(db):
    db.execute("UPDATE grants SET actor_principal = 'nobody' WHERE id = (SELECT subject_id FROM events WHERE sequence = ?)",
               (named(db, "grant.recorded"),))
    return named(db, "grant.recorded")


@tampering("record_changed")
def a_grant_that_was_removed(db):
    db.execute("DELETE FROM grants WHERE id = (SELECT subject_id FROM events WHERE sequence = ?)", (named(db, "grant.recorded"),))
    return named(db, "grant.recorded")


@tampering("record_unnamed")
def a_grant_that_was_put_in(db):
    columns = ", ".join(name for name in db.execute("SELECT * FROM grants LIMIT 1").fetchone().keys()
                        if name not in ("sequence", "id", "revision"))
    db.execute("INSERT INTO grants (id, revision, %s) SELECT 'grt_mine', 999, %s FROM grants LIMIT 1" % (columns, columns))


@tampering("record_changed")
def a_one_time_grant_made_unused_again(db):
    sequence = one(db, "SELECT e.sequence FROM events e JOIN grant_uses u ON u.run_id = e.subject_id WHERE e.type = 'run.claimed'")
    db.execute("DELETE FROM grant_uses")
    return sequence


@tampering("record_changed")
def an_expired_grant_made_to_last(db):
    db.execute("DELETE FROM due_records WHERE kind = 'grant'")
    return named(db, "due.recorded")


@tampering("record_changed")
def a_decision_whose_result_digest_was_changed(db):
    db.execute("UPDATE decisions SET result_digest = 'sha256:0' WHERE id = (SELECT decision_id FROM events WHERE decision_id IS NOT "
               "NULL ORDER BY sequence LIMIT 1)")
    return one(db, "SELECT min(sequence) FROM events WHERE decision_id IS NOT NULL")


@tampering("record_changed")
def a_decision_whose_result_was_changed(db):
    db.execute("UPDATE decisions SET result_json = replace(result_json, 'blocked', 'allowed') WHERE result_json LIKE '%blocked%'")


@tampering("record_changed")
def a_decision_whose_inputs_were_changed(db):
    db.execute("UPDATE decisions SET inputs_json = '{}' WHERE sequence = 1")


@tampering("record_changed")
def a_decision_that_was_removed(db):
    db.execute("DELETE FROM decisions WHERE sequence = 1")


@tampering("record_changed")
def a_run_claimed_by_somebody_else(db):
    db.execute("UPDATE runs SET claimed_principal = 'nobody'")
    return named(db, "run.claimed")


@tampering("record_changed")
def a_run_with_another_outcome(db):
    db.execute("UPDATE runs SET outcome = 'succeeded' WHERE outcome = 'failed'")


@tampering("record_changed")
def a_token_with_more_roles(db):
    db.execute("UPDATE tokens SET roles = 63 WHERE principal = 'somebody'")


@tampering("record_unnamed")
def a_token_that_was_put_in(db):
    db.execute("INSERT INTO tokens (id, principal, roles, hash, created_at) VALUES ('tok_mine', 'me', 63, 'hash', 1)")


@tampering("record_changed")
def a_package_with_another_document(db):
    db.execute("UPDATE packages SET document_digest = (SELECT digest FROM documents WHERE digest <> document_digest LIMIT 1)")


@tampering("record_changed")
def a_document_that_was_changed(db):
    db.execute("UPDATE documents SET bytes = replace(bytes, 'filesystem', 'github')")


@tampering("record_changed")
def a_catalog_that_was_changed(db):
    db.execute("UPDATE catalogs SET bytes = replace(bytes, 'GitHub', 'GitLab')")


@tampering("record_unnamed")
def a_catalog_epoch_that_was_put_in(db):
    db.execute("INSERT INTO catalog_epochs (digest, at) SELECT digest, 1 FROM catalogs")


@test
def more_than_twenty_tamperings_were_tried(_store):
    check(len(TAMPERINGS) >= 20, "%d" % len(TAMPERINGS))


if __name__ == "__main__":
    run(stopped)
