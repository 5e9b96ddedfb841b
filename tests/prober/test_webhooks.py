#!/usr/bin/env python3
"""Events that the real daemon posts through its prober to a receiver: signed, in order, at least once, over restarts, and in nobody's
way (chapter 3.2 "Processes"). Speaks TAP."""
import base64
import contextlib
import ctypes
import ctypes.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "http"))
from daemon import TIMEOUT_S, admitd, check, children, equal, free, reads, running, scene, without_words  # noqa: E402
from tap import run  # noqa: E402

USUAL = ("hold.opened", "hold.cleared", "task.status")
WIDE = ("run.claimed", "run.ended", "grant.recorded", "health.changed")
SCRATCH = tempfile.mkdtemp(prefix="admitd-webhooks.")
KEY = os.path.join(SCRATCH, "hook.key")
SODIUM = ctypes.CDLL(ctypes.util.find_library("sodium") or "libsodium.so.23")


def is_signed(text, signature, public):
    return SODIUM.crypto_sign_verify_detached(signature, text, ctypes.c_ulonglong(len(text)), public) == 0


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format, *args):  # noqa: A002 - the library's name
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = self.server.receiver.take(dict(self.headers.items()), body)
        self.send_response(status)
        self.send_header("Content-Length", "0")
        if status == 307:
            self.send_header("Location", "/elsewhere")
        self.end_headers()


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # a prober that has waited enough hangs up


class Receiver:
    """What came, in order: `posts` has (status it was answered with, headers, body)."""

    def __init__(self):
        self.changed = threading.Condition()
        self.posts = []
        self.refusals = []    # statuses of the next answers
        self.is_dead = False  # takes requests and doesn't answer
        self.waiting = 0
        self.http = Server(("127.0.0.1", 0), Handler)
        self.http.receiver = self
        self.url = "http://127.0.0.1:%d/hook" % self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def take(self, headers, body):
        with self.changed:
            self.waiting += 1
            self.changed.notify_all()
            was_dead = self.is_dead
            self.changed.wait_for(lambda: not self.is_dead)
            self.waiting -= 1
            status = 503 if was_dead else self.refusals.pop(0) if self.refusals else 204
            self.posts.append((status, headers, body))
            self.changed.notify_all()
            return status

    def die(self, is_dead=True):
        with self.changed:
            self.is_dead = is_dead
            self.changed.notify_all()

    def wait(self, condition, what):
        with self.changed:
            check(self.changed.wait_for(condition, TIMEOUT_S), "waited in vain for %s" % what)

    def taken(self, task):
        """The events of a task that it took, the first time of each."""
        found = {}
        for status, _, body in list(self.posts):
            event = json.loads(body)["event"]
            if status == 204 and task in (event["subject"]["id"] if event.get("subject") else "", event.get("task")):
                found.setdefault(event["id"], event)
        return list(found.values())


RECEIVER = Receiver()


def config(receiver=RECEIVER, events=None):
    text = "[webhooks]\nurl = %s\nkey_file = %s\n" % (receiver.url, KEY)
    return text + ("events = %s\n" % " ".join(events) if events else "")


def expected(daemon, task, types=USUAL):
    items = daemon.admin.get("/v1/tasks/%s/timeline?limit=100" % task).must(200)["items"]
    return sorted((item for item in without_words(items) if item["type"] in types), key=lambda item: int(item["id"]))


def gets_all(daemon, task, receiver=RECEIVER, types=USUAL):
    wanted = expected(daemon, task, types)
    check(len(wanted) > 0, "there is nothing to deliver")
    receiver.wait(lambda: len(receiver.taken(task)) >= len(wanted), "%d events" % len(wanted))
    equal(receiver.taken(task), wanted, "what was delivered")
    return wanted


def work(world):
    """A hold that opens and is cleared, and a task that is approved."""
    world.submit(reads("a"), free("b"))
    world.preview()
    world.grant("a")
    world.approve()


def metric(daemon, name):
    for line in daemon.admin.get("/metrics").raw.decode().splitlines():
        if line.startswith("admitd_webhooks_%s " % name):
            return int(line.split()[1])
    return None


@scene
def events_come_in_order_as_the_timeline_has_them(daemon):
    world = daemon.world()
    work(world)
    found = {event["type"] for event in gets_all(daemon, world.task_id())}
    equal(found, set(USUAL), "types")


@scene
def each_is_signed_over_its_time_and_body(daemon):
    world = daemon.world()
    work(world)
    gets_all(daemon, world.task_id())
    with open(KEY + ".pub", encoding="ascii") as file:
        public = bytes.fromhex(file.read().split()[1])
    for _, headers, body in list(RECEIVER.posts):
        kind, encoded = headers["Admitd-Signature"].split("=", 1)
        signature = base64.b64decode(encoded, validate=True)
        text = headers["Admitd-Timestamp"].encode() + b"." + body
        equal((kind, len(signature), headers["Content-Type"]), ("ed25519", 64, "application/json"))
        check(is_signed(text, signature, public), "the signature of %r" % body)
        check(not is_signed(text.replace(b"event", b"Event", 1), signature, public), "another body has the same signature")
        check(abs(int(headers["Admitd-Timestamp"]) - time.time()) < TIMEOUT_S, "the time of %r" % headers)


@scene
def a_delivery_names_the_store_and_has_an_id_of_its_own(daemon):
    world = daemon.world()
    work(world)
    gets_all(daemon, world.task_id())
    bodies = [json.loads(body) for status, _, body in RECEIVER.posts if status == 204]
    equal({tuple(body) for body in bodies}, {("event", "storeId", "deliveryId")})
    equal(len({body["storeId"] for body in bodies}), 1, "stores")
    equal(len({body["deliveryId"] for body in bodies}), len(bodies), "delivery ids")


@scene
def what_is_refused_twice_comes_a_third_time_before_the_next(daemon):
    world = daemon.world()
    failed = metric(daemon, "failed_total")
    first = len(RECEIVER.posts)
    RECEIVER.refusals = [500, 307]
    work(world)
    gets_all(daemon, world.task_id())
    posts = RECEIVER.posts[first:]
    equal([status for status, _, _ in posts[:4]], [500, 307, 204, 204], "answers")
    equal(len({body for _, _, body in posts[:3]}), 1, "bodies of one event, with its deliveryId")
    check(posts[3][2] != posts[0][2], "the next one is another event")
    equal(metric(daemon, "failed_total"), failed + 2, "attempts that failed")


@scene
def a_restart_in_between_loses_nothing(daemon):
    world = daemon.world()
    first = len(RECEIVER.posts)
    RECEIVER.die()
    work(world)
    RECEIVER.wait(lambda: RECEIVER.waiting > 0, "a delivery")
    equal(RECEIVER.taken(world.task_id()), [], "before the restart")
    equal(daemon.stop(), 0, "its exit status in the middle of a delivery")
    RECEIVER.die(False)
    daemon.start()
    gets_all(daemon, world.task_id())
    again = len(RECEIVER.posts)
    daemon.kill9()
    daemon.start()
    other = daemon.world()
    work(other)
    gets_all(daemon, other.task_id())
    ids = [json.loads(body)["event"]["id"] for status, _, body in RECEIVER.posts[first:] if status == 204]
    equal(ids, sorted(ids, key=int), "what came, in order")
    check(again > first, "nothing came between the restarts")


@scene
def a_dead_receiver_slows_no_approval(daemon):
    RECEIVER.die()
    try:
        worlds = [daemon.world() for _ in range(3)]
        work(worlds[0])
        RECEIVER.wait(lambda: RECEIVER.waiting > 0, "a delivery")
        for world in worlds[1:]:
            world.submit(free("b"))
            began = time.monotonic()
            world.approve()
            check(time.monotonic() - began < 2, "an approval took %.1f s" % (time.monotonic() - began))
        check(metric(daemon, "lag_events") > 0, "nothing is behind")
    finally:
        RECEIVER.die(False)
    for world in worlds:
        gets_all(daemon, world.task_id())
    daemon.wait_until(lambda: metric(daemon, "lag_events") == 0, "all to be delivered")


@scene
def a_prober_that_dies_in_the_middle_is_followed_by_another(daemon):
    world = daemon.world()
    RECEIVER.die()
    work(world)
    RECEIVER.wait(lambda: RECEIVER.waiting > 0, "a delivery")
    workers = [worker for launcher in children(daemon.process.pid) for worker in children(launcher)]
    check(len(workers) > 0, "there is no worker")
    for worker in workers:
        os.kill(worker, signal.SIGKILL)
    RECEIVER.die(False)
    gets_all(daemon, world.task_id())


@scene
def no_token_and_no_credential_is_ever_sent(daemon):
    receiver = Receiver()
    try:
        with running(config(receiver, WIDE)) as other:
            world = other.world()
            work(world)
            run_ = world.handoff("a")
            world.outcome(run_)
            found = gets_all(other, world.task_id(), receiver, WIDE)
            equal({event["type"] for event in found}, {"run.claimed", "run.ended", "grant.recorded"}, "types")
            secrets = list(other.secrets)
    finally:
        receiver.http.shutdown()
        receiver.http.server_close()
    check(len(secrets) > len(WIDE), "there are no secrets to look for")
    for _, headers, body in list(receiver.posts) + list(RECEIVER.posts):
        for secret in secrets + daemon.secrets:
            check(secret.encode() not in body and secret not in repr(headers), "a secret was sent")
        check("Authorization" not in headers, "credentials were sent")


def fails_to_start(text):
    path = os.path.join(SCRATCH, "bad.conf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    state = os.path.join(SCRATCH, "state")
    os.makedirs(state, mode=0o700, exist_ok=True)
    done = subprocess.run([admitd(), "check-config", "--config", path, "--state", state], capture_output=True, check=False)
    equal(done.returncode, 1, "the exit status with %r" % text)
    return done.stderr.decode()


@scene
def a_receiver_without_a_sound_key_is_refused_at_the_start(daemon):
    url = "[webhooks]\nurl = %s\n" % RECEIVER.url
    check("key_file" in fails_to_start(url), "without a key")
    check("url" in fails_to_start("[webhooks]\nkey_file = %s\n" % KEY), "without a url")
    check("there is none" in fails_to_start(url + "key_file = /nonexistent/key\n"), "a key that isn't there")
    inside = os.path.join(SCRATCH, "state", "hook.key")
    subprocess.run([admitd(), "audit-key", inside], check=True, stdout=subprocess.DEVNULL)
    check("state folder" in fails_to_start(url + "key_file = %s\n" % inside), "a key in the state folder")
    opened = os.path.join(SCRATCH, "open.key")
    shutil.copyfile(KEY, opened)
    os.chmod(opened, 0o644)
    check("others can read it" in fails_to_start(url + "key_file = %s\n" % opened), "a key that others can read")


@scene
def a_receiver_in_the_clear_elsewhere_is_refused_at_the_start(daemon):
    for url in ("http://ops.example/hook", "http://10.0.0.7/", "https://me:word@ops.example/", "file:///etc/hosts", "ops.example"):
        fault = fails_to_start("[webhooks]\nurl = %s\nkey_file = %s\n" % (url, KEY))
        check("https, or http to this machine" in fault and "word@" not in fault, "%s: %s" % (url, fault))


@contextlib.contextmanager
def configured():
    subprocess.run([admitd(), "audit-key", KEY], check=True, stdout=subprocess.DEVNULL)
    with running(config()) as daemon:
        yield daemon


if __name__ == "__main__":
    try:
        run(configured)
    finally:
        RECEIVER.http.shutdown()
        shutil.rmtree(SCRATCH, ignore_errors=True)
