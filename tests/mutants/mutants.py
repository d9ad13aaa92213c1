"""Mechanical mutation of what decides safety: mutants.py BUILD [FILE…]   (./dev mutants)

Each mutant is one small edit of one source (mutate.py tells which there are). All of a source are
compiled at once, each behind its number (switched.py), and linked into the unit tests of its room
and into the simulator. Each of both nets judges each mutant apart, by those of its tests and seeds
that meet it. One that does not compile does not count.

Results go to BUILD/mutants/results.jsonl; a run goes on where the last one was. What was noticed
stays noticed for as long as its source is the same; what survived is judged again by nets that
changed. Without that file all is judged anew.

Exit 0: unit tests and simulator together noticed 95 % of them, those left out that survivors.txt
explains; 1: less.
"""

import argparse
import itertools
import json
import os
import pathlib
import random
import shutil
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import judges
import mutate
import report
from workshop import Refused, Workshop

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

# What decides safety: the sources that the rules of docs/safety.md name as their code. Left out are
# quorum/answer.cpp, which names answers for people, and headers (fence.h, validity.h, witnesses.h):
# what they define inline stands in dozens of objects, so one compile would break it in one of them
# and leave it whole in the rest.
FILES = ("server/recovery/recovery.cpp", "server/recovery/ledger.cpp",
         "server/recovery/ledger_keeper.cpp", "server/recovery/roster_record.cpp",
         "server/recovery/snapshot.cpp", "server/locks/latest_deadline.cpp",
         "server/locks/fence.cpp", "server/locks/release_marks.cpp", "server/grants/grants.cpp",
         "server/grants/coverage.cpp", "server/group/membership.cpp", "server/commands/quorum.cpp",
         "server/commands/group.cpp", "coordinator/quorum/acquisition.cpp",
         "coordinator/quorum/extension.cpp", "coordinator/quorum/release.cpp",
         "coordinator/quorum/admission.cpp", "coordinator/quorum/ballot.cpp",
         "coordinator/quorum/floor.cpp", "coordinator/quorum/tally.cpp",
         "coordinator/roster/rosters.cpp", "coordinator/roster/roster_change.cpp",
         "coordinator/group/group.cpp", "coordinator/group/group_operations.cpp",
         "coordinator/group/group_roster.cpp", "coordinator/group/operation.cpp",
         "coordinator/group/admission_schedule.cpp", "coordinator/group/admit_operation.cpp",
         "coordinator/group/keeper.cpp")
# A front door's, which are judged where they are named: too many survive there still.
FRONT_DOOR = ("coordinator/front_door/served/commit.cpp",
              "coordinator/front_door/served/served_command.cpp",
              "coordinator/front_door/served/served_command_nodes.cpp",
              "coordinator/group/door/deadline_operation.cpp",
              "coordinator/group/door/read_operation.cpp", "coordinator/quorum/quorum_read.cpp")

NETS = ("unit", "simulator")
SEEDS = 1000  # of the simulator's first mix, and of the others in proportion
NUMBERS_A_FILE = 1000  # so that a file that changes leaves the others' numbers as they are
MOST = 300    # of those that meet a mutant judge it, if none before notices it


def all_mutants(files):
    return {file: mutate.mutants(file, (ROOT / file).read_text(encoding="utf-8"))
            for file in files}


def deal(by_file, count, seed):
    """So many, as many of each file as can be: a larger count has the smaller one's among them."""
    piles = []
    for file in sorted(by_file):
        pile = list(by_file[file])
        random.Random(f"{seed} {file}").shuffle(pile)
        piles.append(pile)
    rounds = itertools.zip_longest(*piles)
    dealt = [mutant for one_of_each in rounds for mutant in one_of_each if mutant is not None]
    return dealt[:count]


class Run:
    """Judges mutants, each once for a state of sources, tests and simulator."""

    def __init__(self, shop, results):
        self.shop, self.results = shop, results
        self.scratch = shop.build / "mutants"
        self.lock = threading.Lock()
        self.scratch_numbers = itertools.count()
        self.numbers = {}   # {key: number} of those that have a switch; the others stand alone
        self.units = {}     # by program
        self.simulator = None
        self.judged_by, self.by = {}, {}  # of each file
        self.known = report.read(results)
        self._clean()

    def _clean(self):
        """What runs that were killed have left."""
        for folder in self.scratch.glob("*-*"):
            process = folder.name.partition("-")[0]
            if process.isdigit() and not pathlib.Path("/proc", process).exists():
                shutil.rmtree(folder)

    def prepare(self, by_file, files, seeds, most, jobs):
        """Makes the programs that judge, with all mutants of these files in them, and looks whom
        their tests and seeds meet."""
        self.judged_by = {file: [program for program in judges.unit_tests(file)
                                 if self.shop.has(program, file)] for file in by_file}
        self.by = {file: self._judges_of(file, seeds, most) for file in by_file}
        objects = self._switched(by_file, jobs)
        programs = sorted({program for file in files for program in self.judged_by[file]})
        tasks = [lambda program=program: self._prepare_unit(program, objects)
                 for program in programs]
        tasks.append(lambda: self._prepare_simulator(objects, seeds, most))
        with ThreadPoolExecutor(jobs) as pool:
            for done in [pool.submit(task) for task in tasks]:
                done.result()

    def _judges_of(self, file, seeds, most):
        """What each net's verdict depends on, besides the mutant itself."""
        unit = [self.shop.build / program for program in self.judged_by[file]]
        simulator = self.shop.build / judges.SIMULATOR
        return {"unit": judges.fingerprint(*unit),
                "simulator": judges.fingerprint(simulator, seeds, most)}

    def _switched(self, by_file, jobs):
        """{file: object with its mutants in it}"""
        folder = self.scratch / "switched"
        first = {file: 1 + index * NUMBERS_A_FILE for index, file in enumerate(sorted(by_file))}

        def make(file):
            numbered = list(enumerate(by_file[file], first[file]))
            made, kept = self.shop.compile_switched(file, numbered, folder)
            print(f"{file}: {len(kept)} of {len(numbered)} mutants have a switch", flush=True)
            return made, {mutant.key: number for number, mutant in numbered if number in kept}

        with ThreadPoolExecutor(jobs) as pool:
            made = dict(zip(by_file, pool.map(make, by_file)))
        for _, kept in made.values():
            self.numbers.update(kept)
        return {file: target for file, (target, _) in made.items()}

    def _prepare_unit(self, program, objects):
        besides = [self.shop.object_of(f"tests/mutants/{name}.cpp")
                   for name in ("listener", "switches")]
        whole = self._link(program, objects, besides)
        self.units[program] = judges.UnitTests(whole, self.scratch / f"tmp-{program}")

    def _prepare_simulator(self, objects, seeds, most):
        whole = self._link(judges.SIMULATOR, objects, [])
        self.simulator = judges.Simulator(whole, self.scratch / "tmp-simulator", seeds, most)

    def _link(self, program, objects, besides):
        target = self.scratch / program
        self.shop.link(program, {file: made for file, made in objects.items()
                                 if self.shop.has(program, file)}, target, *besides)
        return target

    def judge_all(self, mutants, jobs):
        pending = [mutant for mutant in mutants if not self._is_judged(mutant)]
        print(f"{len(mutants)} mutants, {len(mutants) - len(pending)} of them judged before",
              flush=True)
        pool = ThreadPoolExecutor(jobs)
        try:
            for done in pool.map(self._judge_one, pending):
                print(done, flush=True)
        finally:
            pool.shutdown(cancel_futures=True)  # Ctrl-C waits for those in hand alone

    def _is_judged(self, mutant):
        known = self.known.get(mutant.key, {"compiles": True})
        return not known["compiles"] or all(self._known(mutant, net) for net in NETS)

    def _known(self, mutant, net):
        """This net's verdict: for as long as the source is the same, if it was noticed; if not, as
        long as the net is the same, too."""
        verdict = self.known.get(mutant.key, {}).get(net, {})
        is_noticed = verdict.get("verdict") in judges.NOTICED
        return verdict if is_noticed or verdict.get("by") == self.by[mutant.file][net] else None

    def _judge_one(self, mutant):
        with self.lock:
            folder = self.scratch / f"{os.getpid()}-{next(self.scratch_numbers)}"
        folder.mkdir(parents=True)
        try:
            entry = {"key": mutant.key, "file": mutant.file, "line": mutant.line,
                     "operator": mutant.edit.operator, "diff": mutant.diff,
                     **self._verdicts(mutant, folder)}
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        with self.lock:
            with open(self.results, "a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")
            self.known[mutant.key] = entry
        return report.line(entry)

    def _verdicts(self, mutant, folder):
        number = self.numbers.get(mutant.key)
        if number is None and not self._compile_alone(mutant, folder):
            return {"compiles": False}
        entry = {"compiles": True}
        for net, judge in zip(NETS, (self._by_unit_tests, self._by_simulator)):
            entry[net] = self._known(mutant, net) or {
                **judge(mutant, number, folder), "by": self.by[mutant.file][net]}
        return entry

    def _compile_alone(self, mutant, folder):
        source = folder / pathlib.Path(mutant.file).name
        source.write_text(mutant.mutated, encoding="utf-8")
        return not self.shop.compile(mutant.file, source, folder / "mutant.o")

    def _by_unit_tests(self, mutant, number, folder):
        verdict = judges.SURVIVED
        for program in self.judged_by[mutant.file]:
            verdict = self._ask(self.units[program], program, mutant, number, folder)
            if verdict["verdict"] in judges.NOTICED:
                break
        return verdict

    def _by_simulator(self, mutant, number, folder):
        return self._ask(self.simulator, judges.SIMULATOR, mutant, number, folder)

    def _ask(self, net, program, mutant, number, folder):
        if number is not None:
            return net.judge(number, folder / "tmp")
        alone = folder / program
        self.shop.link(program, {mutant.file: folder / "mutant.o"}, alone)
        return net.judge_alone(alone, folder / "tmp")


def options(words):
    parser = argparse.ArgumentParser(prog="./dev mutants", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*", metavar="FILE",
                        help="only of these sources; front-door: of those of a front door")
    parser.add_argument("--list", action="store_true", help="show them, judge none")
    parser.add_argument("--sample", type=int, metavar="N",
                        help="so many, evenly of all files; a larger N goes on from a smaller one")
    parser.add_argument("--seed", type=int, default=1, help="another sample (1)")
    parser.add_argument("--seeds", type=int, default=SEEDS,
                        help=f"of the simulator, that are looked at for whom they meet ({SEEDS})")
    parser.add_argument("--most", type=int, default=MOST,
                        help=f"of those that meet a mutant, so many judge it ({MOST})")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(),
                        help="so many mutants at a time (as many as there are cores)")
    parser.add_argument("--survivors", action="store_true",
                        help="what was measured so far, as the tables of docs/proof.md")
    return parser.parse_intermixed_args(words)


def judge(given, by_file, chosen):
    shop = Workshop(ROOT, given.build)
    files = sorted({mutant.file for mutant in chosen})
    programs = {program for file in by_file for program in judges.unit_tests(file)}
    shop.make({judges.SIMULATOR, "redlock_mutants_listener", *programs})
    run = Run(shop, given.build / "mutants" / "results.jsonl")
    run.prepare(by_file, files, given.seeds, given.most, given.jobs)
    run.judge_all(chosen, given.jobs)
    entries = [run.known[mutant.key] for mutant in chosen]
    print(f"\n{report.scores(entries)}\n{report.told_survivors(entries)}")
    return 0 if report.is_enough(entries, report.read_reasons()) else 1


def main():
    given = options(sys.argv[1:])
    given.build = given.build.resolve()
    files = [str(pathlib.Path(file)) for file in given.files] or FILES
    if files == ["front-door"]:
        files = FRONT_DOOR
    unknown = [file for file in files if not (ROOT / file).is_file() or not file.endswith(".cpp")]
    if unknown:
        sys.exit(f"mutants: no source of this repository: {', '.join(unknown)}")
    by_file = all_mutants(files)
    count = sum(map(len, by_file.values()))
    chosen = deal(by_file, given.sample or count, given.seed)
    if given.list:
        for mutant in sorted(chosen, key=lambda one: (one.file, one.edit.at)):
            print(mutant)
        print(f"{len(chosen)} mutants")
        return 0
    if given.survivors:
        known = report.read(given.build / "mutants" / "results.jsonl")
        entries = [known[mutant.key] for mutant in chosen if mutant.key in known]
        print(f"{report.scores(entries)}\n{report.table_of_survivors(entries)}")
        return 0
    return judge(given, by_file, chosen)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as trouble:
        sys.exit(f"mutants: {trouble}")
