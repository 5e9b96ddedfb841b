#!/usr/bin/env python3
"""docs/openapi.json against the daemon it describes. What goes over the wire is held against it in every black-box test: openapi.py."""
import os
import re
import subprocess

from daemon import READ, admitd, check, equal, free, reads, run_scenes, scene
from openapi import TELLING, load
from schema import ANNOTATIONS, at_pointer

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
DOCUMENT = os.path.join(TOP, "docs", "openapi.json")
DESCRIPTION = load()
OPERATIONS = list(DESCRIPTION.operations())
COMPONENTS = DESCRIPTION.document["components"]
KINDS = ("schemas", "responses", "parameters", "headers")

# What every operation may answer, whatever it does.
ALWAYS = {"400", "403", "413", "431", "500", "503"}
WITH_TOKEN = {"401", "429"}
WRITING = {"415"}
# Codes that belong to no operation: their addresses, or their methods, are none of ours.
OF_NO_OPERATION = {"method_not_allowed", "not_implemented"}
# Codes of routes that are to come.
NOT_YET = set()


def read_text(*path):
    with open(os.path.join(TOP, *path), encoding="utf-8") as file:
        return file.read()


def routes():
    """{(method, path): (body word, who)} as the daemon prints it."""
    printed = subprocess.run([admitd(), "routes"], stdout=subprocess.PIPE, check=True).stdout.decode()
    lines = [line.split("\t") for line in printed.splitlines()]
    table = {(method, path): (body, who) for method, path, body, who in lines}
    equal(len(table), len(lines), "routes that are told twice")
    return table


def named(operations):
    return sorted("%s %s" % pair for pair in operations)


def walk(value, at=""):
    """Every object of the document with its JSON pointer."""
    if isinstance(value, dict):
        yield at, value
        for name, item in value.items():
            yield from walk(item, at + "/" + name.replace("~", "~0").replace("/", "~1"))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from walk(item, "%s/%d" % (at, number))


def content(operation):
    """(of an answer or not, media type) of everything with a body in an operation."""
    for media in operation.get("requestBody", {}).get("content", {}).values():
        yield False, media
    for response in operation["responses"].values():
        for media in DESCRIPTION.resolve(response).get("content", {}).values():
            yield True, media


def problem_schemas():
    return {name: schema for name, schema in COMPONENTS["schemas"].items() if "x-code" in schema}


def reached(schema, of=None):
    """Names of the schemas that this one refers to, at any depth."""
    of = set() if of is None else of
    for _, item in walk(schema):
        name = str(item.get("$ref", "")).rpartition("/")[2]
        if name in COMPONENTS["schemas"] and name not in of:
            of.add(name)
            reached(COMPONENTS["schemas"][name], of)
    return of


# ---- the routes

@scene
def every_route_is_described_and_nothing_else(daemon):
    described = {(method, path) for method, path, _ in OPERATIONS}
    equal(named(described - set(routes())), [], "described, but no route")
    equal(named(set(routes()) - described), [], "routes that aren't described")


@scene
def every_address_takes_the_methods_that_are_described(daemon):
    for path, item in DESCRIPTION.document["paths"].items():
        wanted = {"OPTIONS"} | {method.upper() for method in item if method != "parameters"} | ({"HEAD"} if "get" in item else set())
        concrete = re.sub(r"\{[^}]*\}", "x", path)
        answer = daemon.nobody.request("OPTIONS", concrete).must(204)
        equal(set(answer.headers["allow"].split(", ")), wanted, "Allow of " + path)


@scene
def who_may_is_described_as_it_is(daemon):
    table = routes()
    for method, path, operation in OPERATIONS:
        said = []
        for alternative in operation["security"]:
            for scheme, roles in alternative.items():
                said += ["run"] if scheme == "runToken" else roles or ["any"]
        who = table[method, path][1]
        equal(sorted(said) or ["none"], sorted(who.split(",")), "%s %s" % (method, path))


@scene
def bodies_are_described_where_they_are_taken(daemon):
    words = {None: "-", True: "body", False: "body?"}
    table = routes()
    for method, path, operation in OPERATIONS:
        body = operation.get("requestBody")
        equal(words[body.get("required", False) if body else None], table[method, path][0], "%s %s" % (method, path))


def takes_any_member(operation):
    """Whether its body is none of our shapes."""
    media = operation.get("requestBody", {}).get("content", {}).get("application/json", {"schema": {}})
    return DESCRIPTION.resolve(media["schema"]).get("additionalProperties") is True


@scene
def what_any_operation_may_answer_is_listed_for_each(daemon):
    for method, path, operation in OPERATIONS:
        wanted = ALWAYS | (WITH_TOKEN if operation["security"] else set()) | (WRITING if method != "GET" else set())
        if "requestBody" in operation and not takes_any_member(operation):
            wanted = wanted | {"422"}
        missing = wanted - set(operation["responses"])
        equal(sorted(missing), [], "%s %s" % (method, path))


# ---- what is seldom asked for, so that it is held against the description at all

def ids_of(daemon):
    """An id for each kind of path: {what stands before it: id}."""
    world = daemon.world()
    world.submit(reads("a"), free("b"))
    grant = world.grant("a")["grant"]
    world.approve()
    daemon.admin.put("/v1/projects/%s/servers/github" % world.id, {"enabled": True}).must(201)
    run = world.handoff("b", client=daemon.admin)
    return {"projects": world.id, "tasks": world.task_id(), "packages": world.pid("a"), "grants": grant["id"], "runs": run["run"]["id"],
            "decisions": run["decisionId"], "capabilities": READ, "servers": "github", "health": "github",
            "web": "console.css", "vendor": "htm.js"}


def is_endless(operation):
    return "text/event-stream" in operation["responses"]["200"]["content"]


@scene
def every_get_has_its_answer(daemon):
    ids = ids_of(daemon)
    for method, path, operation in OPERATIONS:
        if method != "GET" or is_endless(operation):
            continue
        concrete = re.sub(r"/([a-z]+)/\{[^}]*\}", lambda found: "/%s/%s" % (found[1], ids[found[1]]), path)
        needed = [one for one in DESCRIPTION.parameters(operation) if one["in"] == "query" and one.get("required")]
        query = "&".join("%s=%s" % (one["name"], one["example"]) for one in needed)
        answer = daemon.admin.get(concrete + ("?" + query if query else "")).must(200)
        if "304" in operation["responses"]:
            daemon.admin.request("GET", concrete, headers={"If-None-Match": answer.headers["etag"]}).must(304)


@scene
def no_body_takes_a_member_that_is_not_described(daemon):
    ids = ids_of(daemon)
    for method, path, operation in OPERATIONS:
        media = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if media is None or takes_any_member(operation):
            continue
        concrete = re.sub(r"/([a-z]+)/\{[^}]*\}", lambda found: "/%s/%s" % (found[1], ids[found[1]]), path)
        client = daemon.client("somebody", *sum((alternative.get("token", []) for alternative in operation["security"]), []) or ["auditor"])
        answer = client.request(method, concrete, dict(media.get("example", {}), typo=1)).must(422, "invalid_document")
        check("/typo" in [fault["pointer"] for fault in answer["faults"]], "%s %s: %r" % (method, path, answer))


# ---- the document as it is served

@scene
def the_document_is_served_as_it_is_written(daemon):
    answer = daemon.nobody.get("/v1/openapi.json").must(200)
    equal(answer.raw.decode(), read_text("docs", "openapi.json"))
    equal(answer.headers["content-type"], "application/json")
    known = {"If-None-Match": answer.headers["etag"]}
    equal(daemon.nobody.request("GET", "/v1/openapi.json", headers=known).must(304).raw, b"")
    daemon.nobody.request("GET", "/v1/openapi.json", headers={"If-None-Match": '"another"'}).must(200)


@scene
def it_is_of_the_version_that_serves_it(daemon):
    equal(DESCRIPTION.document["info"]["version"], daemon.nobody.get("/v1/version").must(200)["version"])
    equal(DESCRIPTION.document["openapi"], "3.1.0")


@scene
def an_answer_that_was_recorded_is_the_one_that_is_described(daemon):
    """Its headers aren't kept: they are made again. A project's answer has a grant in it, which it didn't make."""
    world = daemon.world()
    world.submit(reads("a"))
    world.project_grant(READ)
    for path, body in (("/v1/tasks/%s/changes" % world.task_id(), {"planRevision": "1"}), ("/v1/projects/%s/archive" % world.id, {})):
        first, second = (daemon.admin.post(path, body, {"Idempotency-Key": "k"}).must(200) for _ in range(2))
        equal(second.json, first.json)
        equal([second.headers.get(name) for name in TELLING], [first.headers.get(name) for name in TELLING], path)


# ---- the document by itself

@scene
def every_reference_leads_somewhere_and_every_part_is_used(daemon):
    used = set()
    for at, item in walk(DESCRIPTION.document):
        if isinstance(item.get("$ref"), str):
            at_pointer(DESCRIPTION.document, item["$ref"])
            used.add(item["$ref"])
    codes = {"#/components/schemas/" + name for name, schema in problem_schemas().items() if schema["x-code"] in OF_NO_OPERATION}
    parts = {"#/components/%s/%s" % (kind, name) for kind in KINDS for name in COMPONENTS[kind]}
    equal(sorted(parts - used - codes), [], "parts that nothing uses")


@scene
def operations_are_named_once_told_in_words_and_have_their_parameters(daemon):
    names = [operation["operationId"] for _, _, operation in OPERATIONS]
    equal(len(set(names)), len(names), "operation names")
    tags = {tag["name"] for tag in DESCRIPTION.document["tags"]}
    for method, path, operation in OPERATIONS:
        what = "%s %s" % (method, path)
        check(operation.get("summary"), what + " has no summary")
        check(set(operation["tags"]) <= tags, what + " has a tag that isn't described")
        inside = [one["name"] for one in DESCRIPTION.parameters(operation) if one["in"] == "path"]
        equal(sorted(inside), sorted(re.findall(r"\{([^}]*)\}", path)), "path parameters of " + what)


@scene
def every_schema_can_be_checked_and_every_example_is_valid(daemon):
    count = 0
    for schema in COMPONENTS["schemas"].values():
        DESCRIPTION.answers.compile(schema)
        for example in schema.get("examples", ()):
            equal(DESCRIPTION.answers.faults(schema, example), [], "example")
            count += 1
    for method, path, operation in OPERATIONS:
        for one in DESCRIPTION.parameters(operation):
            equal(DESCRIPTION.requests.faults(one["schema"], one["example"]) if "example" in one else [], [], "example of " + one["name"])
        for is_answer, media in content(operation):
            schemas = DESCRIPTION.answers if is_answer else DESCRIPTION.requests
            schemas.compile(media["schema"])
            if "example" in media:
                equal(schemas.faults(media["schema"], media["example"]), [], "example of %s %s" % (method, path))
                count += 1
    check(count > 10, "only %d examples" % count)


@scene
def every_request_with_a_body_that_must_be_shows_an_example(daemon):
    for method, path, operation in OPERATIONS:
        body = operation.get("requestBody", {})
        if body.get("required"):
            for media in body["content"].values():
                check("example" in media, "%s %s has no example" % (method, path))


@scene
def schemas_say_nothing_that_is_not_checked(daemon):
    """A schema of annotations alone would hold for anything."""
    for name, schema in COMPONENTS["schemas"].items():
        said = [keyword for keyword in schema if keyword not in ANNOTATIONS and not keyword.startswith("x-")]
        check(said, "the schema %s says nothing" % name)


# ---- problems

def code_table():
    """{code: (status, seconds)} of the daemon's own table."""
    rows = re.findall(r'\[HTTP_PROBLEM_\w+\] = \{"(\w+)", (\d+), (\d+), "', read_text("daemon", "http", "reply.c"))
    check(len(rows) > 40, "the table of codes in reply.c isn't found")
    return {code: (int(status), int(seconds)) for code, status, seconds in rows}


@scene
def every_code_is_described_with_its_status_and_what_a_client_does(daemon):
    described = {}
    for name, schema in problem_schemas().items():
        own = schema["allOf"][1]["properties"]
        equal(own["code"]["const"], schema["x-code"], name)
        check(schema.get("description"), name + " doesn't say what a client does")
        described[schema["x-code"]] = own["status"]["const"]
    equal(sorted(NOT_YET & set(described)), [], "described, and no longer to come")
    table = {code: status for code, (status, _) in code_table().items()}
    table = {code: status for code, status in table.items() if code not in NOT_YET}
    equal(described, table)


@scene
def the_codes_are_those_of_chapter_4(daemon):
    chapter = read_text("docs", "api.md").split("## 4.4", 1)[1]
    rows = [line.split("|")[1] for line in chapter.splitlines() if line.startswith("| ")]
    codes = set(re.findall(r"`([a-z_]+)`", " ".join(rows))) - {"outcome"}
    described = {schema["x-code"] for schema in problem_schemas().values()}
    equal(sorted(codes - described - NOT_YET), [], "codes of chapter 4.4 that aren't described")


@scene
def a_problem_stands_where_its_status_does(daemon):
    for method, path, operation in OPERATIONS:
        for status, response in operation["responses"].items():
            for kind, media in DESCRIPTION.resolve(response).get("content", {}).items():
                names = reached(media["schema"]) & set(problem_schemas())
                equal(bool(names), kind == "application/problem+json", "%s %s %s" % (method, path, status))
                found = {str(problem_schemas()[name]["allOf"][1]["properties"]["status"]["const"]) for name in names}
                check(found <= {status}, "%s %s: %s stand at %s" % (method, path, sorted(names), status))


@scene
def an_answer_that_asks_for_patience_says_how_long(daemon):
    patient = {code for code, (_, seconds) in code_table().items() if seconds}
    for method, path, operation in OPERATIONS:
        for status, response in operation["responses"].items():
            response = DESCRIPTION.resolve(response)
            for media in response.get("content", {}).values():
                names = reached(media["schema"]) & set(problem_schemas())
                if patient & {problem_schemas()[name]["x-code"] for name in names}:
                    check("Retry-After" in response.get("headers", {}), "%s %s %s has no Retry-After" % (method, path, status))


if __name__ == "__main__":
    run_scenes()
