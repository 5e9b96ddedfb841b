#!/usr/bin/env python3
"""The main exchanges of the API as they are written down in examples/, step by step against a real daemon. Speaks TAP."""
import hashlib
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from compare import Comparison, Names  # noqa: E402
from daemon import Failed, but_for_decisions, check, equal, is_problem, rfc3339, run_scenes, scene  # noqa: E402

EXAMPLES = os.path.join(os.path.dirname(os.path.realpath(__file__)), "examples")
EXPIRES = "2026-12-07T00:00:00.000Z"
ROLES = {"<planner>": "planner", "<approver>": "approver", "<executor>": "executor"}
NAMES = Names()
KEYS = {}
LATER = rfc3339(7 * 24 * 3600)

# What chapter 4.2 has beyond the examples, which show it shorter.
HOLD = tuple("/packages/*/hold/" + name for name in (
    "mode", "recoveryAction", "decisionId", "since", "retryable", "nextRetryAt", "facts"))
SENTENCES = ("/actions/*/because", "/packages/*/actions/*/because", "/blocked/*/actions/*/because")
SUBTASK = tuple("/packages/*/result/subtaskDecisions/*/" + name for name in ("agent", "mcpId", "class", "deliveryKind", "reason"))


class Exchange:
    """One .http file: a request and the answer it wants."""

    def __init__(self, name):
        with open(os.path.join(EXAMPLES, name), encoding="utf-8") as file:
            text = file.read()
        status = re.search(r"^(\d{3}) [A-Z].*$", text, re.MULTILINE)
        self.method, self.path, self.headers, self.body = self.parse(text[:status.start()])
        self.status = int(status.group(1))
        _, _, self.wanted_headers, self.wanted = self.parse(text[status.start():])

    def key(self):
        """The Idempotency-Key, of which examples show the beginning."""
        return {name: value.replace("…", "") for name, value in self.headers.items() if name == "Idempotency-Key"}

    @staticmethod
    def parse(text):
        head, brace, body = text.partition("\n{\n")
        lines = head.strip().split("\n")
        headers = dict(line.split(": ", 1) for line in lines[1:] if re.match(r"[A-Z][A-Za-z-]+: ", line))
        first = lines[0].split(" (")[0].split()
        return first[0], first[1] if len(first) > 1 else "", headers, json.loads("{" + body) if brace else None


def token_of(daemon, exchange):
    field = exchange.headers["Authorization"].split()[1]
    return daemon.run_token if field.startswith("art_") else getattr(daemon, ROLES[field]).token


def play(daemon, name, extra=(), free=(), request=None):
    """Sends an example's request (or that of another one, `request`) and compares the whole answer; gives it."""
    exchange = Exchange(name)
    asked = Exchange(request) if request else exchange
    body = None if asked.body is None else json.loads(NAMES.fill(json.dumps(asked.body)).replace(EXPIRES, LATER))
    answer = daemon.request(asked.method, NAMES.fill(asked.path), body, token_of(daemon, asked), asked.key())
    answer.must(exchange.status)
    comparison = Comparison(NAMES, extra + SENTENCES, free)
    comparison.compare(exchange.wanted, answer.json)
    for field, wanted in exchange.wanted_headers.items():
        comparison.compare(wanted, answer.headers.get(field.lower(), ""), "header " + field)
    if comparison.differences:
        raise Failed("%s: %d differences\n%s" % (name, len(comparison.differences), "\n".join(comparison.differences)))
    return answer


def canonical_digest(document):
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


@scene
def a_plan_is_put(daemon):
    root = os.path.join(daemon.folder, "tracker")
    os.mkdir(root)
    daemon.operator.put("/v1/projects/tracker", {"name": "tracker", "root": root}).must(201)
    answer = play(daemon, "1-put-task.http", HOLD)
    sent = Exchange("1-put-task.http").body
    for package, stored in zip(sent["packages"], answer["packages"]):
        equal(stored["documentDigest"], canonical_digest(package["document"]), "digest of " + package["label"])


@scene
def its_preview_is_held_for_want_of_a_grant(daemon):
    answer = play(daemon, "2-preview.http", SUBTASK)
    for package in answer["packages"]:
        for evaluation in package["result"]["evaluations"]:
            check(evaluation["decision"]["requestedCapabilities"][0] in evaluation["decision"]["reason"], "a reason names no capability")
    equal([row["status"] for row in answer["health"]], ["healthy", "unknown"])


@scene
def its_approval_is_refused_with_what_blocks_it(daemon):
    before = daemon.planner.get("/v1/tasks/tracker-42").must(200).json
    answer = play(daemon, "3-approval-409.http", ("/surface", "/health", "/blocked/*/aggregate"))
    check("filesystem.project.read" in answer["blocked"][0]["reason"], "the reason names no capability")
    check("github.issues.create" in answer["warnings"][0]["reason"], "the warning names no capability")
    after = daemon.planner.get("/v1/tasks/tracker-42").must(200).json
    equal(but_for_decisions(after), but_for_decisions(before), "the task")


@scene
def its_read_access_is_granted_once(daemon):
    play(daemon, "4-grant.http", ("/actions",))


@scene
def the_same_approval_again_is_not_the_remembered_refusal(daemon):
    answer = play(daemon, "5-approval-200.http", ("/noUndo", "/packages/*/aggregate", "/packages/*/operatorState", "/warnings/*/label",
                                                 "/warnings/*/decisionId"), request="3-approval-409.http")
    held = answer["packages"][0]
    check(held["decisionId"] != held["comparedWith"]["decisionId"], "another world, the same decision")


@scene
def the_package_is_handed_off(daemon):
    answer = play(daemon, "6-handoff-200.http", ("/operatorState", "/aggregate", "/health"))
    daemon.run_token = answer["runToken"]
    daemon.secrets.append(answer["runToken"])


@scene
def the_same_handoff_again_is_the_same_answer_with_its_token(daemon):
    exchange = Exchange("6-handoff-200.http")
    again = daemon.executor.post(NAMES.fill(exchange.path), exchange.body, exchange.key())
    equal(again.must(200)["runToken"], daemon.run_token)
    other = daemon.executor.post(NAMES.fill(exchange.path), {"worker": "another"}, exchange.key())
    is_problem(other, 422, "idempotency_mismatch")


@scene
def its_run_reports_the_outcome(daemon):
    play(daemon, "7-outcome.http", ("/package/hold/facts",))


@scene
def the_next_handoff_is_refused_because_the_grant_is_used_up(daemon):
    answer = play(daemon, "8-handoff-409.http", ("/hold/facts", "/hold/decisionId", "/aggregate", "/actions/4/body/cascade"), ("/detail",))
    check("filesystem.project.read" in answer["detail"] and "approve again" in answer["detail"], answer["detail"])


@scene
def every_answer_named_the_same_decision_for_the_same_inputs(daemon):
    bound = {wanted: found for wanted, found in NAMES.found.items() if wanted.startswith("sha256:")}
    equal(len(set(bound.values())), len(bound), "decisions and digests")
    check(len(bound) >= 7, "only %d digests were compared" % len(bound))
    for found in bound.values():
        check(found not in bound, "a digest was written into the daemon")


if __name__ == "__main__":
    run_scenes()
