#!/usr/bin/env python3
"""What a run's agent may have: the route, and admitctl materialize under a decision (chapters 4.2, 5.7). Speaks TAP."""
import json
import os
import subprocess
import sys
import tempfile

try:
    import tomllib
except ImportError:  # before Python 3.11
    tomllib = None

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "mcp")]
from rpc import Stdio, call_result, is_error, is_refused  # noqa: E402
from daemon import CANARY, LIST, READ, check, equal, free, is_problem, reads, run_scenes, running, scene  # noqa: E402

ADMITCTL = os.environ.get("ADMITCTL", "admitctl")
SEARCH = "filesystem.project.search"
KEY = "[secrets]\nkey_file = %s\n"
SPEC = {"transport": "http", "url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer " + CANARY}}


def granted(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    world.grant("a")
    world.approve()
    return world, world.handoff("a")


def path_of(run, agent="claude-code"):
    return "/v1/runs/%s/agent-config?agent=%s" % (run["run"]["id"], agent)


@scene
def the_config_is_the_grant(daemon):
    world, run = granted(daemon)
    equal(run["links"]["agentConfig"], path_of(run))
    found = daemon.executor.get(path_of(run)).must(200).json
    equal((found["decisionId"], found["runId"], found["agent"]), (run["decisionId"], run["run"]["id"], "claude-code"))
    equal(found["reader"]["capabilities"], run["given"]["readScope"][0]["capabilities"])
    server = json.loads(found["files"][0]["content"])["mcpServers"]
    equal(list(server), ["admitd"])
    equal(server["admitd"]["args"][:3], ["mcp", "--root", found["reader"]["root"]])
    equal(server["admitd"]["args"][3:], [word for name in found["reader"]["capabilities"] for word in ("--only", name)])
    equal(found["arguments"], ["--mcp-config", "{directory}/mcp-servers.json", "--strict-mcp-config"])
    codex = daemon.executor.get(path_of(run, "codex")).must(200).json
    equal((codex["environment"], codex["arguments"]), ({"CODEX_HOME": "{directory}"}, []))
    check(codex["files"][0]["content"].startswith('cli_auth_credentials_store = "file"\n\n[mcp_servers.admitd]\n'), codex)
    world.outcome(run)


@scene
def a_claim_brings_the_config_that_it_asks_for(daemon):
    for agent in ("claude-code", "codex"):
        for route in ("/v1/packages/PACKAGE/handoff", "/v1/tasks/TASK/handoff", "/v1/handoffs"):
            world = daemon.world()
            world.submit(reads("a"), reads("b"))
            world.grant("a")
            world.grant("b")
            world.approve()
            path = route.replace("PACKAGE", world.pid("a")).replace("TASK", world.task_id("t"))
            body = dict({"agentConfig": agent}, **({"project": world.id} if path == route else {}))
            run = daemon.executor.post(path, body, {"Idempotency-Key": world.id}).must(200).json
            daemon.secrets.append(run["runToken"])
            equal(run["agentConfig"], daemon.executor.get(path_of(run, agent)).must(200).json)
            equal(run["agentConfig"]["reader"]["capabilities"], run["given"]["readScope"][0]["capabilities"])
            equal(daemon.executor.post(path, body, {"Idempotency-Key": world.id}).must(200).json, run)
            world.outcome(run)
    world, run = granted(daemon)
    check("agentConfig" not in run, "it was not asked for")
    world.outcome(run)
    for wrong in ("cursor", "", 1, None, ["codex"]):
        found = is_problem(daemon.executor.post("/v1/handoffs", {"agentConfig": wrong}), 422, "invalid_document")
        equal([fault["pointer"] for fault in found["faults"]], ["/agentConfig"])


@scene
def a_run_that_was_granted_nothing_gets_no_reader(daemon):
    world = daemon.world()
    world.submit(free("a"))
    world.approve()
    run = world.handoff("a")
    found = daemon.executor.get(path_of(run)).must(200).json
    equal((found["reader"], found["files"], found["arguments"]), (None, [], ["--strict-mcp-config"]))
    check(all(item["reason"] != "bounded_context_approved" for item in found["withheld"]), found["withheld"])


@scene
def a_tool_server_of_the_project_is_withheld_with_its_reason_and_without_its_secret(daemon):
    world, run = granted(daemon)
    daemon.admin.put("/v1/projects/%s/servers/github" % world.id, {"spec": SPEC}).must(201)
    for agent in ("claude-code", "codex"):
        answer = daemon.executor.get(path_of(run, agent)).must(200)
        check(CANARY not in json.dumps(answer.json), "a credential in the answer")
        equal([item for item in answer.json["withheld"] if item["kind"] == "server"],
              [{"kind": "server", "name": "github", "reason": "not_admitted",
                "detail": "no decision admits a live tool server"}])
    daemon.admin.delete("/v1/projects/%s/servers/github" % world.id).must(204)


@scene
def only_who_may_use_the_run_gets_it_and_only_while_it_lives(daemon):
    world, run = granted(daemon)
    other = granted(daemon)[1]
    equal(daemon.request("GET", path_of(run), None, run["runToken"]).status, 200)
    is_problem(daemon.request("GET", path_of(run), None, other["runToken"]), 404, "not_found")
    is_problem(daemon.client("stranger", "executor").get(path_of(run)), 403, "forbidden")
    is_problem(daemon.planner.get(path_of(run)), 403, "forbidden")
    is_problem(daemon.executor.get("/v1/runs/run_none/agent-config?agent=codex"), 404, "not_found")
    for wrong in ("", "?agent=", "?agent=cursor"):
        is_problem(daemon.executor.get("/v1/runs/%s/agent-config%s" % (run["run"]["id"], wrong)), 400, "bad_request")
    world.outcome(run)
    equal(is_problem(daemon.executor.get(path_of(run)), 409, "run_ended")["outcome"], "succeeded")


# ---- by admitctl

def materialize(daemon, folder, run, *words):
    token = os.path.join(folder, "token")
    with open(token, "w", encoding="utf-8") as file:
        file.write(run["runToken"])
    done = subprocess.run(
        [ADMITCTL, "materialize", "--base", os.path.join(folder, "base"), "--url", "http://127.0.0.1:%d" % daemon.port, "--token-file", token,
         "--run", run["run"]["id"], *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        timeout=120, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@scene
def admitctl_writes_what_the_decision_admits_and_withholds_what_a_body_brings(daemon):
    world, run = granted(daemon)
    with tempfile.TemporaryDirectory() as folder:
        body = os.path.join(folder, "body.json")
        with open(body, "w", encoding="utf-8") as file:
            json.dump({"servers": [dict(SPEC, id="mine")],
                       "skills": [{"name": "s", "description": "d", "instructions": "i"}]}, file)
        code, out, err = materialize(daemon, folder, run, "--body", body, "--own-home", "--owner", str(os.getpid()), "--json")
        equal(code, 0, err)
        made = json.loads(out)
        equal((made["servers"], made["skills"], made["ungoverned"]), (["admitd"], ["s"], False))
        equal((made["decisionId"], made["run"]), (run["decisionId"], run["run"]["id"]))
        check({"kind": "server", "name": "mine", "reason": "not_admitted", "detail": "no decision admits a live tool server"}
              in made["withheld"], made["withheld"])
        with open(os.path.join(made["directory"], "mcp-servers.json"), encoding="utf-8") as file:
            text = file.read()
        server = json.loads(text)["mcpServers"]["admitd"]
        check(os.path.isabs(server["command"]) and os.access(server["command"], os.X_OK), server["command"])
        check(CANARY not in out + err + text, "a credential of a withheld server")
        with open(os.path.join(made["directory"], "admission.json"), encoding="utf-8") as file:
            equal(json.load(file)["decisionId"], run["decisionId"])
    world.outcome(run)


def written_entry(daemon, folder, run, agent):
    """The reader's entry as it stands in what was written for this agent."""
    code, out, err = materialize(daemon, folder, run, "--agent", agent, "--owner", str(os.getpid()), "--json")
    equal(code, 0, err)
    directory = json.loads(out)["directory"]
    if agent == "codex":
        with open(os.path.join(directory, "config.toml"), "rb") as file:
            return tomllib.load(file)["mcp_servers"]
    with open(os.path.join(directory, "mcp-servers.json"), encoding="utf-8") as file:
        return json.load(file)["mcpServers"]


def reads_only(server, path, capabilities):
    """What may be done with this server is what these capabilities say, by the list and by a call."""
    server.initialize()
    tools = {"path_inventory": LIST in capabilities or READ in capabilities, "repo_search": SEARCH in capabilities}
    bundles = ["okf_list", "okf_describe", "okf_ask", "okf_fetch"] if READ in capabilities else []  # they read what lies below the root
    equal([tool["name"] for tool in server.ask("tools/list")["tools"]], [name for name, is_there in tools.items() if is_there] + bundles)
    if tools["repo_search"]:
        equal(len(call_result(server.call("repo_search", {"pattern": "inside"}))["structuredContent"]["matches"]), 1)
    else:
        is_error(server.call("repo_search", {"pattern": "inside"}), -32602, server.number)
    if not tools["path_inventory"]:
        is_error(server.call("path_inventory", {"paths": ["note"]}), -32602, server.number)
        return
    equal(call_result(server.call("path_inventory", {"paths": ["note"]}))["structuredContent"]["targets"][0]["type"], "file")
    contents = server.call("path_inventory", {"paths": ["note"], "contents": True})
    if READ in capabilities:
        equal(call_result(contents)["structuredContent"]["targets"][0]["contents"], "inside\n")
    else:
        is_refused(contents, "not_granted")
    for outside in ("../outside", os.path.join(os.path.dirname(path), "outside")):
        check(CANARY not in json.dumps(server.call("path_inventory", {"paths": [outside]})), outside)


@scene
def the_server_that_was_written_starts_as_written_and_has_what_was_admitted_and_no_more(daemon):
    for agent in ("claude-code", "codex") if tomllib is not None else ("claude-code",):
        for capabilities in ([LIST], [SEARCH], [READ], [LIST, SEARCH], [LIST, SEARCH, READ]):
            world = daemon.world()
            for path, text in ((os.path.join(world.root, "note"), "inside\n"),
                               (os.path.join(os.path.dirname(world.root), "outside"), CANARY)):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            world.submit(reads("a", *capabilities))
            world.grant("a")
            world.approve()
            run = world.handoff("a")
            with tempfile.TemporaryDirectory() as folder:
                servers = written_entry(daemon, folder, run, agent)
                equal(list(servers), ["admitd"])
                entry = servers["admitd"]
                with Stdio(command=[entry["command"], *entry["args"]], cwd=folder, env=entry.get("env")) as server:
                    reads_only(server, world.root, capabilities)
            world.outcome(run)


@scene
def a_run_that_is_over_leaves_no_folder(daemon):
    world, run = granted(daemon)
    world.outcome(run)
    with tempfile.TemporaryDirectory() as folder:
        code, _, err = materialize(daemon, folder, run, "--", "true")
        equal(code, 1)
        check("run" in err, err)
        check(not os.path.isdir(os.path.join(folder, "base")) or os.listdir(os.path.join(folder, "base")) == [], "a folder")


# ---- credentials of stored specs

@scene
def a_stored_credential_is_in_no_answer_event_metric_log_or_file(daemon):
    with tempfile.TemporaryDirectory() as keys:
        key = os.path.join(keys, "key")
        with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(os.urandom(32))
        with running(KEY % key) as sealed:
            world = sealed.world()
            path = "/v1/projects/%s/servers" % world.id
            answers = [sealed.admin.put(path + "/github", {"spec": SPEC}),
                       sealed.admin.put(path + "/other", {"spec": dict(SPEC, url="https://u:%s@h/" % CANARY)}),
                       sealed.admin.put(path + "/third", {"spec": dict(SPEC, transport=CANARY)}),
                       sealed.admin.put(path + "/fourth", {"spec": {"transport": "stdio", "command": "/x",
                                                                    "args": ["--token", CANARY], "env": {"A": 1}}}),
                       sealed.operator.post(path + "/github/check"), sealed.admin.get(path), sealed.admin.get(path + "/github"),
                       sealed.auditor.get("/metrics"), sealed.auditor.get("/v1/audit"),
                       sealed.admin.get("/v1/projects/%s/health" % world.id), sealed.admin.get("/v1/recovery")]
            equal(answers[0].status, 201)
            for answer in answers:
                check(CANARY.encode() not in answer.raw, repr(answer))
            shown = answers[6].json["spec"]["headers"]["Authorization"]
            equal(shown, {"credential": True, "set": True})
            sealed.check_secrets()


if __name__ == "__main__":
    run_scenes("")
