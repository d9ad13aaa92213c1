"""redlock group: a group of nodes that knows who its members are (rules G)."""

import itertools
import json
import os
import shutil
import time
import unittest

from group import GroupTest, Node, ask, reserve_ports, wait_until
from harness import Client
from test_serve import Door

LONG = os.environ.get("REDLOCK_LONG") == "1"
MAX_TTL_MS = 1000
TTL = ("--ttl", f"{MAX_TTL_MS}ms")


class QuickNode(Node):
    """Its locks are short, and so is the wait of a node that joins."""

    max_ttl_ms = MAX_TTL_MS


class RosterTest(GroupTest):
    node_class = QuickNode

    def setUp(self):
        self.drop_group()  # each test makes a group of its nodes
        super().setUp()
        self.newcomers = []
        self.addCleanup(self.kill_newcomers)

    def kill_newcomers(self):
        for node in self.newcomers:
            node.kill()

    def add_node(self):
        node = QuickNode(f"{self.group.folder}/newcomer-{len(self.newcomers)}", *reserve_ports(1))
        node.bootstrap()
        node.start()
        self.newcomers.append(node)
        node.await_begun()
        return node

    def address(self, node):
        return f"127.0.0.1:{node.port}"

    def change(self, *words):
        done = self.redlock("group", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def roster(self, **environment):
        shown = self.redlock("group", "--json", **environment)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        return json.loads(shown.stdout)

    def members(self):
        return [member["node"] for member in self.roster()["members"]]

    def holds(self, node, name):
        return ask(node.port, "GET", name) != "$-1"

    def test_a_list_of_three_of_the_five_is_refused_and_the_right_one_goes_on(self):
        self.assertEqual(self.roster()["epoch"], 0)
        self.assertIn("no roster yet: `redlock group create`", self.redlock("status").stdout)
        self.change("create")
        self.assertEqual(self.roster()["epoch"], 1)
        self.assertIn("epoch 1, 5 members", self.redlock("status").stdout)
        three = ",".join(node.url for node in self.group.nodes[:3])
        for words in (("acquire", "x", *TTL), ("run", "x", *TTL, "--", "true")):
            refused = self.redlock(*words, REDLOCK_NODES=three)
            self.assertEqual(refused.returncode, 78, refused.stderr)
            self.assertIn("belongs to a group of 5 nodes (epoch 1), and 3 are named",
                          refused.stderr)
        status = self.redlock("status", REDLOCK_NODES=three)
        self.assertEqual(status.returncode, 78, status.stdout)
        self.assertIn("the group has 5 members (epoch 1), and 3 nodes are named", status.stdout)
        extended = self.redlock("extend", "x", *TTL, "--value", "v", REDLOCK_NODES=three)
        self.assertEqual(extended.returncode, 78, extended.stderr)
        door = self.redlock("serve", "--listen", f"127.0.0.1:{reserve_ports(1)[0]}",
                            "--require-quorum", REDLOCK_NODES=three)
        self.assertEqual(door.returncode, 78, door.stdout)
        self.assertIn("belongs to a group of 5 nodes (epoch 1), and 3 are named", door.stdout)
        self.assertEqual(self.redlock("run", "x", *TTL, "--", "true").returncode, 0)

    def test_one_member_shows_them_all(self):
        self.change("create")
        one = self.roster(REDLOCK_NODES=self.group.nodes[2].url)
        self.assertEqual(len(one["members"]), 5)

    def test_a_first_roster_is_made_once_and_of_all(self):
        self.change("create")
        again = self.redlock("group", "create")
        self.assertEqual(again.returncode, 78)
        self.assertIn("a group already (epoch 1)", again.stderr)
        self.drop_group()
        super().setUp()
        self.group.kill(4)
        without_one = self.redlock("group", "create")
        self.assertEqual(without_one.returncode, 69)
        self.assertIn("needs all of them", without_one.stderr)

    def test_a_member_is_replaced_under_a_lock_and_its_old_list_goes_on(self):
        self.change("create")
        old, new = self.group.nodes[4], self.add_node()
        job = self.start_redlock("run", "held", *TTL, "--", "sleep", "6")
        wait_until(lambda: self.holds(old, "held"), "the lock")
        self.change("replace", self.address(old), self.address(new))
        again = self.change("replace", self.address(old), self.address(new))
        self.assertIn("is a member already: nothing is to be done", again.stderr)
        self.assertEqual(self.roster()["epoch"], 2)
        self.assertIn(self.address(new), self.members())
        self.assertNotIn(self.address(old), self.members())
        wait_until(lambda: self.holds(new, "held"), "the lock at the newcomer")
        self.assertEqual(job.wait(20), 0, job.stderr.read())
        taken = self.redlock("run", "next", *TTL, "--", "true")
        self.assertEqual(taken.returncode, 0, taken.stderr)
        self.assertFalse(self.holds(old, "next"))

    def test_who_extends_at_a_front_door_meanwhile_hears_nothing_of_it(self):
        self.change("create")
        door = Door(self.group.folder, self.group.addresses, "--acquire-time", "300ms",
                    "--reply-time", "50ms")
        self.addCleanup(door.kill)
        door.start()
        out, away = self.group.nodes[4], self.add_node()
        with door.client() as client:
            self.assertEqual(client("SET", "held", "1", "NX", "PX", 500), "OK")
            for _ in range(3):
                change = self.start_redlock("group", "replace", self.address(out),
                                            self.address(away))
                while change.poll() is None:
                    self.assertEqual(client("PEXPIRE", "held", 500), 1)
                    self.assertEqual(client("LOCK.EXTEND", "held", "1", "PX", 500)[0], 1)
                self.assertEqual(change.returncode, 0, change.stderr.read())
                out, away = away, out

    def test_another_groups_node_at_a_members_address_takes_nobody_with_it(self):
        self.change("create")
        others = [self.add_node() for _ in range(4)]
        named = {"REDLOCK_NODES": ",".join(node.url for node in others[:3])}
        for words in (("create",), ("add", self.address(others[3]))):
            done = self.redlock("group", *words, **named)
            self.assertEqual(done.returncode, 0, done.stderr)
        for words in (("add",), ("replace", self.address(self.group.nodes[0]))):
            refused = self.redlock("group", *words, self.address(others[3]))
            self.assertEqual(refused.returncode, 78, refused.stderr)
            self.assertIn("is of another group (epoch 2): remove it there", refused.stderr)
        door = Door(self.group.folder, self.group.addresses, "--acquire-time", "300ms",
                    "--reply-time", "50ms")
        self.addCleanup(door.kill)
        door.start()
        member, guest = self.group.nodes[4], others[3]
        with door.client() as holder, Client(door.port) as other:
            self.assertEqual(holder("SET", "held", "1", "NX", "PX", 500), "OK")
            member.kill()
            guest.kill()
            guest.port = member.port
            guest.start()
            end = time.monotonic() + 3
            while time.monotonic() < end:
                self.assertEqual(holder("PEXPIRE", "held", 500), 1)
                self.assertIsNone(other("SET", "held", "2", "NX", "PX", 500))
        status = self.redlock("status")
        self.assertIn("is a node of another group (epoch 2), not of this one (epoch 1)",
                      status.stdout)
        self.assertEqual(len(self.members()), 5)

    def test_a_node_that_was_away_when_it_was_replaced_is_harmless(self):
        self.change("create")
        old, new = self.group.nodes[0], self.add_node()
        old.kill()
        self.change("replace", self.address(old), self.address(new))
        old.start()
        old.await_begun()
        got = self.redlock("acquire", "x", *TTL)
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertFalse(self.holds(old, "x"))

    def test_a_group_grows_and_shrinks(self):
        self.change("create")
        new = self.add_node()
        self.change("add", self.address(new))
        self.assertEqual(len(self.members()), 6)
        # An address in any form that --nodes takes.
        early = self.redlock("group", "remove", self.group.nodes[0].url)
        self.assertEqual(early.returncode, 0, early.stderr)
        self.assertIn("too young: waiting", early.stderr)
        self.assertEqual(len(self.members()), 5)
        got = self.redlock("acquire", "x", *TTL)
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertFalse(self.holds(self.group.nodes[0], "x"))

    def test_a_lost_disk_under_a_node_id_of_its_own_heals_by_itself(self):
        node = self.group.nodes[1]
        node.kill()
        node.flags = ("--node-id", "ab" * 20)
        shutil.rmtree(node.folder)
        os.mkdir(node.folder)
        node.start()
        node.await_begun()
        self.change("create")
        before = self.roster()["members"][1]["ledger"]
        node.kill()
        shutil.rmtree(node.folder)
        os.mkdir(node.folder)
        job = self.start_redlock("run", "held", *TTL, "--", "sleep", "30")
        wait_until(lambda: self.holds(self.group.nodes[0], "held"), "the lock")
        node.start()
        node.await_begun()
        wait_until(lambda: self.roster()["epoch"] == 2, "the member with its new ledger")
        self.assertNotEqual(self.roster()["members"][1]["ledger"], before)
        wait_until(lambda: self.holds(node, "held"), "the lock at the node that came back")
        self.end(job)

    def test_a_lost_disk_that_the_node_id_was_on_is_told_what_to_type(self):
        self.change("create")
        node = self.group.nodes[1]
        node.kill()
        shutil.rmtree(node.folder)
        os.mkdir(node.folder)
        node.start()
        node.await_begun()
        words = ("replace", self.address(node), self.address(node))
        self.assertIn(f"`redlock group {' '.join(words)}`", self.redlock("status").stdout)
        self.change(*words)
        self.assertEqual(self.roster()["members"][1]["since"], 2)
        self.assertNotIn("replace", self.redlock("status").stdout)

    def test_a_group_that_lost_a_quorum_of_ledgers_is_rescued(self):
        self.lose_and_rescue(2, 3, 4)

    @unittest.skipUnless(LONG, "this takes a minute")
    def test_it_is_rescued_whichever_three_they_were(self):
        for lost in itertools.combinations(range(5), 3):
            with self.subTest(lost=lost):
                self.setUp()
                self.lose_and_rescue(*lost)

    def lose_and_rescue(self, *numbers):
        self.change("create")
        token = int(self.acquire("printer", *TTL)["REDLOCK_TOKEN"])
        lost = [self.group.nodes[number] for number in numbers]
        for node in lost:
            node.kill()
            shutil.rmtree(node.folder)
            os.mkdir(node.folder)
            node.start()
            node.await_begun()
        nobody = self.redlock("acquire", "scanner", *TTL)
        self.assertEqual(nobody.returncode, 69)
        self.assertIn("see `redlock group rescue`", nobody.stderr)
        status = self.redlock("status")
        self.assertEqual(status.returncode, 2, status.stdout)
        self.assertIn("see `redlock group rescue`", status.stdout)
        refused = self.redlock("group", "rescue")
        self.assertEqual(refused.returncode, 78, refused.stderr)
        # Their node ids were in their ledgers: they are others now.
        self.assertIn(f"--gone {self.address(lost[0])}", refused.stderr)
        refused = self.redlock("group", "rescue", *self.gone(lost))
        self.assertIn("--floor N is needed", refused.stderr)
        refused = self.redlock("group", "rescue", *self.gone(lost), "--floor", "1")
        self.assertIn("tokens would come again", refused.stderr)
        self.assertEqual(self.roster()["epoch"], 1)
        floor = ("--floor", str(token + 2_000_000))
        self.change("rescue", *self.gone(lost), *floor)
        self.assertEqual(self.roster()["epoch"], 1001)
        again = int(self.acquire("printer", *TTL)["REDLOCK_TOKEN"])
        self.assertGreater(again, token + 2_000_000)
        self.change("rescue")  # there is nothing left to do
        self.assertEqual(self.roster()["epoch"], 1001)

    def gone(self, nodes):
        return [word for node in nodes for word in ("--gone", self.address(node))]

    def test_nodes_with_unsafe_settings_have_no_vote_unless_they_are_taken_as_they_are(self):
        settings = (("--clock-drift", "0.05"), ("--restart-delay", "off"), ("--max-ttl", "30s"),
                    ("--restart-delay", "10ms"))
        for node, flags in zip(self.group.nodes, settings):
            node.kill()
            node.flags = flags
            node.start()
            node.await_begun()
        wait_until(lambda: all(ask(node.port, "SET", "free", "x", "PX", "1") == "+OK"
                               for node in self.group.nodes), "the nodes to serve")
        for words in (("acquire", "mine", *TTL), ("run", "-n", "mine", *TTL, "--", "true")):
            refused = self.redlock(*words)
            self.assertEqual(refused.returncode, 78, refused.stderr)
            self.assertIn("too few nodes have safe settings", refused.stderr)
            self.assertIn("clock-drift 0.05 is larger than 0.01", refused.stderr)
            self.assertIn("restart-delay off is not safe", refused.stderr)
        self.acquire("mine", *TTL, "--unsafe-members")
        self.acquire("drift", *TTL, "--clock-drift", "0.05")  # three of five are safe then
        status = self.redlock("status")
        self.assertEqual(status.returncode, 2, status.stdout)
        for line in ("clock-drift 0.05", "restart-delay off", "restart-delay 10ms",
                     "max-ttl differs: 1.0 s, but 30.0 s at"):
            self.assertIn(line, status.stdout)

    def test_nodes_that_do_not_answer_are_no_group_without_a_roster(self):
        nodes = ",".join(f"127.0.0.1:{port}" for port in reserve_ports(3))
        shown = self.redlock("group", REDLOCK_NODES=nodes)
        self.assertEqual((shown.returncode, shown.stdout), (69, ""))
        self.assertIn("no node answers", shown.stderr)

    def test_words_that_make_no_sense_are_told_so(self):
        for words, code, told in (
                (("replace", "a"), 64, "NEW is required"),
                (("remove", "127.0.0.1:1"), 78, "no roster yet"),
                (("shrink",), 64, "")):
            with self.subTest(words=words):
                refused = self.redlock("group", *words)
                self.assertEqual(refused.returncode, code, refused.stderr)
                self.assertIn(told, refused.stderr)


if __name__ == "__main__":
    unittest.main()
