"""Two nets that a mutant passes if it survives: the unit tests of its room, and the simulator.

Each says one of: failed, found, crashed, hung (noticed); unchanged or changed (not noticed). Each
knows which of its tests, or seeds, meet which mutant (switches.h), and asks those alone.
"""

import hashlib
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass

NOTICED = ("failed", "found", "crashed", "hung")
SURVIVED = {"verdict": "unchanged", "what": ""}

# A mutant that loops has used up its processor time; one that waits for ever has not, and ends by
# the clock on the wall, which other programs of the machine make run fast.
CPU_S_LEAST = 20
CPU_TIMES = 10      # as long as the whole program took
WALL_TIMES = 20     # the processor time
SEED_CPU_S_LEAST = 2
MEMORY_BYTES_MAX = 4 << 30
OUTPUT_BYTES = 20_000
# What but one test meets may be made once in a process, by whoever comes first: then all are asked.
MET_BY_FEW = 1
SEEDS_OF_ANY = 20   # of a mutant that no single seed is known to meet

# Unit tests, as a room is tested: the second is asked for what the first lets through.
ROOMS = {"server/recovery/": ("recovery_test", "node_test"),
         "server/locks/": ("lock_table_test", "node_test"),
         "server/": ("node_test",),
         "coordinator/front_door/": ("front_door_test",),
         "coordinator/group/door/": ("door_operations_test", "front_door_test"),
         "coordinator/group/": ("coordinator_test", "waiting_test", "door_operations_test"),
         "coordinator/": ("coordinator_test", "waiting_test")}
SIMULATOR = "redlock-sim-mutants"

# Rows of simulated.cpp, each over so many of the range's seeds.
MIXES = (1.0, 0.5, 0.5, 0.5, 0.5, 0.3, 1.0)


def unit_tests(file):
    return next(programs for room, programs in ROOMS.items() if file.startswith(room))


def run(command, folder, cpu_s, said="", **environment):
    """(exit status, None when it hung; what it wrote)."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(folder), **environment}

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (round(cpu_s), round(cpu_s) + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    (folder / "said").write_text(said, encoding="utf-8")
    with open(folder / "output", "w+b") as output, open(folder / "said", "rb") as heard, \
            subprocess.Popen([str(word) for word in command], cwd=folder, env=environment,
                             stdout=output, stderr=subprocess.STDOUT, stdin=heard,
                             start_new_session=True, preexec_fn=limit) as process:
        try:
            status = process.wait(timeout=cpu_s * WALL_TIMES)
        except subprocess.TimeoutExpired:
            status = None
        end_session(process)
        output.seek(0)
        text = output.read(OUTPUT_BYTES).decode("utf-8", "replace")
    shutil.rmtree(folder, ignore_errors=True)
    return (None if status in (-signal.SIGXCPU, -signal.SIGPROF) else status), text


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


@dataclass
class Met:
    """A test case, or a run of the simulator: what it took, what came of it, whom it met."""
    name: str
    cpu_s: float
    result: str


class MetBy:
    """Who meets whom, as a program whose mutants all slept has told it (met_file.h)."""

    def __init__(self, path):
        self.all, self._of = [], {}
        for line in path.read_text(encoding="utf-8").splitlines():
            name, cpu_s, result, numbers = line.split("\t")
            met = Met(name, float(cpu_s), result)
            self.all.append(met)
            for number in numbers.split():
                self._of.setdefault(int(number), []).append(met)

    def of(self, number):
        return self._of.get(number, [])


def listened(program, file, folder, said=""):
    """What the program meets, noted in a file; asked once for each program."""
    if not file.exists():
        noted = file.with_suffix(".new")
        status, text = run([program], folder, 3600, said, REDLOCK_MUTANTS_MET=str(noted))
        if status != 0:
            sys.exit(f"mutants: {program} fails without a mutant: {text[-2000:]}")
        noted.rename(file)
    return MetBy(file)


class UnitTests:
    """A test program of Catch2, with all mutants in it; without one of them it must pass."""

    def __init__(self, program, folder):
        self.program = program
        self.met = listened(program, program.with_suffix(f".{fingerprint(program)}.met"), folder)

    def judge(self, number, folder):
        meets = sorted(self.met.of(number), key=lambda met: met.cpu_s)
        verdict = self._run(meets, number, folder) if meets else SURVIVED
        if verdict["verdict"] not in NOTICED and len(meets) <= MET_BY_FEW:
            verdict = self._run(self.met.all, number, folder)
        return verdict

    def judge_alone(self, program, folder):
        return self._run(self.met.all, 0, folder, program)

    def _run(self, meets, number, folder, program=None):
        """What fails once may be a test that minds the load of the machine: it must fail twice."""
        verdict = SURVIVED
        for _ in range(2):
            verdict = self._run_once(meets, number, folder, program or self.program)
            if verdict["verdict"] != "failed":
                break
        return verdict

    def _run_once(self, meets, number, folder, program):
        folder.mkdir(parents=True, exist_ok=True)
        names = folder.parent / f"{folder.name}.names"
        names.write_text("\n".join(f'"{quoted(met.name)}"' for met in meets), encoding="utf-8")
        status, text = run([program, "--abort", "--reporter", "compact", "-f", names], folder,
                           max(CPU_S_LEAST, CPU_TIMES * sum(met.cpu_s for met in meets)),
                           REDLOCK_MUTANT=str(number))
        names.unlink()
        if status == 0:
            passed = re.search(r"^Passed (?:all |both )?(\d+) test case", text, re.M)
            if passed is None or int(passed[1]) != len(meets):
                sys.exit(f"mutants: of {program} {len(meets)} cases were asked: {text[-2000:]}")
            return SURVIVED
        verdict, what = verdict_of_status(status, text, "failed")
        failure = re.search(r"^.*?(tests/\S+:\d+): failed: (.*)$", text, re.M)
        return {"verdict": verdict, "what": what or (
            f"{failure[1]}: {failure[2]}"[:200] if failure else "")}


def quoted(name):
    return re.sub(r'(["\\,\[])', r"\\\1", name)


class Simulator:
    """The mixes over their seeds, with all mutants in it; without one of them nothing is found."""

    def __init__(self, program, folder, seeds, most):
        self.program, self.most = program, most
        said = "".join(f"{row} {seed} 0 0\n" for row, share in enumerate(MIXES)
                       for seed in range(1, max(1, round(seeds * share)) + 1))
        self.met = listened(program, program.with_suffix(f".{fingerprint(program, said)}.met"),
                            folder, said)

    def judge(self, number, folder):
        meets = self._some(self.met.of(number), self.most)
        if len(meets) <= MET_BY_FEW:
            meets = meets + self._some(self.met.all, SEEDS_OF_ANY)
        return self._run(meets, number, folder, self.program)

    def judge_alone(self, program, folder):
        return self._run(self._some(self.met.all, self.most), 0, folder, program)

    @staticmethod
    def _some(meets, count):
        """So many, of all mixes, whichever."""
        return random.Random(1).sample(meets, min(count, len(meets)))

    def _run(self, meets, number, folder, program):
        limits = [max(SEED_CPU_S_LEAST, CPU_TIMES * met.cpu_s) for met in meets]
        said = "".join(f"{met.name} {limit:.3f} {met.result}\n"
                       for met, limit in zip(meets, limits))
        status, text = run([program], folder, sum(limits) + CPU_S_LEAST, said,
                           REDLOCK_MUTANT=str(number))
        if status == 0:
            return {"verdict": text.strip(), "what": ""}
        if status == 1:
            return {"verdict": "found", "what": text.strip()[:200]}
        verdict, what = verdict_of_status(status, text, "crashed")
        return {"verdict": verdict, "what": what}


def fingerprint(*things):
    """Of programs (paths) and options (texts): what a verdict was given by."""
    digest = hashlib.sha256()
    for thing in things:
        digest.update(thing.read_bytes() if hasattr(thing, "read_bytes") else repr(thing).encode())
    return digest.hexdigest()[:16]
