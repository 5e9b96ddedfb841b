#!/usr/bin/env python3
"""How admitd starts, what its first start leaves, how it ends, and what it says when it can't (chapters 3.2, 4.3)."""
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
from daemon import Client, admitd, read_line, running  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
from tap import check, equal, run, test  # noqa: E402

TIMEOUT_S = 60
SRCDIR = os.path.dirname(os.path.dirname(HERE))


def call(*arguments):
    """Runs admitd to its end: exit status, standard output, standard error."""
    found = subprocess.run([admitd(), *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S,
                           check=False)
    return found.returncode, found.stdout, found.stderr


@contextlib.contextmanager
def config(text):
    with tempfile.TemporaryDirectory(prefix="admitd-test.") as folder:
        path = os.path.join(folder, "admitd.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        yield folder, path


def files_of(state):
    return {name: os.stat(os.path.join(state, name)).st_mode & 0o7777 for name in os.listdir(state)}


@test
def help_and_version_are_answers():
    status, out, error = call("--help")
    equal((status, error), (0, ""))
    for word in ("--config", "--state", "--listen", "--catalog", "--port-file", "check-config", "token-reset", "examples:"):
        check(word in out, "no %s in the help" % word)
    status, out, _ = call("--version")
    equal(status, 0)
    check(out.startswith("admitd "), out)


@test
def a_wrong_command_line_is_2_and_says_the_way_out():
    for arguments in (["--bogus"], ["serve"], ["check-config", "token-reset"], ["--listen", "localhost:1"], ["--config"]):
        status, out, error = call(*arguments)
        equal((status, out), (2, ""), arguments)
        check(error, "nothing was said for %s" % arguments)


@test
def check_config_names_file_and_line():
    with config("[server]\nlisten = 127.0.0.1:0\n[roots]\nalow = /srv\n") as (_folder, path):
        status, _, error = call("check-config", "--config", path)
        equal(status, 1)
        check("%s:4: there is no setting alow in [roots]" % path in error, error)
    with config("[server]\nlisten = 127.0.0.1:0\n") as (folder, path):
        status, out, error = call("check-config", "--config", path, "--state", os.path.join(folder, "s"))
        equal((status, error), (0, ""))
        check("fine" in out, out)
        check(not os.path.exists(os.path.join(folder, "s")), "it made a state folder")


@test
def events_for_webhooks_are_those_that_the_description_lists():
    with open(os.path.join(SRCDIR, "docs", "openapi.json"), encoding="utf-8") as file:
        types = json.load(file)["components"]["schemas"]["EventType"]["enum"]
    for wanted in ("\n".join("events = " + one for one in types), "events = " + " ".join(types[:4])):
        with config("[webhooks]\n%s\n" % wanted) as (_folder, path):
            check("[webhooks] needs a url" in call("check-config", "--config", path)[2], "an event is refused")
    for wrong in ("hold.open", "hold.openedd", "Hold.opened", "*", "holds"):
        with config("[webhooks]\nevents = hold.opened %s\n" % wrong) as (_folder, path):
            status, _, error = call("check-config", "--config", path)
            equal(status, 1)
            check("%s:2: there is no event of the type %s" % (path, wrong) in error, error)


@test
def a_peer_without_a_role_that_there_is_is_refused():
    for wrong in ("boss", "read planner", "planner boss", ","):
        with config("[peers]\n1000 = %s\n" % wrong) as (_folder, path):
            status, _, error = call("check-config", "--config", path)
            equal(status, 1)
            check("[peers] 1000: roles are planner" in error, error)


@test
def a_catalog_that_is_none_names_its_fault():
    with config('{"mcps":{"files":{}}}') as (folder, path):
        for command in (["check-config"], ["--state", os.path.join(folder, "s"), "--listen", "127.0.0.1:0"]):
            status, _, error = call(*command, "--catalog", path)
            equal(status, 1)
            check(path in error, error)


@test
def a_first_start_keeps_its_secrets_to_itself():
    with running() as daemon:
        for name, mode in files_of(daemon.state).items():
            equal(mode, 0o600, name)
        equal(os.stat(daemon.state).st_mode & 0o7777, 0o700)
        secret = read_line(os.path.join(daemon.state, "admin.token"))
        check(secret.encode() not in daemon.log(), "the admin token is in the log")
        check(b"admin.token" in daemon.log(), "the log doesn't say where the token is")


@test
def a_second_start_keeps_the_admin_token():
    with running() as daemon:
        before = read_line(os.path.join(daemon.state, "admin.token"))
        daemon.restart()
        equal(read_line(os.path.join(daemon.state, "admin.token")), before)
        equal(daemon.admin.get("/v1/session").must(200)["principal"], "admin")


@test
def two_daemons_do_not_share_a_state_folder():
    with running() as daemon:
        for command in (["--listen", "127.0.0.1:0"], ["token-reset"]):
            status, _, error = call(*command, "--state", daemon.state)
            equal(status, 1)
            check("another admitd" in error, error)
        equal(daemon.admin.get("/v1/session").status, 200)


@test
def a_port_that_is_taken_is_said():
    with running() as daemon:
        status, _, error = call("--state", os.path.join(daemon.folder, "other"), "--listen", "127.0.0.1:%d" % daemon.port)
        equal(status, 1)
        check("--listen" in error, error)


@test
def a_lost_admin_token_is_made_anew_and_the_old_one_dies():
    with running() as daemon:
        old = daemon.admin
        equal(daemon.stop(), 0)
        status, out, error = call("token-reset", "--state", daemon.state)
        equal((status, out), (0, ""))
        secret = read_line(os.path.join(daemon.state, "admin.token"))
        check(secret not in error and secret != old.token, "the secret is told, or the same")
        daemon.start()
        equal(Client(daemon, old.token).get("/v1/session").status, 401)
        daemon.admin = Client(daemon, secret)
        equal(daemon.admin.get("/v1/session").status, 200)
        equal(daemon.planner.get("/v1/session").status, 200, "a token that the admin made")


@test
def signals_end_it_with_0_and_a_hangup_does_not():
    with running() as daemon:
        daemon.process.send_signal(signal.SIGHUP)
        equal(daemon.admin.get("/v1/session").status, 200)
        daemon.process.send_signal(signal.SIGINT)
        equal(daemon.process.wait(TIMEOUT_S), 0)
        daemon.start()


@test
def a_key_that_others_can_read_is_refused():
    with running() as daemon:
        equal(daemon.stop(), 0)
        path = os.path.join(daemon.state, "run-token.key")
        os.chmod(path, 0o644)
        status, _, error = call("--state", daemon.state, "--listen", "127.0.0.1:0")
        equal(status, 1)
        check("chmod 600" in error, error)
        os.chmod(path, 0o600)
        daemon.start()


@test
def a_file_where_the_store_should_be_is_left_alone():
    with tempfile.TemporaryDirectory(prefix="admitd-test.") as folder:
        path = os.path.join(folder, "admitd.db")
        with open(path, "wb") as file:
            file.write(b"not a database\n" * 400)
        status, _, error = call("--state", folder, "--listen", "127.0.0.1:0")
        equal(status, 1)
        check("damaged, or is none" in error, error)
        with open(path, "rb") as file:
            equal(file.read(), b"not a database\n" * 400)


@test
def every_line_of_the_log_is_one_of_ours():
    with running() as daemon:
        daemon.restart()
        for line in daemon.log().decode().splitlines():
            check(line.startswith(("admitd: info ", "admitd: warning audit checkpoints of the log are NOT ")), line)


if __name__ == "__main__":
    run()
