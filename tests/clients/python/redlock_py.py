"""redlock-py's Redlock over five nodes."""

import driver
from redlock import Redlock

RETRY_DELAY_S = 0.2  # the library's own


class User:
    def open(self, addresses):
        self._manager = Redlock([{"host": host, "port": port, "db": 0}
                                 for host, port in addresses])
        self._locks = {}

    def acquire(self, name, ttl_s, wait_s):
        self._manager.retry_count = 1 + int(wait_s / RETRY_DELAY_S)
        lock = self._manager.lock(name, int(ttl_s * 1000))
        if not lock:
            return False
        self._locks[name] = lock
        return True

    def release(self, name):
        self._manager.unlock(self._locks[name])


if __name__ == "__main__":
    driver.serve(User())
