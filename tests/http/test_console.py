#!/usr/bin/env python3
"""The console's files as the daemon serves them: its policy, its tags, what a browser downloads in all."""
import gzip
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from daemon import HERE, check, diagnostic, equal, is_problem, run_scenes, scene  # noqa: E402

WEB = os.path.join(HERE, "..", "..", "web")
KIB = 1024
WEIGHT_MAX = 60 * KIB
CSS_MAX = 7 * KIB
OURS_MAX = 42 * KIB
TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".html": "text/html; charset=utf-8"}


def made():
    """{address: bytes} of all that is served, as scripts/embed-web makes it of web/."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-B", os.path.join(WEB, "..", "scripts", "embed-web"), WEB, folder], check=True)
        found = {}
        for place, _, names in os.walk(folder):
            for name in names:
                with open(os.path.join(place, name), "rb") as file:
                    found["/web/" + os.path.relpath(os.path.join(place, name), folder)] = file.read()
    found["/"] = found.pop("/web/index.html")
    return found


@scene
def every_file_is_served_as_it_was_made(daemon):
    files = made()
    for path, wanted in files.items():
        answer = daemon.nobody.get(path).must(200)
        equal(answer.raw, wanted, path)
        equal(answer.headers["content-type"], TYPES[os.path.splitext(path)[1] or ".html"], path)
    named = set(re.findall(r'"(/web/[^"]+)"', files["/"].decode()))
    equal(named, set(files) - {"/"}, "what the page names")


@scene
def the_joined_modules_keep_every_line_that_says_something(daemon):
    """Each line of a module is there as it stands, but for what it begins with: what is debugged is what stands in the tree."""
    lines = set(daemon.nobody.get("/web/console.js").must(200).raw.decode().splitlines())
    for place, _, names in os.walk(WEB):
        for name in names if "vendor" not in place else ():
            if not name.endswith(".js"):
                continue
            with open(os.path.join(place, name), encoding="utf-8") as file:
                for line in re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S).splitlines():
                    line = re.sub(r"^(export )", "", line.strip())
                    check(not line or line.startswith(("//", "import ")) or line in lines, "%s: %s" % (name, line))


@scene
def the_policy_lets_in_nothing_inline_and_nobody_else(daemon):
    policy = daemon.nobody.get("/").must(200).headers["content-security-policy"]
    for word in ("default-src 'none'", "script-src 'self' 'sha256-", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'",
                 "require-trusted-types-for 'script'", "trusted-types 'none'", "base-uri 'none'", "form-action 'none'"):
        check(word in policy, "%s isn't in %s" % (word, policy))
    for word in ("unsafe", "http:", "https:", "data:", "*"):
        check(word not in policy, "%s is in %s" % (word, policy))


@scene
def a_known_tag_is_not_sent_again(daemon):
    for path in ("/", "/web/console.css", "/web/vendor/preact.js"):
        plain = daemon.nobody.get(path).must(200)
        packed = daemon.nobody.get(path, **{"Accept-Encoding": "gzip"}).must(200)
        check(plain.headers["etag"] != packed.headers["etag"], "one tag for two representations")
        equal(daemon.nobody.get(path, **{"If-None-Match": plain.headers["etag"]}).must(304).raw, b"")
        equal(daemon.nobody.get(path, **{"If-None-Match": packed.headers["etag"], "Accept-Encoding": "br, gzip;q=0.5"}).must(304).raw, b"")
        daemon.nobody.get(path, **{"If-None-Match": packed.headers["etag"]}).must(200)
        equal(plain.headers["cache-control"], "no-cache")
        equal(plain.headers["vary"], "Accept-Encoding")


@scene
def a_client_that_refuses_gzip_gets_none(daemon):
    for field in ("identity", "gzip;q=0", "gzip; q=0.000", "br", "x-gzip-like"):
        check("content-encoding" not in daemon.nobody.get("/", **{"Accept-Encoding": field}).must(200).headers, field)
    for field in ("gzip", "GZIP", "br, gzip", "gzip;q=0.1", "deflate , gzip ; q=1"):
        equal(daemon.nobody.get("/", **{"Accept-Encoding": field}).must(200).headers.get("content-encoding"), "gzip", field)


def weigh(daemon):
    """Bytes over the wire, gzipped, by kind: everything that is served, for all screens."""
    sizes = {}
    for path, plain in made().items():
        answer = daemon.nobody.get(path, **{"Accept-Encoding": "gzip"}).must(200)
        equal(gzip.decompress(answer.raw), plain, path)
        kind = "vendored" if "/vendor/" in path else os.path.splitext(path)[1] or ".html"
        sizes[kind] = sizes.get(kind, 0) + len(answer.raw)
    return sizes


@scene
def all_screens_together_are_lighter_than_they_may_be(daemon):
    sizes = weigh(daemon)
    diagnostic("gzipped, every screen: %.1f KiB (%s)" % (
        sum(sizes.values()) / KIB, ", ".join("%s %.1f" % (kind, size / KIB) for kind, size in sorted(sizes.items()))))
    check(sum(sizes.values()) < WEIGHT_MAX, "%d bytes" % sum(sizes.values()))
    check(sizes[".css"] <= CSS_MAX, "style sheets: %d bytes" % sizes[".css"])
    ours = sum(size for kind, size in sizes.items() if kind not in (".css", "vendored"))
    check(ours <= OURS_MAX, "ours: %d bytes" % ours)


@scene
def every_sign_of_the_table_of_words_has_a_picture(daemon):
    signs = set()
    for name in ("words.c", "words_event.c", "words_queue.c", "trace_words.c"):
        with open(os.path.join(WEB, "..", "policy", name), encoding="utf-8") as file:
            text = file.read()
        signs |= set(re.findall(r'"([^"\n]+)",\s*"(?:neutral|amber|red|slate|green)"', text) if name != "words.c" else
                     re.findall(r'\[(?:ARM|OPERATOR)_\w+\] = \{"([^"]+)"', text))
    signs -= {"dot"}  # for what has none
    check(len(signs) >= 18, "signs: %r" % signs)
    marks = daemon.nobody.get("/web/console.js").must(200).raw.decode()
    pictures = dict(re.findall(r'"?(\w[\w ,?]*)"?: "(\w+)"', re.search(r"const SIGNS = (\{\"half disc.*?\});", marks, re.S).group(1)))
    page = daemon.nobody.get("/").must(200).raw.decode()
    for sign in signs:
        check(sign in pictures, "%s has no picture" % sign)
    for picture in pictures.values():
        check('id="i-%s"' % picture in page, "no symbol i-%s" % picture)


@scene
def an_unknown_file_is_a_problem_like_any_other(daemon):
    for path in ("/web/none.js", "/web/vendor/none.js", "/web/vendor/SHA256SUMS", "/web/screens/index.html", "/web/vendor%2ehtm.js", "/web/" + "a" * 300, "/web/a/" + "b" * 300):
        is_problem(daemon.nobody.get(path), 404, "not_found")


if __name__ == "__main__":
    run_scenes()
