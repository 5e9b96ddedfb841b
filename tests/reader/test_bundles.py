#!/usr/bin/env python3
"""Knowledge bundles from a terminal, which shows the tools' own bytes: cases O03 to O33 (chapter 5.4)."""
import contextlib
import functools
import hashlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "tests", "lib"), HERE]
from bundle_maker import bundle, concept, large, write  # noqa: E402
from tap import check, diagnostic, equal, run, test  # noqa: E402

ADMITCTL = os.environ.get("ADMITCTL", "admitctl")
REAL = os.path.join(HERE, "bundles")
LOOT = "CANARY-OF-ANOTHER-FOLDER"


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory(prefix="admitd-bundles-") as path:
        yield os.path.realpath(path)


def case(function):
    """A test with a folder of its own."""
    @functools.wraps(function)
    def alone():
        with folder() as path:
            function(path)
    return test(alone)


def admitctl(*words, given=None):
    """Exit code and standard output, as bytes; nothing may have been said on standard error."""
    done = subprocess.run([ADMITCTL, "bundle", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, input=given,
                          timeout=120, check=False)
    equal(done.stderr, b"", "standard error")
    return done.returncode, done.stdout


def ask(*words):
    code, out = admitctl("ask", *words)
    equal(code, 0, out[:300])
    return json.loads(out)


def answer(*words):
    code, out = admitctl(*words)
    equal(code, 0, out[:300])
    return json.loads(out)


def card(path, *words):
    cards = answer("card", "--bundle", path, *words)["cards"]
    equal(len(cards), 1, "cards")
    return cards[0]


def refusal(*words):
    """The code of a refusal, which has no path of the machine in its message."""
    code, out = admitctl(*words)
    equal(code, 1, out[:300])
    found = json.loads(out)
    equal(sorted(found), ["code", "message"])
    check("/tmp" not in found["message"] and "admitd-bundles" not in found["message"], found["message"])
    return found["code"]


def faults(found):
    return {fault["concept_id"]: fault["code"] for fault in found["faults"]}


def three(path):
    return bundle(path, {"one": concept("First honey", "bees make honey"), "two": concept("Second", "wax and honey"),
                         "deep/three": concept("Third", "smoke")})


# ---- finding

@case
def three_real_bundles_are_listed_in_the_order_of_their_names(path):
    listed = answer("list", "--root", REAL)
    equal([(one["id"], one["concepts"]) for one in listed["bundles"]],
          [("acme_retail", 9), ("ga4", 9), ("stackoverflow", 26)])
    equal((listed["faults"], listed["bounds"]), ([], []))
    del path


@case
def four_cards_without_an_id_and_each_is_the_card_of_its_id(path):
    shutil.copytree(REAL, path + "/roots")
    three(path + "/roots/proj/.okf/zoo")
    whole = admitctl("card", "--root", path + "/roots")[1]
    cards = json.loads(whole)["cards"]
    equal([one["id"] for one in cards], ["acme_retail", "ga4", "stackoverflow", "zoo"])
    for one in cards:
        alone = admitctl("card", one["id"], "--root", path + "/roots")[1]
        begin = alone.index(b'{"id"')
        check(alone[begin:alone.rindex(b'}],"faults"') + 1] in whole, "another card alone: " + one["id"])


@case
def in_bundle_mode_an_id_is_refused_and_not_passed_over(path):
    three(path + "/b")
    equal(refusal("card", "b", "--bundle", path + "/b"), "argument_invalid")
    equal(refusal("ask", "honey", "--in", "b", "--bundle", path + "/b"), "argument_invalid")
    equal(refusal("fetch", "b", "one", "--bundle", path + "/b"), "argument_invalid")


@case
def a_question_over_all_ranks_the_bundle_that_answers_it_first(path):
    hits = ask("badges awarded to users", "--root", REAL)["hits"]
    equal((hits[0]["bundle_id"], hits[0]["concept_id"]), ("stackoverflow", "tables/badges"))
    check("badges awarded to users" in hits[0]["excerpt"], hits[0]["excerpt"])
    equal([hit["bundle_id"] for hit in hits[:3]], ["stackoverflow"] * 3)
    check(all(a["score"] >= b["score"] for a, b in zip(hits, hits[1:])), "scores out of order")
    equal(len(hits), 10)
    del path


@case
def fetching_below_roots_needs_a_bundle(path):
    equal(refusal("fetch", "tables/badges", "--root", REAL), "bundle_required")
    equal(refusal("fetch", "nope", "tables/badges", "--root", REAL), "bundle_unknown")
    del path


@case
def every_concept_of_the_real_bundles_is_fetched_byte_for_byte(path):
    count = 0
    for base, _, names in os.walk(REAL):
        for name in names:
            whole = os.path.join(base, name)
            parts = os.path.relpath(whole, REAL).split(os.sep)
            if name in ("index.md", "log.md", "LICENSE.md"):
                continue
            with open(whole, "rb") as stream:
                text = stream.read()
            found = answer("fetch", parts[0], "/".join(parts[1:])[:-3], "--root", REAL)
            equal(found["text"].encode(), text)
            equal((found["bytes"], found["sha256"]), (len(text), hashlib.sha256(text).hexdigest()))
            count += 1
    equal(count, 44)
    del path


@case
def what_is_written_while_nobody_looks_is_there_at_the_next_call(path):
    three(path + "/roots/a")
    first = answer("list", "--root", path + "/roots")["bundles"]
    three(path + "/roots/b")
    equal([one["id"] for one in answer("list", "--root", path + "/roots")["bundles"]], ["a", "b"])
    shutil.rmtree(path + "/roots/b")
    equal(answer("list", "--root", path + "/roots")["bundles"], first)
    write(path + "/roots/a/one.md", concept("First honey", "bees make wax"))
    again = answer("list", "--root", path + "/roots")["bundles"]
    check(again[0]["bundle_ref"] != first[0]["bundle_ref"], "the edit has the same bundle_ref")
    write(path + "/roots/a/one.md", concept("First honey", "bees make honey"))
    equal(answer("list", "--root", path + "/roots")["bundles"], first)


@case
def bundles_are_found_four_levels_down_and_the_bound_is_named_below(path):
    three(path + "/roots/proj/.okf/kb")
    three(path + "/roots/a/b/c/fourth")
    found = answer("list", "--root", path + "/roots")
    equal([one["id"] for one in found["bundles"]], ["fourth", "kb"])
    three(path + "/roots/a/b/c/d/fifth")
    found = answer("list", "--root", path + "/roots")
    equal([one["id"] for one in found["bundles"]], ["fourth", "kb"])
    equal(found["bounds"], ["max-depth"])


@case
def a_project_with_an_index_of_its_own_hides_no_bundle_in_its_okf(path):
    bundle(path + "/roots/proj", {"intro": concept()})
    bundle(path + "/roots/proj/guide", {"part": concept()})
    three(path + "/roots/proj/.okf/kb")
    found = answer("list", "--root", path + "/roots")["bundles"]
    equal([(one["id"], one["concepts"]) for one in found], [("kb", 3), ("proj", 2)])


@case
def two_bundles_of_one_name_are_told_apart_and_never_picked_from(path):
    three(path + "/one/kb")
    bundle(path + "/two/kb", {"other": concept("Other")})
    bundle(path + "/two/proj/kb", {"third": concept("Third")})
    roots = ("--root", path + "/one", "--root", path + "/two")
    ids = [one["id"] for one in answer("list", *roots)["bundles"]]
    equal(ids, ["1:kb", "2:kb", "proj/kb"])
    equal(refusal("fetch", "kb", "other", *roots), "bundle_ambiguous")
    equal(refusal("card", "kb", *roots), "bundle_ambiguous")
    equal(refusal("ask", "x", "--in", "kb", *roots), "bundle_ambiguous")
    equal(answer("fetch", "2:kb", "other", *roots)["bundle_id"], "2:kb")
    for name in ids:
        equal([one["id"] for one in answer("card", name, *roots)["cards"]], [name])


# ---- containment

def leaky(path):
    """A bundle whose index names links that leave it, beside one honest concept."""
    write(path + "/out/loot.md", concept(LOOT, LOOT, more="description: %s\n" % LOOT))
    write(path + "/out/dir/loot.md", concept(LOOT, LOOT))
    bundle(path + "/b", {"honest": concept("Honest", "a badge of honesty")},
           ["honest.md", "leak.md", "dir/loot.md", "passwd.md", "up.md"])
    os.symlink(path + "/out/loot.md", path + "/b/leak.md")
    os.symlink(path + "/out/dir", path + "/b/dir")
    os.symlink("/etc/passwd", path + "/b/passwd.md")
    os.symlink("../out/loot.md", path + "/b/up.md")
    return path + "/b"


@case
def a_link_out_of_the_bundle_is_refused_by_every_tool_and_hides_no_honest_concept(path):
    at = leaky(path)
    for name in ("leak", "passwd", "up", "dir/loot"):
        code, out = admitctl("fetch", name, "--bundle", at)
        equal((code, json.loads(out)["code"]), (1, "concept_outside"), name)
        check(LOOT.encode() not in out and b"root:" not in out, "the target's bytes")
        check(name in json.loads(out)["message"], out)
    equal(json.loads(admitctl("fetch", "honest", "--bundle", at)[1])["text"], concept("Honest", "a badge of honesty"))
    for words in (("ask", LOOT), ("ask", "badge root"), ("card",), ("list",)):
        code, out = admitctl(*words, "--bundle", at)
        equal(code, 0)
        check(LOOT.encode() not in out and b"root:" not in out, "the target's bytes in " + words[0])
    found = ask("badge", "--bundle", at)
    equal([hit["concept_id"] for hit in found["hits"]], ["honest"])
    outside = dict.fromkeys(("leak", "passwd", "up", "dir/loot"), "concept_outside")
    equal(faults(found), outside)
    equal(faults(card(at)), outside)


@case
def what_no_index_names_is_unknown_though_it_is_there(path):
    bundle(path + "/b", {"named": concept(), "unnamed": concept(LOOT, LOOT)}, ["named.md"])
    equal(refusal("fetch", "unnamed", "--bundle", path + "/b"), "concept_unknown")
    equal(refusal("fetch", "index", "--bundle", path + "/b"), "concept_unknown")
    equal(ask(LOOT, "--bundle", path + "/b")["hits"], [])
    shown = card(path + "/b")
    equal((shown["concepts"], shown["named"], shown["unnamed"]), (2, 1, 1))
    check(LOOT not in json.dumps(shown), "the card shows what no index names")


@case
def entries_and_ids_that_climb_are_refused_by_their_text(path):
    write(path + "/other/secret.md", concept(LOOT, LOOT))
    at = bundle(path + "/b", {"a/x": concept(), "x": concept("Inside")},
                ["../other/secret.md", "/etc/passwd", "a/../../x.md", "a/../x.md", "%2e%2e/other/secret.md", "a%2fx.md"])
    for name in ("../other/secret", "/etc/passwd", "a/../../x", "a/../x", "./x", "a//x", "x/", "."):
        equal(refusal("fetch", name, "--bundle", at), "concept_outside", name)
    shown = card(at)
    equal([(entry["target"], entry["code"]) for entry in shown["refused_entries"]],
          [(target, "concept_outside") for target in ("../other/secret.md", "a/../../x.md", "%2e%2e/other/secret.md", "a%2fx.md")])
    equal(answer("fetch", "x", "--bundle", at)["text"], concept("Inside"))
    check(LOOT not in json.dumps(shown) + json.dumps(ask(LOOT, "--bundle", at)), "what is above was read")


@case
def a_fifo_or_a_socket_is_named_and_never_waited_for(path):
    at = bundle(path + "/b", {"honest": concept("Honest")}, ["honest.md", "fifo.md", "socket.md", "folder.md"])
    os.mkfifo(at + "/fifo.md")
    os.mkdir(at + "/folder.md")
    listening = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(at)
    listening.bind("socket.md")
    os.chdir(here)
    begin = time.monotonic()
    for name in ("fifo", "socket", "folder"):
        equal(refusal("fetch", name, "--bundle", at), "concept_not_regular", name)
    odd = dict.fromkeys(("fifo", "folder", "socket"), "concept_not_regular")
    equal(faults(ask("honest", "--bundle", at)), odd)
    equal(faults(card(at)), odd)
    listening.close()
    check(time.monotonic() - begin < 50, "a call waited")


@case
def a_concept_that_is_missing_is_unreadable_by_its_id(path):
    at = bundle(path + "/b", {"here": concept()}, ["here.md", "gone.md", "dangling.md"])
    os.symlink("nowhere.md", at + "/dangling.md")
    code, out = admitctl("fetch", "gone", "--bundle", at)
    equal((code, json.loads(out)["code"]), (1, "concept_unreadable"))
    check("gone" in json.loads(out)["message"] and path not in out.decode(), out)
    equal(refusal("fetch", "dangling", "--bundle", at), "concept_unreadable")
    equal(faults(ask("x", "--bundle", at)), {"gone": "concept_unreadable", "dangling": "concept_unreadable"})


@case
def a_concept_that_is_too_large_is_refused_and_the_index_names_it(path):
    at = bundle(path + "/b", {"small": concept("Small", "honey"), "large": concept("Large", "honey " * 1700000)})
    with open(at + "/index.md", encoding="utf-8") as stream:
        check("(large.md)" in stream.read(), "the index doesn't name it")
    check(os.path.getsize(at + "/large.md") > 10 * 1000 * 1000, "it isn't large")
    equal(refusal("fetch", "large", "--bundle", at), "concept_too_large")
    equal(refusal("fetch", "large", "--bundle", at, "--max-concept-kib", "8192"), "concept_too_large")
    found = ask("honey", "--bundle", at)
    equal(([hit["concept_id"] for hit in found["hits"]], faults(found)), (["small"], {"large": "concept_too_large"}))
    write(at + "/large.md", concept("Large", "honey " * 200000))
    equal(refusal("fetch", "large", "--bundle", at), "concept_too_large")
    check(answer("fetch", "large", "--bundle", at, "--max-concept-kib", "2048")["bytes"] > 1024 * 1024, "bytes")


@case
def a_link_that_stays_inside_is_followed_under_its_own_id(path):
    at = bundle(path + "/b", {"real/one": concept("One", "honey")}, ["real/one.md", "alias.md", "linked/one.md"])
    os.symlink("real/one.md", at + "/alias.md")
    os.symlink("real", at + "/linked")
    for name in ("real/one", "alias", "linked/one"):
        found = answer("fetch", name, "--bundle", at)
        equal((found["concept_id"], found["text"]), (name, concept("One", "honey")))
    equal(sorted(hit["concept_id"] for hit in ask("honey", "--bundle", at)["hits"]), ["alias", "linked/one", "real/one"])


@case
def no_permission_is_one_unreadable_concept(path):
    at = bundle(path + "/b", {"open": concept(), "shut": concept(LOOT, LOOT)})
    os.chmod(at + "/shut.md", 0)
    if os.getuid() == 0:
        for base, folders, files in os.walk(path):
            for name in folders + files:
                os.chown(os.path.join(base, name), 65534, 65534, follow_symlinks=False)
        os.chmod(path, 0o755)
    done = subprocess.run([ADMITCTL, "bundle", "fetch", "shut", "--bundle", at], stdout=subprocess.PIPE, check=False,
                          cwd="/", **({"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}))
    equal((done.returncode, json.loads(done.stdout)["code"]), (1, "concept_unreadable"))


# ---- what is in them

@case
def a_concept_in_another_encoding_is_malformed_alone(path):
    at = bundle(path + "/b", {"fine": concept("Fine", "honey"), "latin": b"---\ntype: Metric\n---\nh\xf6ney\n",
                              "nul": b"---\ntype: Metric\n---\nhoney\0\n"})
    for name in ("latin", "nul"):
        equal(refusal("fetch", name, "--bundle", at), "concept_malformed")
    bad = {"latin": "concept_malformed", "nul": "concept_malformed"}
    found = ask("honey", "--bundle", at)
    equal(([hit["concept_id"] for hit in found["hits"]], faults(found)), (["fine"], bad))
    equal((faults(card(at)), answer("list", "--bundle", at)["bundles"][0]["concepts"]), (bad, 3))


@case
def broken_links_are_told_and_not_refused(path):
    body = "[a](gone.md) [b](/also/gone.md) [c](sub/) [d](../up.md) [e](one.md#part) [f](https://example.com/x.md)\n" \
           "```\n[in code](never.md)\n```\n[g](two.md 'title') [h](<gone too.md>)"
    at = bundle(path + "/b", {"one": concept("One", body), "two": concept()})
    shown = card(at)
    equal([link["target"] for link in shown["broken_links"]], ["gone.md", "/also/gone.md", "sub/", "../up.md", "gone too.md"])
    equal((shown["broken_link_count"], shown["conformant"]), (5, 2))
    check("[a](gone.md)" in answer("fetch", "one", "--bundle", at)["text"], "the text")


@case
def the_card_knows_folded_texts_flow_tags_and_unknown_keys(path):
    text = "---\ntype: >\n  Long\n  Type\ntitle: \"Quoted: title\"\ndescription: >-\n  folded\n  over lines\n" \
           "tags: [one, 'two words', three]\nowner:\n  team: x\n? complex\n: 1\n---\nbody\n"
    at = bundle(path + "/b", {"c": text, "d": concept("D", "nothing")})
    hit = ask("folded lines", "--bundle", at)["hits"][0]
    equal((hit["concept_id"], hit["title"], hit["type"]), ("c", "Quoted: title", "Long Type"))
    equal(ask("two words", "--bundle", at)["hits"][0]["concept_id"], "c")
    equal([field["name"] for field in card(at)["fields"]], ["complex", "description", "owner", "tags", "title", "type"])


@case
def older_and_newer_concepts_are_read_alike(path):
    old = "---\ntype: Table\ntitle: Old\ntimestamp: 2025-01-01T00:00:00Z\n---\n\ntext\n\n# Citations\n\n- a book\n"
    new = concept("New", more="verified: { by: human:ann, at: 2026-01-01 }\n")
    machine = concept("Machine", more="verified:\n  - { by: process:nightly, at: 2026-01-01 }\n  - { by: bot/1, at: 2026-01-02 }\n")
    at = bundle(path + "/b", {"old": old, "new": new, "machine": machine})
    shown = card(at)
    equal(shown["trust"], {"human_reviewed": 1, "machine_confirmed": 1, "unverified": 1})
    equal(answer("fetch", "old", "--bundle", at)["text"], old)
    equal({hit["title"]: hit["trust"] for hit in ask("old new machine", "--bundle", at)["hits"]},
          {"Old": "unverified", "New": "human-reviewed", "Machine": "machine-confirmed"})


@case
def deprecated_and_stale_concepts_are_marked_and_not_left_out(path):
    at = bundle(path + "/b", {
        "dead": concept("Dead honey", more="status: deprecated\n"), "old": concept("Old honey", more="stale_after: 2001-02-03\n"),
        "fresh": concept("Fresh honey", more="stale_after: 2999-01-01T00:00:00Z\nstatus: stable\n")})
    found = {hit["concept_id"]: (hit["deprecated"], hit["stale"]) for hit in ask("honey", "--bundle", at)["hits"]}
    equal(found, {"dead": (True, False), "old": (False, True), "fresh": (False, False)})
    equal(card(at)["states"], {"draft": 0, "deprecated": 1, "stale": 1})


@case
def a_page_without_front_matter_does_not_conform_and_is_served(path):
    at = bundle(path + "/b", {"README": "# Read me\n\nabout honey\n", "typeless": "---\ntitle: x\n---\n", "fine": concept(),
                              "unclosed": "---\ntype: x\nhoney\n", "wrong": "---\ntype: [x\n---\nhoney\n"})
    shown = card(at)
    equal((shown["concepts"], shown["conformant"], shown["non_conformant"]), (5, 1, 4))
    equal([shown["findings"][name] for name in ("no_front_matter", "front_matter_malformed", "no_type")], [1, 2, 1])
    equal(answer("fetch", "README", "--bundle", at)["text"], "# Read me\n\nabout honey\n")
    equal(sorted(hit["concept_id"] for hit in ask("honey", "--bundle", at)["hits"]), ["README", "unclosed", "wrong"])


@case
def line_ends_of_another_system_are_read_and_given_back(path):
    text = "---\r\ntype: Metric\r\ntitle: Honey\r\ntags:\r\n- a\r\n---\r\n\r\nbody\r\n"
    at = bundle(path + "/b", {"c": text})
    equal(answer("fetch", "c", "--bundle", at)["text"], text)
    shown = card(at)
    equal((shown["conformant"], [kind["name"] for kind in shown["types"]]), (1, ["Metric"]))
    equal(ask("body", "--bundle", at)["hits"][0]["title"], "Honey")


@case
def the_index_says_which_version_and_title_the_bundle_has(path):
    at = bundle(path + "/b", {"c": concept()}, head="---\nokf_version: \"0.2\"\ntitle: All of it\n---\n\n")
    shown = card(at)
    equal((shown["okf_version"], shown["title"], shown["id"]), ("0.2", "All of it", "b"))
    equal(answer("list", "--bundle", at)["bundles"][0]["title"], "All of it")


@case
def a_folder_without_an_index_names_nothing_and_is_still_described(path):
    write(path + "/b/one.md", concept("One", "honey"))
    shown = card(path + "/b")
    equal((shown["has_index"], shown["concepts"], shown["named"]), (False, 1, 0))
    equal(refusal("fetch", "one", "--bundle", path + "/b"), "concept_unknown")
    equal(ask("honey", "--bundle", path + "/b")["hits"], [])


@case
def an_index_that_cannot_be_read_is_its_bundles_fault_alone(path):
    three(path + "/roots/good")
    os.makedirs(path + "/roots/bad")
    os.mkfifo(path + "/roots/bad/index.md")
    listed = answer("list", "--root", path + "/roots")
    equal([one["id"] for one in listed["bundles"]], ["good"])
    equal(listed["faults"], [{"bundle_id": "bad", "code": "bundle_unreadable"}])
    equal(refusal("card", "bad", "--root", path + "/roots"), "bundle_unreadable")
    equal(len(ask("honey", "--root", path + "/roots")["hits"]), 2)


@case
def a_card_twice_is_the_same_and_changes_nothing_even_where_nothing_may_be_written(path):
    at = shutil.copytree(REAL + "/stackoverflow", path + "/b")

    def state():
        found = {}
        for base, _, names in os.walk(at):
            for name in names:
                whole = os.path.join(base, name)
                with open(whole, "rb") as stream:
                    found[whole] = (hashlib.sha256(stream.read()).digest(), os.stat(whole).st_mtime_ns)
        return found

    for base, folders, names in os.walk(at, topdown=False):
        for name in names:
            os.chmod(os.path.join(base, name), 0o444)
        os.chmod(base, 0o555)
        del folders
    before = state()
    equal(admitctl("card", "--bundle", at), admitctl("card", "--bundle", at))
    for words in (("list",), ("ask", "votes"), ("fetch", "tables/votes")):
        equal(admitctl(*words, "--bundle", at)[0], 0)
    equal(state(), before)
    for base, _, _ in os.walk(at):
        os.chmod(base, 0o755)


@case
def names_of_any_bytes_are_shown_escaped_and_read_back(path):
    at = bundle(path + "/b", {"plain": concept()}, ["plain.md", "sp%20ace.md", "esc%1b.md", "bad%ff.md"])
    for name in (b"sp ace", b"esc\x1b", b"bad\xff"):
        with open(os.path.join(at.encode(), name + b".md"), "wb") as stream:
            stream.write(concept("Odd honey").encode())
    code, out = admitctl("ask", "odd", "--bundle", at)
    check(code == 0 and b"\x1b" not in out, "a raw escape")
    shown = sorted(hit["concept_id"] for hit in json.loads(out)["hits"])
    equal(shown, ["bad\\xff", "esc\\x1b", "sp ace"])
    for name in shown:
        equal(answer("fetch", name, "--bundle", at)["concept_id"], name)


# ---- bounds and figures

@case
def two_hundred_questions_of_random_bytes_change_nothing(path):
    chance = random.Random(5)
    at = three(path + "/b")
    before = card(at)
    for _ in range(200):
        question = bytes(chance.choice(b"\"'*():^-+{}\xff\xc3\xa9 aANDORNEAR.\\%\n\t") if chance.random() < 0.7
                         else chance.randrange(1, 256) for _ in range(chance.randrange(1, 60)))
        code, out = admitctl("ask", "--bundle", at, b"--", question)
        check(code in (0, 1), "exit %d for %r" % (code, question))
        check(path.encode() not in out, "a path for %r" % question)
        found = json.loads(out)
        check("hits" in found if code == 0 else found["code"] == "argument_invalid", found)
    equal(card(at), before)


@case
def a_question_has_bounds(path):
    at = three(path + "/b")
    equal(refusal("ask", "", "--bundle", at), "argument_invalid")
    equal(refusal("ask", "x" * 4097, "--bundle", at), "argument_invalid")
    equal(ask("honey " * 682, "--bundle", at)["hits"][0]["concept_id"], "one")
    equal(ask("?!", "--bundle", at)["hits"], [])
    equal(len(ask("honey", "--limit", "1", "--bundle", at)["hits"]), 1)


@case
def hostile_front_matter_is_bounded(path):
    bomb = "a: &a [x, x]\n" + "".join("%s: &%s [*%s, *%s, *%s]\n" % (one, one, two, two, two)
                                       for one, two in zip("bcdefghijklmnop", "abcdefghijklmno"))
    texts = {
        "bomb": "---\ntype: T\n" + bomb + "title: *p\n---\nhoney\n",
        "deep": "---\ntype: T\nx: " + "[" * 30000 + "]" * 30000 + "\n---\nhoney\n",
        "wide": "---\ntype: T\n" + "".join("k%d: v\n" % number for number in range(5000)) + "---\nhoney\n",
        "scalar": "---\ntype: T\ntitle: " + "x" * 60000 + "\n---\nhoney\n",
        "block": "---\ntype: T\ntitle: " + "x" * 200000 + "\n---\nhoney\n",
        "keys": "---\n? {a: {b: [c]}}\n: x\n? " + "y" * 2000 + "\n: z\ntype: T\n---\nhoney\n",
        "recursive": "---\ntype: T\nx: &x [*x]\n---\nhoney\n"}
    at = bundle(path + "/b", texts)
    begin = time.monotonic()
    shown = card(at)
    found = ask("honey", "--limit", "50", "--bundle", at)["hits"]
    check(time.monotonic() - begin < 60, "hostile front matter takes its time")
    equal(sorted(hit["concept_id"] for hit in found), sorted(texts))
    equal({hit["concept_id"] for hit in found if "type" not in hit}, {"deep", "block"})
    equal(shown["findings"]["front_matter_malformed"], 2)
    check(max(len(hit["title"]) for hit in found) <= 4096 and max(len(hit["excerpt"]) for hit in found) <= 700, "long texts")


@case
def five_thousand_concepts_are_counted_asked_and_fetched(path):
    at = large(path + "/b", 5677, 557)
    begin = time.monotonic()
    shown = card(at)
    took = time.monotonic() - begin
    equal((shown["concepts"], shown["non_conformant"], shown["findings"]["no_front_matter"]), (5677, 557, 557))
    equal((shown["fault_count"], shown["bounds"]), (0, []))
    begin = time.monotonic()
    found = ask("w5676", "--bundle", at)
    asked = time.monotonic() - begin
    equal((found["hits"][0]["concept_id"], found["searched"]), ("f36/c05676", 5677))
    diagnostic("card of %d bytes: %.2f s; ask: %.2f s" % (shown["bytes"], took, asked))
    check(took < 30, "the card took %.1f s" % took)
    equal(answer("fetch", "f36/c05676", "--bundle", at)["concept_id"], "f36/c05676")


if __name__ == "__main__":
    run()
