"""What clients leave behind at a front door that were killed, or wait with the longest names."""

import unittest

from group import SANITIZED, wait_until
from harness import Client, request
from test_serve import TTL_MS, DoorTest  # knows where harness is

TRIES = 10
NAME = "k" * 60_000
WAITS = 300
LINES_MAX = 70  # 4 MB of names
MEMORY_KB_MAX = 128 * 1024


class Gone(DoorTest):
    @staticmethod
    def listed(operator, number):
        """The client's line in the list."""
        lines = operator("CLIENT", "LIST").splitlines()
        return next((line for line in lines if line.startswith(f"id={number} ".encode())), b"")

    def test_a_client_that_is_killed_while_it_waits_leaves_no_place_taken(self):
        """It went before, or did not, and something stands behind the command under way."""
        door = self.door()
        with door.client() as operator:
            for attempt in range(TRIES):
                with Client(door.port) as client:
                    number = client("CLIENT", "ID")
                    self.group.stop(*range(5))
                    client.send(request("SET", f"key{attempt}", "1", "NX", "PX", TTL_MS)
                                + request("DEL", f"key{attempt}"))
                    wait_until(lambda: b"cmd=set" in self.listed(operator, number), "the request")
                    if attempt % 2 == 0:
                        client.close()
                        wait_until(lambda: not self.listed(operator, number), "its end")
                    operator("CLIENT", "KILL", "ID", number)
                self.group.proceed()
                wait_until(lambda: door.info()["connected_clients"] == "2", "the place to be free")

    def test_who_waits_with_long_names_costs_neither_memory_nor_others_locks(self):
        door = self.door()
        with Client(door.port) as greedy, door.client() as other:
            greedy("HELLO", "3")
            refused = 0
            for number in range(WAITS):
                name = f"{NAME}{number}"
                self.assertEqual(other("SET", name, "1", "NX", "PX", TTL_MS), "OK")
                answer = greedy("LOCK.WAIT", name, 60_000, "PUSH")
                refused += str(answer).startswith("ERR too many wait")
            self.assertGreater(refused, WAITS - LINES_MAX)
            self.assertEqual(other("SET", "printer", "1", "NX", "PX", TTL_MS), "OK")
        if not SANITIZED:
            self.assertLess(door.resident_peak_kb(), MEMORY_KB_MAX)


if __name__ == "__main__":
    unittest.main()
