#!/usr/bin/env python3
"""admitctl import: what a client is configured with, as a project's tool servers: shapes, faults, risks, and what is taken over by a real
daemon. Nothing that was put in as a secret is ever seen again."""
import contextlib
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("lib", "http"):
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), folder))
from daemon import CANARY, check, equal, running, scene  # noqa: E402
from tap import run  # noqa: E402

CASES = os.path.join(HERE, "cases")
ADMITCTL = os.environ.get("ADMITCTL", "admitctl")


class File:
    """A client's file, and admitctl on it."""

    def __init__(self, daemon, content, name=".mcp.json"):
        self.daemon = daemon
        self.folder = os.path.realpath(tempfile.mkdtemp(dir=daemon.folder))
        self.path = os.path.join(self.folder, name)
        with open(self.path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode() if isinstance(content, str)
                       else json.dumps(content).encode())

    def run(self, *words):
        """Exit code and both outputs; no secret in either, in whatever way it is shown."""
        env = {key: value for key, value in os.environ.items() if not key.startswith("ADMITD")}
        env["ADMITD_URL"] = "http://127.0.0.1:%d" % self.daemon.port
        done = subprocess.run([ADMITCTL, "import", self.path, *words], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60, check=False)
        for text in (done.stdout, done.stderr):
            check(b"CANARY" not in text, "a secret is shown: %r" % text)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def servers(self, *words, wanted=0):
        """What it says for programs, by id; the same words are shown to a person."""
        code, out, err = self.run("--json", *words)
        equal((code, err), (wanted, ""), out)
        servers = {server["id"]: server for server in json.loads(out)}
        shown = " ".join(self.run(*words)[1].split()) if "--apply" not in words else None
        for server in servers.values():
            for line in server["faults"] + server["risks"] + server["notes"] if shown is not None else ():
                check(" ".join(line.split()) in shown, "not shown: %s in %s" % (line, shown))
        return servers

    def refused(self, said):
        code, out, err = self.run()
        equal((code, out), (1, ""))
        check(said in err, err)
        return err


def case(daemon, folder, name):
    with open(os.path.join(CASES, folder, name), "rb") as file:
        return File(daemon, file.read(), name)


def one(daemon, **entry):
    """The one server of a file with this entry."""
    servers = File(daemon, {"mcpServers": {"s": entry}}).servers()
    equal(list(servers), ["s"])
    return servers["s"]


def refuses(daemon, said, **entry):
    server = File(daemon, {"mcpServers": {"s": entry, "good": {"command": "d"}}}).servers(wanted=1)
    equal((server["s"]["state"], server["good"]["state"]), ("refused", "proposed"))
    check(any(said in fault for fault in server["s"]["faults"]), "%r not in %s" % (said, server["s"]["faults"]))


def has(lines, *words):
    """Each of the words stands in a line."""
    for word in words:
        check(any(word in line for line in lines), "%r not in %s" % (word, lines))


# ---- shapes

@scene
def every_shape_that_is_read_gives_the_same_server(daemon):  # C38
    for name in ("wrapped.json", "flat.json", "snake.json", "schema.json"):
        servers = case(daemon, "C38", name).servers()
        equal([(server["id"], server["runs"]) for server in servers.values()], [("docs", "d")], name)
    toml = File(daemon, '[mcp_servers.docs]\ncommand = "d"\n', "config.toml").servers()
    equal(toml["docs"]["runs"], "d")


@scene
def another_shape_is_refused_with_the_ones_that_are_read(daemon):  # C38
    case(daemon, "C38", "mixed.json").refused("both below and beside")
    case(daemon, "C38", "vscode.json").refused('{"mcpServers": {...}}')
    File(daemon, {"mcpServers": {}, "mcp_servers": {}}).refused("both mcpServers and mcp_servers")
    File(daemon, {"mcpServers": []}).refused("must be an object")
    File(daemon, "{}").refused("no tool servers in a shape")
    File(daemon, "[]").refused("must hold an object")


@scene
def settings_without_servers_are_no_fault(daemon):  # C108, C110, C111, C113
    for folder, name in (("C108", "settings.json"), ("C110", "settings.json"), ("C113", "config.toml")):
        code, out, err = case(daemon, folder, name).run()
        equal((code, err), (0, ""))
        check("no tool servers" in out, out)
    case(daemon, "C111", "config.toml").refused("no tool servers")  # a table that is a comment is none
    servers = File(daemon, {"statusLine": {"type": "command", "command": "x"}, "mcpServers": {"a": {"command": "b"}}}).servers()
    equal(list(servers), ["a"])


@scene
def a_text_that_is_broken_is_refused_with_its_place_and_none_of_it(daemon):  # C37, C94, C29, C30
    for folder, name, said in (
            ("C94", "bare.json", "line 1, column 17"), ("C94", "newline.json", "line 1, column "), ("C94", "dup.json", "already"),
            ("C94", "missing-comma.json", "line 1, column 10"), ("C94", "bad.toml", "line 2, column "),
            ("C37", "dup-server.json", "already"), ("C37", "dup-escape.json", "already"), ("C37", "dup-deep.json", "already"),
            ("C37", "dup-root.json", "already"), ("C29", "bom.mcp.json", "byte-order mark"), ("C30", "comment.json", "comment")):
        case(daemon, folder, name).refused(said)


# ---- entries

@scene
def one_bad_entry_does_not_hide_the_good_one(daemon):  # C98
    servers = case(daemon, "C98", "mcp.json").servers(wanted=1)
    equal((servers["base"]["state"], servers["forge"]["state"]), ("refused", "proposed"))
    has(servers["base"]["faults"], "no command and no url")
    has(servers["forge"]["notes"], "link isn't carried over")
    equal(servers["forge"]["transport"], "http")


@scene
def a_container_is_refused_by_its_name(daemon):  # C121
    refuses(daemon, "it names a container", container="acme/charts-mcp:2.0.1", entrypointArgs=["-t", "stdio"])


@scene
def a_file_of_another_kind_is_refused_with_its_place(daemon):  # C116, C118, C119, C121, C122, C94, C45, C29
    for folder, name in (("C116", "SKILL.md"), ("C118", "SKILL.md"), ("C119", "mcp-setup/SKILL.md"), ("C121", "plan.md"), ("C94", "bad.yaml"),
                         ("C122", "colon.md"), ("C122", "bomb.md"), ("C45", "marker-damaged.toml"), ("C29", "utf16.mcp.json")):
        with open(os.path.join(CASES, folder, name), "rb") as file:
            File(daemon, file.read(), os.path.basename(name)).refused("line 1, column ")


@scene
def a_secret_beside_a_control_character_is_not_shown(daemon):  # C94
    code, out, err = case(daemon, "C94", "nul.json").run()
    equal((code, err), (0, ""))
    check("no tool servers" in out, out)
    refuses(daemon, "text that can't be kept", command="x", env={"TOKEN": "CANARY-3\0"})


@scene
def what_the_client_fills_in_is_the_same_from_either_file(daemon):  # C96
    wanted = [{"name": "Authorization", "set": False, "credential": True}]
    for name in ("expected-claude.json", "expected-codex.toml"):
        equal(case(daemon, "C96", name).servers()["api"]["values"], wanted, name)


@scene
def a_wrong_type_is_told_with_its_place_and_not_its_value(daemon):  # C43
    for name, place in (("env-number", "/env/PORT"), ("env-bool", "/env/DEBUG"), ("env-null", "/env/K"), ("env-object", "/env/K"),
                        ("args-string", "/args"), ("args-number", "/args/1"), ("command-array", "/command")):
        servers = case(daemon, "C43", name + ".json").servers(wanted=1)
        has(servers["a"]["faults"], place + " must be")
        check("8080" not in json.dumps(servers), servers)
    has(case(daemon, "C43", "both.json").servers(wanted=1)["a"]["faults"], "both command and url")
    equal(case(daemon, "C43", "port-string.json").servers()["a"]["state"], "proposed")


@scene
def what_cannot_be_reached_is_refused(daemon):
    refuses(daemon, "sse", type="sse", url="https://x.example.invalid/")
    refuses(daemon, "its type", type="pigeon", url="https://x.example.invalid/")
    refuses(daemon, "its type", type="http", command="x")
    refuses(daemon, "/url must be https", url="http://mcp.example.invalid/")
    refuses(daemon, "/command must not be empty", command="")
    refuses(daemon, "/env must be an object", command="x", env=["A=1"])
    servers = File(daemon, '{"mcpServers":{"big":{"command":"x","n":12345678901234567890},"text":"x","none":null,"good":{"command":"d"}}}')
    equal([server["state"] for server in servers.servers(wanted=1).values()], ["refused", "refused", "refused", "proposed"])


@scene
def a_name_that_cannot_be_an_id_becomes_one_and_that_is_told(daemon):  # C41, C06
    with open(os.path.join(CASES, "C41", "names.json"), encoding="utf-8") as file:
        names = json.load(file)
    names += ["my__server", "DocStore", "-x-", "ok"]
    code, out, _ = File(daemon, {"mcpServers": {name: {"command": "x%d" % i} for i, name in enumerate(names)}}).run("--json")
    servers = json.loads(out)
    equal((code, len(servers)), (1, len(names)))
    ids = [server["id"] for server in servers]
    equal(ids[:3] + ids[-4:], ["my-srv", "npm-scope-pkg", "team-notes-prod", "my_server", "docstore", "x", "ok"])
    for server in servers:
        if server["state"] == "proposed" and server["id"] != "ok":
            has(server["notes"], "called %s here" % server["id"])
        check(server["state"] == "proposed" or "is taken by another" in server["faults"][0], server)
    equal(sorted(server["id"] for server in servers if server["state"] == "proposed"), sorted(set(ids)))


# ---- secrets

@scene
def no_secret_is_shown_wherever_it_stands(daemon):  # C90, C91, C119
    servers = case(daemon, "C90", "spec.json").servers(wanted=1)
    equal([server["state"] for server in servers.values()], ["refused", "refused"])
    has(servers["a"]["faults"], "/args/4 looks like a secret", "/args/5", "/args/7", "/args/8")
    with open(os.path.join(CASES, "C91", "env.json"), encoding="utf-8") as file:
        env = json.load(file)
    server = one(daemon, command="x", env=env)
    equal({value["name"]: (value["set"], value["credential"]) for value in server["values"]}, {name: (True, True) for name in env})
    server = one(daemon, url="https://x.example.invalid/", headers={"X-Anything": "CANARY-11", "Cookie": "s=CANARY-12"})
    check(all(value["credential"] for value in server["values"]), server)
    server = case(daemon, "C119", "mcp.json").servers()["docstore"]
    equal({value["name"] for value in server["values"] if value["credential"]}, {"CONNECTION_PROFILES"})
    has(server["risks"], "github:acme/docstore-mcp", "ALLOW_UNAUTHENTICATED_STDIO may switch")


@scene
def a_secret_in_two_arguments_is_refused(daemon):
    for option in ("--token", "--api-key", "--password", "-token"):
        refuses(daemon, "/args/1 looks like a secret", command="x", args=[option, "CANARY-2x"])
    for args in (["--token", "/run/secrets/t"], ["--tokenizer", "models-x"], ["--key", "./k.pem"], ["--tool-tier", "standard"], ["--token"],
                 ["--token", "--verbose"]):
        equal(one(daemon, command="x", args=args)["state"], "proposed")
    server = one(daemon, command="docker", args=["run", "-e", "TOK=CANARY-1", "image:1"])
    has(server["risks"], "argument 3 sets a value where others on the machine can read it")
    check("TOK=***" in server["runs"], server["runs"])


@scene
def what_the_client_fills_in_is_left_to_be_set(daemon):  # C105
    server = case(daemon, "C105", "mcp.json").servers()["office"]
    values = {value["name"]: value for value in server["values"]}
    for name in ("OFFICE_CLIENT_ID", "OFFICE_CLIENT_SECRET"):
        equal((values[name]["set"], values[name]["credential"]), (False, True))
        has(server["notes"], name + " comes from the environment")
    server = one(daemon, url="https://x.example.invalid/", headers={"Authorization": "Bearer ${TOKEN}"})
    equal(server["values"], [{"name": "Authorization", "set": False, "credential": True}])
    has(one(daemon, command="x", args=["--dir", "${HOME}/x"])["risks"], "${...}")
    toml = File(daemon, '[mcp_servers.a]\nurl = "https://x.example.invalid/"\nbearer_token_env_var = "T"\nenv_http_headers = { X-Key = "K" }\n'
                '[mcp_servers.b]\ncommand = "x"\nenv_vars = ["LOCAL_TOKEN"]\n', "config.toml").servers()
    equal([[value["name"], value["set"]] for value in toml["a"]["values"]], [["Authorization", False], ["X-Key", False]])
    equal([value["name"] for value in toml["b"]["values"]], ["LOCAL_TOKEN"])


# ---- risks

@scene
def what_is_fetched_without_a_version_is_told(daemon):  # C105, C107, C119
    unpinned = "isn't pinned"
    source = "can change without a version"
    for command, args, said in (
            ("npx", ["-y", "@acme/play-mcp"], unpinned), ("npx", ["@acme/play@latest", "--extension"], unpinned), ("npx", ["x@^1.2.3"], unpinned),
            ("npx", ["x@1"], unpinned), ("npx", ["-y", "x@1.2.3"], None), ("/usr/bin/npx", ["-y", "@a/b@1.2.3-rc.1"], None),
            ("npx", ["--package=x", "-c", "y"], unpinned), ("npx", ["-p", "x@1.2.3", "y"], None), ("cmd", ["/c", "npx", "-y", "x"], unpinned),
            ("npx.cmd", ["x"], unpinned), ("npx", ["-y", "github:acme/docstore-mcp"], source), ("npx", ["acme/docstore"], source),
            ("npx", ["github:a/b#" + "0" * 40], None), ("npx", ["./local"], None), ("bunx", ["x"], unpinned), ("bun", ["x", "y"], unpinned),
            ("pnpm", ["dlx", "x"], unpinned), ("yarn", ["dlx", "x"], unpinned), ("npm", ["exec", "--", "x"], unpinned), ("npm", ["start"], None),
            ("uvx", ["x"], unpinned), ("uvx", ["x@1.2"], None), ("uvx", ["x==1.2.3"], None), ("uvx", ["x>=1"], unpinned),
            ("uvx", ["--from", "git+https://h.example.invalid/x", "x"], source), ("uvx", ["--from", "x==1", "y"], None),
            ("python", ["-m", "uv", "tool", "run", "x"], unpinned), ("python3.11", ["-m", "server"], None), ("uv", ["run", "server.py"], None),
            ("uv", ["run", "--with", "x", "server.py"], unpinned), ("pipx", ["run", "x"], unpinned), ("env", ["A=B", "npx", "x"], unpinned),
            ("docker", ["run", "-i", "--rm", "-e", "A=b", "acme/x"], unpinned), ("docker", ["run", "acme/x:latest"], unpinned),
            ("docker", ["run", "--name", "n", "h.invalid:5000/acme/x:1.2"], None), ("podman", ["run", "x@sha256:" + "0" * 64], None),
            ("docker", ["run", "-v", "/srv:/x", "x:1"], "lets a container into this machine: /srv:/x"),
            ("docker", ["run", "--privileged", "x:1"], "lets a container into this machine: --privileged"),
            ("docker", ["run", "--network", "host", "x:1"], "lets a container into"), ("sudo", ["npx", "x@1.2.3"], "runs as another user: sudo"),
            ("go", ["run", "example.invalid/x@latest"], unpinned), ("go", ["run", "example.invalid/x@v1.2.3"], None),
            ("deno", ["run", "-A", "npm:x"], unpinned), ("deno", ["run", "-A", "main.ts"], None),
            ("bash", ["-c", "npx x"], "runs a line of shell"), ("sh", ["-lc", "x"], "runs a line of shell"), ("bash", ["run.sh"], None)):
        risks = one(daemon, command=command, args=args)["risks"]
        wanted = [risk for risk in risks if "outside the project" not in risk]
        check((said is None and not wanted) or (said is not None and len(wanted) == 1 and said in wanted[0]), "%s %s: %s" % (command, args, risks))


@scene
def variables_that_load_other_code_or_switch_protection_off_are_told(daemon):  # C105, C119
    server = case(daemon, "C105", "mcp.json").servers()["office"]
    equal(server["runs"], "python -m uv tool run office-mcp --tool-tier core")
    has(server["risks"], "NODE_OPTIONS makes it load", "OAUTHLIB_INSECURE_TRANSPORT may switch a protection off", "office-mcp, whose version")
    for name in ("LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONSTARTUP", "BASH_ENV", "PATH", "JAVA_TOOL_OPTIONS", "RUBYOPT", "PERL5OPT"):
        has(one(daemon, command="x", env={name: "y"})["risks"], name + " makes it load")
    for name in ("NODE_TLS_REJECT_UNAUTHORIZED", "PYTHONHTTPSVERIFY", "ALLOW_UNAUTHENTICATED_STDIO", "GIT_SSL_NO_VERIFY"):
        has(one(daemon, command="x", env={name: "0"})["risks"], name + " may switch")
    for name in ("LD_NOTHING", "MY_PATH", "NODE", "TRANSPORT"):
        equal(one(daemon, command="x", env={name: "y"})["risks"], [])


@scene
def what_lies_outside_the_project_is_told(daemon):  # C99
    servers = case(daemon, "C99", "mcp.json").servers()
    equal(len(servers), 3)
    for server in servers.values():
        has(server["risks"], "the command is outside the project: /srv/user/", "an argument is outside the project: /srv/user/")
    has(servers["kb"]["risks"], "PYTHONPATH")
    check(servers["range_ext"]["runs"] != servers["range_int"]["runs"], "two servers of one script look the same")
    equal([value["credential"] for value in servers["range_int"]["values"]], [True])
    inside = File(daemon, "{}")
    with open(inside.path, "w", encoding="utf-8") as file:
        json.dump({"mcpServers": {"s": {"command": inside.folder + "/run", "args": [inside.folder + "-other/x"]}}}, file)
    equal(inside.servers()["s"]["risks"], ["an argument is outside the project: %s-other/x" % inside.folder])


@scene
def plain_http_is_told_and_to_elsewhere_refused(daemon):
    has(one(daemon, url="http://127.0.0.1:3000/mcp")["risks"], "plain http, to this machine")
    refuses(daemon, "must be https", url="http://10.0.0.1/mcp")
    equal(one(daemon, url="https://x.example.invalid/mcp")["risks"], [])


@scene
def ordinary_files_of_a_team_come_without_noise(daemon):  # C101, C104, C107
    servers = case(daemon, "C107", "b.json").servers()
    equal([(server["risks"], server["notes"]) for server in servers.values()], [([], [])])
    equal(case(daemon, "C107", "a.json").servers()["mon"]["risks"], [])
    chat, todo = case(daemon, "C101", "mcp.json").servers().values()
    has(chat["notes"], "oauth isn't carried over")
    equal((chat["state"], chat["runs"], chat["faults"], todo["notes"]), ("proposed", "https://chat.example.invalid/mcp", [], []))
    equal([case(daemon, "C104", name).servers()["db"]["runs"][-5:] for name in ("a.json", "b.json")], ["aaaaa", "bbbbb"])


@scene
def what_codex_keeps_is_read(daemon):  # C39
    servers = case(daemon, "C39", "config.toml").servers()
    equal({name: server["runs"] for name, server in servers.items()}, {"alpha": "alpha", "beta": "https://b.example.invalid/mcp"})
    has(servers["alpha"]["notes"], "startup_timeout_sec", "future_key isn't carried over")
    toml = File(daemon, '[mcp_servers.a]\ncommand = "x"\nenabled = false\nenabled_tools = ["read"]\ndisabled_tools = ["write"]\n'
                'started = 1979-05-27\n', "config.toml").servers()["a"]
    equal(toml["enabled"], False)
    has(toml["risks"], "disabled_tools takes tools away")
    has(toml["notes"], "started isn't carried over")


# ---- taking them over

def admin(daemon, project):
    return ["--project", project, "--apply", "--state", daemon.state]


def servers_of(daemon, world):
    """What the project has beside what is built in."""
    items = daemon.admin.get("/v1/projects/%s/servers" % world.id).must(200).json["items"]
    return {item["mcpId"]: item for item in items if item["kind"] != "builtin"}


@scene
def nothing_changes_without_apply_and_with_it_the_daemon_has_them(daemon):
    world = daemon.world()
    file = File(daemon, {"mcpServers": {
        "docs": {"url": "https://docs.example.invalid/mcp?ref=1", "headers": {"Authorization": "Bearer " + CANARY}},
        "Local One": {"command": "server", "args": ["--x", "y z"], "env": {"LEVEL": "debug", "T": CANARY, "FROM": "${T}"}, "disabled": True},
        "bad": {"link": "x"}}})
    file.servers("--project", world.id, wanted=1)
    equal(list(servers_of(daemon, world)), [])
    code, out, err = file.run(*admin(daemon, world.id))
    equal((code, err), (1, ""))
    check(out.count("TAKEN OVER") == 2 and "REFUSED  bad" in out, out)
    have = servers_of(daemon, world)
    equal(sorted(have), ["docs", "local-one"])
    spec = have["local-one"]["spec"]
    equal((spec["command"], spec["args"], have["local-one"]["enabled"]), ("server", ["--x", "y z"], False))
    equal(spec["env"], {"LEVEL": {"credential": False, "set": True}, "T": {"credential": True, "set": True},
                        "FROM": {"credential": True, "set": False}})
    equal((have["docs"]["spec"]["url"], have["docs"]["enabled"]), ("https://docs.example.invalid/mcp?ref=1", True))
    daemon.check_secrets()


@scene
def a_server_that_is_there_stays_unless_it_is_to_be_replaced(daemon):
    world = daemon.world()
    path = "/v1/projects/%s/servers/" % world.id
    daemon.admin.put(path + "docs", {"spec": {"transport": "stdio", "command": "mine"}}).must(201)
    file = File(daemon, {"mcpServers": {"docs": {"command": "theirs"}, "more": {"command": "m"}}})
    states = {name: server["state"] for name, server in file.servers(*admin(daemon, world.id), wanted=1).items()}
    equal(states, {"docs": "there already", "more": "taken over"})
    equal(daemon.admin.get(path + "docs").must(200).json["spec"]["command"], "mine")
    file.servers(*admin(daemon, world.id), "--replace", "--only", "docs")
    equal(daemon.admin.get(path + "docs").must(200).json["spec"]["command"], "theirs")


@scene
def only_what_is_named_is_taken_over(daemon):
    world = daemon.world()
    file = File(daemon, {"mcpServers": {"a": {"command": "x"}, "b": {"link": "x"}, "C": {"command": "y"}}})
    equal(list(file.servers(*admin(daemon, world.id), "--only", "c")), ["c"])
    equal(list(servers_of(daemon, world)), ["c"])
    code, _, err = file.run("--only", "absent")
    check(code == 2 and "absent" in err, err)


@scene
def a_wrong_command_line_is_exit_2(daemon):
    file = File(daemon, {"mcpServers": {"a": {"command": "x"}}})
    for words in (["--apply"], ["--replace"], ["more"], ["--bogus"]):
        code, out, err = file.run(*words)
        equal((code, out), (2, ""))
        check(err, words)
    os.unlink(file.path)
    equal(file.run()[0], 2)


@contextlib.contextmanager
def configured():
    with tempfile.TemporaryDirectory(prefix="admitd-import.") as scratch:
        key = os.path.join(scratch, "secrets.key")
        with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(os.urandom(32))
        with running("[secrets]\nkey_file = %s\n" % key) as daemon:
            yield daemon


if __name__ == "__main__":
    run(configured)
