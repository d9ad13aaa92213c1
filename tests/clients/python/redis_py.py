"""redis-py: its Lock over one node, and what else people do with a client of it."""

import uuid

import driver
import redis
from redis.exceptions import LockError


class User:
    def open(self, addresses):
        host, port = addresses[0]
        self._client = redis.Redis(host=host, port=port, decode_responses=True,
                                   **driver.tls())
        self._client.ping()
        self._locks = {}

    # --- the lock ---

    def acquire(self, name, ttl_s, wait_s):
        lock = self._client.lock(name, timeout=ttl_s)
        if not lock.acquire(blocking=wait_s > 0, blocking_timeout=wait_s or None):
            return False
        self._locks[name] = lock
        return True

    def extend(self, name, ttl_s):
        try:
            return self._locks[name].extend(ttl_s, replace_ttl=True)
        except LockError:
            return False

    def release(self, name):
        try:
            self._locks[name].release()
        except LockError:
            return False

    # --- what else it can do; each leaves nothing behind ---

    def context_manager(self):
        with self._client.lock("in-context", timeout=5) as lock:
            assert lock.owned() and lock.locked() and lock.reacquire()
        assert not self._client.exists("in-context")

    def recipe(self):
        """The single-node recipe of Redis's own pages, by hand."""
        value = str(uuid.uuid4())
        assert self._client.set("by-hand", value, nx=True, px=5000)
        assert self._client.set("by-hand", "other", nx=True, px=5000) is None
        release = self._client.register_script(
            'if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) '
            "else return 0 end")
        assert release(keys=["by-hand"], args=["other"]) == 0
        assert release(keys=["by-hand"], args=[value]) == 1

    def pipeline(self):
        pipe = self._client.pipeline(transaction=False)
        replies = pipe.set("p", "1", px=5000).incr("p").pttl("p").delete("p").execute()
        assert replies[:2] == [True, 2] and 0 < replies[2] <= 5000 and replies[3] == 1, replies

    def transaction(self):
        def raise_it(pipe):
            held = int(pipe.get("t") or 0)
            pipe.multi()
            pipe.set("t", held + 1, px=5000)
        self._client.set("t", 1, px=5000)
        assert self._client.transaction(raise_it, "t") == [True]
        assert self._client.getdel("t") == "2"

    def watch(self):
        self._client.set("w", 1, px=5000)
        with self._client.pipeline() as pipe:
            pipe.watch("w")
            self._client.set("w", 2, px=5000)
            pipe.multi()
            pipe.get("w")
            try:
                pipe.execute()
            except redis.WatchError:
                return self._client.delete("w") == 1
        return False

    def scan(self):
        names = {f"scan-{number}" for number in range(50)}
        for name in names:
            self._client.set(name, "v", px=5000)
        found = list(self._client.scan_iter("scan-*", count=7))
        assert sorted(found) == sorted(names), found
        assert self._client.delete(*names) == 50

    def hash(self):
        assert self._client.hset("h", mapping={"a": 1, "b": 2}) == 2
        assert self._client.pexpire("h", 5000)
        assert self._client.hincrby("h", "a", 4) == 5
        assert self._client.hgetall("h") == {"a": "5", "b": "2"}
        assert self._client.hdel("h", "a", "b") == 2 and not self._client.exists("h")

    def strings(self):
        assert self._client.mset({"s1": "v", "s2": "w"})
        assert self._client.mget("s1", "s2", "none") == ["v", "w", None]
        assert self._client.getex("s1", px=5000) == "v" and 0 < self._client.pttl("s1") <= 5000
        assert self._client.unlink("s1", "s2") == 2

    def pubsub(self):
        pubsub = self._client.pubsub(ignore_subscribe_messages=True)
        pubsub.subscribe("news")
        pubsub.psubscribe("n?ws")
        while pubsub.get_message(timeout=1):
            pass
        assert self._client.publish("news", "hello") == 2
        kinds = set()
        for _ in range(100):
            message = pubsub.get_message(timeout=0.1)
            if message:
                assert message["data"] == "hello", message
                kinds.add(message["type"])
            if kinds == {"message", "pmessage"}:
                break
        pubsub.close()
        return kinds == {"message", "pmessage"}

    def monitor(self):
        with self._client.monitor() as monitor:
            self._client.get("monitored")
            # A connection that the client opens for it says hello first.
            seen = (monitor.next_command()["command"].lower() for _ in range(10))
            return "get monitored" in seen

    def admin(self):
        self._client.client_setname("alice")
        assert "alice" in [client["name"] for client in self._client.client_list()]
        assert self._client.info("server")["redis_version"]
        assert self._client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        assert isinstance(self._client.slowlog_get(), list)
        assert self._client.dbsize() >= 0 and self._client.time()


if __name__ == "__main__":
    driver.serve(User())
