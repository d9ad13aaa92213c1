"""The shell examples of the documents, as they stand there.

    for block in blocks():
        print(block.document, block.first, block.commands)

In Markdown an example is a fenced block of the language `console` ("$ command", and what it
printed) or `sh` (a script). In the manual pages it is what stands in a literal display, or in a
line of its own that begins with "$"; a display without a "$" is a script.

Whoever runs them does so in namespaces of its own (enter_namespaces), where each port and address
is free, and compares what came with what is shown (missing).
"""

import dataclasses
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]

# What other blocks of Markdown are: pictures, transcripts of Redis, code that other tests compile.
OTHER_LANGUAGES = {"", "c", "cmake", "cpp", "go", "java", "js", "jsonl", "python", "sql"}


@dataclasses.dataclass
class Block:
    document: str  # "README.md", "docs/man/redlock.1"
    lines: list
    is_script: bool

    @property
    def first(self):
        """The first line, which names it, without the prompt and a comment."""
        return re.sub(r"^[$#] |\s+# .*$", "", self.lines[0])

    @property
    def commands(self):
        """(command, what is typed into it, what it printed) for each prompt."""
        found = []
        for line in self.lines:
            if line.startswith("$ "):
                found.append(([line[2:]], [], []))
            elif found[-1][0][-1].endswith("\\"):
                found[-1][0].append(line)
            elif typed := re.match(r"127\.0\.0\.1:6379> (.*)", line):
                found[-1][1].append(typed[1])
            else:
                found[-1][2].append(line)
        return [("\n".join(command), typed, printed) for command, typed, printed in found]

    @property
    def script(self):
        if self.is_script:
            return "\n".join(self.lines)
        return "\n".join(command for command, _, _ in self.commands)


def of_markdown(name, text):
    for language, body in re.findall(r"^```(\S*)\n(.*?)^```$", text, re.M | re.S):
        if language in ("console", "sh"):
            yield Block(name, body.splitlines(), language == "sh")
        elif language not in OTHER_LANGUAGES:
            raise AssertionError(f"{name}: what is a block of the language '{language}'?")


def of_manual_page(name, text):
    text = text.replace(r"\(dq", '"').replace(r"\&", "").replace(r"\-", "-")
    for line, body in re.findall(r"^\.Dl (\$ .*)$|^\.Bd -literal.*\n((?:.*\n)*?)\.Ed$", text, re.M):
        lines = [line] if line else body.splitlines()
        yield Block(name, lines, not any(line.startswith(("$ ", "# ")) for line in lines))


def blocks():
    for path in sorted([ROOT / "README.md", *ROOT.glob("docs/*.md")]):
        yield from of_markdown(str(path.relative_to(ROOT)), path.read_text())
    for path in sorted(ROOT.glob("docs/man/*.1")):
        yield from of_manual_page(str(path.relative_to(ROOT)), path.read_text())


def enter_namespaces():
    """Begins the program anew in namespaces, made without root, which end all processes with it."""
    if os.environ.pop("REDLOCK_EXAMPLES_INSIDE", None) is not None:
        return
    inside = ["unshare", "--user", "--map-root-user", "--net", "--mount", "--pid", "--fork",
              "--kill-child", "--mount-proc"]
    if subprocess.run([*inside, "ip", "link", "set", "lo", "up"], check=False).returncode != 0:
        print("skipped: no namespaces here")
        sys.exit(77)
    os.environ["REDLOCK_EXAMPLES_INSIDE"] = "1"
    os.execvp(inside[0], [*inside, sys.executable, *sys.argv])


def alike(line):
    """A line without what is another in each run: numbers, values, ids, dates, who answered."""
    line = re.sub(r"^\d+:M .*?\d\d\.\d{3} ", "", line)
    line = re.sub(r"^  127\.0\.0\.1:\d+  .*", "  NODE", line)
    line = re.sub(r"[\w.-]+@[\w-]+:\d+ [\w-]+", "LABEL", line)
    line = re.sub(r"(?<![\w-])(?=\S*[A-Z0-9])[\w-]{24}(?!\S)|\b[0-9a-f]{40}\b", "VALUE", line)
    line = re.sub(r"\d+(\.\d+)?", "N", line)
    return re.sub(r"\s+", " ", line).strip()


def missing(shown, output):
    """The lines that a document shows and that did not come."""
    came = [alike(line) for line in output.splitlines()]
    for line in shown:
        if alike(line) in came:
            came.remove(alike(line))
        else:
            yield line
