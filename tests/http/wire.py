"""wire.py - a client that sends bytes as they are, and a server under test to send them to."""
import contextlib
import json
import os
import socket
import subprocess
import threading

TIMEOUT_S = 30  # for a condition that never comes; no test waits for it to pass


class Response:
    """One answer: status, header fields in lower case, body."""

    def __init__(self, status, fields, body):
        self.status = status
        self.fields = fields
        self.body = body

    def __repr__(self):
        return "%d %r" % (self.status, self.body[:200])

    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        return self.json()["code"] if self.body else None

    def field(self, name):
        return self.fields.get(name)


class Wire:
    """A connection."""

    def __init__(self, port):
        self.port = port
        self.socket = socket.create_connection(("127.0.0.1", port), TIMEOUT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.read = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)
        return self

    def head(self, line, *fields, host=True, token="planner"):
        """A head of our own making, as bytes."""
        lines = [line]
        if host:
            lines.append("Host: 127.0.0.1:%d" % self.port)
        if token:
            lines.append("Authorization: Bearer " + token)
        return ("\r\n".join(lines + list(fields)) + "\r\n\r\n").encode("latin-1")

    def request(self, line, *fields, body=b"", **options):
        """Sends a request; a body gets its length and, unless a type is among the fields, JSON as its type."""
        fields = list(fields)
        if body:
            fields.append("Content-Length: %d" % len(body))
            if not any(field.lower().startswith("content-type") for field in fields):
                fields.append("Content-Type: application/json")
        return self.send(self.head(line, *fields, **options) + body)

    def more(self):
        data = self.socket.recv(65536)
        self.read += data
        return data

    def response(self, has_body=True):
        while b"\r\n\r\n" not in self.read:
            if not self.more():
                raise EOFError("the connection ended with %r" % self.read)
        head, self.read = self.read.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        fields = {}
        for line in lines[1:]:
            name, value = line.split(":", 1)
            fields[name.lower()] = value.strip()
        status = int(lines[0].split()[1])
        if has_body and fields.get("transfer-encoding") == "chunked":
            return Response(status, fields, b"".join(self.chunks()))
        length = int(fields.get("content-length", "0")) if has_body and status not in (100, 204) else 0
        while len(self.read) < length:
            if not self.more():
                raise EOFError("the body ended early")
        body, self.read = self.read[:length], self.read[length:]
        return Response(status, fields, body)

    def take(self, count):
        """The next `count` bytes."""
        while len(self.read) < count:
            if not self.more():
                raise EOFError("the body ended early")
        taken, self.read = self.read[:count], self.read[count:]
        return taken

    def take_line(self):
        while b"\r\n" not in self.read:
            if not self.more():
                raise EOFError("the body ended early")
        line, self.read = self.read.split(b"\r\n", 1)
        return line

    def chunks(self):
        """The pieces of a chunked body, as they come, to its end."""
        while True:
            size = int(self.take_line(), 16)
            piece = self.take(size + 2)[:-2]
            if size == 0:
                return
            yield piece

    def ask(self, line, *fields, **options):
        """Sends a request and reads its answer."""
        return self.request(line, *fields, **options).response(not line.startswith("HEAD "))

    def is_closed(self):
        """Waits for the end of the stream; False if anything else comes."""
        try:
            return self.read == b"" and self.more() == b""
        except ConnectionError:
            return True


class Server:
    """The echo server, obeying lines."""

    def __init__(self, *limits):
        program = os.environ.get("ECHO_SERVER") or os.path.join(os.environ["BUILDDIR"], "http_echo_server")
        self.process = subprocess.Popen([program] + list(limits), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.log = []
        self.reader = threading.Thread(target=self.read_log, daemon=True)
        self.reader.start()
        self.port = int(self.process.stdout.readline().split()[1])

    def read_log(self):
        for line in self.process.stderr:
            self.log.append(line)

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def ask(self, line):
        self.tell(line)
        return self.process.stdout.readline().split()

    def figures(self):
        """(connections, sleepers, bytes of bodies) now."""
        return tuple(int(word) for word in self.ask("figures")[1:])

    def streams(self):
        """(open, bytes written, begun, done, cut off, notices) of the streams now."""
        return tuple(int(word) for word in self.ask("streams")[1:])

    def wait_for_streams(self, condition):
        return self.wait_for(condition, self.streams)

    def wait_for(self, condition, ask=None):
        """Asks for the figures until condition(*figures) holds."""
        pause = threading.Event()  # never set: it leaves the processor to the server between two questions
        for _ in range(TIMEOUT_S * 200):
            figures = (ask or self.figures)()
            if condition(*figures):
                return figures
            pause.wait(0.005)
        raise TimeoutError("the figures stayed %r" % (figures,))

    def wire(self):
        return Wire(self.port)

    def once(self, line, *fields, **options):
        """One request on a connection of its own."""
        with self.wire() as wire:
            return wire.ask(line, *fields, **options)

    def stop(self):
        """Ends it; its exit status."""
        if self.process.poll() is None:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
            self.process.wait(TIMEOUT_S)
        self.reader.join(TIMEOUT_S)
        return self.process.returncode


@contextlib.contextmanager
def server(*limits):
    running = Server(*limits)
    try:
        yield running
    finally:
        status = running.stop()
        if status:
            raise RuntimeError("the server ended with %d: %s" % (status, "".join(running.log[-40:])))
