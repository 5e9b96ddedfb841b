#!/usr/bin/env python3
"""openapi.py - holds what goes over the wire against docs/openapi.json.

    openapi.check_exchange("POST", "/v1/tasks/t/approval", fields, body, status, headers, raw)

raises Failed unless the answer is listed for its operation: status, content type, headers, and a body that its schema describes to the
last member. What the daemon accepted (2xx) must be a valid request too: parameters and body. daemon.py calls it for every
request of every black-box test; ADMIT_OPENAPI=no leaves it out. An operation that isn't described passes here:
test_openapi.py compares the tables.

With ADMIT_OPENAPI_SEEN=FILE each test adds what it has seen, a line "METHOD path status" each; then

    tests/http/openapi.py FILE

prints which answers of the description no test has seen.
"""
import atexit
import json
import os
import sys
import threading
import urllib.parse

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))
from schema import Schemas, at_pointer  # noqa: E402
from tap import Failed  # noqa: E402

METHODS = ("get", "put", "post", "delete")
# Headers that mean something to a client; all others come with every answer, or belong to the connection.
TELLING = ("location", "etag", "retry-after", "allow", "www-authenticate", "link", "vary")
SHOWN = 8               # faults of one body
PROBLEM = "application/problem+json"


class Description:
    """The document, with what it says found by method and path."""

    def __init__(self, document):
        self.document = document
        self.answers = Schemas(document, closed=True)
        self.requests = Schemas(document)
        self.templates = {path: path.split("/") for path in document["paths"]}
        self.lock = threading.Lock()

    def resolve(self, value):
        return at_pointer(self.document, value["$ref"]) if "$ref" in value else value

    def operations(self):
        """(method in upper case, path, operation) of each."""
        for path, item in self.document["paths"].items():
            for method in METHODS:
                if method in item:
                    yield method.upper(), path, item[method]

    def find_path(self, path):
        """The template of a path and the values in it: a literal segment goes before a {name}. (None, None) without one."""
        segments = path.split("/")
        found = []
        for template, parts in self.templates.items():
            if len(parts) != len(segments):
                continue
            names = [part.startswith("{") for part in parts]
            if all(is_name and segment or part == segment for part, segment, is_name in zip(parts, segments, names)):
                values = {part[1:-1]: urllib.parse.unquote(segment) for part, segment, is_name in zip(parts, segments, names) if is_name}
                found.append((names, template, values))
        if not found:
            return None, None
        return min(found, key=lambda one: one[0])[1:]

    def parameters(self, operation):
        return [self.resolve(one) for one in operation.get("parameters", ())]

    def faults(self, schemas, schema, value):
        with self.lock:     # schemas are compiled when they are first used
            return schemas.faults(schema, value)


def read_query(text, schema, description):
    """A query parameter's value as its schema's type has it."""
    kind = description.resolve(schema).get("type")
    if kind == "integer" and text.lstrip("-").isdigit():
        return int(text)
    if kind == "boolean":
        return {"true": True, "false": False}.get(text, text)
    return text


class Exchange:
    """One request and its answer."""

    def __init__(self, description, method, target, fields, body, status, headers, raw):
        self.description = description
        self.method = method
        path, _, self.query = target.partition("?")
        self.fields = {name.lower(): value for name, value in (fields or {}).items()}
        self.body = body
        self.status = status
        self.headers = headers
        self.raw = raw
        self.path, self.values = description.find_path(path)
        item = description.document["paths"].get(self.path, {})
        self.operation = item.get("get" if method == "HEAD" else method.lower())

    def fail(self, what):
        raise Failed("docs/openapi.json, %s %s, %d: %s" % (self.method, self.path, self.status, what))

    def fail_with(self, faults, of):
        listed = ["%s %s" % fault for fault in faults[:SHOWN]]
        self.fail("%s: %s" % (of, "; ".join(listed) + (" …" if len(faults) > SHOWN else "")))

    # ---- the answer

    def check_answer(self):
        response = self.operation["responses"].get(str(self.status))
        if response is None:
            self.fail("this status isn't listed: %.300r" % self.raw)
        response = self.description.resolve(response)
        self.check_headers(response.get("headers", {}))
        content = response.get("content", {})
        kind = self.headers.get("content-type", "").split(";")[0].strip()
        if self.method == "HEAD" or (not self.raw and not content):
            return
        if kind not in content:
            self.fail("content type %r isn't listed" % kind)
        self.check_body(kind, content[kind]["schema"])

    def check_headers(self, listed):
        wanted = {name.lower(): self.description.resolve(header) for name, header in listed.items()}
        for name in TELLING:
            if name in self.headers and name not in wanted:
                self.fail("the header %s isn't listed" % name)
        for name, header in wanted.items():
            if name in self.headers:
                value = read_query(self.headers[name], header["schema"], self.description)
                faults = self.description.faults(self.description.answers, header["schema"], value)
                if faults:
                    self.fail_with(faults, "the header " + name)
            elif header.get("required"):
                self.fail("the header %s is missing" % name)

    def check_body(self, kind, schema):
        if kind == "application/x-ndjson":
            values = [json.loads(line) for line in self.raw.splitlines()]
        elif kind.endswith("json"):
            values = [json.loads(self.raw)]
        elif schema.get("format") == "binary":
            values = []
        else:
            values = [self.raw.decode("utf-8")]
        for value in values:
            faults = self.description.faults(self.description.answers, schema, value)
            if faults:
                self.fail_with(faults, "its body")

    # ---- the request, once it was accepted

    def check_request(self):
        known = self.description.parameters(self.operation)
        self.check_values("path", self.values, known)
        query = urllib.parse.parse_qs(self.query, keep_blank_values=True) if self.query else {}
        self.check_values("query", {name: values[0] for name, values in query.items()}, known)
        self.check_request_body()

    def check_values(self, place, values, known):
        schemas = {one["name"]: one["schema"] for one in known if one["in"] == place}
        for name, text in values.items():
            if name not in schemas:
                self.fail("the %s parameter %s isn't listed" % (place, name))
            value = read_query(text, schemas[name], self.description)
            faults = self.description.faults(self.description.requests, schemas[name], value)
            if faults:
                self.fail_with(faults, "the %s parameter %s" % (place, name))

    def check_request_body(self):
        wanted = self.operation.get("requestBody")
        if not self.body:
            if wanted is not None and wanted.get("required"):
                self.fail("accepted without a body")
            return
        if wanted is None:
            self.fail("accepted with a body")
        kind = self.fields.get("content-type", "").split(";")[0].strip().lower()
        if kind not in wanted["content"]:
            self.fail("accepted with the content type %r" % kind)
        if kind == "application/json":
            faults = self.description.faults(self.description.requests, wanted["content"][kind]["schema"], json.loads(self.body))
            if faults:
                self.fail_with(faults, "accepted with a body that it doesn't describe")


# ---- what daemon.py uses

class Recorder:
    def __init__(self):
        self.description = None
        self.lock = threading.Lock()
        self.seen = set()

    def load(self):
        with self.lock:
            if self.description is None:
                self.description = load()
                if os.environ.get("ADMIT_OPENAPI_SEEN"):
                    atexit.register(self.save, os.environ["ADMIT_OPENAPI_SEEN"])
        return self.description

    def save(self, path):
        with open(path, "a", encoding="utf-8") as file:
            file.write("".join("%s %s %d\n" % line for line in sorted(self.seen)))


RECORDER = Recorder()
IS_ON = os.environ.get("ADMIT_OPENAPI", "yes") != "no"


def load():
    with open(os.path.join(HERE, "..", "..", "docs", "openapi.json"), encoding="utf-8") as file:
        return Description(json.load(file))


def check_exchange(method, target, fields, body, status, headers, raw):
    """Raises Failed where the exchange isn't as described. Header names of the answer are in lower case."""
    if not IS_ON:
        return
    description = RECORDER.load()
    exchange = Exchange(description, method, target, fields, body, status, headers, raw)
    if exchange.operation is None:
        check_stray(exchange)
        return
    RECORDER.seen.add((method, exchange.path, status))
    exchange.check_answer()
    if 200 <= status < 300:
        exchange.check_request()


def check_asked(line, fields, body, answer):
    """The same for a request that was written byte by byte: its first line, its header lines, and a Response of wire.py."""
    method, target, *_ = line.split(" ") + [""]
    named = dict(field.split(": ", 1) for field in fields if ": " in field)
    if body:
        named.setdefault("Content-Type", "application/json")
    check_exchange(method, target, named, body, answer.status, answer.fields, answer.body)


def check_line(path, data):
    """One line, or the data of one event, of a stream that doesn't end."""
    check_exchange("GET", path, {}, None, 200, {"content-type": "application/x-ndjson"}, json.dumps(data).encode())


def check_stray(exchange):
    """No operation: what answers may still be a problem, which is described by its code."""
    if exchange.status < 400 or exchange.headers.get("content-type") != PROBLEM or not exchange.raw:
        return
    body = json.loads(exchange.raw)
    schemas = exchange.description.document["components"]["schemas"]
    for schema in schemas.values():
        if schema.get("x-code") == body.get("code"):
            faults = exchange.description.faults(exchange.description.answers, schema, body)
            if faults:
                exchange.fail_with(faults, "its body")
            return
    exchange.fail("the code %r isn't described" % body.get("code"))


def main(path):
    with open(path, encoding="utf-8") as file:
        seen = set(file.read().splitlines())
    for method, template, operation in load().operations():
        for status in operation["responses"]:
            line = "%s %s %s" % (method, template, status)
            if line not in seen:
                print(line)


if __name__ == "__main__":
    main(sys.argv[1])
