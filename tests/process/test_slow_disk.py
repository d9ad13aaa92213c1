"""A start on a disk that takes its time: the node answers at once what touches no lock, and nothing
that does before its run is durable (rules R3 and R9)."""

import time

from harness import BUILD, ProcessTest, eventually, main, measures, request

FLUSH_MS = 400  # a start needs two flushes, one after the other


@measures  # the sanitizers' own libraries want to come first
class SlowDisk(ProcessTest):
    def slow_node(self, flush_ms=FLUSH_MS, **more):
        """Bootstrapped on a good disk, then executed on a slow one."""
        node = self.new_node()
        node.environment.update({"LD_PRELOAD": str(BUILD / "libslow_disk.so"),
                                 "SLOW_DISK_MS": str(flush_ms), **more})
        return node.exec().wait_for_pong()

    def test_what_touches_a_lock_waits_until_the_run_is_durable_and_the_rest_does_not(self):
        started_at = time.monotonic()
        node = self.slow_node()
        first, second = node.client(), node.client()
        first.send(request("SET", "k", "v", "NX", "PX", 30000) + request("PING"))
        self.assertEqual(second("PING"), "PONG")
        self.assertEqual(second.info()["held"], "0")
        self.assertEqual(second("CLIENT", "SETNAME", "impatient"), "OK")
        self.assertLess(time.monotonic() - started_at, 2 * FLUSH_MS / 1000, "too late to tell")
        self.assertEqual(first.reply(), "OK")
        self.assertGreaterEqual(time.monotonic() - started_at, 2 * FLUSH_MS / 1000)
        self.assertEqual(first.reply(), "PONG")  # in its order
        self.assertEqual(second("GET", "k"), b"v")

    def test_a_client_that_goes_meanwhile_has_its_release_executed_behind_its_grant(self):
        """Else a lock that was given up would stay for its TTL."""
        node = self.slow_node()
        node.client()("GET", "k")  # as soon as it executes
        for name, take, give in (("lock", ("LOCK.ACQUIRE", "lock", "v", "PX", 30000),
                                  ("LOCK.RELEASE", "lock", "v")),
                                 ("set", ("SET", "set", "v", "PX", 50000), ("DEL", "set"))):
            with self.subTest(name):
                released = int(node.client().info()["released"])
                client = node.client()
                client.send(request(*take))  # a TTL larger than any before: it waits for the disk
                client.send(request(*give))
                client.close()
                watch = node.client()
                eventually(lambda: int(watch.info()["released"]) > released)
                self.assertIsNone(watch("GET", name))

    def test_a_stop_meanwhile_waits_for_the_flush_and_executes_nothing_more(self):
        node = self.slow_node()
        client = node.client()
        client.send(request("SET", "k", "v", "NX", "PX", 30000))
        self.assertEqual(node.stop(), 0)
        with self.assertRaises(ConnectionResetError):
            client.reply()
        del node.environment["LD_PRELOAD"]
        client = node.start().client()
        self.assertEqual(client.info()["cause"], "clean_stop")
        self.assertIsNone(client("GET", "k"))

    def test_a_flush_that_fails_ends_the_start_and_nothing_was_granted(self):
        node = self.slow_node(SLOW_DISK_FAILS="1")
        client = node.client()
        client.send(request("SET", "k", "v", "NX", "PX", 30000))
        self.assertEqual(node.wait(), 1)
        with self.assertRaises(ConnectionResetError):
            client.reply()
        self.assertIn("Input/output error", node.log())


if __name__ == "__main__":
    main()
