"""A front door whose clients send scripts that take long: everybody else is served between them."""

import threading
import time
import unittest

from group import SANITIZED, UNKIND
from test_serve import BUSY_S, TTL_MS, DoorTest  # knows where harness is
from harness import Client, request

MANY = 50
SCRIPTS_OF_EACH = 8
TRIES = 40
ACQUIRE_TIME = "300ms" if SANITIZED or UNKIND else "50ms"
ROUNDS = 1000000
LONG = (f"local sum = 0 for i = 1, {ROUNDS} do sum = sum + i % 7 end "
        "redis.call('get', KEYS[1]) return sum")


class LongScripts(DoorTest):
    def setUp(self):
        super().setUp()
        self.served = self.door()
        with self.served.client() as client:
            began = time.monotonic()
            for number in range(4):
                client("EVAL", LONG, 1, f"alone{number}")
            self.script_s = (time.monotonic() - began) / 4
        self.all_of_it_s = self.script_s * MANY * SCRIPTS_OF_EACH

    def crowd(self):
        clients = []
        for number in range(MANY):
            client = Client(self.served.port, timeout_s=300)
            self.addCleanup(client.close)
            client.send(b"".join(request("EVAL", LONG, 1, f"key{number}")
                                 for _ in range(SCRIPTS_OF_EACH)))
            clients.append(client)
        return clients

    def assertOthersAreServed(self):
        """A pair of commands has some six turns, and waits for one of the others' runs at each."""
        with self.served.client() as client:
            began = time.monotonic()
            self.assertEqual(client("SET", "printer", "1", "NX", "PX", TTL_MS), "OK")
            self.assertEqual(client("DEL", "printer"), 1)
            took_s = time.monotonic() - began
        print(f"\n  {took_s:.2f} s beside {self.all_of_it_s:.1f} s of scripts", end="", flush=True)
        self.assertLess(took_s, 12 * self.script_s + BUSY_S)
        self.assertGreater(self.all_of_it_s, 24 * self.script_s + 2 * BUSY_S)  # it would show

    def test_others_are_served_between_them(self):
        self.crowd()
        self.assertOthersAreServed()

    def test_and_between_those_of_clients_that_have_gone(self):
        for client in self.crowd():
            client.close()
        self.assertOthersAreServed()

    def test_locks_are_got_within_a_short_acquire_time(self):
        """Beside a client whose scripts end by their time alone, one after the other."""
        served = self.door("--acquire-time", ACQUIRE_TIME)
        over = threading.Event()

        def ask():
            with Client(served.port, timeout_s=300) as client:
                while not over.is_set():
                    client("EVAL", "while true do end", 0)

        endless = threading.Thread(target=ask)
        endless.start()
        self.addCleanup(endless.join)
        self.addCleanup(over.set)
        with served.client() as client:
            answers = [client("SET", f"printer{number}", "1", "NX", "PX", TTL_MS)
                       for number in range(TRIES)]
        print(f"\n  {answers.count('OK')} of {TRIES} locks", end="", flush=True)
        self.assertGreater(answers.count("OK"), TRIES // 4)  # it was none

    def test_and_all_of_them_come_to_their_end(self):
        for client in self.crowd():
            sums = {client.reply() for _ in range(SCRIPTS_OF_EACH)}
            self.assertEqual(sums, {sum(i % 7 for i in range(1, ROUNDS + 1))})


if __name__ == "__main__":
    unittest.main()
