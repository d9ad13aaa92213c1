"""redlock drill chaos: lock nodes keep their promises in it, and what does not is caught."""

import collections
import json
import os
import pty
import shutil
import signal
import subprocess
import tempfile
import unittest

from group import PATIENCE_S, REDIS, REDLOCK, REDLOCK_NODE, is_alive, programs_of, wait_until

CLIENTS = 16


class ChaosTest(unittest.TestCase):
    """Runs the drill with a temporary folder of its own, in which nothing may stay behind."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="redlock-test.")
        self.addCleanup(shutil.rmtree, self.folder)
        self.temporary = os.path.join(self.folder, "tmp")
        os.mkdir(self.temporary)
        self.out = os.path.join(self.folder, "out")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("REDLOCK_")}
        # These are never drilled: nodes of them would be killed.
        self.environment.update(TMPDIR=self.temporary, REDLOCK_NODES="redis://127.0.0.1:1")

    def start(self, *options, stdout=subprocess.PIPE):
        drill = subprocess.Popen(
            [REDLOCK, "drill", "chaos", "--out", self.out, *options], env=self.environment,
            stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, drill)
        return drill

    @staticmethod
    def end(drill):
        drill.kill()
        drill.communicate()

    def result(self, drill, lasts_s):
        """(exit status, standard output, standard error); nothing of it is left."""
        output, errors = drill.communicate(timeout=PATIENCE_S + lasts_s)
        self.assertEqual(os.listdir(self.temporary), [], "the drill's folder")
        return drill.returncode, output, errors

    def judged(self, *options, lasts_s, status):
        """What --json says of a drill that ends with this status."""
        drill = self.start("--for", f"{lasts_s}s", "--json", *options)
        returned, output, errors = self.result(drill, lasts_s)
        self.assertEqual((returned, errors), (status, ""), output)
        return json.loads(output)

    def history(self):
        with open(os.path.join(self.out, "history.jsonl"), encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def script(self, *lines):
        path = os.path.join(self.folder, "node-program")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(("#!/bin/sh", *lines)) + "\n")
        os.chmod(path, 0o755)
        return path

    def at_work(self, drill):
        """The drill's nodes and clients, once all of them run and a client wrote."""
        return wait_until(lambda: self.wrote() and programs_of(drill.pid), "clients at work")

    def wrote(self):
        folders = os.listdir(self.temporary)
        path = folders and os.path.join(self.temporary, folders[0], "history.jsonl")
        if not path or not os.path.exists(path):
            return False
        with open(path, encoding="utf-8") as file:
            return '"wrote"' in file.read()


class Chaos(ChaosTest):
    def test_twenty_seconds_of_chaos_break_no_promise_of_lock_nodes(self):
        report = self.judged("--seed", "1", lasts_s=20, status=0)
        self.assertTrue(report["clean"])
        self.assertEqual(report["findings"], [])
        header, *events = self.history()
        self.assertEqual(header["title"], "chaos, seed 1")
        told = collections.Counter((event["who"].split()[0], event["what"]) for event in events)
        # All of it happened: a drill without faults, or without locks, proves nothing.
        for party, what, least in (("node", "killed", 5), ("node", "recovering", 1),
                                   ("client", "stopped", 2), ("client", "acquired", 100),
                                   ("client", "wrote", 100), ("client", "extended", 1)):
            self.assertGreaterEqual(told[party, what], least, f"{party} {what}: {told}")
        self.assertTrue(all(event["token"] for event in events if event["what"] == "acquired"))
        # The checker says the same of the file that stays.
        path = os.path.join(self.out, "history.jsonl")
        self.assertEqual(subprocess.run([REDLOCK, "drill", "check", path], check=False,
                                        stdout=subprocess.DEVNULL).returncode, 0)
        with open(os.path.join(self.out, "timeline.html"), encoding="utf-8") as file:
            self.assertIn("chaos, seed 1", file.read())

    def assertTwoHolders(self, program):
        report = self.judged("--node-binary", program, lasts_s=5, status=1)
        self.assertFalse(report["clean"])
        self.assertGreater(report["counts"]["overlap"], 0)
        return report

    @unittest.skipUnless(os.access(REDIS, os.X_OK), "redis-tools is not installed")
    def test_redis_without_persistence_is_caught(self):
        program = os.path.join(self.folder, "redis-server")
        os.symlink(REDIS, program)
        self.assertTwoHolders(program)
        self.assertFalse(any("token" in e for e in self.history()[1:]))

    def test_nodes_that_do_not_wait_are_caught_and_tokens_still_rise(self):
        program = self.script(f'exec {REDLOCK_NODE} "$@" $(case $* in '
                              '*--port*) echo --restart-delay off ;; esac)')
        report = self.assertTwoHolders(program)
        self.assertEqual(report["counts"]["token_order"], 0)
        self.assertEqual(report["counts"]["token_twice"], 0)
        self.assertEqual(report["counts"]["old_write"], 0)


class Ends(ChaosTest):
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
        programs = self.at_work(drill)
        for pid in programs:
            os.kill(pid, signal.SIGSTOP)
        drill.kill()
        wait_until(lambda: not any(is_alive(pid) for pid in programs), "the end of all processes")
        drill.communicate()
        shutil.rmtree(os.path.join(self.temporary, os.listdir(self.temporary)[0]))

    def test_a_process_that_ends_by_itself_ends_the_drill(self):
        drill = self.start("--for", "10m")
        os.kill(self.at_work(drill)[0], signal.SIGTERM)
        status, output, errors = self.result(drill, 0)
        self.assertEqual(status, 1, output)
        self.assertRegex(errors, r"^redlock: (node-\d+ exited|client \d+ ended by itself)")
        # What there is of a history is kept.
        self.assertTrue(os.path.exists(os.path.join(self.out, "timeline.html")))


class Told(ChaosTest):
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
        output = b""
        try:
            while block := os.read(ours, 4096):
                output += block
        except OSError:  # EIO: nobody has the other end any more
            pass
        os.close(ours)
        self.assertEqual(drill.wait(PATIENCE_S), 0)
        return output.decode()

    def test_a_terminal_shows_a_bar_others_get_plain_lines(self):
        self.assertRegex(self.on_a_terminal(), r"\r\x1b\[K\[#+ +\] \S+ of 1s  faults: ")
        status, output, _ = self.result(self.start("--for", "1s"), 1)
        self.assertEqual(status, 0, output)
        self.assertNotIn("\x1b", output)
        self.assertNotIn("\r", output)
        self.assertIn("1s of 1s: faults: ", output)


if __name__ == "__main__":
    unittest.main()
