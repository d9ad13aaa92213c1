"""Two of five nodes under SIGSTOP: no acquire and release waits for them.

hung_nodes compares medians of wall time. On two idle cores they tell where the scheduler put the
processes more than what a request costs: a wake-up of a sleeping core takes tens of microseconds,
and fewer running nodes leave more cores asleep. So the client gets one core and the nodes share
another, and hung nodes are held against nodes that are gone: three have to answer in both cases.
Against five at work the same three were seen to take 1.1 to 1.4 times as long, whichever the two
others are: a core that the two keep awake need not be woken.
"""

import os
import re
import statistics
import subprocess
import unittest

from group import BUILD, SANITIZED, GroupTest

HUNG_NODES = os.path.join(BUILD, "hung_nodes")
RATIO_MAX = 1.2  # to nodes that are gone
RUNNING_RATIO_MAX = 2.0  # to five at work: nobody waits for a timeout
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
        told = re.search(r"to_refused=([0-9.]+) to_running=([0-9.]+) gone_ms_max=([0-9.]+)",
                         result.stdout)
        self.assertIsNotNone(told, result.stderr)
        return [float(figure) for figure in told.groups()]

    def check(self, mode):
        """Others on this machine may slow one half of a round: the median of the rounds counts."""
        rounds = [self.measure(mode) for _ in range(ROUNDS)]
        to_refused, to_running, gone_ms = zip(*rounds)
        self.assertLessEqual(statistics.median(to_refused), RATIO_MAX, rounds)
        self.assertLessEqual(statistics.median(to_running), RUNNING_RATIO_MAX, rounds)
        self.assertLessEqual(max(gone_ms), GONE_MS_MAX, rounds)

    def test_when_they_are_stopped_before_the_client_connects(self):
        self.check("before")

    def test_when_they_are_stopped_after_it_has_connected(self):
        self.check("after")


if __name__ == "__main__":
    unittest.main()
