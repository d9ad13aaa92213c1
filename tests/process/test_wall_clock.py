"""The wall clock moves; no lock's life changes (rule C2). Redis, under the same hands, fails.

libfaketime stands between the program and the clocks: it shifts CLOCK_REALTIME by what a file says
and leaves CLOCK_MONOTONIC as it is, as an operator or a wild NTP server would.
"""

import pathlib
import time
import unittest

from harness import ProcessTest, eventually, main, measures

LIBRARIES = sorted(pathlib.Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))


@measures
@unittest.skipUnless(LIBRARIES, "no libfaketime here (package libfaketime)")
class WallClock(ProcessTest):
    def setUp(self):
        self.shift_file = pathlib.Path(self.folder()) / "shift"
        self.shift(0)
        self.environment = {
            "LD_PRELOAD": str(LIBRARIES[0]),
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_TIMESTAMP_FILE": str(self.shift_file),
            "FAKETIME_NO_CACHE": "1",
        }

    def shift(self, seconds):
        """Replaced by a rename: the program must never read half of it."""
        written = self.shift_file.with_suffix(".new")
        written.write_text(f"{seconds:+d}\n")
        written.rename(self.shift_file)

    def assert_wall_clock(self, client, seconds):
        """What the program itself believes, so that the test cannot pass by doing nothing."""
        self.assertAlmostEqual(int(client("TIME")[0]) - time.time(), seconds, delta=30)

    def node_with_lock(self, ttl_ms):
        """A client, and the bracket of its lock's end: not before, surely after (monotonic s)."""
        node = self.new_node()
        node.environment.update(self.environment)
        client = node.start().client()
        sent_at = time.monotonic()
        self.assertEqual(client("SET", "lock", "v", "NX", "PX", ttl_ms), "OK")
        return client, sent_at + ttl_ms / 1000, time.monotonic() + (ttl_ms + 1) / 1000

    def test_an_hour_ahead_and_back_changes_no_locks_life(self):
        client, lives_until, gone_at = self.node_with_lock(2000)
        for turn in range(4):
            for seconds in (3600, -3600, 0):
                self.shift(seconds)
                self.assert_wall_clock(client, seconds)
                value, left_ms = client("GET", "lock"), client("PTTL", "lock")
                if time.monotonic() < lives_until:
                    self.assertEqual(value, b"v")
                    self.assertLessEqual(left_ms, 2000)
        self.assertLess(time.monotonic(), lives_until, "the moves took longer than the lock's life")
        self.shift(-3600)
        time.sleep(max(0, gone_at - time.monotonic()))
        self.assertIsNone(client("GET", "lock"))
        self.assertEqual(client.info()["held"], "0")

    def test_an_hour_ahead_frees_nothing_without_access_either(self):
        client, lives_until, _ = self.node_with_lock(1000)
        self.shift(3600)
        while True:
            info = client.info()
            if time.monotonic() >= lives_until:
                break
            self.assertEqual((info["held"], info["expired"]), ("1", "0"))
            time.sleep(0.02)

    def test_redis_frees_a_lock_of_30_s_at_once_when_the_clock_jumps_by_60_s(self):
        # jemalloc reads the clock while libfaketime is being set up, and both wait for ever. With
        # libc named before jemalloc its malloc is the one that is taken.
        both = f"{LIBRARIES[0]} {LIBRARIES[0].parents[1] / 'libc.so.6'}"
        redis = self.new_redis(environment={**self.environment, "LD_PRELOAD": both})
        redis.exec()
        client = redis.wait_for_pong().client()
        started_at = time.monotonic()
        self.assertEqual(client("SET", "lock", "v", "NX", "PX", 30000), "OK")
        self.assertEqual(client("GET", "lock"), b"v")
        self.shift(60)
        self.assertTrue(eventually(lambda: client("GET", "lock") is None, limit_s=10))
        self.assertLess(time.monotonic() - started_at, 15)


if __name__ == "__main__":
    main()
