"""Builds a target by clang, and lets libFuzzer search: ./dev fuzz [TARGET] [MINUTES] [OPTION].

Without a target: all, one after the other. MINUTES: of each, 1 without it.
  --keep    takes the smallest set of inputs that reach what was reached into corpus/TARGET
  --broken  with the fault of broken/TARGET.edit, which must be found within a minute
Exit 0: nothing was found (--broken: the fault was), 1 else.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "fuzz"
COMPILER = "clang++-14"

BROKEN_S = 60
INPUT_S = 20          # one input that takes longer hangs
INPUT_BYTES_MAX = 4096
KEPT_MAX = 100        # inputs that --keep takes over: every test run replays them


def targets():
    return sorted(path.stem for path in (HERE / "broken").glob("*.edit"))


def build(program, folder=BUILD):
    if not (BUILD / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", "fuzz"], cwd=ROOT, check=True)
    subprocess.run(["cmake", "--build", BUILD, "--target", program], check=True)
    return folder / program


def search(program, seconds, artifacts, *corpora):
    """libFuzzer's exit code: 0 when nothing was found."""
    command = [program, *corpora, f"-max_total_time={seconds}", f"-timeout={INPUT_S}",
               f"-max_len={INPUT_BYTES_MAX}", f"-artifact_prefix={artifacts}/",
               "-print_final_stats=1"]
    return subprocess.run(list(map(str, command)), check=False).returncode


def fuzz(target, minutes):
    program = build(f"fuzz_{target}")
    found, reached = BUILD / "found" / target, BUILD / "corpus" / target
    for folder in (found, reached):
        folder.mkdir(parents=True, exist_ok=True)
    code = search(program, round(60 * minutes), found, reached, HERE / "corpus" / target)
    if code != 0:
        print(f"fuzz: {target}: see {found}")
    return code == 0


def finds_its_fault(target):
    program = build(f"fuzz_{target}_broken", BUILD / "broken")
    with tempfile.TemporaryDirectory() as folder:
        corpus = shutil.copytree(HERE / "corpus" / target, pathlib.Path(folder) / "corpus")
        code = search(program, BROKEN_S, folder, corpus)
    print(f"fuzz: {target}: the fault was {'found' if code != 0 else 'NOT found'}")
    return code != 0


def keep(target):
    """Inputs of build/ that reach what corpus/TARGET does not, the smallest first."""
    program = build(f"fuzz_{target}")
    corpus = HERE / "corpus" / target
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(corpus, folder, dirs_exist_ok=True)
        before = set(pathlib.Path(folder).iterdir())
        command = [program, "-merge=1", f"-max_len={INPUT_BYTES_MAX}", folder,
                   BUILD / "corpus" / target]
        subprocess.run(list(map(str, command)), check=True)
        new = sorted(set(pathlib.Path(folder).iterdir()) - before,
                     key=lambda path: path.stat().st_size)
        room = max(KEPT_MAX - len(before), 0)
        for path in new[:room]:
            shutil.copy(path, corpus / path.name[:12])
    print(f"fuzz: {target}: {min(len(new), room)} of {len(new)} new inputs kept")
    return True


def main():
    parser = argparse.ArgumentParser(prog="./dev fuzz", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="?", choices=targets())
    parser.add_argument("minutes", nargs="?", type=float, default=1)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--broken", action="store_true")
    given = parser.parse_args()
    if shutil.which(COMPILER) is None:
        print(f"fuzz: skipped, as there is no {COMPILER}: ./dev fuzz installs it")
        return 0
    chosen = [given.target] if given.target else targets()
    if given.broken:
        done = [finds_its_fault(target) for target in chosen]
    elif given.keep:
        done = [keep(target) for target in chosen]
    else:
        done = [fuzz(target, given.minutes) for target in chosen]
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
