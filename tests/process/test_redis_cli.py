"""redis-cli and redis-benchmark, as people use them, without a warning."""

import fcntl
import os
import pty
import select
import shutil
import struct
import subprocess
import termios
import time
import unittest

from harness import PATIENCE_S, ProcessTest, main, request


@unittest.skipUnless(shutil.which("redis-cli"), "no redis-cli here (package redis-tools)")
class RedisCli(ProcessTest):
    def setUp(self):
        self.served = self.node()

    def run_tool(self, *command, given=b"", limit_s=None):
        """All that the tool says. With limit_s it is one that never ends: it is stopped then."""
        tool, *words = command
        process = subprocess.Popen(["stdbuf", "-oL", tool, "-p", str(self.served.port), *words],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        try:
            output = process.communicate(given, limit_s or PATIENCE_S)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            output = process.communicate()[0]
            self.assertIsNotNone(limit_s, output)
        self.assertNotIn("WARN", output.decode().upper())
        return output.decode()

    def test_single_commands(self):
        self.assertEqual(self.run_tool("redis-cli", "PING"), "PONG\n")
        self.assertEqual(
            self.run_tool("redis-cli", "SET", "k", "v", "NX", "PX", "30000"), "OK\n")
        self.assertEqual(self.run_tool("redis-cli", "-3", "GET", "k"), "v\n")

    def test_stat(self):
        lines = self.run_tool("redis-cli", "--stat", "-i", "0.1", limit_s=1).splitlines()
        self.assertGreater(len(lines), 3)
        self.assertIn("keys", lines[1])

    def test_latency(self):
        output = self.run_tool("redis-cli", "--latency", "--raw", limit_s=1.5)
        self.assertNotIn("rror", output)

    def test_pipe(self):
        given = b"".join(request("SET", f"k{i}", "v", "NX", "PX", 30000) for i in range(1000))
        output = self.run_tool("redis-cli", "--pipe", given=given)
        self.assertIn("errors: 0, replies: 1000", output)

    def test_scan(self):
        held = {f"lock:{i}" for i in range(2000)}
        client = self.served.client()
        for key in held:
            client("SET", key, "alice", "NX", "PX", 30000)
        scanned = self.run_tool("redis-cli", "--scan").splitlines()
        self.assertEqual(len(scanned), len(held))
        self.assertEqual(set(scanned), held)
        matched = self.run_tool("redis-cli", "--scan", "--pattern", "lock:199?").splitlines()
        self.assertEqual(set(matched), {f"lock:{i}" for i in range(1990, 2000)})

    def test_keys_by_size(self):
        client = self.served.client()
        client("SET", "small", "v", "PX", 30000)
        client("SET", "large", "v" * 5000, "PX", 30000)
        client("HSET", "reentrant", "alice:1", 1, "alice:2", 1)
        output = self.run_tool("redis-cli", "--bigkeys")
        self.assertIn('Biggest string found \'"large"\' has 5000 bytes', output)
        self.assertIn('Biggest   hash found \'"reentrant"\' has 2 fields', output)
        output = self.run_tool("redis-cli", "--memkeys")
        self.assertRegex(output, "Biggest string found '\"large\"' has 5[0-9]{3} bytes")

    def test_interactive(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.environ["TERM"] = "xterm"
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
            os.execvp("redis-cli", ["redis-cli", "-p", str(self.served.port)])
        try:
            self.read_until(terminal, "> ")
            os.write(terminal, b"set lock v nx px 30000\r")
            self.read_until(terminal, "OK")
        finally:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
            os.close(terminal)
        self.assertEqual(self.served.client()("GET", "lock"), b"v")
        self.assertEqual(self.served.client().info()["total_error_replies"], "0")

    def read_until(self, terminal, text):
        seen, end = "", time.monotonic() + PATIENCE_S
        while text not in seen:
            self.assertLess(time.monotonic(), end, seen)
            if select.select([terminal], [], [], 0.1)[0]:
                seen += os.read(terminal, 4096).decode(errors="replace")

    def test_benchmark(self):
        for command in (
                ["SET", "k:__rand_int__", "v", "NX", "PX", "30000"],
                ["EVAL", "return redis.call('set',KEYS[1],ARGV[1],'NX','PX',30000)", "1",
                 "k:__rand_int__", "v"]):
            output = self.run_tool("redis-benchmark", "-n", "1000", "-r", "100000", *command)
            self.assertIn("requests per second", output)
            self.assertNotIn("rror", output)


if __name__ == "__main__":
    main()
