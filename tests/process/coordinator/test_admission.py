"""Nodes that lost their ledger (rules F6 and F7): who admits them, when, and what people see."""

import os
import shutil
import unittest

from group import REDIS, GroupTest, Node, RedisNode, ask_list, status_of, wait_until

MAX_TTL_MS = 1500
TTL = ("--ttl", f"{MAX_TTL_MS}ms")
# A node that is recovering for longer than any test: it cannot be admitted, but tells its counter.
SLOW = ("--restart-delay", "60s")


class QuickNode(Node):
    """Its locks are short, and so is its time as an unfenced node."""

    max_ttl_ms = MAX_TTL_MS


class NewNode(QuickNode):
    """Nobody bootstrapped it: it does not know whether its group ever gave a token."""

    def bootstrap(self):
        os.mkdir(self.folder)


class AdmissionTest(GroupTest):
    node_class = QuickNode

    def setUp(self):
        self.drop_group()  # each test changes what its nodes know
        super().setUp()

    def restart(self, i, flags=()):
        """After kill -9."""
        node = self.group.nodes[i]
        node.kill()
        node.flags = flags
        node.start()
        node.await_begun()

    def lose_ledger(self, i, flags=()):
        """As a node that got a new disk: it comes back with nothing."""
        self.group.nodes[i].kill()
        shutil.rmtree(self.group.nodes[i].folder)
        self.restart(i, flags)

    def fenced(self):
        """What each node says of itself, to nobody who would change it."""
        return [status_of(node.port).get("fenced") == "1" for node in self.group.nodes]

    def await_time_of(self, *nodes):
        """Until they may be admitted (rule F7)."""
        for i in nodes:
            port = self.group.nodes[i].port
            wait_until(lambda port=port: status_of(port).get("admit_in_ms") == "0",
                       "the time of an unfenced node")

    def token(self, *options):
        """Of an acquisition of the one lock of these tests, which is free again then."""
        lock = self.acquire("printer", *TTL, *options)
        self.assertExit(0, self.redlock("release", "printer", "--value", lock["REDLOCK_VALUE"]))
        return int(lock["REDLOCK_TOKEN"])

    def proposal(self, i):
        """What one node proposes as a token for that lock, once the lock is free there."""
        def told():
            granted, number, *_ = ask_list(self.group.nodes[i].port, "LOCK.ACQUIRE", "printer", "v",
                                           "PX", str(MAX_TTL_MS))
            return int(number) if granted == "1" else None
        return wait_until(told, "a free lock on one node")


# A process that acquires ends before the slower nodes have executed its request, so they may hold
# the lock for its TTL behind the release of another process. Where four nodes are left, two of
# those are enough to be in the way.
PATIENT = ("--wait", "10s")


class LostLedger(AdmissionTest):
    def test_status_tells_of_it_and_changes_nothing(self):
        self.lose_ledger(0, SLOW)
        status = self.json_of(self.redlock("status", "--json"))["nodes"]
        self.assertEqual((status[0]["state"], status[0]["fenced"], status[1]["fenced"]),
                         ("recovering", False, True))
        self.assertTrue(30 < status[0]["admit_in_seconds"] <= 60, status[0])
        self.lose_ledger(0)
        self.await_time_of(0)
        rows = self.redlock("status").stdout.splitlines()[1:]
        self.assertRegex(rows[0], r" serving .* no +[\d.]+ ms +\d+\.\d+\.\d+$")
        self.assertIn(f"{rows[0].split()[0]}: unfenced, cause: ledger_missing", rows)
        self.assertFalse(self.fenced()[0])

    def test_plain_acquisitions_admit_it_after_its_time(self):
        given = [self.token() for _ in range(3)]
        self.lose_ledger(0, SLOW)
        given.append(self.token(*PATIENT))  # four are fenced
        self.assertFalse(self.fenced()[0])
        given_before = max(given)
        self.lose_ledger(0)
        wait_until(lambda: given.append(self.token(*PATIENT)) or self.fenced()[0],
                   "the admission of an unfenced node")
        given.append(self.token(*PATIENT))
        self.assertEqual(given, sorted(set(given)))
        # What was given while the floor was read may be above it: a quorum knows, the node may not.
        self.assertGreater(self.proposal(0), given_before)

    def test_an_acquisition_that_needs_it_admits_it_and_tries_again(self):
        given = [self.token() for _ in range(3)]
        self.lose_ledger(0)
        for i in (3, 4):
            self.restart(i, SLOW)
        self.await_time_of(0)
        self.assertGreater(self.token(), max(given))
        self.assertTrue(self.fenced()[0])

    def test_a_process_that_stays_admits_it_in_the_background(self):
        self.start_job("held", "sleep 60", *TTL)
        self.lose_ledger(2)
        wait_until(lambda: self.fenced()[2], "an admission in the background")

    def test_admit_says_what_it_did_to_each_node(self):
        self.token()
        self.lose_ledger(1, SLOW)
        early = self.redlock("admit")
        self.assertExit(1, early)
        self.assertIn("some nodes stay unfenced", early.stderr)
        fenced = r"fenced already, its counter is at \d+"
        waits = r"recovering, may be admitted in [\d.]+ s"
        self.assertTellsOfEachNode(early.stderr, [fenced, waits, fenced, fenced, fenced])
        self.lose_ledger(1)
        self.await_time_of(1)
        done = self.redlock("admit")
        self.assertExit(0, done)
        answers = [fenced, r"admitted, its tokens are above \d+", fenced, fenced, fenced]
        for line, node, answer in zip(done.stdout.splitlines(), self.group.nodes, answers):
            self.assertRegex(line, rf"^127\.0\.0\.1:{node.port}  {answer}$")
        again = self.redlock("admit")
        self.assertExit(0, again)
        self.assertEqual(again.stdout.splitlines()[-1], "nothing to do")
        told = self.json_of(self.redlock("admit", "--json"))
        self.assertEqual(told["outcome"], "nothing to do")
        self.assertEqual([node["fenced"] for node in told["nodes"]], [True] * 5)


class NewGroup(AdmissionTest):
    node_class = NewNode

    def test_a_group_that_nobody_bootstrapped_is_admitted_by_its_operator_alone(self):
        self.await_time_of(*range(5))
        refused = self.redlock("acquire", "first", *TTL)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("`redlock admit --new-group`", refused.stderr)
        ordinary = self.redlock("admit")
        self.assertExit(1, ordinary)
        self.assertIn("`redlock admit --new-group --floor N`", ordinary.stderr)
        without = self.redlock("admit", "--new-group")
        self.assertExit(1, without)
        self.assertIn("--floor N is needed", without.stderr)
        self.assertEqual(self.fenced(), [False] * 5)
        self.assertTellsOfEachNode(ordinary.stderr, ["unfenced"] * 5)
        self.assertExit(0, self.redlock("admit", "--new-group", "--floor", "1000"))
        self.assertEqual(self.fenced(), [True] * 5)
        self.assertGreater(self.token(), 1000)

    def test_it_is_refused_while_a_node_is_recovering_or_missing_or_fenced(self):
        self.restart(4, SLOW)
        self.await_time_of(*range(4))
        recovering = self.redlock("admit", "--new-group", "--floor", "0")
        self.assertExit(1, recovering)
        self.assertIn("nothing was changed", recovering.stderr)
        waits = r"recovering, may be admitted in [\d.]+ s"
        self.assertTellsOfEachNode(recovering.stderr, ["unfenced"] * 4 + [waits])
        self.group.kill(4)
        missing = self.redlock("admit", "--new-group", "--floor", "0")
        self.assertExit(1, missing)
        self.assertTellsOfEachNode(missing.stderr, ["unfenced"] * 4 + ["connection refused"])
        self.group.nodes[4] = self.bootstrapped_in_place_of(self.group.nodes[4])
        fenced = self.json_of(self.redlock("admit", "--new-group", "--json"))
        self.assertEqual(fenced["outcome"], "not admitted")
        self.assertRegex(fenced["nodes"][4]["text"], r"fenced already, its counter is at \d+")
        self.assertEqual(self.fenced(), [False] * 4 + [True])

    def test_without_a_quorum_of_nodes_it_ends_with_69(self):
        self.group.kill(0, 1, 2)
        for flags in ((), ("--new-group",)):
            result = self.redlock("admit", *flags)
            self.assertExit(69, result)
            self.assertIn("no quorum", result.stderr)

    def bootstrapped_in_place_of(self, lost):
        node = QuickNode(lost.folder + "-new", lost.port)
        node.bootstrap()
        node.start()
        node.await_begun()
        return node


@unittest.skipUnless(os.access(REDIS, os.X_OK), "redis-tools is not installed")
class PlainRedis(GroupTest):
    node_class = RedisNode

    def test_it_has_no_tokens_and_nothing_to_admit(self):
        result = self.redlock("admit")
        self.assertExit(69, result)
        self.assertTellsOfEachNode(result.stderr, ["a plain Redis has no fencing tokens"] * 5)


if __name__ == "__main__":
    unittest.main()
