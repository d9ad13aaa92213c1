"""What a start makes of a ledger that something happened to: the table of docs/safety.md (rules R2
to R7), on real files, disks, boots and clocks.

Disks, boot ids and clocks are those of namespaces of the test's own, so the program that ships
needs no hook for it; that takes root, and without it those tests are skipped. Each case tells what
INFO must say: the cause, and the delay that the table gives. Then the node is asked for a lock
until it grants one, which must not come before the delay is over, counted from before the program
was started.
"""

import concurrent.futures
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

from harness import BUILD, PATIENCE_S, Client, Node, ProcessTest, eventually, main

MAX_TTL_MS = 400
UNKNOWN_MS = 1404  # max-ttl × 1.01 + 1 s, rounded up
LEDGER_BYTES = 12288
PAGE_BYTES = 4096
IN_A_NAMESPACE = "REDLOCK_TEST_NAMESPACE"

has_namespace = unittest.skipUnless(
    os.environ.get(IN_A_NAMESPACE), "needs root, and mount and time namespaces (unshare -m -T)")


def run(*words):
    subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True)


class LedgerTest(ProcessTest):
    """Nodes that held a lock, were killed, and had something happen to their ledger."""

    def killed_node(self, *flags, ttl_ms=150, **options):
        """A node that granted one lock, of this TTL, and was killed at once."""
        node = self.new_node("--max-ttl", f"{MAX_TTL_MS}ms", *flags, **options).start()
        self.grant(node, ttl_ms)
        node.kill()
        return node

    def grant(self, node, ttl_ms, key="lock"):
        """Grants a lock; within which bounds its deadline lies, on time.monotonic()."""
        sent = time.monotonic()
        self.assertEqual(node.client()("SET", key, "A", "NX", "PX", ttl_ms), "OK")
        return sent + ttl_ms / 1000, time.monotonic() + ttl_ms / 1000

    def ledger(self, node):
        return node.state / "ledger"

    def told(self, node):
        """The latest deadline in the ledger, on time.monotonic()."""
        page = self.ledger(node).read_bytes()[:16]
        return max(int.from_bytes(page[:8], "little"), int.from_bytes(page[8:], "little")) / 1e9

    def assert_waits(self, node, cause, delay_ms, finding):
        """The next start: cause and delay in INFO, what was found in the log, and it does wait."""
        log_before = len(node.log())
        node.start()
        client = node.client()
        info = client.info("restart")
        self.assertEqual((info["cause"], int(info["delay_ms"])), (cause, delay_ms))
        # The log holds up no answer: its line may come a moment later.
        self.assertTrue(eventually(lambda: finding in node.log()[log_before:]), node.log())
        granted_at = self.first_grant(client)
        self.assertGreaterEqual(granted_at, node.spawned_at + delay_ms / 1000)

    def assert_ends_with_the_lock(self, node, bounds):
        """The next start, in the boot of a crash: the delay ends with the lock, not before."""
        earliest, latest = bounds
        node.start()
        client = node.client()
        sent = time.monotonic()
        info = client.info("restart")
        answered = time.monotonic()
        self.assertEqual(info["cause"], "crash")
        left_s = int(info["delay_left_ms"]) / 1000
        self.assertGreaterEqual(answered + left_s, earliest)
        if left_s > 0:  # a machine may be so slow that the lock is over before the node is asked
            self.assertLessEqual(sent + left_s - 0.001, latest + 0.020)
        self.assertGreaterEqual(self.first_grant(client), earliest)

    def first_grant(self, client):
        """When the first OK had been read; every answer before it says that it recovers."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            reply = client("SET", "lock", "B", "NX", "PX", 50)
            if reply == "OK":
                return time.monotonic()
            self.assert_error(reply, "ERR recovering after a restart, no new locks for ")
            time.sleep(0.005)
        raise AssertionError("it never granted again")

    def assert_refuses_to_start(self, node, *texts, flags=()):
        done = node.run_once(*flags)
        self.assertEqual(done.returncode, 1, done.stderr)
        for text in texts:
            self.assertIn(text, done.stdout + done.stderr)


OTHER_NODE = "0123456789abcdef0123456789abcdef01234567"


def full_delay_ms(ttl_ms):
    """TTL × 1.01 + 1 s, rounded up as INFO does. The recorded TTL is a power of two (rule R8)."""
    return -(-ttl_ms * 101 // 100) + 1000


def removed(ledger):
    ledger.unlink()


def cut_off_at(size):
    return lambda ledger: os.truncate(ledger, size)


def overwritten(*places):
    """With this, at these places of the file."""
    def change(ledger):
        with open(ledger, "r+b") as file:
            for at, data in places:
                file.seek(at)
                file.write(data)
    return change


def an_hour_ahead(ledger):
    """The latest deadline, on the clock of the node."""
    overwritten((0, (time.monotonic_ns() + 3600 * 10**9).to_bytes(8, "little")))(ledger)


def of_version(version):
    return lambda ledger: run(BUILD / "ledger_version", ledger, version)


UNFINISHED = ("ledger_unfinished", UNKNOWN_MS, "was never written")
DAMAGED = ("ledger_damaged", UNKNOWN_MS, "is damaged")
OTHER_VERSION = ("ledger_unknown_version", UNKNOWN_MS,
                 "of a version that this program does not know")

# What happens to the ledger of a killed node, the flags of the next start, and what it must say.
DAMAGES = {
    "removed": (removed, (), ("ledger_missing", UNKNOWN_MS, "No ledger in ")),
    "emptied": (cut_off_at(0), (), UNFINISHED),
    "cut off within its volatile page": (cut_off_at(10), (), DAMAGED),
    "cut off behind its volatile page": (cut_off_at(PAGE_BYTES), (), DAMAGED),
    "cut off within its first copy": (cut_off_at(PAGE_BYTES + 2000), (), DAMAGED),
    "zeroed": (overwritten((0, bytes(LEDGER_BYTES))), (), UNFINISHED),
    "without both copies": (overwritten((PAGE_BYTES, bytes(2 * PAGE_BYTES))), (), DAMAGED),
    "with noise in both copies": (
        overwritten((PAGE_BYTES + 60, b"noise" * 8), (2 * PAGE_BYTES + 60, b"noise" * 8)), (),
        DAMAGED),
    "without its volatile page": (
        overwritten((0, bytes(PAGE_BYTES))), (),
        ("crash_of_another_boot", full_delay_ms(256), "in another boot")),
    "with a deadline that no lock can have": (
        an_hour_ahead, (), ("ledger_damaged", UNKNOWN_MS, "no lock can have the deadline")),
    "of an older version": (of_version(0), (), OTHER_VERSION),
    "of a newer version": (of_version(99), (), OTHER_VERSION),
    "of another node": (
        lambda ledger: None, ("--node-id", OTHER_NODE),
        ("ledger_of_another_node", UNKNOWN_MS, f"and node-id names {OTHER_NODE}")),
}


class Bytes(LedgerTest):
    """The file itself was changed."""

    def test_every_damage_has_its_cause_and_its_delay(self):
        def try_one(damage, flags, expected):
            node = self.killed_node()
            damage(self.ledger(node))
            node.flags = (*node.flags, *flags)
            self.assert_waits(node, *expected)

        with concurrent.futures.ThreadPoolExecutor(len(DAMAGES)) as pool:
            tries = {name: pool.submit(try_one, *case) for name, case in DAMAGES.items()}
        for name, done in tries.items():
            with self.subTest(name):
                done.result()

    def test_one_that_lost_its_second_copy_is_known_by_its_first(self):
        node = self.new_node().start()
        bounds = self.grant(node, 2000)
        node.kill()
        os.truncate(self.ledger(node), 2 * PAGE_BYTES)
        self.assert_ends_with_the_lock(node, bounds)
        self.assertEqual(self.ledger(node).stat().st_size, LEDGER_BYTES)

    def test_a_folder_copied_with_cp_a_counts_as_of_another_boot(self):
        node = self.killed_node()
        copied = Node(self.folder(), *node.flags)
        self.addCleanup(copied.end)
        run("cp", "-a", node.state, copied.state)
        self.assert_waits(copied, "crash_of_another_boot", full_delay_ms(256), "another boot")
        # What was found once is written over: the copy is a node of its own folder now.
        bounds = self.grant(copied, 300, key="again")
        copied.kill()
        self.assert_ends_with_the_lock(copied, bounds)


@has_namespace
class Disk(LedgerTest):
    """The disk is full, or cannot be written."""

    def small_disk(self, size):
        """A folder on a disk of its own."""
        folder = pathlib.Path(self.folder())
        run("mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder)
        self.addCleanup(run, "umount", "--lazy", folder)
        return folder

    def node_on(self, disk, *flags):
        node = Node(self.folder(), *flags)
        self.addCleanup(node.end)
        node.state = disk / "state"
        return node

    def fill(self, disk):
        with contextlib.suppress(OSError), open(disk / "filling", "wb", buffering=0) as file:
            while True:
                file.write(bytes(PAGE_BYTES))

    def test_no_room_for_a_ledger(self):
        disk = self.small_disk("8k")
        node = self.node_on(disk, "--max-ttl", f"{MAX_TTL_MS}ms")
        self.assert_refuses_to_start(node, "ledger", "No space left on device", "make room there")
        self.assert_refuses_to_start(node, "No space left on device", flags=["--bootstrap"])
        run("mount", "-o", "remount,size=1m", disk)
        self.assert_waits(node, "ledger_unfinished", UNKNOWN_MS, "was never written")

    def test_a_running_node_needs_no_more_room(self):
        disk = self.small_disk("64k")
        node = self.node_on(disk).bootstrap().start()
        self.fill(disk)
        for ttl_ms in (100, 900, 30000):  # each is longer than any before: a durable write
            self.grant(node, ttl_ms, key=f"lock of {ttl_ms}")
        node.client()("DEL", "lock of 30000")
        bounds = self.grant(node, 1500)
        self.assertTrue(eventually(lambda: self.told(node) <= bounds[1] + 0.02),
                        "the deadline of a released lock stays (rule R5)")
        node.kill()
        self.assert_ends_with_the_lock(node, bounds)

    def test_a_clean_stop_that_finds_no_room_for_the_snapshot_counts_as_a_crash(self):
        disk = self.small_disk("64k")
        node = self.node_on(disk).bootstrap().start()
        self.fill(disk)
        bounds = self.grant(node, 2000)
        self.assertEqual(node.stop(), 1)
        self.assertIn("No space left on device", node.log())
        self.assert_ends_with_the_lock(node, bounds)

    def test_a_folder_that_cannot_be_written(self):
        disk = self.small_disk("64k")
        node = self.node_on(disk).bootstrap().start()
        bounds = self.grant(node, 2500)
        node.kill()
        run("mount", "-o", "remount,ro", disk)
        self.assert_refuses_to_start(node, "ledger", "Read-only file system",
                                     "let this user write there, or name another folder")
        other = self.node_on(disk)
        other.state = disk / "other"
        self.assert_refuses_to_start(other, "Read-only file system")
        run("mount", "-o", "remount,rw", disk)
        self.assert_ends_with_the_lock(node, bounds)


@has_namespace
class OtherBoot(LedgerTest):
    """The same folder after a boot, or under another clock."""

    BOOT_ID = pathlib.Path("/proc/sys/kernel/random/boot_id")

    @contextlib.contextmanager
    def another_boot(self):
        file = pathlib.Path(self.folder()) / "boot_id"
        file.write_text("00000000-1111-2222-3333-444444444444\n", encoding="ascii")
        run("mount", "--bind", file, self.BOOT_ID)
        try:
            yield
        finally:
            run("umount", self.BOOT_ID)

    def in_another_time(self, node, offset_s):
        """From the next start on the node's clocks are ahead by so much."""
        command = node.command
        node.command = lambda *flags: [
            "unshare", "-T", f"--monotonic={offset_s}", f"--boottime={offset_s}", "--fork",
            "--kill-child", *command(*flags)]
        return lambda: setattr(node, "command", command)

    def test_a_crash_in_another_boot_waits_for_the_largest_ttl_granted(self):
        node = self.killed_node()
        with self.another_boot():
            self.assert_waits(node, "crash_of_another_boot", full_delay_ms(256), "another boot")

    def test_a_second_boot_within_that_delay_begins_it_anew(self):
        node = self.killed_node()
        with self.another_boot():
            node.start()
            node.kill()
        self.assert_waits(node, "crash_of_another_boot", full_delay_ms(256), "another boot")

    def test_a_boot_id_that_cannot_be_read_is_that_of_another_boot(self):
        node = self.killed_node()
        empty = pathlib.Path(self.folder()) / "empty"
        empty.write_bytes(b"")
        run("mount", "--bind", empty, self.BOOT_ID)
        self.addCleanup(run, "umount", self.BOOT_ID)
        for _ in range(2):
            self.assert_waits(node, "crash_of_another_boot", full_delay_ms(256), "another boot")
            node.kill()

    def test_a_clean_stop_gives_the_full_time_that_was_left_to_another_boot(self):
        node = self.new_node().start()
        self.grant(node, 20000)
        self.assertEqual(node.stop(), 0)
        with self.another_boot():
            client = node.start().client()
            self.assertEqual(client.info("restart")["cause"], "clean_stop")
            left_ms = client("PTTL", "lock")
            self.assertGreater(left_ms, 20000 - 1000 * (time.monotonic() - node.spawned_at + 1))

    def test_a_clock_of_another_time_namespace(self):
        node = self.killed_node()
        go_back = self.in_another_time(node, 86400)
        self.assert_waits(node, "crash_of_another_boot", full_delay_ms(256), "another boot")
        self.kill_all_of(node)
        go_back()
        self.assert_waits(node, "crash_of_another_boot", full_delay_ms(256), "another boot")

    def test_a_time_namespace_with_the_same_clock_is_the_same_boot(self):
        node = self.new_node().start()
        bounds = self.grant(node, 2000)
        node.kill()
        self.in_another_time(node, 0)
        self.assert_ends_with_the_lock(node, bounds)

    def kill_all_of(self, node):
        """The program of node.process is unshare, whose child dies with it, but a little later."""
        node.kill()
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            try:
                Client(node.port).close()
            except OSError:
                return
            time.sleep(0.005)
        raise AssertionError("the node outlived its kill")


def enter_a_namespace():
    """Starts this program anew in a mount namespace of its own, if that is possible."""
    if os.environ.get(IN_A_NAMESPACE) or os.geteuid() != 0:
        return
    words = ["unshare", "--mount", "--propagation", "private"]
    probe = [*words, "unshare", "-T", "--fork", "true"]
    if shutil.which("unshare") and subprocess.run(probe, capture_output=True).returncode == 0:
        os.environ[IN_A_NAMESPACE] = "1"
        os.execvp("unshare", [*words, sys.executable, *sys.argv])


if __name__ == "__main__":
    enter_a_namespace()
    main()
