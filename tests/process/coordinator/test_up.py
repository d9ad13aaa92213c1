"""redlock up: a group and its front door in the foreground, from its export line to Ctrl-C."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

from group import PATIENCE_S, REDLOCK, REDLOCK_NODE, ask, is_alive, wait_until
from ports import reserve_ports


class Up(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="redlock-test.")
        self.addCleanup(shutil.rmtree, self.folder)
        self.ports = reserve_ports(5)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("REDLOCK_")}

    def start(self, *options, folder="up", door=("--no-door",), port=None):
        process = subprocess.Popen(
            [REDLOCK, "up", "--port", str(port or self.ports[0]),
             "--dir", f"{self.folder}/{folder}", "--node-binary", REDLOCK_NODE, *door, *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=self.environment)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.terminate()  # with SIGTERM it ends its nodes; with SIGKILL the kernel does
        try:
            process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()

    def addresses(self, process):
        """From the line that it prints for people to paste."""
        for line in process.stdout:
            if found := re.match(r" *export REDLOCK_NODES=(\S+)$", line):
                return found[1]
        self.fail("no export line: " + process.stderr.read())

    def children_of(self, process):
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]

    def redlock(self, *words, nodes):
        return subprocess.run([REDLOCK, *words], env={**self.environment, "REDLOCK_NODES": nodes},
                              capture_output=True, text=True, timeout=PATIENCE_S, check=False)

    def test_it_prints_the_export_line_and_ctrl_c_stops_all_nodes_cleanly(self):
        said = f"redlock: a new group in {self.folder}/up: tokens begin at 1\n"
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number.name):
                up = self.start()
                nodes = self.addresses(up)
                self.assertEqual(nodes.split(","),
                                 [f"redis://127.0.0.1:{port}" for port in self.ports])
                # The first time it is a new group, the second time one that was stopped cleanly:
                # both grant at once.
                self.assertEqual(self.redlock("status", nodes=nodes).returncode, 0)
                pids = self.children_of(up)
                self.assertEqual(len(pids), 5)
                up.send_signal(number)
                _, errors = up.communicate(timeout=PATIENCE_S)
                self.assertEqual((up.returncode, errors), (0, said))
                said = ""
                self.assertEqual([pid for pid in pids if is_alive(pid)], [])

    def test_locks_are_there_again_after_a_clean_stop(self):
        up = self.start()
        nodes = self.addresses(up)
        self.assertEqual(self.redlock("acquire", "kept", nodes=nodes).returncode, 0)
        up.send_signal(signal.SIGINT)
        self.assertEqual(up.wait(PATIENCE_S), 0)
        nodes = self.addresses(self.start())
        self.assertEqual(self.redlock("holder", "kept", nodes=nodes).returncode, 0)

    def test_folders_that_are_lost_are_told_of(self):
        self.stop(self.start())
        shutil.rmtree(f"{self.folder}/up/node-{self.ports[1]}")
        errors = self.stop(self.start())
        self.assertRegex(errors, rf"^redlock: node-{self.ports[1]} has no folder in a group that ")
        self.assertIn(f"{self.ports[1]} lost its folder, and is a member of the group again",
                      errors)
        self.assertEqual(errors.count("redlock: "), 2)
        shutil.rmtree(f"{self.folder}/up")
        self.assertIn("a new group", self.stop(self.start()))

    def test_its_nodes_are_a_group_with_a_roster_through_a_lost_folder(self):
        for epoch, lost in ((1, None), (1, self.ports[3]), (2, None)):
            up = self.start()
            nodes = self.addresses(up)
            shown = json.loads(self.redlock("group", "--json", nodes=nodes).stdout)
            self.assertEqual(shown["epoch"], epoch)
            self.assertEqual([member["node"] for member in shown["members"]],
                             [f"127.0.0.1:{port}" for port in self.ports])
            three = ",".join(nodes.split(",")[:3])
            refused = self.redlock("acquire", "half", nodes=three)
            self.assertEqual(refused.returncode, 78, refused.stderr)
            self.end(up)
            if lost:
                shutil.rmtree(f"{self.folder}/up/node-{lost}")

    def test_a_count_that_is_not_the_groups_is_told(self):
        self.stop(self.start())
        self.assertIn("the group has 5 members (epoch 1), and 3 nodes are named",
                      self.stop(self.start("--count", "3")))
        self.assertEqual(self.stop(self.start()), "")

    def stop(self, up):
        """Once it is ready; what it said on standard error."""
        self.addresses(up)
        up.send_signal(signal.SIGINT)
        _, errors = up.communicate(timeout=PATIENCE_S)
        self.assertEqual(up.returncode, 0)
        return errors

    def test_a_node_that_dies_is_told_and_ends_it_with_1(self):
        up = self.start()
        self.addresses(up)
        pids = self.children_of(up)
        os.kill(pids[2], signal.SIGKILL)
        _, errors = up.communicate(timeout=PATIENCE_S)
        self.assertEqual(up.returncode, 1)
        self.assertRegex(errors, rf"(?m)^redlock: node-{self.ports[2]} was ended by signal 9")
        self.assertEqual([pid for pid in pids if is_alive(pid)], [])

    def test_a_port_that_is_taken_starts_nothing(self):
        self.addresses(self.start("--count", "1"))
        second = self.start(folder="second")
        _, errors = second.communicate(timeout=PATIENCE_S)
        self.assertEqual(second.returncode, 1)
        self.assertIn(str(self.ports[0]), errors)
        self.assertEqual([ask(port, "PING") for port in self.ports], ["+PONG"] + [""] * 4)
        self.assertFalse(os.path.exists(f"{self.folder}/second/node-{self.ports[1]}"))

    def door_address(self, process):
        for line in process.stdout:
            if found := re.match(r"A front door is open at redis://127\.0\.0\.1:(\d+), ", line):
                return int(found[1])
        self.fail("no front door: " + process.stderr.read())

    def test_a_front_door_stands_beside_the_nodes_and_misses_none_of_two(self):
        [port] = reserve_ports(1)
        up = self.start(door=("--door-port", str(port)))
        nodes = self.addresses(up)
        self.assertEqual(self.door_address(up), port)
        self.assertEqual(ask(port, "SET", "printer", "alice", "NX", "PX", "30000"), "+OK")
        self.assertRegex(self.redlock("holder", "printer", nodes=nodes).stdout, "[345] of 5")
        pids = self.children_of(up)
        self.assertEqual(len(pids), 6)
        for pid in pids[:2]:
            os.kill(pid, signal.SIGSTOP)
        self.assertEqual(ask(port, "SET", "printer", "bob", "NX", "PX", "30000"), "$-1")
        self.assertEqual(ask(port, "SET", "scanner", "bob", "NX", "PX", "30000"), "+OK")
        for pid in pids[:2]:
            os.kill(pid, signal.SIGCONT)
        up.send_signal(signal.SIGINT)
        _, errors = up.communicate(timeout=PATIENCE_S)
        self.assertEqual((up.returncode, errors.count("redlock: ")), (0, 1))  # a new group
        self.assertEqual([pid for pid in pids if is_alive(pid)], [])

    def test_the_next_free_port_is_the_front_doors_and_it_is_told(self):
        with socket.socket() as taken:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            # Whoever else has it may let go of it before it is looked at; a Redis does not.
            with contextlib.suppress(AssertionError):
                wait_until(lambda: self.takes(taken, 6379), "a port that others have")
            up = self.start("--count", "1", "--json", door=())
            told = json.loads(up.stdout.readline())
            port = int(told["front_door"].rpartition(":")[2])
            self.assertGreater(port, 6379)
            self.assertEqual(ask(port, "PING"), "+PONG")
            self.assertIn(f"port 6379 is taken: the front door is at {port}", self.ended(up))

    @staticmethod
    def takes(listener, port):
        with contextlib.suppress(OSError):
            listener.bind(("127.0.0.1", port))
            listener.listen()
            return True
        return False

    def ended(self, up):
        up.send_signal(signal.SIGINT)
        return up.communicate(timeout=PATIENCE_S)[1]

    def test_of_those_that_start_at_once_each_has_a_front_door_of_its_own(self):
        ups = [self.start("--count", "1", "--json", port=port, folder=str(port), door=())
               for port in self.ports]
        doors = {json.loads(up.stdout.readline())["front_door"] for up in ups}
        self.assertEqual(len(doors), len(ups))

    def test_a_front_door_that_has_no_port_starts_nothing(self):
        for port, why in ((self.ports[1], "is a node's"), (self.taken_port(), "in use")):
            up = self.start(door=("--door-port", str(port)))
            _, errors = up.communicate(timeout=PATIENCE_S)
            self.assertEqual(up.returncode, 1)
            self.assertIn(why, errors)
            self.assertIn("--door-port chooses another", errors)
            self.assertFalse(os.path.exists(f"{self.folder}/up"))

    def taken_port(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        return listener.getsockname()[1]

    def test_a_front_door_that_dies_is_told_and_ends_it_with_1(self):
        [port] = reserve_ports(1)
        up = self.start("--count", "1", door=("--door-port", str(port)))
        self.door_address(up)
        pids = self.children_of(up)
        os.kill(pids[-1], signal.SIGKILL)
        _, errors = up.communicate(timeout=PATIENCE_S)
        self.assertEqual(up.returncode, 1)
        self.assertRegex(errors, r"(?m)^redlock: front-door was ended by signal 9")
        self.assertEqual([pid for pid in pids if is_alive(pid)], [])

    def test_json_names_the_nodes_for_programs(self):
        up = self.start("--count", "3", "--json")
        nodes = json.loads(up.stdout.readline())["REDLOCK_NODES"]
        self.assertEqual(len(nodes.split(",")), 3)

    def test_the_nodes_end_when_redlock_is_killed(self):
        up = self.start("--count", "3")
        self.addresses(up)
        pids = self.children_of(up)
        up.kill()
        wait_until(lambda: not any(is_alive(pid) for pid in pids), "the end of the nodes")
        self.assertEqual(ask(self.ports[0], "PING"), "")


if __name__ == "__main__":
    unittest.main()
