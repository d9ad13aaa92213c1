"""redlock drill chaos --doors: who takes a front door for one Redis relies on a lock for its TTL
from when it reads the OK, and nobody else may hold one meanwhile (rule D2)."""

import os
import time
import unittest

from drills import DrillTest
from group import REDIS

LONG = bool(os.environ.get("REDLOCK_LONG"))
LENGTH_S = 600 if LONG else 15
SEED = int(time.time()) if LONG else 1
DOORS = ("--doors", "2")


class Doors(DrillTest):
    def assertKept(self, *options):
        report = self.judged(*DOORS, *options, "--seed", str(SEED), lasts_s=LENGTH_S, status=0)
        self.assertEqual(report["findings"], [])
        header, events, counts = self.told()
        self.assertIn("door 2", header["clients"])
        self.assertHappened(counts, ("node", "killed", 5), ("door", "stopped", 1),
                            ("door", "killed", 1), ("door", "slowed", 1),
                            ("client", "acquired", LENGTH_S), ("client", "wrote", LENGTH_S),
                            ("client", "extended", 1))
        print(f"\n  seed {SEED}: {counts['client', 'acquired']} locks", end="", flush=True)
        return [event for event in events if event["what"] == "acquired"]

    def test_naive_clients_are_never_two_at_once(self):
        self.assertFalse(any("token" in event for event in self.assertKept("--naive")))

    def test_nor_are_those_with_tokens_which_rise(self):
        self.assertTrue(all("token" in event for event in self.assertKept()))

    @unittest.skipUnless(os.access(REDIS, os.X_OK), "redis-tools is not installed")
    def test_redis_without_persistence_is_caught(self):
        program = os.path.join(self.folder, "redis-server")
        os.symlink(REDIS, program)
        self.two_holders(*DOORS, "--naive", "--node-binary", program)

    def test_nodes_that_do_not_wait_are_caught_and_tokens_still_rise(self):
        report = self.two_holders(*DOORS, "--node-binary", self.nodes_that_do_not_wait())
        self.assertEqual(report["counts"]["token_order"], 0)
        self.assertEqual(report["counts"]["token_twice"], 0)


if __name__ == "__main__":
    unittest.main()
