"""What people are told of a wait: the line of a terminal, the last message, and errors that waiting
cannot change. `redlock hold`, which waits and holds without a command."""

import os
import signal
import time
import unittest

from group import MAX_TTL_MS, PATIENCE_S, GroupTest, ask, ask_list, wait_until
from terminal import Terminal

SOON_S = 5  # far less than a wait without a quorum, which is 10 s


class Line(GroupTest):
    def wait_at_terminal(self, *words, columns=80, **environment):
        terminal = Terminal(columns)
        self.addCleanup(terminal.close)
        job = self.start_redlock(*words, env={**self.environment, "TERM": "xterm", **environment},
                                 **terminal.options())
        terminal.started()
        return terminal, job

    def test_it_says_who_holds_it_and_how_long_at_most_and_goes_when_the_lock_is_got(self):
        held = self.acquire("scanner", "--ttl", "25s")
        terminal, job = self.wait_at_terminal("run", "scanner", "--", "echo", "mine")
        terminal.wait_for(r"^[|/\\-] scanner: held by \S+ for \d s, at most 2\d s more "
                          r"\(waited 1 s\)$")
        terminal.wait_for(r"^[|/\\-] scanner: held by \S+ for \d s, at most 2\d s more "
                          r"\(waited 2 s\)$")
        self.assertExit(0, self.redlock("release", "scanner", "--value", held["REDLOCK_VALUE"]))
        self.assertEqual(terminal.read_to_the_end(), "mine")
        self.assertEqual(job.wait(PATIENCE_S), 0)

    def test_it_keeps_to_one_line_of_a_narrow_terminal(self):
        self.acquire("a lock with a name that fills lines", "--ttl", "25s")
        terminal, job = self.wait_at_terminal(
            "acquire", "a lock with a name that fills lines", "--wait", "3s", columns=40)
        terminal.wait_for(r"a lock wi.*\.\.: held, at most 2\d s")
        self.assertEqual(len(terminal.lines()), 1)
        terminal.wait_for(r"waited 3\.\d s")
        self.assertEqual(job.wait(PATIENCE_S), 75)

    def test_80_columns_have_room_for_who_holds_it(self):
        name = "another with a name that fills lines"
        self.acquire(name, "--ttl", "25s", "--label", "backup@web3:4711 rsync")
        terminal, job = self.wait_at_terminal("acquire", name, "--wait", "3s", columns=80)
        terminal.wait_for(r"\.\.: held by backup@web3:4711 rsync, at most")
        self.assertEqual(len(terminal.lines()), 1)
        self.assertEqual(job.wait(PATIENCE_S), 75)

    def test_a_short_wait_shows_nothing_but_its_end(self):
        self.acquire("brief")
        terminal, job = self.wait_at_terminal("run", "-w", "300ms", "brief", "--", "true")
        screen = terminal.read_to_the_end()
        self.assertRegex(screen, r"^redlock: brief: held by .*; waited \d{3} ms$")
        self.assertNotIn("more (", terminal.raw)
        self.assertEqual(job.wait(PATIENCE_S), 75)

    def test_without_a_quorum_it_says_what_the_nodes_say(self):
        self.addCleanup(self.drop_group)
        self.group.kill(0, 1, 2)
        terminal, job = self.wait_at_terminal("run", "-w", "3s", "x", "--", "true")
        terminal.wait_for(r"x: no quorum: 2 of 5 voted, 3 refused \(waited 1 s of 3 s\)")
        screen = terminal.read_to_the_end()
        self.assertRegex(screen, r"^redlock: x: no quorum: 2 of 5 nodes voted, 3 are needed; "
                                 r"waited 3\.\d s\n  127")
        self.assertEqual(job.wait(PATIENCE_S), 69)

    def test_ctrl_c_ends_it_with_a_word(self):
        self.acquire("typed")
        terminal, job = self.wait_at_terminal("run", "typed", "--", "true")
        terminal.wait_for("held by ")
        terminal.type("\x03")
        self.assertEqual(job.wait(PATIENCE_S), 128 + signal.SIGINT)
        self.assertRegex(terminal.read_to_the_end().replace("^C", ""),
                         r"^redlock: typed: interrupted; waited \d\.\d s$")

    def test_a_dumb_terminal_and_no_terminal_get_the_last_message_alone(self):
        self.acquire("dumb")
        terminal, job = self.wait_at_terminal("run", "-w", "1500ms", "dumb", "--", "true",
                                              TERM="dumb")
        terminal.read_to_the_end()
        self.assertEqual(job.wait(PATIENCE_S), 75)
        self.assertRegex(terminal.raw, r"^redlock: dumb: held by .*; waited 1\.\d s\r\n$")
        result = self.redlock("run", "-w", "1500ms", "dumb", "--", "true")
        self.assertExit(75, result)
        self.assertRegex(result.stderr, r"^redlock: dumb: held by .*; waited 1\.\d s\n$")

    def test_messages_stand_above_the_line(self):
        self.acquire("above")
        terminal, job = self.wait_at_terminal("run", "-v", "above", "--", "true")
        terminal.wait_for(r"attempt 1 failed: held by another\n(.*\n)*.* above: held by ")
        job.terminate()
        self.assertEqual(job.wait(PATIENCE_S), 128 + signal.SIGTERM)


class Labels(GroupTest):
    def test_a_refusal_names_the_holder_and_how_long_it_has_and_will_have_the_lock(self):
        job = self.start_job("named", "sleep 100", "--ttl", "25s")
        time.sleep(1.1)
        for words in (("run", "-n", "named", "--", "true"), ("acquire", "named"),
                      ("hold", "-w", "100ms", "named")):
            result = self.redlock(*words)
            self.assertExit(75, result)
            self.assertRegex(result.stderr,
                             rf"^redlock: named: held by \S+@\S+:{job.pid} sh for [1-9] s, "
                             r"at most 2\d s more")
        told = self.json_of(self.redlock("acquire", "named", "--json"))
        self.assertIn("held by", told["message"])
        job.terminate()
        self.finish(job)

    def test_holder_tells_the_label_and_since_when(self):
        self.acquire("whose", "--label", "the night shift\x1b[2J")
        lines = self.redlock("holder", "whose").stdout.splitlines()
        self.assertEqual(lines[4], r"label    the night shift\x1b[2J")
        self.assertRegex(lines[5], r"^held_ms  \d+$")
        told = self.json_of(self.redlock("holder", "whose", "--json"))
        self.assertEqual(told["label"], r"the night shift\x1b[2J")
        refused = self.redlock("acquire", "whose")
        self.assertIn(r"held by the night shift\x1b[2J for", refused.stderr)

    def test_the_label_comes_along_with_a_top_up_and_through_a_restart(self):
        self.drop_group()  # a node that crashes waits for the locks of other tests, too
        self.setUp()
        self.addCleanup(self.drop_group)
        job = self.start_job("kept", "sleep 100", "--ttl", "6s", "--label", "me")
        for node in self.group.nodes:  # clean stops: each comes back from its snapshot
            node.signal(signal.SIGTERM)
            node.process.wait(PATIENCE_S)
            node.start()
            node.await_begun()
        for number in (0, 1):  # crashes: topped up again
            self.group.kill(number)
            self.group.nodes[number].start()
            self.group.nodes[number].await_begun()
        wait_until(lambda: all(ask_list(node.port, "LOCK.HOLDER", "kept")[3:4] == ["me"]
                               for node in self.group.nodes), "the label at each node")
        job.terminate()
        self.finish(job)

    def test_a_label_that_is_too_long_is_a_usage_error(self):
        self.assertExit(64, self.redlock("acquire", "x", "--label", "x" * 129))
        self.assertExit(0, self.redlock("acquire", "x", "--label", "x" * 128))

    def test_a_hung_node_does_not_delay_the_refusal(self):
        self.acquire("soon")
        self.group.stop(4)
        began = time.monotonic()
        result = self.redlock("acquire", "soon", "--node-timeout", "9s")
        self.assertExit(75, result)
        self.assertIn("held by ", result.stderr)
        self.assertLess(time.monotonic() - began, SOON_S)


class Words(GroupTest):
    def test_quiet_is_silent_and_with_E_0_nobody_notices(self):
        self.acquire("cron")
        result = self.redlock("run", "-q", "-n", "-E", "0", "cron", "--", "echo", "never")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        done = self.redlock("run", "-q", "free", "--", "sh", "-c", "echo out; echo err >&2")
        self.assertEqual((done.stdout, done.stderr), ("out\n", "err\n"))

    def test_verbose_tells_of_each_attempt_and_of_a_node_that_is_missing(self):
        self.addCleanup(self.drop_group)
        job = self.start_job("watched", "sleep 100", "-v", "--ttl", "3s")
        self.group.kill(1)
        port = self.group.nodes[1].port
        told = wait_until(lambda: job.stderr.readline(), "a line")
        while f"127.0.0.1:{port}: not reached" not in told:
            told = job.stderr.readline()
        result = self.redlock("acquire", "-v", "-w", "300ms", "watched")
        self.assertExit(75, result)
        self.assertIn("redlock: watched: attempt 1 failed: held by another\n", result.stderr)
        self.assertIn(f"  127.0.0.1:{port}  ", result.stderr)

    def test_quiet_and_verbose_contradict_each_other(self):
        self.assertExit(64, self.redlock("acquire", "-q", "-v", "x"))


class AtOnce(GroupTest):
    """What waiting cannot change ends the wait, with its own exit status and what to do."""

    def assertAtOnce(self, status, what, *words, **environment):
        for word, command in (("run", ("--", "true")), ("hold", ()), ("acquire", ("-w", "1m"))):
            began = time.monotonic()
            result = self.redlock(word, *words, *command, **environment)
            self.assertExit(status, result)
            self.assertLess(time.monotonic() - began, SOON_S)
            self.assertRegex(result.stderr, what)
            self.assertLess(len(result.stderr.splitlines()[0]), 400)

    def test_a_ttl_above_max_ttl(self):
        self.assertAtOnce(78, r"^redlock: x: the nodes refuse it: a TTL of .* max-ttl.*\n$",
                          "--ttl", f"{MAX_TTL_MS + 1}ms", "x")

    def test_a_name_that_is_too_long(self):
        name = "n" * 70000
        self.assertAtOnce(78, r"^redlock: n{58}\.\.: the nodes refuse it: .* too long", name)

    def test_a_list_that_is_not_the_groups(self):
        self.addCleanup(self.drop_group)
        self.assertExit(0, self.redlock("group", "create"))
        three = ",".join(node.url for node in self.group.nodes[:3])
        self.assertAtOnce(78, "belongs to a group of 5 nodes", "x", REDLOCK_NODES=three)

    def test_a_password(self):
        self.addCleanup(self.drop_group)
        for node in self.group.nodes:
            self.assertEqual(ask(node.port, "CONFIG", "SET", "requirepass", "secret"), "+OK")
        self.assertAtOnce(77, r"^redlock: x: the nodes want a password: .*REDLOCK_PASSWORD.*\n$",
                          "x")
        wrong = self.group.addresses.replace("redis://", "redis://:guessed@")
        self.assertAtOnce(77, r"^redlock: x: the nodes refuse the password.*\n$", "x",
                          REDLOCK_NODES=wrong)

    def test_no_quorum_that_gives_tokens_and_no_admission_that_could_make_one(self):
        self.addCleanup(self.drop_group)
        for node in self.group.nodes[:3]:
            node.kill()
            node.folder += "-new"
            node.flags = ("--restart-delay", "1ms")
            node.start()
            node.await_begun()
        self.assertAtOnce(69, "no fencing token: .*redlock admit", "--unsafe-members", "x")


class Hold(GroupTest):
    def hold(self, *words, **options):
        job = self.start_redlock("hold", *words, **options)
        self.assertRegex(job.stdout.readline(), r"^mine: held with token \d+; Ctrl-C releases it$")
        return job

    def test_a_signal_releases_it_and_the_status_is_0(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            job = self.hold("mine")
            self.assertExit(75, self.redlock("acquire", "mine"))
            job.send_signal(number)
            self.assertEqual(self.finish(job), (0, "", ""))
            wait_until(lambda: self.group.is_free("mine"), "the release")

    def test_it_is_kept_beyond_its_ttl(self):
        job = self.hold("mine", "--ttl", "1s")
        time.sleep(2.5)
        self.assertExit(0, self.redlock("holder", "mine"))
        job.terminate()
        self.assertEqual(job.wait(PATIENCE_S), 0)

    def test_a_loss_is_121_and_told(self):
        self.addCleanup(self.drop_group)
        job = self.hold("mine", "--ttl", "1s")
        self.group.stop(0, 1, 2)
        status, _, errors = self.finish(job)
        self.assertEqual(status, 121)
        self.assertIn("the lock was lost", errors)

    def test_max_hold_releases_it_with_124_and_0_is_off(self):
        job = self.hold("mine", "--max-hold", "300ms")
        status, _, errors = self.finish(job)
        self.assertEqual((status, errors), (124, "redlock: mine: held for 300 ms, and released\n"))
        wait_until(lambda: self.group.is_free("mine"), "the release")
        job = self.hold("mine", "--max-hold", "0")
        time.sleep(0.5)
        self.assertIsNone(job.poll())
        job.terminate()
        self.assertEqual(job.wait(PATIENCE_S), 0)

    def test_what_is_held_is_75_and_json_tells_the_value(self):
        self.acquire("mine")
        self.assertExit(75, self.redlock("hold", "-n", "mine"))
        job = self.start_redlock("hold", "--json", "other")
        line = job.stdout.readline()
        self.assertIn('"outcome":"acquired"', line)
        self.assertIn('"value":"', line)
        job.terminate()
        self.assertEqual(job.wait(PATIENCE_S), 0)

    def test_nobody_who_reads_it_does_not_keep_it_from_being_kept(self):
        read, write = os.pipe()
        job = self.start_redlock("hold", "mine", "--ttl", "1s", stdout=write, stderr=write)
        os.close(write)
        wait_until(lambda: not self.group.is_free("mine"), "the lock")
        os.close(read)
        time.sleep(1.5)
        self.assertIsNone(job.poll())
        self.assertExit(0, self.redlock("holder", "mine"))
        job.terminate()
        self.assertEqual(job.wait(PATIENCE_S), 0)


if __name__ == "__main__":
    unittest.main()
