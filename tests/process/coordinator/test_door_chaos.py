"""Two front doors over five nodes, all killed and stopped at random, and naive clients. Who
reads an OK relies on its lock for its TTL, by its own clock, and nobody else may then read one.

What is promised (rule D2) holds for an OK that is on its way for at most the reply time. A client
knows that much of one that comes within the reply time of its request, so those are compared.

Half of the locks are of value "1" and run out by themselves. For a release by such a value may wait
in a stopped door until the lock is another's, as it may in a stopped Redis. The other half have
values of their own, and are extended and released at either door.
"""

import multiprocessing
import os
import random
import signal
import time
import unittest

from group import Node, RedisNode
from harness import Client, request
from ports import reserve_ports
from test_serve import RELEASE, DoorTest

LONG = bool(os.environ.get("REDLOCK_LONG"))
LENGTH_S = 600 if LONG else 15
CLIENTS = 6
TTL_S = 1.0
REPLY_TIME_S = 1.0  # the door's default
EXTEND = RELEASE.replace("'del',KEYS[1]", "'pexpire',KEYS[1],ARGV[2]")


class QuickNode(Node):
    max_ttl_ms = 4000  # it recovers for five seconds


def ask(port, *words):
    """The answer, when it was asked for and when it was read; None: it did not come."""
    asked = time.monotonic()
    try:
        with Client(port, timeout_s=2) as client:
            client.send(request(*words))
            return client.reply(), asked, time.monotonic()
    except (OSError, AssertionError):
        return None, asked, time.monotonic()


def hold(ports, number, end, spans):
    """One client's locks: (key, from, until, was told in time)."""
    chance = random.Random(number)
    held = []
    while time.monotonic() < end:
        is_plain = chance.random() < 0.5
        key = f"{'plain' if is_plain else 'own'}-{chance.randrange(2)}"
        value = "1" if is_plain else f"{number}-{len(held)}-{chance.random()}"
        ttl_ms = int(TTL_S * 1000)
        answer, asked, read = ask(chance.choice(ports), "SET", key, value, "NX", "PX", ttl_ms)
        if answer != "OK":
            time.sleep(chance.uniform(0, 0.02))
            continue
        span = [key, read, read + TTL_S, read - asked <= REPLY_TIME_S]
        held.append(span)
        if is_plain:
            time.sleep(chance.uniform(0, 2 * TTL_S))
            continue
        time.sleep(chance.uniform(0, 0.5 * TTL_S))
        answer, asked, read = ask(chance.choice(ports), "EVAL", EXTEND, 1, key, value, ttl_ms)
        if answer == 1 and read - asked <= REPLY_TIME_S:
            span[2] = read + TTL_S
        time.sleep(chance.uniform(0, 0.5 * TTL_S))
        span[2] = min(span[2], time.monotonic())  # it lets go, whatever comes of that
        ask(chance.choice(ports), "EVAL", RELEASE, 1, key, value)
    spans.put(held)


def overlaps_of(spans):
    found = []
    for key in {span[0] for span in spans}:
        in_order = sorted(span[1:3] for span in spans if span[0] == key and span[3])
        latest = None
        for begin, end in in_order:
            if latest is not None and begin < latest[1]:
                found.append(f"{key}: from {latest[0]:.3f} until {latest[1]:.3f}, and from "
                             f"{begin:.3f}")
            if latest is None or end > latest[1]:
                latest = (begin, end)
    return found


class Chaos(DoorTest):
    """Nodes that keep the promise."""
    node_class = QuickNode

    def play(self, length_s, seed):
        """The spans of all clients."""
        chance = random.Random(seed)
        doors = [self.door(port=port) for port in reserve_ports(2)]
        spans = multiprocessing.Queue()
        end = time.monotonic() + length_s
        clients = [multiprocessing.Process(target=hold, args=(
            [door.port for door in doors], seed * 100 + number, end, spans))
            for number in range(CLIENTS)]
        for client in clients:
            client.start()
            self.addCleanup(client.kill)
        wounded = {}  # what does not run as it should, and from when on it shall
        while time.monotonic() < end:
            time.sleep(chance.uniform(0, 0.5))
            self.mend(wounded, doors)
            self.wound(wounded, doors, chance)
        self.mend(wounded, doors, all_of_it=True)
        told = [span for _ in clients for span in spans.get(timeout=30)]
        for client in clients:
            client.join()
        return told

    def wound(self, wounded, doors, chance):
        """At most two nodes and one door at a time."""
        nodes = [one for one in wounded if isinstance(one, Node)]
        is_door = chance.random() < 0.3
        if is_door:
            victim = chance.choice(doors)
            if len(wounded) > len(nodes):
                return
        else:
            victim = chance.choice(self.group.nodes)
            if len(nodes) == 2 or victim in wounded:
                return
        if chance.random() < 0.5:
            victim.kill()
            # A node that was killed counts until its restart delay is over.
            wounded[victim] = ("start", time.monotonic() + chance.uniform(0, 1))
        else:
            victim.process.send_signal(signal.SIGSTOP)
            wounded[victim] = ("continue", time.monotonic() + chance.uniform(0, 3 * TTL_S))

    @staticmethod
    def mend(wounded, doors, all_of_it=False):
        for victim, (how, when) in list(wounded.items()):
            if time.monotonic() < when and not all_of_it:
                continue
            if how == "continue":
                victim.process.send_signal(signal.SIGCONT)
            elif how == "start":
                victim.start()
            if how == "start" and victim not in doors and not all_of_it:
                wounded[victim] = ("recovers", time.monotonic() + 5)
            else:
                del wounded[victim]

    def test_nobody_reads_an_ok_while_another_relies_on_his(self):
        spans = self.play(LENGTH_S, seed=int(time.time()) if LONG else 1)
        print(f"\n  {len(spans)} locks, {sum(not span[3] for span in spans)} told late", end="",
              flush=True)
        self.assertGreater(len(spans), LENGTH_S)
        self.assertEqual(overlaps_of(spans), [])


@unittest.skipUnless(LONG, "long")
class ChaosOverRedis(Chaos):
    """Nodes that grant again at once what they have forgotten: the check sees it."""
    node_class = RedisNode

    def wound(self, wounded, doors, chance):
        """A quorum of them, as by a power cut: what lock nodes would wait after."""
        for victim in chance.sample(self.group.nodes, 3):
            victim.kill()
            victim.start()

    def test_nobody_reads_an_ok_while_another_relies_on_his(self):
        self.assertNotEqual(overlaps_of(self.play(60, seed=1)), [])


if __name__ == "__main__":
    unittest.main()
