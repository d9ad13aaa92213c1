"""Fencing tokens over five real nodes: what acquire and run give, and what stays true of a lock
that is held on while its nodes are restarted (rules F3 to F5, Q4)."""

import shutil
import signal
import unittest

from group import GroupTest, ask, ask_list, wait_until


class Tokens(GroupTest):
    def token(self, name, *options):
        lines = self.acquire(name, *options)
        self.give_back(name, lines["REDLOCK_VALUE"])
        return int(lines["REDLOCK_TOKEN"])

    def give_back(self, name, value):
        """It may have run out before the process that releases it was up: that is as good."""
        released = self.redlock("release", name, "--value", value)
        self.assertIn(released.returncode, (0, 1), released.stderr)

    def test_a_token_rises_from_holder_to_holder(self):
        tokens = [self.token("rising") for _ in range(5)]
        self.assertEqual(tokens, sorted(set(tokens)))
        self.assertGreater(tokens[0], 0)

    def test_a_token_rises_through_a_killed_node(self):
        before = self.token("survives", "--ttl", "100ms")
        for node in self.group.nodes:
            node.kill()
            node.start()
            node.await_begun()
            after = self.token("survives", "--ttl", "100ms", "--wait", "10s")
            self.assertGreater(after, before)
            before = after

    def test_after_a_killed_node_is_back_one_round_trip_is_enough_again(self):
        """It is ahead of the others until acquisitions that it took part in brought them up."""
        self.token("slot", "--ttl", "1500ms")  # of shorter ones a slow node may answer too late
        node = self.group.nodes[0]
        node.kill()
        node.start()
        node.await_begun()
        wait_until(lambda: all(self.round_trips("slot") == 1 for _ in range(10)),
                   "ten acquisitions in a row of one round trip")

    def round_trips(self, name):
        words = (name, "--ttl", "1500ms", "--wait", "10s", "--json")
        got = self.json_of(self.redlock("acquire", *words))
        self.assertEqual(got["outcome"], "acquired")
        self.assertGreater(got["token"], 0)
        self.give_back(name, got["value"])
        return got["round_trips"]

    def test_no_fence_gives_no_token(self):
        lines = self.acquire("plain", "--no-fence")
        self.assertEqual(lines["REDLOCK_TOKEN"], "")
        got = self.json_of(self.redlock("acquire", "other", "--no-fence", "--json"))
        self.assertIsNone(got["token"])
        self.assertEqual(got["round_trips"], 1)

    def test_a_command_knows_its_token(self):
        for options, pattern in (((), r"^[1-9]\d*\n$"), (("--no-fence",), r"^\n$")):
            result = self.redlock("run", "-n", *options, f"knows{len(options)}", "--", "sh", "-c",
                                  "echo $REDLOCK_TOKEN", REDLOCK_TOKEN="of another")
            self.assertExit(0, result)
            self.assertRegex(result.stdout, pattern)


class Unfenced(GroupTest):
    def test_nodes_without_their_ledger_give_no_token_and_the_error_says_what_helps(self):
        self.addCleanup(self.drop_group)
        for node in self.group.nodes[:3]:
            node.kill()
            shutil.rmtree(node.folder)
            node.flags = ("--restart-delay", "off")
            node.start()
            node.await_begun()
        unsafe = "--unsafe-members"  # so that the wait for a newcomer's locks is none
        refused = self.redlock("acquire", "lock", "--ttl", "1500ms", unsafe)
        self.assertExit(69, refused)
        self.assertRegex(refused.stdout, r"^unset .*; \(exit 69\)\n$")
        for words in ("no fencing token", "`redlock admit`", "`redlock admit --new-group`",
                      "--no-fence"):
            self.assertIn(words, refused.stderr)
        self.assertTellsOfEachNode(refused.stderr,
                                   ["granted; unfenced: it gives no fencing token"] * 3 +
                                   ["granted"] * 2)
        self.acquire("lock", "--ttl", "1500ms", "--no-fence", "--wait", "5s", unsafe)


class RollingRestart(GroupTest):
    """A lock that `redlock run` holds while every node is restarted, one after the other (Q4)."""

    TTL_MS = 1500

    def job(self, name):
        return self.start_job(name, "read line; echo token $REDLOCK_TOKEN", "--ttl",
                              f"{self.TTL_MS}ms", stdin=-1)

    def await_five_votes(self, name):
        wait_until(lambda: [ask(node.port, "EXISTS", name) for node in self.group.nodes] ==
                   [":1"] * 5, "a lock on every node")

    def assertEndsWell(self, job):
        output, errors = job.communicate("\n")
        self.assertEqual(job.returncode, 0, errors)
        self.assertRegex(output, r"^token [1-9]\d*\n$")
        self.assertEqual(errors, "")

    def test_killed_nodes_are_topped_up_again_with_the_token(self):
        job = self.job("killed")
        self.await_five_votes("killed")
        tokens = self.stored("killed")
        for node in self.group.nodes:
            node.kill()
            node.start()
            node.await_begun()
            self.await_five_votes("killed")
        self.assertEqual(self.stored("killed"), tokens)
        self.assertEndsWell(job)

    def test_cleanly_stopped_nodes_keep_it(self):
        job = self.job("stopped")
        self.await_five_votes("stopped")
        for node in self.group.nodes:
            node.signal(signal.SIGTERM)
            node.process.wait()
            node.start()
            node.await_begun()
            self.await_five_votes("stopped")
        self.assertEndsWell(job)

    def stored(self, name):
        """The token that each node stores with the lock."""
        return [ask_list(node.port, "LOCK.HOLDER", name)[2] for node in self.group.nodes]


if __name__ == "__main__":
    unittest.main()
