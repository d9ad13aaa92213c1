"""One client at its worst: whoever else asks is answered within 50 ms."""

import threading
import time

from harness import SANITIZED, Client, ProcessTest, eventually, main, request

SILENCE_MAX_S = 1.0 if SANITIZED else 0.05
# A process that shares its cores may not run for that long itself.
SILENCE_MAX_OF_ALL_S = 10 * SILENCE_MAX_S
KEYS = 20_000 if SANITIZED else 200_000

LAST = "the-last-answer"


class Probe:
    """Asks as fast as it is answered, and keeps how long each answer took."""

    def __init__(self, port):
        self.client = Client(port, timeout_s=60)
        self.took = []
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        number = 0
        while not self.over.is_set():
            number += 1
            began = time.monotonic()
            self.client("SET", f"probe{number % 100}", "p", "PX", 1000)
            self.client("PING")
            self.took.append((time.monotonic() - began) / 2)
            time.sleep(0.001)

    def __enter__(self):
        self.client("SET", "probe", "p", "PX", 1000)  # accepted by now, and its TTL in the ledger
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        self.client.close()

    def percentile(self, share):
        return sorted(self.took)[int(len(self.took) * share)]


class OneClient(ProcessTest):
    def setUp(self):
        self.served = self.node()

    def fill(self, keys, key_bytes=0):
        with self.served.client(timeout_s=60) as client:
            for first in range(0, keys, 1000):
                client.send(b"".join(
                    request("SET", str(i).zfill(key_bytes), "v", "PX", 60_000)
                    for i in range(first, min(first + 1000, keys))))
                for _ in range(first, min(first + 1000, keys)):
                    self.assertEqual(client.reply(), "OK")

    def assert_others_are_answered(self, name, requests):
        """While one client sends the requests at once, and reads the answers."""
        with self.served.client(timeout_s=60) as hostile, Probe(self.served.port) as probe:
            time.sleep(0.05)
            began = time.monotonic()
            requests = b"".join(requests) + request("ECHO", LAST)
            sending = threading.Thread(target=hostile.send, args=(requests,))
            sending.start()
            hostile.read_past(LAST)
            took = time.monotonic() - began
            sending.join()
        print(f"\n  {name}: {took:.2f} s; others: {len(probe.took)} asked, "
              f"median {probe.percentile(0.5) * 1e3:.1f} ms, 99 % "
              f"{probe.percentile(0.99) * 1e3:.1f} ms, longest {max(probe.took) * 1e3:.1f} ms",
              end="", flush=True)
        self.assertLess(probe.percentile(0.99), SILENCE_MAX_S)
        self.assertLess(max(probe.took), SILENCE_MAX_OF_ALL_S)

    def test_many_small_requests(self):
        self.assert_others_are_answered("300,000 GETs", [request("GET", "printer")] * 300_000)

    def test_keys_of_many_keys(self):
        self.fill(KEYS)
        self.assert_others_are_answered("KEYS 40 times", [request("KEYS", "*x*")] * 40)
        self.assert_others_are_answered(
            "KEYS of long keys", [request("KEYS", "*" + "0" * 1000 + "y")] * 10)
        self.assert_others_are_answered("FLUSHALL", [request("FLUSHALL")])

    def test_patterns_that_are_hard_to_match(self):
        self.fill(500, key_bytes=60_000)
        hard = "*" + "0" * 100 + "y"
        self.assert_others_are_answered("KEYS", [request("KEYS", hard)] * 5)
        self.assert_others_are_answered(
            "SCAN", [request("SCAN", "0", "COUNT", "1000000", "MATCH", hard)] * 100)

    def test_a_message_to_many_patterns(self):
        with self.served.client(timeout_s=60) as listener:
            patterns = 1_000 if SANITIZED else 4_000
            for first in range(0, patterns, 1000):
                listener.send(request("PSUBSCRIBE", *(
                    "*" + "x" * 50 + str(i) for i in range(first, first + 1000))))
            listener.send(request("PING", LAST))
            listener.read_past(LAST)
            self.assert_others_are_answered(
                "PUBLISH", [request("PUBLISH", "x" * 4000, "hello")])
            began = time.monotonic()
            listener.close()
            with self.served.client() as client:
                client("PING")
            print(f"\n  forgotten in {(time.monotonic() - began) * 1e3:.1f} ms", end="")

    def test_a_message_to_many_listeners(self):
        listeners = [self.served.client() for _ in range(500)]
        for listener in listeners:
            listener("SUBSCRIBE", "news")
        self.assert_others_are_answered(
            "PUBLISH", [request("PUBLISH", "news", "x" * 10_000)] * 20)
        for listener in listeners:
            listener.close()

    def test_requests_of_many_words(self):
        words = 16_000
        for name in (("MGET",), ("DEL",), ("EXISTS",), ("COMMAND", "INFO"), ("CONFIG", "GET"),
                     ("SCRIPT", "EXISTS"), ("PUBSUB", "NUMSUB"), ("WATCH",), ("HMGET", "hash")):
            self.assert_others_are_answered(
                " ".join(name), [request(*name, *(f"word{i}" for i in range(words)))] * 10)

    def test_subscriptions_of_many_names(self):
        names = [f"name{i}" for i in range(16_000)]
        self.assert_others_are_answered(
            "SUBSCRIBE and UNSUBSCRIBE",
            [request("SUBSCRIBE", *names), request("UNSUBSCRIBE")] * 5)

    def assert_others_are_answered_while(self, name, deed, clients):
        """Until what the clients asked for is done, or forgotten."""
        with Probe(self.served.port) as probe:
            time.sleep(0.05)
            deed()
            time.sleep(0.5)
            for client in clients:
                client.close()
            time.sleep(0.5)
        print(f"\n  {name}: 99 % {probe.percentile(0.99) * 1e3:.1f} ms, "
              f"longest {max(probe.took) * 1e3:.1f} ms", end="", flush=True)
        self.assertLess(probe.percentile(0.99), SILENCE_MAX_S)
        self.assertLess(max(probe.took), SILENCE_MAX_OF_ALL_S if SANITIZED else 0.15)

    def test_many_that_leave_together(self):
        names = [f"name{i}" for i in range(10_000)]
        listeners = [self.served.client(timeout_s=60) for _ in range(4 if SANITIZED else 40)]
        for listener in listeners:
            listener.send(request("SUBSCRIBE", *names) + request("PING", LAST))
            listener.read_past(LAST)
        self.assert_others_are_answered_while("they leave", lambda: None, listeners)
        with self.served.client() as client:
            self.assertTrue(eventually(lambda: client("PUBSUB", "CHANNELS", "name*") == []))
            self.assertEqual(client("PUBSUB", "NUMSUB", "name1"), [b"name1", 0])

    def test_many_that_come_together(self):
        """Requests of many words, each from a client of its own, in the same instant."""
        names = [f"name{i}" for i in range(10_000)]
        asked = request("SUBSCRIBE", *names)
        listeners = [self.served.client(timeout_s=60) for _ in range(4 if SANITIZED else 40)]
        for listener in listeners:
            listener.send(asked[:-1])

        def come():
            for listener in listeners:
                listener.send(asked[-1:])

        self.assert_others_are_answered_while("they come", come, listeners)

    def test_many_waits_that_end_together(self):
        keys = 1_000 if SANITIZED else 10_000
        with self.served.client(timeout_s=60) as holder:
            holder.send(b"".join(
                request("SET", f"key{i}", "v", "PX", 60_000) for i in range(keys)))
            for _ in range(keys):
                self.assertEqual(holder.reply(), "OK")
        waiters = [self.served.client(timeout_s=60) for _ in range(20)]
        for waiter in waiters:
            waiter("HELLO", "3")
            waiter.send(b"".join(request("LOCK.WAIT", f"key{i}", "50000", "PUSH")
                                 for i in range(keys)) + request("ECHO", LAST))
            waiter.read_past(LAST)
        with self.served.client() as client:
            self.assertEqual(int(client.info()["waiters"]), 20 * keys)
            self.assert_others_are_answered_while(
                "they are woken", lambda: client("FLUSHALL"), waiters)
            # One by one of each key, and nobody takes it.
            self.assertTrue(eventually(lambda: int(client.info()["waiters"]) == 0))

    def test_a_change_of_what_many_watch(self):
        """It costs a mark at each; what else they watch is forgotten when they end that, or go."""
        names = [f"key{i}" for i in range(4_000)]
        watchers = [self.served.client(timeout_s=60) for _ in range(30 if SANITIZED else 300)]
        for watcher in watchers:
            self.assertEqual(watcher("WATCH", *names), "OK")
        with self.served.client(timeout_s=60) as client:
            self.assert_others_are_answered_while(
                "what they watch changes", lambda: client("SET", "key0", "v", "PX", 5000), watchers)

    def test_a_long_transaction(self):
        commands = 20_000 if SANITIZED else 250_000
        requests = [request("MULTI")] + [request("GET", "printer")] * commands + [request("EXEC")]
        self.assert_others_are_answered("EXEC", requests)

    def test_scripts_that_cannot_be_suspended(self):
        """Each is ended a while after the threshold; between two of them others have a turn."""
        self.served = self.node("--busy-reply-threshold", "100")
        endless = "table.sort({3, 2, 1}, function() while true do end end)"
        with self.served.client(timeout_s=60) as hostile, Probe(self.served.port) as probe:
            hostile.send(request("EVAL", endless, "0") * 8 + request("ECHO", LAST))
            hostile.read_past(LAST)
        print(f"\n  eight endless scripts: longest {max(probe.took) * 1e3:.1f} ms", end="")
        self.assertLess(max(probe.took), 0.15 + SILENCE_MAX_S)

    def test_a_batch_of_scripts(self):
        script = "for i = 1, 300000 do end"
        self.assert_others_are_answered("EVAL", [request("EVAL", script, "0")] * 100)


main()
