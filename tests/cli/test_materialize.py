#!/usr/bin/env python3
"""admitctl materialize: what is written, for whom, with which modes (chapter 5.7; cases H14 to H20, H29 to H33)."""
import json
import os
import subprocess
import sys
import tempfile

try:
    import tomllib
except ImportError:  # before Python 3.11
    tomllib = None

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from materializing import BUILT_IN, DOCS, ISSUES, ROOT, Place, TOKEN, mode, read, strict  # noqa: E402
from schema import Schemas  # noqa: E402
from tap import check, equal, run, test  # noqa: E402

YAML_PAIRS = os.path.join(os.environ.get("BUILDDIR", "."), "yaml_pairs")
SKILL = {"name": "bug-triage", "description": 'x: "y" # z\nsecond', "instructions": "Look first.",
         "resources": [{"relPath": "templates/report.md", "content": "# Report\n"},
                       {"relPath": "checklist.md", "content": "- one\n"}]}




def named(function):
    with tempfile.TemporaryDirectory() as folder:
        function(Place(folder))


# ---- Claude Code

@test
def the_json_for_claude_is_what_is_written_down_here_byte_for_byte():
    @named
    def _(place):
        made = place.make("--body", place.body(ISSUES, DOCS))
        text = read(made["directory"], "mcp-servers.json")
        equal(text, '{"mcpServers":{"issues":{"type":"stdio","command":"/usr/bin/issue-server","args":["-y","--verbose"],'
              '"env":{"ISSUE_TOKEN":"tok-abcdef","STAGE":"production"}},"docs":{"type":"http",'
              '"url":"https://docs.example.com/mcp?project_ref=a","headers":{"Authorization":"Bearer tok-abcdef"}}}}\n')
        equal(strict(text)["mcpServers"]["docs"], {"type": "http", "url": DOCS["url"], "headers": DOCS["headers"]})
        equal(made["arguments"], ["--mcp-config", made["directory"] + "/mcp-servers.json", "--strict-mcp-config"])
        check(TOKEN not in " ".join(made["arguments"]), "a credential in an argument")


@test
def one_narrowed_server_makes_a_list_that_names_the_rest_too():
    @named
    def _(place):
        made = place.make("--body", place.body(dict(ISSUES, allowedTools=["list", "get.one"]), DOCS))
        equal(made["arguments"][3], "--allowedTools")
        equal(made["arguments"][4].split(","), ["mcp__issues__list", "mcp__issues__get.one", "mcp__docs", *BUILT_IN])
        equal(len(BUILT_IN), 24)
        equal(len(place.make("--body", place.body(ISSUES, DOCS))["arguments"]), 3)


@test
def without_a_server_there_is_no_file_and_no_other_config_is_read():
    @named
    def _(place):
        made = place.make("--body", place.body())
        equal(made["arguments"], ["--strict-mcp-config"])
        equal(sorted(os.listdir(made["directory"])), ["admission.json"])


@test
def no_file_is_anybody_elses_whatever_the_umask():
    @named
    def _(place):
        for mask in (0, 0o77, 0o777):
            made = place.make("--body", place.body(ISSUES), preexec=lambda mask=mask: os.umask(mask))
            equal(mode(made["directory"]), 0o700)
            for name in ("mcp-servers.json", "secrets.json", "admission.json"):
                equal(mode(made["directory"], name), 0o600, name)
            equal(mode(place.base) & 0o77, 0)
            if mask == 0o777:
                break
            place.ctl("--remove", made["directory"], base=False)


@test
def a_base_that_others_can_use_is_refused():
    @named
    def _(place):
        body = place.body(ISSUES)
        os.mkdir(place.base, 0o755)
        os.chmod(place.base, 0o755)
        code, _, err = place.ctl("--ungoverned", "--body", body, "--owner", str(os.getpid()))
        equal(code, 1)
        check("not this user's alone" in err, err)
        os.rmdir(place.base)
        os.mkdir(place.path("elsewhere"), 0o700)
        os.symlink(place.path("elsewhere"), place.base)
        equal(place.ctl("--ungoverned", "--body", body, "--owner", str(os.getpid()))[0], 1)
        equal(os.listdir(place.path("elsewhere")), [])


@test
def a_server_whose_credential_is_not_set_is_withheld():
    @named
    def _(place):
        made = place.make("--body", place.body(dict(ISSUES, env={}), DOCS))
        equal(made["servers"], ["docs"])
        equal([(item["kind"], item["name"], item["reason"]) for item in made["withheld"]],
              [("server", "issues", "credential_not_set")])


# ---- Codex

@test
def the_toml_for_codex_reads_back_as_what_was_given():
    if tomllib is None:
        return
    texts = ["-y", 'a"b', "line\nfeed", "\x7f", "\\", "tab\t\r\x01\b\f", "ä€😀", "'", "# no comment", '"""', "\\u0041",
             '{"a":"postgres in here", "b":[1,2]}', ""]

    @named
    def _(place):
        server = {"id": "0-_a", "transport": "stdio", "command": 'c "x" \\', "args": texts,
                  "env": {'A.B"C': "1", "D\\E": 'x"y\n', "PLAIN": "z"}, "allowedTools": ["one", "two.b"]}
        made = place.make("--agent", "codex", "--body", place.body(server, ISSUES))
        text = read(made["directory"], "config.toml")
        found = tomllib.loads(text)
        equal(text.split("\n", 1)[0], 'cli_auth_credentials_store = "file"')
        equal(found, {"cli_auth_credentials_store": "file", "mcp_servers": {
            "0-_a": {"command": server["command"], "args": texts, "enabled_tools": ["one", "two.b"], "env": server["env"]},
            "issues": {"command": ISSUES["command"], "args": ISSUES["args"], "env": ISSUES["env"]}}})
        equal(made["environment"], {"CODEX_HOME": made["directory"]})
        equal(made["arguments"], [])
        equal(mode(made["directory"], "config.toml"), 0o600)


@test
def codex_gets_http_servers_only_when_asked():
    @named
    def _(place):
        made = place.make("--agent", "codex", "--body", place.body(DOCS))
        equal(read(made["directory"], "config.toml"), 'cli_auth_credentials_store = "file"\n')
        equal([(item["name"], item["reason"]) for item in made["withheld"]], [("docs", "http_not_asked_for")])
        made = place.make("--agent", "codex", "--codex-http", "--body", place.body(DOCS))
        equal(read(made["directory"], "config.toml"),
              'cli_auth_credentials_store = "file"\n\n[mcp_servers.docs]\n'
              'url = "https://docs.example.com/mcp?project_ref=a"\n\n[mcp_servers.docs.http_headers]\n'
              '"Authorization" = "Bearer tok-abcdef"\n')
        equal(made["withheld"], [])


# ---- skills

@test
def a_skill_goes_into_a_home_of_the_runs_own():
    @named
    def _(place):
        made = place.make("--own-home", "--body", place.body(skills=[SKILL]))
        home = os.path.join(made["directory"], "home")
        equal(read(home, "skills/bug-triage/SKILL.md"),
              '---\nname: "bug-triage"\ndescription: "x: \\"y\\" # z second"\n---\n\nLook first.\n')
        equal(read(home, "skills/bug-triage/templates/report.md"), "# Report\n")
        equal(read(home, "skills/bug-triage/checklist.md"), "- one\n")
        equal(made["environment"], {"CLAUDE_CONFIG_DIR": home})
        equal(made["skills"], ["bug-triage"])


@test
def the_front_matter_is_yaml_that_means_the_text():
    texts = ['x: "y" # z\nsecond', "- a\n- b", "'quoted'", "tab\there\x85\u2028end", "@at `tick` %percent", "null", "\\n",
             "{a: 1}", "\x1b[31mred\x7f", "ä😀\ufeffx\ufffe"]

    @named
    def _(place):
        skills = [dict(SKILL, name="s%d" % at, description=text, resources=[]) for at, text in enumerate(texts)]
        made = place.make("--own-home", "--body", place.body(skills=skills))
        for at, text in enumerate(texts):
            head = read(made["directory"], "home/skills/s%d/SKILL.md" % at).split("---\n")[1]
            equal(len(head.splitlines()), 2)
            found = json.loads(subprocess.run([YAML_PAIRS], input=head.encode(), stdout=subprocess.PIPE, timeout=60, check=True).stdout)
            equal(found["name"], "s%d" % at)
            kept = "".join(" " if char.isspace() or char == "\ufeff" else char for char in text
                           if char not in "\x1b\x7f\ufffe")
            equal(found["description"], " ".join(kept.split()))


@test
def a_name_that_is_taken_in_a_home_is_left_alone_a_link_too():
    @named
    def _(place):
        home = place.path("home")
        os.makedirs(os.path.join(home, "skills", "mine"))
        os.mkdir(place.path("elsewhere"))
        os.symlink(place.path("elsewhere"), os.path.join(home, "skills", "bug-triage"))
        made = place.make("--home", home, "--body", place.body(skills=[SKILL, dict(SKILL, name="mine"), dict(SKILL, name="new")]))
        equal([(item["name"], item["reason"]) for item in made["withheld"]],
              [("bug-triage", "name_taken"), ("mine", "name_taken")])
        equal(made["skills"], ["new"])
        equal((os.listdir(place.path("elsewhere")), os.listdir(os.path.join(home, "skills", "mine"))), ([], []))
        check(os.path.exists(os.path.join(home, "skills/new/SKILL.md")), "the other one is written")
        equal(place.ctl("--remove", made["directory"], base=False)[0], 0)
        equal(sorted(os.listdir(os.path.join(home, "skills"))), ["bug-triage", "mine"])


@test
def a_home_whose_skills_are_a_link_gets_nothing():
    @named
    def _(place):
        os.makedirs(place.path("home"))
        os.mkdir(place.path("elsewhere"))
        os.symlink(place.path("elsewhere"), place.path("home", "skills"))
        code, _, err = place.ctl("--ungoverned", "--owner", str(os.getpid()), "--json", "--home", place.path("home"),
                                 "--body", place.body(skills=[SKILL]))
        equal(os.listdir(place.path("elsewhere")), [])
        check(code in (0, 1) and ("name_taken" in err or "a link" in err), err)


@test
def a_persons_own_home_is_never_written_to():
    @named
    def _(place):
        for name in (".claude", ".codex"):
            os.mkdir(os.path.join(place.person, name))
            place.write("person/%s/settings.json" % name, "{}")
        before = snapshot(place.person)
        for words in (["--own-home"], ["--agent", "codex", "--codex-http"], ["--own-home", "--agent", "claude-code"]):
            place.make(*words, "--body", place.body(ISSUES, DOCS, skills=[SKILL]))
        for own in (os.path.join(place.person, ".claude"), place.person):
            code, _, err = place.ctl("--ungoverned", "--owner", "1", "--home", own, "--body", place.body(skills=[SKILL]))
            equal(code, 2)
            check("a person's own" in err, err)
        equal(snapshot(place.person), before)


def snapshot(folder):
    found = {}
    for above, _, names in os.walk(folder):
        info = os.lstat(above)
        found[above] = info.st_mtime_ns
        for name in names:
            info = os.lstat(os.path.join(above, name))
            found[os.path.join(above, name)] = (info.st_mtime_ns, info.st_size, info.st_mode)
    return found


@test
def resources_in_a_checkout_are_excluded_once_and_never_hold_a_secret():
    @named
    def _(place):
        checkout = place.path("checkout")
        os.makedirs(os.path.join(checkout, ".git", "info"))
        place.write("checkout/.git/info/exclude", "*.o")
        for _ in range(2):
            made = place.make("--checkout", checkout, "--body", place.body(ISSUES, skills=[SKILL]))
            equal(read(checkout, ".admitd-context/skill/bug-triage/checklist.md"), "- one\n")
            for above, _, names in os.walk(checkout):
                for name in names:
                    check(TOKEN not in read(above, name), name)
            check(not os.path.exists(os.path.join(checkout, ".admitd-context/skill/bug-triage/SKILL.md")), "no manifest there")
            equal(place.ctl("--remove", made["directory"], base=False)[0], 0)
            check(not os.path.exists(os.path.join(checkout, ".admitd-context/skill/bug-triage")), "it is taken away")
        equal(read(checkout, ".git/info/exclude"), "*.o\n.admitd-context/\n")


@test
def a_checkout_whose_context_is_a_link_gets_nothing():
    @named
    def _(place):
        os.makedirs(place.path("checkout", ".git"))
        os.mkdir(place.path("elsewhere"))
        os.symlink(place.path("elsewhere"), place.path("checkout", ".admitd-context"))
        place.ctl("--ungoverned", "--owner", str(os.getpid()), "--checkout", place.path("checkout"),
                  "--body", place.body(skills=[SKILL]))
        equal(os.listdir(place.path("elsewhere")), [])


# ---- what is said

@test
def without_a_decision_it_is_said_loudly_and_so_is_every_drop():
    @named
    def _(place):
        body = place.body(ISSUES, {"id": "Bad Id", "transport": "stdio", "command": "x"},
                          dict(DOCS, id="plain", url="http://docs.example.com/"))
        code, out, err = place.ctl("--ungoverned", "--owner", str(os.getpid()), "--body", body)
        equal(code, 0)
        check("UNGOVERNED" in err and "dropped at /servers/1" in err and "dropped at /servers/2/url" in err, err)
        check(TOKEN not in out + err, "a credential is shown")
        check("--strict-mcp-config" in out, out)


@test
def a_wrong_command_line_is_exit_2():
    @named
    def _(place):
        body = place.body(ISSUES)
        for words, said in ((["--body", body], "--run RUN"), (["--ungoverned"], "needs --body"),
                            (["--ungoverned", "--run", "r", "--body", body], "--run RUN"),
                            (["--ungoverned", "--body", body], "--owner PID"),
                            (["--ungoverned", "--body", body, "--agent", "x", "--owner", "1"], "claude-code or codex"),
                            (["--ungoverned", "--body", body, "--owner", "1", "--", "true"], "one of them"),
                            (["--ungoverned", "--body", body, "--agent", "codex", "--own-home", "--owner", "1"], "for claude-code"),
                            (["--ungoverned", "--body", body, "--owner", "4194304"], "no such process"),
                            (["--check", "a", "--sweep"], "one of them")):
            code, out, err = place.ctl(*words)
            equal((code, out), (2, ""), "%s: %s" % (words, err))
            check(said in err, "%s said %r" % (words, err))
        equal(place.runs(), [])


# ---- drift

@test
def the_note_names_the_decision_and_a_check_tells_what_changed():
    @named
    def _(place):
        made = place.make("--own-home", "--body", place.body(ISSUES, skills=[SKILL]))
        folder = made["directory"]
        note = strict(read(folder, "admission.json"))
        equal((note["decisionId"], note["ungoverned"], note["servers"]), (None, True, ["issues"]))
        check(TOKEN not in read(folder, "admission.json"), "a credential in the note")
        equal(place.ctl("--check", folder, base=False)[:2], (0, ""))
        with open(os.path.join(folder, "mcp-servers.json"), "a", encoding="utf-8") as file:
            file.write(" ")
        os.chmod(os.path.join(folder, "secrets.json"), 0o640)
        os.remove(os.path.join(folder, "home/skills/bug-triage/checklist.md"))
        os.remove(os.path.join(folder, "home/skills/bug-triage/SKILL.md"))
        os.symlink("/etc/hostname", os.path.join(folder, "home/skills/bug-triage/SKILL.md"))
        code, out, _ = place.ctl("--check", folder, "--json", base=False)
        equal(code, 1)
        equal({item["path"]: item["drift"] for item in strict(out)["drift"]},
              {"mcp-servers.json": "changed", "secrets.json": "open to others",
               "skills/bug-triage/checklist.md": "missing", "skills/bug-triage/SKILL.md": "no file"})


@test
def only_a_folder_with_a_note_is_removed():
    @named
    def _(place):
        os.mkdir(place.base, 0o700)
        os.mkdir(os.path.join(place.base, "run-mine"), 0o700)
        place.write("base/run-mine/file", "x")
        equal(place.ctl("--remove", os.path.join(place.base, "run-mine"), base=False)[0], 1)
        equal(read(place.base, "run-mine/file"), "x")
        equal(place.ctl("--check", os.path.join(place.base, "absent"), base=False)[0], 2)


# ---- the published schema

@test
def what_the_schema_takes_is_taken_and_what_it_refuses_is_dropped():
    with open(os.path.join(ROOT, "docs", "job.schema.json"), encoding="utf-8") as file:
        document = json.load(file)
    schemas = Schemas(document)
    root = {key: value for key, value in document.items() if not key.startswith("$")}
    good = ({"servers": [ISSUES, DOCS], "skills": [SKILL]}, {"mcpServers": {"a": {"type": "stdio", "command": "x"}}}, {},
            {"servers": [dict(ISSUES, allowedTools=["a"])], "prompt": "the job's own"})
    bad = ({"servers": [dict(ISSUES, id="Bad Id")]}, {"servers": [{"id": "a"}]}, {"servers": {}}, {"skills": [{"name": "a"}]},
           {"servers": [dict(ISSUES, env={"A": 1})]}, {"servers": [dict(DOCS, url="file:///x")]}, {"mcpServers": {"a__b": {"command": "x"}}},
           {"servers": [dict(ISSUES, allowedTools=[])]}, {"skills": [dict(SKILL, resources=[{"relPath": "../x", "content": ""}])]},
           {"skills": [dict(SKILL, resources=[{"relPath": ".x/y", "content": ""}])]},
           {"skills": [dict(SKILL, resources=[{"relPath": "a", "content": 1}])]}, {"servers": [dict(ISSUES, transport="sse")]})

    @named
    def _(place):
        for bodies, holds in ((good, True), (bad, False)):
            for body in bodies:
                equal(schemas.faults(root, body) == [], holds, repr(body))
                equal(place.make("--own-home", "--body", place.write("b.json", body))["dropped"] == [], holds, repr(body))


if __name__ == "__main__":
    sys.exit(run())
