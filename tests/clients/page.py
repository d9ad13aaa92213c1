"""docs/clients.md: its two tables are written by a run, between marks.

A run over some of the libraries replaces their rows and leaves the others. Figures differ from run
to run, so a page is in step when it tells the same but for them.
"""

import re

from library import ROOT

PAGE = ROOT / "docs" / "clients.md"

WORKS = "works"
WORKS_NOT = "works not"

_HEADS = {
    WORKS: ("Library", "What was tried", "Result", "Front door", "One node recovering",
            "What to know"),
    WORKS_NOT: ("Library", "What was tried", "Why", "What its user sees"),
}

# When its user gets an answer that is worth telling, and the figure of how long that took.
OCCASIONS = {"the node down": "one_down_ms", "three nodes down": "three_down_ms"}
AT_ONCE_MS = 100
DOOR_CELL = 3


def mark(table, end=False):
    return f"<!-- {'end of ' if end else ''}table: {table} -->"


def table_of(library):
    return WORKS_NOT if library.unusable else WORKS


def cell(text):
    """On one line, and the table's own bar taken out of it."""
    return re.sub(r"\s+", " ", str(text)).replace("|", "\\|").strip()


def cells_of(line):
    return [part.strip() for part in re.split(r"(?<!\\)\|", line)[1:-1]]


def rows(page, table):
    """{first two cells: the row} of a table of the page."""
    text = page.split(mark(table))[1].split(mark(table, end=True))[0]
    return {tuple(cells_of(line)[:2]): line for line in text.strip().splitlines()[2:]}


def row_key(library):
    return (cell(f"{library.language}: {library.name} {library.version}"), cell(library.tries))


def row(library, result, there):
    """The row that is there tells what came of it over a front door; other runs find that out."""
    if library.unusable:
        told = tell_unusable(library, result)
    else:
        front_door = cells_of(there)[DOOR_CELL] if there else ""
        told = (outcome(result), front_door, recovering(library, result), know(library, result))
    return "| " + " | ".join([*row_key(library), *map(cell, told)]) + " |"


def door_row(there, result):
    """The row that is there, with what came of it over a front door."""
    cells = cells_of(there)
    cells[DOOR_CELL] = cell(door_outcome(result))
    return "| " + " | ".join(cells) + " |"


def door_outcome(result):
    if result["status"] == "does not work":
        return f"no: {result['why']}"
    refused = {name: scene["why"] for name, scene in result["scenarios"].items()
               if scene["status"] == "refused"}
    told = outcome(result) if len(result["scenarios"]) > 1 else "in part"  # a tool takes no locks
    return told + (f"; not: {refused['features']}" if "features" in refused else "")


def tell_unusable(library, result):
    return library.unusable.reason, f"`{plain(result['why'])}`"


def outcome(result):
    told = {}
    for name, scene in result["scenarios"].items():
        told.setdefault(scene["status"], []).append(name)
    failed = told.get("failed", [])
    parts = ["fails: " + ", ".join(failed) if failed else "passes"]
    if "known fault" in told:
        parts[0] += " but for " + ", ".join(told["known fault"])
    if "not offered" in told:
        parts.append("has no: " + ", ".join(told["not offered"]))
    return "; ".join(parts)


def recovering(library, result):
    figures, says = result["figures"], result["says"]
    if "recovering_ms" in figures:
        healthy = figures.get("healthy_ms", 0)
        return f"{figures['recovering_ms']:.1f} ms, with all five {healthy:.1f} ms"
    if "a recovering node" in says:
        return answer(result, "a recovering node")
    return ""


def know(library, result):
    faults = {}
    for name, scene in result["scenarios"].items():
        if scene["status"] == "known fault":
            faults.setdefault(scene["why"], []).append(name)
    said = [library.know, *(f"{', '.join(names)}: {why}" for why, names in faults.items())]
    said += [f"{name}: {why}" for name, why in library.stalls.items()]
    if library.node_flags:
        said.append(f"needs `{' '.join(library.node_flags).removeprefix('--')}`")
    said += [f"{occasion}: {after(result['figures'][figure])} {answer(result, occasion)}"
             for occasion, figure in OCCASIONS.items() if occasion in result["says"]]
    if result["says"].get("releasing a lost lock") == "yes":
        said.append("does not say that a lock which it releases was lost before")
    if library.wakes_within_ms and "woke_ms" in result["figures"]:
        said.append(f"who waits wakes {result['figures']['woke_ms']:.0f} ms after the release")
    return "; ".join(part for part in said if part)


def answer(result, occasion):
    told = result["says"][occasion]
    return "the same answer as when it is held" if told == "no" else f"`{plain(told)}`"


def after(took_ms):
    return "at once" if took_ms < AT_ONCE_MS else f"after {took_ms / 1000:.1f} s"


def plain(text, length_max=160):
    """An answer without what differs from run to run."""
    text = re.sub(r"^error ", "", text)
    text = re.sub(r"(127\.0\.0\.1|localhost|::1)(:|, ?port=?|\]:)\d+", r"\1\2PORT", text)
    text = re.sub(r"\bprinter-\d+", "printer", text)
    text = re.sub(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "VALUE", text)
    text = re.sub(r"\bid: 0x[0-9a-f]+", "id: N", text)
    text = re.sub(r"\('127.0.0.1', \d+\)", "('127.0.0.1', PORT)", text)
    text = re.sub(r"for \d+ ms", "for N ms", text).replace("`", "'")
    return text if len(text) <= length_max else text[:length_max] + "…"


# --- the page ---


def with_table(page, name, lines):
    """The page with these lines as the table of that name."""
    before, rest = page.split(mark(name))
    after = rest.split(mark(name, end=True))[1]
    return f"{before}{mark(name)}\n" + "\n".join(lines) + f"\n{mark(name, end=True)}{after}"


def table_lines(head, *rows):
    return ["| " + " | ".join(map(cell, cells)) + " |"
            for cells in (head, ["---"] * len(head), *rows)]


def with_tables(page, suites):
    """The page with the tables that languages have beside the two of all."""
    for suite in suites:
        for name, rows in getattr(suite, "TABLES", {}).items():
            page = with_table(page, name, table_lines(*rows))
    return page


def updated(page, libraries, results, door=False):
    """The page with the rows of these results, which are those over a front door, or all others;
    rows of libraries that are no more are dropped."""
    for table, head in _HEADS.items():
        there = rows(page, table)
        lines = table_lines(head)
        for library in libraries:
            if table_of(library) != table:
                continue
            result = results.get(library.title)
            line = there.get(row_key(library))
            if result is not None and door:
                line = door_row(line, result)
            elif result is not None:
                line = row(library, result, line)
            if line is not None:
                lines.append(line)
        page = with_table(page, table, lines)
    return page


def told(page, table):
    """What its rows tell, without figures, and without the last cell of what works: what a library
    says of a node that is gone depends on when it notices."""
    lines = [re.sub(r"\d+(\.\d+)? ms", "N ms", line) for line in rows(page, table).values()]
    return [line.rsplit(" | ", 1)[0] if table == WORKS else line for line in lines]


def in_step(page, libraries, results, door=False):
    """The rows of these results that the page tells otherwise; empty when all is well."""
    now = updated(page, libraries, results, door)
    return [line for table in _HEADS for line in told(now, table)
            if line not in told(page, table)]
