"""docs/operations.md, chapter by chapter: its commands as they stand there, over real nodes.

Each chapter begins with five new machines (machines.py), which the first chapter makes a group. Its
commands are typed into one bash, as the page has it. The only edits: shorter times, and no user of
the nodes, as there is one user here. A chapter or a block that no test runs is an error.
"""

import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import unittest

import machines
from examples import ROOT, enter_namespaces, missing, of_markdown
from group import PATIENCE_S, exported, wait_until
from machines import MACHINES, Machine

DOCUMENT = "docs/operations.md"

# So that it takes seconds: the two times of the first chapter, and those of the one about max-ttl.
SHORTER = {"max_ttl=65s": "max_ttl=1500ms", "ttl=30s": "ttl=1s", "max_ttl=5m": "max_ttl=3s",
           "ttl=2m": "ttl=2s", "ttl=20s": "ttl=1s", "sleep 303": "sleep 3.1"}
WITHOUT_USERS = {" -o root -g redlock": "", " -o redlock -g redlock": "",
                 "runuser -u redlock -- ": ""}

FIVE = [f"10.0.0.{i}" for i in range(1, 6)]


def chapters():
    text = (ROOT / DOCUMENT).read_text()
    bodies = re.findall(r"^## (.*)\n((?:(?!## ).*\n)*)", text, re.M)
    return {title: list(of_markdown(DOCUMENT, body)) for title, body in bodies}


def edited(script, edits):
    for old, new in edits.items():
        script = re.sub(rf"{re.escape(old)}(?!\w)" if old[-1].isalnum() else re.escape(old), new,
                        script)
    return script


class Bash:
    """A shell that keeps its variables and functions from one script to the next."""

    def __init__(self, folder):
        self.script = pathlib.Path(folder, "script")
        self.process = subprocess.Popen(["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, cwd=folder)

    def run(self, script):
        """What it printed; a script in which something fails ends the shell, and is an error."""
        self.script.write_text(script)
        self.process.stdin.write(f". {self.script} </dev/null\necho; echo THAT WAS IT\n")
        self.process.stdin.flush()
        too_late = threading.Timer(4 * PATIENCE_S, self.process.kill)
        too_late.start()
        output = ""
        for line in self.process.stdout:
            if line == "THAT WAS IT\n":
                too_late.cancel()
                return output
            output += line
        too_late.cancel()
        raise AssertionError(f"these commands failed, or took too long:\n{script}\n{output}")

    def close(self):
        self.process.kill()
        self.process.communicate()


class Operations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.left = chapters()

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="redlock-test.")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.bash = Bash(self.folder)
        self.addCleanup(self.bash.close)
        self.addCleanup(self.end_machines)

    @staticmethod
    def end_machines():
        for folder in MACHINES.iterdir():
            Machine(folder).lose_disk()
        pathlib.Path("/etc/redlock/redlock.conf").unlink(missing_ok=True)

    # --- the page ---

    def take(self, title):
        """The chapter's blocks."""
        return self.left.pop(title, None) or chapters()[title]

    def type(self, block, edits=None):
        """Its commands, as whoever reads the page types them."""
        script = block.script if block.is_script else \
            "\n".join(command for command, _, _ in block.commands)
        output = self.bash.run(edited("set -e\n" + script, {**WITHOUT_USERS, **(edits or {})}))
        shown = [] if block.is_script else [line for *_, printed in block.commands
                                            for line in printed]
        for line in missing(shown, output):
            self.fail(f"the page shows\n{line}\nbut this came:\n{output}")
        return output

    def found(self, edits=None):
        """Five machines from nothing; returns the page's look at them, which one test types."""
        *commands, look = self.take("Five machines from nothing")
        for block in commands:
            self.type(block, SHORTER if edits is None else edits)
        return look

    # --- the group ---

    def redlock(self, *words):
        return subprocess.run(["redlock", *words], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=PATIENCE_S, check=False)

    def assertWorks(self, *words):
        """That somebody who comes anew gets a lock."""
        done = self.redlock("run", *words, "somebody", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)

    def token(self):
        done = self.redlock("acquire", "printer")
        self.assertEqual(done.returncode, 0, done.stderr)
        lock = exported(done.stdout)
        self.redlock("release", "printer", "--value", lock["REDLOCK_VALUE"])
        return int(lock["REDLOCK_TOKEN"])

    def start_holder(self, *words, name="held"):
        """A command under a lock, which whoever changes the group says nothing of."""
        holder = subprocess.Popen(["redlock", "run", *words, name, "--", "sleep", "1000"],
                                  stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(holder.stderr.close)
        self.addCleanup(holder.wait)
        self.addCleanup(holder.kill)
        wait_until(lambda: self.redlock("holder", name).returncode == 0, "the lock")
        return holder

    def assertHolds(self, holder):
        self.assertIsNone(holder.poll(), "its lock was lost")
        self.assertEqual(self.redlock("holder", "held").returncode, 0)

    def members(self):
        return re.findall(r"^  (\S+):6379 ", self.redlock("group").stdout, re.M)

    # --- the chapters ---

    def test_five_machines_from_nothing(self):
        look = self.found()
        self.type(look)

    def test_ports_and_firewall(self):
        [block] = self.take("Ports and firewall")
        if shutil.which("nft") is None:
            self.skipTest("nftables is not installed")
        self.found()
        machines.run("ip", "addr", "add", "192.168.7.7/32", "dev", "lo")
        self.assertTrue(self.reaches_a_node("192.168.7.7"))
        self.type(block)
        self.addCleanup(machines.run, "nft", "delete", "table", "inet", "redlock")
        self.assertTrue(self.reaches_a_node("10.0.0.15"))
        self.assertFalse(self.reaches_a_node("192.168.7.7"))
        self.assertWorks()

    @staticmethod
    def reaches_a_node(source):
        try:
            socket.create_connection(("10.0.0.1", 6379), timeout=0.5,
                                     source_address=(source, 0)).close()
            return True
        except TimeoutError:
            return False

    def test_a_restart_and_an_upgrade(self):
        self.found()
        holder = self.start_holder()
        [block] = self.take("A restart, and an upgrade")
        self.type(block)
        self.assertHolds(holder)
        info = self.bash.run('for host in 10.0.0.{1..5}; do\n'
                             'REDISCLI_AUTH=$password redis-cli -h "$host" info group\ndone')
        self.assertEqual(re.findall(r"granted_without_epoch:(\d+)", info), ["0"] * 5)

    def test_a_disk_is_lost(self):
        self.found()
        holder = self.start_holder()
        Machine("10.0.0.4").lose_disk()
        [block] = self.take("A disk is lost")
        self.type(block)
        self.assertHolds(holder)
        self.assertEqual(self.members(), FIVE)

    def test_a_disk_is_lost_and_somebody_works(self):
        """What the page says of its third line."""
        self.found()
        self.start_holder()
        Machine("10.0.0.4").lose_disk()
        set_up, start, _, all_vote = self.take("A disk is lost")[0].lines
        self.bash.run(edited(f"{set_up}\n{start}\n{all_vote}", WITHOUT_USERS))

    def test_a_host_is_gone(self):
        self.found()
        holder = self.start_holder()
        before = self.keep_list()
        Machine("10.0.0.4").lose_disk()
        [block] = self.take("A host is gone")
        self.type(block)
        self.assertHolds(holder)
        self.assertEqual(sorted(self.members()), sorted({*FIVE, "10.0.0.6"} - {"10.0.0.4"}))
        self.assertWorks()
        self.assertWorks("--config", before)

    def test_grow_to_seven_and_back(self):
        self.found()
        holder = self.start_holder()
        grow, shrink = self.take("Grow to seven")
        before = self.keep_list()
        self.type(grow)
        self.assertEqual(len(self.members()), 7)
        self.assertHolds(holder)
        self.assertWorks("--config", before)
        three = self.bash.run("list 10.0.0.{1..3}").strip()
        part = self.redlock("run", "--nodes", three, "somebody", "--", "true")
        self.assertEqual(part.returncode, 78, (three, part.stderr))
        before = self.keep_list()
        self.type(shrink)
        self.assertWorks("--config", before)
        self.assertEqual(self.members(), FIVE)
        self.assertHolds(holder)
        self.assertWorks()

    def test_move_to_five_others(self):
        self.found()
        holder = self.start_holder()
        token = self.token()
        [block] = self.take("Move to five others")
        self.type(block)
        self.assertEqual(self.members(), [f"10.0.0.{i}" for i in range(6, 11)])
        self.assertHolds(holder)
        self.assertGreater(self.token(), token)

    def test_a_quorum_of_ledgers_is_lost(self):
        same, others = self.take("A quorum of ledgers is lost")
        for block in (same, others):
            with self.subTest(block.lines[0]):
                self.found()
                for host in FIVE[2:]:
                    Machine(host).lose_disk()
                self.assertNotEqual(self.redlock("run", "-n", "x", "--", "true").returncode, 0)
                self.type(block)
                self.assertGreater(self.token(), 5000000)
                self.end_machines()

    def test_another_password(self):
        self.found()
        for block in self.take("Another password"):
            before = self.keep_list()
            self.type(block)
            self.assertWorks("--config", before)
            self.assertWorks()
        refused = self.bash.run('redlock status --nodes "$(password=$old list 10.0.0.{1..5})" ||\n'
                                'echo "exit $?"')
        self.assertIn("exit 77", refused)

    def test_another_max_ttl(self):
        self.found()
        raised, lowered = self.take("Another max-ttl")
        holder = self.start_holder()
        self.assertEqual(self.redlock("acquire", "x", "--ttl", "2s").returncode, 78)
        self.type(raised, SHORTER)
        self.assertHolds(holder)
        self.assertWorks("--ttl", "2s")
        careless = self.start_holder("--ttl", "2s", name="careless")
        self.type(lowered, SHORTER)
        self.assertEqual(careless.wait(PATIENCE_S), 121, careless.stderr.read())
        self.assertEqual(self.redlock("acquire", "x", "--ttl", "2s").returncode, 78)
        self.assertWorks()

    def test_logs(self):
        self.found()
        to_file, rename = self.take("Logs")
        self.type(to_file)
        folder = MACHINES / "10.0.0.1/state/a"
        wait_until(lambda: "listens" in (folder / "node.log").read_text(), "the log")
        self.type(rename)
        wait_until((folder / "node.log").exists, "the new log")
        self.assertIn("listens", (folder / "node.log.1").read_text())

    def test_a_lock_is_stuck(self):
        self.found(edits={})
        look, listed, release, delete = self.take("A lock is stuck")
        held = ("acquire", "nightly", "--no-wait", "--label", "backup@web3:4711 rsync")
        for block in (release, delete):
            self.assertEqual(self.redlock(*held).returncode, 0)
            self.assertEqual(self.redlock(*held).returncode, 75)
            self.type(look)
            self.type(listed)
            self.type(block)
        self.assertEqual(self.redlock(*held).returncode, 0)

    def test_zz_no_chapter_is_left(self):
        self.assertEqual({title: len(blocks) for title, blocks in self.left.items() if blocks}, {},
                         "are run by no test")

    @staticmethod
    def keep_list():
        """The settings of who does not have the new ones yet."""
        return shutil.copy("/etc/redlock/redlock.conf", "/etc/redlock/before.conf")


if __name__ == "__main__":
    enter_namespaces()
    machines.set_the_stage()
    unittest.main()
