"""redlock drill clock: wall clocks jump by hours, and only a store that counts by them errs."""

import os
import subprocess
import unittest

import drills
from group import PATIENCE_S, REDIS, REDLOCK, SANITIZED


# The sanitizers' library must be the first to be loaded, and so must libfaketime.
@unittest.skipIf(SANITIZED, "libfaketime and sanitizers exclude each other")
class Clock(drills.DrillTest):
    word = "clock"

    def drilled(self, *options, lasts_s):
        """(exit status, standard output); the histories are there."""
        drill = self.start("--for", f"{lasts_s}s", "--seed", "1", *options)
        status, output, errors = self.result(drill, lasts_s)
        if status == drills.SKIPPED:
            self.skipTest(errors)
        return status, output + errors

    def test_clocks_that_jump_by_hours_break_no_promise_of_lock_nodes(self):
        status, output = self.drilled("--ttl", "1s", lasts_s=10)
        self.assertEqual(status, 0, output)
        self.assertIn("Nothing found: ", output)
        self.assertIn("no lock outlasted its holder by more than ", output)
        self.assertIn(self.drawn()["point"] + "\n", output)
        self.assertIn("no lock outlasted its holder by more than ", self.drawn()["point"])
        _, events, counts = self.told()
        self.assertHappened(counts, ("node", "clock_jumped", 10), ("client", "clock_jumped", 2),
                            ("client", "acquired", 100), ("client", "wrote", 100))
        jumps = [event["by_ms"] for event in events if event["what"] == "clock_jumped"]
        self.assertGreaterEqual(max(jumps), 3600 * 1000)
        self.assertLessEqual(min(jumps), -3600 * 1000)

    @unittest.skipUnless(os.access(REDIS, os.X_OK), "redis-tools is not installed")
    def test_redis_counts_by_the_wall_clock_and_gives_locks_twice(self):
        program = os.path.join(self.folder, "redis-server")
        os.symlink(REDIS, program)
        status, output = self.drilled("--node-binary", program, lasts_s=6)
        self.assertEqual(status, 1, output)
        self.assertRegex(output, r"had two holders for ")

    def test_without_libfaketime_it_says_what_it_needs(self):
        script = ("for i in /usr/lib/*/faketime; do mount -t tmpfs none $i || exit 1; done; "
                  f"exec {REDLOCK} drill clock")
        drill = subprocess.run(["unshare", "-Urm", "sh", "-c", script], env=self.environment,
                               cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                               text=True, timeout=PATIENCE_S, check=False)
        if "unshare: " in drill.stderr or "mount: " in drill.stderr:
            self.skipTest(drill.stderr)
        self.assertEqual((drill.returncode, drill.stdout), (drills.SKIPPED, ""), drill.stderr)
        self.assertIn("not installed: libfaketime (package libfaketime)\n", drill.stderr)


if __name__ == "__main__":
    drills.main()
