"""The same words over five real redis-server processes."""

import os
import unittest

from group import REDIS, TAKEN, GroupTest, RedisNode, wait_until


@unittest.skipUnless(os.access(REDIS, os.X_OK), "redis-tools is not installed")
class OverRedis(GroupTest):
    node_class = RedisNode

    def test_a_lock_is_acquired_contended_extended_and_released(self):
        value = self.acquire("lock", "--ttl", "15s")["REDLOCK_VALUE"]
        refused = self.redlock("acquire", "lock")
        self.assertExit(75, refused)
        self.assertTellsOfEachNode(refused.stderr, [TAKEN] * 5)
        self.assertExit(1, self.redlock("extend", "lock", "--value", "guessed"))
        extended = self.redlock("extend", "lock", "--value", value, "--ttl", "30s")
        self.assertExit(0, extended)
        self.assertGreater(int(extended.stdout.split("=")[1]), 15000)
        self.assertExit(0, self.redlock("holder", "lock"))
        self.assertExit(1, self.redlock("release", "lock", "--value", "guessed"))
        self.assertExit(0, self.redlock("release", "lock", "--value", value))
        self.assertExit(1, self.redlock("holder", "lock"))

    def test_a_command_runs_under_a_lock_that_is_extended(self):
        job = self.start_job("job", "read line; exit 7", "--ttl", "3s", stdin=-1)
        first = self.left_ms("job")
        # It was extended when more is left than before.
        wait_until(lambda: self.left_ms("job") > first, "an extension")
        self.assertExit(75, self.redlock("run", "-n", "job", "--", "echo", "never"))
        job.communicate("\n")
        self.assertEqual(job.returncode, 7)
        wait_until(lambda: self.group.is_free("job"), "the release")

    def left_ms(self, name):
        return self.json_of(self.redlock("holder", name, "--json")).get("left_ms", 0)

    def test_without_a_quorum_it_ends_with_69(self):
        self.group.kill(0, 1, 2)
        self.assertExit(69, self.redlock("run", "-n", "job", "--", "echo", "never"))

    def test_status_shows_what_redis_tells(self):
        result = self.redlock("status")
        self.assertExit(0, result)
        self.assertEqual(len(result.stdout.splitlines()), 6)


if __name__ == "__main__":
    unittest.main()
