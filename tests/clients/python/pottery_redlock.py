"""pottery's Redlock over five nodes."""

import driver
from pottery import ExtendUnlockedLock, Redlock, ReleaseUnlockedLock
from redis import Redis


class User:
    def open(self, addresses):
        self._masters = {Redis(host=host, port=port) for host, port in addresses}
        self._locks = {}

    def acquire(self, name, ttl_s, wait_s):
        lock = Redlock(key=name, masters=self._masters, auto_release_time=ttl_s)
        if not lock.acquire(blocking=wait_s > 0, timeout=wait_s or -1):
            return False
        self._locks[name] = lock
        return True

    def extend(self, name, ttl_s):
        self._locks[name].auto_release_time = ttl_s
        try:
            self._locks[name].extend()
        except ExtendUnlockedLock:
            return False

    def release(self, name):
        try:
            self._locks[name].release()
        except ReleaseUnlockedLock:
            return False

    def context_manager(self):
        with Redlock(key="in-context", masters=self._masters, auto_release_time=5) as lock:
            assert 4 < lock.locked() < 5
        assert lock.locked() == 0


if __name__ == "__main__":
    driver.serve(User())
