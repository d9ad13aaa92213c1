"""redlock status: the table within 80 columns, what is wrong, a verdict, and an exit status that
monitoring can rely on."""

import signal
import unittest

from group import GroupTest, RedisNode, reserve_ports, wait_until
from terminal import Terminal


class Five(GroupTest):
    """Each test may leave its nodes as it likes."""

    def setUp(self):
        super().setUp()
        self.addCleanup(self.drop_group)

    def status(self, exit_code, *words, **environment):
        """(lines, verdict): the lines but for the last."""
        result = self.redlock("status", *words, **environment)
        self.assertExit(exit_code, result)
        self.assertEqual(result.stderr, "")
        *lines, verdict = result.stdout.splitlines()
        return lines, verdict

    def restart(self, number, *flags):
        node = self.group.nodes[number]
        node.signal(signal.SIGTERM)
        node.process.wait(20)
        node.flags = flags
        node.start()
        node.await_begun()

    def lose_ledgers(self, *numbers):
        """Nodes that serve, and are not fenced."""
        for number in numbers:
            node = self.group.nodes[number]
            node.kill()
            node.folder += "-new"
            node.flags = ("--restart-delay", "1ms")
            node.start()
            node.await_begun()

    def test_all_well_is_0(self):
        lines, verdict = self.status(0)
        self.assertEqual(verdict, "5 of 5 grant, all of them fenced: all is well; 2 may fail")
        self.assertRegex(lines[0], "^NODE +STATE +LEFT +LOCKS +MAX-TTL +FENCED +RTT +VERSION$")
        for line, node in zip(lines[1:6], self.group.nodes):
            self.assertRegex(line, rf"^127\.0\.0\.1:{node.port} +serving +- +\d+ +65\.0 s +yes "
                                   r"+[\d.]+ ms +\d+\.\d+\.\d+$")
        self.assertLessEqual(max(len(line) for line in lines[:6]), 80)
        told = self.json_of(self.redlock("status", "--json"))
        self.assertEqual((told["exit_code"], told["level"], told["verdict"], told["may_fail"]),
                         (0, "well", verdict, 2))
        self.assertEqual((told["nodes"][0]["up"], told["nodes"][0]["max_ttl_seconds"]), (True, 65))

    def test_who_waits_is_told_below_the_table(self):
        holder = self.start_redlock("hold", "busy")
        self.addCleanup(holder.terminate)
        wait_until(lambda: self.redlock("holder", "busy").returncode == 0, "the lock")
        waiting = [self.start_redlock("run", "busy", "--", "true") for _ in range(2)]
        for one in waiting:
            self.addCleanup(one.terminate)

        def line():
            lines, _ = self.status(0)
            return next((one for one in lines if one.startswith("longest line for a lock: 2; ")),
                        None)
        wait_until(line, "two in line")
        self.assertRegex(line(), r"; longest wait by now: [\d.]+ m?s$")
        told = self.json_of(self.redlock("status", "--json"))
        self.assertTrue(told["lines"].startswith("longest line for a lock: 2; "), told["lines"])
        self.assertEqual({node["longest_line"] for node in told["nodes"]}, {2})
        self.assertLess(0, max(node["oldest_wait_seconds"] for node in told["nodes"]))

    def test_a_node_down_is_1_and_the_rest_may_fail_as_told(self):
        self.group.kill(2)
        lines, verdict = self.status(1)
        self.assertEqual(verdict,
                         "4 of 5 grant, all of them fenced: locks are given; 1 more may fail")
        self.assertRegex(lines[3], r"^127\.0\.0\.1:\d+ +refused ")
        self.group.kill(3)
        self.assertIn("no more may fail", self.status(1)[1])

    def test_too_few_that_grant_are_2_and_so_is_nobody(self):
        self.group.kill(0, 1, 2)
        self.assertEqual(self.status(2)[1], "2 of 5 grant, 3 are needed: no locks are given")
        self.group.kill(3, 4)
        self.assertEqual(self.status(2)[1], "none of 5 answers: no locks are given")

    def test_a_hung_node_is_told_as_such(self):
        self.group.stop(4)
        lines, _ = self.status(1)
        self.assertRegex(lines[5], r"^127\.0\.0\.1:\d+ +timed out ")

    def test_no_quorum_of_fenced_nodes_is_2_as_a_default_run_fails(self):
        self.lose_ledgers(0, 1, 2)
        _, verdict = self.status(2, "--unsafe-members")
        self.assertEqual(verdict, "5 of 5 grant, 2 fenced of 3 needed: no locks with tokens; see "
                                  "`redlock admit`")
        self.assertExit(69, self.redlock("run", "-n", "--unsafe-members", "x", "--", "true"))

    def test_members_that_differ_are_1_and_named(self):
        self.restart(1, "--max-ttl", "30s")
        self.restart(3, "--max-ttl", "30s")
        lines, verdict = self.status(1)
        names = ", ".join(f"127.0.0.1:{self.group.nodes[i].port}" for i in (1, 3))
        self.assertIn(f"max-ttl differs: 65.0 s, but 30.0 s at {names}", lines)
        self.assertIn("but see above", verdict)

    def test_a_plain_redis_among_them_is_named(self):
        redis = RedisNode(self.group.folder + "/redis", reserve_ports(1)[0])
        redis.bootstrap()
        redis.start()
        self.addCleanup(redis.kill)
        redis.await_begun()
        nodes = ",".join([node.url for node in self.group.nodes[:4]] + [redis.url])
        lines, verdict = self.status(1, REDLOCK_NODES=nodes)
        self.assertRegex(lines[5], rf"^127\.0\.0\.1:{redis.port} +plain Redis ")
        self.assertTrue(any(line.startswith(f"plain Redis at 127.0.0.1:{redis.port}: ")
                            for line in lines), lines)
        self.assertIn("4 of them fenced: locks are given", verdict)

    def test_watch_redraws_with_the_time_until_q(self):
        terminal = Terminal()
        self.addCleanup(terminal.close)
        job = self.start_redlock("status", "--watch", **terminal.options())
        terminal.started()
        terminal.wait_for("q: quit")  # drawn last: a terminal is given a table line by line
        first = terminal.lines()
        self.assertRegex(first[0], r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$")
        self.assertRegex(first[1], "^NODE +STATE")
        self.assertEqual(first[-1], "q: quit")
        self.group.kill(0)
        terminal.wait_for(r"1 more may fail\nq: quit")
        self.assertNotIn("all is well", terminal.screen())
        self.assertEqual(terminal.screen().count("NODE "), 1)
        terminal.type("q")
        self.assertEqual(job.wait(20), 1)  # as the last verdict
        wait_until(terminal.is_as_a_shell_left_it, "the terminal's modes")

    def test_ctrl_c_ends_a_watch_and_gives_the_terminal_back(self):
        terminal = Terminal()
        self.addCleanup(terminal.close)
        job = self.start_redlock("status", "--watch", **terminal.options())
        terminal.started()
        terminal.wait_for("all is well")
        self.assertFalse(terminal.is_as_a_shell_left_it())
        terminal.type("\x03")
        self.assertEqual(job.wait(20), 128 + signal.SIGINT)
        wait_until(terminal.is_as_a_shell_left_it, "the terminal's modes")

    def test_watch_into_a_file_is_plain_text_again_and_again(self):
        with open(self.group.folder + "/watched", "w+", encoding="utf-8") as file:
            job = self.start_redlock("status", "--watch", stdout=file)
            self.addCleanup(job.terminate)
            wait_until(lambda: file.seek(0) == 0 and file.read().count("all is well") == 2,
                       "two tables")
            job.terminate()
            self.assertEqual(job.wait(20), 128 + signal.SIGTERM)
            file.seek(0)
            self.assertNotIn("\x1b", file.read())


class Plain(GroupTest):
    node_class = RedisNode

    def test_plain_redis_alone_gives_locks_without_tokens_and_is_1(self):
        result = self.redlock("status")
        self.assertExit(1, result)
        *_, verdict = result.stdout.splitlines()
        self.assertEqual(verdict, "5 of 5 grant, none fenced (plain Redis): locks without tokens "
                                  "only; 2 more may fail")
        self.assertEqual(result.stdout.count("plain Redis "), 5)


class Lists(GroupTest):
    def test_a_list_that_is_not_the_groups_is_78_and_the_table_is_printed(self):
        self.assertExit(0, self.redlock("group", "create"))
        self.addCleanup(self.drop_group)
        three = ",".join(node.url for node in self.group.nodes[:3])
        result = self.redlock("status", REDLOCK_NODES=three)
        self.assertExit(78, result)
        self.assertIn("NODE", result.stdout)
        self.assertIn("the group has 5 members (epoch 1), and 3 nodes are named",
                      result.stdout.splitlines()[-1])


if __name__ == "__main__":
    unittest.main()
