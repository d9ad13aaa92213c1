"""Two nets that a mutant passes if it survives: the unit tests of its room, and the simulator.

Each says one of: failed, found, crashed, hung (noticed); unchanged or changed (not noticed).
"""

import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys

NOTICED = ("failed", "found", "crashed", "hung")

# A mutant that loops has used up its processor time; one that waits for ever has not, and ends by
# the clock on the wall, which other programs of the machine make run fast.
CPU_S_LEAST = 20
CPU_TIMES = 10    # as long as the whole program took
WALL_TIMES = 20   # the processor time
MEMORY_BYTES_MAX = 4 << 30
OUTPUT_BYTES = 20_000

# Unit tests, as a room is tested: the second is asked for what the first lets through.
ROOMS = {"server/recovery/": ("recovery_test", "node_test"),
         "server/locks/": ("lock_table_test", "node_test"),
         "server/": ("node_test",),
         "coordinator/": ("coordinator_test", "waiting_test")}
SIMULATOR = "redlock-sim"

# The mixes of tests/simulation/CMakeLists.txt, each over so many of the range's seeds.
MIXES = (([], 1.0),
         (["--clocks-break"], 0.5),
         (["--also", "swap"], 0.5),
         (["--also", "release-for"], 0.5),
         (["--counters-apart", "--faults", "lose-disk,pause-node,cut,kill"], 0.5))


def unit_tests(file):
    return next(programs for room, programs in ROOMS.items() if file.startswith(room))


def run(command, folder, cpu_s):
    """(exit status, None when it hung; what it wrote)."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(folder)}

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (round(cpu_s), round(cpu_s) + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with open(folder / "output", "w+b") as output, subprocess.Popen(
            [str(word) for word in command], cwd=folder, env=environment, stdout=output,
            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True,
            preexec_fn=limit) as process:
        try:
            status = process.wait(timeout=cpu_s * WALL_TIMES)
        except subprocess.TimeoutExpired:
            status = None
        end_session(process)
        output.seek(0)
        text = output.read(OUTPUT_BYTES).decode("utf-8", "replace")
    shutil.rmtree(folder, ignore_errors=True)
    return (None if status == -signal.SIGXCPU else status), text


def end_session(process):
    """And what it started, which may outlive it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def verdict_of_status(status, text, failed):
    """(verdict, what) of a program that did not end with 0."""
    if status is None:
        return "hung", ""
    broken = re.search(r"^.*[Ii]nvariant.*$", text, re.M)
    if status < 0:
        return "crashed", broken.group()[:200] if broken else signal.Signals(-status).name
    return failed, broken.group()[:200] if broken else ""


class UnitTests:
    """A test program of Catch2; without a mutant it must pass."""

    def __init__(self, program, folder):
        begun = os.times().children_user
        status, text = run([program], folder, 600)
        if status != 0:
            sys.exit(f"mutants: {program} fails as it ships: {text[-2000:]}")
        self.cpu_s = max(CPU_S_LEAST, CPU_TIMES * (os.times().children_user - begun))

    def judge(self, program, folder):
        status, text = run([program, "--abort", "--reporter", "compact"], folder, self.cpu_s)
        if status == 0:
            return {"verdict": "unchanged", "what": ""}
        verdict, what = verdict_of_status(status, text, "failed")
        failure = re.search(r"^.*?(tests/\S+:\d+): failed: (.*)$", text, re.M)
        return {"verdict": verdict, "what": what or (
            f"{failure[1]}: {failure[2]}"[:200] if failure else "")}


class Simulator:
    """The mixes, each over its seeds; without a mutant nothing may be found."""

    def __init__(self, program, folder, seeds):
        self.commands = [[*options, "--seeds", f"1..{max(1, round(seeds * share))}"]
                         for options, share in MIXES]
        self.hashes, self.cpu_s = [], []
        for options in self.commands:
            begun = os.times().children_user
            status, text = self._run(program, options, folder, 3600)
            if status != 0:
                sys.exit(f"mutants: {program} {' '.join(options)} as it ships: {text[-2000:]}")
            self.hashes.append(self._result(text)["hash"])
            spent = os.times().children_user - begun
            self.cpu_s.append(max(CPU_S_LEAST, CPU_TIMES * spent))

    @staticmethod
    def _run(program, options, folder, cpu_s):
        return run([program, "--json", "--jobs", "1", *options], folder, cpu_s)

    def judge(self, program, folder):
        changed = False
        for options, whole, cpu_s in zip(self.commands, self.hashes, self.cpu_s):
            status, text = self._run(program, options, folder, cpu_s)
            result = self._result(text)
            if status == 1 and "breach" in result:
                return {"verdict": "found", "what": self._told(result, options)}
            if status == 2:
                return {"verdict": "found", "what": "clocks break, and nobody is harmed"}
            if status != 0:
                verdict, what = verdict_of_status(status, text, "crashed")
                return {"verdict": verdict, "what": f"{what} {' '.join(options)}".strip()}
            changed = changed or result.get("hash") != whole
        return {"verdict": "changed" if changed else "unchanged", "what": ""}

    @staticmethod
    def _result(text):
        try:
            return json.loads(text.splitlines()[0])
        except (json.JSONDecodeError, IndexError):
            return {}

    @staticmethod
    def _told(result, options):
        return " ".join([result["breach"], "with seed", str(result["seed"]), *options[:-2]])


def fingerprint(*things):
    """Of programs (paths) and options (texts): what a verdict was given by."""
    digest = hashlib.sha256()
    for thing in things:
        digest.update(thing.read_bytes() if hasattr(thing, "read_bytes") else repr(thing).encode())
    return digest.hexdigest()[:16]
