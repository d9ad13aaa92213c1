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


# A kernel of a virtual machine that tells its host which memory is free (page reporting), so that
# the host may lend it to others: who touches it first then waits for the host, milliseconds at a
# time, and has it counted as CPU of its own. These have it keep what is free, but for huge pieces.
REPORTING = Path("/sys/module/page_reporting/parameters")
REPORT_LITTLE = {"page_reporting_order": "10", "min_free_ms": "60000"}


class KeptMemory:
    """As far as the kernel has such settings and lets us; `with` puts them back."""

    def __enter__(self):
        self.before = {}
        for name, value in REPORT_LITTLE.items():
            try:
                self.before[name] = (REPORTING / name).read_text()
                (REPORTING / name).write_text(value)
            except OSError:
                self.before.pop(name, None)
        return self

    def __exit__(self, *_):
        for name, value in self.before.items():
            (REPORTING / name).write_text(value)


def have_memory_backed(size):
    """Touches so many bytes of memory and gives them back, so that the host has lent them."""
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
