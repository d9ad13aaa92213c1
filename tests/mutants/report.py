"""What mutants came to: the score of each net, and who survived both."""

import json
import pathlib

import judges

# Of what compiles, so much must be noticed by one of the nets or have a reason why nobody can: some
# edits change nothing, and no test will ever notice them. The rest is room for survivors that are
# new with a change of the code, until somebody has looked at them.
ENOUGH = 0.95

# A survivor's file and diff, and below it, further in, the reason why no test has to notice it.
REASONS = pathlib.Path(__file__).resolve().parent / "survivors.txt"


def read(results):
    """{key: its last entry}."""
    known = {}
    if results.exists():
        for line in results.read_text(encoding="utf-8").splitlines():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                continue  # the last line of a run that was ended
            known[entry["key"]] = entry
    return known


def is_noticed(entry, net):
    return entry[net]["verdict"] in judges.NOTICED


def survives(entry):
    return not is_noticed(entry, "unit") and not is_noticed(entry, "simulator")


def that_compile(entries):
    return [entry for entry in entries if entry["compiles"]]


def is_explained(entry, reasons):
    return survives(entry) and (entry["file"], entry["diff"]) in reasons


def is_enough(entries, reasons):
    counted = that_compile(entries)
    missed = [entry for entry in counted if survives(entry) and not is_explained(entry, reasons)]
    return bool(counted) and len(missed) <= (1 - ENOUGH) * len(counted)


def line(entry):
    """Of one mutant, when it is judged."""
    if not entry["compiles"]:
        told = "does not compile"
    else:
        told = ", ".join(f"{net}: {entry[net]['verdict']} {entry[net]['what']}".rstrip()
                         for net in ("unit", "simulator"))
    return f"{entry['file']}:{entry['line']}: {entry['operator']}: {entry['diff']}\n    {told}"


# --- tables


def _row(name, entries, reasons):
    counted = that_compile(entries)

    def share(noticed):
        return f"{noticed} ({100 * noticed / len(counted):.0f} %)" if counted else "0"

    cells = [name, len(counted),
             share(sum(is_noticed(entry, "unit") for entry in counted)),
             share(sum(is_noticed(entry, "simulator") for entry in counted)),
             share(sum(not survives(entry) for entry in counted)),
             sum(is_explained(entry, reasons) for entry in counted),
             sum(entry["simulator"]["verdict"] == "unchanged" for entry in counted)]
    return f"| {' | '.join(map(str, cells))} |\n"


def scores(entries):
    reasons = read_reasons()
    head = ("| file | mutants | unit tests | simulator | together | survives with a reason |"
            " same hash |\n| --- | --- | --- | --- | --- | --- | --- |\n")
    files = sorted({entry["file"] for entry in entries})
    rows = [_row(file, [entry for entry in entries if entry["file"] == file], reasons)
            for file in files]
    return head + "".join(rows) + _row("all", entries, reasons)


def survivors_of(entries):
    found = [entry for entry in that_compile(entries) if survives(entry)]
    return sorted(found, key=lambda entry: (entry["file"], entry["line"], entry["diff"]))


def told_survivors(entries):
    reasons = read_reasons()
    lines = []
    for entry in survivors_of(entries):
        reason = reasons.get((entry["file"], entry["diff"]), "no reason yet")
        lines.append(f"survives: {entry['file']}:{entry['line']}: {entry['operator']}: "
                     f"{entry['diff']}\n    {reason}")
    return "\n".join(lines)


def table_of_survivors(entries):
    reasons = read_reasons()
    rows = ["| survivor | edit | hash | reason |\n| --- | --- | --- | --- |\n"]
    for entry in survivors_of(entries):
        reason = reasons.get((entry["file"], entry["diff"]), "no reason yet")
        edit = entry["diff"].replace("|", "\\|")
        where = f"{entry['file']}:{entry['line']}"
        rows.append(f"| {where} | `{edit}` | {entry['simulator']['verdict']} | {reason} |\n")
    return "".join(rows)


def read_reasons():
    """{(file, diff): reason}; a diff as it is printed, with no line number that would wander."""
    reasons, last = {}, None
    for text in REASONS.read_text(encoding="utf-8").splitlines():
        if text.startswith("  ") and last:
            reasons[last] = f"{reasons[last]} {text.strip()}".strip()
        elif ": - " in text and not text.startswith("#"):
            file, _, diff = text.partition(": ")
            last = (file, diff)
            reasons[last] = ""
    return reasons
