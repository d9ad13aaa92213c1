"""Ports of 127.0.0.1 for the servers of a test, its own until the test's process ends.

A test stops a server and starts it again at the same port while other tests run beside it, so a
port that nobody listens on is not yet free. Whoever takes one binds its UDP namesake as well, which
nothing here serves: the kernel gives that to one process at a time, and takes it back when the
process ends, however it ends. (ports.h is the same for C++.)
"""

import os
import socket

# Below those of `redlock drill`, and of those that the kernel gives to clients.
FIRST, COUNT = 10000, 2000

HELD = {}  # by port


def hold(port):
    """Whether it is this process's now."""
    namesake = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        namesake.bind(("127.0.0.1", port))
        with socket.socket() as probe:  # a server that is no test's
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
    except OSError:
        namesake.close()
        return False
    HELD[port] = namesake
    return True


def reserve_ports(count):
    """Ports in a row."""
    begin, row = os.getpid() % COUNT, []
    for i in range(2 * COUNT):
        port = FIRST + (begin + i) % COUNT
        if row and port != row[-1] + 1:
            row = []
        row = row + [port] if hold(port) else []
        if len(row) == count:
            return row
    raise AssertionError(f"no {count} free ports in a row from {FIRST} to {FIRST + COUNT - 1}")


def give_back_ports(ports):
    """For whoever starts very many servers, each for a while: when these are over."""
    for port in ports:
        if namesake := HELD.pop(port, None):
            namesake.close()
