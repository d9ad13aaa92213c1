"""The Node.js libraries. Their packages come from npm, in the versions of packages/*/, each into a
folder of its own."""

import pathlib

from contender import Program
from library import Library, place

HERE = pathlib.Path(__file__).resolve().parent

LANGUAGE = "Node.js"
TOOLS = ("node", "npm")


def library(name, version, tries, package, driver, *words, **more):
    folder = place("javascript", package)
    pins = tuple(HERE / "packages" / package / file
                 for file in ("package.json", "package-lock.json"))
    return Library(
        LANGUAGE, name, version, tries, place=folder, pins=pins,
        program=Program(("node", HERE / driver, *words), {"NODE_PATH": f"{folder}/node_modules"}),
        fetch=(("cp", *pins, folder), ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")),
        **more)


RECIPE = "single-node recipe"
FAIL_SOON = ("tried with `maxRetriesPerRequest: 1`: by default a call waits {} for a node that is "
             "gone")
NO_QUEUE = ("tried with ioredis's `enableOfflineQueue: false`: by default an acquisition waits for "
            "a node that is gone")

LIBRARIES = [
    library("ioredis", "6.0.0", RECIPE, "ioredis-6", "ioredis.js",
            know=FAIL_SOON.format("over a minute")),
    library("ioredis", "5.11.1", RECIPE, "ioredis-5", "ioredis.js", know=FAIL_SOON.format("10 s")),
    library("ioredis", "6.0.0", f"{RECIPE}, TLS", "ioredis-6", "ioredis.js", tls=True,
            know=FAIL_SOON.format("over a minute")),
    library("node-redis", "6.3.1", f"{RECIPE}, RESP3", "node-redis", "node_redis.js", "3"),
    library("node-redis", "6.3.1", f"{RECIPE}, RESP2", "node-redis", "node_redis.js", "2"),
    library("redlock", "5.0.0-beta.2", "Redlock, over ioredis 6", "redlock-5", "node_redlock_5.js",
            nodes=5, know=NO_QUEUE),
    library("redlock", "4.2.0", "Redlock, over ioredis 5", "redlock-4", "node_redlock_4.js",
            nodes=5, know=NO_QUEUE),
    library("redis-semaphore", "5.8.0", "Mutex, over ioredis 6", "redis-semaphore",
            "redis_semaphore.js", "Mutex", key="mutex:{}", know=NO_QUEUE),
    library("redis-semaphore", "5.8.0", "RedlockMutex, over ioredis 6", "redis-semaphore",
            "redis_semaphore.js", "RedlockMutex", nodes=5, key="mutex:{}", know=NO_QUEUE),
]
