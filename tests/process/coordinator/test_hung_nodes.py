"""Two of five nodes under SIGSTOP: no acquire and release waits for them.

hung_nodes compares medians of wall time. On two idle cores they tell where the scheduler put the
processes more than what a request costs: a wake-up of a sleeping core takes tens of microseconds,
and fewer running nodes leave more cores asleep. So the client gets one core and the nodes share
another, in both halves of the comparison; then it repeats to a few percent.
"""

import os
import re
import statistics
import subprocess
import unittest

from group import BUILD, SANITIZED, GroupTest

HUNG_NODES = os.path.join(BUILD, "hung_nodes")
RATIO_MAX = 1.2
GONE_MS_MAX = 100
ROUNDS = 5


@unittest.skipIf(SANITIZED, "sanitizers upset the times")
class HungNodes(GroupTest):
    def measure(self, mode):
        nodes = [f"{node.url}={node.pid}" for node in self.group.nodes]
        cores = sorted(os.sched_getaffinity(0))
        for node in self.group.nodes:
            os.sched_setaffinity(node.pid, {cores[-1]})
        on_first_core = ["taskset", "-c", str(cores[0])]
        result = subprocess.run([*on_first_core, HUNG_NODES, mode, *nodes], capture_output=True,
                                text=True, timeout=60, check=False)
        print(mode, result.stdout.strip())
        told = re.search(r"ratio=([0-9.]+) gone_ms_max=([0-9.]+)", result.stdout)
        self.assertIsNotNone(told, result.stderr)
        return float(told[1]), float(told[2])

    def check(self, mode):
        """Others on this machine may slow one half of a round: the median of the rounds counts."""
        rounds = [self.measure(mode) for _ in range(ROUNDS)]
        self.assertLessEqual(statistics.median(ratio for ratio, _ in rounds), RATIO_MAX, rounds)
        self.assertLessEqual(max(gone_ms for _, gone_ms in rounds), GONE_MS_MAX, rounds)

    def test_when_they_are_stopped_before_the_client_connects(self):
        self.check("before")

    def test_when_they_are_stopped_after_it_has_connected(self):
        self.check("after")


if __name__ == "__main__":
    unittest.main()
