#!/usr/bin/env python3
"""Inventory and search from outside: the cases K33 to K45 of chapter 5, and faults of containment that were reported in public (group C),
whose trees are made by the scripts in cases/. The command line and the MCP tools answer the same bytes. Speaks TAP."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
from tap import TESTS, check, equal, run, test  # noqa: E402

ADMITCTL = os.environ.get("ADMITCTL", "admitctl")
CANARY = b"CANARY"
LONG = 60  # seconds: far more than a call may take on any machine, since one that waits for a FIFO waits for ever


def admitctl(*words, cwd=None):
    """Exit code, standard output, standard error, all bytes."""
    done = subprocess.run([os.fsencode(ADMITCTL), *[os.fsencode(word) for word in words]], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=LONG, check=False, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


def inventory(root, *words):
    """The answer, and its targets by path."""
    code, out, err = admitctl("inventory", "--json", "--root", root, *words)
    equal((code, err), (0, b""), out[:200])
    answer = json.loads(out)
    return answer, {target["path"]: target for target in answer["targets"]}


def search(root, *words):
    code, out, err = admitctl("search", "--json", "--root", root, *words)
    equal((code, err), (0, b""), out[:200])
    return json.loads(out)


def hits(root, *words):
    return [match["file"] for match in search(root, *words)["matches"]]


def never_quoted(root, *targets):
    """Nothing that is asked of these targets, in any way, gives a byte of what lies outside."""
    for words in (("inventory", "--contents", *targets), ("search", "CANARY", *targets), ("search", "A", *targets)):
        for how in ((), ("--json",)):
            _, out, err = admitctl(words[0], *how, "--root", root, *words[1:])
            check(CANARY not in out.replace(b"pattern", b"") and CANARY not in err, "%r quoted: %r" % (words, out))


class Folder:
    """Files of a test, removed at its end."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="admitd-reading.")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path)

    def __call__(self, name):
        return os.path.join(self.path, name)

    def write(self, name, text="x\n"):
        path = os.fsencode(self.path) + b"/" + os.fsencode(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())

    def made_by(self, case, where=""):
        """What a public case's script makes; the folder's path."""
        script = os.path.join(HERE, "cases", case, "make.sh")
        runner = "sh"
        if not os.path.exists(script):
            script, runner = script[:-2] + "py", sys.executable
        subprocess.run([runner, script, self(where) if where else self.path], check=True, stdout=subprocess.DEVNULL)
        return self(where) if where else self.path


def reads(function):
    """A test with a folder of its own."""
    def wrapped():
        with Folder() as folder:
            function(folder)
    wrapped.__name__ = function.__name__
    TESTS.append(wrapped)
    return function


# ---- inventory

@reads
def k33_what_is_below_a_file_or_named_with_a_slash_is_absent(folder):
    folder.write("f")
    folder.write("sub/a")
    answer, by_path = inventory(folder.path, "missing", "f/child", "f/", "sub/")
    equal([target["type"] for target in answer["targets"]], ["absent", "absent", "absent", "directory"])
    equal(by_path["sub/"]["entries"], [{"name": "a", "type": "file"}])


@reads
def k34_a_link_to_the_outside_is_told_and_what_is_behind_it_is_unreadable(folder):
    folder.write("out/loot")
    folder.write("root/a")
    os.symlink("../out", folder("root/link"))
    os.symlink("../out/loot", folder("root/leaf"))
    _, by_path = inventory(folder("root"), "link/none", "link/loot", "leaf")
    for path in ("link/none", "link/loot"):
        equal((by_path[path]["type"], by_path[path]["reason"]), ("unreadable", "outside"))
    equal((by_path["leaf"]["type"], by_path["leaf"]["resolves"], by_path["leaf"]["leavesRoot"]), ("symlink", True, True))


@reads
def k35_a_loop_of_links_is_unreadable_and_not_dangling(folder):
    os.symlink("b", folder("a"))
    os.symlink("a", folder("b"))
    os.symlink("nowhere", folder("dangling"))
    _, by_path = inventory(folder.path, "a", "a/x", "dangling")
    equal((by_path["a"]["type"], by_path["a"]["reason"]), ("unreadable", "link_loop"))
    equal((by_path["a/x"]["type"], by_path["a/x"]["reason"]), ("unreadable", "link_loop"))
    equal((by_path["dangling"]["type"], by_path["dangling"]["resolves"]), ("symlink", False))


@reads
def k36_a_nul_far_into_a_file_makes_it_binary(folder):
    folder.write("f", b"x" * 20000 + b"\0" + b"y\n" * 10)
    _, by_path = inventory(folder.path, "--contents", "f")
    equal((by_path["f"]["binary"], by_path["f"]["contents"], by_path["f"]["bytes"]), (True, None, 20021))


@reads
def k37_what_the_total_bound_withholds_is_null_with_its_name(folder):
    for name in "abc":
        folder.write(name, "x" * 63 + "\n")
    answer, by_path = inventory(folder.path, "--contents", "--max-total-bytes", "80", "a", "b", "c")
    equal(by_path["a"]["contents"], "x" * 63 + "\n")
    for name in "bc":
        equal((by_path[name]["contents"], by_path[name]["lines"], by_path[name]["bound"]), (None, None, "max-total-bytes"))
    equal(answer["bounds"], ["max-total-bytes"])


@reads
def k38_no_control_byte_of_a_name_gets_out(folder):
    folder.write("esc\x1b[31mred")
    for words in (("inventory", ".", "esc\x1b[31mred", "../\x1b[0m"), ("search", "x", "."), ("search", "x", "../\x1b[0m")):
        for how in ((), ("--json",)):
            _, out, err = admitctl(words[0], *how, "--root", folder.path, *words[1:])
            check(b"\x1b" not in out + err, "%r: %r" % (words, out + err))
    _, out, _ = admitctl("search", "--json", "--root", folder.path, "x", "../\x1b[0m")
    check(b"../\\\\x1b[0m" in out, "the refusal doesn't name the target: %r" % out)


@reads
def a_directory_beyond_its_bound_is_counted_and_not_listed(folder):
    for index in range(3):
        folder.write("d/%d" % index)
    folder.write("e/0")
    answer, by_path = inventory(folder.path, "--max-entries", "2", "d", "e")
    equal((by_path["d"]["count"], by_path["d"]["entries"], by_path["d"]["bound"]), (3, None, "max-entries"))
    equal((by_path["e"]["count"], by_path["e"]["entries"]), (1, [{"name": "0", "type": "file"}]))
    answer, by_path = inventory(folder.path, "--max-total-entries", "3", "d", "e")
    equal((len(by_path["d"]["entries"]), by_path["e"]["entries"], by_path["e"]["bound"]), (3, None, "max-total-entries"))
    equal((answer["bounds"], answer["entriesListed"]), (["max-total-entries"], 3))


@reads
def a_file_beyond_its_bound_is_sized_and_not_read(folder):
    folder.write("f", "x" * 100)
    answer, by_path = inventory(folder.path, "--contents", "--max-content-bytes", "99", "f")
    equal((by_path["f"]["bytes"], by_path["f"]["contents"], by_path["f"]["bound"]), (100, None, "max-content-bytes"))
    equal((answer["bounds"], answer["bytesRead"]), (["max-content-bytes"], 0))
    answer, by_path = inventory(folder.path, "--contents", "--max-content-bytes", "100", "f")
    equal((by_path["f"]["contents"], answer["bounds"], answer["bytesRead"]), ("x" * 100, [], 100))


@reads
def targets_stand_in_their_order_and_each_once(folder):
    folder.write("b")
    folder.write("a")
    answer, _ = inventory(folder.path, "b", "a", "b", "missing", "a")
    equal([target["path"] for target in answer["targets"]], ["b", "a", "missing"])
    equal(answer["counts"], {"absent": 1, "symlink": 0, "directory": 0, "file": 2, "special": 0, "unreadable": 0})


@reads
def one_bad_target_is_one_bad_entry(folder):
    folder.write("a")
    _, by_path = inventory(folder.path, "", "..", "a/../a", "/etc/passwd", "a")
    equal({path: target.get("reason") for path, target in by_path.items()},
          {"": "target_empty", "..": "target_has_parent", "a/../a": "target_has_parent", "/etc/passwd": "target_outside", "a": None})


@reads
def lines_are_line_feeds_and_contents_are_exact(folder):
    folder.write("none", "")
    folder.write("open", "a\nb")
    folder.write("crlf", "a\r\n\tb\r\n")
    folder.write("utf8", "gr\u00fc\u00df\n")
    folder.write("latin", b"caf\xe9\n\\x41 \\xe9\n")
    _, by_path = inventory(folder.path, "--contents", "none", "open", "crlf", "utf8", "latin")
    equal([by_path[name]["lines"] for name in ("none", "open", "crlf", "utf8", "latin")], [0, 1, 2, 1, 2])
    equal([by_path[name]["contents"] for name in ("none", "open", "crlf", "utf8")], ["", "a\nb", "a\r\n\tb\r\n", "gr\u00fc\u00df\n"])
    equal((by_path["latin"]["contents"], by_path["latin"]["encoding"]), ("caf\\xe9\n\\x41 \\x5cxe9\n", "escaped"))


# ---- search

@reads
def k39_the_pattern_is_literal(folder):
    folder.write("a dir/f", "run 2>/dev/null\n$(x)\na `tick`\nabc\na|b \"q\" 'r'\n")
    for pattern in ("2>/dev/null", "$(x)", "`", "a|b", "\"q\"", "'r'", "c\na|"):
        equal(len(search(folder.path, "--", pattern, "a dir")["matches"]), 2 if pattern == "`" else 1, pattern)
    equal(search(folder.path, "a.c")["matches"], [])


@reads
def k40_node_modules_and_git_are_searched_only_by_name(folder):
    folder.write("node_modules/p/a", "needle\n")
    folder.write("deep/node_modules/a", "needle\n")
    folder.write(".git/HEAD", "needle\n")
    equal(hits(folder.path, "needle", "."), [])
    equal(hits(folder.path, "needle"), [])
    equal(hits(folder.path, "needle", "node_modules"), ["node_modules/p/a"])
    equal(hits(folder.path, "needle", ".git"), [".git/HEAD"])
    equal(hits(folder.path, "needle", "node_modules/p/a"), ["node_modules/p/a"])


@reads
def k41_the_bound_of_results_is_named(folder):
    folder.write("a", "needle needle\n")
    folder.write("b", "needle\nneedle\n")
    answer = search(folder.path, "needle", "--max-results", "2")
    equal((len(answer["matches"]), answer["bounds"], answer["complete"]), (2, ["max-results"], False))
    answer = search(folder.path, "needle", "--max-results", "0")
    equal((answer["matches"], answer["bounds"], answer["complete"]), ([], ["max-results"], False))
    answer = search(folder.path, "needle", "--max-results", "4")
    equal((len(answer["matches"]), answer["bounds"], answer["complete"]), (4, [], True))


@reads
def k42_c56_fifos_and_sockets_are_counted_and_never_waited_for(folder):
    folder.made_by("C56")
    started = time.monotonic()
    answer = search(folder.path, "needle")
    _, by_path = inventory(folder.path, "--contents", "pipe.txt", "sock.txt", ".mcp.json", "dir.md", "zero.bin", "ok.txt")
    check(time.monotonic() - started < LONG / 6, "it took %.1f s" % (time.monotonic() - started))
    equal((answer["skipped"]["special"], answer["skipped"]["symlink"]), (3, 1))
    equal([match["file"] for match in answer["matches"]], ["ok.txt"])
    equal({path: (target["type"], target.get("kind")) for path, target in by_path.items()},
          {"pipe.txt": ("special", "fifo"), "sock.txt": ("special", "socket"), ".mcp.json": ("special", "fifo"),
           "dir.md": ("directory", None), "zero.bin": ("symlink", None), "ok.txt": ("file", None)})
    equal(search(folder.path, "needle", "pipe.txt")["skipped"]["special"], 1)


@reads
def k45_a_snippet_of_a_long_line_is_short_and_holds_the_match(folder):
    line = "".join("<%d>" % number for number in range(20000))
    folder.write("f", line[:50000] + "needle" + line[50000:] + "needle")
    folder.write("odd", b"\x01" * 1000 + b"needle" + b"\xff" * 1000)
    folder.write("wide", "\u00fc" * 1000 + "needle" + "\u20ac" * 1000)
    answer = search(folder.path, "needle")
    equal(len(answer["matches"]), 4)
    for match in answer["matches"]:
        check(len(match["snippet"].encode()) <= 512, "%d bytes" % len(match["snippet"].encode()))
        check("needle" in match["snippet"], match["snippet"])
    snippet = answer["matches"][0]["snippet"]
    equal((snippet.index("needle"), len(snippet)), (200, 406))
    long_pattern = line[:2000]
    answer = search(folder.path, long_pattern)
    check(len(answer["matches"][0]["snippet"]) == 512 and long_pattern.startswith(answer["matches"][0]["snippet"]), "a long pattern")


@reads
def a_match_has_its_line_its_offset_and_its_line_only(folder):
    folder.write("f", "one\n\ttwo needle needle\nthree needle")
    answer = search(folder.path, "needle")
    equal([(match["line"], match["offset"], match["snippet"]) for match in answer["matches"]],
          [(2, 9, "\ttwo needle needle"), (2, 16, "\ttwo needle needle"), (3, 29, "three needle")])
    folder.write("g", "aaaaa")
    equal([match["offset"] for match in search(folder.path, "aa", "g")["matches"]], [0, 2])


@reads
def the_digest_is_the_beginning_of_the_patterns_sha256(folder):
    import hashlib
    equal(search(folder.path, "needle")["pattern"], {"digest": hashlib.sha256(b"needle").hexdigest()[:16], "bytes": 6})


@reads
def what_is_skipped_is_counted_by_kind(folder):
    folder.write("plain", "needle\n")
    folder.write("binary", b"needle\0")
    folder.write("late", b"needle" + b"x" * 8192 + b"\0")
    folder.write("large", b"needle" * 100)
    os.symlink("plain", folder("link"))
    answer = search(folder.path, "needle", "--max-bytes", "599", "--max-total-bytes", "100000")
    equal(answer["skipped"], {"symlink": 1, "binary": 1, "special": 0, "unreadable": 0, "large": 2, "credentialFile": 0})
    equal((answer["bounds"], answer["complete"]), (["max-bytes"], False))
    equal([match["file"] for match in answer["matches"]], ["plain"])
    equal(hits(folder.path, "needle", "late"), ["late"])


@reads
def every_bound_of_a_search_is_named(folder):
    for index in range(5):
        folder.write("f%d" % index, "needle\n")
    answer = search(folder.path, "needle", "--max-entries", "3")
    equal((len(answer["matches"]), answer["bounds"], answer["entriesWalked"]), (3, ["max-entries"], 3))
    answer = search(folder.path, "needle", "--max-total-bytes", "14")
    equal((len(answer["matches"]), answer["bounds"], answer["bytesRead"]), (2, ["max-total-bytes"], 14))
    folder.write("/".join("d" for _ in range(130)) + "/f", "needle\n")
    answer = search(folder.path, "needle")
    equal((len(answer["matches"]), answer["bounds"]), (5, ["max-depth"]))


@reads
def matches_stand_in_the_order_of_paths_however_targets_overlap(folder):
    for name in ("b", "a/x", "a.c", "a/node_modules/m", "z"):
        folder.write(name, "needle\n")
    equal(hits(folder.path, "needle"), ["a.c", "a/x", "b", "z"])
    equal(hits(folder.path, "needle", "z", "a", ".", "a/node_modules", "./a//x", "b"), ["a.c", "a/node_modules/m", "a/x", "b", "z"])


@reads
def a_target_that_is_not_there_is_told_and_the_others_are_searched(folder):
    folder.write("a", "needle\n")
    os.symlink("loop", folder("loop"))
    answer = search(folder.path, "needle", "missing", "a", "loop")
    equal([match["file"] for match in answer["matches"]], ["a"])
    equal([(target["path"], target["reason"]) for target in answer["notSearched"]], [("missing", "absent"), ("loop", "link_loop")])


@reads
def a_named_target_may_lie_behind_links_that_stay_inside(folder):
    folder.write("real/a", "needle\n")
    os.symlink("real", folder("link"))
    equal(hits(folder.path, "needle", "link"), ["link/a"])
    equal(hits(folder.path, "needle", "link/a"), ["link/a"])
    equal(hits(folder.path, "needle"), ["real/a"])


# ---- public cases

@reads
def c49_a_sibling_with_the_same_beginning_is_outside(folder):
    folder.made_by("C49")
    with open(os.path.join(HERE, "cases", "C49", "paths.txt"), encoding="utf-8") as file:
        targets = file.read().split()
    targets += [folder("share-secret/loot.txt"), folder("sharex/loot.txt"), folder("share/../share-secret/loot.txt")]
    never_quoted(folder("share"), *targets)
    _, by_path = inventory(folder("share"), *targets, folder("share"), folder("share/in.txt"), folder("share/"))
    equal({by_path[target]["type"] for target in targets if "secret" in target or "sharex" in target}, {"unreadable"})
    equal((by_path[folder("share/in.txt")]["type"], by_path[folder("share")]["type"]), ("file", "directory"))
    for target in targets:
        if "loot" in target:
            code, out, err = admitctl("search", "--root", folder("share"), "CANARY", target)
            equal((code, out), (1, b""))
            check(os.fsencode(target) in err, "the refusal doesn't name %s: %r" % (target, err))


@reads
def c50_links_to_the_outside_and_magic_links_are_never_followed(folder):
    folder.made_by("C50")
    root = folder("root")
    links = ["f-out", "d-out", "chain", "abs", "inside", "procroot", "env", "fd0"]
    never_quoted(root, *[link for link in links if link != "inside"])
    never_quoted(root, "d-out/loot.txt", "procroot/etc/passwd", "inside")
    _, by_path = inventory(root, "--contents", *links, "d-out/loot.txt", "procroot/etc/passwd")
    for link in links:
        equal((by_path[link]["type"], by_path[link]["leavesRoot"]), ("symlink", link != "inside"), link)
    for path in ("d-out/loot.txt", "procroot/etc/passwd"):
        equal(by_path[path]["type"], "unreadable")
    for link in links:
        code, out, _ = admitctl("search", "--json", "--root", root, "o", link)
        equal(code, 0 if link == "inside" else 1, link)
    equal(hits(root, "ok", "inside"), ["inside"])


@reads
def c51_a_root_that_is_a_link_serves_through_both_spellings(folder):
    folder.made_by("C51")
    for root in (folder("link"), folder("link/"), folder("real/."), folder("real")):
        _, by_path = inventory(root, "--contents", "a.txt", folder("real/a.txt"))
        equal({target["contents"] for target in by_path.values()}, {"ok\n"}, root)
    _, by_path = inventory(folder("link"), folder("link/a.txt"))
    equal(by_path[folder("link/a.txt")]["type"], "file")
    code, _, err = admitctl("inventory", "--root", folder("nowhere"), "a")
    equal(code, 2)
    check(b"No such file" in err, err)


@reads
def c53_what_is_checked_is_what_is_opened(folder):
    folder.made_by("C53")
    with open(os.path.join(HERE, "cases", "C53", "paths.txt"), encoding="utf-8") as file:
        targets = file.read().split()
    never_quoted(folder("root"), *targets)
    _, by_path = inventory(folder("root"), *targets, "x")
    equal({path: target["type"] for path, target in by_path.items()},
          {"l/../x": "unreadable", "x/": "absent", "//x": "unreadable", ".//a/..//x": "unreadable", "x": "file"})


@reads
def c58_a_hard_link_is_a_file_of_the_root_for_every_tool(folder):
    folder.made_by("C58")
    _, by_path = inventory(folder("root"), "hard", "a", "b")
    equal({target["type"] for target in by_path.values()}, {"file"})
    equal(hits(folder("root"), "CANARY-OUT"), ["hard"])
    equal(hits(folder("root"), "ok"), ["a", "b"])


@reads
def c59_c61_odd_names_are_whole_listings_and_read_back(folder):
    for case in ("C59", "C61"):
        where = folder.made_by(case, case)
        names = os.listdir(os.fsencode(where))
        _, by_path = inventory(where, ".")
        listed = [entry["name"] for entry in by_path["."]["entries"]]
        equal((len(listed), by_path["."]["count"]), (len(names), len(names)))
        equal(len(set(listed)), len(names), "names that look alike")
        _, again = inventory(where, "--", *listed)
        equal({target["type"] for target in again.values() if target["path"] != "dir\\x0aname"}, {"file"})
        equal(len(hits(where, "needle")), len(names))
        equal(sorted(hits(where, "needle", "--", *listed)), sorted(hits(where, "needle")))
        for words in (("search", "needle"), ("inventory", ".")):
            _, out, _ = admitctl(words[0], "--root", where, *words[1:])
            out.decode("utf-8")
            check(b"\x1b" not in out and b"\r" not in out and b"\n.env" not in out, out)


@reads
def c65_nothing_of_a_repositorys_configuration_is_run(folder):
    where = folder.made_by("C65", "repo")
    before = sorted((entry.name, entry.stat().st_mtime_ns) for entry in os.scandir(os.path.join(where, ".git")))
    equal(hits(where, "needle"), ["a.c"])
    inventory(where, "--contents", ".", ".git", ".git/config", "a.c")
    search(where, "fsmonitor", ".git")
    check(not os.path.exists(os.path.join(where, "MARKER")), "the marker appeared")
    equal(sorted((entry.name, entry.stat().st_mtime_ns) for entry in os.scandir(os.path.join(where, ".git"))), before)


@reads
def c66_a_gitdir_elsewhere_is_a_line_of_text(folder):
    folder.made_by("C66")
    root = folder("root")
    equal(hits(root, "needle"), ["wt/a.txt"])
    _, by_path = inventory(root, "--contents", "wt/.git", "wt/.git/HEAD")
    equal((by_path["wt/.git"]["type"], by_path["wt/.git"]["contents"]), ("file", "gitdir: ../../out/repo/.git\n"))
    equal(by_path["wt/.git/HEAD"]["type"], "absent")


@reads
def c69_files_with_credentials_are_named_and_never_quoted(folder):
    where = folder.made_by("C69", "repo")
    hidden = [".env", ".env.local", "keys/id_rsa", ".git/config"]
    answer, by_path = inventory(where, "--contents", ".", *hidden)
    for name in hidden:
        equal((by_path[name]["type"], by_path[name]["contents"], by_path[name]["withheld"]), ("file", None, "credential_file"), name)
    check({".env", ".env.local"} <= {entry["name"] for entry in by_path["."]["entries"]}, "they aren't listed")
    equal(hits(where, "CANARY-SECRET"), ["README.md", "build/out.txt"])
    equal(search(where, "CANARY-SECRET")["skipped"]["credentialFile"], 3)
    answer = search(where, "CANARY-SECRET", *hidden, ".git")
    equal(answer["matches"], [])
    os.symlink(".env", os.path.join(where, "notes.txt"))
    os.symlink(".git", os.path.join(where, "g"))
    equal(search(where, "CANARY-SECRET", "notes.txt", "g/config")["matches"], [])
    _, by_path = inventory(where, "--contents", "g/config", "notes.txt")
    equal((by_path["g/config"].get("withheld"), by_path["notes.txt"]["type"]), ("credential_file", "symlink"))


# ---- the command itself

@reads
def what_is_shown_to_people_says_the_same(folder):
    folder.write("sub/a", "one\ntwo needle\n")
    os.symlink("nowhere", folder("link"))
    code, out, _ = admitctl("inventory", "--root", folder.path, "sub", "sub/a", "link", "none", "../x")
    equal(code, 0)
    for words in (b"sub/a", b"directory", b"dangles", b"absent", b"unreadable"):
        check(words in out, "%r isn't in %r" % (words, out))
    code, out, _ = admitctl("search", "--root", folder.path, "needle")
    equal((code, out), (0, b"sub/a:2: two needle\n\n1 match, 1 file searched\nskipped 1 symlink\n"))
    code, out, _ = admitctl("inventory", "sub/a", cwd=folder.path)
    check(code == 0 and b"file" in out, out)


@reads
def a_wrong_command_line_is_usage(folder):
    for words in (("inventory",), ("search",), ("search", ""), ("inventory", "--root", "", "a"), ("search", "--max-results", "100001", "x"),
                  ("search", "--max-bytes", "-1", "x"), ("inventory", "--max-entries", "20001", "a"),
                  ("inventory", "--root", folder("none"), "a")):
        code, out, _ = admitctl(*words)
        equal((code, out), (2, b""), words)


if __name__ == "__main__":
    signal.alarm(600)
    run()
