"""The same words over five real redis-server processes, which have no fencing tokens."""

import os
import unittest

from group import REDIS, GroupTest, RedisNode, ask, exported, wait_until


@unittest.skipUnless(os.access(REDIS, os.X_OK), "redis-tools is not installed")
class OverRedis(GroupTest):
    node_class = RedisNode

    def test_a_lock_is_acquired_contended_extended_and_released(self):
        value = self.acquire("lock", "--ttl", "15s", "--no-fence")["REDLOCK_VALUE"]
        refused = self.redlock("acquire", "lock", "--no-fence")
        self.assertExit(75, refused)
        self.assertRegex(refused.stderr, r"^redlock: lock: held by another, at most \d+ s more\n$")
        self.assertExit(1, self.redlock("extend", "lock", "--value", "guessed"))
        extended = self.redlock("extend", "lock", "--value", value, "--ttl", "30s")
        self.assertExit(0, extended)
        self.assertGreater(int(exported(extended.stdout)["REDLOCK_VALIDITY_MS"]), 15000)
        self.assertExit(0, self.redlock("holder", "lock"))
        self.assertExit(1, self.redlock("release", "lock", "--value", "guessed"))
        self.assertExit(0, self.redlock("release", "lock", "--value", value))
        self.assertExit(1, self.redlock("holder", "lock"))

    def test_a_command_runs_under_a_lock_that_is_extended(self):
        job = self.start_job("job", "read line; exit 7", "--ttl", "3s", "--no-fence", stdin=-1)
        first = self.left_ms("job")
        # It was extended when more is left than before.
        wait_until(lambda: self.left_ms("job") > first, "an extension")
        self.assertExit(75, self.redlock("run", "-n", "--no-fence", "job", "--", "echo", "never"))
        job.communicate("\n")
        self.assertEqual(job.returncode, 7)
        wait_until(lambda: self.group.is_free("job"), "the release")

    def test_without_no_fence_nothing_is_acquired_and_it_says_why(self):
        for words in (["acquire", "lock"], ["run", "lock", "--", "echo", "never"]):
            refused = self.redlock(*words)
            self.assertExit(69, refused)
            self.assertNotIn("export", refused.stdout)
            self.assertNotIn("never", refused.stdout)
            self.assertIn("no fencing token", refused.stderr)
            self.assertIn("--no-fence", refused.stderr)
            self.assertTellsOfEachNode(
                refused.stderr, ["granted; a plain Redis has no fencing tokens"] * 5)
            wait_until(lambda: self.group.is_free("lock"), "the undo")

    def test_no_fence_may_stand_in_the_settings_file(self):
        path = self.group.folder + "/redlock.conf"
        with open(path, "w", encoding="utf-8") as file:
            file.write("no-fence yes\n")
        lines = self.acquire("settings", "--config", path)
        self.assertEqual(lines["REDLOCK_TOKEN"], "")

    def test_a_lock_outlives_a_restart_of_each_server(self):
        job = self.start_job("kept", "read line", "--ttl", "3s", "--no-fence", stdin=-1)
        value = self.holder_of("kept")["value"]
        for i in range(5):
            node = self.group.nodes[i]
            node.kill()
            node.start()
            node.await_begun()
            wait_until(lambda: ask(node.port, "EXISTS", "kept") == ":1", "a top-up")
        self.assertEqual(self.holder_of("kept")["value"], value)
        self.assertEqual(self.holder_of("kept")["nodes"], 5)
        job.communicate("\n")
        self.assertEqual(job.returncode, 0)

    def holder_of(self, name):
        return self.json_of(self.redlock("holder", name, "--json"))

    def left_ms(self, name):
        return self.holder_of(name).get("left_ms", 0)

    def test_without_a_quorum_it_ends_with_69(self):
        self.group.kill(0, 1, 2)
        self.assertExit(69, self.redlock("run", "-n", "job", "--", "echo", "never"))

    def test_status_shows_what_redis_tells(self):
        result = self.redlock("status")
        self.assertExit(1, result)
        self.assertEqual(len(result.stdout.splitlines()), 8)
        self.assertIn("no roster: nodes without a ledger", result.stdout)


if __name__ == "__main__":
    unittest.main()
