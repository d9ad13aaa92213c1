"""redlock list: every lock that a quorum holds, and who says that it is his."""

import time
import unittest

from group import GroupTest, RedisNode, ask

MANY = 450  # more than a node looks at for one answer


class Listing(GroupTest):
    def setUp(self):
        super().setUp()
        for node in self.group.nodes:
            ask(node.port, "FLUSHALL")

    def list(self, *words, **environment):
        """What is printed for programs."""
        result = self.redlock("list", "--json", *words, **environment)
        self.assertExit(0, result)
        self.assertEqual(result.stderr, "")
        return self.json_of(result)["locks"]

    def names(self, *words, **environment):
        return [lock["name"] for lock in self.list(*words, **environment)]

    def set_at(self, numbers, *words):
        for number in numbers:
            self.assertIn(ask(self.group.nodes[number].port, *words), ("+OK", ":1"))


class OfNodes(Listing):
    def test_nothing_is_held(self):
        self.assertEqual(self.list(), [])
        result = self.redlock("list")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_locks_by_name_with_their_holders(self):
        self.acquire("nightly", "--label", "alice")
        got = self.acquire("backup-1", "--label", "bob")
        self.set_at(range(5), "SET", "by-a-library", "v", "NX", "PX", "30000")
        self.assertEqual(self.names(), ["backup-1", "by-a-library", "nightly"])
        [backup] = self.list("back*")
        self.assertLess(27_000, backup.pop("left_ms"))
        self.assertGreaterEqual(backup.pop("held_ms"), 0)
        self.assertIn(backup.pop("nodes"), (3, 4, 5))  # acquire ends when a quorum agrees
        self.assertEqual(backup, {
            "name": "backup-1", "held": True, "value": got["REDLOCK_VALUE"], "label": "bob",
            "token": int(got["REDLOCK_TOKEN"]), "of": 5})
        head, *lines = self.redlock("list").stdout.splitlines()
        self.assertRegex(head, "^NAME +LEFT +HELD FOR +TOKEN +NODES +HOLDER$")
        self.assertRegex(lines[0], r"^backup-1 +\d+\.\d s +\d s +\d+  [345] of 5  bob$")
        self.assertRegex(lines[1], r"^by-a-library +\d+\.\d s +- +(\d+|-)  5 of 5  -$")
        self.assertEqual(len({line.index(" of 5") for line in lines}), 1)

    def test_what_is_no_quorums_lock_is_left_out(self):
        self.set_at([0, 1], "SET", "of-two", "v", "PX", "30000")
        self.set_at([2, 3, 4], "SET", "of-three", "v", "PX", "30000")
        for number in range(5):
            self.set_at([number], "SET", "of-each", f"v{number}", "PX", "30000")
        self.set_at(range(5), "HSET", "hash", "field", "1")
        [lock] = self.list()
        self.assertEqual((lock["name"], lock["nodes"]), ("of-three", 3))

    def test_many_of_them(self):
        for number in range(MANY):
            self.set_at(range(5), "SET", f"lock{number}", "v", "NX", "PX", "60000")
        self.assertEqual(self.names(), sorted(f"lock{number}" for number in range(MANY)))
        self.assertEqual(self.names("lock44?"), [f"lock44{number}" for number in range(10)])

    def test_hung_nodes_take_the_node_timeout_and_no_more(self):
        self.set_at(range(5), "SET", "nightly", "v", "PX", "30000")
        self.group.stop(0, 3)
        began = time.monotonic()
        [lock] = self.list("--node-timeout", "200ms")
        self.assertLess(time.monotonic() - began, 2)
        self.assertEqual((lock["name"], lock["nodes"]), ("nightly", 3))
        self.group.stop(1)
        result = self.redlock("list", "--node-timeout", "200ms")
        self.assertExit(69, result)
        self.assertIn("no quorum: 2 of 5 nodes voted, 3 are needed", result.stderr)
        self.assertEqual(result.stdout, "")

    def test_a_node_at_two_addresses_counts_once(self):
        first, second = self.group.nodes[:2]
        self.set_at([0], "SET", "printer", "v", "PX", "30000")
        nodes = f"redis://127.0.0.1:{first.port},redis://localhost:{first.port},{second.url}"
        self.assertEqual(self.names("--nodes", nodes), [])

    def test_what_a_terminal_would_obey_is_escaped(self):
        self.set_at(range(5), "SET", "a\x1b[31m", "v", "PX", "30000")
        self.assertIn(r"a\x1b[31m", self.redlock("list").stdout)
        self.assertEqual(self.names(), ["a\x1b[31m"])


class OfPlainRedis(Listing):
    node_class = RedisNode

    def test_locks_are_listed_without_a_token(self):
        self.acquire("nightly", "--no-fence")
        self.set_at(range(5), "HSET", "hash", "field", "1")
        self.set_at(range(5), "SET", "without-end", "v")
        nightly, endless = self.list()
        self.assertEqual((nightly["name"], nightly["token"]), ("nightly", None))
        self.assertEqual((endless["name"], endless["left_ms"]), ("without-end", None))


if __name__ == "__main__":
    unittest.main()
