"""The metrics of nodes and front doors: what is told, what Prometheus makes of it, what it costs.

promtool and prometheus come from Debian's package, unpacked into build/debian by ./dev; without it
their tests are skipped, and say so.
"""

import http.client
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from harness import BUILD, PATIENCE_S, ROOT, SANITIZED, Client, ProcessTest, eventually, main
from ports import reserve_ports

LONG = os.environ.get("REDLOCK_LONG") == "1"
CONFIG = ROOT / "config"
TOOLS = pathlib.Path(os.environ.get("REDLOCK_PROMETHEUS", ROOT / "build/debian/prometheus/usr/bin"))
HAS_TOOLS = (TOOLS / "promtool").exists()
NEEDS_TOOLS = unittest.skipUnless(HAS_TOOLS, f"no prometheus in {TOOLS}: ./dev test unpacks it")

SAMPLE = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)")


def page(port, path="/metrics"):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE_S) as answer:
        return answer.read().decode()


def is_shown(port):
    try:
        return page(port)
    except OSError:
        return None


def samples_of(text):
    """{name or name{labels}: number}"""
    found = [SAMPLE.fullmatch(line) for line in text.splitlines() if not line.startswith("#")]
    return {one[1] + (f"{{{one[2]}}}" if one[2] else ""): float(one[3]) for one in found}


class WithMetrics(ProcessTest):
    def with_metrics(self, *flags, **options):
        [port] = reserve_ports(1)
        node = self.node("--metrics-port", str(port), *flags, **options)
        node.metrics_port = port
        return node

    def door(self, nodes):
        """A front door over these nodes: its port for clients, and that of its metrics."""
        ports = reserve_ports(2)
        door = subprocess.Popen(
            [BUILD / "redlock", "serve", "--nodes", ",".join(f"127.0.0.1:{n.port}" for n in nodes),
             "--listen", f"127.0.0.1:{ports[0]}", "--http", f"127.0.0.1:{ports[1]}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(door.wait)
        self.addCleanup(door.terminate)
        self.assertTrue(eventually(lambda: is_shown(ports[1])))
        return ports

    def samples(self, node):
        return samples_of(page(node.metrics_port))


class Page(WithMetrics):
    def test_it_tells_what_the_node_tells(self):
        node = self.with_metrics("--max-ttl", "40s")
        with node.client() as client:
            client("SET", "held", "a", "NX", "PX", "30000")
            client("SET", "held", "b", "NX", "PX", "30000")
            client("SET", "released", "a", "NX", "PX", "30000")
            client("DEL", "released")
            client("SET", "over", "a", "NX", "PX", "1")
            client("LOCK.EXTEND", "held", "a", "PX", "40000")
            self.assertTrue(eventually(lambda: int(client.info()["expired"]) == 1))
            told, info = self.samples(node), client.info()
        self.assertEqual({name: told[f"redlock_{name}"] for name in (
            "locks", "granted_total", "refused_held_total", "released_total", "expired_total",
            "extended_total", "clients", "max_ttl_seconds", "fenced", "clock_sound", "ledger_ok",
            "delay_left_seconds", "roster_epoch", "waiters", "refused_recovering_total")}, {
                "locks": 1, "granted_total": 3, "refused_held_total": 1, "released_total": 1,
                "expired_total": 1, "extended_total": 1, "clients": 1, "max_ttl_seconds": 40,
                "fenced": 1, "clock_sound": 1, "ledger_ok": 1, "delay_left_seconds": 0,
                "roster_epoch": 0, "waiters": 0, "refused_recovering_total": 0})
        self.assertEqual(page(node.metrics_port, "/ready"), "it grants locks\n")
        self.assertEqual(told["redlock_fence_largest"], int(info["counter"]))
        self.assertEqual(told['redlock_state{state="serving"}'], 1)
        self.assertEqual(told['redlock_commands_total{family="string"}'], 4)
        self.assertEqual(told[f'redlock_node_info{{version="{info["redlock_version"]}",'
                              f'node_id="{info["node_id"]}",run_id="{info["run_id"]}"}}'], 1)
        self.assertLess(abs(told["redlock_start_time_seconds"] - time.time()), PATIENCE_S)
        self.assertNotIn("held", page(node.metrics_port).replace("held_total", "")
                         .replace("that are held", "").replace("another holds", ""))

    def test_who_waits(self):
        node = self.with_metrics()
        with node.client() as holder, node.client() as first, node.client() as second:
            holder("SET", "held", "a", "NX", "PX", "30000")
            ticket = f"{int(time.time() * 1000) - 5000}-7"
            for client in (first, second):
                client("HELLO", "3")
                client("LOCK.WAIT", "held", "30000", "PUSH", "AT", ticket)
            told = self.samples(node)
            self.assertEqual((told["redlock_waiters"], told["redlock_longest_line"]), (2, 2))
            self.assertTrue(5 <= told["redlock_oldest_wait_seconds"] < 5 + PATIENCE_S)
            holder("DEL", "held")
        self.assertEqual(self.samples(node)["redlock_oldest_wait_seconds"], 0)

    def test_a_node_that_recovers(self):
        node = self.with_metrics(bootstrap=False)
        told = self.samples(node)
        self.assertEqual(told['redlock_state{state="recovering"}'], 1)
        self.assertLess(0, told["redlock_delay_left_seconds"])
        with node.client() as client:
            self.assert_error(client("SET", "a", "v", "NX", "PX", "30000"), "ERR recovering")
        self.assertEqual(self.samples(node)["redlock_refused_recovering_total"], 1)
        with self.assertRaises(urllib.error.HTTPError) as refused:
            page(node.metrics_port, "/ready")
        self.assertEqual(refused.exception.code, 503)
        self.assertEqual(refused.exception.read(), b"it recovers\n")
        refused.exception.close()

    def test_it_asks_for_no_password_and_has_one_page(self):
        [port] = reserve_ports(1)
        node = self.new_node().exec("--requirepass", "secret", "--metrics-port", str(port))
        node.metrics_port = port
        self.assertTrue(eventually(lambda: is_shown(port)))
        self.assertNotIn("secret", page(port))
        with self.assertRaises(urllib.error.HTTPError) as refused:
            page(node.metrics_port, "/")
        self.assertEqual(refused.exception.code, 404)
        refused.exception.close()

    def test_a_port_that_is_taken_leaves_the_folder_untouched(self):
        taken = self.node()
        node = self.new_node(bootstrap=False)
        done = node.run_once("--metrics-port", str(taken.port))
        self.assertEqual(done.returncode, 1)
        self.assertIn("address already in use", done.stdout + done.stderr)
        self.assertFalse(os.path.exists(os.path.join(node.folder, "ledger")))
        done = node.run_once("--metrics-port", str(node.port))
        self.assertIn(f"metrics-port {node.port} is the port of clients", done.stdout + done.stderr)

    def test_it_is_answered_while_a_script_holds_everybody_up(self):
        node = self.with_metrics()
        with node.client(timeout_s=60) as hostile:
            hostile.send(b"*3\r\n$4\r\nEVAL\r\n$17\r\nwhile true do end\r\n$1\r\n0\r\n")
            time.sleep(0.1)
            self.assertEqual(self.samples(node)["redlock_clients"], 1)

    @staticmethod
    def cpu_seconds(client):
        info = client.info()
        return float(info["used_cpu_user"]) + float(info["used_cpu_sys"])

    @unittest.skipIf(SANITIZED, "measures time")
    def test_a_page_costs_the_node_no_more_than_twelve_requests(self):
        """Single ones, beside it: on a slow machine both take longer."""
        node = self.with_metrics()
        with node.client() as client:
            for number in range(1000):
                client("SET", f"key{number}", "v", "NX", "PX", "60000")
            collector = http.client.HTTPConnection("127.0.0.1", node.metrics_port)
            self.addCleanup(collector.close)

            def read_page():
                collector.request("GET", "/metrics")
                collector.getresponse().read()

            def cost(deed, times):
                before = self.cpu_seconds(client)
                for _ in range(times):
                    deed()
                return (self.cpu_seconds(client) - before) / times
            costs = [(cost(read_page, 100), cost(lambda: client("PING"), 1000))
                     for _ in range(7)]
        pages, requests = zip(*costs)
        page_us, request_us = (statistics.median(each) * 1e6 for each in (pages, requests))
        print(f"\n  a page: {page_us:.0f} µs of CPU, a request {request_us:.1f} µs: "
              f"{page_us / request_us:.1f}", end="", flush=True)
        self.assertLess(page_us, 12 * request_us)


class DoorsPage(WithMetrics):
    def test_it_tells_what_the_door_sees_and_did(self):
        nodes = [self.node() for _ in range(3)]
        port, metrics = self.door(nodes)
        nodes[2].kill()

        def told(name, **labels):
            label = ",".join(f'{one}="{value}"' for one, value in labels.items())
            name = f"redlock_door_{name}" + (f"{{{label}}}" if label else "")
            return samples_of(page(metrics))[name]
        addresses = [f"127.0.0.1:{node.port}" for node in nodes]
        self.assertTrue(eventually(lambda: [told("node_up", node=node) for node in addresses] ==
                                   [1, 1, 0]))
        with Client(port) as client:
            self.assertEqual(client("SET", "printer", "a", "NX", "PX", 10000), "OK")
            self.assertIsNone(client("SET", "printer", "b", "NX", "PX", 10000))
            self.assertEqual(client("PEXPIRE", "printer", 20000), 1)
            self.assertEqual(client("DEL", "printer"), 1)
            self.assertEqual(told("clients"), 1)
        self.assertEqual((told("nodes"), told("quorum")), (3, 2))
        self.assertEqual([told("node_granting", node=node) for node in addresses], [1, 1, 0])
        self.assertLess(0, told("node_round_trip_seconds_sum", node=addresses[0]))
        self.assertEqual({name: told("acquisitions_total", outcome=name) for name in (
            "granted", "held", "late", "client_gone")},
            {"granted": 1, "held": 1, "late": 0, "client_gone": 0})
        self.assertEqual((told("extended_total"), told("released_total")), (1, 1))
        self.assertEqual([told("votes_total", node=addresses[0], answer=answer)
                          for answer in ("yes", "no", "none")], [1, 0, 0])
        self.assertEqual([told("votes_total", node=addresses[2], answer=answer)
                          for answer in ("yes", "no", "none")], [0, 0, 1])
        self.assertEqual(told("second_rounds_total"), 0)
        self.assertEqual((told("acquisition_seconds_count"),
                          told("acquisition_seconds_bucket", le="+Inf")), (1, 1))
        self.assertLess(0, told("acquisition_seconds_sum"))
        self.assertLess(abs(told("start_time_seconds") - time.time()), PATIENCE_S)
        self.assertNotIn("printer", page(metrics))

        # A node whose counter is behind the other's has to confirm the token (rule F3).
        with nodes[0].client() as client:
            for _ in range(5):
                client("LOCK.ACQUIRE", "printer", "b", "PX", 10000)
                client("LOCK.RELEASE", "printer", "b")
        with Client(port) as client:
            self.assertEqual(client("LOCK.ACQUIRE", "printer", "a", "PX", 10000)[0], 1)
            self.assertEqual(client.info()["second_rounds"], "1")
        self.assertEqual(told("second_rounds_total"), 1)

    def test_its_histograms_and_that_resetstat_sets_what_is_counted_to_zero(self):
        node = self.node()
        port, metrics = self.door([node])

        def told(pattern):
            return {name: value for name, value in samples_of(page(metrics)).items()
                    if re.match(f"redlock_door_{pattern}", name)}
        with Client(port) as client:
            self.assertTrue(eventually(lambda: client("SET", "a", "v", "NX", "PX", 10000) == "OK"))
            self.assertEqual(client("PEXPIRE", "a", 20000), 1)
            self.assertEqual(client("DEL", "a"), 1)
            for name in ("validity_left_at_release_seconds", "node_round_trip_seconds"):
                [count] = told(f"{name}_count").values()
                self.assertLess(0, count)
                self.assertEqual(list(told(rf'{name}_bucket.*le="\+Inf"').values()), [count])
            [left] = told("validity_left_at_release_seconds_sum").values()
            self.assertTrue(10 < left <= 20)
            counted = "(acquisition|votes|released|extended|validity_left|queue_wait)"
            self.assertNotEqual(set(told(counted).values()), {0})
            self.assertEqual(client("CONFIG", "RESETSTAT"), "OK")
            self.assertEqual(set(told(counted).values()), {0})

    def test_its_place_is_told_where_it_is_taken_or_none(self):
        node = self.node()
        for place, said in ((f"127.0.0.1:{node.port}", "address already in use"),
                            ("/tmp/a.sock", "127.0.0.1:9379")):
            done = subprocess.run(
                [BUILD / "redlock", "serve", "--nodes", f"127.0.0.1:{node.port}", "--listen",
                 f"127.0.0.1:{reserve_ports(1)[0]}", "--http", place],
                capture_output=True, text=True, timeout=PATIENCE_S, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stdout + done.stderr)


@NEEDS_TOOLS
class Promtool(WithMetrics):
    def promtool(self, *words, text=None, folder=None):
        done = subprocess.run([TOOLS / "promtool", *words], input=text, capture_output=True,
                              text=True, cwd=folder, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_the_page_is_as_prometheus_wants_it(self):
        node = self.with_metrics()
        for port in (node.metrics_port, self.door([node])[1]):
            self.assertEqual(self.promtool("check", "metrics", text=page(port)), "")

    def test_the_alerts_fire_at_what_they_are_for(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("redlock.rules.yml", "prometheus.yml"):
                shutil.copy(CONFIG / "prometheus" / name, folder)
            shutil.copy(ROOT / "tests/process/prometheus/rules_test.yml", folder)
            self.promtool("check", "config", "prometheus.yml", folder=folder)
            told = self.promtool("test", "rules", "rules_test.yml", folder=folder)
            self.assertIn("SUCCESS", told)


class Shipped(WithMetrics):
    def test_whatever_is_asked_for_is_told(self):
        """Each name in the alerts and in the dashboard is one of the pages', or a rule's."""
        node = self.with_metrics()
        text = page(node.metrics_port) + page(self.door([node])[1])
        told = set(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE))
        rules = (CONFIG / "prometheus/redlock.rules.yml").read_text()
        dashboard = json.loads((CONFIG / "grafana.json").read_text())
        queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
        queries += [one["query"] for one in dashboard["templating"]["list"]]
        self.assertGreater(len(queries), 15)
        asked = {re.sub("_bucket$", "", name)
                 for name in re.findall(r"\bredlock_\w+", rules + "\n".join(queries))}
        self.assertEqual(asked - told, set())
        recorded = set(re.findall(r"record: (redlock:\w+)", rules))
        self.assertEqual(set(re.findall(r"redlock:\w+", rules)) - recorded, set())


@NEEDS_TOOLS
@unittest.skipUnless(LONG, "long")
class Prometheus(WithMetrics):
    """The real one, with the rules as they are shipped and a scrape each second."""

    def start_prometheus(self, nodes, door):
        [port] = reserve_ports(1)
        folder = pathlib.Path(tempfile.mkdtemp(prefix="redlock-test."))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        shutil.copy(CONFIG / "prometheus/redlock.rules.yml", folder)
        targets = ", ".join(f"'127.0.0.1:{node.metrics_port}'" for node in nodes)
        (folder / "prometheus.yml").write_text(
            "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
            "rule_files: [redlock.rules.yml]\nscrape_configs:\n  - job_name: group\n"
            f"    static_configs: [{{targets: [{targets}]}}]\n  - job_name: doors\n"
            f"    static_configs: [{{targets: ['127.0.0.1:{door}']}}]\n")
        prometheus = subprocess.Popen(
            [TOOLS / "prometheus", "--config.file", folder / "prometheus.yml",
             "--storage.tsdb.path", folder / "data", "--log.level", "error",
             "--web.listen-address", f"127.0.0.1:{port}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(prometheus.wait)
        self.addCleanup(prometheus.kill)
        return port

    def firing(self, port):
        try:
            answer = json.loads(page(port, "/api/v1/alerts"))
        except OSError:
            return None
        return {alert["labels"]["alertname"] for alert in answer["data"]["alerts"]
                if alert["state"] == "firing"}

    def query(self, port, expression):
        answer = json.loads(page(port, f"/api/v1/query?query={expression}"))
        return [float(result["value"][1]) for result in answer["data"]["result"]]

    def test_the_right_alerts_fire_and_end(self):
        nodes = [self.with_metrics("--max-ttl", "2s") for _ in range(5)]
        port = self.start_prometheus(nodes, self.door(nodes)[1])
        self.assertTrue(eventually(lambda: self.firing(port) is not None))
        self.assertTrue(eventually(lambda: self.query(port, "redlock:granting") == [5], 60, 0.2))
        self.assertEqual(self.firing(port), set())
        for node in nodes[:2]:
            node.kill()
        self.assertTrue(eventually(lambda: self.firing(port) == {
            "RedlockNoneMayFail", "RedlockNodeDown"}, 120, 0.5), self.firing(port))
        nodes[2].kill()
        self.assertTrue(eventually(lambda: self.firing(port) >= {
            "RedlockNoQuorumGrants", "RedlockDoorNoQuorum"}, 60, 0.5), self.firing(port))
        for node in nodes[:3]:
            node.start()
        self.assertTrue(eventually(lambda: self.firing(port) == set(), 60, 0.5), self.firing(port))
        self.assertEqual(self.query(port, "redlock:may_fail"), [2])


main(400 if LONG else 100)
