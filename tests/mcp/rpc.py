"""rpc.py - MCP messages, and a server behind two pipes to send them to.

    with Stdio("--root", root) as server:
        server.initialize()
        equal(server.ask("ping"), {})

Both eras: ask() sends as a client that has initialized does, ask(..., modern=True) with the `_meta` of the stateless one.
"""
import json
import os
import select
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "lib"), os.path.join(os.path.dirname(HERE), "http")]
from tap import Failed, check, equal  # noqa: E402

TIMEOUT_S = 60  # for what never comes
MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
META = "io.modelcontextprotocol/"


def admitctl():
    return os.environ.get("ADMITCTL") or os.path.join(os.environ.get("BUILDDIR", "."), "admitctl")


def meta(version=MODERN, **more):
    return dict({META + "protocolVersion": version, META + "clientCapabilities": {}, META + "clientInfo": {"name": "test", "version": "1"}}, **more)


def message(method, params=None, number=1, modern=False):
    """A request as a dict; without an id where `number` is None."""
    made = {"jsonrpc": "2.0", "method": method}
    if number is not None:
        made["id"] = number
    if modern:
        params = dict(params or {}, _meta=meta())
    if params is not None:
        made["params"] = params
    return made


def is_error(answer, code, number=None):
    """Checks an error of this code with this id; its message."""
    equal(set(answer), {"jsonrpc", "id", "error"}, "members of %r" % answer)
    equal(answer["error"]["code"], code, "code of %r" % answer)
    equal(answer["id"], number, "id of %r" % answer)
    check(answer["error"]["message"], "no message")
    return answer["error"]


def call_result(answer):
    """The result of a call: its text is the same as what is structured."""
    result = answer["result"]
    equal([item["type"] for item in result["content"]], ["text"], "content")
    equal(json.loads(result["content"][0]["text"]), result["structuredContent"], "text and structured content")
    return result


def is_refused(answer, code):
    """Checks a result with isError and this code; its message."""
    result = call_result(answer)
    equal(result["isError"], True, "isError of %.500r" % result)
    equal(result["structuredContent"]["code"], code, "code of %r" % result)
    equal(set(result["structuredContent"]), {"code", "message"}, "members")
    return result["structuredContent"]["message"]


class Stdio:
    """`admitctl mcp`, or another server, with a pipe on each side."""

    def __init__(self, *options, env=None, cwd=None, command=None):
        self.log = tempfile.TemporaryFile()
        environment = {name: value for name, value in os.environ.items() if name not in ("CLAUDE_PROJECT_DIR", "ADMITD_URL", "ADMITD_TOKEN")}
        environment.update(env or {})
        self.process = subprocess.Popen(list(command or [admitctl(), "mcp"]) + list(options), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log, env=environment, cwd=cwd, bufsize=0)
        self.rest = b""
        self.number = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(TIMEOUT_S)
        finally:
            self.process.kill()
            self.process.stdout.close()

    def errors(self):
        self.log.seek(0)
        return self.log.read().decode("utf-8", "replace")

    def send(self, data):
        """Bytes as they are, or one message as a line."""
        data = data if isinstance(data, bytes) else json.dumps(data).encode() + b"\n"
        while data:
            data = data[self.process.stdin.write(data):]
        return self

    def line(self):
        """The next line; b"" at the end of the output."""
        while b"\n" not in self.rest:
            if not select.select([self.process.stdout], [], [], TIMEOUT_S)[0]:
                raise Failed("no answer came; it says %r" % self.errors())
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            if not piece:
                left, self.rest = self.rest, b""
                return left
            self.rest += piece
        line, self.rest = self.rest.split(b"\n", 1)
        return line

    def answer(self):
        line = self.line()
        check(line, "the output ended; it says %r" % self.errors())
        return json.loads(line)

    def exchange(self, sent):
        return self.send(sent).answer()

    def request(self, method, params=None, modern=False):
        """The whole answer, which has the request's id."""
        self.number += 1
        answer = self.exchange(message(method, params, self.number, modern))
        equal(answer["id"], self.number, "id of the answer to " + method)
        return answer

    def ask(self, method, params=None, modern=False):
        answer = self.request(method, params, modern)
        check("result" in answer, "%s was refused: %r" % (method, answer))
        return answer["result"]

    def call(self, name, arguments=None, modern=False):
        """The whole answer of a call."""
        return self.request("tools/call", dict({"name": name}, **({} if arguments is None else {"arguments": arguments})), modern)

    def initialize(self, version=LEGACY[0]):
        result = self.ask("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
        self.send(message("notifications/initialized", number=None))
        return result

    def ends(self):
        """Waits for the end of the output, and gives the exit status."""
        equal(self.line(), b"", "behind the last answer")
        return self.process.wait(TIMEOUT_S)
