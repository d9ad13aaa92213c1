"""The Python libraries. Their packages come from PyPI, in the versions of requirements/, each into
a folder of its own; Debian's redis-py 4 is its package python3-redis, for Debian's own Python."""

import pathlib
import sys

from contender import Program
from library import Fault, Library, place

HERE = pathlib.Path(__file__).resolve().parent

LANGUAGE = "Python"
TOOLS = ("python3", "pip")

DEBIAN_PYTHON = "/usr/bin/python3"


def library(name, version, tries, driver, requirements, **more):
    pins = HERE / "requirements" / f"{requirements}.txt"
    folder = place("python", requirements)
    return Library(
        LANGUAGE, name, version, tries, place=folder, pins=(pins,),
        program=Program((sys.executable, HERE / driver), {"PYTHONPATH": f"{folder}:{HERE}"}),
        fetch=((sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade",
                "--target", folder, "--requirement", pins),),
        **more)


def debian_library(tries, driver, **more):
    """From the package python3-redis, which ./dev clients installs."""
    return Library(
        LANGUAGE, "redis-py", "4.3.4 (Debian)", tries, place=place("python", "debian-redis"),
        program=Program((DEBIAN_PYTHON, HERE / driver), {"PYTHONPATH": str(HERE)}),
        build=((DEBIAN_PYTHON, "-c", "import redis; assert redis.__version__ == '4.3.4'"),),
        **more)


NO_RETRY = ("tried with redis-py's `retry=Retry(NoBackoff(), 0)`: by default an acquisition waits "
            "4 s for a node that is gone")

LIBRARIES = [
    library("redis-py", "8.1.0", "Lock", "redis_py.py", "redis-8"),
    library("redis-py", "8.1.0", "Lock, asyncio", "redis_py_asyncio.py", "redis-8"),
    library("redis-py", "8.1.0", "Lock, TLS", "redis_py.py", "redis-8", tls=True),
    library("redis-py", "5.3.1", "Lock", "redis_py.py", "redis-5"),
    library("redis-py", "5.3.1", "Lock, asyncio", "redis_py_asyncio.py", "redis-5"),
    debian_library("Lock", "redis_py.py"),
    debian_library("Lock, asyncio", "redis_py_asyncio.py"),
    debian_library("Lock, TLS", "redis_py.py", tls=True),
    library("pottery", "3.0.1", "Redlock", "pottery_redlock.py", "pottery", nodes=5,
            key="redlock:{}"),
    library("pottery", "3.0.1", "AIORedlock", "pottery_aioredlock.py", "pottery", nodes=5,
            key="redlock:{}",
            know=NO_RETRY),
    library("redlock-py", "1.0.8", "Redlock", "redlock_py.py", "redlock-py", nodes=5,
            node_flags=("--restart-reply", "held"),
            faults={name: Fault("MultipleRedlockException", "an error of one node is thrown "
                                "although the quorum was got, and the lock stays until its TTL")
                    for name in ("restart under way", "one down", "two down")}),
    library("python-redis-lock", "4.0.1", "Lock", "python_redis_lock.py", "python-redis-lock",
            key="lock:{}",
            unusable=Fault("Unknown Redis command", "wakes its waiters by a list (LPUSH, BLPOP), "
                           "and a lock node keeps no lists")),
    library("aioredlock", "0.7.3", "Aioredlock", "aioredlock_driver.py", "aioredlock", nodes=5,
            know="last released in 2022, over aioredis 1"),
]
