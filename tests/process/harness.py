"""What the process tests share: real node programs, and a small RESP client to talk to them.

    class Expiry(ProcessTest):
        def test_a_lock_ends(self):
            node = self.node("--max-ttl", "2s")     # bootstrapped, started, answers PING
            client = node.client()
            self.assertEqual(client("SET", "printer", "alice", "NX", "PX", 100), "OK")

The programs are those of the build folder that REDLOCK_BUILD names (build/ of the checkout without
it). Every process that a test starts is ended by its id when the test is over, however it ends.
REDLOCK_SANITIZED=1 says that the programs were built with sanitizers: they are slow and large, so
what measures size, speed or memory is skipped then (`measures`), and waits are longer.
"""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from ports import reserve_ports

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("REDLOCK_BUILD", ROOT / "build"))
NODE_PROGRAM = BUILD / "redlock-node"
SANITIZED = os.environ.get("REDLOCK_SANITIZED") == "1"
LONG = os.environ.get("REDLOCK_LONG") == "1"

# For whatever must happen soon: far longer than it takes, so that only a defect reaches it.
PATIENCE_S = 60 if SANITIZED else 15

measures = unittest.skipIf(SANITIZED, "measures size, speed or memory: not of a sanitized build")


class RedisError(Exception):
    """An error reply, as a value: a test compares its text."""

    @property
    def text(self):
        return self.args[0]


class Client:
    """One connection that speaks RESP. client("GET", "k") sends a command and returns its reply.

    Replies: str for a status, int, bytes, None, list, dict, RedisError (returned, not raised).
    For pipelines: send() writes requests, reply() reads one answer.
    """

    def __init__(self, port, host="127.0.0.1", timeout_s=PATIENCE_S):
        self.socket = socket.create_connection((host, port), timeout_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        self.position = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def __call__(self, *words):
        self.send(request(*words))
        return self.reply()

    def send(self, data):
        self.socket.sendall(data)

    def reply(self):
        line = self._line()
        kind, rest = line[:1], line[1:]
        if kind in (b"+", b"("):
            return rest.decode()
        if kind == b"-":
            return RedisError(rest.decode(errors="replace"))
        if kind == b":":
            return int(rest)
        if kind in (b"$", b"="):
            return None if rest == b"-1" else self._bytes(int(rest))
        if kind in (b"*", b"~", b">"):
            return None if rest == b"-1" else [self.reply() for _ in range(int(rest))]
        if kind == b"%":
            return {as_text(self.reply()): self.reply() for _ in range(int(rest))}
        if kind == b"_":
            return None
        if kind == b"#":
            return rest == b"t"
        if kind == b",":
            return float(rest)
        raise AssertionError(f"not RESP: {line!r}")

    def read_past(self, word):
        """Reads what is answered up to the reply of ECHO word, and does not look at it."""
        end = f"{word}\r\n".encode()
        last = b""
        while not last.endswith(end):
            data = self.socket.recv(1 << 20)
            if not data:
                raise ConnectionResetError("the node closed the connection")
            last = (last + data)[-len(end):]

    def _more(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise ConnectionResetError("the node closed the connection")
        self.buffer = self.buffer[self.position:] + data
        self.position = 0

    def _line(self):
        while True:
            end = self.buffer.find(b"\r\n", self.position)
            if end >= 0:
                line = self.buffer[self.position:end]
                self.position = end + 2
                return line
            self._more()

    def _bytes(self, size):
        while len(self.buffer) - self.position < size + 2:
            self._more()
        value = self.buffer[self.position:self.position + size]
        self.position += size + 2
        return value

    def info(self, section="everything"):
        """INFO as a dict of texts."""
        lines = as_text(self("INFO", section)).split("\r\n")
        return dict(line.split(":", 1) for line in lines if ":" in line)


def as_text(value):
    return value.decode() if isinstance(value, bytes) else value


def request(*words):
    """A command as clients send it: an array of bulk strings."""
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        data = word if isinstance(word, bytes) else str(word).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
    return b"".join(parts)


def eventually(condition, limit_s=PATIENCE_S, pause_s=0.005):
    """Asks again and again until it holds; the last answer. Never longer than limit_s."""
    end = time.monotonic() + limit_s
    while True:
        answer = condition()
        if answer or time.monotonic() > end:
            return answer
        time.sleep(pause_s)


class Server:
    """A program that answers PING at a port, and its folder. Made by ProcessTest, which ends it."""

    def __init__(self, folder, port=None, environment=None):
        self.folder = pathlib.Path(folder)
        self.port = port or reserve_ports(1)[0]
        self.environment = {**os.environ, **(environment or {})}
        self.process = None
        self.spawned_at = None  # time.monotonic() before the last exec
        self.log_path = self.folder / "output"
        self.clients = []

    def launch(self, command):
        assert self.process is None or self.process.poll() is not None, "it still runs"
        with open(self.log_path, "ab") as log:
            self.spawned_at = time.monotonic()
            self.process = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=self.environment, cwd=self.folder)

    def wait_for_pong(self, limit_s=PATIENCE_S, pause_s=0.002):
        end = time.monotonic() + limit_s
        while True:
            try:
                with Client(self.port) as client:
                    if client("PING") == "PONG":
                        return self
            except OSError:
                pass
            if self.process.poll() is not None:
                raise AssertionError(f"exit {self.process.returncode} at the start: {self.log()}")
            if time.monotonic() > end:
                raise AssertionError(f"no PONG within {limit_s} s: {self.log()}")
            time.sleep(pause_s)

    def client(self, **options):
        """A connection, closed at the end of the test at the latest."""
        self.clients.append(Client(self.port, **options))
        return self.clients[-1]

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def kill(self):
        """kill -9: nothing of the program runs any more when it returns."""
        self.process.kill()
        self.process.wait()

    def stop(self, how=signal.SIGTERM):
        """A stop by a signal; the exit code."""
        self.process.send_signal(how)
        return self.wait()

    def wait(self):
        return self.process.wait(PATIENCE_S)

    def runs(self):
        return self.process.poll() is None

    def resident_kb(self):
        return self._status_kb("VmRSS:")

    def resident_peak_kb(self):
        """The most that it ever had."""
        return self._status_kb("VmHWM:")

    def _status_kb(self, name):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split(name)[1].split()[0])

    def end(self):
        """Cleanup, whatever has happened."""
        for client in self.clients:
            client.close()
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Node(Server):
    """A redlock-node: its state stands in `state`, flags are those of the command line."""

    def __init__(self, folder, *flags, **options):
        super().__init__(folder, **options)
        self.flags = flags
        self.state = self.folder / "state"

    def command(self, *flags):
        return [NODE_PROGRAM, "--port", self.port, "--dir", self.state, *flags]

    def bootstrap(self):
        done = self.run_once("--bootstrap")
        assert done.returncode == 0, done.stderr
        return self

    def run_once(self, *flags):
        """The program in the foreground, for a start that ends at once; its result."""
        command = [NODE_PROGRAM, *[flag for flag in flags if flag == "--bootstrap"], "--port",
                   self.port, "--dir", self.state, *self.flags,
                   *[flag for flag in flags if flag != "--bootstrap"]]
        return subprocess.run([str(word) for word in command], text=True, capture_output=True,
                              timeout=PATIENCE_S, env=self.environment, cwd=self.folder)

    def exec(self, *flags):
        """Starts without waiting. These flags stand after those of the node, so they win."""
        self.launch(self.command(*self.flags, *flags))
        return self

    def start(self, *flags):
        """Until its run is durable: EXISTS is not executed before (rule R9), a PING is answered."""
        self.exec(*flags).wait_for_pong()
        with Client(self.port) as client:
            client("EXISTS", "k")
        return self


class ProcessTest(unittest.TestCase):
    """Makes nodes and Redis servers in temporary folders; ends them and removes the folders."""

    def folder(self):
        folder = tempfile.mkdtemp(prefix="redlock-test-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        return folder

    def new_node(self, *flags, bootstrap=True, **options):
        """A node that does not run yet."""
        node = Node(self.folder(), *flags, **options)
        self.addCleanup(node.end)
        return node.bootstrap() if bootstrap else node

    def node(self, *flags, **options):
        return self.new_node(*flags, **options).start()

    def redis_program(self):
        """redis-server: Debian's redis-check-rdb is that program, called by another name."""
        built = BUILD / "redis-server"
        if built.exists():
            return built
        original = shutil.which("redis-check-rdb")
        if original is None:
            self.skipTest("no redis-check-rdb here (package redis-tools)")
        link = pathlib.Path(self.folder()) / "redis-server"
        link.symlink_to(original)
        return link

    def new_redis(self, **options):
        server = Server(self.folder(), **options)
        self.addCleanup(server.end)
        program = self.redis_program()
        server.exec = lambda: server.launch(
            [program, "--port", server.port, "--save", "", "--dir", server.folder])
        return server

    def assert_error(self, reply, start):
        self.assertIsInstance(reply, RedisError)
        self.assertTrue(reply.text.startswith(start), reply.text)


def give_up(*_):
    raise TimeoutError("the whole test file took too long, or was asked to end")


def main(limit_s=100):
    """Runs the file's tests. It gives up before ctest would kill it, so that cleanups still run."""
    signal.signal(signal.SIGALRM, give_up)
    signal.signal(signal.SIGTERM, give_up)
    signal.alarm(limit_s * (4 if SANITIZED else 1))
    unittest.main(verbosity=2)
