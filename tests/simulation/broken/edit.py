"""A switch: an edit that breaks one rule of the shipped sources, on copies, for a test build.

    edit.py ROOT OUT NAME.edit     writes the broken copies of ROOT's sources below OUT

README tells what an edit file looks like. Its lines must stand in the source exactly once: when
the code has changed they do not, and the build fails and says so, instead of building a simulator
whose rules are whole.
"""

import pathlib
import re
import sys
from dataclasses import dataclass, field

FIELDS = ("rule", "wrong", "why", "seeds", "options", "scenarios", "found", "twin")
NEEDED = ("rule", "wrong", "seeds")


class Unusable(Exception):
    """What is the matter with an edit file, and what to do."""


@dataclass
class Replacement:
    line: int  # of the edit file
    old: list = field(default_factory=list)
    new: list = field(default_factory=list)


class Edit:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.name = self.path.stem
        self.fields = {}
        self.files = {}  # source: its replacements, in order
        self._read(self.path.read_text(encoding="utf-8").splitlines())
        self._check()

    def __getattr__(self, name):
        if name in FIELDS:
            return self.fields.get(name, "")
        raise AttributeError(name)

    def _read(self, lines):
        here, open_hunk = None, None
        for number, line in enumerate(lines, 1):
            if line.startswith("file: "):
                here, open_hunk = line.removeprefix("file: "), None
                self.files[here] = []
            elif here is None:
                self._read_field(number, line)
            elif not line:
                open_hunk = None
            elif line[0] in "-+ ":
                if open_hunk is None:
                    open_hunk = Replacement(number)
                    self.files[here].append(open_hunk)
                if line[0] != "+":
                    open_hunk.old.append(line[1:])
                if line[0] != "-":
                    open_hunk.new.append(line[1:])
            else:
                self._refuse(number, "a line of a replacement begins with '-', '+' or a blank")

    def _read_field(self, number, line):
        """`name: text`; what is indented below goes on with it."""
        match = re.match(r"(\w+): *(.*)", line)
        if match:
            if match.group(1) not in FIELDS:
                self._refuse(number, f"'{match.group(1)}' is none of: {', '.join(FIELDS)}")
            self._last = match.group(1)
            self.fields[self._last] = match.group(2)
        elif line.startswith(" ") and self.fields:
            self.fields[self._last] = f"{self.fields[self._last]} {line.strip()}".strip()
        elif line:
            self._refuse(number, "before the first 'file:' come fields, as 'rule: R3'")

    def _check(self):
        for name in NEEDED:
            if not self.fields.get(name):
                self._refuse(1, f"it lacks '{name}:'")
        if not re.fullmatch(r"\d+\.\.\d+", self.seeds):
            self._refuse(1, f"'seeds: {self.seeds}' is no range such as 1..200")
        if not any(self.files.values()):
            self._refuse(1, "it replaces nothing")
        for source in self.files:
            if not source.endswith(".cpp"):
                self._refuse(1, f"{source} is no .cpp: what is inline would be broken in one "
                                "object and whole in the others; break where it is called")

    def _refuse(self, number, why):
        raise Unusable(f"{self.path}:{number}: {why}")

    def apply(self, root, out):
        for source, replacements in self.files.items():
            text = (pathlib.Path(root) / source).read_text(encoding="utf-8")
            for replacement in replacements:
                text = self._replace(source, text, replacement)
            target = pathlib.Path(out) / source
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")

    def _replace(self, source, text, replacement):
        old = "".join(line + "\n" for line in replacement.old)
        new = "".join(line + "\n" for line in replacement.new)
        count = ("\n" + text).count("\n" + old) if old else 0
        if count != 1:
            self._refuse(
                replacement.line,
                f"these lines stand in {source} {count} times, and must stand there exactly once."
                f" The code has changed: find where it keeps rule {self.rule} now, and write the"
                f" lines to replace as they stand there.")
        at = ("\n" + text).index("\n" + old)
        return text[:at] + new + text[at + len(old):]


def main():
    root, out, path = sys.argv[1:]
    try:
        Edit(path).apply(root, out)
    except Unusable as trouble:
        sys.exit(str(trouble))


if __name__ == "__main__":
    main()
