"""redlock bench: it counts what the nodes granted, gives all of it back, and tells of each node."""

import json
import os
import pty
import re
import signal
import socket
import tempfile
import unittest

from group import GroupTest, ask, read_terminal, wait_until
from test_check import WellFormed

SECONDS = ("--for", "1s")


class Bench(GroupTest):
    def bench(self, *options):
        result = self.redlock("bench", *SECONDS, *options, "--json")
        self.assertExit(0, result)
        return self.json_of(result)

    def test_it_counts_what_the_nodes_granted_and_gives_it_back(self):
        told = self.bench("--in-flight", "7")
        self.assertGreater(told["pairs"], 0)
        self.assertEqual(told["in_flight"], 7)
        for operation in ("acquire", "release"):
            self.assertEqual(told[operation]["count"], told["pairs"])
            self.assertEqual(told[operation]["failed"], {})
            self.assertEqual(sum(bar["count"] for bar in told[operation]["histogram"]),
                             told["pairs"])
            self.assertLessEqual(told[operation]["p50_us"], told[operation]["max_us"])
        self.assertLess(abs(told["pairs_per_second"] - told["pairs"] / told["seconds"]), 1)
        self.assertGreater(told["cpu_us_per_pair"], 0)
        for node in self.group.nodes:
            self.assertEqual(ask(node.port, "DBSIZE"), ":0")
            granted = [line for line in info_of(node.port) if line.startswith("granted:")]
            self.assertLessEqual(told["pairs"], int(granted[0].split(":")[1]))

    def test_it_tells_of_each_node(self):
        told = self.bench()
        self.assertEqual([node["node"] for node in told["nodes"]],
                         [f"127.0.0.1:{node.port}" for node in self.group.nodes])
        for node in told["nodes"]:
            self.assertEqual((node["state"], node["missed"]), ("serving", {}))
            self.assertGreater(node["round_trip"]["count"], 0)

    def test_a_node_that_is_gone_is_seen_and_costs_nothing(self):
        self.group.kill(4)
        told = self.bench()
        self.assertGreater(told["pairs"], 0)
        self.assertEqual(told["acquire"]["failed"], {})
        self.assertEqual(told["nodes"][4]["round_trip"]["count"], 0)
        self.assertGreater(told["nodes"][4]["asked"], 0)

    def test_without_a_quorum_it_ends_with_69_and_says_what_each_node_said(self):
        self.group.kill(0, 1, 2)
        result = self.redlock("bench", *SECONDS)
        self.assertExit(69, result)
        self.assertIn("0 locks a second", result.stdout)
        self.assertIn("no quorum", result.stdout)
        self.assertIn(f"127.0.0.1:{self.group.nodes[0].port}", result.stderr)

    def test_an_interrupt_gives_back_what_is_held_and_tells_what_was(self):
        bench = self.start_redlock("bench", "--for", "1h", "--json")
        wait_until(lambda: ask(self.group.nodes[0].port, "DBSIZE") not in ("", ":0"),
                   "the first lock")
        bench.send_signal(signal.SIGINT)
        status, output, _ = self.finish(bench)
        self.assertEqual(status, 128 + signal.SIGINT)
        self.assertGreater(json.loads(output)["pairs"], 0)
        for node in self.group.nodes:
            self.assertEqual(ask(node.port, "DBSIZE"), ":0")

    def test_a_terminal_sees_how_far_it_is(self):
        terminal, end = pty.openpty()
        bench = self.start_redlock("bench", *SECONDS, stdout=end)
        os.close(end)
        output = read_terminal(terminal)
        self.assertEqual(bench.wait(), 0)
        self.assertIn("[####", output)
        self.assertIn("locks/s, p50 ", output)
        self.assertIn("p99.9", output)

    def test_its_last_word_is_what_it_comes_to(self):
        result = self.redlock("bench", *SECONDS)
        self.assertExit(0, result)
        *_, what, _, last = result.stdout.rstrip("\n").split("\n")
        self.assertEqual(what, "5 nodes, 50 locks in flight, TTL 30s, with fencing tokens")
        self.assertRegex(last, "^[1-9][0-9,]* locks a second for [0-9.]+ s, acquired and released; "
                               "[0-9.]+ us of this process's CPU each$")

    def page(self, *options, status=0):
        """What the report tells as rows of texts, and what was printed."""
        folder = tempfile.TemporaryDirectory(prefix="redlock-test.")
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "report.html")
        result = self.redlock("bench", *SECONDS, "--html", path, *options)
        self.assertExit(status, result)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        page = WellFormed(text)
        self.assertEqual((page.open, page.references), ([], []))
        self.assertNotRegex(text, r"https?://|@import|url\(|<script|/\*STYLE|<!--BODY")
        self.assertIn("default-src 'none'", text)
        return text, result.stdout

    def test_its_report_is_a_page_that_needs_nothing_else_and_tells_what_is_printed(self):
        self.group.kill(4)
        text, printed = self.page("--json")
        told = json.loads(printed)
        pairs = f"{told['acquire']['count']:,}"
        self.assertIn(f">{pairs}</td>", text)
        self.assertIn(f"<small>{pairs}, by how long they took</small>", text)
        self.assertIn(f">{int(told['pairs_per_second']):,} locks a second</p>", text)
        pictures = re.findall(r'<table class="picture">(.*?)</table>', text, re.S)
        self.assertEqual(len(pictures), 2)
        for picture, operation in zip(pictures, ("acquire", "release")):
            rows = re.findall(r'<th>up to ([0-9.]+ m?µ?s)</th><td class="bar">(.*?)</td>'
                              r'<td class="number">([0-9.]+) %</td>', picture)
            self.assertLess(abs(sum(float(share) for *_, share in rows) - 100), 0.005 * len(rows))
            widths = [float((re.findall("width:([0-9.]+)%", bar) or ["0"])[0])
                      for _, bar, _ in rows]
            self.assertEqual(max(widths), 100)
            largest = max(bar["count"] for bar in told[operation]["histogram"])
            share = 100 * largest / told[operation]["count"]
            self.assertEqual(rows[widths.index(100)][2], f"{share:.2f}")
        gone = f"127.0.0.1:{self.group.nodes[4].port}"
        self.assertRegex(text, f'<td class="name">{gone}</td><td class="number">-</td>')

    def test_its_report_of_nothing_says_so(self):
        self.group.kill(0, 1, 2)
        text, _ = self.page(status=69)
        self.assertIn(">0 locks a second</p>", text)
        self.assertRegex(text, r'<p class="bad">acquire failed: [0-9,]+ no quorum</p>')
        self.assertNotIn("picture\">", text)

    def test_a_report_that_cannot_be_written_is_found_out_before(self):
        result = self.redlock("bench", "--for", "1h", "--html", "/nowhere/report.html")
        self.assertExit(74, result)
        self.assertIn("/nowhere/report.html: cannot be written: No such file", result.stderr)

    def test_options_that_make_no_sense_are_usage_errors(self):
        for options in (("--for", "1ms"), ("--in-flight", "0"), ("--in-flight", "1001"),
                        ("--ttl", "1ms")):
            self.assertExit(64, self.redlock("bench", *options))
        self.assertExit(78, self.redlock("bench", REDLOCK_NODES=""))


def info_of(port):
    """INFO's lines: an ask that reads all of a reply."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as link:
        link.sendall(b"*2\r\n$4\r\nINFO\r\n$5\r\nlocks\r\n")
        reply = link.makefile("rb")
        return reply.read(int(reply.readline()[1:])).decode().split("\r\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
