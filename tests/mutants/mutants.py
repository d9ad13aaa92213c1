"""Mechanical mutation of what decides safety: mutants.py BUILD [FILE…]   (./dev mutants)

Each mutant is one small edit of one source (mutate.py tells which there are). It is compiled,
linked into the unit tests of its room and into the simulator, and judged by each apart. One that
does not compile does not count. Results go to BUILD/mutants/results.jsonl; a run goes on where the
last one was: what is the same, and was judged by the same, is not judged again.

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

# What decides safety: the sources that the rules of docs/safety.md name as their code. Headers are
# left out (fence.h, validity.h, witnesses.h): what they define inline stands in dozens of objects,
# so one compile would break it in one of them and leave it whole in the rest.
FILES = ("server/recovery/recovery.cpp", "server/recovery/ledger.cpp",
         "server/recovery/ledger_keeper.cpp", "server/locks/latest_deadline.cpp",
         "server/locks/fence.cpp", "server/grants/grants.cpp", "server/grants/coverage.cpp",
         "server/commands/quorum.cpp", "coordinator/quorum/acquisition.cpp",
         "coordinator/quorum/extension.cpp", "coordinator/quorum/release.cpp",
         "coordinator/quorum/admission.cpp", "coordinator/quorum/ballot.cpp",
         "coordinator/quorum/tally.cpp", "coordinator/group/group.cpp",
         "coordinator/group/operation.cpp", "coordinator/group/keeper.cpp")

NETS = ("unit", "simulator")
SEEDS = 1000  # of the simulator, for each mutant that it does not notice before


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

    def __init__(self, shop, results, seeds):
        self.shop, self.results, self.seeds = shop, results, seeds
        self.scratch = shop.build / "mutants"
        self.lock = threading.Lock()
        self.numbers = itertools.count()
        self.units = {}
        self.simulator = None
        self.judged_by, self.by = {}, {}  # of each file
        self.known = report.read(results)
        self._clean()

    def _clean(self):
        """What runs that were killed have left."""
        for folder in self.scratch.glob("*-*"):
            if not pathlib.Path("/proc", folder.name.partition("-")[0]).exists():
                shutil.rmtree(folder)

    def prepare(self, files):
        """Builds what judges, and looks whether it passes without a mutant."""
        self.judged_by = {file: [program for program in judges.unit_tests(file)
                                 if self.shop.has(program, file)] for file in files}
        programs = {program for chosen in self.judged_by.values() for program in chosen}
        for program in sorted(programs):
            self.units[program] = judges.UnitTests(self.shop.build / program, self.scratch / "tmp")
        self.simulator = judges.Simulator(self.shop.build / judges.SIMULATOR, self.scratch / "tmp",
                                          self.seeds)

    def judge_all(self, mutants, jobs):
        files = {mutant.file for mutant in mutants}
        self.by = {file: self._judges_of(file) for file in files}
        pending = [mutant for mutant in mutants if not self._is_judged(mutant)]
        print(f"{len(mutants)} mutants, {len(mutants) - len(pending)} of them judged before",
              flush=True)
        pool = ThreadPoolExecutor(jobs)
        try:
            for done in pool.map(self._judge_one, pending):
                print(done, flush=True)
        finally:
            pool.shutdown(cancel_futures=True)  # Ctrl-C waits for those in hand alone

    def _judges_of(self, file):
        """What each net's verdict depends on, besides the mutant itself."""
        unit = [self.shop.build / program for program in self.judged_by[file]]
        simulator = self.shop.build / judges.SIMULATOR
        return {"unit": judges.fingerprint(*unit),
                "simulator": judges.fingerprint(simulator, self.simulator.commands)}

    def _is_judged(self, mutant):
        known = self.known.get(mutant.key, {"compiles": True})
        return not known["compiles"] or all(self._known(mutant, net) for net in NETS)

    def _known(self, mutant, net):
        """This net's verdict, if the same programs gave it."""
        verdict = self.known.get(mutant.key, {}).get(net, {})
        return verdict if verdict.get("by") == self.by[mutant.file][net] else None

    def _judge_one(self, mutant):
        with self.lock:
            folder = self.scratch / f"{os.getpid()}-{next(self.numbers)}"
        folder.mkdir(parents=True)
        try:
            entry = {"key": mutant.key, "file": mutant.file, "line": mutant.line,
                     "operator": mutant.edit.operator, "diff": mutant.diff,
                     **self._verdicts(mutant, folder)}
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        with self.lock, open(self.results, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
            self.known[mutant.key] = entry
        return report.line(entry)

    def _verdicts(self, mutant, folder):
        source = folder / pathlib.Path(mutant.file).name
        source.write_text(mutant.mutated, encoding="utf-8")
        made = folder / "mutant.o"
        if not self.shop.compile(mutant.file, source, made):
            return {"compiles": False}
        entry = {"compiles": True}
        for net, judge in zip(NETS, (self._by_unit_tests, self._by_simulator)):
            entry[net] = self._known(mutant, net) or {
                **judge(mutant.file, made, folder), "by": self.by[mutant.file][net]}
        return entry

    def _by_unit_tests(self, file, made, folder):
        found = {"verdict": "unchanged", "what": ""}
        for program in self.judged_by[file]:
            self.shop.link(program, file, made, folder / program)
            found = self.units[program].judge(folder / program, folder / "tmp")
            if found["verdict"] in judges.NOTICED:
                break
        return found

    def _by_simulator(self, file, made, folder):
        self.shop.link(judges.SIMULATOR, file, made, folder / judges.SIMULATOR)
        return self.simulator.judge(folder / judges.SIMULATOR, folder / "tmp")


def options(words):
    parser = argparse.ArgumentParser(prog="./dev mutants", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*", metavar="FILE", help="only of these sources")
    parser.add_argument("--list", action="store_true", help="show them, judge none")
    parser.add_argument("--sample", type=int, metavar="N",
                        help="so many, evenly of all files; a larger N goes on from a smaller one")
    parser.add_argument("--seed", type=int, default=1, help="another sample (1)")
    parser.add_argument("--seeds", type=int, default=SEEDS,
                        help=f"of the simulator, for each mutant ({SEEDS})")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(),
                        help="so many mutants at a time (as many as there are cores)")
    parser.add_argument("--survivors", action="store_true",
                        help="what was measured so far, as the tables of docs/proof.md")
    return parser.parse_intermixed_args(words)


def judge(given, chosen):
    shop = Workshop(ROOT, given.build)
    files = sorted({mutant.file for mutant in chosen})
    shop.make({judges.SIMULATOR, *(program for file in files
                                   for program in judges.unit_tests(file))})
    run = Run(shop, given.build / "mutants" / "results.jsonl", given.seeds)
    run.prepare(files)
    run.judge_all(chosen, given.jobs)
    entries = [run.known[mutant.key] for mutant in chosen]
    print(f"\n{report.scores(entries)}\n{report.told_survivors(entries)}")
    return 0 if report.is_enough(entries, report.read_reasons()) else 1


def main():
    given = options(sys.argv[1:])
    given.build = given.build.resolve()
    files = [str(pathlib.Path(file)) for file in given.files] or FILES
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
    return judge(given, chosen)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as trouble:
        sys.exit(f"mutants: {trouble}")
