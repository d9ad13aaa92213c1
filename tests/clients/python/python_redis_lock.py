"""python-redis-lock: wakes its waiters by a list, which a lock node does not have."""

import driver
import redis_lock
from redis import StrictRedis


class User:
    def open(self, addresses):
        host, port = addresses[0]
        self._client = StrictRedis(host=host, port=port)
        self._locks = {}

    def acquire(self, name, ttl_s, wait_s):
        lock = redis_lock.Lock(self._client, name, expire=int(ttl_s))
        if not lock.acquire(blocking=wait_s > 0, timeout=wait_s or None):
            return False
        self._locks[name] = lock
        return True

    def release(self, name):
        self._locks[name].release()


if __name__ == "__main__":
    driver.serve(User())
