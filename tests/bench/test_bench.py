"""The benchmark's tools tell the truth: what they count was served, and what was not ends a run."""

import json
import statistics
import subprocess
import sys
import unittest
from pathlib import Path

from figures import Row, median_interval, ratio_row
from load import encoded_size
from report import exit_status
from servers import BareServer, Program

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "process"))

from harness import BUILD, ProcessTest, main, request  # noqa: E402

SET = ["SET", "{key}", "{value}", "NX", "PX", "30000"]


class Generator(ProcessTest):
    def put(self, port, *words, rounds=5000, keys=1000, more=()):
        options = ["--port", port, "--pipeline", 16, "--connections", 7, "--rounds", rounds,
                   "--keys", keys, *more]
        return subprocess.run([str(word) for word in [BUILD / "load_generator", *options, "--",
                                                      *words]],
                              text=True, capture_output=True, check=False, timeout=60)

    def told(self, *arguments, **options):
        done = self.put(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_it_knows_how_many_requests_hit(self):
        node = self.node()
        self.assertEqual(self.told(node.port, "GET", "{key}")["replies"],
                         [{"hits": 0, "misses": 5000}])
        taken = self.told(node.port, *SET)
        distinct = taken["distinct_keys"]
        self.assertTrue(900 < distinct < 1000, distinct)
        self.assertEqual(taken["replies"], [{"hits": distinct, "misses": 5000 - distinct}])
        self.assertEqual(node.client()("DBSIZE"), distinct)
        got = self.told(node.port, "GET", "{key}", more=["--order", 9])
        self.assertEqual(got["replies"], [{"hits": 5000, "misses": 0}])
        self.assertEqual(got["reply_bytes"], 5000 * len("$40\r\n") + 5000 * 42)
        given_back = self.told(node.port, "DEL", "{key}", more=["--order", 4])
        self.assertEqual(given_back["replies"], [{"hits": distinct, "misses": 5000 - distinct}])
        self.assertEqual(node.client()("DBSIZE"), 0)

    def test_it_sends_just_as_many_requests_as_it_tells(self):
        node = self.node()
        client = node.client()
        before = int(client.info("stats")["total_commands_processed"])
        told = self.told(node.port, *SET, "THEN", "DEL", "{key}", rounds=4321, keys=5000,
                         more=["--once", "--pid", node.process.pid])
        self.assertEqual(told["replies"], [{"hits": 4321, "misses": 0}] * 2)
        after = int(client.info("stats")["total_commands_processed"])
        self.assertIn(after - before - 2 * 4321, (0, 1))  # whether an INFO counts itself
        self.assertGreater(told["server_cpu_ns"], 4321 * 2 * 20)

    def test_an_error_reply_ends_the_run(self):
        node = self.node()
        for words, error in ((["GET"], "wrong number of arguments"),
                             (["SET", "{key}", "v"], "TTL"),
                             ([*SET, "THEN", "NONSENSE"], "unknown command")):
            done = self.put(node.port, *words)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(error, done.stderr)

    def test_a_server_that_stops_ends_the_run(self):
        node = self.node()
        done = self.put(node.port, "SHUTDOWN")
        self.assertEqual((done.returncode, done.stdout), (1, ""))

    def test_the_bare_server_answers_each_request_once(self):
        self.assertEqual(encoded_size(SET), len(request(*(
            word.replace("{key}", "k" * 17).replace("{value}", "v" * 40) for word in SET))))
        services = {"SET": (encoded_size(SET), r"+OK\r\n"), "GET": (encoded_size(["GET", "{key}"]),
                                                                   r"$-1\r\n")}
        with BareServer(Program(BUILD / "bare_server"), 0, services) as bare:
            self.assertEqual(self.told(bare.ports["SET"], *SET)["replies"],
                             [{"hits": 5000, "misses": 0}])
            self.assertEqual(self.told(bare.ports["GET"], "GET", "{key}")["replies"],
                             [{"hits": 0, "misses": 5000}])

    def test_the_bare_server_keeps_what_it_receives_if_asked(self):
        received = 5000 * encoded_size(SET)
        for keeps in (False, True):
            services = {"SET": (encoded_size(SET), r"+OK\r\n")}
            with BareServer(Program(BUILD / "bare_server"), 0, services, keeps=keeps) as bare:
                self.told(bare.ports["SET"], *SET)  # all buffers are in memory
                before = bare.resident_bytes()
                self.told(bare.ports["SET"], *SET)
                grown = bare.resident_bytes() - before
            self.assertEqual(grown >= received * 0.8, keeps, f"grown by {grown}")


class Figures(unittest.TestCase):
    def row(self, value, **options):
        row = {"name": "SET", "what": "ns", "ours": 1, "other": 2, "other_name": "redis",
               "value": value, "low": value, "high": value, "wants": "at least", "floor": 4,
               "aim": 5, **options}
        return Row(**row)

    def test_the_interval_of_a_median_holds_it_with_90_percent(self):
        self.assertEqual(median_interval(range(1, 16)), (4, 12))  # of 15: 96.5 %, the next 88.2 %
        self.assertEqual(median_interval([3, 1, 2]), (1, 3))
        self.assertEqual(median_interval([7]), (7, 7))

    def test_a_ratio_is_the_median_of_the_pairs_ratios(self):
        pairs = [{"node": 100, "redis": 500}, {"node": 200, "redis": 800},
                 {"node": 100, "redis": 300}]
        row = ratio_row("SET", "ns", pairs, "node", "redis", "at least", 4, 5)
        self.assertEqual((row.value, row.ours, row.other), (4, 100, 500))
        self.assertEqual(ratio_row("SET", "ns", pairs, "node", "redis", "at most", 1).value,
                         statistics.median([100 / 500, 200 / 800, 100 / 300]))

    def test_a_floor_holds_fails_or_cannot_be_told(self):
        self.assertEqual(self.row(4.1).verdict, "PASS")
        self.assertEqual(self.row(3.9).verdict, "FAIL")
        self.assertEqual(self.row(3.9, wants="at most").verdict, "PASS")
        self.assertEqual(self.row(3.9, others=0.5).verdict, "FAIL?")
        self.assertEqual(self.row(4.1, low=3, high=5).verdict, "PASS?")
        self.assertEqual(self.row(1.0, others=0.5).verdict, "FAIL")  # no noise explains that
        self.assertEqual(self.row(1.0, others=0.5, by_wall_clock=True).verdict, "FAIL?")
        self.assertEqual(self.row(9.0, others=0.5, by_wall_clock=True).verdict, "PASS")
        self.assertEqual(self.row(6, wants="at most", machine=5).verdict, "FAIL?")
        self.assertEqual(self.row(6, wants="at most", machine=3).verdict, "FAIL")
        self.assertEqual(self.row(3, wants="at most", machine=5).verdict, "PASS")
        self.assertEqual(self.row(4.1, floor=None).verdict, "")

    def test_a_floor_that_fails_is_the_exit_status(self):
        good, bad, unsure = self.row(5), self.row(3), self.row(3.9, others=0.5)
        self.assertEqual(exit_status([good]), 0)
        self.assertEqual(exit_status([good, unsure, bad]), 1)
        self.assertEqual(exit_status([good, unsure]), 3)


if __name__ == "__main__":
    main()
