"""A lock library of a few lines with a driver, to try the scenarios themselves: each of its faults
must be found. `toy.py [FAULT]`; over as many nodes as it is opened with."""

import pathlib
import sys
import time
import uuid

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "python"), str(HERE.parent / "process")]

import driver  # noqa: E402
from harness import Client, RedisError  # noqa: E402

COMPARE = 'if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call({}) else return 0 end'
RELEASE = COMPARE.format('"del",KEYS[1]')
EXTEND = COMPARE.format('"pexpire",KEYS[1],ARGV[2]')
RETRY_S = 0.02


class Toy:
    def open(self, addresses):
        self._ports = [port for _, port in addresses]
        self._values = {}

    def acquire(self, name, ttl_s, wait_s):
        end = time.monotonic() + wait_s
        while not self._attempt(name, ttl_s):
            if time.monotonic() > end:
                return False
            time.sleep(RETRY_S)
        return True

    def extend(self, name, ttl_s):
        if FAULT == "extends any":
            return self._votes(self._ask("PEXPIRE", name, int(ttl_s * 1000)), 1)
        value = self._values[name]
        return self._votes(self._ask("EVAL", EXTEND, 1, name, value, int(ttl_s * 1000)), 1)

    def release(self, name):
        if FAULT == "releases any":
            return self._votes(self._ask("DEL", name), 1)
        return self._votes(self._ask("EVAL", RELEASE, 1, name, self._values[name]), 1)

    def feature(self):
        assert FAULT != "feature fails"

    def _attempt(self, name, ttl_s):
        value = str(uuid.uuid4())
        condition = [] if FAULT == "takes any" else ["NX"]
        ttl_ms = int(ttl_s * 1000) * (2 if FAULT == "longer TTL" else 1)
        replies = self._ask("SET", name, value, *condition, "PX", ttl_ms)
        if FAULT == "waits for all" and any(isinstance(reply, Exception) for reply in replies):
            time.sleep(0.5)
        if self._votes(replies, "OK"):
            self._values[name] = value
            return True
        if FAULT != "leaves its votes":
            self._ask("EVAL", RELEASE, 1, name, value)
        for reply in replies:
            if isinstance(reply, Exception) and len(replies) == 1 and FAULT != "hides errors":
                raise reply
        return FAULT == "ignores the quorum" and "OK" in replies

    def _votes(self, replies, vote):
        return replies.count(vote) > len(replies) // 2

    def _ask(self, *words):
        return [self._ask_one(port, words) for port in self._ports]

    def _ask_one(self, port, words):
        try:
            with Client(port) as client:
                return client(*words)
        except (OSError, RedisError) as error:
            return error


FAULT = " ".join(sys.argv[1:])

if __name__ == "__main__":
    driver.serve(Toy())
