"""The Java libraries. Their packages come from Maven Central, in the versions of pom.xml, each with
what it needs into a folder of its own, and the drivers are compiled there against them."""

import pathlib

from contender import Program
from library import Fault, Library, place

HERE = pathlib.Path(__file__).resolve().parent
POM = HERE / "pom.xml"

LANGUAGE = "Java"
TOOLS = ("java", "javac", "mvn", "flock")

COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"

# What a virtual machine that lives for seconds needs: it starts sooner and takes less.
JAVA = ("java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m")


def library(name, version, tries, profile, sources, *words, **more):
    """sources: the driver first, then what it needs."""
    folder = place("java", profile)
    paths = tuple(HERE / f"{source}.java" for source in (*sources, "Driver"))
    return Library(
        LANGUAGE, name, version, tries, place=folder, pins=(POM, *paths),
        program=Program((*JAVA, "-cp", f"{folder}/classes:{folder}/lib/*", sources[0], *words)),
        # One at a time, as Maven's cache is not made for two.
        fetch=(("rm", "-rf", "lib", "classes"),
               ("flock", POM, "mvn", "--batch-mode", "--quiet", "--update-snapshots", "--file", POM,
                "--activate-profiles", profile, COPY, "-DincludeScope=runtime",
                f"-DoutputDirectory={folder}/lib")),
        build=(("javac", "-d", "classes", "-cp", "lib/*", *paths),),
        **more)


RECIPE = "single-node recipe"
RECIPE_SOURCES = ("Recipe", "Waiting")
REJECTS = ("tried with Lettuce's `DisconnectedBehavior.REJECT_COMMANDS`: by default a call waits "
           "60 s for a node that is gone")


def jedis(protocol):
    return library("Jedis", "8.0.2", f"{RECIPE}, {protocol}", "jedis",
                   ("JedisUser", *RECIPE_SOURCES), protocol)


def lettuce(protocol, more="", **options):
    return library("Lettuce", "7.7.0", f"{RECIPE}, {protocol}{more}", "lettuce",
                   ("LettuceUser", *RECIPE_SOURCES), protocol, know=REJECTS, **options)


def redisson(lock, tries, protocol="RESP2", **more):
    return library("Redisson", "4.7.0", tries, "redisson", ("RedissonUser",), lock, protocol,
                   **more)


def shedlock(tries, safe_update, **more):
    return library("ShedLock", "7.10.1", tries, "shedlock",
                   ("ShedLockUser", "SpringLettuce", "Waiting"), safe_update,
                   key="job-lock:test:{}", know=REJECTS, **more)


def spring(lock_type, **more):
    return library("Spring Integration", "7.1.0", f"RedisLockRegistry, {lock_type}",
                   "spring-integration", ("SpringIntegrationUser", "SpringLettuce"), lock_type,
                   key="registry:{}", know=REJECTS, **more)


# Rule L2: INCR of a key that is not there gives it max-ttl, and later ones leave that TTL alone.
COUNTER = ("its tokens come from a counter without TTL, which gets max-ttl here: when that is over "
           "or the node crashed, tokens begin again at 1, so no store may trust them; take the "
           "token of LOCK.ACQUIRE, which rises through crashes")
READ_WRITE = ("its read lock makes a key first and gives it its TTL then, in one script: "
              "without `require-ttl no` that is refused")

LIBRARIES = [
    jedis("RESP3"),
    jedis("RESP2"),
    lettuce("RESP3"),
    lettuce("RESP2"),
    lettuce("RESP3", ", TLS", tls=True),
    redisson("Reentrant", "RLock, RESP2", "RESP2", wakes_within_ms=50),
    redisson("Reentrant", "RLock, RESP3", "RESP3", wakes_within_ms=50),
    redisson("Fenced", "FencedLock", wakes_within_ms=50, know=COUNTER, faults={
        "crash": Fault("locks of an earlier scenario are still held", "to a node the counter is a "
                       "lock of max-ttl, so after a crash it recovers for that long")}),
    redisson("Spin", "SpinLock"),
    redisson("Multi", "MultiLock of two locks", tells_errors=False),
    redisson("Red", "RedissonRedLock", nodes=5, know="deprecated by its makers; tried with "
             "`retryAttempts: 0`: by default every node that is gone costs 5 s", faults={
                 "restart under way": Fault(
                     "acquire after a restart: yes", "it asks no further node as soon as three "
                     "granted and one did not, so the lock may stand at three where four serve")}),
    redisson("ReadWrite", "ReadWriteLock", node_flags=("--require-ttl", "no"),
             know=READ_WRITE),
    redisson("Fair", "FairLock", unusable=Fault(
        "Unknown Redis command", "keeps its waiters in a list and a sorted set, and a lock node "
        "keeps neither")),
    shedlock("LockProvider over Spring Data, safeUpdate", "true"),
    shedlock("LockProvider over Spring Data", "false", faults={
        "wrong owner": Fault("alice (extends|released) bob's lock", "without `safeUpdate(true)` it "
                             "extends and deletes the lock of whoever holds it by then")}),
    spring("SPIN_LOCK"),
    spring("PUB_SUB_LOCK", wakes_within_ms=50),
]
