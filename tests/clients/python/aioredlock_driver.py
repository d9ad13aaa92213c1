"""aioredlock's Aioredlock over five nodes. Its last release is of 2022, over aioredis 1."""

import driver
from aioredlock import Aioredlock, LockAcquiringError, LockError

RETRY_DELAY_MIN_S = 0.1  # the library's own


class User:
    async def open(self, addresses):
        self._manager = Aioredlock([f"redis://{host}:{port}" for host, port in addresses])
        self._locks = {}

    async def acquire(self, name, ttl_s, wait_s):
        self._manager.retry_count = 1 + int(wait_s / RETRY_DELAY_MIN_S)
        try:
            self._locks[name] = await self._manager.lock(name, lock_timeout=ttl_s)
        except LockAcquiringError:
            return False

    async def extend(self, name, ttl_s):
        await self._manager.extend(self._locks[name], ttl_s)

    async def release(self, name):
        try:
            await self._manager.unlock(self._locks[name])
        except LockError:
            return False


if __name__ == "__main__":
    driver.serve(User())
