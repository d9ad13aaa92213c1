"""Clients that ask for much and read nothing: the node's memory stays bounded, others are answered.

Each attack runs against a node as it comes, or with the largest values that it can be told to
take, while another client sends PING all the time: its waits are measured, and the resident memory.
"""

import socket
import threading
import time

from harness import Client, ProcessTest, RedisError, eventually, main, measures, request

PING_S = 0.050
# A machine that is shared may give no process a core for that long, now and then.
LONGEST_PER_PING = 10
RESIDENT_KB = 256 * 1024  # one reply of 64 MB being made and written, the clients', and the rest
LARGE = 16 * 1024 * 1024
VALUE = 64 * 1024


class Pinger(threading.Thread):
    """Another client of the node: how long it waited each time, and the most memory of the node."""

    def __init__(self, server):
        super().__init__()
        self.server = server
        self.client = Client(server.port)
        self.took_s = []
        self.most_kb = 0
        self.over = threading.Event()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()
        self.client.close()
        self.took_s.sort()
        print(f"\n  PING: 99 % {self.of_100_s() * 1e3:.1f} ms, longest "
              f"{self.longest_s() * 1e3:.1f} ms; most memory {self.most_kb / 1024:.0f} MB")

    def run(self):
        while not self.over.is_set():
            before = time.monotonic()
            self.client("PING")
            self.took_s.append(time.monotonic() - before)
            time.sleep(0.002)
        self.most_kb = self.server.resident_peak_kb()

    def of_100_s(self):
        return self.took_s[int(len(self.took_s) * 0.99)]

    def longest_s(self):
        return self.took_s[-1]


class Unread(ProcessTest):
    def serve(self, *flags):
        self.server = self.node(*flags)
        self.client = self.server.client()
        return self.server

    def set(self, key, size):
        self.assertEqual(self.client("SET", key, b"v" * size, "PX", 60_000), "OK")

    def deaf(self):
        """A client whose socket takes little: what it leaves unread stays with the node."""
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.connect(("127.0.0.1", self.server.port))
        self.addCleanup(raw.close)
        return raw

    def attack(self, data, count=1, pause_s=1.0, ping_s=PING_S):
        """`count` deaf clients send the data, one after the other; their sockets."""
        with Pinger(self.server) as pinger:
            deaf = [self.deaf() for _ in range(count)]
            for raw in deaf:
                try:
                    raw.sendall(data)
                except OSError:
                    pass  # closed already
                time.sleep(pause_s)
        self.assertLessEqual(pinger.most_kb, RESIDENT_KB)
        self.assertLessEqual(pinger.of_100_s(), ping_s)
        self.assertLessEqual(pinger.longest_s(), LONGEST_PER_PING * ping_s)
        self.assertEqual(self.client("PING"), "PONG")
        return deaf

    def closed(self, raw):
        """Whether the node ends the connection; what it had sent is read on the way."""
        raw.settimeout(15)
        try:
            while raw.recv(1 << 20):
                pass
        except ConnectionError:
            pass
        except TimeoutError:
            return False
        return True

    @measures
    def test_a_pipeline_whose_answers_nobody_reads(self):
        self.serve()
        self.set("k", VALUE)
        self.attack(request("GET", "k") * 2500)

    @measures
    def test_the_same_of_the_largest_values_there_can_be(self):
        self.serve("--value-size-limit", "16mb")
        self.set("k", LARGE)
        self.attack(request("GET", "k") * 2500, ping_s=1)

    def test_a_pipeline_that_is_read_slowly_is_answered_whole(self):
        self.serve("--value-size-limit", "1mb")
        self.set("k", 1_000_000)
        reader = self.server.client()
        reader.send(request("GET", "k") * 60 + request("ECHO", "last"))
        for _ in range(60):
            self.assertEqual(len(reader.reply()), 1_000_000)
        self.assertEqual(reader.reply(), b"last")
        self.assertEqual(reader("PING"), "PONG")

    def test_a_pipeline_may_be_written_whole_before_anything_is_read(self):
        self.serve()
        raw = self.deaf()
        raw.settimeout(15)
        count, word = 100_000, b"x" * 80
        raw.sendall(request("ECHO", word) * count)
        left = count * len(b"$80\r\n" + word + b"\r\n")
        while left > 0:
            left -= len(raw.recv(1 << 20))
        self.assertEqual(left, 0)

    @measures
    def test_one_reply_that_would_be_too_large(self):
        self.serve()
        self.set("k", VALUE)
        transaction = (request("MULTI") + request("GET", "k") * 10_000 + request("INCR", "done") +
                       request("EXEC"))
        for data, command in ((request("MGET", *["k"] * 10_000), "mget"), (transaction, "exec")):
            with self.subTest(command):
                raw, = self.attack(data)
                self.assertTrue(self.closed(raw))
                self.assertTrue(eventually(
                    lambda: f"the reply to its {command} would take more" in self.server.log()))
        self.assertEqual(self.client("GET", "done"), b"1")

    def test_more_names_than_there_are_commands(self):
        self.serve()
        with Pinger(self.server) as pinger:
            for word in ("INFO", "DOCS"):
                reply = self.client("COMMAND", word, *["get"] * 16_000)
                self.assert_error(reply, "ERR 16000 names")
        self.assertLessEqual(pinger.most_kb, RESIDENT_KB)

    @measures
    def test_many_that_read_nothing_are_bounded_together(self):
        self.serve("--maxmemory-clients", "64mb")
        self.set("k", VALUE)
        deaf = self.attack(request("MGET", *["k"] * 200), count=60, pause_s=0.05)  # 12.5 MB each
        evicted = int(self.client.info()["evicted_clients"])
        print(f"  evicted {evicted}")
        self.assertGreaterEqual(evicted, 50)
        self.assertLess(evicted, len(deaf))
        self.assertTrue(eventually(lambda: "the most of all clients" in self.server.log()))
        self.assertLessEqual(int(self.client.info()["mem_clients_normal"]), 64 * 1024 * 1024)

    def fill(self, raw, *last):
        """The client has more unread than sockets hold, and is still executed: `last` too."""
        raw.sendall(request("MGET", *["k"] * 200) + b"".join(request(*words) for words in last))

    def lines_of(self, raw):
        """CLIENT LIST's fields of it."""
        name = "addr=%s:%d " % raw.getsockname()
        lines = self.client("CLIENT", "LIST").decode().splitlines()
        return [dict(field.split("=", 1) for field in line.split())
                for line in lines if name in line]

    def test_client_list_tells_what_is_unread(self):
        self.serve()
        self.set("k", VALUE)
        raw = self.deaf()
        self.fill(raw, ("PING",), ("PING",))
        self.assertTrue(eventually(lambda: int(self.lines_of(raw)[0]["omem"]) > 5_000_000))
        line, = self.lines_of(raw)
        self.assertEqual(line["oll"], "1")
        self.assertGreater(int(line["tot-mem"]), int(line["omem"]))
        self.assertEqual(line["qbuf"], str(2 * len(request("PING"))))  # held back
        received = b""
        while not received.endswith(b"+PONG\r\n+PONG\r\n"):
            received += raw.recv(1 << 20)
        line, = self.lines_of(raw)
        self.assertEqual((line["omem"], line["oll"], line["qbuf"]), ("0", "0", "0"))

    def test_one_that_reads_nothing_is_gone_when_it_is_killed(self):
        self.serve()
        self.set("k", VALUE)
        raw = self.deaf()
        self.fill(raw)
        self.assertTrue(eventually(lambda: int(self.lines_of(raw)[0]["omem"]) > 5_000_000))
        clients = int(self.client.info()["connected_clients"])
        self.assertEqual(self.client("CLIENT", "KILL", "ADDR", "%s:%d" % raw.getsockname()), 1)
        self.assertEqual(int(self.client.info()["connected_clients"]), clients - 1)

    def test_one_that_reads_nothing_is_gone_a_second_after_it_is_to_end(self):
        self.serve("--timeout", "1")
        self.set("k", VALUE)
        idler, quitter = self.deaf(), self.deaf()
        self.fill(idler)
        quitter.sendall(request("QUIT"))
        self.assertTrue(eventually(lambda: int(self.lines_of(idler)[0]["omem"]) > 5_000_000))
        self.assertTrue(eventually(lambda: self.lines_of(idler)[0]["flags"] == "c"))  # seen
        self.assertTrue(eventually(lambda: self.lines_of(idler) == [], limit_s=1.5))
        self.assertEqual(self.lines_of(quitter), [])

    def test_one_that_reads_late_hears_its_last_words(self):
        self.serve()
        reader = self.server.client()
        reader.send(request("QUIT"))
        time.sleep(0.3)
        self.assertEqual(reader.reply(), "OK")


if __name__ == "__main__":
    main()
