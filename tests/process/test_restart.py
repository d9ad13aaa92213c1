"""A node that forgot its locks grants nothing until they have run out (rules R1 to R3, R9, R10).

Times are bracketed: a lock lives for its TTL from after the request was sent, and a delay counts
from after the exec; an OK that was read before the sum is a defect, however slow the machine is.
"""

import concurrent.futures
import random
import signal
import time

from harness import PATIENCE_S, SANITIZED, ProcessTest, RedisError, eventually, main

DRIFT = 0.01
GROUPS_AT_ONCE = 5 if SANITIZED else 25
REPETITIONS = 5 if SANITIZED else 50
CRASHES = 10 if SANITIZED else 100
RECOVERING = "ERR recovering after a restart, no new locks for "
RELEASE = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) " \
          "else return 0 end"


def delay_s(max_ttl_s):
    return max_ttl_s * (1 + DRIFT) + 1


class Attempts:
    """B: tries at every node, all the time, and undoes each try. Says what it got, and when."""

    def __init__(self, nodes, value="B"):
        self.clients = [node.client() for node in nodes]
        self.value = value

    def once(self, ttl_ms=500):
        """The nodes that granted, and the time at which the last reply had been read."""
        replies = [client("SET", "lock", self.value, "NX", "PX", ttl_ms)
                   for client in self.clients]
        read_at = time.monotonic()
        votes = {number for number, reply in enumerate(replies, 1) if reply == "OK"}
        for client in self.clients:
            client("EVAL", RELEASE, 1, "lock", self.value)
        return votes, read_at


class FiveNodes(ProcessTest):
    TTL_S = 1.5

    def repetition(self, nodes, *flags):
        """One whole story; returns the defects seen, none when all is well."""
        for node in nodes[:3]:
            node.start(*flags)
        asked_at = time.monotonic()
        for node in nodes[:3]:
            reply = node.client()("SET", "lock", "A", "NX", "PX", int(self.TTL_S * 1000))
            if reply != "OK":
                return [f"A was refused: {reply}"]
        a_ends_at = asked_at + self.TTL_S
        for node in nodes[3:]:
            node.start(*flags)
        nodes[2].kill()
        nodes[2].start(*flags)
        attempts = Attempts(nodes)
        defects = []
        give_up_at = a_ends_at + PATIENCE_S
        while time.monotonic() < give_up_at:
            votes, read_at = attempts.once()
            if len(votes) > 2 and read_at < a_ends_at:
                defects.append(f"B has the votes of {votes} while A holds the lock")
            if 3 in votes and read_at < a_ends_at:
                defects.append(f"node 3 granted {a_ends_at - read_at:.3f} s too early")
            if defects or votes == {1, 2, 3, 4, 5}:
                return defects
            time.sleep(0.02)
        return ["node 3 never granted again"]

    def repetitions(self, count, *flags):
        groups = [[self.new_node("--max-ttl", "2s") for _ in range(5)] for _ in range(count)]

        def run(nodes):
            try:
                return self.repetition(nodes, *flags)
            finally:
                for node in nodes:
                    node.end()

        with concurrent.futures.ThreadPoolExecutor(GROUPS_AT_ONCE) as pool:
            return list(pool.map(run, groups))

    def test_no_second_holder_after_a_kill_and_a_start(self):
        self.assertEqual(self.repetitions(REPETITIONS), [[]] * REPETITIONS)

    def test_the_same_story_without_the_delay_shows_the_double_grant(self):
        for defects in self.repetitions(3, "--restart-delay", "off"):
            self.assertIn("while A holds the lock", " ".join(defects))


class SecondCrash(ProcessTest):
    """Within the delay, at a random instant: it never shortens it."""

    def first_grant(self, node):
        """When the first OK was read."""
        client = node.client()
        end = time.monotonic() + delay_s(2) + PATIENCE_S
        while time.monotonic() < end:
            if client("SET", "lock", "B", "NX", "PX", 50) == "OK":
                return time.monotonic()
            time.sleep(0.02)
        raise AssertionError("it never granted again")

    def crash_twice(self, node, seed):
        dice = random.Random(seed)
        node.start()
        client = node.client()
        waits_until = time.monotonic() + 0.9
        client("SET", "lock", "A", "NX", "PX", 900)
        node.kill()
        node.exec()
        time.sleep(dice.uniform(0, max(waits_until - time.monotonic() - 0.05, 0)))
        how = dice.choice([signal.SIGKILL, signal.SIGTERM])
        node.stop(how)
        left_s = waits_until - time.monotonic()
        node.start(*dice.choice([[], ["--max-ttl", "100ms"]]))
        early_s = waits_until - self.first_grant(node)
        node.end()
        if early_s > 0:
            return f"seed {seed}: {how.name}, {left_s:.3f} s left, granted {early_s:.3f} s early"
        return None

    def test_a_second_crash_or_a_stop_never_shortens_the_delay(self):
        first = random.randrange(1 << 30)
        print(f"\n  seeds from {first}")
        nodes = [self.new_node("--max-ttl", "1s") for _ in range(CRASHES)]
        with concurrent.futures.ThreadPoolExecutor(GROUPS_AT_ONCE * 2) as pool:
            found = list(pool.map(self.crash_twice, nodes, range(first, first + CRASHES)))
        self.assertEqual([defect for defect in found if defect], [])

    def test_a_max_ttl_lowered_between_the_runs_does_not_either(self):
        node = self.node("--max-ttl", "2s")
        client = node.client()
        lives_until = time.monotonic() + 1.9
        self.assertEqual(client("SET", "lock", "A", "NX", "PX", 1900), "OK")
        node.kill()
        node.start("--max-ttl", "100ms")
        self.assertGreaterEqual(self.first_grant(node), lives_until)


class CleanStop(ProcessTest):
    def assert_lock_outlives(self, stop):
        """A lock of 2.5 s, a stop and a start: there for its whole life, gone right after it."""
        node = self.node()
        client = node.client()
        asked_at = time.monotonic()
        self.assertEqual(client("SET", "lock", "A", "NX", "PX", 2500), "OK")
        answered_at = time.monotonic()
        self.assertEqual(stop(node, client), 0, node.log())
        node.start()
        client = node.client()
        value = client("GET", "lock")
        self.assertLess(time.monotonic(), asked_at + 2.5, "the machine is too slow for this test")
        self.assertEqual(value, b"A")
        self.assertEqual(client.info()["state"], "serving")
        self.assertEqual(client("SET", "other", "B", "NX", "PX", 100), "OK")
        while time.monotonic() < answered_at + 2.501:
            value = client("GET", "lock")
            if time.monotonic() < asked_at + 2.5:
                self.assertEqual(value, b"A")
        self.assertIsNone(client("GET", "lock"))

    def shutdown(self, node, client, *words):
        try:
            client("SHUTDOWN", *words)  # no reply when it works
        except ConnectionError:
            pass
        return node.wait()

    def test_sigterm(self):
        self.assert_lock_outlives(lambda node, _: node.stop(signal.SIGTERM))

    def test_sigint(self):
        self.assert_lock_outlives(lambda node, _: node.stop(signal.SIGINT))

    def test_shutdown(self):
        self.assert_lock_outlives(self.shutdown)

    def test_shutdown_nosave_leaves_no_lock_and_the_next_start_waits(self):
        node = self.node("--max-ttl", "1s")
        client = node.client()
        self.assertEqual(client("SET", "lock", "A", "NX", "PX", 900), "OK")
        self.assertEqual(self.shutdown(node, client, "NOSAVE"), 0)
        self.assertFalse((node.state / "snapshot").exists())
        client = node.start().client()
        self.assertIsNone(client("GET", "lock"))
        self.assert_error(client("SET", "lock", "B", "NX", "PX", 100), RECOVERING)


class Start(ProcessTest):
    def test_a_first_start_without_bootstrap_waits_and_says_so_in_one_line(self):
        node = self.new_node("--max-ttl", "1s", bootstrap=False).start()
        client = node.client()
        reply = client("SET", "lock", "A", "NX", "PX", 100)
        self.assert_error(reply, RECOVERING)
        self.assertTrue(reply.text.endswith(" ms"), reply.text)
        # The log holds up no answer: its line may come a moment later.
        self.assertTrue(eventually(lambda: "No ledger in" in node.log()))
        lines = [line for line in node.log().splitlines() if "No ledger in" in line]
        self.assertEqual(len(lines), 1, node.log())
        self.assertIsNone(client("GET", "lock"))
        self.assertEqual(client("DEL", "lock"), 0)
        self.assertEqual(client("EVAL", RELEASE, 1, "lock", "A"), 0)
        info = client.info()
        self.assertEqual((info["state"], info["loading"]), ("recovering", "0"))
        self.assertTrue(eventually(lambda: client("SET", "lock", "A", "NX", "PX", 100) == "OK"))
        self.assertGreaterEqual(time.monotonic() - node.spawned_at, delay_s(1))

    def test_bootstrap_is_refused_where_a_ledger_is(self):
        node = self.new_node()
        before = (node.state / "ledger").read_bytes()
        done = node.run_once("--bootstrap")
        self.assertEqual(done.returncode, 1)
        self.assertIn("ledger", done.stderr + done.stdout)
        self.assertEqual((node.state / "ledger").read_bytes(), before)

    def test_a_second_node_on_the_same_folder_is_refused(self):
        node = self.node()
        done = node.run_once("--port", "0", "--unixsocket", str(node.folder / "second.sock"))
        self.assertEqual(done.returncode, 1)
        self.assertIn(str(node.state), done.stderr + done.stdout)
        self.assertEqual(node.client()("PING"), "PONG")

    def test_a_restart_delay_of_ones_own_replaces_that_of_the_table(self):
        node = self.node("--max-ttl", "1s", "--restart-delay", "500ms")
        node.kill()
        client = node.start().client()
        self.assertNotEqual(client.info()["warning"], "")
        self.assertTrue(eventually(lambda: client("SET", "lock", "A", "NX", "PX", 100) == "OK"))
        waited_s = time.monotonic() - node.spawned_at
        self.assertGreaterEqual(waited_s, 0.5)
        if not SANITIZED:
            self.assertLess(waited_s, delay_s(1))

    def test_restart_reply_held_answers_as_if_another_held_the_lock(self):
        node = self.new_node("--restart-reply", "held", bootstrap=False).start()
        client = node.client()
        self.assertIsNone(client("SET", "lock", "A", "NX", "PX", 100))
        self.assert_error(client("SET", "lock", "A", "PX", 100), RECOVERING)
        script = "return redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', 100)"
        self.assertIsNone(client("EVAL", script, 1, "lock", "A"))
        reply = client("EVAL", script.replace("'NX', ", ""), 1, "lock", "A")
        self.assertIsInstance(reply, RedisError)
        self.assertIn("recovering after a restart", reply.text)


if __name__ == "__main__":
    main()
