"""The lock nodes that a library is tried on: one or five real ones, and what is true at them.

A library's answers are not taken on trust: whether a lock is held is asked at the nodes, over a
connection of our own.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "process"))

import harness  # noqa: E402  (tests/process: Node, Client)

SOON_S = 0.5


class Group:
    def __init__(self, folder, count, *flags):
        self.folder = pathlib.Path(folder)
        self.flags = flags
        self.nodes = [self._new_node() for _ in range(count)]

    def _new_node(self):
        place = self.folder / f"node-{len(list(self.folder.glob('node-*'))) + 1}"
        place.mkdir()
        return harness.Node(place, *self.flags)

    @property
    def addresses(self):
        return [f"127.0.0.1:{node.port}" for node in self.nodes]

    @property
    def quorum(self):
        return len(self.nodes) // 2 + 1

    def start(self, recovering=0):
        """The last `recovering` of them know nothing of their past: they grant nothing for max-ttl
        (rule R1), which is longer than any scenario."""
        for number, node in enumerate(self.nodes, 1):
            if number <= len(self.nodes) - recovering:
                node.bootstrap()
            node.start()

    def kill_all(self):
        self.kill_from(0)

    def kill_from(self, index):
        """kill -9 of this node and all after it."""
        for node in self.nodes[index:]:
            node.kill()

    def end(self):
        for node in self.nodes:
            node.end()

    # --- what is true ---

    def ttls_ms(self, key):
        """PTTL of the key at each node that runs."""
        found = []
        for node in self.nodes:
            if node.runs():
                with harness.Client(node.port) as client:
                    found.append(client("PTTL", key))
        return found

    def holding(self, key):
        """How many nodes hold the key."""
        return sum(ttl_ms > 0 for ttl_ms in self.ttls_ms(key))

    def soon(self, key, count):
        """Whether so many nodes hold the key within a moment: at a quorum, some libraries answer
        and leave the rest of their requests to themselves."""
        return harness.eventually(lambda: self.holding(key) == count, SOON_S)

    def wait_until_gone(self, key):
        if not harness.eventually(lambda: self.holding(key) == 0):
            raise AssertionError(f"{key} is still held")

    def wait_until_idle(self):
        """No node holds any lock."""
        if not harness.eventually(lambda: self.held() == 0):
            raise AssertionError("locks of an earlier scenario are still held")

    def held(self):
        total = 0
        for node in self.nodes:
            with harness.Client(node.port) as client:
                total += int(client.info("locks")["held"])
        return total
