"""Nodes in their restart delay (rules R3 and R10), as the words of `redlock` tell of them."""

import unittest

from group import GroupTest, wait_until

DELAY_S = 90  # longer than any test, and than max-ttl: it is safe
RECOVERING = r"recovering after a restart, no new locks for \d+ ms"


class Recovering(GroupTest):
    def crash(self, *nodes):
        """kill -9, and a start with a restart delay that no test outlives."""
        self.group.kill(*nodes)
        for i in nodes:
            self.group.nodes[i].flags = ("--restart-delay", f"{DELAY_S}s")
            self.group.nodes[i].start()
        for i in nodes:
            self.group.nodes[i].await_begun()
        self.addCleanup(self.drop_group)

    def test_status_tells_who_is_recovering_and_for_how_long(self):
        self.crash(2)
        result = self.redlock("status")
        self.assertExit(1, result)
        rows = result.stdout.splitlines()[1:]
        self.assertRegex(rows[2], r"^127\.0\.0\.1:\d+ +recovering +[\d.]+ s ")
        self.assertRegex(result.stdout, r"(?m)^127\.0\.0\.1:\d+: recovering, cause: crash$")
        node = self.json_of(self.redlock("status", "--json"))["nodes"][2]
        self.assertEqual((node["state"], node["up"], node["grants"]),
                         ("recovering", True, False))
        self.assertTrue(DELAY_S / 2 < node["delay_left_seconds"] <= DELAY_S, node)

    def test_status_ends_with_2_when_too_few_grant_though_all_answer(self):
        self.crash(0, 2, 4)
        result = self.redlock("status")
        self.assertExit(2, result)
        self.assertRegex(result.stdout.splitlines()[-1],
                         r"^2 of 5 grant, 3 are needed: no locks are given; again in [\d.]+ s$")
        self.assertIs(self.json_of(self.redlock("status", "--json"))["quorum_grants"], False)

    def test_a_lock_that_is_not_got_for_them_ends_with_69_and_quotes_them(self):
        self.crash(0, 2, 4)
        for word, command in (("acquire", ()), ("run", ("--", "echo", "never"))):
            result = self.redlock(word, "wanted", "--wait", "0", *command)
            self.assertExit(69, result)
            self.assertNotIn("never", result.stdout)
            self.assertNotIn("export", result.stdout)
            self.assertTellsOfEachNode(
                result.stderr, [RECOVERING, "granted", RECOVERING, "granted", RECOVERING])

    def test_a_lock_that_was_held_stays_held(self):
        value = wait_until(self.acquire_at_all_nodes, "a lock that all nodes have")
        self.crash(1, 3)
        self.assertExit(75, self.redlock("acquire", "held"))
        self.assertExit(0, self.redlock("holder", "held"))
        self.assertExit(0, self.redlock("extend", "held", "--value", value))
        self.assertExit(0, self.redlock("release", "held", "--value", value))

    def acquire_at_all_nodes(self):
        """The value; "" if it has its quorum only, as it may when a node is slow to connect."""
        value = self.acquire("held")["REDLOCK_VALUE"]
        if "$-1" not in self.group.keys("held"):
            return value
        self.redlock("release", "held", "--value", value)
        return ""


if __name__ == "__main__":
    unittest.main()
