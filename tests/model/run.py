#!/usr/bin/env python3
"""Checks the models with spin: every claim verified in full, every twin refuted.

  run.py                  all claims and twins
  run.py --small          the claims in small bounds
  run.py --twins          the twins
  run.py CASE...          these alone
  run.py --story TWIN     how a twin goes wrong, step by step, by the shortest way

Exit status: 0 all as it should be, 1 not, 64 usage, 77 spin or gcc is not installed.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import verdict
from cases import CLAIMS, FAILURES, TWINS, Twin

HERE = Path(__file__).resolve().parent
MEGABYTES_MAX = 15_000  # a machine of 16 GiB
DEPTH_MAX = 10_000      # the deepest is far below; one that is not is a failure
# Nothing is left out of the search, not by partial order either; states are only stored packed.
VERIFIER = ["-DSAFETY", "-DNOREDUCE", "-DCOLLAPSE", f"-DMEMLIM={MEGABYTES_MAX}"]
BREADTH_FIRST = "-DBFS"  # for twins: the first error found is a shortest one
ROW = "{:27} {:4} {:51} {:>10} {:>5} {:>7} {:>7}  {}"


class Workshop:
    """A folder in which one case is built and run."""

    def __init__(self, case, folder):
        self.case = case
        self.folder = Path(folder)
        shutil.copy(HERE / case.model, folder)

    @property
    def is_covered(self):
        """A claim's small bounds are to take every step of the model; that costs some time."""
        return self.case.is_small

    def call(self, *command):
        return subprocess.run(command, cwd=self.folder, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def build(self, *more):
        how = ["-O1", BREADTH_FIRST] if isinstance(self.case, Twin) else ["-O2"]
        if self.is_covered:
            how.append("--coverage")
        for command in (["spin", "-a", *self.case.defines, self.case.model],
                        ["gcc", *how, *VERIFIER, *more, "-o", "pan", "pan.c"]):
            done = self.call(*command)
            if done.returncode != 0:
                sys.exit(f"model: {' '.join(command)}\n{done.stdout}")

    def verify(self, depth_max=DEPTH_MAX):
        done = self.call("./pan", f"-m{depth_max}")
        return verdict.read(done.stdout, done.returncode)

    def untaken(self):
        if not self.is_covered:
            return []
        self.call("gcov", "pan.c")
        return list(verdict.untaken((self.folder / "pan.m.gcov").read_text()))

    def story(self):
        """What the model prints on the way to the error, and what the error is."""
        told = self.call("spin", "-t", "-T", *self.case.defines, self.case.model)
        # Within the second of the copy spin may warn that the model is newer than its trail.
        lines = [line for line in told.stdout.split("\n") if not line.startswith("spin: warning")]
        end = next(i for i, line in enumerate(lines) if line.startswith("spin:"))
        failed = next(line for line in lines if "failed assertion" in line)
        moral = next(text for piece, text in FAILURES.items() if piece in failed.replace(" ", ""))
        return lines[:end], moral


def check(case):
    """Runs a case and prints its row; whether it is as it should be."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="redlock-model.") as folder:
        workshop = Workshop(case, folder)
        workshop.build()
        found = workshop.verify()
        is_right, text = judge(case, found, workshop)
    seconds = time.monotonic() - started
    print(ROW.format(case.name, *sentence(case), f"{found.states:,}", found.depth,
                     f"{seconds:.1f} s", f"{found.megabytes:.0f} MB", text), flush=True)
    return is_right


def judge(case, found, workshop):
    if not isinstance(case, Twin):
        problems = [*found.problems, *workshop.untaken()]
        return not problems, "; ".join(problems) or "verified"
    if not found.is_refuted:
        return False, "NOT REFUTED"
    steps, moral = workshop.story()
    return True, f"refuted in {len(steps)} steps: {moral}"


def sentence(case):
    if isinstance(case, Twin):
        return case.rule, case.text
    return "", ", ".join(f"{name.lower()} {n}" for name, n in case.bounds.items())


def tell(twin):
    with tempfile.TemporaryDirectory(prefix="redlock-model.") as folder:
        workshop = Workshop(twin, folder)
        workshop.build()
        if not workshop.verify().is_refuted:
            sys.exit(f"model: {twin.name} is not refuted")
        steps, moral = workshop.story()
    print(f"{twin.name}, against rule {twin.rule}: {twin.text}")
    for number, step in enumerate(steps, start=1):
        print(f"{number:4}  {step}")
    print(f"      so {moral}")


def choose(options):
    cases = [*CLAIMS, *TWINS]
    known = {case.name: case for case in cases}
    wrong = [name for name in options.cases if name not in known]
    if wrong:
        sys.stderr.write(f"model: no case is {wrong[0]}; there are: {', '.join(known)}\n")
        sys.exit(64)
    if options.cases:
        return [known[name] for name in options.cases]
    if options.twins:
        return TWINS
    return [case for case in CLAIMS if case.is_small] if options.small else cases


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--small", action="store_true", help="the claims in small bounds")
    parser.add_argument("--twins", action="store_true", help="all twins")
    parser.add_argument("--story", metavar="TWIN", choices=[twin.name for twin in TWINS])
    return parser.parse_args()


def missing_tools():
    return [tool for tool in ("spin", "gcc") if shutil.which(tool) is None]


def main():
    options = arguments()
    missing = missing_tools()
    if missing:
        print(f"model: {' and '.join(missing)} not installed: apt-get install spin gcc libc6-dev")
        sys.exit(77)
    if options.story:
        return tell(next(twin for twin in TWINS if twin.name == options.story))
    cases = choose(options)
    print(ROW.format("case", "rule", "what is checked", "states", "depth", "time", "memory", ""))
    wrong = [case.name for case in cases if not check(case)]
    if wrong:
        sys.exit(f"model: not as it should be: {', '.join(wrong)}")
    return None


if __name__ == "__main__":
    main()
