"""local_socket.py - requests at the socket of this machine (4.1 "Unix socket")."""
import http.client
import json
import socket

from daemon import TIMEOUT_S, Answer


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=TIMEOUT_S)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(TIMEOUT_S)
        self.sock.connect(self.path)


def ask(path, method, target, body=None, **headers):
    """One request at the socket, on a connection of its own."""
    connection = Unix(path)
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    if body is not None:
        fields["Content-Type"] = "application/json"
    connection.request(method, target, None if body is None else json.dumps(body).encode(), fields)
    answer = connection.getresponse()
    found = Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    connection.close()
    return found
