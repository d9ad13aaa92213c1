"""Compiles sources anew and links them in place of those that a program of the build has.

Flags come from build/compile_commands.json, link lines from ninja. The objects stand on that line
before the libraries, whose members of the same content are then never asked for. The linker's trace
shows which it took, and a link that took both or neither is refused.
"""

import json
import pathlib
import re
import shlex
import subprocess

import switched

HERE = pathlib.Path(__file__).resolve().parent


class Refused(Exception):
    """The tool itself is at fault, not a mutant."""


class Workshop:
    def __init__(self, root, build):
        self.root = pathlib.Path(root).resolve()
        self.build = pathlib.Path(build).resolve()
        commands = json.loads((self.build / "compile_commands.json").read_text(encoding="utf-8"))
        self._commands = {entry["file"]: entry for entry in commands}
        self._links = {}    # program: its link line
        self._members = {}  # program: (archive, member) of what it has from our libraries

    def make(self, programs):
        subprocess.run(["cmake", "--build", self.build, "--target", *programs], check=True,
                       stdout=subprocess.DEVNULL)

    def object_of(self, file):
        """The object that the build makes of a source."""
        entry = self._commands[str(self.root / file)]
        words = shlex.split(entry["command"])
        return pathlib.Path(entry["directory"]) / words[words.index("-o") + 1]

    def compile(self, file, source, target, *options):
        """What the compiler complains of; empty: it compiles. A mutant may leave a name unused: no
        warnings."""
        entry = self._commands[str(self.root / file)]
        command = shlex.split(entry["command"])
        command[command.index("-o") + 1] = str(target)
        command[command.index("-c") + 1] = str(source)
        ended = subprocess.run([*command, "-w", *options], cwd=entry["directory"], check=False,
                               capture_output=True, text=True)
        return "" if ended.returncode == 0 else ended.stderr or "it does not compile"

    def compile_switched(self, file, numbered, folder):
        """(object, numbers) of a source that has these mutants in it, as many as can be."""
        source = folder / file
        source.parent.mkdir(parents=True, exist_ok=True)
        target, known = source.with_suffix(".o"), source.with_suffix(".alone")
        alone = set(known.read_text(encoding="utf-8").split("\n") if known.exists() else [])
        numbered = [(number, mutant) for number, mutant in numbered if mutant.key not in alone]
        text = (self.root / file).read_text(encoding="utf-8")
        while True:
            source.write_text(switched.with_switches(text, numbered), encoding="utf-8")
            errors = self.compile(file, source, target, "-include", str(HERE / "switches.h"),
                                  "-Wno-narrowing", "-fmax-errors=0")
            if not errors:
                known.write_text("\n".join(sorted(alone)), encoding="utf-8")
                return target, {number for number, _ in numbered}
            lines = {int(line) for line in re.findall(rf"{re.escape(str(source))}:(\d+)", errors)}
            blamed = switched.blamed(numbered, lines)
            if not blamed:
                raise Refused(f"{file} does not compile with switches: {errors[:2000]}")
            alone |= {mutant.key for number, mutant in numbered if number in blamed}
            numbered = [(number, mutant) for number, mutant in numbered if number not in blamed]

    def has(self, program, file):
        """Whether the program runs code of that file at all."""
        return self._member(file) in self._members_of(program)

    def link(self, program, objects, target, *besides):
        """objects: {file: object in its place}. REQUIRES: has(program, file) for each."""
        taken = self._link(program, [*map(str, objects.values()), *map(str, besides)], target)
        for file in objects:
            if self._member(file) in taken:
                raise Refused(f"{program} took the {file} that ships")

    # --- link lines

    def _line(self, program):
        if program not in self._links:
            told = subprocess.run(["ninja", "-C", self.build, "-t", "commands", program],
                                  capture_output=True, text=True, check=True).stdout
            words = shlex.split(told.splitlines()[-1])
            begin, end = words.index("&&") + 1, len(words) - 1 - words[::-1].index("&&")
            self._links[program] = words[begin:end]
        return list(self._links[program])

    def _link(self, program, objects, target):
        """The members of our libraries that the linker took."""
        words = self._line(program)
        at = words.index("-o")
        command = [*words[:at], *objects, "-o", str(target), *words[at + 2:], "-Wl,-t,-t"]
        ended = subprocess.run(command, cwd=self.build, check=False, capture_output=True, text=True)
        if ended.returncode != 0:
            raise Refused(f"{program} does not link: {ended.stderr[-2000:]}")
        return set(re.findall(r"^\((.*?)\)(.*)$", ended.stdout, re.M))

    def _members_of(self, program):
        if program not in self._members:
            scratch = self.build / "mutants" / f"whole-{program}"
            scratch.parent.mkdir(parents=True, exist_ok=True)
            self._members[program] = self._link(program, [], scratch)
            scratch.unlink()
        return self._members[program]

    def _member(self, file):
        """(archive, member) of what ships, as the linker tells it: by CMake's names of objects."""
        entry = self._commands[str(self.root / file)]
        words = shlex.split(entry["command"])
        made = pathlib.Path(words[words.index("-o") + 1])
        library = made.parent.parts[made.parent.parts.index("CMakeFiles") + 1].removesuffix(".dir")
        folder = pathlib.Path(*made.parts[:made.parts.index("CMakeFiles")])
        return str(folder / f"lib{library}.a"), made.name
