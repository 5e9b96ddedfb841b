"""secure.py - a daemon that speaks TLS, with certificates of its own."""
import os
import re
import signal
import socket
import tempfile

from certificates import Authority, Pair
from daemon import TIMEOUT_S, Daemon, running


class Secure:
    """A daemon with a certificate that `authority` issued, and what it takes to renew it."""

    def __init__(self, more="", name="first", kind="EC"):
        self.folder = tempfile.TemporaryDirectory(prefix="admitd-test.")
        self.authority = Authority(self.folder.name)
        self.pair = Pair(self.folder.name)
        self.more = more
        self.renew(name, kind)

    def renew(self, name, kind="EC"):
        self.pair.put(*self.authority.issue(name, kind=kind))

    def __enter__(self):
        self.running = running(self.pair.config() + self.more % {"folder": self.folder.name},
                               lambda config: Daemon(config, self.authority.context()))
        self.daemon = self.running.__enter__()
        return self

    def __exit__(self, *exception):
        try:
            return self.running.__exit__(*exception)
        finally:
            self.folder.cleanup()

    def connect(self, context=None):
        plain = socket.create_connection(("127.0.0.1", self.daemon.port), TIMEOUT_S)
        return (context or self.authority.context()).wrap_socket(plain, server_hostname="localhost")

    def shown(self):
        """The name in the certificate that a new connection is shown."""
        with self.connect() as wire:
            return dict(pair[0] for pair in wire.getpeercert()["subject"])["commonName"]

    def hang_up(self):
        """SIGHUP: what is logged in answer."""
        before = len(self.daemon.log())
        self.daemon.process.send_signal(signal.SIGHUP)
        found = self.daemon.wait_until(lambda: re.search(rb" tls (.*)\n", self.daemon.log()[before:]), "its word on the certificate")
        return found.group(1).decode()

    def head(self, line, *fields):
        return ("\r\n".join((line, "Host: localhost:%d" % self.daemon.port) + fields) + "\r\n\r\n").encode()


def read_all(wire):
    data = b""
    while True:
        piece = wire.recv(65536)
        if not piece:
            return data
        data += piece
