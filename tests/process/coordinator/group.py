"""Five lock nodes as real processes, and the `redlock` command over them.

    class Contention(GroupTest):
        def test_the_second_caller_is_told_that_it_is_held(self):
            self.assertEqual(self.redlock("acquire", "printer").returncode, 0)
            self.assertEqual(self.redlock("acquire", "printer").returncode, 75)

A class has one group, which is as it should be before each test: a test that stops or kills nodes
gets them continued, or a new group. Every process is ended by its id when its class ends, also
when a test failed. The programs are those in $REDLOCK_BUILD (build/ of this checkout without it).
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.abspath(__file__ + "/../../.."))
sys.path.append(os.path.join(ROOT, "tests/process"))

from ports import reserve_ports  # noqa: E402

BUILD = os.environ.get("REDLOCK_BUILD") or os.path.join(ROOT, "build")
REDLOCK = os.path.join(BUILD, "redlock")
REDLOCK_NODE = os.path.join(BUILD, "redlock-node")
REDIS = "/usr/bin/redis-check-rdb"  # is the server when it is called redis-server
SANITIZED = bool(os.environ.get("REDLOCK_SANITIZED"))
UNKIND = bool(os.environ.get("REDLOCK_UNKIND"))  # nothing is on time: tests/process/unkind

# What must come sooner or later; a test that has waited so long has failed.
PATIENCE_S = 20
MAX_TTL_MS = 65000
TTL_MS = 30000  # where a lock must not run out while the test goes on: more than PATIENCE_S


def wait_until(condition, what):
    """Returns what `condition` returns as soon as that is true."""
    give_up = time.monotonic() + PATIENCE_S
    while not (result := condition()):
        if time.monotonic() > give_up:
            raise AssertionError(f"waited in vain for {what}")
        time.sleep(0.005)
    return result


# What acquire gives to a shell.
SHELL_VARIABLES = ("REDLOCK_VALUE", "REDLOCK_TOKEN", "REDLOCK_VALIDITY_MS", "REDLOCK_VALID_UNTIL")


def exported(lines):
    """The variables that `export NAME=value` lines set."""
    return dict(line.removeprefix("export ").split("=", 1) for line in lines.splitlines())


def ask(port, *words):
    """The first line of a node's reply to one command; "" if it does not answer."""
    request = f"*{len(words)}\r\n" + "".join(f"${len(w.encode())}\r\n{w}\r\n" for w in words)
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as link:
            link.sendall(request.encode())
            return link.makefile("rb").readline().decode().rstrip("\r\n")
    except OSError:
        return ""


def ask_list(port, *words):
    """The elements of a node's reply, texts and numbers, as texts; [] if it is no list, or none."""
    request = f"*{len(words)}\r\n" + "".join(f"${len(w.encode())}\r\n{w}\r\n" for w in words)
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as link:
            link.sendall(request.encode())
            reply = link.makefile("rb")
            elements = []
            kind = reply.readline()
            for _ in range(int(kind[1:]) if kind[:1] == b"*" else 0):
                head = reply.readline().decode().rstrip("\r\n")
                elements.append(reply.readline().decode().rstrip("\r\n")
                                if head[0] == "$" else head[1:])
            return elements
    except OSError:
        return []


def status_of(port):
    """A node's LOCK.STATUS as a dict of texts; {} if it does not answer."""
    elements = ask_list(port, "LOCK.STATUS")
    return dict(zip(elements[::2], elements[1::2]))


def read_terminal(terminal):
    """What comes from a terminal until nobody has its other end any more; closes it."""
    output = b""
    try:
        while block := os.read(terminal, 4096):
            output += block
    except OSError:  # EIO: that end is closed
        pass
    os.close(terminal)
    return output.decode()


def is_alive(pid):
    """Whether a process runs; one that has ended and is not yet waited for does not.

    One whose first thread alone has ended does: it has others.
    """
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            fields = stat.read().rpartition(")")[2].split()
            return fields[0] not in "ZX" or int(fields[17]) > 1
    except (FileNotFoundError, ProcessLookupError):
        return False


def programs_of(pid):
    """The programs that a process of ours has started, without the guards beside them."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        children = file.read().split()
    programs = []
    for child in children:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            with open(f"/proc/{child}/comm", encoding="ascii", errors="replace") as file:
                if file.read() != "redlock-guard\n":
                    programs.append(int(child))
    return programs


class Node:
    """A lock node, or a redis-server in its place, in a folder of its own."""

    max_ttl_ms = MAX_TTL_MS
    flags = ()  # of its next start

    def __init__(self, folder, port):
        self.folder, self.port, self.process = folder, port, None
        self.log_path = folder + ".log"
        self.url = f"redis://127.0.0.1:{port}"

    @property
    def pid(self):
        return self.process.pid

    def _run(self, *words):
        with open(self.log_path, "ab") as log:
            return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def bootstrap(self):
        if self._run(REDLOCK_NODE, "--bootstrap", "--dir", self.folder).wait(PATIENCE_S) != 0:
            raise AssertionError(self.log())

    def command(self):
        return (REDLOCK_NODE, "--dir", self.folder, "--port", str(self.port),
                "--max-ttl", str(self.max_ttl_ms), *self.flags)

    def start(self):
        self.process = self._run(*self.command())

    def await_begun(self):
        """Until its run is durable: EXISTS is not executed before (rule R9)."""
        wait_until(lambda: self.process.poll() is not None or ask(self.port, "EXISTS", "k") == ":0",
                   "a node's first answer")
        if self.process.poll() is not None:
            raise AssertionError(self.log())

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        """Ends it at once, as a crash does."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            return log.read()


class RedisNode(Node):
    def bootstrap(self):
        os.mkdir(self.folder)
        os.symlink(REDIS, os.path.join(self.folder, "redis-server"))

    def command(self):
        return (os.path.join(self.folder, "redis-server"), "--port", str(self.port),
                "--dir", self.folder, "--save", "", "--bind", "127.0.0.1")


class Group:
    """N nodes that grant."""

    def __init__(self, node_class=Node, count=5):
        self.folder = tempfile.mkdtemp(prefix="redlock-test.")
        self.nodes = [node_class(f"{self.folder}/node-{i}", port)
                      for i, port in enumerate(reserve_ports(count))]
        try:
            for node in self.nodes:
                node.bootstrap()
                node.start()
            for node in self.nodes:
                node.await_begun()
        except BaseException:
            self.close()
            raise

    @property
    def addresses(self):
        return ",".join(node.url for node in self.nodes)

    def is_intact(self):
        return all(node.process.poll() is None for node in self.nodes)

    def signal(self, nodes, number):
        for i in nodes:
            self.nodes[i].signal(number)

    def stop(self, *nodes):
        """Stops nodes as a hung machine does: their ports still accept, nobody answers."""
        self.signal(nodes, signal.SIGSTOP)

    def proceed(self):
        self.signal(range(len(self.nodes)), signal.SIGCONT)

    def kill(self, *nodes):
        for i in nodes:
            self.nodes[i].kill()

    def keys(self, name):
        """What each node says to GET: "$-1" where the lock is free."""
        return [ask(node.port, "GET", name) for node in self.nodes]

    def is_free(self, name):
        return all(reply == "$-1" for reply in self.keys(name))

    def close(self):
        for node in self.nodes:
            node.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class GroupTest(unittest.TestCase):
    """A class's tests over its group."""

    node_class = Node
    group = None

    @classmethod
    def tearDownClass(cls):
        cls.drop_group()

    @classmethod
    def drop_group(cls):
        if cls.group is not None:
            cls.group.close()
        cls.group = None

    def setUp(self):
        if self.group is not None and not self.group.is_intact():
            self.drop_group()
        if self.group is None:
            type(self).group = Group(self.node_class)
        self.addCleanup(self.continue_nodes)
        self.environment = {**os.environ, "REDLOCK_NODES": self.group.addresses}
        for name in SHELL_VARIABLES:
            self.environment.pop(name, None)

    def continue_nodes(self):
        if self.group is not None and self.group.is_intact():
            self.group.proceed()

    # --- the command ---

    def command(self, word, *words):
        """`redlock WORD …`; a TTL within max-ttl where one is taken and none is given."""
        takes_ttl = word in ("run", "acquire", "extend")
        ours = words[:words.index("--")] if "--" in words else words
        ttl = ("--ttl", f"{TTL_MS}ms") if takes_ttl and "--ttl" not in ours else ()
        return (REDLOCK, word, *ttl, *words)

    def redlock(self, word, *words, stdin="", **environment):
        """Runs it to its end."""
        return subprocess.run(self.command(word, *words), input=stdin, capture_output=True,
                              text=True, env={**self.environment, **environment},
                              timeout=PATIENCE_S, check=False)

    def start_redlock(self, word, *words, **options):
        """Starts it in the background; killed at the end of the test if it still runs."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                   "stderr": subprocess.PIPE, "text": True, "env": self.environment, **options}
        process = subprocess.Popen(self.command(word, *words), **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.kill()
        process.communicate()

    def start_job(self, name, script, *options, **start):
        """`redlock run` of a shell script, which has said "ready" on its standard output."""
        job = self.start_redlock("run", *options, name, "--", "sh", "-c", "echo ready; " + script,
                                 **start)
        self.assertEqual(job.stdout.readline(), "ready\n")
        return job

    def finish(self, process):
        """(exit status, standard output, standard error) once it has ended."""
        output, errors = process.communicate(timeout=PATIENCE_S)
        return process.returncode, output, errors

    # --- what it says ---

    def assertExit(self, status, result):
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)

    def assertTellsOfEachNode(self, errors, answers):
        """A line per node, in their order: address, an answer like this pattern, and a time."""
        lines = [line for line in errors.splitlines() if line.startswith("  ")]
        self.assertEqual(len(lines), len(self.group.nodes), errors)
        for line, node, answer in zip(lines, self.group.nodes, answers):
            self.assertRegex(line, rf"^  127\.0\.0\.1:{node.port}  {answer} +(\d+\.\d ms|-)$")

    def acquire(self, name, *options):
        """A lock, as the dict of what was printed."""
        result = self.redlock("acquire", name, *options)
        self.assertExit(0, result)
        return exported(result.stdout)

    @staticmethod
    def json_of(result):
        return json.loads(result.stdout)
