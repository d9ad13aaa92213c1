"""Compiles one source anew and links it in place of the one that a program of the build has.

One compile and one link: flags come from build/compile_commands.json, the link line from ninja. The
object stands on that line before the libraries, whose member of the same content is then never
asked for. The linker's trace shows which it took, and a link that took both or neither is refused.
"""

import json
import pathlib
import re
import shlex
import subprocess


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

    def sources(self):
        return {str(pathlib.Path(file).relative_to(self.root)) for file in self._commands
                if pathlib.Path(file).is_relative_to(self.root)}

    def make(self, programs):
        subprocess.run(["cmake", "--build", self.build, "--target", *programs], check=True,
                       stdout=subprocess.DEVNULL)

    def compile(self, file, source, target):
        """Whether it compiles. A mutant may leave a name unused: no warnings."""
        entry = self._commands[str(self.root / file)]
        command = shlex.split(entry["command"])
        if pathlib.Path(command[0]).name == "ccache":
            command = command[1:]
        command[command.index("-o") + 1] = str(target)
        command[command.index("-c") + 1] = str(source)
        ended = subprocess.run([*command, "-w"], cwd=entry["directory"], check=False,
                               capture_output=True)
        return ended.returncode == 0

    def has(self, program, file):
        """Whether the program runs code of that file at all."""
        return self._member(file) in self._members_of(program)

    def link(self, program, file, mutated, target):
        """REQUIRES: has(program, file)."""
        taken = self._link(program, [str(mutated)], target)
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
            scratch = self.build / "mutants" / "whole"
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
