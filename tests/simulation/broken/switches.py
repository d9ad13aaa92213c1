"""The switches of this folder: lists them, tells the story of one, surveys how soon each is found.

    switches.py BUILD                    the list
    switches.py BUILD NAME               over the seeds of its test; what the simulator tells
    switches.py BUILD --survey [NAME…]   first seed from 1 on, and the median over ten ranges;
                                         writes found: and seeds: of each edit, and the table of
                                         docs/proof.md
"""

import json
import pathlib
import re
import statistics
import subprocess
import sys
import time

import edit

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[2]
PROOF = ROOT / "docs" / "proof.md"

SEEDS_MAX = 100_000  # a switch that is not found in so many is not found
RANGES = 10          # disjoint, of SEEDS_MAX seeds each: the first one counts, and their median
TEST_SEEDS = 1000    # of a test, at most
BEFORE_FIRST = 200   # so many of them stand before the first seed, where it is a late one

TABLE_HEAD = """\
| switch | rule | what goes wrong | options | found as | first seed | median | seconds |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""


def switches(names=()):
    """All of them, or those that are named."""
    found = [edit.Edit(path) for path in sorted(HERE.glob("*.edit"))]
    for name in names:
        if name not in [switch.name for switch in found]:
            sys.exit(f"there is no switch '{name}'; ./dev broken lists them")
    return [switch for switch in found if not names or switch.name in names]


def program(build, switch):
    return build / "broken" / f"redlock-sim-{switch.name}"


def make(build, chosen):
    targets = [f"redlock-sim-{switch.name}" for switch in chosen]
    subprocess.run(["cmake", "--build", build, "--target", *targets], check=True)


# --- list, run ---


def list_all():
    for switch in switches():
        print(f"{switch.name}  ({switch.rule})\n    {switch.wrong}")
        if switch.found:
            print(f"    found: {switch.found}")


def run(build, name):
    switch = switches([name])[0]
    make(build, [switch])
    print(f"\nrule {switch.rule}: {switch.wrong}\n", flush=True)
    command = [program(build, switch), "--seeds", switch.seeds, "--must-find"]
    sys.exit(subprocess.run(command + switch.options.split(), check=False).returncode)


# --- survey ---


def first_failing(build, switch, number):
    """(how many seeds it took, the breach) in the range of that number; None: nothing."""
    begin = 1 + number * SEEDS_MAX
    seeds = f"{begin}..{begin + SEEDS_MAX - 1}"
    command = [program(build, switch), "--seeds", seeds, "--json", *switch.options.split()]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode not in (0, 1):
        sys.exit(f"{switch.name}: {ended.stderr or ended.stdout}")
    result = json.loads(ended.stdout)
    return (result["seed"] - begin + 1, result["breach"]) if "seed" in result else None


def survey_one(build, switch):
    began = time.monotonic()
    first = first_failing(build, switch, 0)
    seconds = time.monotonic() - began
    if first is None:
        return f"nothing in {SEEDS_MAX} seeds, {seconds:.0f} s"
    others = [first_failing(build, switch, number) for number in range(1, RANGES)]
    median = statistics.median(found[0] if found else SEEDS_MAX for found in [first, *others])
    return f"{first[1]}; first seed {first[0]}, median {median:g}, {seconds:.1f} s"


def write_found(switch, found):
    """Into its edit: what was found, and a range around the first seed for the test."""
    text = switch.path.read_text(encoding="utf-8")
    first = re.search(r"first seed (\d+)", found)
    if first:
        begin = max(1, int(first.group(1)) - BEFORE_FIRST)
        text = re.sub(r"^seeds: .*$", f"seeds: {begin}..{begin + TEST_SEEDS - 1}", text, flags=re.M)
    if re.search(r"^found: ", text, re.M):
        text = re.sub(r"^found: .*$", f"found: {found}", text, flags=re.M)
    else:
        text = re.sub(r"^(seeds: .*)$", rf"\1\nfound: {found}", text, flags=re.M)
    switch.path.write_text(text, encoding="utf-8")


def row(switch):
    part = re.match(r"(?P<breach>[\w-]+); first seed (?P<first>\d+)(, median (?P<median>[\d.]+))?"
                    r", (?P<seconds>[\d.]+) s", switch.found)
    if part:
        cells = [part["breach"], part["first"], part["median"] or "not surveyed", part["seconds"]]
    else:
        cells = [switch.found or "not yet", f"twin {switch.twin}", "", ""]
    text = " | ".join([switch.name, switch.rule, switch.wrong, switch.options, *cells])
    return f"| {text} |\n"


def table():
    return TABLE_HEAD + "".join(row(switch) for switch in switches())


def write_table():
    """In the place of the table of docs/proof.md that begins with the same head."""
    text = PROOF.read_text(encoding="utf-8")
    at = text.find(TABLE_HEAD)
    if at < 0:
        sys.exit(f"{PROOF} has no table that begins with: {TABLE_HEAD.splitlines()[0]}")
    end = at
    while text[end:end + 1] == "|":
        end = text.index("\n", end) + 1
    PROOF.write_text(text[:at] + table() + text[end:], encoding="utf-8")


def survey(build, names):
    chosen = switches(names)
    make(build, chosen)
    for switch in chosen:
        found = survey_one(build, switch)
        print(f"{switch.name}: {found}", flush=True)
        write_found(switch, found)
    write_table()


def main():
    match sys.argv[1:]:
        case [_]:
            list_all()
        case [build, "--survey", *names]:
            survey(pathlib.Path(build), names)
        case [build, name]:
            run(pathlib.Path(build), name)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main()
    except edit.Unusable as trouble:
        sys.exit(str(trouble))
