"""Requests of many clients that the loop reads in one turn: they are held until some dozens are
read, and executed together, in the order in which they came.

The node is stopped while they are sent, so that all of them wait for it when it goes on.
"""

import contextlib
import os
import signal
import time

from harness import ProcessTest, main, request

CLIENTS = 100  # more than are held at a time
TTL_MS = 60_000
LAID_OFF_S = 0.3  # by so much a clock that was read before the wait would be behind


class OneTurn(ProcessTest):
    def setUp(self):
        self.server = self.node()
        self.watcher = self.server.client()

    @contextlib.contextmanager
    def stopped(self):
        """The node stands still within, and reads what comes meanwhile in the order of coming.

        Stopped behind a reply, before it asks the kernel again, it would be told of that reply's
        client first. So the last reply is the watcher's, who sends nothing meanwhile.
        """
        self.watcher("PING")
        pid = self.server.process.pid
        os.kill(pid, signal.SIGSTOP)
        os.waitid(os.P_PID, pid, os.WSTOPPED)  # a signal sent is not yet one that was taken
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    def send_while_stopped(self, *pairs):
        """(client, bytes) in this order, to a node that reads none of it before the last came."""
        with self.stopped():
            for client, data in pairs:
                client.send(data)

    def clients(self, count):
        clients = [self.server.client() for _ in range(count)]
        for client in clients:
            self.addCleanup(client.close)
        return clients

    def test_each_is_answered_what_it_asked(self):
        clients = self.clients(CLIENTS)
        self.send_while_stopped(*((client, request("SET", f"k{i}", f"v{i}", "NX", "PX", "60000"))
                                  for i, client in enumerate(clients)))
        self.assertEqual([client.reply() for client in clients], ["OK"] * CLIENTS)
        self.send_while_stopped(*((client, request("GET", f"k{i}"))
                                  for i, client in enumerate(clients)))
        self.assertEqual([client.reply() for client in clients],
                         [b"v%d" % i for i in range(CLIENTS)])

    def test_each_lock_is_counted_from_when_its_request_had_come(self):
        """Rule C4: the turn's reading of the clock is taken behind the last of the bytes."""
        clients = self.clients(CLIENTS)
        with self.stopped():
            time.sleep(LAID_OFF_S)
            sent = time.monotonic()
            for i, client in enumerate(clients):
                client.send(request("SET", f"k{i}", "v", "PX", TTL_MS))
        for i, client in enumerate(clients):
            self.assertEqual(client.reply(), "OK")
            left_ms = self.watcher("PTTL", f"k{i}")
            self.assertGreaterEqual(left_ms, TTL_MS - (time.monotonic() - sent) * 1000 - 1)

    def test_one_alone_gets_the_lock(self):
        clients = self.clients(CLIENTS)
        self.send_while_stopped(*((client, request("SET", "k", f"v{i}", "NX", "PX", "60000"))
                                  for i, client in enumerate(clients)))
        replies = [client.reply() for client in clients]
        self.assertEqual(replies.count("OK"), 1)
        self.assertEqual(self.watcher("GET", "k"), b"v%d" % replies.index("OK"))

    def test_what_a_client_sent_before_it_went_is_executed(self):
        leaving, staying = self.clients(2)
        with self.stopped():
            leaving.send(request("SET", "a", "1", "PX", "60000"))
            staying.send(request("SET", "b", "1", "PX", "60000"))
            leaving.close()
        self.assertEqual(staying.reply(), "OK")
        self.assertEqual(self.watcher("EXISTS", "a", "b"), 2)

    def test_what_is_too_long_to_be_held_is_executed_in_its_order(self):
        long, short = self.clients(2)
        self.watcher("SET", "n", "0", "PX", "60000")
        self.send_while_stopped((short, request("INCR", "n")),
                                (long, b"".join(request("INCR", "n") for _ in range(200))),
                                (short, request("INCR", "n")))
        of_long = [long.reply() for _ in range(200)]
        of_short = [short.reply() for _ in range(2)]
        self.assertEqual(of_long, sorted(of_long))
        self.assertEqual(sorted(of_long + of_short), list(range(1, 203)))

    def test_the_halves_of_a_request_find_each_other(self):
        clients = self.clients(4)
        whole = [request("SET", f"h{i}", "v" * 50, "PX", "60000") for i in range(4)]
        self.send_while_stopped(*((client, data[:20]) for client, data in zip(clients, whole)))
        self.send_while_stopped(*((client, data[20:]) for client, data in zip(clients, whole)))
        self.assertEqual([client.reply() for client in clients], ["OK"] * 4)

    def test_a_client_that_is_killed_meanwhile_executes_nothing_more(self):
        killer, victim = self.clients(2)
        name = victim("CLIENT", "ID")
        self.send_while_stopped((killer, request("CLIENT", "KILL", "ID", str(name))),
                                (victim, request("SET", "late", "1", "PX", "60000")))
        self.assertEqual(killer.reply(), 1)
        with self.assertRaises(ConnectionResetError):
            victim.reply()
        self.assertEqual(self.watcher("EXISTS", "late"), 0)

    def test_those_who_quit_among_many_are_answered_and_closed(self):
        clients = self.clients(CLIENTS)
        self.send_while_stopped(*((client, request("QUIT") if i % 2 == 0 else request("PING"))
                                  for i, client in enumerate(clients)))
        for i, client in enumerate(clients):
            self.assertEqual(client.reply(), "OK" if i % 2 == 0 else "PONG")
            if i % 2 == 0:
                with self.assertRaises(ConnectionResetError):
                    client.reply()
            else:
                self.assertEqual(client("ECHO", "still here"), b"still here")

    def test_a_stop_among_requests_leaves_those_locks_that_were_answered(self):
        clients = self.clients(CLIENTS)
        self.watcher("SET", "first", "v", "PX", TTL_MS)  # no later one waits for the disk
        self.watcher("DEL", "first")
        with self.stopped():
            for i, client in enumerate(clients):
                client.send(request("SET", f"k{i}", "v", "PX", TTL_MS))
            self.server.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.server.wait(), 0)
        answered = {f"k{i}".encode() for i, client in enumerate(clients)
                    if self.is_answered(client)}
        self.server.start()
        self.assertEqual(set(self.server.client()("KEYS", "*")), answered)

    def is_answered(self, client):
        try:
            return client.reply() == "OK"
        except ConnectionResetError:
            return False


if __name__ == "__main__":
    main()
