"""A prober beside a server, and how long the turns of the server's loop are."""

import json
import struct
import subprocess
import tempfile

from load import encoded_size
from servers import BUILD, fail

COMMAND = ["SET", "probe:0123456789", "v" * 40, "PX", "30000"]
SIZE = encoded_size(COMMAND)
REPLY = r"+OK\r\n"


class TurnWatch:
    """The file that libturn_watch.so writes: see turn_watch.cpp."""

    def __init__(self):
        self.file = tempfile.NamedTemporaryFile(prefix="redlock-turns.")
        self.environment = {"LD_PRELOAD": str(BUILD / "libturn_watch.so"),
                            "TURN_WATCH": self.file.name}

    NUMBERS = struct.Struct("4Q")

    def begin(self):
        with open(self.file.name, "r+b") as turns:
            turns.write(bytes(self.NUMBERS.size))

    def longest_ms(self):
        with open(self.file.name, "rb") as turns:
            longest, count, _total, without_ticks = self.NUMBERS.unpack(
                turns.read(self.NUMBERS.size))
        if count == 0:
            fail("libturn_watch.so saw no turn of the server's loop")
        self.knows_pauses = without_ticks == 0
        return longest / 1e6


class Prober:
    """One client at pipeline 1, for as long as the `with` lasts; then .p999_ms and .max_ms."""

    def __init__(self, port, core):
        self.command = ["taskset", "-c", str(core), str(BUILD / "prober"), "--port", str(port),
                        "--", *COMMAND]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return self

    def __exit__(self, kind, *_):
        said, complaint = self.process.communicate()  # closes its input: it tells, and ends
        if kind is not None:
            return
        if self.process.returncode != 0:
            fail(complaint.strip())
        told = json.loads(said)
        self.answers, self.alone = told["answers"], told["alone"]
        self.p999_ms, self.max_ms = told["p999_ns"] / 1e6, told["max_ns"] / 1e6
        self.pause_ms = told["pause_ns_max"] / 1e6
