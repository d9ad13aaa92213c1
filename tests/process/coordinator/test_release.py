"""`redlock release` stays until each node has answered, or its node timeout is over (rule Q3)."""

import concurrent.futures
import time
import unittest

from group import SANITIZED, GroupTest

RUNS = 200
AT_ONCE = 8


class Release(GroupTest):
    def leftovers(self, name):
        """What the nodes have of a lock right after the release of it has ended with 0."""
        value = self.acquire(name)["REDLOCK_VALUE"]
        self.assertExit(0, self.redlock("release", name, "--value", value))
        return [reply for reply in self.group.keys(name) if reply != "$-1"]

    def test_after_a_release_no_healthy_node_has_the_lock(self):
        """On a busy machine a quorum has often answered before the last nodes are connected to."""
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            left = list(pool.map(self.leftovers, [f"released-{i}" for i in range(RUNS)]))
        self.assertEqual([i for i, replies in enumerate(left) if replies], [])

    def release_s(self, name, *options):
        """How long a release takes that a quorum confirms."""
        value = self.acquire(name)["REDLOCK_VALUE"]
        begin = time.monotonic()
        self.assertExit(0, self.redlock("release", name, "--value", value, *options))
        return time.monotonic() - begin

    def test_a_hung_node_costs_the_node_timeout_and_no_more(self):
        self.group.stop(1)
        self.assertGreater(self.release_s("hung", "--node-timeout", "1s"), 0.9)
        if not SANITIZED:
            self.assertLess(self.release_s("hung", "--node-timeout", "1s"), 5)

    @unittest.skipIf(SANITIZED, "sanitizers upset the times")
    def test_a_dead_node_costs_nothing(self):
        self.group.kill(1)
        self.assertLess(self.release_s("dead", "--node-timeout", "9s"), 4)


if __name__ == "__main__":
    unittest.main()
