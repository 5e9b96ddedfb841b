#!/usr/bin/env python3
"""admitctl redact: what a program prints, without its secrets (chapter 5.7; cases H21 to H25, C93)."""
import base64
import json
import os
import subprocess
import sys
import tempfile
import threading
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "lib"))
from tap import check, equal, run, test  # noqa: E402

ADMITCTL = os.environ.get("ADMITCTL", "admitctl")
CANARY = 'canary/"7f3a+9é'
KEPT = os.path.join(ROOT, "tests", "cli", "cases", "C93", "keep.txt")
# Strings that look like secrets and are none, beside those of the case.
HARMLESS = ("commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "run 123e4567-e89b-12d3-a456-426614174000", "max_tokens=4096", "tokens: 17 of 4096", "Author: J <j@x>",
            "Basic usage is described below", "keyboard: qwertz", "monkey=banana")


def redact(*words, given=b"", env=None):
    whole = {key: value for key, value in os.environ.items() if not key.startswith("ADMITD")}
    whole.update(env or {})
    done = subprocess.run([ADMITCTL, "redact", *words], input=given, env=whole,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


@test
def every_spelling_of_a_known_secret_is_masked():
    encoded = CANARY.encode()
    spellings = [CANARY, json.dumps(CANARY)[1:-1], json.dumps(CANARY, ensure_ascii=False)[1:-1],
                 json.dumps(json.dumps(CANARY, ensure_ascii=False), ensure_ascii=False)[3:-3],
                 urllib.parse.quote(CANARY), urllib.parse.quote(CANARY, safe=""), urllib.parse.quote_plus(CANARY)]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "secrets.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(["other-secret", CANARY], file)
        for spelling in spellings:
            code, out, err = redact("--secrets", path, given=("production <%s>\n" % spelling).encode())
            equal((code, out.decode(), err), (0, "production <***>\n", ""), spelling)
        for before in range(3):
            text = base64.b64encode(b"x" * before + encoded + b"yz")
            code, out, _ = redact("--secrets", path, given=text)
            check(b"***" in out and len(out) < 12, out)


@test
def a_secret_may_come_from_the_environment_and_stays_out_of_every_message():
    code, out, err = redact("--env", "ISSUE_TOKEN", "--env", "NOT_SET_HERE", given=b"x tok-abcdef\n",
                            env={"ISSUE_TOKEN": "tok-abcdef"})
    equal((code, out, err), (0, b"x ***\n", ""))
    code, out, err = redact("--env", "ISSUE_TOKEN", given=b"x", env={"ISSUE_TOKEN": "s3cr!"})
    equal((code, out), (2, b""))
    check("6 characters" in err and "s3cr!" not in err, err)


@test
def harmless_strings_stay_as_they_are():  # C93
    with open(KEPT, "rb") as file:
        for given in (file.read(), "".join(line + "\n" for line in HARMLESS).encode()):
            equal(redact(given=given)[1], given)


@test
def a_secret_that_is_split_over_two_writes_is_masked():
    with subprocess.Popen([ADMITCTL, "redact", "--env", "T"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          env=dict(os.environ, T="tok-abcdef")) as child:
        limit = threading.Timer(60, child.kill)
        limit.start()
        child.stdin.write(b"first line\na tok-a")
        child.stdin.flush()
        equal(child.stdout.readline(), b"first line\n")  # at once, though a secret has begun behind it
        child.stdin.write(b"bcdef b\n")
        child.stdin.close()
        equal(child.stdout.read(), b"a *** b\n")
        equal(child.wait(timeout=60), 0)
        limit.cancel()


@test
def files_are_passed_one_after_the_other():
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for name, text in (("a", "one tok-abc"), ("b", "def two\nhttps://user:pw@h/x")):
            names.append(os.path.join(folder, name))
            with open(names[-1], "w", encoding="utf-8") as file:
                file.write(text)
        code, out, err = redact("--env", "T", *names, env={"T": "tok-abcdef"})
        equal((code, out, err), (0, b"one tok-abcdef two\nhttps://***@h/x", ""))
        code, _, err = redact(os.path.join(folder, "absent"))
        equal(code, 2)
        check("No such file" in err, err)


@test
def a_file_of_secrets_that_is_none_is_exit_2_and_is_not_quoted():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "secrets.json")
        for text, said in (('{"a":"canary-1"}', "not a JSON array"), ('["canary-1", 7]', "item 1 is not a text"),
                           ('["canary-1"', "not the JSON"), ('["canary-1","abc"]', "item 1: a secret has 6"),
                           ('"canary-1', "not the JSON")):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            code, out, err = redact("--secrets", path, given=b"x")
            equal((code, out), (2, b""), text)
            check(said in err and "canary" not in err, err)


@test
def what_was_filtered_is_left_alone_by_a_second_filter():
    given = b"https://user:pw@h/x\nx-access-token:ghs_A\nPOSTGRES_PASSWORD=hunter2 FATAL\nAuthor: J <j@x>\n tok-abcdef\n"
    once = redact("--env", "T", given=given, env={"T": "tok-abcdef"})[1]
    equal(once, b"https://***@h/x\nx-access-token:***\nPOSTGRES_PASSWORD=*** FATAL\nAuthor: J <j@x>\n ***\n")
    equal(redact("--env", "T", given=once, env={"T": "tok-abcdef"})[1], once)


if __name__ == "__main__":
    sys.exit(run())
