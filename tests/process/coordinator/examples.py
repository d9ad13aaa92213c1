"""The shell examples of the documents, as they stand there.

    for block in blocks():
        print(block.document, block.first, block.commands)

In Markdown an example is a fenced block of the language `console` ("$ command", and what it
printed) or `sh` (a script). In the manual pages it is what stands in a literal display, or in a
line of its own that begins with "$"; a display without a "$" is a script.
"""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[3]

# What other blocks of Markdown are: pictures, transcripts of Redis, code that other tests compile.
OTHER_LANGUAGES = {"", "c", "cmake", "cpp", "jsonl", "python", "sql"}


@dataclasses.dataclass
class Block:
    document: str  # "README.md", "docs/man/redlock.1"
    lines: list

    @property
    def is_script(self):
        return not any(line.startswith(("$ ", "# ")) for line in self.lines)

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


def of_markdown(path):
    name, text = str(path.relative_to(ROOT)), path.read_text()
    for language, body in re.findall(r"^```(\S*)\n(.*?)^```$", text, re.M | re.S):
        if language in ("console", "sh"):
            yield Block(name, body.splitlines())
        elif language not in OTHER_LANGUAGES:
            raise AssertionError(f"{name}: what is a block of the language '{language}'?")


def of_manual_page(path):
    name, text = str(path.relative_to(ROOT)), path.read_text()
    text = text.replace(r"\(dq", '"').replace(r"\&", "").replace(r"\-", "-")
    for line, body in re.findall(r"^\.Dl (\$ .*)$|^\.Bd -literal.*\n((?:.*\n)*?)\.Ed$", text, re.M):
        yield Block(name, [line] if line else body.splitlines())


def blocks():
    for path in sorted([ROOT / "README.md", *ROOT.glob("docs/*.md")]):
        yield from of_markdown(path)
    for path in sorted(ROOT.glob("docs/man/*.1")):
        yield from of_manual_page(path)
