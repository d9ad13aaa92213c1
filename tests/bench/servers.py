"""The servers that the benchmarks compare: started on a core of their own, watched, and ended.

    with Server(Program("build/redlock-node"), core=0) as server:
        server.cli("PING")
        server.cpu_ns()

A program is told by its name: redlock-node, bare_server, or else one of Redis's kind.
"""

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "process"))

from ports import reserve_ports  # noqa: E402

BUILD = Path(os.environ.get("REDLOCK_BUILD", ROOT / "build"))

NICE_FIRST = -20

START_S = 10  # a server that does not answer for longer never will


def fail(text):
    sys.exit(f"{Path(sys.argv[0]).name}: {text}")


def progress(text):
    print(f"{Path(sys.argv[0]).name}: {text}", file=sys.stderr, flush=True)


def run(command, **options):
    """A program's output; its failure is ours."""
    done = subprocess.run([str(word) for word in command], text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **options)
    if done.returncode != 0:
        fail(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def two_cores():
    """One for the server, one for whoever asks it."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        fail("it takes two cores: one for the server, one for the benchmark")
    return cores[:2]


class Program:
    """A server program, or the build folder that holds a redlock-node."""

    def __init__(self, name):
        path = Path(name)
        self.path = (path / "redlock-node" if path.is_dir() else path).absolute()
        self.is_node = "redlock-node" in self.path.name
        self.is_bare = self.path.name == "bare_server"
        if not os.access(self.path, os.X_OK):
            fail(f"{self.path} is no program")

    def __str__(self):
        return str(self.path)

    def prepare(self, folder):
        """Options that make it start in `folder`, keep nothing on disk, and grant at once."""
        if not self.is_node:
            return ["--dir", folder, "--save", "", "--appendonly", "no"]
        state = Path(folder) / "state"
        run([self.path, "--bootstrap", "--dir", state])
        return ["--dir", state]


class Process:
    """A server's process, pinned to a core, in a folder of its own; ended by `with`."""

    def __init__(self, program, core, options=(), environment=None):
        self.program, self.core, self.options = program, core, list(options)
        self.environment = {**os.environ, **(environment or {})}

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="redlock-bench.")
        command = [self.program.path, *self.command_options()]
        self.process = subprocess.Popen(
            [str(word) for word in command], cwd=self.folder.name, env=self.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=self.take_core)
        try:
            self.wait_until_it_answers()
        except BaseException:
            self.__exit__()
            raise
        return self

    def take_core(self):
        """Before what else runs there, if it may (root): a neighbour who is let in for 4 ms is no
        pause of the server's."""
        os.sched_setaffinity(0, {self.core})
        try:
            os.setpriority(os.PRIO_PROCESS, 0, NICE_FIRST)
        except PermissionError:
            pass

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()

    def wait_until_it_answers(self):
        deadline = time.monotonic() + START_S
        while not self.answers():
            if time.monotonic() > deadline or self.process.poll() is not None:
                fail(f"{self.program} does not answer")
            time.sleep(0.02)

    @property
    def pid(self):
        return self.process.pid

    def cpu_ns(self):
        """Of all its threads. Exact while it sleeps."""
        total = 0
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
        return total

    def resident_bytes(self):
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) * 1024

    def wakeups(self):
        """How often one of its threads began to run after it had waited."""
        total = 0
        for status in Path(f"/proc/{self.pid}/task").glob("*/status"):
            total += int(re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", status.read_text())[1])
        return total


class Server(Process):
    """One that speaks RESP."""

    def command_options(self):
        self.port = reserve_ports(1)[0]
        return ["--port", self.port, *self.program.prepare(self.folder.name), *self.options]

    def answers(self):
        return self.cli("PING") == "PONG"

    def cli(self, *command):
        return subprocess.run(["redis-cli", "-p", str(self.port), *map(str, command)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=False).stdout.strip()

    def must_serve(self, command):
        """An error costs little: a server that answers one would win."""
        answer = self.cli("-e", *command)
        if re.match(r"[A-Z]{2,} ", answer):
            fail(f"{self.program} answers {command[0]} with: {answer}")


class BareServer(Process):
    """The limit: for each kind of request a port that takes a fixed size and answers a fixed reply.

    services: {kind: (request size, reply)}; .ports: {kind: port}. keeps: whether it keeps what it
    receives, in memory of its own.
    """

    def __init__(self, program, core, services, environment=None, keeps=False):
        super().__init__(program, core, ["--keep"] if keeps else [], environment)
        self.services = services

    def command_options(self):
        self.ports = dict(zip(self.services, reserve_ports(len(self.services))))
        return self.options + [word for kind, (size, reply) in self.services.items()
                               for word in (self.ports[kind], size, reply)]

    def answers(self):
        try:
            for port in self.ports.values():
                socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            return False
        return True
