"""The rows about great numbers of locks: how much memory they take, and who notices when a million
of them run out at once, or a table grows from nothing to ten millions.

A prober asks one question after another meanwhile. The bare server, which cannot pause, is asked by
the same prober under the same load, and keeps what it receives: it shows what the machine adds.
"""

import math
import socket
import statistics
import time

import noise
from figures import Row
from load import Load, encoded_size, must_have_hit, put
from probing import REPLY, SIZE, Prober, TurnWatch
from servers import BareServer, Server, fail, progress

MILLION = 1_000_000
LONG_TTL_MS = "600000"
NODE_OPTIONS = ["--max-ttl", "1h"]

FILL = ["SET", "{key}", "{value}", "NX", "PX", LONG_TTL_MS]
FILL_BY_ACQUIRE = ["LOCK.ACQUIRE", "{key}", "{value}", "PX", LONG_TTL_MS]
EXPIRING = ["SET", "{key}", "{value}", "NX", "PXAT", "{deadline}"]
SPAN_MS = 100

# As much as a server takes for a lock, Redis included.
LOCK_BYTES_MAX = 256

# From the first SET of a million to their deadline: so that a busy machine gets there as well.
AHEAD_S = 8
# Before the first deadline and after the last record is gone the prober sees the server at rest.
REST_S = 0.3
GONE_S_MAX = 30


def in_most(values):
    """What four of five do not exceed."""
    return sorted(values)[math.ceil(0.8 * len(values)) - 1]


def start(arguments, name, services=None, environment=None):
    program, core = arguments.programs[name], arguments.cores[0]
    if name == "bare":
        return BareServer(program, core, services, environment, keeps=True)
    options = NODE_OPTIONS if name == "node" else []
    return Server(program, core, options, environment)


# --- memory ---


def memory_rows(arguments):
    rows = []
    for count in (1,) if arguments.quick else (1, 10):
        redis = bytes_per_lock(arguments, "redis", FILL, count * MILLION)
        for how, command in (("SET", FILL), ("LOCK.ACQUIRE", FILL_BY_ACQUIRE)):
            node = bytes_per_lock(arguments, "node", command, count * MILLION)
            rows.append(Row(f"memory of a lock, {count} M by {how}", "bytes", node, redis, "redis",
                            node / redis, node / redis, node / redis, "at most", 0.53, 0.45))
    return rows


def bytes_per_lock(arguments, name, command, count):
    """Of resident memory, with an empty server's taken off."""
    progress(f"memory of {count:,} locks: {name}, {command[0]}")
    with start(arguments, name) as server:
        empty = server.resident_bytes()
        load = Load(command, count, keys=count, once=True)
        must_have_hit(put(load, server.port, server.pid, arguments.cores[1]), "all", load, server)
        return (server.resident_bytes() - empty) / count


# --- a million locks run out at once ---


class Burst:
    """One run: a million locks with deadlines within 100 ms, and a prober while they run out."""

    def __init__(self, arguments, name):
        self.watch = TurnWatch()
        noise.have_memory_backed(MILLION * LOCK_BYTES_MAX)
        with start(arguments, name, environment=self.watch.environment) as server:
            first_deadline = time.time() + AHEAD_S
            deadline_ms = math.ceil(first_deadline * 1000)
            load = Load(EXPIRING, MILLION, keys=MILLION, once=True, deadline=deadline_ms,
                        deadline_span=SPAN_MS)
            must_have_hit(put(load, server.port, server.pid, arguments.cores[1]), "all", load,
                          server)
            spare_s = first_deadline - REST_S - time.time()
            if spare_s < 0:
                fail(f"a million locks were not set within {AHEAD_S} s: the machine is too busy")
            time.sleep(spare_s)
            self.probe(server, arguments.cores[1], deadline_ms / 1000 + SPAN_MS / 1000)

    def probe(self, server, core, last_deadline):
        began = time.monotonic()
        self.watch.begin()
        with Prober(server.port, core) as self.prober:
            self.gone_s = wait_until_gone(server) - last_deadline
            time.sleep(REST_S)
        self.turn_ms = self.watch.longest_ms()
        self.took_s = time.monotonic() - began


def wait_until_gone(server):
    """When all records but the prober's own were given back, on the wall clock of the deadlines. By
    a connection that stays: a program that is started for each question takes milliseconds of the
    cores that are watched."""
    limit = time.monotonic() + GONE_S_MAX
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        answers = connection.makefile("rb")
        while time.monotonic() < limit:
            connection.sendall(b"DBSIZE\r\n")
            if int(answers.readline().removeprefix(b":")) <= 1:
                return time.time()
            time.sleep(0.005)
    fail(f"{server.program} still has records {GONE_S_MAX} s after they ran out")


class BareProbe:
    """The same prober for as long, at a server that has nothing else to do."""

    def __init__(self, arguments, seconds):
        with start(arguments, "bare", {"probe": (SIZE, REPLY)}) as bare:
            with Prober(bare.ports["probe"], arguments.cores[1]) as self.prober:
                time.sleep(seconds)


def expiry_rows(arguments):
    bursts, bare, others = [], [], []
    for run in range(arguments.runs or (3 if arguments.quick else 5)):
        progress(f"1,000,000 locks run out: run {run + 1}")
        with noise.Watch() as watch:
            bursts.append(Burst(arguments, "node"))
            bare.append(BareProbe(arguments, bursts[-1].took_s))
        others.append(watch.others)
    progress("1,000,000 locks run out: redis")
    redis = Burst(arguments, "redis")
    gone = [burst.gone_s for burst in bursts]
    return probe_rows("1 M run out", bursts, bare, redis, others) + [
        Row("1 M run out: all given back after", "s", statistics.median(gone), redis.gone_s,
            "redis", statistics.median(gone), min(gone), max(gone), "at most", 0.5, 0.15,
            statistics.median(others), by_wall_clock=True)]


def probe_rows(name, runs, bare, redis, others):
    # Not run by run: where both maxima are the machine's pauses, either may be far above the other,
    # and in four of five runs one of two like servers would lose.
    pause_ms = in_most([run.prober.max_ms for run in bare])
    above = [run.prober.max_ms - pause_ms for run in runs]
    p999 = [run.prober.p999_ms for run in runs]
    turns_ms = [run.turn_ms for run in runs]
    prober_note = "" if all(run.prober.alone for run in runs) else "prober without priority"
    turn_note = "" if all(run.watch.knows_pauses for run in runs) else "with the machine's pauses"
    def row(what, values, value, other, floor, aim, note, by_wall_clock=True, machine=None):
        return Row(f"{name}: {what}", "ms", value, other, "redis", value, min(values), max(values),
                   "at most", floor, aim, statistics.median(others), note,
                   by_wall_clock=by_wall_clock, machine=machine)
    return [row("prober's p99.9", p999, statistics.median(p999), redis.prober.p999_ms, 1, 0.4,
                prober_note),
            row("its maximum, above bare's", above, in_most(above), redis.prober.max_ms, 5, None,
                prober_note, machine=pause_ms),
            row("longest turn, CPU", turns_ms, in_most(turns_ms), redis.turn_ms, 1, 0.3,
                turn_note, by_wall_clock=False)]


# --- a table grows from nothing ---

FILL_SIZE = encoded_size(FILL)
# One connection: the prober shall wait for the server, not in a queue behind fifty others.
FILL_CONNECTIONS = 1


class Growth:
    """One run: a table grows under a prober, who goes on until so many seconds are over."""

    def __init__(self, arguments, name, count, seconds=0):
        self.watch = TurnWatch()
        services = {"fill": (FILL_SIZE, REPLY), "probe": (SIZE, REPLY)}
        noise.have_memory_backed(count * LOCK_BYTES_MAX)
        with start(arguments, name, services, self.watch.environment) as server:
            fill, probe = ((server.ports["fill"], server.ports["probe"]) if name == "bare"
                           else (server.port, server.port))
            load = Load(FILL, count, connections=FILL_CONNECTIONS, keys=count, once=True)
            began = time.monotonic()
            self.watch.begin()
            with Prober(probe, arguments.cores[1]) as self.prober:
                answered = put(load, fill, server.pid, arguments.cores[1])
                self.took_s = time.monotonic() - began
                time.sleep(max(0, seconds - self.took_s))
            must_have_hit(answered, "all", load, server)
            self.turn_ms = self.watch.longest_ms()


def growth_rows(arguments):
    count = (2 if arguments.quick else 10) * MILLION
    grown, bare, others = [], [], []
    for run in range(arguments.runs or (3 if arguments.quick else 5)):
        progress(f"a table grows to {count:,}: run {run + 1}")
        with noise.Watch() as watch:
            grown.append(Growth(arguments, "node", count))
            bare.append(Growth(arguments, "bare", count, grown[-1].took_s))
        others.append(watch.others)
    progress(f"a table grows to {count:,}: redis")
    redis = Growth(arguments, "redis", count)
    rows = probe_rows(f"growth to {count // MILLION} M", grown, bare, redis, others)
    # A turn of the bare server is some microseconds, and the memory that it keeps. What is above
    # that is the machine's: the host that was late with a page.
    rows[-1].machine = in_most([run.turn_ms for run in bare])
    return rows


# --- nothing at all ---


def idle_rows(arguments):
    seconds = 3 if arguments.quick else 10
    progress(f"an idle node, {seconds} s")
    def wakeups(name):
        with start(arguments, name) as server:
            time.sleep(1)  # what a start leaves to do is done
            before = server.wakeups()
            time.sleep(seconds)
            return (server.wakeups() - before) / seconds
    node, redis = wakeups("node"), wakeups("redis")
    return [Row("idle, no lock", "wakeups/s", node, redis, "redis", node, node, node, "at most",
                0)]
