"""redlock drill run: no command works on when its lock is another's, whatever becomes of the loop
and the guard of `redlock run`; and where one does, or a run does not end, the drill says so."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import unittest

from drills import DrillTest
from group import BUILD, PATIENCE_S, REDLOCK_NODE, ROOT, SANITIZED, is_alive, wait_until

sys.path.append(os.path.join(ROOT, "tests/simulation/broken"))

from edit import Edit  # noqa: E402

LONG = os.environ.get("REDLOCK_LONG") == "1"
BROKEN = pathlib.Path(__file__).parent / "broken"


def commands():
    """The processes of commands under a lock, of any drill."""
    pids = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if b"\0drill\0command\0" in (folder / "cmdline").read_bytes():
                pids.append(int(folder.name))
    return pids


class Run(DrillTest):
    word = "run"

    # The loops end by themselves while the drill ends them. To look for leaks LeakSanitizer stops
    # its process, and waits for ever for a SIGSTOP that the drill's SIGCONT has taken away.
    # What `redlock run` leaves in memory is seen by its own tests.
    def setUp(self):
        super().setUp()
        self.have_reports_in_files("detect_leaks=0")

    def test_no_two_commands_work_under_one_lock(self):
        report = self.judged("--ttl", "1s", lasts_s=600 if LONG else 10, status=0)
        self.assertEqual(report["findings"], [])
        header, events, counts = self.told()
        self.assertEqual(header["title"], "run, seed 1")
        # What a slow machine that runs other tests besides comes to in ten seconds, and less.
        self.assertHappened(counts, ("node", "stopped", 1), ("client", "stopped", 4),
                            ("client", "killed", 4), ("client", "acquired", 10),
                            ("client", "wrote", 50))
        if not SANITIZED:  # there it has a third of the locks: often none while nodes are stopped
            self.assertHappened(counts, ("client", "lost", 1))
        self.assertTrue(all(event["token"] for event in events if event["what"] == "acquired"))

    def test_ctrl_c_ends_it_all_and_still_tells_what_happened(self):
        drill = self.start("--for", "10m")
        wait_until(lambda: self.was_told("wrote"), "commands at work")
        drill.send_signal(signal.SIGINT)
        status, output, errors = self.result(drill, 0)
        self.assertEqual((status, errors), (128 + signal.SIGINT, ""), output)
        self.assertIn("Nothing found: ", output)

    def test_its_commands_end_when_it_is_killed(self):
        drill = self.start("--for", "10m")
        before = set(commands())
        wait_until(lambda: self.was_told("wrote"), "commands at work")
        drill.kill()
        drill.communicate()
        ours = set(commands()) - before
        wait_until(lambda: not any(is_alive(pid) for pid in ours), "the end of all commands")


@unittest.skipUnless(LONG, "these take a minute")
@unittest.skipIf(SANITIZED, "programs that are broken on purpose are not instrumented")
class Broken(DrillTest):
    """The drill of a program that breaks a rule, played by that program."""

    word = "run"

    def assertFound(self, name):
        edit = Edit(BROKEN / f"{name}.edit")
        first, last = (int(seed) for seed in edit.seeds.split(".."))
        for seed in range(first, last + 1):
            told = subprocess.run(
                [os.path.join(BUILD, "broken", f"redlock-{name}"), "drill",
                 *(edit.options or "run").split(), "--for", "15s", "--ttl", "1s", "--seed",
                 str(seed), "--out", self.out, "--node-binary", REDLOCK_NODE],
                env=self.environment, stdin=subprocess.DEVNULL,
                capture_output=True, text=True, timeout=PATIENCE_S + 60, check=False)
            if found := re.search(edit.found, told.stdout + told.stderr):
                self.assertEqual(told.returncode, 1, told.stdout + told.stderr)
                print(f"\n  {name}: seed {seed}: {found[0]}")
                return
        self.fail(f"{name}: nothing found with seeds {edit.seeds}")

    def test_each_broken_rule_is_found(self):
        for path in sorted(BROKEN.glob("*.edit")):
            with self.subTest(path.stem):
                self.assertFound(path.stem)


if __name__ == "__main__":
    unittest.main()
