"""Processes that wait for one lock on five real nodes: in their order, and nobody for ever (Q7)."""

import os
import re
import signal
import socket
import unittest

from group import PATIENCE_S, SANITIZED, UNKIND, GroupTest, wait_until


def waiters(port):
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as link:
        link.sendall(b"INFO locks\r\n")
        reader = link.makefile("rb")
        text = reader.read(int(reader.readline()[1:])).decode()
    return int(re.search(r"^waiters:(\d+)", text, re.MULTILINE)[1])


class HandOver(GroupTest):
    def setUp(self):
        super().setUp()
        self.order = os.path.join(self.group.folder, self.id())

    def hold(self, name):
        """Until it is terminated."""
        return self.start_job(name, "exec sleep 1000")

    def start_waiter(self, name, mark, script=":"):
        return self.start_redlock("run", name, "--wait", "1h", "--", "sh", "-c",
                                  f"echo {mark} >> {self.order}; {script}")

    def wait_for_line(self, count, nodes=None):
        ports = [node.port for node in nodes or self.group.nodes]
        wait_until(lambda: all(waiters(port) == count for port in ports), f"{count} waiters")

    def start_line(self, name, count, script=":"):
        """One after another, each behind the ones before."""
        line = []
        for number in range(count):
            line.append(self.start_waiter(name, number, script))
            self.wait_for_line(number + 1)
        return line

    def served(self):
        try:
            with open(self.order, encoding="ascii") as order:
                return [int(word) for word in order.read().split()]
        except FileNotFoundError:
            return []

    def wait_until_served(self, who):
        wait_until(lambda: set(who) <= set(self.served()), f"{who}: {self.served()}")

    @unittest.skipIf(SANITIZED or UNKIND, "who is called has 10 ms for itself")
    def test_processes_get_the_lock_in_the_order_of_their_coming(self):
        holder = self.hold("printer")
        line = self.start_line("printer", 10)
        holder.terminate()
        for waiter in line:
            self.assertEqual(self.finish(waiter)[0], 0)
        # A machine that stands still for longer than a called one has for itself lets one overtake.
        for place, who in enumerate(self.served()):
            self.assertLessEqual(abs(place - who), 2, self.served())

    def test_the_first_that_is_stopped_keeps_nobody_waiting_and_is_served_when_it_goes_on(self):
        holder = self.hold("plotter")
        line = self.start_line("plotter", 4)
        line[0].send_signal(signal.SIGSTOP)
        holder.terminate()
        self.wait_until_served([1, 2, 3])
        self.assertNotIn(0, self.served())
        line[0].send_signal(signal.SIGCONT)
        self.assertEqual(self.finish(line[0])[0], 0)

    def test_the_first_that_is_killed_keeps_nobody_waiting(self):
        holder = self.hold("scanner")
        line = self.start_line("scanner", 4)
        line[0].kill()
        self.wait_for_line(3)
        holder.terminate()
        self.wait_until_served([1, 2, 3])

    def test_nobody_starves_with_a_node_stopped_and_another_killed_and_back(self):
        self.addCleanup(self.drop_group)  # a node that was killed recovers for long
        holder = self.hold("camera")
        line = self.start_line("camera", 12, script="sleep 0.05")
        self.group.stop(4)
        holder.terminate()
        self.wait_until_served([0])
        self.group.kill(3)
        self.wait_until_served(range(4))
        self.group.nodes[3].start()
        self.wait_until_served(range(12))
        self.group.proceed()
        for waiter in line:
            self.assertEqual(self.finish(waiter)[0], 0)


if __name__ == "__main__":
    unittest.main()
