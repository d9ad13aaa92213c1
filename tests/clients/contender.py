"""One user of a lock library: a driver, which is a small program in the library's own language.

    alice = Contender("alice", program, log)
    alice.ask("open", "127.0.0.1:7001")          # Answer yes; its text: the words that it knows
    alice.ask("acquire", "printer", 10_000, 0)   # yes, no, or error
    alice.start("acquire", "printer", 10_000, 5_000)
    alice.answer()                               # of what was started
    alice.end()

A driver reads lines of words and answers each with one line, so that any language can do it:

    open HOST:PORT...            connects; yes, and the words that it knows beyond open
    acquire NAME TTL_MS WAIT_MS  tries, and goes on for WAIT_MS; no: another holds it
    extend NAME TTL_MS           from now on; no: it is not this holder's any more
    release NAME                 no: it was not this holder's any more
    WORD                         a feature of the library, used as its users use it: yes

    = yes|no|error TOOK_MS [TEXT]

TOOK_MS is measured by the driver around the library's own call. An error is what the library
threw: its class and its text. Lines without the equals sign are the library's own and are logged.
"""

import os
import pathlib
import select
import subprocess
import time
from dataclasses import dataclass, field

# Far longer than any library tries by its defaults, so that only a defect reaches it.
PATIENCE_S = 60


class DriverError(Exception):
    """The driver broke the protocol, died or hung: a defect of ours, never of a library."""


@dataclass(frozen=True)
class Answer:
    word: str
    took_ms: float = 0.0
    text: str = ""

    @property
    def yes(self):
        return self.word == "yes"

    def __str__(self):
        return f"{self.word} {self.text}".strip()


def parse(line):
    """An Answer from a driver's line without its mark."""
    word, took, *text = line.split(" ", 2)
    if word not in ("yes", "no", "error"):
        raise DriverError(f"no answer: {line!r}")
    return Answer(word, float(took), text[0] if text else "")


@dataclass(frozen=True)
class Program:
    """How a driver is started."""
    command: tuple
    environment: dict = field(default_factory=dict)


class Contender:
    def __init__(self, name, program, log_path, environment=None):
        """environment: on top of the program's, such as CLIENT_TLS_CA, CLIENT_TLS_CERT and
        CLIENT_TLS_KEY, files for a driver whose nodes speak TLS, and CLIENT_USER and
        CLIENT_PASSWORD, where they know its user by those and not by its certificate."""
        self.name = name
        self.log_path = pathlib.Path(log_path)
        self.words = []
        self.asked = ()
        self.asked_at = None
        self.log = open(self.log_path, "ab")
        self.process = subprocess.Popen(
            [str(word) for word in program.command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.log, bufsize=0,
            env={**os.environ, **program.environment, **(environment or {})})
        self.unread = b""

    def open(self, addresses):
        answer = self.ask("open", *addresses)
        self.words = answer.text.split() if answer.yes else []
        return answer

    def ask(self, *words, limit_s=PATIENCE_S):
        self.start(*words)
        return self.answer(limit_s)

    def start(self, *words):
        self.asked = words
        self.asked_at = time.monotonic()  # before the driver knows of it
        try:
            self.process.stdin.write((" ".join(str(word) for word in words) + "\n").encode())
        except BrokenPipeError:
            raise self._ended() from None

    def answer(self, limit_s=PATIENCE_S):
        end = time.monotonic() + limit_s
        while True:
            line = self._line(end)
            if line.startswith("= "):
                return parse(line[2:])
            self.log.write(line.encode() + b"\n")
            self.log.flush()

    def _line(self, end):
        while b"\n" not in self.unread:
            left_s = max(end - time.monotonic(), 0)
            if not select.select([self.process.stdout], [], [], left_s)[0]:
                raise DriverError(
                    f"{self.name} did not answer {self.asked[0]}: {self._last_words()}")
            data = self.process.stdout.read(1 << 16)
            if not data:
                raise self._ended()
            self.unread += data
        line, self.unread = self.unread.split(b"\n", 1)
        return line.decode(errors="replace").rstrip("\r")

    def _ended(self):
        self.process.wait(PATIENCE_S)
        return DriverError(f"{self.name} ended ({self.process.returncode}): {self._last_words()}")

    def _last_words(self):
        return " / ".join(self.log_path.read_text(errors="replace").splitlines()[-5:])

    def end(self):
        """Closes its standard input, at which a driver exits; kills it when it does not."""
        try:
            self.process.stdin.close()
            self.process.wait(2)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.log.close()
