"""When locks end, seen from outside, and how soon their memory comes back.

A test that sleeps and looks would fail on a busy machine. So the client brackets: an answer that
came less than a TTL after the SET was sent must show the lock, wherever the time went; a question
that was sent more than a TTL after the OK came must not. Between the two both answers are right.
"""

import statistics
import time

from harness import LONG, ProcessTest, main, measures, request

TTL_S = 0.100
GONE_AFTER_S = 0.101  # deadlines are rounded up to the millisecond (rules C2, C6)


class Chunk:
    """Some locks that were set by one write, and the client's bracket around it."""

    def __init__(self, client, keys):
        self.keys = keys
        self.gets = b"".join(request("GET", key) for key in keys)
        sets = b"".join(request("SET", key, "v", "NX", "PX", int(TTL_S * 1000)) for key in keys)
        self.sent_at = time.monotonic()
        client.send(sets)
        self.replies = [client.reply() for _ in keys]
        self.ok_came_at = time.monotonic()

    def look(self, client):
        """GETs all; the verdict that the bracket allows: "held", "gone" or None, and the values."""
        asked_at = time.monotonic()
        client.send(self.gets)
        values = [client.reply() for _ in self.keys]
        answered_at = time.monotonic()
        if answered_at - self.sent_at < TTL_S:
            return "held", values
        return ("gone" if asked_at - self.ok_came_at >= GONE_AFTER_S else None), values


class Expiry(ProcessTest):
    def setUp(self):
        super().setUp()
        self.setting_us = []  # what each burst took to set

    def test_a_lock_lives_for_its_ttl_and_not_a_millisecond_longer(self):
        client = self.node().client()
        looks = {"held": 0, "gone": 0, None: 0}
        for turn in range(20):
            chunks = [Chunk(client, [f"{turn}:{part}:{i}" for i in range(50)])
                      for part in range(10)]
            for chunk in chunks:
                self.assertEqual(chunk.replies, ["OK"] * 50)
            while chunks:
                for chunk in list(chunks):
                    verdict, values = chunk.look(client)
                    looks[verdict] += 1
                    if verdict == "held":
                        self.assertEqual(values, [b"v"] * 50)
                    if verdict == "gone":
                        self.assertEqual(values, [None] * 50)
                        chunks.remove(chunk)
        print(f"\n  10,000 locks of PX 100, in chunks of 50: {looks['held']} looks within the TTL, "
              f"{looks['gone']} after it, {looks[None]} between")
        self.assertGreater(looks["held"], 0)

    def test_memory_comes_back_without_any_access(self):
        client = self.node().client()
        before = int(client.info()["expired"])
        self.burst(client, ahead_ms=3000)
        info = client.info()
        self.assertEqual((info["held"], int(info["expired"]) - before), ("0", 10000))

    @measures
    def test_memory_comes_back_within_two_milliseconds_of_the_deadline(self):
        client = self.node().client()
        bursts = 100 if LONG else 20
        lags = [self.burst(client) for _ in range(bursts)]
        # Where setting them takes 14 ms; a machine that others use as well may be slower by far.
        limit = max(2000, statistics.median(self.setting_us) / 7)
        print(f"\n  reclaim_lag_us over {bursts} bursts of 10,000 locks: median "
              f"{statistics.median(lags)}, least {min(lags)}, most {max(lags)}; "
              f"the limit is {limit:.0f}")
        self.assertLessEqual(statistics.median(lags), limit)

    def burst(self, client, ahead_ms=400):
        """10,000 locks with one deadline, silence until it has passed, then the lag in us.

        ahead_ms: how far ahead it is; setting them takes 20 ms, under sanitizers half a second."""
        began = time.monotonic()
        wall_ms = int(time.time() * 1000) + ahead_ms
        client.send(b"".join(request("SET", f"lock:{i:05}", "v", "NX", "PXAT", wall_ms)
                             for i in range(10000)))
        for _ in range(10000):
            self.assertEqual(client.reply(), "OK")
        self.setting_us.append((time.monotonic() - began) * 1e6)
        time.sleep(max(0, wall_ms / 1000 - time.time()) + 0.1)
        return int(client.info("locks")["reclaim_lag_us"])


if __name__ == "__main__":
    main()
