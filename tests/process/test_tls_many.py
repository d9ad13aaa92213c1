"""Many connections over TLS: what each takes, and that none leaves anything behind.

Plain runs take a tenth; REDLOCK_LONG=1 has 10,000 idle and 50 busy ones, and 100,000 connects.
"""

import os
import pathlib
import resource
import socket
import ssl
import subprocess
import threading
import time

from certificates import TlsClient
from harness import LONG, Client, eventually, main, measures
from tls import TlsTest

IDLE = 10_000 if LONG else 1_000
BUSY = 50
BUSY_S = 10 if LONG else 2
CONNECTS = 100_000 if LONG else 2_000
WORKERS = 4
# Of OpenSSL: the two directions' keys, the session, and the client's certificate: 25 KB, and 14
# without the last.
CONNECTION_KB_MAX = 32
# What the allocator may keep of the first ones, not of all.
LEFT_KB_MAX = 4 * 1024


def descriptors(node):
    return len(os.listdir(f"/proc/{node.process.pid}/fd"))


@measures
class Many(TlsTest):
    def setUp(self):
        super().setUp()
        wanted = IDLE + BUSY + 200
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if hard < wanted:
            self.skipTest(f"{hard} open files are allowed (ulimit -n), and it takes {wanted}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))

    def test_idle_and_busy_ones(self):
        node = self.tls_node("--maxclients", IDLE + BUSY + 100)
        context = self.certificates.context("alice")
        self.one_after_the_other(node, context, 200)  # what is set up once is there
        before_kb = node.resident_kb()
        idle = []
        for _ in range(IDLE):
            idle.append(TlsClient(node.tls_port, context))
            self.addCleanup(idle[-1].close)
        for client in idle:
            client.send(b"PING\r\n")
            self.assertEqual(client.reply(), "PONG")
        connection_kb = (node.resident_kb() - before_kb) / IDLE
        done = self.keep_busy(node, context)
        print(f"\n  {connection_kb:.1f} KB a connection; beside {IDLE} of them {BUSY} busy ones "
              f"did {done / BUSY_S:.0f} locks a second")
        self.assertLess(connection_kb, CONNECTION_KB_MAX)
        self.assertGreater(done, BUSY)
        self.assertEqual(idle[0]("PING"), "PONG")

    def keep_busy(self, node, context):
        """Locks that were taken and given back by as many clients as are busy."""
        end = time.monotonic() + BUSY_S
        done = [0] * BUSY

        def work(number):
            with TlsClient(node.tls_port, context) as client:
                while time.monotonic() < end:
                    if client("SET", f"lock-{number}", "v", "NX", "PX", "10000") == "OK":
                        done[number] += client("DEL", f"lock-{number}")

        workers = [threading.Thread(target=work, args=(number,)) for number in range(BUSY)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertTrue(all(done), done)
        return sum(done)

    def test_connects_leave_nothing_behind(self):
        node = self.tls_node("--tls-auth-clients", "optional")
        context = self.certificates.context()
        self.one_after_the_other(node, context, 500)
        self.settle(node)
        before_kb, before = node.resident_kb(), descriptors(node)
        began = time.monotonic()
        self.connect_often(node)
        took_s = time.monotonic() - began
        self.settle(node)
        after_kb = node.resident_kb()
        print(f"\n  {CONNECTS} connects in {took_s:.0f} s: {before_kb} KB before, {after_kb} KB "
              f"behind them")
        self.assertTrue(eventually(lambda: descriptors(node) <= before))
        self.assertLess(after_kb, before_kb + LEFT_KB_MAX)

    def one_after_the_other(self, node, context, count):
        for _ in range(count):
            with TlsClient(node.tls_port, context) as client:
                self.assertEqual(client("PING"), "PONG")

    def settle(self, node):
        with Client(node.port) as client:
            self.assertTrue(eventually(lambda: client.info()["connected_clients"] == "1"))

    def connect_often(self, node):
        """In processes of their own, as Python takes longer for a handshake than the node. Each
        fifth connection is cut in the middle of it."""
        script = pathlib.Path(__file__).resolve()
        words = [os.environ.get("PYTHON", "python3"), script, "connect", str(node.tls_port),
                 self.certificates.file("ca"), str(CONNECTS // WORKERS)]
        workers = [subprocess.Popen([str(word) for word in words]) for _ in range(WORKERS)]
        self.assertEqual([worker.wait() for worker in workers], [0] * WORKERS)


def connect(port, authority, count):
    context = ssl.create_default_context(cafile=authority)
    for number in range(int(count)):
        with socket.create_connection(("127.0.0.1", int(port))) as plain:
            if number % 5 == 0:
                plain.sendall(b"\x16\x03\x01\x02\x00\x01")
                continue
            with context.wrap_socket(plain, server_hostname="127.0.0.1") as client:
                client.sendall(b"PING\r\n")
                assert client.recv(100) == b"+PONG\r\n"


if __name__ == "__main__":
    import sys
    if sys.argv[1:2] == ["connect"]:
        connect(*sys.argv[2:])
    else:
        main(limit_s=900 if LONG else 100)
