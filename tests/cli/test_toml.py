#!/usr/bin/env python3
"""The reader of TOML against Python's: what one refuses the other does, and what both read is the same. Texts of ours, and thousands
made from them by cutting, joining and changing bytes."""
import datetime
import json
import math
import os
import random
import subprocess
import sys
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "lib"))
from tap import check, equal, run, test  # noqa: E402

READER = os.path.join(os.environ.get("BUILDDIR", os.path.join(ROOT, "build")), "toml_json")
COUNT = 40000 if os.environ.get("ADMITD_SLOW") else 6000

GOOD = [
    "", "\n", "# only a comment", "a = 1", "a=1\r\nb = 2\r\n", "  a  =  1  # x\n", 'a."b.c".d = true', "'a b' = false", '"" = 1',
    "a.b = 1\na.c = 2", "[a]\nb = 1\n[a.c]\nd = 1", "[a.b.c]\nx = 1\n[a]\ny = 2\n[a.b]\nz = 3", "[a.b.c]\n[a]\nb.d = 1",
    "[fruit]\napple.color = 1\napple.taste.sweet = true\n[fruit.apple.texture]\nsmooth = true",
    "[[p]]\nn = 1\n[[p]]\n[p.q]\nr = 2\n[[p]]\nn = 3\n[[p.s]]\nt = 1\n[[p.s]]\nt = 2", "[ a . b ]\nc = 1", "[ 'x' . \"y\" ]",
    "a = [1, 2,\n # x\n 3, # y\n]\n", "a = []", "a = [[1], ['x', \"y\"], [{}]]", "a = { b = 1, c = { d = [1] }, e.f = 2 }", "a = {}",
    "a = {b.c = 1, b.d = 2}", r'a = "\b\t\n\f\r\"\\\u00e9\U0001F600\u0000"', "a = 'C:\\x'", 'a = """\nx\ny"""', 'a = """a\\\n  \n  b"""',
    'a = """""x"""""', "a = '''''x'''''", 'a = """x\r\ny"""', "a = '''\n\\'x'\n'''", 'a = ""', "a = ''''''", 'a = "\x09é😀"',
    "a = +0\nb = -17\nc = 1_000\nd = 0xDEAD_beef\ne = 0o755\nf = 0b1010\ng = 9223372036854775807\nh = -9223372036854775808",
    "a = 1.5\nb = -0.0\nc = 1e3\nd = 1_0.2_5e-1_0\ne = 6.02E+23\nf = inf\ng = -nan\nh = +inf\ni = 0e0\nj = 1e999",
    "a = 1979-05-27T07:32:00Z\nb = 1979-05-27 07:32:00.999999-07:00\nc = 1979-05-27T00:32:00\nd = 1979-05-27\ne = 07:32:00.5",
    "a = 2000-02-29\nb = 1996-02-29", "a = 1979-05-27 # x", "true = 1\n1 = 2\n3.2 = 3\n-_ = 4", "[a]\n[b]\n[a.c]", "a = [1979-05-27 07:32:00]",
]
BAD = [
    "a", "a =", "a = \n", "= 1", "a = 1 b = 2", "a b = 1", "a = 1\na = 2", 'a = 1\n"a" = 2', "a.b = 1\na = 2", "a = 1\na.b = 2",
    "[a]\n[a]", "a = 1\n[a]", "[a]\nb = 1\n[a.b]", "[a.b]\n[a]\nb.c = 1", "[fruit]\napple.color = 1\n[fruit.apple]",
    "[fruit]\napple.taste.sweet = 1\n[fruit.apple.taste]", "a = {b = 1}\n[a.c]", "a = {b = 1}\na.c = 2", "a = {b = {c = 1}, b.d = 2}",
    "a = {b = 1,}", "a = {b = 1, b = 2}", "a = {\nb = 1}", "a = {b = 1", "a = [1", "a = [1 2]", "a = [,]", "a = []\n[[a]]", "[[a]]\n[a]",
    "[a]\n[[a]]", "[a.b]\n[[a]]", "[[a.b]]\n[a]\nb.c = 1", "[]", "[a", "[a]]", "[[a]", "[[a] ]", "[a]x", "[a] b = 1", "[a.]", "[.a]", "a. = 1", "a..b = 1",
    'a = "x', "a = 'x", 'a = """x', 'a = "\n"', 'a = "\\x"', 'a = "\\u12"', 'a = "\\ud800"', 'a = "\\U00110000"', 'a = "\x01"', "a = '\x7f'", "# \x00",
    "a = 01", "a = +01", "a = 1__0", "a = _1", "a = 1_", "a = 0x", "a = +0x1", "a = 0xg", "a = 1.", "a = .5", "a = 1.e3", "a = 1e", "a = 1e_1", "a = 1._5",
    "a = 0X1", "a = True", "a = truex", "a = INF", "a = null", "a = 2001-02-29", "a = 1979-13-01", "a = 1979-00-01", "a = 1979-05-27T24:00:00",
    "a = 1979-05-27T07:32", "a = 07:60:00", "a = 1979-05-27T07:32:00+25:00", "a = 1979-5-27", "a = 1979-05-27T", "a = 07:32:00Z", "a = 07:32:00.",
    "a = 0000-01-01", '"""a""" = 1', "'''a''' = 1", "a = 1\rb = 2", "\ra = 1", "é = 1", "a = '''x''''''", 'a = "a\\\n b"', "a = 1 # \x07", "[a]#\x0b",
]


def stored(value):
    """As the reader keeps it."""
    if isinstance(value, dict):
        return {key: stored(item) for key, item in value.items()}
    if isinstance(value, list):
        return [stored(item) for item in value]
    if isinstance(value, (datetime.date, datetime.time)) or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value


def theirs(text):
    """What Python reads, or None."""
    try:
        return stored(tomllib.loads(text.decode("utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        return None


def ours(texts):
    given = b"".join(b"%d\n%s" % (len(text), text) for text in texts)
    done = subprocess.run([READER], input=given, stdout=subprocess.PIPE, timeout=300, check=True)
    lines = done.stdout.decode().split("\n")[:-1]
    equal(len(lines), len(texts), "answers")
    return lines


def has_large(value):
    """An integer that 64 bits don't hold, which is refused here."""
    if isinstance(value, dict):
        return any(has_large(item) for item in value.values())
    if isinstance(value, list):
        return any(has_large(item) for item in value)
    return isinstance(value, int) and not -2 ** 63 <= value < 2 ** 63


def compare(texts):
    """How many of them both read."""
    read = 0
    for text, line in zip(texts, ours(texts)):
        wanted = theirs(text)
        if wanted is None or has_large(wanted):
            check(line.startswith("!"), "accepted: %r" % text)
            continue
        check(not line.startswith("!"), "refused: %r, %s" % (text, line))
        found = json.loads(line)
        check(found == wanted and repr(found) == repr(wanted), "%r: %r, wanted %r" % (text, found, wanted))
        read += 1
    return read


@test
def what_is_toml_is_read_as_python_reads_it():
    equal(compare([text.encode() for text in GOOD]), len(GOOD))


@test
def what_is_not_is_refused():
    equal(compare([text.encode("utf-8", "surrogatepass") for text in BAD]), 0)
    equal(compare([b'a = "\xff"', b"# \xc0\xaf", b"\xef\xbb\xbf\xff", b"a = '\xed\xa0\x80'"]), 0)


@test
def a_fault_has_a_place_and_none_of_the_text():
    for text, wanted in (('[a]\nk = "CANARY-6\n', "!2:14:"), ("a = 1\nCANARY CANARY", "!2:8:"), ("x = CANARY", "!1:5:"), ("a = 1\n\na = 2", "!3:3:")):
        line = ours([text.encode()])[0]
        check(line.startswith(wanted) and "CANARY" not in line, line)
    check(ours([b"a = 9223372036854775808"])[0].startswith("!"), "a large integer was accepted")
    check(ours([b"a = " + b"[" * 65 + b"]" * 65])[0].startswith("!"), "65 deep was accepted")
    check(ours([b"\n".join(b"[a%d]" % i for i in range(5000))])[0].startswith("!"), "5000 tables were accepted")
    check(ours([b"#" * (1 << 20)])[0] == "{}" and ours([b"#" * ((1 << 20) + 1)])[0].startswith("!"), "the limit of bytes")
    check(ours([b"\xef\xbb\xbfa = 1"])[0].startswith("!1:1:a byte-order mark"), "a mark")


def changed(chance, text):
    """The text with something done to it that people and programs do."""
    pieces = [b'"', b"'", b'"""', b"'''", b"[", b"]", b"[[", b"]]", b"{", b"}", b".", b",", b"=", b"#", b"\n", b"\r\n", b"\\", b" ", b"_", b"0", b"1", b"-",
              b"+", b"e", b"a", b"b", b"T", b":", b"\\u00e9", "é".encode(), b"\xff", b"\x00", b"\t", b"inf", b"true", b"a = 1\n", b"[a]\n", b"a.b = 1\n"]
    for _ in range(chance.randint(1, 2)):
        at = chance.randint(0, len(text))
        kind = chance.randint(0, 3)
        if kind == 0:
            text = text[:at] + chance.choice(pieces) + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + chance.randint(1, 3):]
        elif kind == 2:
            text = text[:at] + chance.choice(pieces) + text[at + 1:]
        else:
            text = text + b"\n" + chance.choice(GOOD).encode()
    return text


@test
def thousands_of_texts_made_from_these_are_judged_alike():
    chance = random.Random(12)
    seeds = [text.encode() for text in GOOD] * 4 + [text.encode("utf-8", "surrogatepass") for text in BAD]
    texts = [changed(chance, chance.choice(seeds)) for _ in range(COUNT)]
    read = compare(texts)
    check(COUNT // 8 < read < COUNT * 7 // 8, "%d of %d were read" % (read, COUNT))


if __name__ == "__main__":
    run()
