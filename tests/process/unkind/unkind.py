"""The process tests on a machine that is unkind: unkind.py BUILD [MINUTES]   (./dev unkind)

Each of the tests below runs eight times at once on two cores, one test after the other, over and
over until the time is up: one half of it as ever, the other half with delays.cpp in LD_PRELOAD,
which lets the system calls of our programs come back late, each by a random time. A test that
fails there and nowhere else is no flake: either it wants what nobody promised, and says so from
now on, or the product is at fault. What measures time is left out, as with sanitizers
(REDLOCK_UNKIND, see group.py).

Whatever fails is told with its log, which stays in BUILD/unkind. Exit 1 if anything did.
"""

import argparse
import itertools
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
COORDINATOR = ROOT / "tests/process/coordinator"

AT_ONCE = 8
CORES = 2
PATIENCE_S = 900  # of one run of a test
LINES_TOLD = 40   # of a log


def tests_of(build):
    """Their commands, by name."""
    tests = {name: ("python3", str(COORDINATOR / f"test_{name}.py"))
             for name in ("run", "words", "waiting", "fencing")}
    tests["client"] = (str(build / "client_test"), "~[timing]")
    return tests


def failures_in(log):
    """What a log names as failed: of unittest, or of Catch2."""
    return re.findall(r"^(?:FAIL|ERROR): (\S+)|^(\S+\.cpp:\d+): FAILED", log, re.M)


class Unkind:
    def __init__(self, build, seed):
        self.build, self.seed = build, seed
        self.folder = build / "unkind"
        self.folder.mkdir(exist_ok=True)
        self.environment = {**os.environ, "REDLOCK_BUILD": str(build), "REDLOCK_UNKIND": "1",
                            "PYTHONDONTWRITEBYTECODE": "1"}
        self.runs = self.failed = 0

    def environment_of(self, delayed, copy):
        if not delayed:
            return self.environment
        return {**self.environment, "LD_PRELOAD": str(self.build / "libunkind_delays.so"),
                "UNKIND_SEED": str(self.seed * AT_ONCE + copy)}

    def run(self, name, command, delayed):
        """Eight at once."""
        how = f"delays-{self.seed}" if delayed else "plain"
        logs = [self.folder / f"{name}-{how}-{os.getpid()}-{self.runs + copy}.log"
                for copy in range(AT_ONCE)]
        began, processes = time.monotonic(), []
        for copy, path in enumerate(logs):
            with open(path, "wb") as log:
                processes.append(subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                    env=self.environment_of(delayed, copy)))
        for process, log in zip(processes, logs):
            self.judge(name, how, process, log, began)
        self.runs += AT_ONCE

    def judge(self, name, how, process, path, began):
        try:
            status = process.wait(max(began + PATIENCE_S - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            status = f"none after {PATIENCE_S} s"
        if status == 0:
            return path.unlink()
        self.failed += 1
        text = path.read_text(encoding="utf-8", errors="replace")
        named = {"".join(found) for found in failures_in(text)}
        print(f"\nunkind: {name}, {how}: status {status}; {', '.join(sorted(named))}\n  {path}")
        for line in text.splitlines()[-LINES_TOLD:]:
            print(f"  | {line}")
        return sys.stdout.flush()


def main():
    arguments = argparse.ArgumentParser(
        prog="./dev unkind", description="the process tests, eight of each at once on two cores, "
        "as ever and with system calls that are late")
    arguments.add_argument("build", type=pathlib.Path, help=argparse.SUPPRESS)
    arguments.add_argument("minutes", type=float, nargs="?", default=60)
    arguments.add_argument("--seed", type=int, default=1, help="of the first round of delays")
    arguments.add_argument("--only", action="append", metavar="TEST")
    given = arguments.parse_args()
    build = given.build.resolve()
    tests = {name: command for name, command in tests_of(build).items()
             if name in (given.only or tests_of(build))}
    # Tests send these; what a shell starts with &, or nohup, ignores them, and all below it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    unkind = Unkind(build, given.seed)
    give_up = time.monotonic() + given.minutes * 60
    for number in itertools.count():
        # A round as ever, then one with delays; at least one of each.
        delayed = number % 2 == 1
        for name, command in tests.items():
            if time.monotonic() < give_up or number < 2:
                unkind.run(name, command, delayed)
        unkind.seed += delayed
        print(f"unkind: {unkind.runs} runs, {unkind.failed} failed; next seed {unkind.seed}",
              flush=True)
        if number >= 1 and time.monotonic() >= give_up:
            break
    sys.exit(unkind.failed > 0)


if __name__ == "__main__":
    main()
