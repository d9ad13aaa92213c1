"""`redlock release` stays until each node has answered, or its node timeout is over, and what it
released stays released (rule Q3). With REDLOCK_LONG=1 the latter is tried a thousand times."""

import concurrent.futures
import os
import time
import unittest

from group import REDLOCK, SANITIZED, GroupTest

RUNS = 40 if SANITIZED else 200  # a program takes ten times as long
AT_ONCE = 8
RUNS_UNDER_A_HOLDER = 1000 if os.environ.get("REDLOCK_LONG") == "1" else RUNS // 5
TTL_S = 3


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


class ReleasedUnderItsHolder(GroupTest):
    """The holder's next extension finds out, and brings nothing back."""

    def run_that_releases_itself(self, name):
        begin = time.monotonic()
        result = self.redlock("run", "--ttl", f"{TTL_S}s", name, "--", "sh", "-c",
                              f"{REDLOCK} release {name} && exec sleep 60")
        took = time.monotonic() - begin
        left = [reply for reply in self.group.keys(name) if reply != "$-1"]
        return result.returncode, left, took

    def test_a_lock_that_its_command_released_is_lost_and_free(self):
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            ends = list(pool.map(self.run_that_releases_itself,
                                 [f"kept-{i}" for i in range(RUNS_UNDER_A_HOLDER)]))
        self.assertEqual([end for end in ends if end[:2] != (121, [])], [])
        if not SANITIZED:
            self.assertEqual([end for end in ends if end[2] > TTL_S + 1], [])


if __name__ == "__main__":
    unittest.main()
