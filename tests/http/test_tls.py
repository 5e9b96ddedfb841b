#!/usr/bin/env python3
"""TLS at the address that admitd listens on: what is shown, what is refused, and how it is renewed (3.2 "HTTP", 4.1). Speaks TAP."""
import contextlib
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import warnings

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
from certificates import Authority, Pair, new_key, openssl  # noqa: E402
from daemon import TIMEOUT_S, admitd, check, equal, free, is_problem, reads, running  # noqa: E402
from local_socket import ask  # noqa: E402
from secure import Secure, read_all  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
from tap import run, test  # noqa: E402

CLIENTS, RENEWALS = 4, 12


@test
def a_plan_goes_its_whole_way_and_what_is_shown_tells_its_end():
    with Secure() as secure:
        daemon = secure.daemon
        world = daemon.world()
        world.submit(reads("a"), free("b"))
        world.preview()
        world.grant("a")
        world.approve()
        run_ = world.handoff("a")
        world.outcome(run_)
        end = daemon.nobody.get("/v1/version").must(200)["tls"]["validUntil"]
        text = openssl("x509", "-in", secure.pair.certificate, "-noout", "-enddate", "-dateopt", "iso_8601").decode()
        equal(end, text.strip().split("=")[1].replace(" ", "T").replace("Z", ".000Z"))
        check(re.search(rb"^admitd_certificate_end_time_seconds \d+$", daemon.auditor.get("/metrics").must(200).raw, re.M), "no metric")
        check(b"ready https://127.0.0.1:" in daemon.log(), "the log tells another address")


@test
def a_key_of_rsa_does_as_well():
    with Secure(kind="RSA") as secure:
        equal(secure.shown(), "first")
        secure.daemon.world()


@test
def console_events_and_mcp_are_there_for_our_own_pages_alone():
    with Secure() as secure:
        daemon = secure.daemon
        own, foreign = "https://127.0.0.1:%d" % daemon.port, "http://127.0.0.1:%d" % daemon.port
        page = daemon.nobody.get("/").must(200)
        check("connect-src 'self'" in page.headers["content-security-policy"], page.headers)
        check("strict-transport-security" not in page.headers, "it binds other services of this name")
        daemon.planner.get("/v1/session", Origin=own).must(200)
        is_problem(daemon.planner.get("/v1/session", Origin=foreign), 403, "origin")
        call = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
        found = daemon.planner.post("/mcp", call, {"Accept": "application/json, text/event-stream", "Origin": own}).must(200)
        equal(found["result"]["protocolVersion"], "2025-11-25")
        connection = daemon.connect()
        connection.request("GET", "/v1/events", headers={"Accept": "application/x-ndjson", "Authorization": "Bearer " + daemon.admin.token})
        lines = connection.getresponse()
        world = daemon.world()
        while json.loads(lines.readline()).get("project") != world.id:
            pass
        connection.close()


@test
def a_body_that_is_refused_while_it_comes_gets_its_answer_in_a_record():
    with Secure() as secure, secure.connect() as wire:
        bearer = "Authorization: Bearer " + secure.daemon.planner.token
        wire.sendall(secure.head("PUT /v1/tasks/t HTTP/1.1", bearer, "Content-Type: application/json", "Transfer-Encoding: chunked"))
        with contextlib.suppress(OSError):      # it stops to read after a while
            for _ in range(80):
                wire.sendall(b"10000\r\n" + b" " * 65536 + b"\r\n")
        found = read_all(wire)
        check(found.startswith(b"HTTP/1.1 413 "), found[:200])
        equal(json.loads(found.split(b"\r\n\r\n", 1)[1])["code"], "too_large")


@test
def who_speaks_no_tls_or_an_old_one_gets_nothing():
    with Secure() as secure:
        with socket.create_connection(("127.0.0.1", secure.daemon.port), TIMEOUT_S) as wire:
            wire.sendall(secure.head("GET /healthz HTTP/1.1"))
            found = b""
            with contextlib.suppress(ConnectionError):
                found = read_all(wire)
            check(b"HTTP" not in found and b"alive" not in found, found)
        old = secure.authority.context()
        old.set_ciphers("ALL:@SECLEVEL=0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")         # Python finds it old too
            old.minimum_version = ssl.TLSVersion.TLSv1
            old.maximum_version = ssl.TLSVersion.TLSv1_1
        for name, context in (("TLS 1.1", old), ("no forward secrecy", secure.authority.context()), ("CBC", secure.authority.context())):
            if context is not old:
                context.maximum_version = ssl.TLSVersion.TLSv1_2
                context.set_ciphers("kRSA" if name != "CBC" else "ECDHE+AES:!AESGCM:!AESCCM")
            try:
                secure.connect(context).close()
                raise AssertionError(name + " was taken")
            except (ssl.SSLError, ConnectionError):
                pass
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = secure.authority.context()
            context.minimum_version = context.maximum_version = version
            secure.connect(context).close()


@test
def the_socket_of_this_machine_stays_plain_beside_it():
    more = "socket = %%(folder)s/s.sock\n[peers]\n%d = operator\n" % os.getuid()
    with Secure(more) as secure:
        path = os.path.join(secure.folder.name, "s.sock")
        equal(ask(path, "GET", "/v1/session").must(200)["roles"], ["operator"])
        ask(path, "PUT", "/v1/projects/here", {"name": "P"}).must(201)
        secure.daemon.operator.get("/v1/projects/here").must(200)


@test
def a_new_certificate_is_shown_after_sighup_and_no_connection_is_lost():
    with Secure() as secure, secure.connect() as before:
        equal(secure.shown(), "first")
        secure.renew("second")
        equal(secure.shown(), "first")
        check(secure.hang_up().startswith("the certificate is valid until "), "another word")
        equal(secure.shown(), "second")
        before.sendall(secure.head("GET /healthz HTTP/1.1", "Connection: close"))
        check(read_all(before).startswith(b"HTTP/1.1 200 "), "the connection of before")
        equal(dict(pair[0] for pair in before.getpeercert()["subject"])["commonName"], "first")


@test
def links_that_a_renewer_turns_to_other_files_are_followed():
    with Secure() as secure:
        pair = secure.pair
        archive = os.path.join(secure.folder.name, "archive")
        os.mkdir(archive)
        for path in (pair.certificate, pair.key):
            os.rename(path, os.path.join(archive, "1." + os.path.basename(path)))
            os.symlink("archive/1." + os.path.basename(path), path)
        secure.daemon.restart()
        Pair(archive).put(*secure.authority.issue("second"))
        for path in (pair.certificate, pair.key):
            os.unlink(path)
            os.symlink("archive/" + os.path.basename(path), path)
        check(secure.hang_up().startswith("the certificate is valid until "), "another word")
        equal(secure.shown(), "second")


@test
def everybody_is_answered_while_it_is_renewed_again_and_again():
    with Secure() as secure:
        ends, faults, answered = threading.Event(), [], []

        def client():
            try:
                while not ends.is_set():
                    with secure.connect() as wire:
                        wire.sendall(secure.head("GET /healthz HTTP/1.1", "Connection: close"))
                        equal(read_all(wire)[:13], b"HTTP/1.1 200 ")
                        answered.append(1)
            except Exception as fault:  # shown by the test
                faults.append(fault)

        clients = [threading.Thread(target=client) for _ in range(CLIENTS)]
        for one in clients:
            one.start()
        for number in range(RENEWALS):
            secure.renew("number %d" % number)
            secure.hang_up()
            equal(secure.shown(), "number %d" % number)
        ends.set()
        for one in clients:
            one.join(TIMEOUT_S)
        equal(faults, [])
        check(len(answered) >= CLIENTS, answered)


def faults(authority, pair):
    """(what is put there, what is said) for all that can't be used."""
    certificate, key = authority.issue("good")
    other, _ = authority.issue("another")
    with open(authority.file, "rb") as file:
        root = file.read()
    locked = openssl("pkey", "-aes256", "-passout", "pass:secret", data=key)
    return (
        ((b"nothing", key), "%s: holds no certificate in PEM that can be read" % pair.certificate),
        ((b"", key), "%s: holds no certificate in PEM that can be read" % pair.certificate),
        ((root + certificate, key), "%s: its certificates are not in order" % pair.certificate),
        ((certificate, b"nothing"), "%s: holds no private key in PEM that can be read" % pair.key),
        ((certificate, locked), "%s: is locked by a password, which nobody is there to give" % pair.key),
        ((other, key), "%s is not the key of the first certificate in %s" % (pair.key, pair.certificate)),
        ((certificate, new_key("RSA")), "%s is not the key of the first certificate" % pair.key),
        (authority.issue("old", begin="200101000000Z", end="210101000000Z"), "%s: expired at 2021-01-01 00:00 UTC" % pair.certificate),
        (authority.issue("new", begin="450101000000Z", end="460101000000Z"), "%s: is valid from 2045-01-01 00:00 UTC on only" % pair.certificate),
        ((certificate, key, 0o644), "%s: others can read or write it; chmod 600 it" % pair.key),
        ((certificate, key, 0o660), "%s: others can read or write it; chmod 600 it" % pair.key),
    )


@test
def what_cant_be_used_is_named_at_the_start_with_the_way_out():
    with tempfile.TemporaryDirectory(prefix="admitd-test.") as folder:
        authority, pair = Authority(folder), Pair(folder)
        config = os.path.join(folder, "admitd.conf")
        state = os.path.join(folder, "state")

        def says(status, text, *more):
            for command in ((), ("check-config",)):
                found = subprocess.run([admitd(), *command, "--config", config, "--state", state, "--listen", "127.0.0.1:0", *more],
                                       stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
                equal(found.returncode, status, found.stderr)
                check(text in found.stderr, "%r is not in %r" % (text, found.stderr))
            check(not os.path.exists(state), "it began")

        with open(config, "w", encoding="ascii") as file:
            file.write(pair.config())
        says(1, "%s: can't be read: No such file" % pair.certificate)
        for put, text in faults(authority, pair):
            pair.put(*put)
            says(1, text)
        os.mkdir(pair.certificate + ".d")
        for text, said in (("certificate_file = %s" % pair.certificate, "go together: key_file is missing"),
                           ("key_file = %s" % pair.key, "go together: certificate_file is missing"),
                           ("certificate_file = tls.crt", "certificate_file is a path from the root on"),
                           ("certificate_file = %s.d\nkey_file = %s" % (pair.certificate, pair.key), "is no file")):
            with open(config, "w", encoding="ascii") as file:
                file.write("[server]\n%s\n" % text)
            says(1, said)


@test
def what_cant_be_used_leaves_the_old_one_and_is_logged():
    with Secure() as secure:
        for put, text in faults(secure.authority, secure.pair):
            secure.pair.put(*put)
            found = secure.hang_up()
            check(found.startswith("the certificate of before stays") and text in found, found)
            equal(secure.shown(), "first")
        os.unlink(secure.pair.key)
        check("can't be read: No such file" in secure.hang_up(), "another word")
        secure.renew("second")
        secure.hang_up()
        equal(secure.shown(), "second")
        with open(secure.pair.key, "rb") as file:
            secure.daemon.secrets.append(file.read().decode().splitlines()[1])


@test
def an_end_that_is_near_is_a_warning():
    with Secure() as secure:
        check(b"info tls the certificate is valid until" in secure.daemon.log(), "no word")
        secure.pair.put(*secure.authority.issue("short", days=3))
        found = secure.daemon.nobody.get("/v1/version").must(200)["tls"]
        equal(found["warning"], None)
        check("; the certificate ends soon: put a new one in its place" in secure.hang_up(), "no warning")
        check("ends soon" in secure.daemon.nobody.get("/v1/version").must(200)["tls"]["warning"], "no warning")


@test
def without_a_certificate_sighup_changes_nothing():
    with running() as daemon:
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_until(lambda: b"there is no certificate to be read again" in daemon.log(), "its word")
        equal(daemon.nobody.get("/v1/version").must(200)["tls"], None)


@test
def behind_a_proxy_that_ends_tls_our_own_pages_are_https():
    with running("[server]\nhosts = admit.example:443\ntls_proxy = yes\n") as daemon:
        daemon.planner.get("/v1/session", Host="admit.example", Origin="https://admit.example").must(200)
        is_problem(daemon.planner.get("/v1/session", Host="admit.example", Origin="http://admit.example"), 403, "origin")


if __name__ == "__main__":
    run()
