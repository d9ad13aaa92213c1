"""Certificates for tests, made by the openssl command: an authority, and whom it signs.

    certificates = Certificates(folder)
    certificates.sign("node")                         # node.pem and node.key, for this machine
    certificates.sign("late", days=-1)
    with TlsClient(port, certificates.context("alice")) as client: …
"""

import pathlib
import socket
import ssl
import subprocess

from harness import PATIENCE_S, Client

HERE = "DNS:localhost,IP:127.0.0.1,IP:::1"


class Certificates:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(exist_ok=True)
        openssl("req", "-x509", *KEY, "-days", "30", "-subj", "/CN=test authority",
                "-keyout", self.key("ca"), "-out", self.file("ca"))

    def file(self, name):
        return self.folder / f"{name}.pem"

    def key(self, name):
        return self.folder / f"{name}.key"

    def sign(self, name, for_whom=HERE, days=30, subject=None):
        """Both files change at one moment each, as with tools that renew certificates."""
        new_key, new_file = self.folder / "new.key", self.folder / "new.pem"
        asked = openssl("req", *KEY, "-subj", subject or f"/CN={name}", "-addext",
                        f"subjectAltName={for_whom}", "-keyout", new_key)
        openssl("x509", "-req", "-CA", self.file("ca"), "-CAkey", self.key("ca"),
                "-CAcreateserial", "-copy_extensions", "copy", "-days", str(days),
                "-out", new_file, given=asked)
        new_key.rename(self.key(name))
        new_file.rename(self.file(name))
        return self

    def context(self, who=None):
        """What Python dials by: it believes the authority, and shows who's certificate."""
        made = ssl.create_default_context(cafile=self.file("ca"))
        if who is not None:
            made.load_cert_chain(self.file(who), self.key(who))
        return made

    def node_flags(self, port, name="node"):
        return ["--tls-port", str(port), "--tls-cert-file", self.file(name), "--tls-key-file",
                self.key(name), "--tls-ca-cert-file", self.file("ca")]

    def cli_flags(self, who=None):
        """Of redis-cli."""
        shown = [] if who is None else ["--cert", self.file(who), "--key", self.key(who)]
        return ["--tls", "--cacert", self.file("ca"), *shown]


KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


def openssl(*words, given=None):
    done = subprocess.run(["openssl", *map(str, words)], input=given, capture_output=True,
                          check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


class TlsClient(Client):
    """A client over TLS, as harness.Client otherwise."""

    def __init__(self, port, context, host="127.0.0.1", timeout_s=PATIENCE_S):
        super().__init__(port, host, timeout_s)
        try:
            self.socket = context.wrap_socket(self.socket, server_hostname=host)
        except OSError:
            self.socket.close()
            raise

    def serial(self):
        """Of the certificate that the server showed."""
        return self.socket.getpeercert()["serialNumber"]


def heard_at(port, data, limit_s=PATIENCE_S):
    """What a server answers to these bytes until it closes."""
    with socket.create_connection(("127.0.0.1", port), limit_s) as one:
        one.sendall(data)
        heard = b""
        try:
            while piece := one.recv(1 << 16):
                heard += piece
        except ConnectionResetError:
            pass
        return heard
