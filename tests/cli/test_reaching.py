#!/usr/bin/env python3
"""How admitctl reaches a daemon: over https whose certificate it checks, and by the socket of this machine (4.1, 4.3). Speaks TAP."""
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "http"))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
from certificates import Authority  # noqa: E402
from daemon import TIMEOUT_S, reads, running  # noqa: E402
from secure import Secure  # noqa: E402
from tap import check, equal, run, test  # noqa: E402

ADMITCTL = os.environ.get("ADMITCTL") or os.path.join(os.environ.get("BUILDDIR", "."), "admitctl")
ABSENT_UID = 54321


def admitctl(*words, given="", **more):
    env = {key: value for key, value in os.environ.items() if not key.startswith("ADMITD")}
    done = subprocess.run([ADMITCTL, *words], input=given, capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
                          env=dict(env, **{key: value for key, value in more.items() if value is not None}))
    return done.returncode, done.stdout, done.stderr


def says(wanted, text, *words, **more):
    """What it says when it ends with this status."""
    code, out, err = admitctl(*words, **more)
    equal(code, wanted, "%s: %s%s" % (words, out, err))
    check(text in out + err, "%r is not in %r" % (text, out + err))
    return out + err


# ---- https

@test
def a_daemon_whose_certificate_is_trusted_is_reached_over_https():
    with Secure() as secure:
        url = "https://127.0.0.1:%d" % secure.daemon.port
        token, ca = secure.daemon.admin.token, secure.authority.file
        for more, words in (({}, ["--cacert", ca]), ({"ADMITD_CACERT": ca}, [])):
            says(0, '"principal":"admin"', "token", "list", "--json", "--url", url, *words, ADMITD_TOKEN=token, **more)
        says(0, "valid until 20", "doctor", "--url", url, "--cacert", ca)
        world = secure.daemon.world()
        world.submit(reads("a"))
        says(0, "Waiting for read access", "recovery", "--url", "https://localhost:%d/" % secure.daemon.port, "--cacert", ca, ADMITD_TOKEN=token)
        backup = os.path.join(secure.folder.name, "copy.db")
        says(0, "", "backup", backup, "--url", url, "--cacert", ca, ADMITD_TOKEN=token)
        check(os.path.getsize(backup) > 0, "the copy is empty")


@test
def windows_on_the_daemon_work_over_https_after_everything_is_given_up():
    with Secure() as secure, tempfile.TemporaryDirectory(prefix="admitd-test.") as root:
        url = "https://127.0.0.1:%d" % secure.daemon.port
        world = secure.daemon.world()
        world.submit(reads("a"))
        lines = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "recovery_list", "arguments": {}}}]
        code, out, err = admitctl("mcp", "--root", root, "--url", url, "--cacert", secure.authority.file,
                                  given="".join(json.dumps(line) + "\n" for line in lines), ADMITD_TOKEN=secure.daemon.planner.token)
        equal(code, 0, err)
        found = [json.loads(line) for line in out.splitlines()]
        equal(found[-1]["id"], 2)
        check(not found[-1]["result"].get("isError"), found[-1])
        check(world.pid("a") in out, out)


@test
def a_certificate_that_is_not_trusted_is_named_and_nothing_is_sent():
    with Secure() as secure, tempfile.TemporaryDirectory(prefix="admitd-test.") as folder:
        port, ca, token = secure.daemon.port, secure.authority.file, secure.daemon.admin.token
        other = Authority(folder).file
        begun = figure(secure.daemon, "admitd_http_begun_total")
        for words in (["--cacert", other], []):
            text = says(3, "its certificate isn't trusted", "status", "--url", "https://127.0.0.1:%d" % port, *words, ADMITD_TOKEN=token)
            check("nothing was sent" in text and "--cacert FILE or ADMITD_CACERT" in text and token not in text, text)
        equal(figure(secure.daemon, "admitd_http_begun_total"), begun + 1)     # the question for the figure itself
        secure.pair.put(*secure.authority.issue("elsewhere", hosts="DNS:admit.example"))
        secure.hang_up()
        says(3, "the URL's host must stand in it", "status", "--url", "https://127.0.0.1:%d" % port, "--cacert", ca, ADMITD_TOKEN=token)
        empty = os.path.join(folder, "empty")
        with open(empty, "w", encoding="ascii"):
            pass
        for path in (os.path.join(folder, "absent"), empty):
            says(2, "take a file of certificates in PEM", "status", "--url", "https://127.0.0.1:%d" % port, "--cacert", path)


def figure(daemon, name):
    lines = daemon.auditor.get("/metrics").must(200).raw.decode().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name + " "))


@test
def the_wrong_scheme_is_told_from_no_daemon():
    with Secure() as secure:
        says(3, "the URL begins with https://", "outcome", "run_1", "succeeded", "--url", "http://127.0.0.1:%d" % secure.daemon.port)
    with running() as daemon:
        says(3, "the URL begins with http://", "status", "--url", "https://127.0.0.1:%d" % daemon.port)


# ---- the socket

class Local:
    """A daemon with a socket, and what its uids may."""

    def __init__(self, peers):
        self.folder = tempfile.TemporaryDirectory(prefix="admitd-test.")
        self.path = os.path.join(self.folder.name, "admitd.sock")
        self.running = running("[server]\nsocket = %s\n[peers]\n%s\n" % (self.path, peers))

    def __enter__(self):
        self.daemon = self.running.__enter__()
        return self

    def __exit__(self, *exception):
        try:
            return self.running.__exit__(*exception)
        finally:
            self.folder.cleanup()


@test
def at_the_socket_a_uid_does_without_a_token_what_the_file_says():
    with Local("%d = planner executor operator" % os.getuid()) as local:
        root = os.path.join(local.folder.name, "root")
        os.mkdir(root)
        for url in ("unix:" + local.path, "unix://" + local.path, "UNIX:" + local.path):
            says(0, "", "project", "set", "here", "--root", root, "--url", url)
        env = {"ADMITD_URL": "unix:" + local.path}
        plan = {"project": "here", "title": "A plan", "packages": [reads("a")]}
        says(0, "", "task", "submit", "-", "--id", "t", given=json.dumps(plan), **env)
        found = json.loads(admitctl("status", "t", "--json", **env)[1])
        equal(found["submittedBy"]["principal"], "uid:%d" % os.getuid())
        says(1, "Waiting for read access", "preview", "t", **env)
        says(1, "one of these roles is needed: approver", "approve", "t", **env)
        says(0, "", "recovery", **env)


@test
def a_token_goes_before_the_uid():
    with Local("%d = operator" % os.getuid()) as local:
        says(1, "one of these roles is needed", "project", "set", "x", "--url", "unix:" + local.path, ADMITD_TOKEN=local.daemon.planner.token)
        says(1, "unauthenticated", "status", "--url", "unix:" + local.path, ADMITD_TOKEN="wrong")


@test
def a_uid_that_is_not_named_is_told_so():
    with Local("%d = admin" % ABSENT_UID) as local:
        text = says(1, "[peers] doesn't name uid %d" % os.getuid(), "status", "--url", "unix:" + local.path)
        check("give a token" in text, text)


@test
def what_ends_it_ends_the_watch_at_the_socket_too():
    with Local("%d = read" % os.getuid()) as local:
        outputs = []
        watch = threading.Thread(target=lambda: outputs.append(admitctl("watch", "--count", "1", "--json", "--url", "unix:" + local.path)))
        watch.start()
        count = 0
        while watch.is_alive() and count < 1000:
            count += 1
            local.daemon.world()
            watch.join(0.05)
        watch.join(TIMEOUT_S)
        equal(outputs[0][0], 0, outputs)


@test
def a_socket_that_nobody_serves_says_why():
    with tempfile.TemporaryDirectory(prefix="admitd-test.") as folder:
        path = os.path.join(folder, "s")
        text = says(3, "No such file or directory", "status", "--url", "unix:" + path)
        check("unix:%s: " % path in text and "nothing was sent" in text, text)
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(path)
        says(3, "Connection refused", "status", "--url", "unix:" + path)
    for url in ("unix:", "unix:relative", "unix://relative", "unix:/" + 120 * "x"):
        says(2, "unix:/PATH of a socket", "status", "--url", url)


if __name__ == "__main__":
    run()
