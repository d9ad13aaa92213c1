"""The node's log holds nobody up, whatever becomes of it; and signals that have to do with it."""

import os
import re
import signal
import subprocess
import time

from harness import Client, Node, ProcessTest, eventually, main

HTTP = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


class PipedNode(Node):
    """Its standard output and standard error are one pipe, which the test reads, or does not."""

    def launch(self, command):
        self.reader, writer = os.pipe()
        try:
            self.fill(writer)
            self.process = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=writer,
                stderr=writer, env=self.environment, cwd=self.folder)
        finally:
            os.close(writer)

    def fill(self, writer):
        """Not a byte fits into the pipe from here on; and a write waits, as in any pipe."""
        os.set_blocking(writer, False)
        try:
            while True:
                os.write(writer, b"x")
        except BlockingIOError:
            pass
        os.set_blocking(writer, True)

    def log(self):
        return ""

    def end(self):
        super().end()
        os.close(self.reader)


class Words(ProcessTest):
    """What an operator reads of a lost ledger: a warning, no advice that would be a dangerous one
    for him, and later that the node is admitted."""

    def assert_logged(self, node, pattern):
        """A line like this, which another thread writes."""
        line = rf"(?m)^\d+:M .* {pattern}"
        self.assertTrue(eventually(lambda: re.search(line, node.log())), node.log())

    def test_a_lost_ledger_is_a_warning_and_its_admission_is_logged(self):
        node = self.new_node("--max-ttl", "100ms", "--loglevel", "notice", bootstrap=False).start()
        self.assert_logged(node, "# No ledger in .*until its group has admitted")
        self.assertNotIn("--bootstrap", node.log())
        client = node.client()
        self.assertTrue(eventually(lambda: client("LOCK.FENCE", "ADMIT", 41) == "OK"))
        self.assert_logged(node, r"\* admitted: its fencing tokens count again, above 41$")

    def test_a_sound_start_is_no_warning(self):
        node = self.node()
        self.assert_logged(node, r"\* redlock-node .* listens at")
        self.assertNotRegex(node.log(), r"(?m)^\d+:M .* # ")

    def test_restart_delay_off_names_both_of_its_figures(self):
        node = self.node("--max-ttl", "10s", "--restart-delay", "off")
        self.assertEqual(node.client()("SET", "k", "v", "NX", "PX", 9000), "OK")
        node.kill()
        node.start()
        self.assert_logged(node, r"\* .*this start should have waited for [89]\.\d s \(")
        self.assert_logged(node, r"# .*its locks can be held for up to 11\.1 s more")


class Log(ProcessTest):
    def speak_http(self, node, times):
        """Connections that send HTTP, one after the other; the node closes each."""
        for _ in range(times):
            with Client(node.port) as client:
                try:
                    client.send(HTTP)
                    while client.socket.recv(4096):
                        pass
                except ConnectionError:
                    pass

    def assert_serves(self, node, limit_s=1):
        with Client(node.port, timeout_s=limit_s) as client:
            self.assertEqual(client("PING"), "PONG")

    def test_a_log_that_nobody_reads_holds_up_no_client(self):
        node = PipedNode(self.folder(), "--requirepass", "secret")
        self.addCleanup(node.end)
        node.bootstrap().exec()
        self.assertTrue(eventually(lambda: self.answers(node)), "no answer behind a full log")
        self.speak_http(node, 2000)
        self.assertTrue(self.answers(node))
        with Client(node.port, timeout_s=1) as client:
            self.assertEqual(client("AUTH", "secret"), "OK")
            self.assertEqual(client("SET", "printer", "alice", "NX", "PX", 1000), "OK")
        started = time.monotonic()
        self.assertEqual(node.stop(), 0)
        self.assertLess(time.monotonic() - started, 10)

    def answers(self, node):
        try:
            with Client(node.port, timeout_s=1) as client:
                return client("PING").text.startswith("NOAUTH")
        except OSError:
            return False

    def test_what_a_client_brings_about_is_a_line_a_second(self):
        node = self.node()
        started = time.monotonic()
        self.speak_http(node, 1000)
        took_s = time.monotonic() - started
        self.assertTrue(eventually(lambda: "of clients that speak HTTP" in node.log()))
        time.sleep(1.1)
        lines = [line for line in node.log().splitlines() if "HTTP" in line]
        self.assertLessEqual(len(lines), took_s + 3)
        numbers = re.findall(r"left out of the log: (\d+) of clients", node.log())
        left_out = sum(int(number) for number in numbers)
        shown = sum("its connection is closed" in line for line in lines)
        self.assertEqual(left_out + shown, 1000)

    def test_hup_opens_the_log_anew_and_does_nothing_else(self):
        node = self.new_node("--logfile", "node.log").start()
        held = node.client()
        self.assertEqual(held("SET", "printer", "alice", "NX", "PX", 50000), "OK")
        log, old = node.folder / "node.log", node.folder / "node.log.1"
        log.rename(old)
        before = old.read_text()
        node.process.send_signal(signal.SIGHUP)
        self.assertTrue(eventually(lambda: log.exists() and "opened anew" in log.read_text()))
        self.assertEqual(old.read_text(), before)
        self.assertEqual(held("GET", "printer"), b"alice")
        self.assertEqual(node.stop(), 0)
        self.assertIn("stopped cleanly", log.read_text())

    def test_hup_of_a_node_without_a_log_file_does_nothing(self):
        node = self.node()
        for _ in range(5):
            node.process.send_signal(signal.SIGHUP)
            self.assert_serves(node)

    def test_signals_that_mean_something_to_other_servers_mean_nothing(self):
        node = self.node()
        with node.client() as client:
            self.assertEqual(client("SET", "printer", "alice", "NX", "PX", 50000), "OK")
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGPIPE):
            node.process.send_signal(number)
            self.assert_serves(node)
        self.assertEqual(node.client()("GET", "printer"), b"alice")
        self.assertEqual(node.stop(), 0)


if __name__ == "__main__":
    main()
