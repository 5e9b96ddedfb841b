"""A tool server over HTTP on a port of its own; the path says how it behaves.

    server = FakeServer()
    server.url("good")      http://127.0.0.1:PORT/good
    server.hits["good"]     how many requests came there
    server.token = "..."    what /secret wants as Authorization: Bearer
"""
import collections
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

GOOD = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "fake", "version": "1"}}
TOOLS = {"tools": [{"name": "list", "inputSchema": {"type": "object"}}]}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format, *args):  # noqa: A002 - the library's name
        pass

    @property
    def fake(self):
        return self.server.fake

    def mode(self):
        return self.path.strip("/").split("/")[0].split("?")[0]

    def reply(self, status, body=b"", kind="application/json", **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def result(self, message):
        return GOOD if message["method"] == "initialize" else TOOLS

    def do_DELETE(self):
        self.fake.note(self, None)
        self.reply(204)

    def do_GET(self):
        self.fake.note(self, None)
        self.reply(200, b"{}")

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.fake.note(self, message)
        mode = self.mode()
        if mode in self.fake.down:
            return self.reply(503)
        if mode.isdigit():
            return self.reply(int(mode), b"{}", Location=self.fake.url("target"))
        if mode == "hangs":
            return self.fake.ended.wait()
        if mode == "secret" and self.headers.get("Authorization") != "Bearer " + self.fake.token:
            return self.reply(401)
        if "id" not in message:
            return self.reply(202)
        return getattr(self, "answer_" + mode, self.answer_good)(message)

    def answer_good(self, message):
        self.reply(200, self.body(message))

    def body(self, message):
        return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": self.result(message)}).encode()

    def answer_session(self, message):
        if message["method"] == "initialize":
            return self.reply(200, self.body(message), Mcp_Session_Id="session-1")
        wanted = self.headers.get("Mcp-Session-Id") == "session-1" and self.headers.get("MCP-Protocol-Version") == "2025-11-25"
        return self.answer_good(message) if wanted else self.reply(400)

    def answer_meddles(self, message):
        """Does something to the daemon that asks, before it answers."""
        if message["method"] == "initialize":
            self.fake.meddle()
        return self.answer_good(message)

    def answer_events(self, message):
        """A stream of events that stays open behind the answer."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        other = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
        self.wfile.write((": hello\n\nevent: message\ndata: %s\n\n" % other).encode())
        self.wfile.write(b"id: 1\r\ndata: " + self.body(message) + b"\r\n\r\n")
        self.wfile.flush()
        self.fake.ended.wait()

    def answer_garbage(self, message):
        self.reply(200, b"<html>not for machines</html>")

    def answer_huge(self, message):
        self.reply(200, b" " * (2 << 20) + self.body(message))

    def answer_drips(self, message):
        """A byte now and then, which no time-out between bytes would end."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "1000")
        self.end_headers()
        while not self.fake.ended.wait(0.2):
            self.wfile.write(b" ")
            self.wfile.flush()

    def answer_echo(self, message):
        text = "I don't like %s" % self.headers.get("Authorization")
        self.reply(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": 1, "message": text}}).encode())


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # a prober that has seen enough hangs up


class FakeServer:
    def __init__(self):
        self.hits = collections.Counter()
        self.methods = collections.defaultdict(list)
        self.down = set()
        self.token = ""
        self.meddle = lambda: None
        self.ended = threading.Event()
        self.http = Server(("127.0.0.1", 0), Handler)
        self.http.fake = self
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def note(self, handler, message):
        mode = handler.mode()
        self.hits[mode] += 1
        self.methods[mode].append(handler.command if message is None else message["method"])

    def url(self, mode, host="127.0.0.1"):
        return "http://%s:%d/%s" % (host, self.port, mode)

    def close(self):
        self.ended.set()
        self.http.shutdown()
        self.http.server_close()
