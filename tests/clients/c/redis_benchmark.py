"""redis-benchmark: its default tests, its options, and what it says of a test that a node does not
serve. Beside a redis-server, where all must pass."""

import csv
import io
import re

import driver
from beside import Beside, run, want, want_match

BENCHMARK = "redis-benchmark"
REQUESTS = ("-n", 500)
SERVED = {"ping": ("PING_INLINE", "PING_MBULK"), "set": ("SET",), "get": ("GET",),
          "incr": ("INCR",), "hset": ("HSET",), "mset": ("MSET (10 keys)",)}
NOT_SERVED = {"lpush": "LPUSH", "rpush": "RPUSH", "lpop": "LPOP", "rpop": "RPOP", "sadd": "SADD",
              "spop": "SPOP", "zadd": "ZADD", "zpopmin": "ZPOPMIN", "lrange": "LPUSH"}
FIGURES = r"(\d+\.\d+|inf) requests per second, p50=(\d+\.\d+) msec"
REFUSAL = "Error from server: ERR unknown command '{}'"


class User:
    """The node keeps keys without a TTL (require-ttl no), as the default tests make them."""

    def open(self, addresses):
        self._port = addresses[0][1]
        self._beside = Beside(self._port)
        want(run(self._port, "redis-cli", "PING").out == "PONG\n", "no PONG")

    def served(self):
        for said in self._both("-q", "-t", ",".join(SERVED)):
            measured(said, *[title for titles in SERVED.values() for title in titles])
        self._forget()

    def default_run(self):
        """It ends at the first test that the node does not serve, and says at which."""
        node, redis = self._both("-q")
        want(node.status == 1, node)
        want_match(re.escape(REFUSAL.format("LPUSH")), node)
        titles = ("PING_INLINE", "PING_MBULK", "SET", "GET", "INCR")
        want([title for title in titles if title + ": " not in node.out] == [], node)
        measured(redis, *titles, "LPUSH", "MSET (10 keys)")
        self._forget()

    def not_served(self):
        for test, command in NOT_SERVED.items():
            said = self._run("-q", "-t", test)
            want(said.status == 1, test, said)
            want_match(re.escape(REFUSAL.format(command)), said)

    def options(self):
        for words in (("-P", 16, "-c", 10), ("-3",), ("--threads", 2),
                      ("-r", 100_000), ("-d", 1000)):
            for said in self._both("-q", "-t", "set,get,incr", *words):
                measured(said, "SET", "GET", "INCR")
        for said in self._both("-t", "ping", "-P", 4):
            want(said.status == 0 and "throughput summary: " in said.out, said)
        self._forget()

    def comma_separated(self):
        for said in self._both("--csv", "-t", "set,get"):
            rows = list(csv.DictReader(io.StringIO(said.out)))
            want([row["test"] for row in rows] == ["SET", "GET"], said)
            want(all(float(row["rps"]) > 0 for row in rows), said)
        self._forget()

    def own_command(self):
        """A lock, and a script: what a lock node is measured with."""
        script = "return redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', 30000)"
        for words in (("SET", "lock:__rand_int__", "v", "NX", "PX", 30_000),
                      ("EVAL", script, 1, "lock:__rand_int__", "v"),
                      ("SCRIPT", "LOAD", "return redis.call('get', KEYS[1])")):
            for said in self._both("-q", "-r", 100_000, *words):
                want(said.status == 0 and len(re.findall(FIGURES, said.out)) == 1, words, said)
                want(not said.err and "rror" not in said.out, said)
        self._forget()

    def tracking(self):
        said = self._run("-q", "-t", "get", "--enable-tracking")
        want(said.status == 1, said)
        want_match("Error from server: ERR unknown subcommand 'TRACKING'", said)

    def require_ttl(self):
        """A node as it comes keeps nothing without a TTL: SET's own test says why it ends."""
        node = self._beside.new_node().wait_for_pong()
        said = run(node.port, BENCHMARK, *REQUESTS, "-q", "-t", "set")
        want(said.status == 1, said)
        want_match("Error from server: ERR a lock needs a TTL: add PX milliseconds", said)
        node.end()

    def _run(self, *words):
        return run(self._port, BENCHMARK, *REQUESTS, *words)

    def _both(self, *words):
        return self._beside.run(BENCHMARK, *REQUESTS, *words)

    def _forget(self):
        self._beside.both("FLUSHALL")


def measured(said, *titles):
    """It ended well, and each of these was measured."""
    want(said.status == 0 and not said.err, said)
    lines = said.out.replace("\r", "\n").splitlines()
    for title in titles:
        found = [line for line in lines
                 if re.fullmatch(rf"\s*{re.escape(title)}: {FIGURES}\s*", line)]
        want(len(found) == 1, f"no figures of {title}", said)


if __name__ == "__main__":
    driver.serve(User())
