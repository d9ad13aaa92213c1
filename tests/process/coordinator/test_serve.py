"""redlock serve: the front door over five real nodes, by clients that believe it is one Redis."""

import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from group import (MAX_TTL_MS, PATIENCE_S, REDLOCK, SANITIZED, Group, GroupTest, RedisNode, ask,
                   ask_list, status_of, wait_until)
from harness import Client, RedisError
from ports import reserve_ports

RELEASE = ("if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) "
           "else return 0 end")
# Debian's redis-py is for Debian's own Python.
DEBIANS_PYTHON = "/usr/bin/python3"
NODE_TIMEOUT_S = 0.5
BUSY_S = 2 if SANITIZED else 0.4  # what a busy machine takes longer


def has_redis_py():
    known = subprocess.run([DEBIANS_PYTHON, "-c", "import redis"], capture_output=True, check=False)
    return known.returncode == 0


class Door:
    """A front door over nodes, at a port and a unix socket."""

    def __init__(self, folder, nodes, *flags, port=None):
        self.port = port or reserve_ports(1)[0]
        self.path = f"{folder}/door-{self.port}.sock"
        self.log_path = f"{folder}/door-{self.port}.log"
        self.words = [REDLOCK, "serve", "--nodes", nodes, "--listen", f"127.0.0.1:{self.port}",
                      "--listen", self.path, *flags]
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("REDLOCK_")}
        self.process = None

    def start(self, **environment):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env={**self.environment, **environment})
        wait_until(lambda: self.process.poll() is not None or ask(self.port, "PING"), "the door")
        if self.process.poll() is not None:
            raise AssertionError(self.log())
        return self

    def client(self):
        return Client(self.port)

    def info(self):
        with self.client() as client:
            return client.info()

    def resident_peak_kb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))

    def stop(self):
        self.process.terminate()
        return self.process.wait(PATIENCE_S)

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def log(self):
        return pathlib.Path(self.log_path).read_text(encoding="utf-8", errors="replace")


class DoorTest(GroupTest):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(prefix="redlock-test.")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def door(self, *flags, **options):
        door = Door(self.folder, self.group.addresses, *flags, **options)
        self.addCleanup(door.kill)
        return door.start()

    def holding(self, key):
        return sum(reply != "$-1" for reply in self.group.keys(key))

    def assertFreeSoon(self, key):
        wait_until(lambda: self.group.is_free(key), f"{key} to be free at all nodes")


class Recipe(DoorTest):
    """What nearly every client sends."""

    def test_a_lock_is_a_quorums(self):
        door = self.door()
        with door.client() as alice, Client(door.port) as bob:
            self.assertEqual(alice("SET", "printer", "1", "NX", "PX", TTL_MS), "OK")
            wait_until(lambda: self.holding("printer") == 5, "the lock at all nodes")
            self.assertIsNone(bob("SET", "printer", "1", "NX", "PX", TTL_MS))
            self.assertEqual(bob("GET", "printer"), b"1")
            self.assertLessEqual(bob("PTTL", "printer"), TTL_MS)
            self.assertGreater(bob("PTTL", "printer"), TTL_MS - PATIENCE_S * 1000)
            self.assertEqual(bob("EVAL", RELEASE, 1, "printer", "2"), 0)
            self.assertEqual(alice("EVAL", RELEASE, 1, "printer", "1"), 1)
            self.assertIsNone(bob("GET", "printer"))
            self.assertFreeSoon("printer")

    def test_at_a_unix_socket_and_in_resp3(self):
        door = self.door()
        said = subprocess.run(["redis-cli", "-3", "-s", door.path, "SET", "printer", "alice", "NX",
                               "PX", "10000"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(said, "OK\n")
        said = subprocess.run(["redis-cli", "-s", door.path, "DEL", "printer"],
                              capture_output=True, text=True, check=True).stdout
        self.assertEqual(said, "1\n")

    def test_the_longest_ttl_is_what_the_nodes_leave(self):
        with self.door().client() as client:
            self.assertEqual(client("SET", "minute", "1", "NX", "PX", 60000), "OK")
            self.assertEqual(client("DEL", "minute"), 1)
            refused = client("SET", "minute", "1", "NX", "PX", MAX_TTL_MS)
            self.assertIsInstance(refused, RedisError)
            self.assertIn(f"{MAX_TTL_MS} ms", refused.text)
            self.assertIn("or raise max-ttl at the nodes", refused.text)
        with self.door("--max-ttl", "5s").client() as client:
            refused = client("SET", "minute", "1", "NX", "PX", 5001)
            self.assertIn("max-ttl (5000 ms): ask for less, or start it with a larger --max-ttl",
                          refused.text)
            self.assertEqual(client("SET", "minute", "1", "NX", "PX", 5000), "OK")

    def test_two_nodes_of_five_are_not_missed(self):
        door = self.door()
        with door.client() as client:
            self.assertEqual(client("SET", "before", "1", "NX", "PX", TTL_MS), "OK")
            self.group.stop(3)
            self.group.kill(4)
            began = time.monotonic()
            for number in range(20):
                key = f"printer-{number}"
                self.assertEqual(client("SET", key, "1", "NX", "PX", TTL_MS), "OK")
                self.assertIsNone(client("SET", key, "1", "NX", "PX", TTL_MS))
                self.assertEqual(client("EVAL", RELEASE, 1, key, "1"), 1)
            self.assertEqual(client("EVAL", RELEASE, 1, "before", "1"), 1)
            # The hung node costs its timeout once, where a reading has to know of it.
            self.assertLess(time.monotonic() - began, 20 * NODE_TIMEOUT_S)

    def test_holders_behind_a_door_are_told_with_the_values_that_they_know(self):
        nodes = ["--nodes", self.group.addresses]

        def told(word, *words):
            done = subprocess.run([REDLOCK, word, *nodes, *words], capture_output=True, text=True,
                                  timeout=30, check=True)
            return done.stdout
        with self.door().client() as client:
            got = client("LOCK.ACQUIRE", "desk", "v1", "PX", TTL_MS, "LABEL", "alice@desk")
            self.assertEqual(got[0], 1)
            self.assertEqual(client("SET", "scanner", "1", "NX", "PX", TTL_MS), "OK")
            self.assertEqual(client("HSET", "table", "field", "1"), 1)
        self.assertIn("value    v1  (of a client of a front door)\n", told("holder", "desk"))
        self.assertIn("label    alice@desk\n", told("holder", "desk"))
        self.assertEqual(json.loads(told("holder", "--json", "scanner"))["client_value"], "1")
        locks = {lock["name"]: lock for lock in json.loads(told("list", "--json"))["locks"]}
        self.assertEqual(locks["desk"]["label"], "alice@desk")
        self.assertEqual(locks["desk"]["client_value"], "v1")
        self.assertIsNone(locks["table"]["client_value"])

    def test_info_tells_which_nodes_grant(self):
        door = self.door()

        def of_nodes(wanted):
            told = door.info()
            return wanted == (told["nodes_ready"], told["nodes_granting"],
                              told["node4"].split(",")[1])
        wait_until(lambda: of_nodes(("5", "5", "state=ready")), "all nodes to grant")
        with door.client() as client:
            self.assertEqual(client("SET", "any", "1", "NX", "PX", TTL_MS), "OK")
        self.addCleanup(self.drop_group)  # one recovers for a minute
        self.group.kill(4)
        wait_until(lambda: of_nodes(("4", "4", "state=unreachable")), "the killed node")
        self.group.nodes[4].start()
        wait_until(lambda: of_nodes(("5", "4", "state=recovering")), "its restart delay")
        self.assertGreater(int(door.info()["node0"].split("rtt_us=")[1].split(",")[0]), 0)

    def test_three_missing_nodes_are_told_at_once(self):
        door = self.door()
        with door.client() as client:
            self.assertEqual(client("SET", "earlier", "1", "NX", "PX", TTL_MS), "OK")
            self.group.stop(2, 3, 4)
            for words in (("SET", "printer", "1", "NX", "PX", "10000"), ("GET", "earlier")):
                began = time.monotonic()
                refused = client(*words)
                took_s = time.monotonic() - began
                self.assertIsInstance(refused, RedisError, words)
                self.assertTrue(refused.text.startswith("ERR NOQUORUM 2 of 5 nodes answered: "),
                                refused.text)
                self.assertLess(len(refused.text), 1024)
                for node in self.group.nodes[2:]:
                    self.assertIn(f"127.0.0.1:{node.port}", refused.text)
                self.assertLess(took_s, NODE_TIMEOUT_S + 0.1 + BUSY_S)
            self.group.proceed()

            def works_again():
                return client("SET", "after", "1", "NX", "PX", "10000") in ("OK", None)
            wait_until(works_again, "the end of NOQUORUM")

    @unittest.skipUnless(has_redis_py(), "no python3-redis")
    def test_redis_pys_lock_unmodified(self):
        """One node killed, one stopped: the first line of what a front door is accepted by."""
        door = self.door()
        self.group.stop(0)
        self.group.kill(1)
        script = """
import redis, sys
client = redis.Redis(port=int(sys.argv[1]))
lock = client.lock("printer", timeout=30)
assert lock.acquire()
second = client.lock("printer", timeout=30, blocking=False)
assert not second.acquire()
assert lock.owned() and lock.locked()
assert lock.extend(5)
assert 33000 < client.pttl("printer") <= 35000, client.pttl("printer")
assert lock.reacquire()
lock.release()
assert not lock.locked()
assert second.acquire()
second.release()
with client.lock("printer", timeout=10, blocking_timeout=5):
    pass
"""
        done = subprocess.run([DEBIANS_PYTHON, "-c", script, str(door.port)], capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


TTL_MS = 30000


class TwoDoors(DoorTest):
    def test_a_lock_of_one_is_extended_and_released_at_the_other(self):
        rounds = 10000 if os.environ.get("REDLOCK_LONG") else 300
        with self.door().client() as one, self.door().client() as other:
            extend = RELEASE.replace("'del',KEYS[1]", "'pexpire',KEYS[1],ARGV[2]")
            for number in range(rounds):
                self.assertEqual(one("SET", "printer", "1", "NX", "PX", TTL_MS), "OK", number)
                self.assertEqual(other("EVAL", extend, 1, "printer", "1", TTL_MS), 1, number)
                self.assertEqual(other("EVAL", RELEASE, 1, "printer", "1"), 1, number)
            self.assertFreeSoon("printer")

    def test_a_door_that_is_killed_and_started_again_loses_no_lock(self):
        door = self.door()
        with door.client() as client:
            self.assertEqual(client("SET", "printer", "1", "NX", "PX", TTL_MS), "OK")
        door.kill()
        door.start()
        with door.client() as client:
            self.assertIsNone(client("SET", "printer", "1", "NX", "PX", TTL_MS))
            self.assertEqual(client("EVAL", RELEASE, 1, "printer", "1"), 1)
        self.assertFreeSoon("printer")


class Ends(DoorTest):
    def load(self, door, clients):
        """Clients that take and release locks of their own; what they hold is written down."""
        held, stopped = {}, threading.Event()

        def work(number):
            with contextlib.suppress(OSError), door.client() as client:
                for turn in range(1_000_000):
                    if stopped.is_set():
                        return
                    key = f"lock-{number}-{turn}"
                    if client("SET", key, "1", "NX", "PX", TTL_MS) != "OK":
                        return
                    held[number] = key
                    client("EVAL", RELEASE, 1, key, "1")
                    held.pop(number)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(clients)]
        for thread in threads:
            thread.start()

        def end():
            stopped.set()
            for thread in threads:
                thread.join(PATIENCE_S)
        self.addCleanup(end)
        return held, end

    def locks_at_nodes(self):
        return {node.port: int(status_of(node.port).get("locks", -1)) for node in self.group.nodes}

    def test_sigterm_leaves_nothing_of_its_attempts(self):
        door = self.door()
        held, end = self.load(door, 16)
        time.sleep(0.5)
        self.assertEqual(door.stop(), 0, door.log())
        end()
        # What a client had was told before, or its release had not come: that is the client's.
        keys = set(held.values())
        wait_until(lambda: max(self.locks_at_nodes().values()) <= len(keys), "the undos")
        for key in keys:
            for node in self.group.nodes:
                ask(node.port, "DEL", key)
        wait_until(lambda: set(self.locks_at_nodes().values()) == {0}, "free nodes")

    def test_sigterm_of_an_idle_door_is_quick(self):
        door = self.door()
        with door.client() as client:
            self.assertEqual(client("PING"), "PONG")
            began = time.monotonic()
            self.assertEqual(door.stop(), 0)
            self.assertLess(time.monotonic() - began, NODE_TIMEOUT_S + BUSY_S)
        self.assertFalse(os.path.exists(door.path))

    def test_kill_leaves_nothing_after_the_ttl(self):
        door = self.door("--acquire-time", "500ms", "--reply-time", "100ms")
        with door.client() as client:
            for number in range(20):
                client("SET", f"lock-{number}", "1", "NX", "PX", "500")
            door.kill()
        wait_until(lambda: set(self.locks_at_nodes().values()) == {0}, "free nodes")

    def test_a_clients_shutdown_ends_it(self):
        door = self.door()
        with door.client() as client:
            client.send(b"*2\r\n$8\r\nSHUTDOWN\r\n$6\r\nNOSAVE\r\n")
        self.assertEqual(door.process.wait(PATIENCE_S), 0)


class Settings(DoorTest):
    def run_to_its_end(self, *words, **environment):
        return subprocess.run([REDLOCK, "serve", *words], capture_output=True, text=True,
                              timeout=PATIENCE_S, check=False,
                              env={**self.environment, **environment})

    def test_a_password(self):
        door = self.door("--requirepass", "secret")
        with door.client() as client:
            self.assertIn("NOAUTH", client("GET", "k").text)
            self.assertEqual(client("AUTH", "secret"), "OK")
            self.assertIsNone(client("GET", "k"))
        words = pathlib.Path(f"/proc/{door.process.pid}/cmdline").read_text(encoding="utf-8")
        self.assertIn("--requirepass\0******\0", words)

    def test_maxclients(self):
        door = self.door("--maxclients", "2")
        with door.client() as one, door.client() as two, door.client() as three:
            self.assertEqual((one("PING"), two("PING")), ("PONG", "PONG"))
            self.assertIn("max number of clients", three.reply().text)

    def test_settings_of_a_file(self):
        port = reserve_ports(1)[0]
        path = pathlib.Path(self.folder, "redlock.conf")
        path.write_text(f"nodes {self.group.addresses}\nlisten 127.0.0.1:{port}\n"
                        "reply-time 200ms\nmaxclients 7\n")
        process = subprocess.Popen([REDLOCK, "serve", "--config", str(path)],
                                   stdout=subprocess.DEVNULL, env=Door(self.folder, "").environment)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        wait_until(lambda: ask(port, "PING"), "the door")
        self.assertEqual(ask_list(port, "CONFIG", "GET", "maxclients"), ["maxclients", "7"])
        with Client(port) as client:
            self.assertEqual(client.info()["reply_time_ms"], "200")

    def test_what_cannot_work_is_told(self):
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        port = taken.getsockname()[1]
        listen = ("--listen", f"127.0.0.1:{port}")
        for words, status, said in [
                (listen, 1, f"127.0.0.1:{port}"),
                (("--listen", "here"), 64, "is no place to listen"),
                (("--acquire-time", "0"), 64, "from 1ms to 1h"),
                (("--acquire-time", "50ms", "--node-timeout", "100ms"), 64, "acquire-time"),
                (("--maxclients", "none"), 64, "maxclients"),
                (("--max-ttl", "0ms"), 64, "auto")]:
            with self.subTest(words):
                done = self.run_to_its_end(*words)
                self.assertEqual(done.returncode, status, done.stdout + done.stderr)
                self.assertIn(said, done.stdout + done.stderr)
        done = self.run_to_its_end(REDLOCK_NODES="")
        self.assertEqual(done.returncode, 78, done.stderr)

    def test_a_door_that_is_named_as_a_node_is_told_for_what_it_is(self):
        door = self.door()
        done = self.redlock("holder", "printer", "--nodes", f"redis://127.0.0.1:{door.port}")
        self.assertExit(69, done)
        self.assertIn("it is a front door: name the nodes that it stands before", done.stderr)

    def test_without_a_quorum(self):
        nowhere = ",".join(f"redis://127.0.0.1:{port}" for port in reserve_ports(3))
        port = reserve_ports(1)[0]
        done = self.run_to_its_end("--nodes", nowhere, "--listen", f"127.0.0.1:{port}",
                                   "--require-quorum")
        self.assertEqual(done.returncode, 69, done.stdout + done.stderr)
        for address in nowhere.split(","):
            name = address.removeprefix("redis://")
            self.assertIn(f"node {name}: connection refused", done.stdout)
        door = Door(self.folder, nowhere)
        self.addCleanup(door.kill)
        with door.start().client() as client:
            self.assertIn("ERR NOQUORUM 0 of 3 nodes answered",
                          client("SET", "k", "1", "NX", "PX", "1000").text)

    def test_a_service_manager_is_told(self):
        path = f"{self.folder}/notify"
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(manager.close)
        manager.bind(path)
        manager.settimeout(PATIENCE_S)
        door = Door(self.folder, self.group.addresses)
        self.addCleanup(door.kill)
        door.start(NOTIFY_SOCKET=path)
        self.assertIn("READY=1", manager.recv(1024).decode())
        door.process.terminate()
        self.assertIn("STOPPING=1", manager.recv(1024).decode())

    def test_the_log_is_opened_anew(self):
        log = pathlib.Path(self.folder, "door.log")
        door = self.door("--logfile", str(log))
        wait_until(lambda: "a front door at" in log.read_text(), "the first line")
        log.rename(self.folder + "/old.log")
        door.process.send_signal(signal.SIGHUP)
        wait_until(log.exists, "the new log")


    def test_the_audit_is_as_a_nodes(self):
        file = pathlib.Path(self.folder, "audit.log")
        door = self.door("--audit", str(file), "--audit-format", "json")
        with door.client() as alice, Client(door.port) as mallory:
            mallory("CLIENT", "SETNAME", "mallory")
            self.assertEqual(alice("SET", "printer", "its-value", "NX", "PX", TTL_MS), "OK")
            self.assertEqual(mallory("DEL", "printer"), 1)
            wait_until(lambda: file.read_text().count("\n") == 1, "a line of the audit")
            line = json.loads(file.read_text())
            self.assertEqual([line[name] for name in ("event", "name", "command", "how", "key")],
                             ["lock-broken", "mallory", "del", "ends", "printer"])
            self.assertEqual(line["holder"], hashlib.sha1(b"its-value").hexdigest()[:16])
            file.rename(self.folder + "/old-audit.log")
            door.process.send_signal(signal.SIGHUP)
            wait_until(file.exists, "the new file")
            mallory.send(b"*2\r\n$8\r\nSHUTDOWN\r\n$6\r\nNOSAVE\r\n")
            door.process.wait(PATIENCE_S)
            self.assertEqual(json.loads(file.read_text())["event"], "shutdown")
        done = self.run_to_its_end("--audit", "/nowhere/audit.log")
        self.assertEqual(done.returncode, 78)
        self.assertIn("/nowhere/audit.log", done.stdout + done.stderr)


class OverPlainRedis(DoorTest):
    node_class = RedisNode

    def test_it_works_and_warns(self):
        door = self.door()
        with door.client() as client:
            self.assertEqual(client("SET", "printer", "1", "NX", "PX", TTL_MS), "OK")
            self.assertIsNone(client("SET", "printer", "2", "NX", "PX", TTL_MS))
            self.assertEqual(client("PEXPIRE", "printer", TTL_MS), 1)
            self.assertEqual(client("EVAL", RELEASE, 1, "printer", "1"), 1)
            wait_until(lambda: client.info()["front_door_over_plain_redis"] == "yes",
                       "the nodes' kind")
        wait_until(lambda: "plain Redis" in door.log(), "a warning")


if __name__ == "__main__":
    unittest.main()
