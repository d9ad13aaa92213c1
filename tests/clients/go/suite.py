"""The Go libraries. Their modules come from the Go module proxy, in the versions of go.mod; each
driver is a program of its own, a folder here."""

import pathlib

from contender import Program
from library import Fault, Library, older, place

HERE = pathlib.Path(__file__).resolve().parent

LANGUAGE = "Go"
TOOLS = ("go",)

# A go that is older than go.mod wants fetches a newer one by itself, as a module.
GO = ("env", "GOTOOLCHAIN=auto", "GOWORK=off", "go")
QUIET = "{{print}}"  # else it lists what it fetches, and nobody finds the error
OFFLINE = ("env", "GOPROXY=off", *GO[1:])


def too_old():
    return older("go", ("version",), (1, 21))


def library(name, version, tries, driver, *words, **more):
    folder = place("go", driver)
    pins = (HERE / "go.mod", HERE / "go.sum", *sorted((HERE / "driver").glob("*.go")),
            HERE / driver / "main.go")
    return Library(
        LANGUAGE, name, version, tries, place=folder, pins=pins,
        program=Program((folder / "driver", *words)),
        fetch=((*GO, "list", "-C", HERE, "-deps", "-f", QUIET, f"./{driver}"),),
        build=((*OFFLINE, "build", "-C", HERE, "-o", folder / "driver", f"./{driver}"),), **more)


RECIPE = "single-node recipe"

LIBRARIES = [
    library("go-redis", "9.23.0", f"{RECIPE}, RESP3", "go_redis", "3",
            know="its Monitor passes on no line with RESP3: use `Protocol: 2` for it"),
    library("go-redis", "9.23.0", f"{RECIPE}, RESP2", "go_redis", "2"),
    library("go-redis", "9.23.0", f"{RECIPE}, RESP3, TLS", "go_redis", "3", tls=True),
    library("redsync", "4.18.1", "Mutex, over go-redis", "redsync", nodes=5),
    library("bsm/redislock", "0.9.4", "Lock, over go-redis", "redislock"),
    library("rueidis", "1.0.79", f"{RECIPE}, cache off", "rueidis",
            know="needs `DisableCache: true`: its cache needs CLIENT TRACKING"),
    library("rueidislock", "1.0.79", "Locker, cache off", "rueidislock", "polling",
            key="rueidislock:0:{}",
            know="tried with `DisableCache: true`, `KeyMajority: 1`, and `TryNextAfter: 1s`, at "
                 "which who waits tries again; it takes locks by PXAT, so both clocks must agree: "
                 "`FallbackSETPX: true` uses PX"),
    library("rueidislock", "1.0.79", "Locker", "rueidislock", "tracking", key="rueidislock:0:{}",
            unusable=Fault("TRACKING", "learns of releases by CLIENT TRACKING, which a lock node "
                           "does not serve; works with `DisableCache: true`")),
]
