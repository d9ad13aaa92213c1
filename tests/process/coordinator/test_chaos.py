"""redlock drill chaos: lock nodes keep their promises in it, and what does not is caught."""

import os
import pty
import shutil
import signal
import subprocess
import unittest

from drills import DrillTest, broken_nodes
from group import (PATIENCE_S, REDIS, REDLOCK, SANITIZED, is_alive, programs_of, read_terminal,
                   wait_until)

CLIENTS = 16


class Chaos(DrillTest):
    def test_twenty_seconds_of_chaos_break_no_promise_of_lock_nodes(self):
        report = self.judged("--seed", "1", lasts_s=20, status=0)
        self.assertTrue(report["clean"])
        self.assertEqual(report["findings"], [])
        header, events, counts = self.told()
        self.assertEqual(header["title"], "chaos, seed 1")
        self.assertHappened(counts, ("node", "killed", 5), ("node", "recovering", 1),
                            ("client", "stopped", 2), ("client", "acquired", 100),
                            ("client", "wrote", 100), ("client", "extended", 1))
        self.assertTrue(all(event["token"] and event["ttl_ms"] for event in events
                            if event["what"] == "acquired"))
        # Nobody who waited in line starved, and many did wait, four clients all the time.
        self.assertHappened(counts, ("client", "waits", 50))
        self.assertGreaterEqual(report["figures"]["waits"]["served"], 25)
        in_line = [event for event in events if event["who"] == "client 4" and "lock" in event]
        self.assertEqual({event["lock"] for event in in_line}, {"lock 1"})
        # The checker says the same of the file that stays.
        path = os.path.join(self.out, "history.jsonl")
        self.assertEqual(subprocess.run([REDLOCK, "drill", "check", path], check=False,
                                        stdout=subprocess.DEVNULL).returncode, 0)
        with open(os.path.join(self.out, "timeline.html"), encoding="utf-8") as file:
            self.assertIn("chaos, seed 1", file.read())

    @unittest.skipUnless(os.access(REDIS, os.X_OK), "redis-tools is not installed")
    def test_redis_without_persistence_is_caught(self):
        program = os.path.join(self.folder, "redis-server")
        os.symlink(REDIS, program)
        self.two_holders("--node-binary", program)
        self.assertFalse(any("token" in e for e in self.history()[1:]))

    def test_nodes_that_do_not_wait_are_caught_and_tokens_still_rise(self):
        report = self.two_holders("--node-binary", self.nodes_that_do_not_wait())
        self.assertEqual(report["counts"]["token_order"], 0)
        self.assertEqual(report["counts"]["token_twice"], 0)
        self.assertEqual(report["counts"]["old_write"], 0)
        self.assertEqual(report["counts"]["revived"], 0)
        self.assertEqual(report["counts"]["long_validity"], 0)


@unittest.skipIf(SANITIZED, "programs that are broken on purpose are not instrumented")
class Broken(DrillTest):
    """The drill over nodes that break a rule, by the options that their edit names."""

    def test_each_broken_rule_is_found(self):
        for edit in broken_nodes():
            if edit.options:
                with self.subTest(edit.name):
                    self.assertFound(edit, *edit.options.split())


class Ends(DrillTest):
    def test_ctrl_c_ends_it_all_and_still_tells_what_happened(self):
        drill = self.start("--for", "10m")
        programs = self.at_work(drill)
        self.assertGreater(len(programs), CLIENTS)
        drill.send_signal(signal.SIGINT)
        status, output, errors = self.result(drill, 0)
        self.assertEqual((status, errors), (128 + signal.SIGINT, ""), output)
        self.assertIn("Nothing found: ", output)
        self.assertEqual([pid for pid in programs if is_alive(pid)], [])

    def test_its_processes_end_when_it_is_killed_also_stopped_ones(self):
        drill = self.start("--for", "10m")
        self.at_work(drill)
        drill.send_signal(signal.SIGSTOP)  # it kills and starts no more
        programs = programs_of(drill.pid)
        self.assertGreater(len(programs), CLIENTS // 2)
        for pid in programs:
            os.kill(pid, signal.SIGSTOP)
        drill.kill()
        wait_until(lambda: not any(is_alive(pid) for pid in programs), "the end of all processes")
        drill.communicate()
        shutil.rmtree(os.path.join(self.temporary, os.listdir(self.temporary)[0]))

    def test_a_process_that_ends_by_itself_ends_the_drill(self):
        drill = self.start("--for", "10m")
        # The last one is a client: the drill itself soon kills the nodes.
        os.kill(self.at_work(drill)[-1], signal.SIGTERM)
        status, output, errors = self.result(drill, 0)
        self.assertEqual(status, 1, output)
        self.assertRegex(errors, r"^redlock: (node-\d+ exited|client \d+ ended by itself)")
        # What there is of a history is kept.
        self.assertTrue(os.path.exists(os.path.join(self.out, "timeline.html")))


class Told(DrillTest):
    def test_what_cannot_be_is_told_at_once(self):
        self.out = "/proc/out"
        status, _, errors = self.result(self.start(), 0)
        self.assertEqual(status, 1)
        self.assertIn("/proc/out cannot be made: ", errors)
        self.out = os.path.join(self.folder, "out")
        status, _, errors = self.result(self.start("--node-binary", self.folder + "/none"), 0)
        self.assertEqual(status, 1)
        self.assertIn("none is no program", errors)

    def on_a_terminal(self):
        ours, its = pty.openpty()
        drill = self.start("--for", "1s", stdout=its)
        os.close(its)
        output = read_terminal(ours)
        self.assertEqual(drill.wait(PATIENCE_S), 0)
        return output

    def test_a_terminal_shows_a_bar_others_get_plain_lines(self):
        self.assertRegex(self.on_a_terminal(), r"\r\x1b\[K\[#+ +\] \S+ of 1s  faults: ")
        status, output, _ = self.result(self.start("--for", "1s"), 1)
        self.assertEqual(status, 0, output)
        self.assertNotIn("\x1b", output)
        self.assertNotIn("\r", output)
        self.assertIn("1s of 1s: faults: ", output)


if __name__ == "__main__":
    unittest.main()
