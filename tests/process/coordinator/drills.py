"""What the tests of `redlock drill chaos`, `partition` and `clock` share."""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from group import BUILD, PATIENCE_S, REDLOCK, REDLOCK_NODE, ROOT, programs_of, wait_until

sys.path.append(os.path.join(ROOT, "tests/simulation/broken"))

from edit import Edit  # noqa: E402

SEEDS_MAX = 10  # on an idle machine the first is enough
SKIPPED = 77  # ctest's word for it, and what a drill ends with that this machine does not allow


class DrillTest(unittest.TestCase):
    """Runs `word` with a temporary folder of its own, in which nothing may stay behind."""

    word = "chaos"

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="redlock-test.")
        self.addCleanup(shutil.rmtree, self.folder)
        self.temporary = os.path.join(self.folder, "tmp")
        os.mkdir(self.temporary)
        self.out = os.path.join(self.folder, "out")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("REDLOCK_")}
        # These are never drilled: nodes of them would be killed.
        self.environment.update(TMPDIR=self.temporary, REDLOCK_NODES="redis://127.0.0.1:1")
        self.reports = os.path.join(self.folder, "reports")
        os.mkdir(self.reports)
        self.have_reports_in_files()

    def have_reports_in_files(self, *more):
        """What sanitizers say of the drill's programs, whose standard error nobody may read."""
        options = ":".join((f"log_path={self.reports}/of", *more))
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
            inherited = self.environment.get(name)
            self.environment[name] = f"{inherited}:{options}" if inherited else options

    def start(self, *options, stdout=subprocess.PIPE):
        drill = subprocess.Popen(
            [REDLOCK, "drill", self.word, "--out", self.out, *options], env=self.environment,
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
        for name in os.listdir(self.reports):
            with open(os.path.join(self.reports, name), encoding="utf-8") as file:
                self.fail(file.read())
        left = [os.path.join(folder, name) for folder, _, names in os.walk(self.temporary)
                for name in names]
        told = f"the drill's folder: {left}; it ended with {drill.returncode}, {errors}"
        self.assertEqual(os.listdir(self.temporary), [], told)
        return drill.returncode, output, errors

    def judged(self, *options, lasts_s, status):
        """What --json says of a drill that ends with this status; None: with 1 if it found
        something."""
        drill = self.start("--for", f"{lasts_s}s", "--json", *options)
        returned, output, errors = self.result(drill, lasts_s)
        self.assertEqual(errors, "", output)
        report = json.loads(output)
        expected = (0 if report["clean"] else 1) if status is None else status
        self.assertEqual(returned, expected, output)
        return report

    def history(self):
        with open(os.path.join(self.out, "history.jsonl"), encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def drawn(self):
        """What the drill's picture is made of."""
        with open(os.path.join(self.out, "timeline.html"), encoding="utf-8") as file:
            told = re.search(r'<script type="application/json" id="history">(.*?)</script>',
                             file.read(), re.S)[1]
        return json.loads(told)

    def two_holders(self, *options):
        """What --json says of the first drill that finds some. Nobody knows when it comes to that:
        on a busy machine, maybe not in the first seconds."""
        for seed in range(1, SEEDS_MAX + 1):
            report = self.judged(*options, "--seed", str(seed), lasts_s=5, status=None)
            if report["counts"]["overlap"] > 0:
                self.assertFalse(report["clean"])
                return report
        return self.fail(f"no two holders in {SEEDS_MAX} drills")

    def nodes_that_do_not_wait(self):
        return self.script(f'exec {REDLOCK_NODE} "$@" $(case $* in '
                           '*--port*) echo --restart-delay off ;; esac)')

    def script(self, *lines):
        path = os.path.join(self.folder, "node-program")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(("#!/bin/sh", *lines)) + "\n")
        os.chmod(path, 0o755)
        return path

    def at_work(self, drill):
        """The drill's nodes and clients, once all of them run and a client wrote."""
        return wait_until(lambda: self.was_told("wrote") and programs_of(drill.pid),
                          "clients at work")

    def was_told(self, what):
        """Whether the drill's own history tells of one such event yet."""
        folders = os.listdir(self.temporary)
        path = folders and os.path.join(self.temporary, folders[0], "history.jsonl")
        if not path or not os.path.exists(path):
            return False
        with open(path, encoding="utf-8") as file:
            return f'"{what}"' in file.read()

    def told(self):
        """The header, the events, and how often what befell which party."""
        header, *events = self.history()
        counts = collections.Counter((event["who"].split()[0], event["what"]) for event in events)
        return header, events, counts

    def assertFound(self, edit, *options):
        """The drill over nodes that break the edit's rule, with one of its seeds."""
        first, last = (int(seed) for seed in edit.seeds.split(".."))
        program = os.path.join(BUILD, "broken", f"redlock-node-{edit.name}")
        for seed in range(first, last + 1):
            drill = self.start(*options, "--seed", str(seed), "--node-binary", program)
            status, output, errors = self.result(drill, 60)
            if found := re.search(edit.found, output):
                self.assertEqual(status, 1, output + errors)
                print(f"\n  {edit.name}: seed {seed}: {found[0]}")
                return
        self.fail(f"{edit.name}: nothing found with seeds {edit.seeds}")

    def assertHappened(self, counts, *least):
        """A drill without faults, or without locks, proves nothing."""
        for party, what, times in least:
            self.assertGreaterEqual(counts[party, what], times, f"{party} {what}: {counts}")


def broken_nodes():
    """What broken/nodes/README tells of; those with options are of the drill that these name."""
    paths = (pathlib.Path(__file__).parent / "broken/nodes").glob("*.edit")
    return [Edit(path) for path in sorted(paths)]


def main():
    """Runs the file's tests; skipped as a whole, it says so."""
    result = unittest.main(exit=False).result
    if result.wasSuccessful() and result.testsRun == len(result.skipped):
        sys.exit(SKIPPED)
    sys.exit(not result.wasSuccessful())
