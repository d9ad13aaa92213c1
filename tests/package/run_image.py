#!/usr/bin/env python3
"""run_image.py LAYER CONFIG ROOT: the part of test_image.py that runs in namespaces of its own.

It does what an engine does with the image: unpacks it, gives each container a volume with the owner
and mode that the image's folder has, mounts /proc and /dev, and starts the programs as the image's
user with its environment. Containers share a network here, in which 10.9.8.7 is a machine of
somebody else's, as whoever reaches a container from outside is.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "process"))

from harness import Client, RedisError  # noqa: E402

ADDRESS, NAME, PASSWORD = "10.9.8.7", "lockhost", "hush hush"
PATIENCE_S = 15

LAYER, CONFIG, ROOT = map(pathlib.Path, sys.argv[1:])
SAID = json.loads(CONFIG.read_text())
UID, GID = SAID["User"].split(":")
[STATE] = SAID["Volumes"]
[PORT] = [int(port.partition("/")[0]) for port in SAID["ExposedPorts"]]


def as_its_user(*words):
    """The command that runs these words within the image."""
    if int(pathlib.Path("/proc/self/uid_map").read_text().split()[2]) > 1:
        return ["chroot", f"--userspec={UID}:{GID}", "--groups=", ROOT, *words]
    # Whoever began it has one number alone, which is root's so far.
    return ["unshare", "--user", f"--map-user={UID}", f"--map-group={GID}", f"--root={ROOT}",
            "--wd=/", *words]


def make_root():
    ROOT.mkdir()
    with tarfile.open(LAYER) as archive:
        archive.extractall(ROOT, numeric_owner=True)
    (ROOT / "etc/hosts").write_text(f"{ADDRESS} {NAME}\n")
    for name in ("proc", "dev"):
        subprocess.run(["mount", "--rbind", f"/{name}", ROOT / name], check=True)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["ip", "address", "add", f"{ADDRESS}/32", "dev", "lo"], check=True)


def files_of_root():
    """All that is in the image, but for what is mounted and for the state."""
    return {path for path in ROOT.rglob("*")
            if not path.is_relative_to(ROOT / "proc") and not path.is_relative_to(ROOT / "dev")
            and not path.is_relative_to(ROOT / STATE.lstrip("/"))}


class Container:
    """One node's: its volume, its variables, and the process, while there is one."""

    def __init__(self, name, **settings):
        self.volume = ROOT.parent / f"volume-{name}"
        self.log = ROOT.parent / f"log-{name}"
        self.settings = {f"REDLOCK_NODE_{key.upper()}": value for key, value in settings.items()}
        self.process = None
        self.make_volume()

    def make_volume(self):
        """A new one, as an engine makes it from what the image has in its place."""
        shutil.rmtree(self.volume, ignore_errors=True)
        subprocess.run(["cp", "-a", ROOT / STATE.lstrip("/"), self.volume], check=True)

    def popen(self, *arguments, **more):
        """The entrypoint, with these arguments: in mounts of its own, its volume in its place."""
        environment = dict(pair.split("=", 1) for pair in SAID["Env"])
        place = ROOT / STATE.lstrip("/")
        command = ["unshare", "--mount", "sh", "-euc", 'mount --bind "$1" "$2"; shift 2; exec "$@"',
                   "sh", self.volume, place, *as_its_user(*SAID["Entrypoint"], *arguments)]
        outside = os.environ["PATH"]
        inside = {**environment, **self.settings}
        # The tools are found by the path of this system; the image's programs need none.
        return subprocess.Popen([str(word) for word in command], env={**inside, "PATH": outside},
                                text=True, stderr=subprocess.STDOUT, **more)

    def run(self, *arguments):
        """Exit status and output of the entrypoint with these arguments."""
        process = self.popen(*arguments, stdout=subprocess.PIPE)
        told, _ = process.communicate(timeout=PATIENCE_S)
        return process.returncode, told

    def start(self):
        """Its log, from this start until it listens."""
        with self.log.open("w") as log:
            self.process = self.popen(stdout=log)
        end = time.monotonic() + PATIENCE_S
        while " listens at " not in self.log.read_text():
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError("the node does not listen: " + self.log.read_text())
            time.sleep(0.02)
        return self.log.read_text()

    def end(self, number):
        """Its exit status after the signal."""
        if self.process is None:
            return None
        process, self.process = self.process, None
        process.send_signal(number)
        return process.wait(PATIENCE_S)


def ask(*words):
    """The reply to a command from outside, with the password said."""
    with Client(PORT, ADDRESS) as client:
        client("AUTH", PASSWORD)
        return client(*words)


def info(section):
    text = ask("INFO", section).decode()
    return dict(line.split(":", 1) for line in text.split("\r\n") if ":" in line)


def redlock(*words):
    """Exit status and output of the image's other program."""
    nodes = f"redis://:{PASSWORD.replace(' ', '%20')}@{NAME}:{PORT}"
    done = subprocess.run([str(word) for word in as_its_user("/usr/bin/redlock", *words)],
                          env={"PATH": os.environ["PATH"], "REDLOCK_NODES": nodes}, text=True,
                          check=False, timeout=PATIENCE_S, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def token_of(told):
    return int(told.partition("REDLOCK_TOKEN=")[2].split(";")[0].split("\n")[0].strip("'\""))


class Containers(unittest.TestCase):
    def container(self, name, **settings):
        made = Container(name, **settings)
        self.addCleanup(made.end, signal.SIGKILL)
        return made

    def assert_fails(self, reply, words):
        self.assertIsInstance(reply, RedisError)
        self.assertIn(words, reply.text)

    def acquire(self, *words):
        code, told = redlock("acquire", "printer", *words)
        self.assertEqual(code, 0, told)
        return token_of(told)

    def test_a_node_with_a_volume(self):
        node = self.container("kept", requirepass=PASSWORD, max_ttl="5s")
        code, told = node.run("--bootstrap")
        self.assertEqual(code, 0, told)
        self.assertIn("the ledger of a new node", told)
        self.assertEqual([path.name for path in node.volume.iterdir()], ["ledger"])
        self.assertEqual(node.run("--bootstrap")[0], 1, "a second --bootstrap is refused")
        before = files_of_root()
        self.assertIn("No delay", node.start())
        self.assertEqual(ask("PING"), "PONG")
        self.assertEqual(ask("SET", "door", "alice", "NX", "PX", 100), "OK")
        self.assertEqual(redlock("status")[0], 0)
        first = self.acquire("--ttl", "3s")
        self.assertEqual(ask("LOCK.ACQUIRE", "printer", "bob", "PX", 3000)[0], 0)
        self.check_after_a_kill(node, first)
        self.check_after_a_stop(node)
        self.assertEqual(files_of_root(), before, "something was written beside the volume")

    def check_after_a_kill(self, node, first):
        """Row 2 of the restart table: it waits until the lock that was live is over."""
        node.end(signal.SIGKILL)
        self.assertIn("in this boot", node.start())
        self.assert_fails(ask("SET", "printer", "bob", "NX", "PX", 1000), "recovering")
        told = info("restart")
        self.assertEqual((told["state"], told["cause"], told["ledger"]),
                         ("recovering", "crash", "ok"))
        self.assertLessEqual(int(told["delay_ms"]), 3100)
        self.assertEqual(info("fencing")["fenced"], "1")
        self.assertGreater(self.acquire("--ttl", "5s", "--wait", "10s"), first)

    def check_after_a_stop(self, node):
        """Row 1: the lock comes back."""
        self.assertEqual(node.end(signal.SIGTERM), 0)
        node.start()
        self.assertEqual(info("restart")["state"], "serving")
        self.assertEqual(redlock("holder", "printer")[0], 0)
        self.assertEqual(redlock("acquire", "printer", "--ttl", "1s")[0], 75)

    def test_a_node_on_an_ephemeral_disk(self):
        """Row 4, at each start: it waits for max-ttl and more, and gives no token by itself."""
        node = self.container("lost", requirepass=PASSWORD, max_ttl="1s")
        for floor in (1000, 70000000):
            node.make_volume()
            begun = time.monotonic()
            node.start()
            told = info("restart")
            self.assertEqual((told["state"], told["delay_ms"]), ("recovering", "2010"))
            self.assertEqual(info("fencing")["fenced"], "0")
            code, text = redlock("admit", "--new-group", "--floor", floor)
            self.assertNotEqual(code, 0, text)
            while ask("SET", "printer", "bob", "NX", "PX", 10) != "OK":
                self.assertLess(time.monotonic() - begun, PATIENCE_S)
                time.sleep(0.01)
            self.assertGreaterEqual(time.monotonic() - begun, 2.01)
            self.assertEqual(info("fencing")["fenced"], "0")
            code, text = redlock("acquire", "unfenced", "--ttl", "1s", "--wait", "1s")
            self.assertEqual(code, 69, text)
            code, text = redlock("admit", "--new-group", "--floor", floor)
            self.assertEqual(code, 0, text)
            self.assertGreater(self.acquire("--ttl", "1s", "--wait", "5s"), floor)
            node.end(signal.SIGKILL)

    def test_a_volume_that_everybody_may_write(self):
        node = self.container("everybodys")
        node.volume.chmod(0o777)
        code, told = node.run("--bootstrap")
        self.assertEqual((code, "everybody may write" in told), (1, True), told)
        code, told = node.run("--bootstrap", "--dir", STATE + "/state")
        self.assertEqual(code, 0, told)

    def test_without_a_password_nobody_else_is_served(self):
        node = self.container("open")
        node.run("--bootstrap")
        node.start()
        with Client(PORT, ADDRESS) as client:
            self.assert_fails(client("PING"), "protected mode")

    def test_a_variable_with_a_slip_ends_the_start(self):
        code, told = self.container("slip", max_tl="5s").run()
        self.assertEqual(code, 1)
        self.assertIn("there is no setting 'max-tl'; did you mean 'max-ttl'?", told)


if __name__ == "__main__":
    make_root()
    unittest.main(argv=sys.argv[:1])
