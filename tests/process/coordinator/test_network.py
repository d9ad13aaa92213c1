"""The network of a drill: what is cut does not arrive, what is healed does, and nothing stays."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import drills
from group import BUILD, PATIENCE_S, is_alive, wait_until

CUT_NETWORK = os.path.join(BUILD, "cut_network")
NODE = "10.0.1.1"

# Answers each datagram with itself, and counts in a file how many have come.
ECHO = """
import socket, sys
node = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
node.bind((sys.argv[1], 7))
came = 0
while True:
    if came: node.sendto(*datagram)
    with open(sys.argv[2], "w") as file: file.write(str(came))
    datagram = node.recvfrom(2000)
    came += 1
"""

# Sends datagrams of 100 bytes, heads and all, at once, and tells how many came back, and after how
# many milliseconds the last one.
ASK = """
import socket, sys, time
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.settimeout(float(sys.argv[3]))
client.connect((sys.argv[1], 7))
count, back, began = int(sys.argv[2]), 0, time.monotonic()
try:
    for i in range(count): client.send(bytes(58))
    for back in range(1, count + 1): client.recv(100); last = time.monotonic()
except TimeoutError: back -= 1
print(back, round((last - began) * 1000) if back > 0 else 0)
"""


class Network(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="redlock-test.")
        self.addCleanup(shutil.rmtree, self.folder)
        os.chmod(self.folder, 0o777)
        self.process = subprocess.Popen([CUT_NETWORK, self.folder], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end)
        self.slowed_by = self.process.stdout.readline().strip()
        if not self.slowed_by:
            _, errors = self.process.communicate(timeout=PATIENCE_S)
            self.assertEqual(self.process.returncode, drills.SKIPPED, errors)
            self.skipTest(errors)
        for name, text in (("echo", ECHO), ("ask", ASK)):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        self.count_file = os.path.join(self.folder, "count")
        self.echo = int(self.does("start node", sys.executable, self.folder + "/echo", NODE,
                                  self.count_file))
        wait_until(lambda: self.arrived() == 0, "the echo")

    def end(self):
        self.process.kill()
        self.process.communicate()

    def does(self, *words):
        """What is answered; the program ends when a deed fails."""
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer:
            self.fail(self.process.communicate(timeout=PATIENCE_S)[1])
        return answer

    def arrived(self):
        try:
            with open(self.count_file, encoding="utf-8") as file:
                return int(file.read() or -1)
        except FileNotFoundError:
            return -1

    def ask(self, count=1, wait_s=0.3):
        """(datagrams that came back, milliseconds until the last)."""
        told = self.does("run client", sys.executable, self.folder + "/ask", NODE, str(count),
                         str(wait_s))
        return tuple(int(number) for number in told.split())

    def assertReached(self):
        before = self.arrived()
        self.assertEqual(self.ask(wait_s=PATIENCE_S)[0], 1)
        wait_until(lambda: self.arrived() == before + 1, "the datagram")

    def test_the_client_reaches_the_node_until_both_ways_are_cut_and_again_when_healed(self):
        self.assertReached()
        self.does("cut node client")
        self.does("cut client node")
        self.assertEqual(self.ask()[0], 0)
        self.assertEqual(self.arrived(), 1)
        self.does("heal client node")
        self.does("heal node client")
        self.assertReached()

    def test_with_one_way_cut_requests_arrive_and_replies_do_not(self):
        self.does("cut node client")
        self.assertEqual(self.ask()[0], 0)
        wait_until(lambda: self.arrived() == 1, "the request")
        self.does("heal node client")
        self.assertReached()

    def test_with_the_other_way_cut_no_request_arrives(self):
        self.does("cut client node")
        self.assertEqual(self.ask()[0], 0)
        self.assertEqual(self.arrived(), 0)

    def test_what_is_slowed_takes_its_time_until_it_is_not(self):
        self.assertReached()
        self.does("slow node 50")
        # tbf lets 640 bytes through at once: of twelve, five and more wait for one another.
        count, least_ms = (1, 50) if self.slowed_by == "netem" else (12, 5 * 50)
        back, took_ms = self.ask(count, PATIENCE_S)
        self.assertEqual(back, count)
        self.assertGreaterEqual(took_ms, least_ms)
        self.does("unslow node")
        back, took_ms = self.ask(count, PATIENCE_S)
        self.assertEqual(back, count)
        self.assertLess(took_ms, least_ms)

    def test_nothing_stays_also_after_kill_9(self):
        spaces = {self.space_of(pid) for pid in (self.process.pid, self.echo)}
        self.assertEqual(len(spaces | {self.space_of(os.getpid())}), 3)
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        wait_until(lambda: not is_alive(self.echo), "the end of the process in the network")
        # A namespace lives as long as a process in it, or a descriptor of it.
        wait_until(lambda: not spaces & self.spaces_in_use(), "the end of the network")

    @staticmethod
    def space_of(pid):
        try:
            return os.readlink(f"/proc/{pid}/ns/net")
        except OSError:  # it has ended, or is another user's
            return None

    def spaces_in_use(self):
        return {self.space_of(pid) for pid in os.listdir("/proc") if pid.isdigit()} - {None}


if __name__ == "__main__":
    drills.main()
