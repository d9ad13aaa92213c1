"""prometheus-redis-exporter beside a redis-server: every metric that it has of a plain Redis is
there for a node, or metrics.py says why not."""

import re
import subprocess
import sys
import urllib.request

import driver
from beside import PATIENCE_S, WITH_US, Beside, want
from harness import eventually
from metrics import ABSENT, ZERO
from ports import reserve_ports

PROGRAM = sys.argv[1]


class User:
    def open(self, addresses):
        self._port = addresses[0][1]
        self._beside = Beside(self._port)

    def every_metric(self):
        for ask in (self._beside.node, self._beside.redis):
            use(ask)
        node, redis = self._of_both("-export-client-list", "-include-system-metrics",
                                    "-check-keys", "lock", "-count-keys", "db0=*")
        names, wanted = {name for name, _ in node}, {name for name, _ in redis}
        want(len(wanted) > 100, "Redis has few metrics:", sorted(wanted))
        missing = wanted - names
        want(missing == set(ABSENT), "without a reason:", sorted(missing - set(ABSENT)),
             "no longer absent:", sorted(set(ABSENT) - missing))
        forget(self._beside)

    def values(self):
        use(self._beside.node)
        metrics = self._metrics(self._port, "-include-system-metrics")
        info = self._beside.node
        for name in ZERO:
            want(set(metrics[f"redis_{name}"].values()) == {0}, name, metrics[f"redis_{name}"])
        want(one(metrics, "redis_up") == 1 and one(metrics, "redis_db_keys", 'db="db0"') == 1)
        want(one(metrics, "redis_commands_failed_calls_total", 'cmd="eval"') == 1)
        want(one(metrics, "redis_commands_rejected_calls_total", 'cmd="set"') == 1)
        want(one(metrics, "redis_commands_duration_seconds_total", 'cmd="eval"') > 0)
        want(one(metrics, "redis_errors_total", 'err="ERR"') >= 2)
        want(one(metrics, "redis_slowlog_length") == info("SLOWLOG", "LEN"))
        for name in ("memory_used_bytes", "memory_used_rss_bytes", "memory_used_dataset_bytes",
                     "memory_used_overhead_bytes", "mem_fragmentation_ratio", "mem_clients_normal",
                     "total_system_memory_bytes", "connected_clients", "config_maxclients",
                     "net_input_bytes_total"):
            want(one(metrics, f"redis_{name}") > 0, name)
        # By its ticks the kernel guesses what part of a thread's time was the user's: of a node so
        # young it may be none, or all.
        used_s = [one(metrics, f"redis_cpu_{part}_main_thread_seconds_total")
                  for part in ("user", "sys")]
        want(sum(used_s) > 0, "cpu_*_main_thread_seconds_total", used_s)
        forget(self._beside)

    def password(self):
        node = self._beside.new_node("--requirepass", "secret")
        want(eventually(lambda: answers(node)), "the node does not start")
        want(one(self._metrics(node.port, "-redis.password", "secret"), "redis_up") == 1)
        want(one(self._metrics(node.port, "-redis.password", "wrong"), "redis_up") == 0)
        node.end()

    def down(self):
        """A node that is gone is a metric too."""
        node = self._beside.new_node().wait_for_pong()
        with Exporter(node.port) as exporter:
            want(one(exporter.metrics(), "redis_up") == 1)
            node.stop()
            want(one(exporter.metrics(), "redis_up") == 0)
            node.exec().wait_for_pong()
            want(one(exporter.metrics(), "redis_up") == 1)
        node.end()

    def _of_both(self, *words):
        """(name, labels) of each metric, the node's and Redis's."""
        return [[(name, labels) for name, found in self._metrics(port, *words).items()
                 for labels in found] for port in (self._port, self._beside.redis_port)]

    def _metrics(self, port, *words):
        with Exporter(port, *words) as exporter:
            return exporter.metrics()


class Exporter:
    def __init__(self, port, *words):
        self.url = f"127.0.0.1:{reserve_ports(1)[0]}"
        self.process = subprocess.Popen(
            [*WITH_US, PROGRAM, "-redis.addr", f"redis://127.0.0.1:{port}",
             "-web.listen-address", self.url, *words], stdin=subprocess.DEVNULL)

    def __enter__(self):
        want(eventually(self._health, PATIENCE_S), "the exporter does not listen")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def _health(self):
        want(self.process.poll() is None, "the exporter ended", self.process.returncode)
        try:
            return self._get("health") == "ok"
        except OSError:
            return False

    def _get(self, path):
        with urllib.request.urlopen(f"http://{self.url}/{path}", timeout=PATIENCE_S) as page:
            return page.read().decode()

    def metrics(self):
        """{name: {labels: value}} of those about the server."""
        found = {}
        for name, labels, value in re.findall(r"^(redis_\w+)(?:\{(.*)\})? (\S+)$",
                                              self._get("metrics"), re.M):
            found.setdefault(name, {})[labels] = float(value)
        return found


def one(metrics, name, label=""):
    """The value of the one with this label."""
    found = [value for labels, value in metrics.get(name, {}).items() if label in labels]
    want(len(found) == 1, name, label, metrics.get(name))
    return found[0]


def use(ask):
    """So that there is something of everything: a key, errors, a rejected and a slow command."""
    ask("CONFIG", "RESETSTAT")
    ask("SET", "lock", "alice", "NX", "PX", 60_000)
    ask("SET", "lock")
    ask("GET", "lock")
    ask("CONFIG", "SET", "slowlog-log-slower-than", 0)
    ask("EVAL", "return redis.error_reply('ERR no')", 0)
    ask("CONFIG", "SET", "slowlog-log-slower-than", 10_000)


def forget(beside):
    beside.both("DEL", "lock")


def answers(node):
    try:
        node.client()("PING")
        return True
    except OSError:
        return False


if __name__ == "__main__":
    driver.serve(User())
