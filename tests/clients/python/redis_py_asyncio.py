"""redis-py's asyncio side: its Lock over one node, and what else people do with a client of it."""

import driver
import redis.asyncio as redis
from redis.exceptions import LockError, WatchError


class User:
    async def open(self, addresses):
        host, port = addresses[0]
        self._client = redis.Redis(host=host, port=port, decode_responses=True, **driver.tls())
        await self._client.ping()
        self._locks = {}

    # --- the lock ---

    async def acquire(self, name, ttl_s, wait_s):
        lock = self._client.lock(name, timeout=ttl_s)
        if not await lock.acquire(blocking=wait_s > 0, blocking_timeout=wait_s or None):
            return False
        self._locks[name] = lock
        return True

    async def extend(self, name, ttl_s):
        try:
            return await self._locks[name].extend(ttl_s, replace_ttl=True)
        except LockError:
            return False

    async def release(self, name):
        try:
            await self._locks[name].release()
        except LockError:
            return False

    # --- what else it can do; each leaves nothing behind ---

    async def context_manager(self):
        async with self._client.lock("in-context", timeout=5) as lock:
            assert await lock.owned() and await lock.locked()
        assert not await self._client.exists("in-context")

    async def pipeline(self):
        async with self._client.pipeline(transaction=False) as pipe:
            replies = await pipe.set("p", "1", px=5000).incr("p").pttl("p").delete("p").execute()
        assert replies[:2] == [True, 2] and 0 < replies[2] <= 5000 and replies[3] == 1, replies

    async def watch(self):
        await self._client.set("w", 1, px=5000)
        async with self._client.pipeline(transaction=True) as pipe:
            await pipe.watch("w")
            await self._client.set("w", 2, px=5000)
            pipe.multi()
            pipe.get("w")
            try:
                await pipe.execute()
            except WatchError:
                return await self._client.delete("w") == 1
        return False

    async def scan(self):
        names = {f"scan-{number}" for number in range(50)}
        for name in names:
            await self._client.set(name, "v", px=5000)
        found = [name async for name in self._client.scan_iter("scan-*", count=7)]
        assert sorted(found) == sorted(names), found
        assert await self._client.delete(*names) == 50

    async def hash(self):
        assert await self._client.hset("h", mapping={"a": 1, "b": 2}) == 2
        assert await self._client.hgetall("h") == {"a": "1", "b": "2"}
        assert await self._client.delete("h") == 1

    async def pubsub(self):
        async with self._client.pubsub() as pubsub:
            await pubsub.subscribe("news")
            assert (await pubsub.get_message(timeout=5))["type"] == "subscribe"
            assert await self._client.publish("news", "hello") == 1
            return (await pubsub.get_message(timeout=5))["data"] == "hello"


if __name__ == "__main__":
    driver.serve(User())
