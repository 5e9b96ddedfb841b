#!/usr/bin/env python3
"""The whole way once through admitctl against a real daemon: every command, and every printed command run as it stands."""
import json
import os
import re
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("lib", "http"):
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), folder))
from daemon import free, package, reads, requirement, run_scenes, scene  # noqa: E402
from tap import check, equal  # noqa: E402

ADMITCTL = os.environ.get("ADMITCTL", "admitctl")


class Person:
    """Runs admitctl with one token."""

    def __init__(self, daemon, name, *words):
        self.daemon = daemon
        self.name = name
        self.words = list(words)

    def __call__(self, *words, wanted=0):
        """Both outputs, after the exit code was `wanted`."""
        env = {key: value for key, value in os.environ.items() if not key.startswith("ADMITD")}
        env["ADMITD_URL"] = "http://127.0.0.1:%d" % self.daemon.port
        done = subprocess.run([ADMITCTL, *words, *self.words], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=60, check=False)
        text = done.stdout.decode()
        equal(done.returncode, wanted, "%s: %s\n%s" % (self.name, " ".join(words), text))
        return text

    def json(self, *words, wanted=0):
        return json.loads(self(*words, "--json", wanted=wanted))

    def run_shown(self, text, label):
        """Runs the command that stands behind a label."""
        found = re.search(r"^  %s +admitctl (.*)$" % label, text, re.M)
        check(found, "no command behind %r in\n%s" % (label, text))
        return self(*shlex.split(found[1]))


class Crew:
    """A project with a folder, people with tokens, and a plan that waits; all of it made by admitctl."""

    def __init__(self, daemon, name, *packages, root=True):
        self.folder = os.path.join(daemon.folder, name)
        self.name = name
        os.makedirs(os.path.join(self.folder, "root"))
        admin = Person(daemon, "admin", "--state", daemon.state)
        self.admin = admin
        for role in ("planner", "approver", "executor"):
            path = os.path.join(self.folder, role + ".token")
            admin("token", "create", "--principal", "%s-%s" % (name, role), "--role", role, "--out", path)
            setattr(self, role, Person(daemon, role, "--token-file", path))
        admin("project", "set", name, *(["--root", os.path.join(self.folder, "root")] if root else []))
        self.plan = os.path.join(self.folder, "plan.json")
        self.write(*packages)
        self.planner("task", "submit", self.plan)

    def write(self, *packages):
        with open(self.plan, "w", encoding="utf-8") as file:
            json.dump({"id": self.name, "project": self.name, "title": "Due dates", "packages": packages}, file)

    def id_of(self, label):
        return next(found["id"] for found in self.planner.json("status", self.name)["packages"] if found["label"] == label)


@scene
def a_plan_goes_from_preview_to_outcome_by_the_commands_that_are_shown(daemon):
    crew = Crew(daemon, "way", reads("backend"))
    text = crew.approver("preview", "way", wanted=1)
    check("BLOCKED  backend" in text and "Waiting for read access" in text and "0 allowed" in text, text)
    text = crew.approver("approve", "way", "--reason", "sprint 12", wanted=1)
    check("changed    nothing since preview" in text and "Nothing was approved" in text, text)
    text = crew.approver.run_shown(text, "to free")
    check("APPROVED  backend" in text and "opens      " + crew.id_of("backend") in text, text)
    text = crew.approver("preview", "way")
    text = crew.approver.run_shown(text, "next")
    check("ALLOWED  backend" in text and "by         way-approver" in text, text)
    text = crew.executor.run_shown(text, "next")
    check("RUNNING  backend" in text and "may read   filesystem.project.read" in text, text)
    check("changed    nothing since approval" in text, text)
    text = crew.executor.run_shown(text, "at the end")
    check("SUCCEEDED  backend" in text and "way, completed" in text, text)
    check("completed" in crew.planner("status", "--project", "way"), "the list of tasks")


@scene
def a_used_approval_is_shown_with_what_changed_and_the_command_that_renews_it(daemon):
    crew = Crew(daemon, "used", reads("backend"))
    package_id = crew.id_of("backend")
    crew.approver("grant", package_id, "--expires", "7d", "--reason", "one run")
    crew.approver("approve", "used")
    token = os.path.join(crew.folder, "run.token")
    claim = crew.executor("handoff", package_id, "--worker", "runner-3", "--token-out", token)
    run_id = re.search(r"run_\w+", claim)[0]
    runner = Person(daemon, "run", "--token-file", token)
    runner("outcome", run_id, "failed", "--summary", "did not apply")
    check("needs grant, used up" in runner("outcome", run_id, "failed", "--summary", "did not apply"), "the same again")
    check("outcome_conflict" in runner("outcome", run_id, "succeeded", wanted=1), "another outcome")
    text = crew.executor("handoff", package_id, wanted=1)
    check("One-time access is used up" in text and "consumed: false -> true" in text, text)
    check("(needs role approver)" in text, text)
    crew.approver.run_shown(crew.approver("status", "used"), "to free")
    crew.executor("handoff", "--any", "--project", "used")


@scene
def a_project_is_opened_closed_and_read_at_its_own_revisions(daemon):
    crew = Crew(daemon, "doors", reads("backend"))
    package_id = crew.id_of("backend")
    words = ["grant", "--project", "doors", "--capability", "filesystem.project.read"]
    check("opens      " + package_id in crew.approver(*words, "--dry-run"), "what it would open")
    equal(crew.approver.json("status", package_id)["hold"]["arm"], "never_approved")
    crew.approver(*words)
    check("already_covered" in crew.approver("grant", package_id, wanted=1), "covered")
    check("holds      " + package_id in crew.approver("revoke", "--project", "doors", "--reason", "the client asked"), "holds")
    check("the client asked" in crew.approver("status", package_id), "the reason is shown")
    check("nothing_to_revoke" in crew.approver("revoke", "--project", "doors", wanted=1), "nothing more")
    crew.approver.run_shown(crew.approver("status", package_id), "or always")
    crew.approver("deny", package_id)
    text = crew.approver("grant", package_id, "--expected-revision", "0", "--root-revision", "1", wanted=1)
    check("revision_conflict" in text and "what stands: revision" in text and "doors-approver" in text, text)
    crew.approver("grant", package_id)
    crew.approver("revoke", package_id)
    check("revision 1" in crew.approver("project", "show", "doors"), "the folder's revision")
    check("doors" in crew.approver("project", "list"), "the list of projects")


@scene
def what_nobody_can_grant_is_changed_in_the_plan_or_the_project(daemon):
    crew = Crew(daemon, "bare", reads("backend"), package("docs", requirement(
        "gh", agent="docs", mcp="github", capabilities=["github.issues.reed"]), agent="docs"), root=False)
    text = crew.planner("preview", "bare", wanted=1)
    check("admitctl project set bare --root DIR" in text and "admitctl task submit PLAN --id bare" in text, text)
    crew.admin("project", "set", "bare", "--root", os.path.join(crew.folder, "root"))
    crew.write(reads("backend"))
    check("revision 2" in crew.planner("task", "submit", crew.plan), "the next revision")
    crew.write(reads("backend", after=["nobody"]))
    check("/packages/0/dependsOn/0" in crew.planner("task", "submit", crew.plan, wanted=1), "the fault's place")
    equal(crew.planner.json("preview", "--file", crew.plan, wanted=1)["code"], "invalid_document")


@scene
def a_plan_is_rejected_sent_back_and_cancelled(daemon):
    crew = Crew(daemon, "moves", free("a"), free("b", after=["a"]))
    text = crew.approver("reject", "moves", "--reason", "not now")
    check("rejecting plan revision 1, the current one" in text and "REJECTED  moves" in text and "not now" in text, text)
    check("task_status" in crew.approver("reject", "moves", wanted=1), "rejected twice")
    text = crew.admin("changes", "moves", "--plan-revision", "1", "--reason", "well then")
    check("CHANGES REQUESTED" in text and "superseded pkg_" in text and "next       admitctl task submit PLAN --id moves" in text, text)
    crew.write(free("a"), free("b", after=["a"]), free("c"))
    crew.planner("task", "submit", crew.plan)
    text = crew.admin("changes", "moves", "--plan-revision", "1", wanted=1)
    check("plan_revision_conflict" in text and "revision 2" in text, text)
    package_id = crew.id_of("a")
    check("has_dependents" in crew.admin("cancel", package_id, wanted=1), "without --cascade")
    text = crew.admin("cancel", package_id, "--cascade", "--reason", "no need")
    check("CANCELLED  a" in text and "with it    " + crew.id_of("b") in text and "moves, proposed" in text, text)
    check("--cascade belongs to a package" in crew.admin("cancel", "moves", "--cascade", wanted=2), "a task with --cascade")
    text = crew.admin("cancel", "moves")
    check("CANCELLED  moves" in text and "cancelled  " + crew.id_of("c") in text, text)
    equal(crew.admin.json("cancel", "moves", wanted=1)["currentStatus"], "cancelled")


@scene
def a_package_is_retried_and_done_again(daemon):
    crew = Crew(daemon, "again", free("a"), free("b", after=["a"]))
    crew.approver("approve", "again")
    for _ in range(3):
        crew.executor("outcome", crew.executor.json("handoff", "--any", "--project", "again")["run"]["id"], "failed")
    package_id = crew.id_of("a")
    text = crew.admin("retry", package_id, "--reason", "no disk")
    check("READY  a" in text and "attempts   3, left 3" in text and "again, approved" in text, text)
    check("not_retryable" in crew.admin("retry", package_id, wanted=1), "retried twice")
    run = crew.executor.json("handoff", package_id)["run"]["id"]
    text = crew.executor("heartbeat", run)
    check("RUNNING  " + run in text and "to be renewed every 20 s" in text, text)
    crew.executor("outcome", run, "succeeded")
    check("run_ended" in crew.executor("heartbeat", run, wanted=1), "a run that is over")
    crew.executor("outcome", crew.executor.json("handoff", "--any", "--wait", "30", "--project", "again")["run"]["id"], "released")
    check("nothing is ready" in crew.executor("handoff", "--any", "--wait", "1", "--project", "nowhere", wanted=1), "a wait in vain")
    check("--wait" in crew.executor("handoff", "--any", "--wait", "31", wanted=2), "too long a wait")
    check("belong to --any" in crew.executor("handoff", package_id, "--wait", "3", wanted=2), "a wait for one package")
    check("READY  a" in crew.executor("rework", package_id, "--reason", "the schema lacks due dates"), "by who built on it")
    equal(crew.planner.json("status", crew.id_of("b"))["status"], "pending")


@scene
def a_project_goes_out_of_use_and_into_it_again(daemon):
    crew = Crew(daemon, "old", reads("a"))
    text = crew.admin("project", "archive", "old", "--reason", "moved")
    check("cancelled  old" in text, text)
    check("project_archived" in crew.planner("task", "submit", crew.plan, "--id", "new", wanted=1), "a plan for it")
    equal(crew.admin.json("project", "unarchive", "old")["archived"], False)
    crew.admin("project", "set", "old", "--root", os.path.join(crew.folder, "root"))
    crew.planner("task", "submit", crew.plan, "--id", "new")


@scene
def who_may_not_is_told_who_may(daemon):
    crew = Crew(daemon, "roles", reads("backend"))
    check("one of these roles is needed: approver" in crew.planner("approve", "roles", wanted=1), "the role")
    nobody = Person(daemon, "nobody")
    check("unauthenticated" in nobody("status", wanted=1), "no token")
    listed = crew.admin("token", "list")
    token = re.search(r"^(tok_\w+) +roles-planner ", listed, re.M)[1]
    crew.admin("token", "revoke", token)
    check("unauthenticated" in crew.planner("status", wanted=1), "a token that was revoked")
    check("sha256:" in crew.approver("catalog", "show"), "the catalog")


@scene
def a_tool_server_is_set_shown_checked_and_removed(daemon):
    crew = Crew(daemon, "served", free("a"))
    path = os.path.join(crew.folder, "github.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"transport": "http", "url": "http://127.0.0.1:1/mcp", "headers": {"X-Key": "not-for-screens"}, "secretKeys": ["X-Key"]},
                  file)
    text = crew.admin("server", "set", "served", "github", "--file", path)
    check("X-Key: not set" in text and "configuration_required" in text and "not-for-screens" not in text, text)
    check("http://127.0.0.1:1/mcp" in crew.admin("server", "show", "served", "github"), "no address")
    text = crew.admin("server", "list", "served")
    check(re.search(r"filesystem +builtin +yes", text) and re.search(r"github +spec +yes +http://127", text), text)
    check("key_file" in crew.admin("server", "check", "served", "github", wanted=1), "a check doesn't say why")
    check("filesystem" in crew.admin("server", "check", "served", "filesystem"), "the daemon's own")
    text = crew.admin("health", "list", "served")
    check(re.search(r"github +configuration_required +probed", text), text)
    check("invalid_document" in crew.admin("health", "report", "served", "github", "healthy", wanted=1), "a word beside the daemon's look")
    crew.admin("server", "set", "served", "github", "--reported", "--off")
    crew.admin("server", "remove", "served", "github")
    check("HEALTHY  github" in crew.admin("health", "report", "served", "github", "healthy", "--valid-seconds", "600"), "no report")
    equal(crew.admin.json("server", "check", "served", "github")["asked"], False)
    check("one of them" in crew.admin("server", "set", "served", "github", "--reported", "--file", path, wanted=2), "both were taken")


if __name__ == "__main__":
    run_scenes()
