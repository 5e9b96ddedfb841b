#!/usr/bin/env python3
"""The official MCP clients, of both eras, over standard input and over HTTP: knowledge bundles and the daemon's windows through them; and
the official conformance suite against our front with the tools that it asks for. What they are made of comes from npm before any test
runs (tests/mcp/npm, `make tests/mcp/npm/installed`); nothing here touches the network. Speaks TAP."""
import contextlib
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from rpc import LEGACY, MODERN, admitctl, check, equal  # noqa: E402
from daemon import reads, run_scenes, scene  # noqa: E402
from tap import Failed  # noqa: E402

HERE = os.path.dirname(os.path.realpath(__file__))
BUILD = os.environ.get("BUILDDIR", ".")
INSTALLED = os.environ.get("ADMITD_MCP_NPM") or os.path.join(BUILD, "tests", "mcp", "npm")
MODULES = os.path.join(INSTALLED, "node_modules")
BUNDLES = os.path.join(os.path.dirname(HERE), "reader", "bundles")
TIMEOUT_S = 240
# Client, era, and the revision that they agree on. `auto` asks first.
CLIENTS = (("sdk", "legacy", LEGACY[0]), ("client", "legacy", LEGACY[0]), ("client", "modern", MODERN), ("client", "auto", MODERN))
OKF = ["okf_list", "okf_describe", "okf_ask", "okf_fetch"]
# Each with how many of its checks pass.
SCENARIOS = {LEGACY[0]: {"server-initialize": 3, "server-session-lifecycle": 3, "ping": 2, "tools-list": 3, "tools-call-simple-text": 2,
                         "tools-call-error": 2, "dns-rebinding-protection": 2, "server-sse-multiple-streams": 1},
             MODERN: {"server-stateless": 25, "tools-list": 4, "tools-call-simple-text": 2, "tools-call-error": 2, "dns-rebinding-protection": 2,
                      "http-header-validation": 14, "caching": 4, "server-sse-multiple-streams": 1}}
# What a server of tools alone can't pass, as the suite names its checks.
NOT_OURS = re.compile(r"prompts|resources")


def node():
    """The Node that came with the modules: Debian's may be older than the suite wants."""
    found = glob.glob(os.path.join(MODULES, "node-linux-*", "bin", "node"))
    if not found:
        raise Failed("the clients are not installed below %s: `make tests/mcp/npm/installed` does it, and needs npm and the network; its log "
                     "is beside it" % INSTALLED)
    return found[0]


def run_node(*words):
    done = subprocess.run([node(), *words], env=dict(os.environ, NODE_MODULES=MODULES), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=TIMEOUT_S, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def through(client, era, **asked):
    """What the client says of a server and of its answers."""
    code, out, err = run_node(os.path.join(HERE, "clients.mjs"), json.dumps(dict(asked, client=client, era=era)))
    check(code == 0, "%s of the %s era ended with %d: %s" % (client, era, code, (err or out)[-1500:]))
    return json.loads(out)


def content(said, number):
    """The structured content of one call, which wasn't refused."""
    found = said["calls"][number]
    check("result" in found and found["result"]["isError"] is False, "call %d: %.800r" % (number, found))
    return found["result"]["structuredContent"]


# ---- bundles

def bundle_calls(**more):
    return [["okf_list", dict(more)], ["okf_describe", dict(more, bundle_id="stackoverflow")], ["okf_ask", dict(more, question="badges awarded to users")],
            ["okf_fetch", dict(more, bundle_id="stackoverflow", concept_id="tables/badges")], ["okf_fetch", dict(more, concept_id="tables/badges")],
            ["okf_list", dict(more, bogus=1)]]


def check_bundles(said):
    equal([(one["id"], one["concepts"]) for one in content(said, 0)["bundles"]], [("acme_retail", 9), ("ga4", 9), ("stackoverflow", 26)])
    check("stackoverflow" in json.dumps(content(said, 1)), "the card")
    first = content(said, 2)["hits"][0]
    equal((first["bundle_id"], first["concept_id"]), ("stackoverflow", "tables/badges"))
    with open(os.path.join(BUNDLES, "stackoverflow", "tables", "badges.md"), encoding="utf-8") as file:
        check(json.dumps(file.read())[1:-1] in json.dumps(content(said, 3)), "the exact text")
    refused = said["calls"][4]["result"]
    equal((refused["isError"], refused["structuredContent"]["code"]), (True, "bundle_required"))
    equal(said["calls"][5]["error"]["code"], -32602)


def register_bundles(client, era, version):
    def over_stdio(_daemon):
        said = through(client, era, command=admitctl(), args=["mcp", "--root", BUNDLES], calls=bundle_calls())
        equal(said["tools"], ["path_inventory", "repo_search"] + OKF)
        equal(said["version"] or version, version)
        equal(said["server"]["name"], "admitd")
        check(said["instructions"], "no instructions")
        check_bundles(said)

    def over_http(daemon):
        world = daemon.world()
        shutil.copytree(BUNDLES, world.root, dirs_exist_ok=True)
        said = through(client, era, url="http://127.0.0.1:%d/mcp" % daemon.port, token=daemon.planner.token, calls=bundle_calls(project=world.id))
        equal(said["version"], version)
        equal(bool(said["session"]), version != MODERN, "whether there is a session")
        check(set(OKF) <= set(said["tools"]), "tools: %r" % said["tools"])
        check_bundles(said)

    for function in (over_stdio, over_http):
        function.__name__ = "bundles through %s of the %s era %s" % (client, era, function.__name__)
        scene(function)


for row in CLIENTS:
    register_bundles(*row)


@scene
def one_bundle_alone_through_both_clients(_daemon):
    for client, era, _ in CLIENTS:
        said = through(client, era, command=admitctl(), args=["mcp", "--bundle", os.path.join(BUNDLES, "stackoverflow")],
                       calls=[["okf_fetch", {"concept_id": "tables/badges"}], ["okf_describe", {"bundle_id": "stackoverflow"}]])
        equal(said["tools"], OKF)
        check("badges" in json.dumps(content(said, 0)), "the text")
        equal(said["calls"][1]["error"]["code"], -32602)


@scene
def the_windows_through_every_client_over_both_fronts(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    calls = [["recovery_list", {}], ["admission_status", {"task": world.task_id()}], ["admission_preview", {"task": world.task_id()}],
             ["admission_explain", {"capability": "filesystem.project.read"}]]
    url = "http://127.0.0.1:%d" % daemon.port
    token_file = os.path.join(daemon.folder, "planner.token")
    with open(token_file, "w", encoding="ascii") as file:
        file.write(daemon.planner.token + "\n")
    for client, era, _ in CLIENTS:
        for front in ({"url": url + "/mcp", "token": daemon.planner.token}, {"command": admitctl(), "args": ["mcp", "--url", url, "--token-file", token_file]}):
            said = through(client, era, calls=calls, **front)
            equal(content(said, 1)["id"], world.task_id())
            equal(content(said, 2)["status"], "blocked")
            for number in range(len(calls)):
                content(said, number)


# ---- the conformance suite

@contextlib.contextmanager
def fixture_server():
    process = subprocess.Popen([os.path.join(BUILD, "mcp_fixture_server")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield int(process.stdout.readline().split()[1])
        process.stdin.close()
        equal(process.wait(60), 0, "exit status of the fixture server")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def checks_of(folder):
    """Every check that the suite wrote down."""
    found = []
    for path in glob.glob(os.path.join(folder, "**", "checks.json"), recursive=True):
        with open(path, encoding="utf-8") as file:
            found += json.load(file)
    return found


def run_suite(version, scenario):
    """The checks that the suite made."""
    with fixture_server() as port, tempfile.TemporaryDirectory(prefix="admitd-suite.") as folder:
        suite = os.path.join(MODULES, "@modelcontextprotocol", "conformance", "dist", "index.js")
        _, out, err = run_node(suite, "server", "--url", "http://127.0.0.1:%d/mcp" % port, "--scenario", scenario, "--spec-version", version,
                               "--output-dir", folder)
        checks = checks_of(folder)
        check(checks, "no check was made: %s" % (out + err)[-1500:])
        return checks


def not_passed(checks):
    return ["%s %s: %s" % (one["status"], one["id"], one.get("errorMessage")) for one in checks if one["status"] in ("FAILURE", "WARNING")]


def register_scenario(version, scenario, count):
    def passes(_daemon):
        checks = run_suite(version, scenario)
        equal([one for one in not_passed(checks) if not NOT_OURS.search(one)], [], "of %d checks" % len(checks))
        equal(len([one for one in checks if one["status"] == "SUCCESS"]), count, "checks that passed")
    passes.__name__ = "the suite's %s passes at %s" % (scenario, version)
    scene(passes)


for revision, scenarios in SCENARIOS.items():
    for name, passing in scenarios.items():
        register_scenario(revision, name, passing)


@scene
def the_suite_finds_what_a_server_of_tools_lacks(_daemon):
    check([one for one in not_passed(run_suite(MODERN, "prompts-list")) if "FAILURE prompts-list" in one], "prompts were found")


if __name__ == "__main__":
    run_scenes()
