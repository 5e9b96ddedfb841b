#!/usr/bin/env python3
"""The log over HTTP, retention, and a backup made under load, restored into a new epoch. Speaks TAP."""
import contextlib
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "http"))
from daemon import Client, admitd, check, equal, free, is_problem, reads, running  # noqa: E402
from tap import run, test  # noqa: E402

WRITERS = 4


@contextlib.contextmanager
def guarded(**more):
    """A daemon with a key and an export folder; the folder with both."""
    folder = tempfile.mkdtemp(prefix="admitd-backup.")
    lines = dict({"key_file": os.path.join(folder, "audit.key"), "export_folder": os.path.join(folder, "exported"), "every_rows": 20}, **more)
    try:
        os.mkdir(lines["export_folder"])
        subprocess.run([admitd(), "audit-key", lines["key_file"]], check=True, stdout=subprocess.DEVNULL)
        with running("[audit]\n" + "".join("%s = %s\n" % pair for pair in lines.items())) as daemon:
            yield folder, daemon
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fill(daemon, plans=3):
    world = daemon.world()
    for number in range(plans):
        world.submit(free("x"), reads("y"), name="t%d" % number)
        world.grant("y", name="t%d" % number)
        world.approve(name="t%d" % number)
    world.outcome(world.handoff("x", name="t0"))
    return world


def lines(answer):
    return [json.loads(line) for line in answer.must(200).raw.splitlines()]


def verdict_of(daemon):
    found = lines(daemon.auditor.get("/v1/audit/verify"))
    check(all("progress" in line for line in found[:-1]), found[:-1])
    return found[-1]["result"]


def admitd_call(*arguments):
    done = subprocess.run([admitd()] + list(arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def exported(folder, name="checkpoints.jsonl"):
    with open(os.path.join(folder, "exported", name), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


# ---- the log over HTTP

@test
def the_log_is_listed_page_by_page_with_its_filters():
    with guarded() as (_folder, daemon):
        world = fill(daemon)
        rows, path = [], "/v1/audit?limit=7"
        while path:
            page = daemon.auditor.get(path).must(200).json
            rows += page["items"]
            path = page.get("next")
        equal([row["sequence"] for row in rows], list(range(1, len(rows) + 1)))
        for name, wanted in (("project", world.id), ("task", world.task_id("t1")), ("type", "grant.recorded"), ("package", world.pid("x", "t0"))):
            found = daemon.auditor.get("/v1/audit?limit=500&%s=%s" % (name, wanted)).must(200)["items"]
            equal(found, [row for row in rows if row[name] == wanted], name)
            check(found, name)
        found = daemon.auditor.get("/v1/audit?limit=500&actor=approver-1").must(200)["items"]
        equal(found, [row for row in rows if row["actor"]["principal"] == "approver-1"])
        middle = rows[len(rows) // 2]["at"]
        before = daemon.auditor.get("/v1/audit?limit=500&to=" + middle).must(200)["items"]
        after = daemon.auditor.get("/v1/audit?limit=500&from=" + middle).must(200)["items"]
        equal(before + after, rows)
        is_problem(daemon.auditor.get("/v1/audit?from=yesterday"), 400, "bad_request")
        is_problem(daemon.auditor.get("/v1/audit?bogus=1"), 400, "bad_request")
        is_problem(daemon.auditor.get("/v1/audit", Accept="text/html"), 406, "not_acceptable")


@test
def a_token_of_one_project_sees_its_rows_alone_and_may_not_check_the_chain():
    with guarded() as (_folder, daemon):
        world, other = fill(daemon, 1), fill(daemon, 1)
        client = daemon.client("auditor-2", "auditor", projects=[world.id])
        found = client.get("/v1/audit?limit=500").must(200)["items"]
        equal({row["project"] for row in found}, {world.id})
        equal(client.get("/v1/audit?project=" + other.id).must(200)["items"], [])
        is_problem(client.get("/v1/audit/verify"), 403, "forbidden")
        sent = lines(client.get("/v1/audit", Accept="application/x-ndjson"))
        equal([row["sequence"] for row in sent[:-1]], [row["sequence"] for row in found])


@test
def the_log_as_lines_can_be_checked_without_the_store():
    with guarded() as (folder, daemon):
        fill(daemon, 6)
        answer = daemon.auditor.get("/v1/audit", Accept="application/x-ndjson").must(200)
        path = os.path.join(folder, "log.jsonl")
        key = os.path.join(folder, "audit.key.pub")

        def check_lines(text, wanted):
            with open(path, "wb") as file:
                file.write(text)
            code, out, error = admitd_call("audit-verify", "--export", path, "--key", key, "--json")
            equal(code, 0 if wanted is None else 1, out + error)
            faults = json.loads(out)["faults"]
            if wanted:
                equal((faults[0]["kind"], faults[0]["sequence"]), wanted, out)

        whole = answer.raw
        check_lines(whole, None)
        found = whole.splitlines(True)
        rows = [number for number, line in enumerate(found) if line.startswith(b'{"sequence"')]
        marks = [number for number, line in enumerate(found) if line.startswith(b'{"checkpoint"')]
        check(len(marks) >= 2 and len(rows) > 40, "%d marks, %d rows" % (len(marks), len(rows)))
        cut = b"".join(found[:rows[10]] + found[rows[11]:])
        check_lines(cut, ("row_missing", 11))
        check_lines(whole.replace(b'"principal":"approver-1"', b'"principal":"approver-2"', 1), ("row_changed", next(
            json.loads(found[number])["sequence"] for number in rows if b'"principal":"approver-1"' in found[number])))
        check_lines(b"".join(found[:-2] + found[-1:]) if found[-2] in [found[number] for number in rows] else
                    b"".join(found[:rows[-1]] + found[rows[-1] + 1:]), ("tail_cut", json.loads(found[rows[-1]])["sequence"]))
        mark = json.loads(found[marks[0]])
        forged = found[marks[0]].replace(mark["checkpoint"]["at"].encode(), b"2020-01-01T00:00:00.000Z")
        check_lines(whole.replace(found[marks[0]], forged), ("checkpoint_forged", mark["checkpoint"]["sequence"]))
        check_lines(whole.replace(b'"sequence":5,', b'"sequence":"5",', 1), ("export_damaged", None))


@test
def a_check_runs_beside_writers_and_is_clean():
    with guarded() as (_folder, daemon):
        fill(daemon)
        stop = threading.Event()
        worlds = [daemon.world() for _ in range(2)]

        def write(world):
            number = 0
            while not stop.is_set():
                number += 1
                world.submit(free("x"), name="w%d" % number)
                world.approve(name="w%d" % number)

        threads = [threading.Thread(target=write, args=(world,)) for world in worlds]
        for thread in threads:
            thread.start()
        try:
            for _ in range(5):
                verdict = verdict_of(daemon)
                equal(verdict["faults"], [])
                check(verdict["signed"] and verdict["ok"], verdict)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        version = daemon.nobody.get("/v1/version").must(200)["audit"]
        equal((version["signed"], version["exported"], version["warnings"]), (True, True, []))


@test
def without_a_key_the_version_and_the_check_say_so():
    with running() as daemon:
        version = daemon.nobody.get("/v1/version").must(200)["audit"]
        equal((version["signed"], version["keyId"], version["exported"]), (False, None, False))
        equal(len(version["warnings"]), 2)
        check(all("NO" in text for text in verdict_of(daemon)["warnings"][:2] + version["warnings"]), version)
        check("NOT SIGNED" in daemon.log().decode(), "its log")


# ---- retention

@test
def old_rows_leave_whole_segments_behind_and_a_log_that_is_still_sound():
    with guarded(keep_days=1) as (folder, daemon):
        fill(daemon, 6)
        equal(daemon.stop(), 0)
        age(daemon)
        daemon.start()
        daemon.wait_until(lambda: daemon.auditor.get("/v1/audit?limit=1").must(200)["items"][0]["sequence"] > 1, "retention")
        daemon.restart()
        verdict = verdict_of(daemon)
        check(verdict["firstSequence"] > 1 and not verdict["faults"], verdict)
        names = sorted(name for name in os.listdir(os.path.join(folder, "exported")) if name.startswith("log-"))
        check(names, "no exported segment")
        kept = []
        for name in names:
            kept += [line["sequence"] for line in exported(folder, name) if "sequence" in line]
        equal(kept, list(range(1, verdict["firstSequence"])))
        fill(daemon)
        answer = daemon.auditor.get("/v1/audit", Accept="application/x-ndjson").must(200)
        check(answer.raw.startswith(b'{"log"'), answer)


def age(daemon):
    """Makes the store two days older than it is: times of checkpoints are signed, so they are made again by the daemon's own key."""
    folder = os.path.dirname(read_config(daemon)["key_file"])
    db = sqlite3.connect(os.path.join(daemon.state, "admitd.db"))
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE name LIKE 'audit_checkpoints_%'").fetchall():
        if db.execute("SELECT type FROM sqlite_master WHERE name = ?", (name,)).fetchone()[0] == "trigger":
            db.execute("DROP TRIGGER " + name)
    store_id = db.execute("SELECT hex(store_id) FROM meta").fetchone()[0].lower()
    out = []
    for number, epoch, sequence, digest, at, key in db.execute(
            "SELECT number, epoch, sequence, lower(hex(hash)), at, key_id FROM audit_checkpoints ORDER BY number").fetchall():
        at -= 2 * 86400 * 1000
        mark = {"at": moment(at), "epoch": epoch, "hash": digest, "keyId": key, "number": number, "sequence": sequence, "storeId": store_id}
        text = json.dumps(mark, sort_keys=True, separators=(",", ":"))
        signature = sign(os.path.join(folder, "audit.key"), b"admitd/checkpoint/1\n" + text.encode())
        db.execute("UPDATE audit_checkpoints SET at = ?, signature = ? WHERE number = ?", (at, signature, number))
        out.append('{"checkpoint":%s,"signature":"%s"}\n' % (text, signature.hex()))
    db.commit()
    db.close()
    with open(os.path.join(folder, "exported", "checkpoints.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(out)


def read_config(daemon):
    with open(daemon.config, encoding="utf-8") as file:
        return dict(line.strip().split(" = ", 1) for line in file if " = " in line)


def moment(at):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at // 1000)) + ".%03dZ" % (at % 1000)


# Ed25519 (RFC 8032) once more, slowly: that another program can make and check what admitd signs.
P = 2 ** 255 - 19
L = 2 ** 252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
BASE_Y = 4 * pow(5, P - 2, P) % P


def base_x():
    square = (BASE_Y * BASE_Y - 1) * pow(D * BASE_Y * BASE_Y + 1, P - 2, P)
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    return P - x if x % 2 else x


def add(a, b):
    (x1, y1), (x2, y2) = a, b
    k = D * x1 * x2 * y1 * y2 % P
    return ((x1 * y2 + x2 * y1) * pow(1 + k, P - 2, P) % P, (y1 * y2 + x1 * x2) * pow(1 - k, P - 2, P) % P)


def times(point, count):
    found = (0, 1)
    while count:
        if count & 1:
            found = add(found, point)
        point = add(point, point)
        count >>= 1
    return found


def encode(point):
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def sign(path, message):
    with open(path, encoding="ascii") as file:
        seed = bytes.fromhex(file.read().split()[1])
    digest = hashlib.sha512(seed).digest()
    secret = int.from_bytes(digest[:32], "little") & ~7 & (1 << 254) - 1 | 1 << 254
    base = (base_x(), BASE_Y)
    public = encode(times(base, secret))

    def number(*parts):
        return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little") % L

    once = number(digest[32:], message)
    commitment = encode(times(base, once))
    return commitment + ((once + number(commitment, public, message) * secret) % L).to_bytes(32, "little")


# ---- backup and restore

def take_backup(daemon, path):
    answer = daemon.admin.post("/v1/backup").must(200)
    equal(answer.headers["content-type"], "application/vnd.sqlite3")
    with open(path, "wb") as file:
        file.write(answer.raw)


@test
def a_backup_made_under_load_is_a_moment_of_the_store_and_is_restored_into_a_new_epoch():
    with guarded() as (folder, daemon):
        world = fill(daemon)
        world.submit(reads("unused"), reads("used"), free("live"), reads("later"), name="r")
        world.grant("unused", name="r")
        world.grant("used", name="r")
        world.grant("later", name="r")
        world.approve(name="r")
        used = world.handoff("used", name="r")
        live = world.handoff("live", name="r")
        stop = threading.Event()
        acknowledged = []
        others = [daemon.world() for _ in range(WRITERS)]

        def write(other):
            number = 0
            while not stop.is_set():
                number += 1
                other.submit(free("x"), name="w%d" % number)
                other.approve(name="w%d" % number)
                acknowledged.append(other.task_id("w%d" % number))

        threads = [threading.Thread(target=write, args=(other,)) for other in others]
        for thread in threads:
            thread.start()
        daemon.wait_until(lambda: len(acknowledged) > 20, "load")
        before = list(acknowledged)
        path = os.path.join(folder, "backup.db")
        take_backup(daemon, path)
        stop.set()
        for thread in threads:
            thread.join()
        after = daemon.client("made-after", "planner")
        code, out, error = admitd_call("audit-verify", "--store", path, "--key", os.path.join(folder, "audit.key.pub"))
        equal(code, 0, out + error)
        db = sqlite3.connect(path)
        for task in before:
            equal(db.execute("SELECT status FROM tasks WHERE id = ?", (task,)).fetchone(), ("approved",), task)
        db.close()

        code, _, error = admitd_call("restore", path, "--config", daemon.config, "--state", daemon.state)
        equal(code, 1, "a restore under a running daemon: " + error)
        check("stop that one" in error, error)
        lost_head = verdict_of(daemon)["head"]["sequence"]
        equal(daemon.stop(), 0)
        code, _, error = admitd_call("restore", path, "--config", daemon.config, "--state", daemon.state)
        equal(code, 0, error)
        equal(sorted(name for name in os.listdir(daemon.state) if "replaced" in name and not name.endswith(("-wal", "-shm")))[0][:18], "admitd.db.replaced")
        old = [daemon.admin, daemon.planner, daemon.approver, after, Client(daemon, live["runToken"]), Client(daemon, used["runToken"])]
        daemon.start()
        for client in old:
            is_problem(client.get("/v1/session"), 401, "unauthenticated")
        daemon.make_clients()
        row = daemon.auditor.get("/v1/audit?type=store.restored").must(200)["items"][0]
        check(row["payload"]["replacedHead"]["sequence"] >= lost_head, row)
        equal(row["payload"]["restoredHead"]["sequence"], row["sequence"] - 1)
        equal(row["payload"]["epoch"], 2)

        run = daemon.auditor.get("/v1/runs/" + live["run"]["id"]).must(200).json
        equal((run["status"] if "outcome" not in run else run["outcome"]), "cancelled", "%r" % run)
        package = world.package("live", name="r")
        equal((package["status"], package["attempts"]), ("ready", 0))
        for label in ("unused", "later"):
            equal(world.package(label, name="r")["hold"]["arm"], "taken_back", label)
        equal(world.package("used", name="r")["hold"]["arm"], "used_up")
        is_problem(daemon.executor.post("/v1/packages/%s/handoff" % world.pid("unused", name="r"), {}), 409, "admission_blocked")
        world.grant("unused", name="r")
        world.outcome(world.handoff("unused", name="r"))
        verdict = verdict_of(daemon)
        equal(verdict["faults"], [])
        check(verdict["signed"], verdict)


@test
def a_backup_that_was_tampered_with_is_not_restored_and_the_store_stays():
    with guarded() as (folder, daemon):
        fill(daemon)
        path = os.path.join(folder, "backup.db")
        take_backup(daemon, path)
        equal(daemon.stop(), 0)
        with open(os.path.join(daemon.state, "admitd.db"), "rb") as file:
            whole = file.read()
        with open(path, "rb") as file:
            backup = file.read()
        db = sqlite3.connect(path)
        db.execute("DROP TRIGGER events_keep")
        db.execute("UPDATE events SET actor_principal = 'nobody' WHERE sequence = 3")
        db.commit()
        db.close()
        broken = {"tampered": None, "cut": backup[:len(backup) // 2], "none": b"not a database", "empty": b""}
        for name, data in broken.items():
            if data is not None:
                with open(path, "wb") as file:
                    file.write(data)
            code, _, error = admitd_call("restore", path, "--config", daemon.config, "--state", daemon.state)
            equal(code, 1, name + ": " + error)
            with open(os.path.join(daemon.state, "admitd.db"), "rb") as file:
                check(file.read() == whole, name + ": the store changed")
            check(not os.path.exists(os.path.join(daemon.state, "restore.tmp")), "something was left behind")
        daemon.start()
        equal(verdict_of(daemon)["faults"], [])


@test
def a_lost_store_is_restored_into_an_empty_folder_and_the_exported_checkpoints_say_what_was_lost():
    with guarded() as (folder, daemon):
        world = fill(daemon)
        path = os.path.join(folder, "backup.db")
        take_backup(daemon, path)
        fill(daemon)
        equal(daemon.stop(), 0)
        lost = exported(folder)[-1]["checkpoint"]["sequence"]
        for name in os.listdir(daemon.state):
            os.unlink(os.path.join(daemon.state, name))
        code, _, error = admitd_call("restore", path, "--config", daemon.config, "--state", daemon.state)
        equal(code, 0, error)
        daemon.start()
        daemon.make_clients()
        equal(daemon.auditor.get("/v1/audit?type=store.restored").must(200)["items"][0]["payload"]["replacedHead"]["sequence"], lost)
        equal(world.task("t0")["status"], "approved")
        equal(verdict_of(daemon)["faults"], [], "the exported checkpoints of what was lost")


@test
def a_key_in_the_state_folder_and_a_foreign_export_folder_are_refused():
    with guarded() as (folder, daemon):
        equal(daemon.stop(), 0)
        key = os.path.join(daemon.state, "audit.key")
        shutil.copy(os.path.join(folder, "audit.key"), key)
        os.chmod(key, 0o600)
        inside = os.path.join(folder, "inside.conf")
        with open(inside, "w", encoding="utf-8") as file:
            file.write("[audit]\nkey_file = %s\n" % key)
        code, _, error = admitd_call("--config", inside, "--state", daemon.state, "--listen", "127.0.0.1:0")
        equal(code, 1)
        check("in the state folder" in error, error)
        code, _, error = admitd_call("--config", daemon.config, "--state", os.path.join(folder, "other"), "--listen", "127.0.0.1:0")
        equal(code, 1)
        check("of another store" in error, error)
        os.chmod(os.path.join(folder, "audit.key"), 0o644)
        code, _, error = admitd_call("--config", daemon.config, "--state", daemon.state, "--listen", "127.0.0.1:0")
        equal(code, 1)
        check("others can read it" in error, error)
        daemon_key = os.path.join(folder, "audit.key")
        code, _, error = admitd_call("audit-key", daemon_key)
        equal(code, 1)
        check("is there already" in error, error)
        os.chmod(daemon_key, 0o600)
        daemon.start()


# ---- admitctl

def admitctl(daemon, *arguments, token=None):
    path = os.environ.get("ADMITCTL") or os.path.join(os.environ.get("BUILDDIR", "."), "admitctl")
    environment = dict(os.environ, ADMITD_URL="http://127.0.0.1:%d" % daemon.port, ADMITD_TOKEN=token or daemon.admin.token)
    done = subprocess.run([path] + list(arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@test
def admitctl_takes_a_backup_checks_it_and_restores_it():
    with guarded() as (folder, daemon):
        world = fill(daemon)
        path, key = os.path.join(folder, "nightly.db"), os.path.join(folder, "audit.key.pub")
        equal(admitctl(daemon, "backup", path)[0], 0)
        equal(os.stat(path).st_mode & 0o777, 0o600)
        code, _, error = admitctl(daemon, "backup", path)
        equal((code, "--force" in error), (2, True), error)
        equal(admitctl(daemon, "backup", "--force", path)[0], 0)
        equal([name for name in os.listdir(folder) if name.endswith(".part")], [])
        code, _, error = admitctl(daemon, "backup", os.path.join(folder, "other.db"), token=daemon.planner.token)
        equal((code, os.path.exists(os.path.join(folder, "other.db")), os.path.exists(os.path.join(folder, "other.db.part"))), (1, False, False), error)
        for arguments in (("--store", path, "--key", key), ("--store", path, "--key", key, "--export", os.path.join(folder, "exported", "checkpoints.jsonl")),
                          ("--export", os.path.join(folder, "exported", "checkpoints.jsonl"), "--key", key), ("--config", daemon.config, "--store", path)):
            code, out, error = admitctl(daemon, "audit", "verify", *arguments)
            equal((code, "sound" in out), (0, True), out + error)
        code, out, error = admitctl(daemon, "audit", "verify")
        equal((code, out.startswith("sound:")), (0, True), out + error)
        equal(json.loads(admitctl(daemon, "audit", "verify", "--json")[1])["ok"], True)
        equal(admitctl(daemon, "audit", "verify", token=daemon.planner.token)[0], 1)
        equal(daemon.stop(), 0)
        code, _, error = admitctl(daemon, "restore", path, "--config", daemon.config, "--state", daemon.state)
        equal(code, 0, error)
        daemon.start()
        daemon.make_clients()
        equal(world.task("t0")["status"], "approved")


@test
def the_doctor_says_what_is_wrong_and_the_way_out():
    with guarded() as (folder, daemon):
        fill(daemon, 1)
        code, out, error = admitctl(daemon, "doctor")
        equal(code, 0, out + error)
        check("good   daemon" in out and "good   checkpoint" in out, out)
        local = ("doctor", "--config", daemon.config, "--state", daemon.state)
        code, out, error = admitctl(daemon, *local)
        equal(code, 0, out + error)
        for what in ("state folder", "admitd.db", "store", "catalog", "checkpoint", "audit key", "export"):
            check("good   " + what in out, what + " is not good in " + out)
        equal({item["grade"] for item in json.loads(admitctl(daemon, *local, "--json")[1])} - {"good", "odd"}, set())
        equal(daemon.stop(), 0)
        exported = os.path.join(folder, "exported", "checkpoints.jsonl")
        with open(exported, "a", encoding="ascii") as file:
            file.write("no line\n")
        os.chmod(daemon.state, 0o755)
        code, out, error = admitctl(daemon, *local)
        equal(code, 1, out + error)
        check("wrong  state folder" in out and "wrong  export" in out, out)
        shutil.move(os.path.join(daemon.state, "admitd.db"), os.path.join(folder, "kept.db"))
        code, out, error = admitctl(daemon, *local)
        equal((code, "wrong  admitd.db" in out), (1, True), out + error)
        shutil.move(os.path.join(folder, "kept.db"), os.path.join(daemon.state, "admitd.db"))
        with open(exported, encoding="ascii") as file:
            kept = file.read().replace("no line\n", "")
        with open(exported, "w", encoding="ascii") as file:
            file.write(kept)
        daemon.start()


if __name__ == "__main__":
    run()
