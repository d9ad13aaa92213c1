"""The rows about locks on five nodes: the coordinator, node-redlock, and a plain quorum wait.

All five servers of each kind share one core, the client has the other. Each turn has one run of
each, so that a slow minute of the machine meets all of them.
"""

import contextlib
import json
import os
import subprocess
import sys

import noise
from figures import Row, median_interval, ratio_row
from servers import BUILD, ROOT, Server, fail, progress

sys.path.insert(0, str(ROOT / "tests" / "clients"))

import library  # noqa: E402

NODES = 5
HERE = ROOT / "tests" / "bench"


def node_redlock():
    """How node-redlock is run, fetched as ./dev clients does; None where it cannot be had."""
    for suite in library.suites():
        for one in getattr(suite, "LIBRARIES", []):
            if one.name == "redlock" and one.version.startswith("5."):
                if library.missing_tools(suite):
                    progress("no node or no npm: node-redlock is not compared")
                    return None
                try:
                    library.fetch(one)
                except (library.Unreachable, library.Broken) as error:
                    progress(f"node-redlock is not compared: {error}")
                    return None
                return {"command": ["node", HERE / "node_redlock.js"],
                        "environment": {**os.environ, **one.program.environment}}
    fail("tests/clients knows no node-redlock 5")


class Group:
    """Five servers of one kind on one core."""

    def __init__(self, program, core):
        self.servers = [Server(program, core) for _ in range(NODES)]
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        for server in self.servers:
            self.stack.enter_context(server)
        return self

    def __exit__(self, *details):
        return self.stack.__exit__(*details)

    @property
    def ports(self):
        return [str(server.port) for server in self.servers]


def tell(command, core, environment=None):
    """What a client says of itself, as JSON."""
    words = ["taskset", "-c", core, *command]
    done = subprocess.run([str(word) for word in words], text=True, stdin=subprocess.DEVNULL,
                          capture_output=True, check=False, env=environment)
    if done.returncode != 0:
        fail(f"{command[0]} ended with {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def bench(group, in_flight, seconds, core, *options):
    nodes = ",".join(f"redis://127.0.0.1:{port}" for port in group.ports)
    told = tell([BUILD / "redlock", "bench", "--nodes", nodes, "--for", f"{seconds}s",
                 "--in-flight", in_flight, "--json", *options], core)
    if told["acquire"]["failed"] or told["release"]["failed"]:
        fail(f"redlock bench: {told['acquire']['failed']} {told['release']['failed']}")
    return {"pairs_per_second": told["pairs_per_second"],
            "cpu_us_per_pair": told["cpu_us_per_pair"], "p50_us": told["pair"]["p50_us"]}


def rows(arguments):
    seconds, core = (2 if arguments.quick else 5), arguments.cores[1]
    runs = arguments.runs or (3 if arguments.quick else 5)
    redlock_js = node_redlock()
    many, one, others = [], [], []
    with Group(arguments.programs["node"], arguments.cores[0]) as nodes, \
            Group(arguments.programs["redis"], arguments.cores[0]) as redis:
        for run in range(runs):
            progress(f"locks on five nodes: run {run + 1} of {runs}")
            with noise.Watch(nodes.servers + redis.servers) as watch:
                for in_flight, found in ((50, many), (1, one)):
                    found.append({"ours": bench(nodes, in_flight, seconds, core)})
                    if redlock_js:
                        found[-1]["node-redlock"] = js_bench(redlock_js, redis, in_flight, seconds,
                                                             core)
                    found[-1]["quorum wait"] = tell(
                        [BUILD / "quorum_wait", seconds, in_flight, *nodes.ports], core)
            others.append(watch.others)
    return many_rows(many, others) + one_rows(one, others)


def js_bench(redlock_js, redis, in_flight, seconds, core):
    return tell([*redlock_js["command"], ",".join(redis.ports), in_flight, seconds], core,
                redlock_js["environment"])


def of(samples, figure):
    return [{side: told[figure] for side, told in sample.items() if figure in told}
            for sample in samples]


def many_rows(many, others):
    cpu = [sample["ours"]["cpu_us_per_pair"] for sample in many]
    low, high = median_interval(cpu)
    middle = sorted(cpu)[len(cpu) // 2]
    found = []
    if "node-redlock" in many[0]:
        # Pairs a second: the more the better, so ours stands above.
        rates = [{"ours": 1 / sample["ours"], "node-redlock": 1 / sample["node-redlock"]}
                 for sample in of(many, "pairs_per_second")]
        found.append(ratio_row("five nodes, 50 in flight", "s a pair", rates, "ours",
                               "node-redlock", "at least", 5, 10, others, by_wall_clock=True))
        found[0].ours, found[0].other = 1 / found[0].ours, 1 / found[0].other
        found[0].what = "pairs/s"
    # Told, not wanted: what nodes and kernel alone let through, and so the coordinator's part.
    rates = [{"ours": 1 / sample["ours"], "quorum wait": 1 / sample["quorum wait"]}
             for sample in of(many, "pairs_per_second")]
    limit = ratio_row("five nodes, 50 in flight", "s a pair", rates, "ours", "quorum wait", "",
                      others=others, by_wall_clock=True)
    limit.ours, limit.other, limit.what = 1 / limit.ours, 1 / limit.other, "pairs/s"
    found.append(limit)
    other = [sample["node-redlock"]["cpu_us_per_pair"] for sample in many
             if "node-redlock" in sample]
    found.append(Row("five nodes, 50 in flight: client CPU", "us a pair", middle,
                     sorted(other)[len(other) // 2] if other else None, "node-redlock", middle,
                     low, high, "at most", 8, None, sorted(others)[len(others) // 2]))
    return found


def one_rows(one, others):
    found = []
    for other, floor, aim in (("node-redlock", 0.85, 0.75), ("quorum wait", 1.15, 1.05)):
        if other in one[0]:
            found.append(ratio_row("five nodes, 1 in flight: p50", "us a pair",
                                   of(one, "p50_us"), "ours", other, "at most", floor, aim,
                                   others, by_wall_clock=True))
    return found
