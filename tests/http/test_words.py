#!/usr/bin/env python3
"""What the API says to people (chapter 7.4): the words of events, of decisions and of the queue, and nobody else's among them. Speaks TAP."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from daemon import (LIST, READ, check, equal, free, package, reads, requirement, run_scenes, scene)  # noqa: E402
from openapi import load  # noqa: E402

MARK = "written <b>by somebody</b>"
TONES = ("neutral", "amber", "red", "slate", "green")


def story(world, label):
    return world.daemon.admin.get("/v1/packages/%s/timeline?limit=500" % world.pid(label)).must(200)["items"]


def told(items, kind, what=lambda item: True):
    """The words of the last event of a type."""
    return [item["words"] for item in items if item["type"] == kind and what(item)][-1]


def are_ours(words):
    """Whether they are whole, and no other person's text is in what the daemon says."""
    return (words["tone"] in TONES and words["sign"] and words["headline"] and words["detail"] != "" and
            not any(MARK in (words[name] or "") for name in ("headline", "detail")))


# ---- events


@scene
def a_package_tells_its_whole_story(daemon):
    world = daemon.world()
    world.submit(free("first"), reads("second", READ, after=["first"]))
    world.project_grant(READ, reason=MARK)
    world.approve()
    world.outcome(world.handoff("first"), summary=MARK)
    world.project_grant(decision="revoked", reason=MARK)
    world.handoff("second", status=409)
    items = story(world, "second")
    equal([int(item["id"]) for item in items], sorted({int(item["id"]) for item in items}))
    check(all(are_ours(item["words"]) for item in items), items)
    plan = told(items, "task.status", lambda item: item["changed"]["after"] == "proposed")
    equal((plan["headline"], plan["minor"]), ("Plan revision 1 sent by planner-service", False))
    equal(told(items, "surface.approval")["headline"], "approver-1 approved the plan, revision 1")
    check("filesystem seen healthy at " in told(items, "surface.approval")["detail"], told(items, "surface.approval"))
    before = told(items, "package.status", lambda item: item["changed"]["label"] == "first")
    equal((before["headline"], before["detail"], before["minor"]), ("first completed", "This package was next", False))
    removed = told(items, "grant.recorded")
    equal((removed["headline"], removed["detail"], removed["sign"]),
          ("approver-1 removed access in %s, revision 2" % world.id, "Held 1 package", "disc, minus"))
    equal(removed["quote"], {"text": MARK, "by": "approver-1"})
    equal(told(items, "hold.opened")["headline"], "Held: project access was removed")
    refused = told(items, "surface.handoff")
    equal((refused["headline"], refused["detail"], refused["sign"]),
          ("Handoff refused for runner-service", "No run made, no attempt counted", "diamond"))


@scene
def the_log_is_read_newest_first_with_the_names_of_what_it_is_about(daemon):
    world = daemon.world()
    world.submit(reads("first"))
    pages = [daemon.auditor.get("/v1/audit?project=%s&order=newest&limit=2" % world.id).must(200)]
    while pages[-1]["next"]:
        pages.append(daemon.auditor.get(pages[-1]["next"]).must(200))
    newest = [row for page in pages for row in page["items"]]
    oldest = daemon.auditor.get("/v1/audit?project=%s&order=oldest&limit=500" % world.id).must(200)["items"]
    equal(newest, list(reversed(oldest)))
    equal({row["label"] for row in newest if row["package"]}, {"first"})
    equal({row["label"] for row in newest if row["task"] and not row["package"]}, {"A plan"})
    equal({row["label"] for row in newest if not row["task"]}, {"Project " + world.id})
    equal(daemon.auditor.get("/v1/audit?order=sideways").status, 400)
    equal(daemon.auditor.get("/v1/audit?order=newest", Accept="application/x-ndjson").status, 400)


@scene
def a_story_has_nothing_of_other_projects_packages_and_times(daemon):
    world, other = daemon.world(), daemon.world()
    world.project_grant(READ)
    world.submit(reads("a"), free("b"))
    other.submit(reads("c"))
    other.project_grant(READ)
    world.approve()
    world.outcome(world.handoff("b"))
    items = story(world, "a")
    equal({item["project"] for item in items}, {world.id})
    equal({item["packageId"] for item in items}, {None, world.pid("a")})
    equal([item for item in items if item["type"] == "grant.recorded"], [])


@scene
def a_story_is_read_page_by_page(daemon):
    world = daemon.world()
    world.submit(free("first"), reads("second", READ, after=["first"]))
    world.project_grant(READ)
    world.approve()
    whole, found, href = story(world, "second"), [], "/v1/packages/%s/timeline?limit=1" % world.pid("second")
    while href:
        page = daemon.admin.get(href).must(200)
        found += page["items"]
        href = page["next"]
    equal(found, whole)


@scene
def a_freed_package_is_counted_beside_the_grant_that_freed_it(daemon):
    world = daemon.world()
    world.submit(reads("a"), reads("b"))
    world.grant("a", reason=MARK)
    once = told(story(world, "a"), "grant.recorded")
    equal((once["headline"], once["detail"], once["quote"]["text"]), ("approver-1 approved read access, once", READ + ". Freed 1 package", MARK))
    world.grant("a", decision="denied")
    equal(told(story(world, "a"), "grant.recorded")["detail"], "Held 1 package")
    world.project_grant(READ, LIST)
    equal(told(story(world, "b"), "grant.recorded")["detail"], "%s, %s. Freed 2 packages" % (LIST, READ))


@scene
def every_row_of_the_log_has_words(daemon):
    world = daemon.world()
    world.submit(free("a"), reads("b"))
    world.approve(status=409)
    world.project_grant(READ, reason=MARK)
    world.approve()
    world.outcome(world.handoff("a"), "failed", summary=MARK)
    world.health("github", "auth_required", error=MARK)
    daemon.operator.post("/v1/tasks/%s/changes" % world.task_id(), {"planRevision": "1", "reason": MARK}).must(200)
    known = set(load().document["components"]["schemas"]["EventType"]["enum"])
    seen, href = set(), "/v1/audit?limit=500"
    while href:
        page = daemon.auditor.get(href).must(200)
        for row in page["items"]:
            check(are_ours(row["words"]) and row["words"]["headline"] != row["type"], row)
            seen.add(row["type"])
        href = page["next"]
    check(seen <= known and len(seen) >= 12, sorted(seen))
    errors = [row["words"] for row in daemon.auditor.get("/v1/audit?type=health.changed&project=" + world.id).must(200)["items"]]
    equal((errors[-1]["headline"], errors[-1]["quote"]), ("github needs a sign-in", {"text": MARK, "by": "github"}))


@scene
def what_is_exported_and_chained_has_no_words(daemon):
    world = daemon.world()
    world.submit(free("a"))
    lines = daemon.auditor.get("/v1/audit", Accept="application/x-ndjson").must(200).raw
    check(b'"words"' not in lines and b'"task.status"' in lines, lines[:300])


# ---- decisions


def why(world, decision):
    def found():
        answer = world.daemon.auditor.get("/v1/decisions/" + decision)
        return answer.json if answer.status == 200 else None
    return world.daemon.wait_until(found, "the record of " + decision)


def previewed(world, label):
    return why(world, {item["label"]: item["decisionId"] for item in world.preview()["packages"]}[label])


@scene
def a_decision_says_which_row_in_plain_words(daemon):
    world = daemon.world()
    world.project_grant(READ)
    world.submit(package("a", requirement("fs", capabilities=["filesystem.read"]),
                         subtasks=[{"id": "s", "agent": "backend", "mcpCapabilities": [READ]}]))
    world.project_grant(decision="revoked", reason=MARK)
    found = previewed(world, "a")
    equal(found["words"], {"sign": "disc, minus", "tone": "amber",
                           "headline": "Blocked by row 5a: it reads project files, and access doesn't cover them.",
                           "detail": READ + " lost the project's grant, which was removed; approve again"})
    asked = found["requirements"][0]
    equal((asked["level"], asked["goesOnWithout"]), ("required", False))
    equal(asked["operatorState"], {"key": "needs_project_context", "tone": "amber", "sign": "disc, minus",
                                   "headline": "Project access was removed", "body": "This project's read access was removed."})
    equal(asked["trace"][-1], {"row": "5a", "met": True, "asks": "approved, unused, covering?", "answer": "no",
                               "because": "revoked, access removed"})
    equal({step["answer"] for step in asked["trace"][:-1]}, {"yes", "no"})
    one = asked["capabilities"][0]
    equal((one["classWords"], one["reaches"], one["coverage"]), ("read-only", "read-only files", "none: access removed"))
    equal(one["verdict"], {"sign": "disc, minus", "tone": "amber", "headline": "Project access was removed"})
    task = found["subtasks"][0]
    equal((task["operatorState"]["headline"], task["verdict"]["headline"]), ("Project access was removed", "Waits for the same approval"))
    check(MARK not in json.dumps(found["requirements"]), "a person's words are in a decision's")


@scene
def each_capability_says_how_it_reaches_the_agent_and_what_became_of_it(daemon):
    world = daemon.world()
    world.project_grant(READ)
    world.submit(package("a", requirement("fs"),
                         requirement("live", index=1, mcp="github", level="optional", action="continue_without_mcp",
                                     capabilities=["github.issues.create"]),
                         requirement("text", index=2, mcp="github", level="optional", action="continue_without_mcp",
                                     capabilities=["github.issues.read"])),
                 package("b", requirement("typo", mcp="github", capabilities=["github.secerts.write", "github.issues.read"])))
    found = previewed(world, "a")
    said = {one["requirementKey"]: one["capabilities"][0] for one in found["requirements"]}
    equal({key: (one["reaches"], one["coverage"], one["verdict"]["headline"]) for key, one in said.items()},
          {"fs": ("read-only files", "access to the project", "May be read"),
           "live": ("live tool", "needs none", "Not offered yet, goes on without"),
           "text": ("text in its prompt", "needs none", "No text of it in the prompt")})
    check(found["words"]["headline"].startswith("Goes ahead with a warning by row "), found["words"])
    typo = previewed(world, "b")["requirements"][0]["capabilities"]
    equal([(one["classWords"], one["reaches"], one["verdict"]["headline"], one["nearest"]) for one in typo],
          [("unknown", "nothing", "Not known", "github.secrets.write"),
           ("read-only", "text in its prompt", "Blocked with its requirement", None)])


@scene
def words_are_no_part_of_a_decision(daemon):
    world = daemon.world()
    world.submit(reads("a"))
    found = previewed(world, "a")
    again = daemon.auditor.post("/v1/decisions/%s/replay" % found["id"]).must(200)
    equal((again["same"], again["inputsDigest"]["recorded"]), (True, found["id"]))
    check(not {"words", "operatorState", "verdict"} & set(re.findall(r'"(\w+)":', json.dumps([found["inputs"], found["result"]]))), found)


# ---- the queue


@scene
def every_item_of_the_queue_has_a_tag_and_words(daemon):
    world = daemon.world()
    world.submit(reads("a"), package("b", requirement("typo", mcp="github", capabilities=["github.secerts.write"])), name="held")
    world.submit(free("c"), name="back")
    world.submit(free("d"), name="failed")
    world.approve("failed")
    for _ in range(3):
        world.outcome(world.handoff("d", "failed"), "failed")
    daemon.operator.post("/v1/tasks/%s/changes" % world.task_id("back"), {"planRevision": "1", "reason": MARK}).must(200)
    page = daemon.operator.get("/v1/recovery?limit=500&project=" + world.id).must(200)
    equal([tag["label"] for tag in page["tags"]], ["Plans", "Access", "Set-up", "Plan changes", "Other"])
    ids = {tag["id"] for tag in page["tags"]}
    said = {(item["kind"], item.get("label")): (item["tag"], item["words"]["headline"]) for item in page["items"]}
    equal(said, {("package_held", "a"): ("access", "Waiting for read access"), ("package_held", "b"): ("changes", "Plan needs a change"),
                 ("plan_waits_for_approval", None): ("plans", "Plan waits for approval"),
                 ("plan_sent_back", None): ("other", "Plan was sent back"), ("package_failed", "d"): ("other", "Package failed")})
    for item in page["items"]:
        check(item["tag"] in ids and item["words"]["sign"] and item["words"]["tone"] in TONES, item)
        if "operatorState" in item:
            equal(item["words"], {name: item["operatorState"][name] for name in ("sign", "tone", "headline")})


if __name__ == "__main__":
    run_scenes()
