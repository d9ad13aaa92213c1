"""C: hiredis, and the programs that every user of Redis has. hiredis is Debian's libhiredis-dev;
redis-cli and redis-benchmark are its redis-tools, the exporter is unpacked by ./dev clients."""

import pathlib
import shutil
import sys

from contender import Program
from library import BUILD, Library, place

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE))

from metrics import TABLES  # noqa: E402, F401  (for the page)

PYTHON = HERE.parent / "python"  # whose drivers' protocol these share

LANGUAGE = "C"
TOOLS = ("cc", "pkg-config", "redis-cli", "redis-benchmark", "setpriv")

EXPORTER = place("debian", "prometheus-redis-exporter") / "usr/bin/prometheus-redis-exporter"
if not EXPORTER.exists():
    EXPORTER = shutil.which("prometheus-redis-exporter") or EXPORTER

COMPILE = ('exec cc -std=gnu11 -O1 -Wall -o driver "$0/driver.c" "$0/$1.c" '
           '$(pkg-config --cflags --libs "hiredis = 0.14.1" $2)')


def hiredis(tries, source, needs, **more):
    return Library(
        LANGUAGE, "hiredis", "0.14.1 (Debian)", tries, place=place("c", source),
        pins=(HERE / "driver.h", HERE / "driver.c", HERE / f"{source}.c"),
        program=Program((place("c", source) / "driver",)),
        build=(("sh", "-c", COMPILE, HERE, source, needs),), **more)


def tool(name, version, tries, driver, says_version, *words, **more):
    """A program, tried by a driver in Python. says_version: what makes it say its version."""
    return Library(
        LANGUAGE, name, f"{version} (Debian)", tries, place=place("c", driver),
        program=Program((sys.executable, HERE / f"{driver}.py", *words),
                        {"PYTHONPATH": str(PYTHON), "REDLOCK_BUILD": str(BUILD)}),
        build=(("sh", "-c", f'"$0" {says_version} 2>&1 | grep -F {version}', *(words or (name,))),),
        **more)


LIBRARIES = [
    hiredis("single-node recipe", "hiredis_sync", ""),
    hiredis("single-node recipe, asynchronous, over libuv", "hiredis_async", "libuv",
            know="tried with a timer of 3 s beside each call: its libuv adapter passes on no error "
                 "of a poll, so nobody is told of a connection that is refused"),
    tool("redis-cli", "7.0.15", "a lock from a shell script, and its modes", "redis_cli",
         "--version",
         know="`--rdb`, `--functions-rdb` and `--replica` end with `unknown command`: a node has "
              "no replication; `--ldb` runs nothing: `This node has no script debugger`; "
              "`--hotkeys` answers as Redis without an LFU policy; `SELECT` knows database 0"),
    tool("redis-cli", "7.0.15", "a lock from a shell script, TLS", "redis_cli_tls", "--version",
         tls=True),
    tool("redis-benchmark", "7.0.15", "its tests and options", "redis_benchmark", "--version",
         takes_locks=False, node_flags=("--require-ttl", "no"),
         know="its default run ends at LPUSH, as a node keeps no lists: name the tests, `-t "
              "ping,set,get,incr,hset,mset`, or give it a command, as `SET lock:__rand_int__ v NX "
              "PX 30000`, which needs no setting; `--enable-tracking` ends it at once"),
    tool("prometheus-redis-exporter", "1.45.0", "its metrics", "redis_exporter", "--version",
         EXPORTER, takes_locks=False,
         know="every metric of a plain Redis, but for those of the tables below"),
]
