#!/usr/bin/env python3
"""The console's files as the daemon serves them: its policy, its tags, what a browser downloads in all."""
import gzip
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from daemon import HERE, check, diagnostic, equal, is_problem, run_scenes, scene  # noqa: E402

WEB = os.path.join(HERE, "..", "..", "web")
KIB = 1024
WEIGHT_MAX = 60 * KIB
TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".html": "text/html; charset=utf-8"}


def paths():
    """What the page loads: itself, and each address it names."""
    with open(os.path.join(WEB, "index.html"), encoding="utf-8") as file:
        return ["/"] + sorted(set(re.findall(r'"(/web/[^"]+)"', file.read())))


def source(path):
    name = "index.html" if path == "/" else path[len("/web/"):]
    with open(os.path.join(WEB, name), "rb") as file:
        return file.read()


@scene
def every_file_is_served_as_it_stands_in_the_tree(daemon):
    for path in paths():
        answer = daemon.nobody.get(path).must(200)
        equal(answer.raw, source(path), path)
        equal(answer.headers["content-type"], TYPES[os.path.splitext(path)[1] or ".html"], path)


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
    for path in ("/", "/web/tokens.css", "/web/vendor/preact.js"):
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


def weigh(daemon, addresses):
    """Bytes over the wire, gzipped, by kind."""
    sizes = {}
    for path in addresses:
        answer = daemon.nobody.get(path, **{"Accept-Encoding": "gzip"}).must(200)
        equal(gzip.decompress(answer.raw), source(path), path)
        kind = "vendored" if "/vendor/" in path else os.path.splitext(path)[1] or ".html"
        sizes[kind] = sizes.get(kind, 0) + len(answer.raw)
    return sizes


def shown(sizes):
    return "%.1f KiB (%s)" % (sum(sizes.values()) / KIB, ", ".join("%s %.1f" % (kind, size / KIB) for kind, size in sorted(sizes.items())))


def everything():
    """The address of every file that is served."""
    found = ["/"]
    for folder, _, names in os.walk(WEB):
        found += ["/web/" + os.path.relpath(os.path.join(folder, name), WEB) for name in names if os.path.splitext(name)[1] in TYPES and name != "index.html"]
    return sorted(found)


@scene
def what_a_browser_needs_for_the_queue_is_lighter_than_it_may_be(daemon):
    first = weigh(daemon, paths())
    diagnostic("gzipped, for the queue: %s; with every other screen: %s" % (shown(first), shown(weigh(daemon, everything()))))
    check(sum(first.values()) < WEIGHT_MAX, "%d bytes" % sum(first.values()))


@scene
def an_unknown_file_is_a_problem_like_any_other(daemon):
    for path in ("/web/none.js", "/web/vendor/none.js", "/web/vendor/SHA256SUMS", "/web/screens/index.html", "/web/vendor%2ehtm.js", "/web/" + "a" * 300, "/web/a/" + "b" * 300):
        is_problem(daemon.nobody.get(path), 404, "not_found")


if __name__ == "__main__":
    run_scenes()
