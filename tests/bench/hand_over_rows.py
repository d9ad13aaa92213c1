"""The rows about handing a lock over among many that wait for it (rule Q7): time, CPU, fairness.

processes   so many `redlock run` wait for one lock, each has it once
one client  so many acquisitions of one client wait; each has the lock for a moment, and waits again

The line with few waiters is what the longer ones are held against: a hand-over is to cost the same.
Beside stands a Redis whose waiters poll, with 100 ms between two looks, as redis-py's Lock does.
"""

import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import noise
from coordinator_rows import Group
from figures import Row
from servers import BUILD, Server, fail, progress

FEW = 5
WAITERS = (50, 500, 2_000)
QUICK_WAITERS = (50, 200)
HAND_OVERS = 2_000  # of one client
RATIO_MAX = 1.5     # of a long line to a short one
PLACES_MAX = 8      # by which anyone in one process is overtaken
POLLERS = 50
SHORT_RUNS = 5
HOLDER_S = 100_000
COME_S = 240        # until all wait, and until all were served

# What redis-py's Lock does, without its library: SET NX PX, and 100 ms until it looks again.
POLLER = """
import socket, sys, time
link = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
def ask(line):
    link.sendall(line + bytes((13, 10)))
    return link.recv(64)
while not ask(b"SET job me NX PX 60000").startswith(b"+OK"):
    time.sleep(0.1)
ask(b"DEL job")
"""


def cpu_ns(pid):
    """Of all threads; 0 of a process that is gone."""
    spent = 0
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as told:
                spent += int(told.read().split()[0])
    return spent


def urls(group):
    return [f"redis://127.0.0.1:{port}" for port in group.ports]


class Line:
    """Processes that wait, and one that holds; those that are left are ended with it."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.order = pathlib.Path(self.folder.name) / "order"
        self.started = []
        return self

    def __exit__(self, *details):
        for process in self.started:
            if process.returncode is None:
                process.kill()
                process.wait()
        self.folder.cleanup()

    def start(self, *command):
        self.started.append(subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL))
        return self.started[-1]

    def served(self, waiting, release):
        """Until all have ended: seconds, and the CPU of each since the release."""
        before = {process.pid: cpu_ns(process.pid) for process in waiting}
        began, spent = time.monotonic(), 0.0
        release()
        left = {process.pid: process for process in waiting}
        while left:
            pid, status, usage = os.wait4(-1, 0)
            if pid not in left:
                continue
            left.pop(pid).returncode = os.waitstatus_to_exitcode(status)
            spent += usage.ru_utime + usage.ru_stime - before[pid] / 1e9
        if any(process.returncode for process in waiting):
            fail("a process that waited for a lock did not get it")
        return time.monotonic() - began, spent


def overtaken(order):
    """By how many that came later anyone was overtaken, at most; in their order of coming."""
    place = {waiter: at for at, waiter in enumerate(order)}
    return max(sum(1 for later in range(waiter + 1, len(order)) if place[later] < place[waiter])
               for waiter in range(len(order)))


def wait_for(servers, count):
    """Until so many wait at each of these."""
    end = time.monotonic() + COME_S
    while time.monotonic() < end:
        told = [re.search(r"^waiters:(\d+)", server.cli("INFO", "locks"), re.MULTILINE)
                for server in servers]
        if all(found and int(found[1]) >= count for found in told):
            return
        time.sleep(0.005)
    fail(f"{count} processes did not all come to wait within {COME_S} s")


def processes(group, count):
    nodes = ",".join(urls(group))
    with Line() as line:
        run = [BUILD / "redlock", "run", "job", "--nodes", nodes, "--ttl", "60s"]
        holder = line.start(*run, "--", "sleep", HOLDER_S)
        time.sleep(1)
        waiting = []
        for number in range(count):
            waiting.append(line.start(*run, "--wait", "1h", "--", "sh", "-c",
                                      f"echo {number} >> {line.order}"))
            # One after another: who is started first need not be the first to come.
            wait_for(group.servers[:1], number + 1)
        wait_for(group.servers, count)
        time.sleep(1)  # they settle
        before = sum(server.cpu_ns() for server in group.servers)
        seconds, spent = line.served(waiting, holder.terminate)
        nodes_ns = sum(server.cpu_ns() for server in group.servers) - before
        order = [int(word) for word in line.order.read_text(encoding="ascii").split()]
    return {"us": seconds * 1e6 / count, "cpu_us": spent * 1e6 / count + nodes_ns / 1e3 / count,
            "overtaken": overtaken(order)}


def one_client(group, count):
    done = subprocess.run([str(BUILD / "hand_over"), str(count), str(HAND_OVERS), *urls(group)],
                          text=True, capture_output=True, check=False)
    told = re.match(r"us=(\d+) cpu_us=(\d+) overtaken=(\d+)$", done.stdout)
    if not told:
        fail(f"hand_over ended with {done.returncode}: {done.stderr.strip()}")
    return dict(zip(("us", "cpu_us", "overtaken"), map(int, told.groups())))


def polling(redis):
    """So many processes wait for one lock of a Redis, and look again and again."""
    redis.cli("SET", "job", "holder")
    with Line() as line:
        waiting = [line.start(sys.executable, "-c", POLLER, redis.port) for _ in range(POLLERS)]
        time.sleep(5)
        seconds, spent = line.served(waiting, lambda: redis.cli("DEL", "job"))
    return {"us": seconds * 1e6 / POLLERS, "cpu_us": spent * 1e6 / POLLERS}


def rows_of(kind, few, many, count, others):
    found = []
    for figure, what, name in (("us", "us", "time"), ("cpu_us", "us", "CPU")):
        ratio = many[figure] / few[figure]
        found.append(Row(f"a hand-over, {kind}, {count} wait: {name}", what, many[figure],
                         few[figure], f"{FEW} wait", ratio, ratio, ratio, "at most", RATIO_MAX,
                         1.0, others, by_wall_clock=figure == "us"))
    is_bound = kind == "one client"
    found.append(Row(f"a hand-over, {kind}, {count} wait: overtaken", "places",
                     many["overtaken"], None, "", many["overtaken"], many["overtaken"],
                     many["overtaken"], "at most" if is_bound else "",
                     PLACES_MAX if is_bound else None, 0 if is_bound else None, others))
    return found


def median_of(runs):
    return {figure: sorted(run[figure] for run in runs)[len(runs) // 2] for figure in runs[0]}


def rows(arguments):
    runs = arguments.runs or (1 if arguments.quick else 3)
    counts = QUICK_WAITERS if arguments.quick else WAITERS
    found = []
    with Group(arguments.programs["node"], arguments.cores[0]) as nodes, \
            Server(arguments.programs["redis"], arguments.cores[0]) as redis:
        for kind, measure in (("processes", processes), ("one client", one_client)):
            told, others = {}, 0.0
            for count in (FEW, *counts):
                progress(f"a lock is handed over: {kind}, {count} wait")
                with noise.Watch(nodes.servers) as watch:
                    # Of a short line few hand-overs are counted at a time.
                    times = runs * SHORT_RUNS if count == FEW else runs
                    told[count] = median_of([measure(nodes, count) for _ in range(times)])
                others = max(others, watch.others)
            for count in counts:
                found += rows_of(kind, told[FEW], told[count], count, others)
        poll = polling(redis)
        for figure, name in (("us", "time"), ("cpu_us", "CPU")):
            value = poll[figure]
            found.append(Row(f"a hand-over, Redis that is polled, {POLLERS} wait: {name}", "us",
                             value, None, "", value, value, value, ""))
    return found
