"""pottery's AIORedlock over five nodes: its Redlock for asyncio."""

import driver
from pottery import AIORedlock, ExtendUnlockedLock, ReleaseUnlockedLock
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff


class User:
    async def open(self, addresses):
        retry = Retry(NoBackoff(), retries=0)
        self._masters = {Redis(host=host, port=port, retry=retry) for host, port in addresses}
        self._locks = {}

    async def acquire(self, name, ttl_s, wait_s):
        lock = AIORedlock(key=name, masters=self._masters, auto_release_time=ttl_s)
        if not await lock.acquire(blocking=wait_s > 0, timeout=wait_s or -1):
            return False
        self._locks[name] = lock

    async def extend(self, name, ttl_s):
        self._locks[name].auto_release_time = ttl_s
        try:
            await self._locks[name].extend()
        except ExtendUnlockedLock:
            return False

    async def release(self, name):
        try:
            await self._locks[name].release()
        except ReleaseUnlockedLock:
            return False

    async def context_manager(self):
        async with AIORedlock(key="in-context", masters=self._masters) as lock:
            assert 9 < await lock.locked() < 10
        assert await lock.locked() == 0


if __name__ == "__main__":
    driver.serve(User())
