"""The rows about a front door: one address for the clients of one Redis, with five nodes behind it.

The five servers share one core; the door and its clients have the other, as a client has that
asks five servers itself.
"""

import contextlib
import os
import resource
import signal
import socket
import statistics
import time

import coordinator_rows
import noise
from coordinator_rows import Group, js_bench, node_redlock, tell
from figures import Row, median_interval, ratio_row
from servers import BUILD, Program, Server, progress, reserve_ports

RELEASE = ('if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) '
           "else return 0 end")
CLIENTS = 50
IDLE = 10_000  # that hold a connection, and ask nothing
NODE_TIMEOUT_S = 0.5


class Door(Server):
    """A front door over a group, on a core."""

    def __init__(self, group, core):
        super().__init__(Program(BUILD / "redlock"), core)
        self.group = group

    def take_core(self):
        """Beside its clients, none before the other: a door that went first would have each
        request alone in a turn, and each turn costs it a round of the nodes."""
        os.sched_setaffinity(0, {self.core})

    def command_options(self):
        self.port = reserve_ports(1)[0]
        nodes = ",".join(f"127.0.0.1:{port}" for port in self.group.ports)
        return ["serve", "--nodes", nodes, "--listen", f"127.0.0.1:{self.port}",
                "--maxclients", str(IDLE + 2 * CLIENTS)]

    def __enter__(self):
        super().__enter__()
        self.release = self.cli("SCRIPT", "LOAD", RELEASE)
        return self

    def pairs(self, clients, seconds):
        """What its clients get, and what it spends on a pair."""
        before = self.cpu_ns()
        told = tell([BUILD / "lock_pairs", seconds, clients, self.port, self.release], self.core)
        return {**told, "door_cpu_us": (self.cpu_ns() - before) / 1e3 / told["pairs"]}


def rows(arguments):
    seconds, cores = (2 if arguments.quick else 5), arguments.cores
    runs = arguments.runs or (3 if arguments.quick else 5)
    redlock_js = node_redlock()
    many, one, ill, crowded, others = [], [], {1: [], 2: []}, [], []
    with Group(arguments.programs["node"], cores[0]) as nodes, \
            Group(arguments.programs["redis"], cores[0]) as redis, Door(nodes, cores[1]) as door:
        door.pairs(CLIENTS, 1)
        idle_bytes = bytes_of_idle(door)
        for run in range(runs):
            progress(f"a front door: run {run + 1} of {runs}")
            with noise.Watch(nodes.servers + redis.servers + [door]) as watch:
                many.append({"ours": door.pairs(CLIENTS, seconds)})
                if redlock_js:
                    many[-1]["node-redlock"] = js_bench(redlock_js, redis, CLIENTS, seconds,
                                                        cores[1])
                one.append({"ours": door.pairs(1, seconds)["p50_us"],
                            "the coordinator": unfenced_p50(nodes, seconds, cores[1])})
                for count, found in ill.items():
                    found.append({"ours": with_stopped(nodes, count, door, seconds),
                                  "healthy": many[-1]["ours"]["p99_us"]})
                with idle_clients(door):
                    crowded.append({"ours": door.pairs(CLIENTS, seconds)["p50_us"],
                                    "without": many[-1]["ours"]["p50_us"]})
            others.append(watch.others)
    return (many_rows(many, others) + one_rows(one, others) + ill_rows(ill, others) +
            idle_rows(idle_bytes, crowded, others))


@contextlib.contextmanager
def idle_clients(door):
    """So many that have said something once, and are silent."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with contextlib.ExitStack() as clients:
        for _ in range(IDLE):
            client = clients.enter_context(socket.create_connection(("127.0.0.1", door.port)))
            client.sendall(b"PING\r\n")
            if client.recv(64) != b"+PONG\r\n":
                raise AssertionError("an idle client is not served")
        yield


def bytes_of_idle(door):
    """Of the door's resident memory. Only the first crowd is new to its heap."""
    before = door.resident_bytes()
    with idle_clients(door):
        return (door.resident_bytes() - before) / IDLE


def unfenced_p50(nodes, seconds, core):
    """Of a pair by the coordinator itself. A plain SET has no token either."""
    return coordinator_rows.bench(nodes, 1, seconds, core, "--no-fence")["p50_us"]


def with_stopped(nodes, count, door, seconds):
    """The 99 % of a door whose nodes hang for longer than the node timeout."""
    hung = nodes.servers[:count]
    for node in hung:
        os.kill(node.pid, signal.SIGSTOP)
    try:
        door.pairs(CLIENTS, 2 * NODE_TIMEOUT_S)
        return door.pairs(CLIENTS, seconds)["p99_us"]
    finally:
        for node in hung:
            os.kill(node.pid, signal.SIGCONT)
        time.sleep(2 * NODE_TIMEOUT_S)


def many_rows(many, others):
    found = []
    if "node-redlock" in many[0]:
        rates = [{side: 1 / told["pairs_per_second"] for side, told in sample.items()}
                 for sample in many]
        found.append(ratio_row("a front door, 50 clients", "s a pair", rates, "ours",
                               "node-redlock", "at least", 2.5, 3, others, by_wall_clock=True))
        found[0].ours, found[0].other = 1 / found[0].ours, 1 / found[0].other
        found[0].what = "pairs/s"
    cpu = [sample["ours"]["door_cpu_us"] for sample in many]
    found.append(Row("a front door, 50 clients: its CPU", "us a pair", statistics.median(cpu), None,
                     "", statistics.median(cpu), *median_interval(cpu), "at most", 20, 16,
                     statistics.median(others)))
    return found


def one_rows(one, others):
    return [ratio_row("a front door, 1 client: p50", "us a pair", one, "ours", "the coordinator",
                      "at most", 1.6, 1.3, others, by_wall_clock=True)]


def idle_rows(idle_bytes, crowded, others):
    memory = Row("a front door, 10,000 idle clients: memory", "bytes a client", idle_bytes, None,
                 "", idle_bytes, idle_bytes, idle_bytes, "at most", 6144, 4096,
                 statistics.median(others))
    return [memory, ratio_row("a front door, 10,000 idle clients beside: p50", "us a pair", crowded,
                              "ours", "without", "at most", 1.2, 1.05, others,
                              by_wall_clock=True)]


def ill_rows(ill, others):
    return [ratio_row(f"a front door, {count} of 5 nodes hung: p99", "us a pair", found, "ours",
                      "healthy", "at most", 1.5, 1.1, others, by_wall_clock=True)
            for count, found in ill.items()]
