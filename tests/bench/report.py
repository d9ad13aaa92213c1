"""What ./dev bench says: a table for people, JSON for machines, a page with a picture."""

import html
import json
import os
import platform
import subprocess
import time

COLUMNS = "{:<48}{:>11}{:>11}  {:<9}{:>8}  {:<15}{:>8}{:>8}  {}"


def about(arguments, root):
    """What was measured, on what, when."""
    def first_line(command):
        done = subprocess.run([str(word) for word in command], text=True, capture_output=True,
                              check=False, cwd=root)
        return done.stdout.strip().split("\n")[0]
    cpu = [line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
           if line.startswith("model name")]
    return {"at": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
            "node": first_line([arguments.node, "--version"]), "program": str(arguments.node),
            "redis": first_line([arguments.redis, "--version"]),
            "commit": first_line(["git", "describe", "--always", "--dirty"]),
            "machine": f"{len(cpu)} x {cpu[0] if cpu else platform.machine()}",
            "kernel": platform.release(), "quick": arguments.quick,
            "load_average": os.getloadavg()[0]}


def number(value):
    if value is None:
        return ""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 10 else f"{value:.1f}"


def bound(row, value):
    if value is None:
        return ""
    return ("≥ " if row.wants == "at least" else "≤ ") + f"{value:g}"


def interval(row):
    return f"{row.low:.2f} to {row.high:.2f}" if row.low != row.high else ""


def table(rows, facts):
    lines = [f"{facts['node']}: {facts['program']}", f"benchmark of commit {facts['commit']}",
             facts["redis"],
             f"{facts['machine']}, Linux {facts['kernel']}, {facts['at']}"
             + (", --quick" if facts["quick"] else ""), "",
             COLUMNS.format("what", "ours", "other", "is", "value", "90 %", "floor", "aim",
                            "").rstrip()]
    for row in rows:
        remarks = [row.verdict, "aim reached" if row.passes(row.aim) else "",
                   f"redis {number(row.redis)}" if row.redis is not None else "", row.note,
                   f"bare's own {row.machine:.2f}" if row.machine is not None
                   else f"others used {row.others:.0%}" if row.noisy else ""]
        lines.append(COLUMNS.format(
            f"{row.name} ({row.what})", number(row.ours), number(row.other), row.other_name,
            f"{row.value:.2f}", interval(row), bound(row, row.floor), bound(row, row.aim),
            ", ".join(filter(None, remarks))).rstrip())
    return "\n".join(lines + [""] + conclusion(rows))


def conclusion(rows):
    told = [row for row in rows if row.verdict]
    failed = [row.name for row in told if row.verdict == "FAIL"]
    unsure = [row.name for row in told if row.noisy]
    lines = [f"{sum(bool(row.reaches) for row in told)} of {len(told)} floors hold, "
             f"{sum(bool(row.passes(row.aim)) for row in told)} aims are reached"]
    if failed:
        lines.append("below their floor: " + "; ".join(failed))
    if unsure:
        lines.append("the machine was too noisy to tell: " + "; ".join(unsure))
    return lines


def exit_status(rows):
    verdicts = [row.verdict for row in rows]
    if "FAIL" in verdicts:
        return 1
    return 3 if any("?" in verdict for verdict in verdicts) else 0


def write(rows, facts, folder):
    as_json, as_page = folder / "bench.json", folder / "bench.html"
    as_json.write_text(json.dumps({**facts, "rows": [row.as_json() for row in rows]}, indent=2))
    as_page.write_text(page(rows, facts))
    return [as_json, as_page]


# --- the page: one file, nothing loaded from elsewhere ---

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; color: #1c2430;
       background: #fff; padding: 0 1rem }
p { color: #5a6472; margin: .2rem 0 }
svg { width: 100%; height: auto; font: 13px system-ui, sans-serif }
.name { fill: #1c2430 } .figure { fill: #5a6472 }
.rail { fill: #eef1f5 } .pass { fill: #2f855a } .fail { fill: #c53030 } .unsure { fill: #b7791f }
.floor { stroke: #1c2430; stroke-width: 2 }
.aim { stroke: #1c2430; stroke-width: 1.5; stroke-dasharray: 3 3 }
@media (prefers-color-scheme: dark) {
  body { background: #14181f; color: #e6e9ee } p, .figure { color: #9aa4b2; fill: #9aa4b2 }
  .name { fill: #e6e9ee } .rail { fill: #232a35 } .floor, .aim { stroke: #e6e9ee } }
"""

ROW_HEIGHT, NAME_WIDTH, BAR_WIDTH, PAGE_WIDTH = 34, 300, 420, 990


def page(rows, facts):
    bars = [row for row in rows if row.floor is not None]
    drawn = "\n".join(bar(row, number) for number, row in enumerate(bars))
    height = ROW_HEIGHT * len(bars) + 10
    lines = "".join(f"<p>{html.escape(str(text))}</p>" for text in (
        f"{facts['node']}: {facts['program']}", f"benchmark of commit {facts['commit']}",
        facts["redis"],
        f"{facts['machine']}, Linux {facts['kernel']}, {facts['at']}", *conclusion(rows),
        "A bar is the median, the thin line its 90 % interval; the full stroke is the floor, the "
        "dashed one the aim. Where less is better, the bar must end before the stroke."))
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>redlock bench</title>'
            f"<style>{STYLE}</style><h1>What it costs, and its floors</h1>{lines}"
            f'<svg viewBox="0 0 {PAGE_WIDTH} {height}" role="img">{drawn}</svg></html>')


def bar(row, place):
    """The floor stands at half of the rail in every row: so all can be read at one glance."""
    y = place * ROW_HEIGHT + 6
    def x(value):
        return NAME_WIDTH + BAR_WIDTH * min(value / (2 * row.floor or 1), 1)
    kind = "unsure" if row.noisy else "pass" if row.reaches else "fail"
    def line(name, value):
        return (f'<line class="{name}" x1="{x(value):.1f}" x2="{x(value):.1f}" '
                f'y1="{y - 2}" y2="{y + 22}"/>')
    strokes = line("floor", row.floor) + (line("aim", row.aim) if row.aim is not None else "")
    told = (f"{number(row.value)} ({bound(row, row.floor)}) {row.verdict} · {number(row.ours)}"
            + (f", {row.other_name} {number(row.other)}" if row.other is not None else "")
            + f" {row.what}")
    return (f'<text class="name" x="0" y="{y + 15}">{html.escape(row.name)}</text>'
            f'<rect class="rail" x="{NAME_WIDTH}" y="{y}" width="{BAR_WIDTH}" height="20"/>'
            f'<rect class="{kind}" x="{NAME_WIDTH}" y="{y}" '
            f'width="{x(row.value) - NAME_WIDTH:.1f}" height="20"/>'
            f'<line class="floor" style="stroke-width:1" x1="{x(row.low):.1f}" '
            f'x2="{x(row.high):.1f}" y1="{y + 10}" y2="{y + 10}"/>{strokes}'
            f'<text class="figure" x="{NAME_WIDTH + BAR_WIDTH + 12}" y="{y + 15}">'
            f"{html.escape(told)}</text>")
