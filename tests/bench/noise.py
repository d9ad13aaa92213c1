"""How quiet the machine was: without that, a figure says as much of the neighbours as of us."""

import mmap
import os
import resource
import time
from pathlib import Path

# Of both cores: beyond it neighbours push the measured out of its caches.
OTHERS_MAX = 0.10
# Half of the 90 % interval of a ratio, as a part of it.
SPREAD_MAX = 0.08

TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def have_memory_backed(size):
    """Touches so many bytes of memory, and gives them back. A virtual machine's host may lend what
    is not in use to others: who touches it first then waits for the host, milliseconds at a time,
    and has it counted as CPU of its own."""
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory[::mmap.PAGESIZE] = b"t" * len(range(0, size, mmap.PAGESIZE))


def _busy_s():
    """CPU that anyone has used, and time that the host took away (steal)."""
    user, nice, system, _idle, _wait, irq, softirq, steal = map(
        int, Path("/proc/stat").read_text().splitlines()[0].split()[1:9])
    return (user + nice + system + irq + softirq + steal) * TICK_S


def _own_s():
    """What this process and the children that it has waited for have used."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in usage)


class Watch:
    """.others: the part of the machine that neither these servers nor the benchmark used."""

    def __init__(self, servers=()):
        self.servers = servers

    def _ours_s(self):
        return _own_s() + sum(server.cpu_ns() for server in self.servers) / 1e9

    def __enter__(self):
        self.began, self.busy_s, self.ours_s = time.monotonic(), _busy_s(), self._ours_s()
        return self

    def __exit__(self, *_):
        elapsed = time.monotonic() - self.began
        others_s = (_busy_s() - self.busy_s) - (self._ours_s() - self.ours_s)
        self.others = max(0.0, others_s / (elapsed * os.cpu_count()))
