"""A node over TLS: who gets in, by what, and what its certificates do while it runs."""

import os
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import threading
import time
import urllib.request

from certificates import Certificates, TlsClient, heard_at
from harness import PATIENCE_S, Client, eventually, main
from ports import reserve_ports
from tls import TlsTest

# What session_server.cpp gives a client for its handshake.
HANDSHAKE_S = 10
DEBIANS_PYTHON = "/usr/bin/python3"
LOCKS_OF_REDIS_PY = """
import redis, sys
alice = redis.Redis(port=int(sys.argv[1]), ssl=True, ssl_ca_certs=sys.argv[2],
                    ssl_certfile=sys.argv[3], ssl_keyfile=sys.argv[4])
with alice.lock("printer", timeout=10) as lock:
    assert lock.owned()
    lock.extend(10)
    assert not alice.lock("printer", timeout=10).acquire(blocking=False)
assert alice.get("printer") is None
"""


class WhoGetsIn(TlsTest):
    def s_client(self, node, *flags):
        """What `openssl s_client` says of a handshake; PING is asked behind it."""
        done = subprocess.run(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{node.tls_port}", "-CAfile",
             self.certificates.file("ca"), "-quiet", *flags], input=b"PING\r\nQUIT\r\n",
            capture_output=True, timeout=PATIENCE_S, check=False)
        return done.stdout.decode(), done.stderr.decode()

    def test_redis_cli_with_a_certificate(self):
        node = self.tls_node()
        shows = self.certificates.cli_flags("alice")
        set_lock = ["set", "printer", "alice", "nx", "px", "10000"]
        self.assertEqual(self.redis_cli(node.tls_port, *shows, *set_lock), "OK")
        self.assertEqual(self.redis_cli(node.tls_port, *shows, "get", "printer"), "alice")
        shows_none = self.certificates.cli_flags()
        self.assertIn("Error", self.redis_cli(node.tls_port, *shows_none, "get", "printer"))
        self.assertIn("Error", self.redis_cli(node.tls_port, "get", "printer"))
        self.assert_logged(node, "it showed no certificate")

    def test_redis_py_locks(self):
        node = self.tls_node()
        known = subprocess.run([DEBIANS_PYTHON, "-c", "import redis"], capture_output=True,
                               check=False)
        if known.returncode != 0:
            self.skipTest("no python3-redis here")
        files = [self.certificates.file("ca"), self.certificates.file("alice"),
                 self.certificates.key("alice")]
        done = subprocess.run(
            [DEBIANS_PYTHON, "-c", LOCKS_OF_REDIS_PY, str(node.tls_port), *map(str, files)],
            capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_certificates_are_required_as_the_setting_says(self):
        for setting, without in (("yes", False), ("optional", True), ("no", True)):
            with self.subTest(setting):
                node = self.tls_node("--tls-auth-clients", setting)
                self.assertEqual(self.tls_client(node)("PING"), "PONG")
                self.assertEqual(self.gets_in(node, None), without)
        self.certificates.sign("late", days=-1)
        stranger = Certificates(self.folder()).sign("mallory")
        node = self.tls_node("--tls-auth-clients", "optional")
        self.assertFalse(self.gets_in(node, "late"))
        context = self.certificates.context()
        context.load_cert_chain(stranger.file("mallory"), stranger.key("mallory"))
        self.assertFalse(self.gets_in(node, context=context))
        for why in ("expired on", "signed by nobody who is trusted here"):
            self.assertTrue(eventually(lambda why=why: why in node.log()), node.log())

    def gets_in(self, node, who=None, context=None):
        try:
            with TlsClient(node.tls_port, context or self.certificates.context(who)) as client:
                return client("PING") == "PONG"
        except OSError:  # ssl.SSLError is one
            return False

    def test_no_old_protocol_and_no_weak_cipher(self):
        node = self.tls_node("--tls-auth-clients", "no")
        lax = ["-cipher", "ALL:eNULL:@SECLEVEL=0"]
        for version, served in (("-tls1", False), ("-tls1_1", False), ("-tls1_2", True),
                                ("-tls1_3", True)):
            told, complaint = self.s_client(node, version, *lax)
            self.assertEqual("+PONG" in told, served, (version, complaint))
        for ciphers in ("ALL:eNULL:-AESGCM:-CHACHA20", "kRSA", "aNULL:eNULL", "AESCCM", "3DES",
                        "SHA256:SHA384:SHA1:-AESGCM:-CHACHA20"):
            told, complaint = self.s_client(node, "-tls1_2", "-cipher", f"{ciphers}:@SECLEVEL=0")
            self.assertNotIn("+PONG", told, ciphers)
            self.assertRegex(complaint, "handshake failure|no cipher", ciphers)

    def test_versions_and_ciphers_are_as_the_settings_say(self):
        node = self.tls_node("--tls-auth-clients", "no", "--tls-protocols", "TLSv1.3",
                             "--tls-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256")
        self.assertNotIn("+PONG", self.s_client(node, "-tls1_2")[0])
        client = self.tls_client(node)
        self.assertEqual(client.socket.cipher()[0], "TLS_CHACHA20_POLY1305_SHA256")
        self.assertEqual(client("CONFIG", "SET", "tls-protocols", "TLSv1.2", "tls-ciphers",
                                "ECDHE+AES128"), "OK")
        self.assertIn("ECDHE-ECDSA-AES128-GCM-SHA256", self.tls_client(node).socket.cipher())
        self.assert_error(client("CONFIG", "SET", "tls-protocols", "TLSv1.1"),
                          "ERR CONFIG SET failed (possibly related to argument 'tls-protocols') - "
                          "tls-protocols: 'TLSv1.1' is none of TLSv1.2 and TLSv1.3")
        self.assertEqual(client("CONFIG", "GET", "tls-protocols"), [b"tls-protocols", b"TLSv1.2"])

    def test_a_client_that_comes_back_with_its_ticket_is_known(self):
        for setting, is_known in (("yes", True), ("no", False)):
            node = self.tls_node("--tls-session-caching", setting)
            context = self.certificates.context("alice")
            with TlsClient(node.tls_port, context) as client:
                client("PING")  # the tickets stand before its answer
                session = client.socket.session
            with socket.create_connection(("127.0.0.1", node.tls_port)) as plain:
                again = context.wrap_socket(plain, server_hostname="127.0.0.1", session=session)
                again.sendall(b"PING\r\n")
                self.assertEqual(again.recv(100), b"+PONG\r\n")
                self.assertEqual(again.session_reused, is_known)
                again.close()


class WhoTheyAre(TlsTest):
    """tls-auth-clients-user: a certificate's common name is its owner's."""

    USERS = ("user default on nopass -@all +ping +reset +acl|whoami\n"
             "user alice on ~alice:* +@all\n"
             "user idle off nopass ~* +@all\n")

    def users_node(self, *flags):
        file = pathlib.Path(self.folder()) / "users.acl"
        file.write_text(self.USERS)
        return self.tls_node("--aclfile", file, *flags)

    def named_node(self, *flags):
        return self.users_node("--tls-auth-clients-user", "CN", *flags)

    def who_is(self, node, who=None, context=None):
        with TlsClient(node.tls_port, context or self.certificates.context(who)) as client:
            return client("ACL", "WHOAMI").decode()

    def test_a_name_is_a_user(self):
        client = self.tls_client(self.named_node())
        self.assertEqual(client("ACL", "WHOAMI"), b"alice")
        self.assertEqual(client("SET", "alice:printer", "1", "NX", "PX", "9999"), "OK")
        self.assert_error(client("SET", "bob:printer", "1", "NX", "PX", "9999"), "NOPERM")

    def test_a_name_that_no_user_has_is_nobody(self):
        self.certificates.sign("idle").sign("bob")
        node = self.named_node("--tls-auth-clients", "optional")
        for who in ("idle", "bob", None):
            self.assertEqual(self.who_is(node, who), "default", who)
        self.assertEqual(self.who_is(self.users_node(), "alice"), "default")

    def test_names_that_only_look_like_it(self):
        names = {"twice": "/CN=alice/CN=bob", "again": "/CN=bob/CN=alice", "line": "/CN=alice\n",
                 "case": "/CN=Alice", "unit": "/OU=alice", "behind": "/CN=alice\x01",
                 "blank": "/CN=alice "}
        node = self.named_node()
        for file, subject in names.items():
            self.certificates.sign(file, subject=subject)
            self.assertEqual(self.who_is(node, file), "default", subject)

    def test_it_is_its_user_with_a_ticket_too(self):
        node = self.named_node()
        context = self.certificates.context("alice")
        with TlsClient(node.tls_port, context) as client:
            client("PING")
            session = client.socket.session
        with socket.create_connection(("127.0.0.1", node.tls_port)) as plain:
            again = context.wrap_socket(plain, server_hostname="127.0.0.1", session=session)
            again.sendall(b"ACL WHOAMI\r\n")
            self.assertEqual(again.recv(100), b"$5\r\nalice\r\n")
            self.assertTrue(again.session_reused)
            again.close()

    def test_it_may_change_while_the_node_runs(self):
        node = self.named_node()
        client = self.tls_client(node)
        self.assertEqual(client("CONFIG", "SET", "tls-auth-clients-user", "OFF"), "OK")
        self.assertEqual(client("CONFIG", "GET", "tls-auth-clients-user")[1], b"off")
        self.assertEqual(self.who_is(node, "alice"), "default")
        self.assertEqual(client("CONFIG", "SET", "tls-auth-clients-user", "cn"), "OK")
        self.assertEqual(self.who_is(node, "alice"), "alice")
        self.assertEqual(client("RESET"), "RESET")
        self.assertEqual(client("ACL", "WHOAMI"), b"default")


class WhatElseComes(TlsTest):
    def test_plain_bytes_are_answered_by_a_close(self):
        node = self.tls_node()
        for data in (b"*1\r\n$4\r\nPING\r\n", b"GET / HTTP/1.1\r\n\r\n", b"\n" * 100,
                     os.urandom(1000), b"\x16\x03\x01\xff\xff" + os.urandom(1000)):
            self.assertNotIn(b"PONG", heard_at(node.tls_port, data))
        self.assert_logged(node, "it speaks in the clear at a port for TLS")
        self.assertEqual(node.client()("PING"), "PONG")

    def test_tls_at_the_plain_port_is_refused_at_once(self):
        node = self.tls_node()
        for _ in range(50):  # a line may end in a hello by chance
            with self.assertRaises(ssl.SSLError):
                TlsClient(node.port, self.certificates.context())

    def test_who_does_not_get_through_the_handshake_is_closed_in_time(self):
        node = self.tls_node()
        hello = ssl_hello()
        began = time.monotonic()
        slow = [socket.create_connection(("127.0.0.1", node.tls_port)) for _ in range(100)]
        for i, one in enumerate(slow):
            one.settimeout(HANDSHAKE_S + PATIENCE_S)
            one.sendall(hello[:i * len(hello) // 100])
        self.assertEqual(self.tls_client(node)("PING"), "PONG")
        for one in slow:
            try:
                self.assertEqual(one.recv(100), b"")
            except ConnectionResetError:
                pass
            one.close()
        took = time.monotonic() - began
        self.assertGreater(took, HANDSHAKE_S - 1)
        self.assertLess(took, HANDSHAKE_S + PATIENCE_S)
        self.assert_logged(node, "its TLS was not open in time")

    def test_who_does_not_get_through_keeps_nobody_out(self):
        for password in ("", "secret"):
            with self.subTest(password=password):
                node = self.tls_node("--maxclients", "40")
                first = node.client()
                self.assertEqual(first("CONFIG", "SET", "requirepass", password), "OK")
                knocking = [socket.create_connection(("127.0.0.1", node.tls_port))
                            for _ in range(100)]
                for one in (self.tls_client(node), node.client()):
                    if password:
                        self.assertEqual(one("AUTH", password), "OK")
                    self.assertEqual(one("PING"), "PONG")
                held = len(os.listdir(f"/proc/{node.process.pid}/fd"))
                self.assertLess(held, 40 + 25)  # and the node's own
                self.assertEqual(first("PING"), "PONG")
                for one in knocking:
                    one.close()

    def test_a_client_too_many_is_told_so(self):
        node = self.tls_node("--maxclients", "1")
        first = self.tls_client(node)
        self.assertEqual(first("PING"), "PONG")
        second = self.tls_client(node)
        self.assert_error(second.reply(), "ERR max number of clients reached")


def ssl_hello():
    """What a client says first."""
    sent = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), sent, server_hostname="x")
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        return sent.read()


class Certificate(TlsTest):
    def test_it_is_renewed_under_load_without_a_dropped_lock(self):
        node = self.tls_node()
        client = self.tls_client(node)
        old = client.serial()
        self.assertEqual(client("SET", "kept", "alice", "NX", "PX", "60000"), "OK")
        ended = threading.Event()
        rounds, failures = [], []
        workers = [threading.Thread(target=self.work, args=(node, i, ended, rounds, failures))
                   for i in range(4)]
        for worker in workers:
            worker.start()
        try:
            for _ in range(3):
                time.sleep(0.5)
                self.certificates.sign("node")
                node.process.send_signal(signal.SIGHUP)
                wanted = self.serial_of_file("node")
                self.assertTrue(eventually(lambda: self.tls_client(node).serial() == wanted))
        finally:
            ended.set()
            for worker in workers:
                worker.join()
        self.assertEqual(failures, [])
        self.assertGreater(len(rounds), 20)
        self.assertEqual(client("GET", "kept"), b"alice")  # the first connection goes on
        self.assertEqual(client.serial(), old)
        self.assert_logged(node, "certificates were read anew")

    def work(self, node, number, ended, rounds, failures):
        """Locks by one connection that stays, and by a new one each time."""
        context = self.certificates.context("alice")
        key = f"lock-{number}"
        try:
            with TlsClient(node.tls_port, context) as stays:
                while not ended.is_set():
                    taken = stays("SET", key, "x", "NX", "PX", "10000")
                    with TlsClient(node.tls_port, context) as other:
                        held = other("GET", key)
                    deleted = stays("DEL", key)
                    rounds.append((taken, held, deleted))
                    if rounds[-1] != ("OK", b"x", 1):
                        failures.append(rounds[-1])
        except OSError as error:
            failures.append(repr(error))

    def serial_of_file(self, name):
        return ssl._ssl._test_decode_cert(str(self.certificates.file(name)))["serialNumber"]

    def test_one_that_cannot_be_used_changes_nothing(self):
        node = self.tls_node()
        old = self.tls_client(node).serial()
        self.certificates.file("node").write_text("half")
        node.process.send_signal(signal.SIGHUP)
        self.assertTrue(eventually(lambda: "the certificate stays as it was: tls-cert-file: "
                                   in node.log()), node.log())
        client = self.tls_client(node)
        self.assertEqual(client.serial(), old)
        self.assert_error(client("CONFIG", "SET", "tls-cert-file", "/nowhere"),
                          "ERR CONFIG SET failed (possibly related to argument 'tls-cert-file') - "
                          "tls-cert-file: /nowhere cannot be read: No such file or directory")
        self.certificates.sign("other")
        self.assertEqual(client("CONFIG", "SET", "tls-key-file", self.certificates.key("other"),
                                "tls-cert-file", self.certificates.file("other")), "OK")
        self.assertNotEqual(self.tls_client(node).serial(), old)

    def test_an_expired_one_is_told_of(self):
        node = self.tls_node()
        self.certificates.sign("node", days=-1)
        node.process.send_signal(signal.SIGHUP)
        self.assertTrue(eventually(lambda: "EXPIRED on" in node.log()), node.log())

    def test_a_start_that_cannot_speak_tls_says_what_is_wrong(self):
        [port] = reserve_ports(1)
        node = self.new_node()
        told = node.run_once("--tls-port", str(port))
        self.assertEqual(told.returncode, 1)
        self.assertIn("TLS needs a certificate and its key", told.stdout + told.stderr)
        shown = ["--tls-port", str(port), "--tls-cert-file", self.certificates.file("node"),
                 "--tls-key-file", self.certificates.key("alice")]
        told = node.run_once(*shown, "--tls-auth-clients", "no")
        self.assertIn("alice.key is not the key of", told.stdout + told.stderr)
        told = node.run_once(*shown[:-1], self.certificates.key("node"))
        self.assertIn("set tls-ca-cert-file or tls-ca-cert-dir, or tls-auth-clients to no",
                      told.stdout + told.stderr)
        told = node.run_once(*shown[:-1], self.certificates.key("node"), "--tls-ca-cert-dir",
                             self.certificates.file("ca"))
        self.assertIn("ca.pem is no folder", told.stdout + told.stderr)
        folder = str(self.certificates.folder)
        told = node.run_once(*shown[:-1], self.certificates.key("node"), "--tls-ca-cert-dir",
                             folder)
        self.assertIn("run `openssl rehash` on it", told.stdout + told.stderr)
        told = node.run_once(*self.certificates.node_flags(node.port))
        self.assertIn("is the port of those who speak in the clear", told.stdout + told.stderr)


class Ports(TlsTest):
    def test_tls_alone(self):
        [port, metrics] = reserve_ports(2)
        node = self.new_node(*self.certificates.node_flags(port), "--metrics-port", str(metrics),
                             "--metrics-tls", "yes")
        node.tls_port = port
        node.exec("--port", "0")
        self.assertTrue(eventually(lambda: "listens at" in node.log()))
        self.assert_logged(node, f"127.0.0.1:{port} (TLS)")
        with self.assertRaises(OSError):
            Client(node.port)
        client = self.tls_client(node)
        self.assertTrue(eventually(lambda: client("SET", "k", "v", "NX", "PX", 1000) == "OK"))
        self.assertEqual(client.info()["tcp_port"], str(port))
        with urllib.request.urlopen(f"https://localhost:{metrics}/metrics", timeout=PATIENCE_S,
                                    context=self.certificates.context("alice")) as page:
            text = page.read().decode()
        self.assertRegex(text, r"(?m)^redlock_clients ")
        left_s = float(re.search(r"(?m)^redlock_certificate_end_time_seconds (.*)$", text)[1]) - \
            time.time()
        self.assertAlmostEqual(left_s / 86400, 30, delta=1)
        with self.assertRaises(OSError):
            urllib.request.urlopen(f"http://localhost:{metrics}/metrics", timeout=PATIENCE_S)


if __name__ == "__main__":
    main()
