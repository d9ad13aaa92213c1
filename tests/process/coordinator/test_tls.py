"""`redlock` over nodes that speak TLS, and a front door that does so to both sides."""

import signal
import subprocess
import urllib.request

from group import PATIENCE_S, REDLOCK  # first, as it knows where the others are
from certificates import Certificates, TlsClient
from harness import eventually, main
from ports import reserve_ports
from tls import TlsTest

TTL_MS = 30000
NO_QUORUM = 69
USAGE = 64


class OverTls(TlsTest):
    def setUp(self):
        super().setUp()
        self.nodes = [self.tls_node() for _ in range(3)]

    def named(self, host="127.0.0.1"):
        return ",".join(f"rediss://{host}:{node.tls_port}" for node in self.nodes)

    def flags(self, who="alice"):
        shown = ["--tls-cert", self.certificates.file(who), "--tls-key", self.certificates.key(who)]
        return ["--tls-ca", self.certificates.file("ca"), *(shown if who else [])]

    def redlock(self, word, *words, nodes=None, flags=None, **environment):
        command = [REDLOCK, word, "--nodes", nodes or self.named(),
                   *(self.flags() if flags is None else flags), *words]
        return subprocess.run([str(one) for one in command], capture_output=True, text=True,
                              timeout=PATIENCE_S, env=environment, check=False)

    def assert_fails(self, done, text, code=NO_QUORUM):
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(text, done.stderr)


class Locks(OverTls):
    def test_a_lock_is_taken_held_and_released(self):
        done = self.redlock("acquire", "printer")
        self.assertEqual(done.returncode, 0, done.stderr)
        value = done.stdout.split("REDLOCK_VALUE=")[1].split()[0]
        self.assertEqual(self.redlock("acquire", "printer").returncode, 75)
        self.assertEqual(self.redlock("holder", "printer").returncode, 0)
        self.assertEqual(self.redlock("release", "printer", "--value", value).returncode, 0)
        done = self.redlock("run", "printer", "--", "echo", "printed")
        self.assertEqual(done.stdout, "printed\n", done.stderr)
        self.assertIn(f"127.0.0.1:{self.nodes[0].tls_port}", self.redlock("status").stdout)

    def test_files_may_stand_in_the_environment(self):
        done = self.redlock("run", "printer", "--", "/bin/echo", "printed", flags=[],
                            REDLOCK_TLS_CA=str(self.certificates.file("ca")),
                            REDLOCK_TLS_CERT=str(self.certificates.file("alice")),
                            REDLOCK_TLS_KEY=str(self.certificates.key("alice")))
        self.assertEqual(done.stdout, "printed\n", done.stderr)

    def test_a_group_that_was_made_by_tls_is_followed_by_tls(self):
        done = self.redlock("group", "create")
        self.assertEqual(done.returncode, 0, done.stderr)
        old = self.named()
        self.nodes.append(self.tls_node())
        added = f"rediss://127.0.0.1:{self.nodes[-1].tls_port}"
        done = self.redlock("group", "add", added, nodes=old)
        self.assertEqual(done.returncode, 0, done.stderr)
        status = self.redlock("status", nodes=old).stdout
        short = added.removeprefix("rediss://")
        self.assertRegex(status, rf"{short} +(serving|recovering)")  # and so it was reached
        done = self.redlock("run", "printer", "--", "echo", "printed", nodes=old)
        self.assertEqual(done.stdout, "printed\n", done.stderr)


class Refusals(OverTls):
    """Each says what is wrong, and what to do."""

    def test_an_authority_that_is_not_known(self):
        stranger = Certificates(self.folder())
        done = self.redlock("acquire", "printer", flags=["--tls-ca", stranger.file("ca")])
        self.assert_fails(done, "its certificate is signed by nobody who is trusted here: the "
                                "certificate of its CA belongs into tls-ca")

    def test_another_name(self):
        self.certificates.sign("node", for_whom="DNS:node1.example,IP:127.0.0.2")
        for node in self.nodes:
            node.process.send_signal(signal.SIGHUP)
            self.assertTrue(eventually(lambda node=node: "read anew" in node.log()))
        done = self.redlock("acquire", "printer", nodes=self.named("localhost"))
        self.assert_fails(done, "its certificate is for node1.example, 127.0.0.2, and not for "
                                "localhost")
        done = self.redlock("acquire", "printer")
        self.assert_fails(done, "and not for 127.0.0.1")

    def test_a_certificate_that_has_expired(self):
        self.certificates.sign("node", days=-1)
        for node in self.nodes:
            node.process.send_signal(signal.SIGHUP)
            self.assertTrue(eventually(lambda node=node: "EXPIRED" in node.log()))
        self.assert_fails(self.redlock("acquire", "printer"), "expired on 20")

    def test_no_certificate_where_one_is_wanted(self):
        done = self.redlock("acquire", "printer", flags=self.flags(None))
        self.assert_fails(done, "it wants to see a certificate: name one by tls-cert and tls-key")

    def test_tls_at_a_plain_port_and_the_other_way_round(self):
        plain = ",".join(f"rediss://127.0.0.1:{node.port}" for node in self.nodes)
        self.assert_fails(self.redlock("acquire", "printer", nodes=plain),
                          "it does not speak TLS at this port")
        clear = ",".join(f"redis://127.0.0.1:{node.tls_port}" for node in self.nodes)
        self.assert_fails(self.redlock("acquire", "printer", nodes=clear),
                          "a port for TLS is named as rediss://…")

    def test_files_that_cannot_be_used(self):
        done = self.redlock("acquire", "printer", flags=["--tls-ca", "/nowhere"])
        self.assert_fails(done, "tls-ca: /nowhere cannot be read: No such file or directory",
                          USAGE)
        done = self.redlock("acquire", "printer", flags=["--tls-key", self.certificates.key("ca")])
        self.assert_fails(done, "tls-key is the key of a certificate: name that, too",
                          USAGE)


class FrontDoor(OverTls):
    def door(self, *flags):
        self.port, self.http = reserve_ports(2)
        self.certificates.sign("door")
        words = [REDLOCK, "serve", "--nodes", self.named(), *self.flags(), "--listen-tls",
                 f"127.0.0.1:{self.port}", "--http", f"127.0.0.1:{self.http}", "--http-tls", "yes",
                 "--tls-cert-file", self.certificates.file("door"), "--tls-key-file",
                 self.certificates.key("door"), "--tls-ca-cert-file",
                 self.certificates.file("ca"), *flags]
        self.log_path = f"{self.folder()}/door.log"
        with open(self.log_path, "wb") as log:
            door = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL,
                                    stdout=log, stderr=log)
        self.addCleanup(door.wait)
        self.addCleanup(door.kill)
        self.assertTrue(eventually(lambda: "nodes answer" in self.log()), self.log())
        return door

    def log(self):
        with open(self.log_path, encoding="utf-8") as log:
            return log.read()

    def client(self):
        client = TlsClient(self.port, self.certificates.context("alice"))
        self.addCleanup(client.close)
        return client

    def test_it_speaks_tls_to_both_sides(self):
        door = self.door()
        client = self.client()
        self.assertEqual(client("SET", "printer", "alice", "NX", "PX", TTL_MS), "OK")
        held = sum(node.client()("EXISTS", "printer") for node in self.nodes)
        self.assertGreaterEqual(held, 2)
        self.assertEqual(self.redis_cli(self.port, *self.certificates.cli_flags("alice"), "get",
                                        "printer"), "alice")
        with self.assertRaises(OSError):
            TlsClient(self.port, self.certificates.context())("PING")
        with urllib.request.urlopen(f"https://localhost:{self.http}/metrics", timeout=PATIENCE_S,
                                    context=self.certificates.context("alice")) as page:
            self.assertIn('redlock_door_acquisitions_total{outcome="granted"} 1',
                          page.read().decode())
        door.terminate()
        self.assertEqual(door.wait(PATIENCE_S), 0)

    def test_certificates_of_both_sides_are_renewed(self):
        door = self.door()
        client = self.client()
        old = client.serial()
        self.assertEqual(client("SET", "printer", "alice", "NX", "PX", TTL_MS), "OK")
        self.certificates.sign("door")
        door.send_signal(signal.SIGHUP)
        self.assertTrue(eventually(lambda: "read anew" in self.log()), self.log())
        self.assertNotEqual(self.client().serial(), old)
        self.assertEqual(client("GET", "printer"), b"alice")
        self.renew_what_nodes_believe()
        self.assertTrue(eventually(lambda: client("GET", "printer") == b"alice"), self.log())
        self.assertEqual(client("DEL", "printer"), 1)

    def renew_what_nodes_believe(self):
        """A new authority for all: the door's links end, and are dialled by the new files."""
        fresh = Certificates(self.folder())
        for name in ("ca.pem", "ca.key"):
            (fresh.folder / name).rename(self.certificates.folder / name)
        self.certificates.sign("node").sign("alice")
        for node in self.nodes:
            node.process.send_signal(signal.SIGHUP)
            self.assertTrue(eventually(lambda node=node: "read anew" in node.log()))
            node.client()("CLIENT", "KILL", "SKIPME", "yes", "TYPE", "normal")

    def test_a_door_without_a_certificate_does_not_start(self):
        [port] = reserve_ports(1)
        done = self.redlock("serve", "--listen-tls", f"127.0.0.1:{port}")
        self.assertEqual(done.returncode, 1)
        self.assertIn("TLS needs a certificate and its key: set tls-cert-file and tls-key-file",
                      done.stderr)


if __name__ == "__main__":
    main()
