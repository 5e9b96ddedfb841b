"""certificates.py - certificates and keys that are made while a test runs; none is kept in the tree."""
import os
import ssl
import subprocess
import tempfile

REGISTER = """[ca]
default_ca = register
[register]
database = %(folder)s/register
new_certs_dir = %(folder)s
rand_serial = yes
default_md = sha256
policy = names
[names]
commonName = supplied
"""
HOSTS = "DNS:localhost,IP:127.0.0.1"


def openssl(*arguments, data=None):
    return subprocess.run(["openssl", *arguments], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True).stdout


def new_key(kind="EC"):
    more = ["-pkeyopt", "ec_paramgen_curve:P-256"] if kind == "EC" else []
    return openssl("genpkey", "-algorithm", kind, *more)


class Authority:
    """Issues certificates for 127.0.0.1 and localhost, in a folder; `file` is what clients trust."""

    def __init__(self, folder, name="an authority"):
        self.folder = folder
        self.key = os.path.join(folder, "%s.key" % name)
        self.file = os.path.join(folder, "%s.crt" % name)
        with open(self.key, "wb") as file:
            file.write(new_key())
        openssl("req", "-x509", "-new", "-key", self.key, "-subj", "/CN=" + name, "-days", "30", "-out", self.file)

    def issue(self, name, days=30, kind="EC", begin=None, end=None, hosts=HOSTS):
        """A certificate and its key, in PEM: for so many days from now, or from `begin` to `end`, as YYMMDDHHMMSSZ."""
        key = new_key(kind)
        path = os.path.join(self.folder, "new.key")
        names = os.path.join(self.folder, "names")
        with open(path, "wb") as file:
            file.write(key)
        with open(names, "w", encoding="ascii") as file:
            file.write("subjectAltName=%s\n" % hosts)
        request = openssl("req", "-new", "-key", path, "-subj", "/CN=" + name)
        if begin is not None:
            return self.issue_between(request, begin, end), key
        return openssl("x509", "-req", "-CA", self.file, "-CAkey", self.key, "-days", str(days), "-extfile", names, data=request), key

    def issue_between(self, request, begin, end):
        """Only `openssl ca` takes dates, and it wants a register of what was issued."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            config = os.path.join(folder, "config")
            with open(config, "w", encoding="ascii") as file:
                file.write(REGISTER % {"folder": folder})
            for name in ("register", "request"):
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(request if name == "request" else b"")
            return openssl("ca", "-batch", "-notext", "-config", config, "-cert", self.file, "-keyfile", self.key, "-startdate", begin,
                           "-enddate", end, "-in", os.path.join(folder, "request"))

    def context(self):
        return ssl.create_default_context(cafile=self.file)


class Pair:
    """The two files that a daemon reads."""

    def __init__(self, folder):
        self.certificate = os.path.join(folder, "tls.crt")
        self.key = os.path.join(folder, "tls.key")

    def put(self, certificate, key, mode=0o600):
        """Both files replaced, each in one step, as renewing does."""
        for path, data, bits in ((self.certificate, certificate, 0o644), (self.key, key, mode)):
            with open(path + ".new", "wb") as file:
                file.write(data)
            os.chmod(path + ".new", bits)
            os.rename(path + ".new", path)

    def config(self):
        return "[server]\ncertificate_file = %s\nkey_file = %s\n" % (self.certificate, self.key)
