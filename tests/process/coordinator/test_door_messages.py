"""Messages between the clients of front doors over the same nodes (rule D11)."""

import subprocess
import unittest

from group import RedisNode, ask_list, reserve_ports, wait_until
from harness import Client, request
from test_roster import QuickNode
from test_serve import DEBIANS_PYTHON, TTL_MS, DoorTest, has_redis_py

CHANNEL = "\0redlock:relay"
BURST = 3000  # more than is in flight to a node at once
# Redisson's way to give a lock back.
RELEASE_AND_TELL = """
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('del', KEYS[1])
redis.call('publish', KEYS[2], 'free')
return 1
"""
# Prints what it hears, a line each; "ready" first.
LISTENER = """
import redis, sys
listener = redis.Redis(port=int(sys.argv[1])).pubsub()
listener.subscribe("news")
listener.psubscribe("redisson_*")
heard = 0
for message in listener.listen():
    if message["type"].endswith("subscribe"):
        heard += 1
        if heard == 2:
            print("ready", flush=True)
    else:
        print(message["type"], message["channel"].decode(), message["data"].decode(), flush=True)
"""


def await_subscribed(nodes, *doors):
    """A node counts its listeners before the doors have read that it does."""
    for door in doors:
        wait_until(lambda door=door: int(door.info()["nodes_subscribed"]) == nodes,
                   "a door to hear its nodes")


class Messages(DoorTest):
    def listener(self, door, *channels):
        client = Client(door.port)
        self.addCleanup(client.close)
        for channel in channels:
            client.send(request("SUBSCRIBE", channel))
            self.assertEqual(client.reply()[:2], [b"subscribe", channel.encode()])
        return client

    @unittest.skipUnless(has_redis_py(), "no python3-redis")
    def test_redis_py_hears_at_one_door_what_is_published_at_another(self):
        """One node killed, one stopped; in order, and each message once."""
        one, other = self.door(), self.door()
        await_subscribed(5, one, other)
        self.group.stop(0)
        self.group.kill(1)
        heard = subprocess.Popen([DEBIANS_PYTHON, "-c", LISTENER, str(other.port)], text=True,
                                 stdout=subprocess.PIPE)
        self.addCleanup(heard.stdout.close)
        self.addCleanup(heard.wait)
        self.addCleanup(heard.kill)
        self.assertEqual(heard.stdout.readline(), "ready\n")
        with one.client() as client:
            for number in range(200):
                self.assertEqual(client("PUBLISH", "news", str(number)), 0)
            self.assertEqual(client("PUBLISH", "redisson_lock", "0"), 0)
            self.assertEqual(client("SET", "printer", "1", "NX", "PX", TTL_MS), "OK")
            self.assertEqual(client("EVAL", RELEASE_AND_TELL, 2, "printer", "news", "1"), 1)
            self.assertEqual(client("EVAL", RELEASE_AND_TELL, 2, "printer", "news", "1"), 0)
            self.assertEqual(client("PUBLISH", "news", "end"), 0)
        told = [f"message news {number}" for number in range(200)]
        told += ["pmessage redisson_lock 0", "message news free", "message news end"]
        self.assertEqual([heard.stdout.readline().rstrip("\n") for _ in told], told)

    def test_a_waiter_is_woken_when_its_lock_is_free(self):
        one, other = self.door(), self.door()
        await_subscribed(5, one, other)
        waiter = self.listener(other, "unlocked")
        with one.client() as holder, other.client() as taker:
            for number in range(20):
                self.assertEqual(holder("SET", "printer", "1", "NX", "PX", TTL_MS), "OK", number)
                self.assertIsNone(taker("SET", "printer", "2", "NX", "PX", TTL_MS))
                self.assertEqual(holder("EVAL", RELEASE_AND_TELL, 2, "printer", "unlocked", "1"), 1)
                self.assertEqual(waiter.reply(), [b"message", b"unlocked", b"free"])
                self.assertEqual(taker("SET", "printer", "2", "NX", "PX", TTL_MS), "OK", number)
                self.assertEqual(taker("DEL", "printer"), 1)

    def test_a_door_hears_its_nodes_again_when_they_come_back(self):
        one, other = self.door(), self.door()
        waiter = self.listener(other, "news")
        self.addCleanup(self.drop_group)  # they recover for a minute
        self.group.kill(0, 1, 2, 3, 4)
        await_subscribed(0, one, other)
        with one.client() as client:
            self.assertEqual(client("PUBLISH", "news", "lost"), 0)
            with other.client() as neighbour:
                self.assertEqual(neighbour("PUBLISH", "news", "near"), 1)
            for node in self.group.nodes:
                node.start()
            await_subscribed(5, one, other)
            self.assertEqual(client("PUBLISH", "news", "hello"), 0)
        self.assertEqual(waiter.reply(), [b"message", b"news", b"near"])
        self.assertEqual(waiter.reply(), [b"message", b"news", b"hello"])

    def test_a_node_that_hung_tells_nothing_twice(self):
        one, other = self.door(), self.door()
        await_subscribed(5, one, other)
        waiter = self.listener(other, "news")
        self.group.stop(4)
        with one.client() as client:
            burst = b"".join(request("PUBLISH", "news", str(number)) for number in range(BURST))
            client.send(burst)
            for _ in range(BURST):
                self.assertEqual(client.reply(), 0)
            for number in range(BURST):
                self.assertEqual(waiter.reply(), [b"message", b"news", b"%d" % number])
            self.group.proceed()
            wait_until(lambda: int(other.info()["dropped_repeated"]) == 4 * BURST,
                       "what the node had kept")
            self.assertEqual(client("PUBLISH", "news", "end"), 0)
        self.assertEqual(waiter.reply(), [b"message", b"news", b"end"])

    def test_what_others_write_at_the_nodes_is_dropped(self):
        door = self.door()
        await_subscribed(5, door)
        waiter = self.listener(door, "news")
        written = [b"", b"x" * 20, b"i" * 16 + b"x\0\0\0\4newshello",
                   b"i" * 16 + b"c\xff\xff\xff\xffnewshello"]
        with Client(self.group.nodes[0].port) as client:
            for message in written:
                client.send(b"*3\r\n$7\r\nPUBLISH\r\n$14\r\n%b\r\n$%d\r\n%b\r\n"
                            % (CHANNEL.encode(), len(message), message))
                self.assertEqual(client.reply(), 1)
        wait_until(lambda: int(door.info()["dropped_malformed"]) == len(written), "the last")
        with door.client() as client:
            self.assertEqual(client("PUBLISH", "news", "hello"), 1)
        self.assertEqual(waiter.reply(), [b"message", b"news", b"hello"])


class Rosters(DoorTest):
    """The nodes become others (rules G)."""

    node_class = QuickNode

    def setUp(self):
        self.drop_group()
        super().setUp()
        self.newcomer = QuickNode(f"{self.group.folder}/newcomer", *reserve_ports(1))
        self.addCleanup(self.newcomer.kill)
        self.newcomer.bootstrap()
        self.newcomer.start()
        self.newcomer.await_begun()
        self.change("create")

    def change(self, *words):
        self.assertExit(0, self.redlock("group", *words))

    def address(self, node):
        return f"127.0.0.1:{node.port}"

    def listeners(self, node):
        return ask_list(node.port, "PUBSUB", "NUMSUB", CHANNEL)[1]

    def await_listeners(self, node, count):
        wait_until(lambda: self.listeners(node) == str(count), f"{count} doors at {node.url}")

    def assertTellsThroughTheNewcomerAlone(self, one, other):
        self.group.kill(*range(5))
        with Client(other.port) as waiter, one.client() as client:
            waiter.send(request("SUBSCRIBE", "news"))
            waiter.reply()
            self.assertEqual(client("PUBLISH", "news", "hello"), 0)
            self.assertEqual(waiter.reply(), [b"message", b"news", b"hello"])

    def test_a_node_that_is_replaced_hears_and_tells_nothing_more(self):
        """The clients of one door take locks, those of the other listen."""
        one, other = self.door(), self.door()
        old = self.group.nodes[4]
        self.await_listeners(old, 2)
        self.change("replace", self.address(old), self.address(self.newcomer))
        with one.client() as client:
            wait_until(lambda: client("GET", "printer") is None, "the door at its nodes")
        self.await_listeners(self.newcomer, 1)
        self.await_listeners(old, 1)
        self.await_listeners(self.newcomer, 2)  # within MessageRelay::kSubscribeAgainAfter
        self.await_listeners(old, 0)
        await_subscribed(5, one, other)
        for door in (one, other):
            self.assertIn(self.address(self.newcomer), door.info()["node4"])
        self.assertTellsThroughTheNewcomerAlone(one, other)

    def test_a_node_that_is_added_hears_and_tells_at_once(self):
        one, other = self.door(), self.door()
        self.change("add", self.address(self.newcomer))
        for door in (one, other):
            with door.client() as client:
                wait_until(lambda client=client: client("GET", "printer") is None, "the nodes")
        self.await_listeners(self.newcomer, 2)
        for node in self.group.nodes:
            self.await_listeners(node, 2)
        self.assertTellsThroughTheNewcomerAlone(one, other)


class OverPlainRedis(DoorTest):
    node_class = RedisNode

    def test_messages_pass_as_over_lock_nodes(self):
        one, other = self.door(), self.door()
        await_subscribed(5, one, other)
        with one.client() as client, other.client() as waiter:
            waiter.send(request("SUBSCRIBE", "news"))
            waiter.reply()
            self.assertEqual(client("PUBLISH", "news", "hello"), 0)
            self.assertEqual(waiter.reply(), [b"message", b"news", b"hello"])
            self.assertEqual(client("SET", "printer", "1", "NX", "PX", TTL_MS), "OK")
            self.assertEqual(client("EVAL", RELEASE_AND_TELL, 2, "printer", "news", "1"), 1)
            self.assertEqual(waiter.reply(), [b"message", b"news", b"free"])


if __name__ == "__main__":
    unittest.main()
