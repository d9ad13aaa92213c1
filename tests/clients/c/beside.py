"""What the drivers of programs share: a redis-server beside the node, and terminals.

    beside = Beside(port)                # of the node; the redis-server starts at its first use
    beside.node("PING"), beside.redis("PING")     # a command to each, over connections of our own
    node, redis = beside.run("redis-cli", "--scan")          # what each prints
    with beside.terminal(beside.port, "redis-cli") as terminal:
        terminal.read_until("> ")

Every process is ended with the driver, even when the driver is killed (PR_SET_PDEATHSIG).
"""

import atexit
import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "process"))

import harness  # noqa: E402  (tests/process: Client, Node, Server)

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE_S = 20
WITH_US = ("setpriv", "--pdeathsig", "KILL", "--")  # ends when the driver does
ENVIRONMENT = {**os.environ, "REDISCLI_HISTFILE": "/dev/null", "TERM": "xterm"}


class Said:
    """What a program printed, and how it ended."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    @property
    def lines(self):
        return self.out.splitlines()

    def __eq__(self, other):
        return (self.status, self.out, self.err) == (other.status, other.out, other.err)

    def __repr__(self):
        return f"exit {self.status}, {self.out!r}" + (f", {self.err!r}" if self.err else "")


def want(condition, *seen):
    if not condition:
        raise AssertionError("; ".join(str(each) for each in seen))


def want_same(pair, wanted=None):
    """Both said the same, and that is it; a number is the exit status."""
    node, redis = pair
    want(node == redis, "the node's", node, "Redis's", redis)
    if wanted is not None:
        want(node.out == wanted, node, f"wanted {wanted!r}")
    return node


def want_match(pattern, said):
    """In what was said, or in each of two."""
    for each in said if isinstance(said, tuple) else (said,):
        text = each if isinstance(each, str) else each.out + each.err
        want(re.search(pattern, text, re.S), f"no {pattern!r} in", each)


class Beside:
    def __init__(self, port):
        self.port = port
        self.node = harness.Client(port)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="redlock-test-"))
        self.servers = []
        self._redis_server = None
        atexit.register(self.end)

    def end(self):
        for server in self.servers:
            server.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def redis_port(self):
        if self._redis_server is None:
            server = harness.Server(self._new_folder("redis"))
            self.servers.append(server)
            server.launch([*WITH_US, harness.BUILD / "redis-server", "--port", server.port,
                           "--bind", "127.0.0.1", "--save", "", "--dir", server.folder])
            self._redis_server = server.wait_for_pong()
        return self._redis_server.port

    def redis(self, *words):
        with harness.Client(self.redis_port) as client:
            return client(*words)

    def both(self, *words):
        """A command to both, who must take it."""
        replies = self.node(*words), self.redis(*words)
        for reply in replies:
            want(not isinstance(reply, harness.RedisError), words, reply)
        return replies

    def new_node(self, *flags):
        """Another one, serving."""
        node = OwnNode(self._new_folder("node"), *flags)
        self.servers.append(node)
        node.bootstrap()
        return node.exec()

    def _new_folder(self, name):
        folder = self.folder / f"{name}-{len(self.servers)}"
        folder.mkdir()
        return folder

    # --- programs ---

    def run(self, program, *words, **more):
        """The same at both: what the node's said, what Redis's said."""
        return (run(self.port, program, *words, **more),
                run(self.redis_port, program, *words, **more))


class OwnNode(harness.Node):
    def command(self, *flags):
        return [*WITH_US, *super().command(*flags)]


def run(port, program, *words, given=b"", environment=None, address=None):
    """To its end; PORT in a word stands for the port. address: instead of -p."""
    command = [program, *(("-p", port) if address is None else address), *words]
    done = subprocess.run([str(word).replace("PORT", str(port)) for word in command], input=given,
                          capture_output=True, timeout=PATIENCE_S,
                          env={**ENVIRONMENT, **(environment or {})})
    # What names the port would differ between two servers.
    texts = [data.decode(errors="replace").replace(str(port), "PORT")
             for data in (done.stdout, done.stderr)]
    return Said(done.returncode, *texts)


class Terminal:
    """A program at a terminal of its own, as a person has it."""

    def __init__(self, port, program, *words):
        command = [*WITH_US, program, "-p", str(port), *map(str, words)]
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave,
                                        start_new_session=True, env=ENVIRONMENT)
        os.close(slave)
        self.seen = ""   # not yet asked for
        self.text = ""   # all

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)

    def type(self, text):
        os.write(self.master, text.encode())

    def enter(self, line):
        self.type(line + "\r")

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def read_until(self, pattern):
        """Up to what matches, which is returned; what follows stays for the next."""
        end = time.monotonic() + PATIENCE_S
        while True:
            found = re.search(pattern, self.seen, re.S)
            if found:
                self.seen = self.seen[found.end():]
                return found
            want(time.monotonic() < end, f"no {pattern!r} in", repr(self.text[-600:]))
            want(self._read(0.1), f"it ended before {pattern!r}:", repr(self.text[-600:]))

    def _read(self, limit_s):
        """False at its end."""
        if not select.select([self.master], [], [], limit_s)[0]:
            return True
        try:
            data = os.read(self.master, 1 << 16)
        except OSError:  # nobody has the other side any more
            data = b""
        self.seen += data.decode(errors="replace")
        self.text += data.decode(errors="replace")
        return bool(data)

    def read_to_end(self):
        """Everything until the program ended; its exit status."""
        end = time.monotonic() + PATIENCE_S
        while self._read(0.1):
            want(time.monotonic() < end, "it does not end:", repr(self.text[-600:]))
        return self.process.wait(PATIENCE_S)
