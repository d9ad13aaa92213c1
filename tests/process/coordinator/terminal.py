"""A terminal, as a user has one: what a program writes to it, and what is seen of that.

    terminal = Terminal(columns=80)
    job = self.start_redlock("run", "x", "--", "true", **terminal.options())
    terminal.wait_for("held by")     # until the screen shows it
    terminal.type("q")
    print(terminal.screen())         # the lines that are seen, without what was drawn over
"""

import fcntl
import os
import pty
import re
import select
import struct
import termios
import time

ROWS = 50
TOKEN = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|([\r\n\b])|(.)", re.DOTALL)


class Screen:
    """Lines and a cursor; knows as much of a terminal as `redlock` uses, and refuses the rest."""

    def __init__(self, columns):
        self.columns, self.lines, self.row, self.column = columns, [""], 0, 0

    def write(self, text):
        for parameters, command, control, character in TOKEN.findall(text):
            if command:
                self.command(parameters, command)
            elif control == "\r":
                self.column = 0
            elif control == "\n":
                self.move_down()
            elif character:
                self.put(character)

    def move_down(self):
        self.row, self.column = self.row + 1, self.column
        while len(self.lines) <= self.row:
            self.lines.append("")

    def put(self, character):
        if self.column == self.columns:  # it wraps
            self.column = 0
            self.move_down()
        line = self.lines[self.row].ljust(self.column)
        self.lines[self.row] = line[:self.column] + character + line[self.column + 1:]
        self.column += 1

    def command(self, parameters, command):
        if command == "m":  # colours
            return
        if command == "K" and parameters in ("", "0"):
            self.lines[self.row] = self.lines[self.row][:self.column]
        elif command == "H" and not parameters:
            self.row = self.column = 0
        elif command == "J":
            if parameters == "2":
                self.lines = [""] * (self.row + 1)
            self.lines[self.row] = self.lines[self.row][:self.column]
            del self.lines[self.row + 1:]
        else:
            raise AssertionError(f"a terminal is not asked for {parameters}{command} here")


class Terminal:
    def __init__(self, columns=80):
        self.ours, self.theirs = pty.openpty()
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
        self.emulated = Screen(columns)
        self.raw = ""

    def options(self, *streams):
        """For Popen: these of the program's streams lead here (all of them), and it is its own."""
        theirs = self.theirs
        return {**{name: theirs for name in streams or ("stdin", "stdout", "stderr")},
                "start_new_session": True,
                "preexec_fn": lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)}

    def started(self):
        """The program has it: when that ends, nobody has."""
        os.close(self.theirs)
        self.theirs = None

    def read(self, limit_s):
        """What has come within the time; False: nobody is there any more."""
        if not select.select([self.ours], [], [], limit_s)[0]:
            return True
        try:
            block = os.read(self.ours, 65536).decode(errors="replace")
        except OSError:
            return False
        self.raw += block
        self.emulated.write(block)
        return block != ""

    def read_to_the_end(self, limit_s=20):
        end = time.monotonic() + limit_s
        while self.read(0.1):
            if time.monotonic() > end:
                raise AssertionError(f"the program does not end: {self.screen()!r}")
        return self.screen()

    def wait_for(self, pattern, limit_s=20):
        """Until the screen shows it; the match."""
        end = time.monotonic() + limit_s
        while not (found := re.search(pattern, self.screen())):
            if time.monotonic() > end or not self.read(0.1):
                raise AssertionError(f"{pattern!r} is not shown, but {self.screen()!r}")
        return found

    def screen(self):
        return "\n".join(line.rstrip() for line in self.emulated.lines).rstrip("\n")

    def lines(self):
        return self.screen().split("\n")

    def type(self, keys):
        os.write(self.ours, keys.encode())

    def is_as_a_shell_left_it(self):
        """Line by line, and with an echo."""
        modes = termios.tcgetattr(self.ours)[3]
        return bool(modes & termios.ICANON) and bool(modes & termios.ECHO)

    def close(self):
        os.close(self.ours)
        if self.theirs is not None:
            os.close(self.theirs)
