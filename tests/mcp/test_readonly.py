#!/usr/bin/env python3
"""No tool of MCP approves, grants or changes anything: what their objects link, and what the table says of each. Speaks TAP.

The room mcp/ links neither lifecycle nor store. The daemon's table names GET routes alone. Preview is the one call of the lifecycle
that is made for a tool; what it records is that it was asked. Each look has a control: a file or text that must be found wrong.
"""
import glob
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from rpc import MODERN, Stdio, check, equal, message  # noqa: E402
from tap import run, test  # noqa: E402

BUILD = os.environ.get("BUILDDIR", ".")
SOURCE = os.environ.get("SRCDIR", ".")
DECIDING = re.compile(r"(lifecycle|store|admission|idempotency|webhooks|prober_client)_\w+")
TEXT_MAX = 2048


def objects(folder, name):
    found = [path for where in ("", ".libs") for path in glob.glob(os.path.join(BUILD, folder, where, "*la-%s.o" % name))]
    check(found, "no object of %s/%s" % (folder, name))
    return found


def needed(folder, name):
    """What an object links of the rooms that decide and keep."""
    symbols = set()
    for path in objects(folder, name):
        listed = subprocess.run(["nm", "-u", path], stdout=subprocess.PIPE, check=True, text=True).stdout
        symbols |= {line.split()[-1] for line in listed.splitlines() if line.strip()}
    return sorted(symbol for symbol in symbols if DECIDING.fullmatch(symbol))


def sources(folder):
    return sorted(os.path.basename(path)[:-2] for path in glob.glob(os.path.join(SOURCE, folder, "*.c")))


@test
def the_room_links_neither_lifecycle_nor_store():
    check(len(sources("mcp")) > 4, "hardly any source")
    for name in sources("mcp"):
        equal(needed("mcp", name), [], name)


@test
def the_daemons_table_links_no_call_of_the_lifecycle_but_preview():
    equal(needed("daemon/http", "api_mcp"), [], "api_mcp")
    equal(needed("daemon/http", "mcp_front"), [], "mcp_front")
    equal([name for name in needed("daemon/http", "mcp_project")], ["lifecycle_view_project_parts"])
    equal([name for name in needed("daemon/http", "mcp_preview") if name.startswith(("lifecycle", "store"))], ["lifecycle_preview"])


@test
def the_same_look_finds_a_file_that_writes():
    found = needed("daemon/http", "api_surfaces")
    check("lifecycle_approve" in found and "lifecycle_handoff" in found, "the control links %r" % found)
    check("lifecycle_grant" in needed("daemon/http", "api_grants"), "the control of grants")


@test
def the_daemons_table_can_say_nothing_but_get():
    with open(os.path.join(SOURCE, "daemon/http/api_mcp.c"), encoding="utf-8") as file:
        text = file.read()
    body = text.split("static const struct http_route rows[]")[0]
    equal(re.findall(r"\bHTTP_(?:POST|PUT|DELETE|PATCH)\b", body), [], "methods that write")
    check(set(re.findall(r"\bapi_find_\w+", body)) == {"api_find_get"}, "another look-up of routes")
    with open(os.path.join(SOURCE, "daemon/http/api.c"), encoding="utf-8") as file:
        look_up = re.search(r"api_find_get\(const char \*pattern\)\n\{(.*?)\n\}", file.read(), re.S).group(1)
    check("find_route(HTTP_GET, pattern)" in look_up, look_up)


# ---- what clients are told

def tables():
    """The tools of each way to start it that needs no daemon, and the daemon's as they are written."""
    with open(os.path.join(SOURCE, "mcp/windows.c"), encoding="utf-8") as file:
        text = file.read()
    for found in re.finditer(r"\.description = ((?:\s*\"(?:[^\"\\]|\\.)*\")+)", text):
        yield "a window", json.loads('"%s"' % "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found.group(1))))
    with Stdio() as server:
        for tool in server.ask("tools/list", modern=True)["tools"]:
            yield tool["name"], tool["description"]
        yield "instructions", server.ask("server/discover", modern=True)["instructions"]
        yield "instructions", server.initialize()["instructions"]


def too_long(text):
    return len(text.encode()) >= TEXT_MAX


@test
def no_text_is_cut_by_a_client():
    texts = list(tables())
    check(len(texts) >= 6, "only %d texts" % len(texts))
    for name, text in texts:
        check(not too_long(text), "%s has %d bytes" % (name, len(text.encode())))


@test
def the_same_look_finds_a_text_that_would_be():
    name, text = next(iter(tables()))
    check(too_long(text + "x" * (2100 - len(text))), "2100 bytes pass")
    check(too_long("x" * 2048) and not too_long("x" * 2047), "the bound is another one")
    check(too_long("é" * 1024), "it counts characters, not bytes")


@test
def the_older_and_the_newer_era_are_told_the_same():
    with Stdio() as server:
        newer = server.exchange(message("tools/list", modern=True))["result"]["tools"]
        equal(server.exchange(message("server/discover", modern=True))["result"]["supportedVersions"], [MODERN])
        server.initialize()
        equal(server.ask("tools/list")["tools"], newer)


if __name__ == "__main__":
    run()
