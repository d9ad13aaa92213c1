"""No lock waits for a disk: at most one fsync per 500,000 grants, each of which gives a token.

All grants are of one key, the hardest case: its counter comes to the durable bound the soonest
(rules R4, F1).
"""

import threading

from harness import BUILD, ProcessTest, main, measures, request

GRANTS = 2_000_000
GRANTS_PER_FLUSH = 500_000
PAIRS_AT_ONCE = 1000
ACQUIRE = ("LOCK.ACQUIRE", "lock", "A", "PX", 30000)
RELEASE = ("LOCK.RELEASE", "lock", "A")
WITHOUT_PROPOSAL = b"*3\r\n:1\r\n:0\r\n"


@measures  # the sanitizers' own libraries want to come first
class Flushes(ProcessTest):
    def counted_node(self):
        """A node, and a function that tells how many flushes it has made."""
        node = self.new_node()
        counter = node.folder / "flushes"
        counter.touch()
        node.environment.update({"LD_PRELOAD": str(BUILD / "libcount_flushes.so"),
                                 "FLUSHES_FILE": str(counter)})
        return node.start(), lambda: counter.stat().st_size

    def acquire_and_release(self, client, pairs):
        """Pipelined; how many grants came without a proposal."""
        piece = PAIRS_AT_ONCE * (request(*ACQUIRE) + request(*RELEASE))

        def send():
            for _ in range(pairs // PAIRS_AT_ONCE):
                client.send(piece)
            client.send(request("ECHO", "the end"))

        sender = threading.Thread(target=send)
        sender.start()
        without, tail = 0, b""
        while not tail.endswith(b"the end\r\n"):
            data = tail + client.socket.recv(1 << 18)
            tail = data[-(len(WITHOUT_PROPOSAL) - 1):]  # too short to hold one: none counts twice
            without += data.count(WITHOUT_PROPOSAL)
        sender.join()
        return without

    def test_two_million_grants_with_tokens_take_four_fsyncs_at_most(self):
        node, flushes = self.counted_node()
        client = node.client()
        self.assertGreaterEqual(flushes(), 2, "those of the start were not counted")
        _, first, _ = client(*ACQUIRE)  # a lock of this TTL is the first of its kind (rule R8)
        client(*RELEASE)
        before = flushes()
        self.assertEqual(self.acquire_and_release(client, GRANTS), 0)
        _, last, _ = client(*ACQUIRE)
        self.assertEqual(last - first, GRANTS + 1)
        self.assertEqual(int(client.info("locks")["granted"]), GRANTS + 2)
        self.assertLessEqual(flushes() - before, GRANTS // GRANTS_PER_FLUSH)
        self.assertGreater(flushes(), before, "the bound was passed without a write (rule F1)")


if __name__ == "__main__":
    main()
