"""Every shell example of README, docs and the manual pages, run as it is written; what takes a
lock, also where another has it.

They use the ports and addresses of the documents (6379, 7001, 10.0.0.1), so all of it runs in
namespaces of its own, made without root, which end all processes with it. A new example that no
test here runs, and that NOT_RUN does not name, is an error.
"""

import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from examples import ROOT, blocks, enter_namespaces, missing
from group import BUILD, PATIENCE_S, ask, wait_until

SHELLS = [["bash"], ["dash"], ["zsh", "-f"], ["busybox", "sh"]]

# For a script that still holds its lock at its end: the next one takes it again.
RELEASE = "redlock release printer || redlock holder printer | grep -qx free"

# Documents of which another test runs every example.
RUN_ELSEWHERE = {"docs/operations.md": "test_operations"}

# The first line of each example that is not run here, and why.
NOT_RUN = {
    "./dev demo": "it builds, and ./dev test runs this very test",
    "./dev build": "it builds",
    "./dev package": "it builds; ./dev package --check installs what it makes",
    "./dev image": "it builds, and podman is no package that tests need; test_image runs the image",
    'new_key="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"':
        "test_tls makes such certificates, and dials with them",
    "podman volume create lock-a": "test_image bootstraps a volume of its own in a namespace",
    "podman run -d --name lock-a --restart always --stop-timeout 60 --ulimit nofile=16384 "
    "-p 6379:6379 \\": "test_image starts the image, kills it, and starts it again",
    "kubectl create namespace locks": "no cluster; test_kubernetes starts what the file starts",
    "kubectl -n locks exec deploy/redlock-door -- redlock admit --new-group --floor 0":
        "test_kubernetes says the same to a group that it started by the file",
    "./dev model": "minutes; the test of the model runs cases of it",
    "./dev model --story LOWERED_WHILE_RECOVERING": "the test of the model tells stories",
    "c++ -std=c++20 worker.cpp $(pkg-config --cflags --libs redlock-client)":
        "test_installed builds this program with what was installed",
    "install -o root -g redlock -m 0640 /etc/redlock/redlock-node.conf /etc/redlock/a.conf":
        "it needs the user redlock and systemd; ./dev package --check tries the package",
    "/var/lib/redlock-node/a/node.log {": "logrotate's settings; test_log renames and sends HUP",
    "redlock drill restart": "test_drill; the second one of it needs ssh to three machines",
    "redlock serve --nodes redis://127.0.0.1:7001,redis://127.0.0.1:7002,redis://127.0.0.1:7003,"
    "redis://127.0.0.1:7004,redis://127.0.0.1:7005": "test_serve, over ports of its own",
    "redlock admit --new-group --floor 0":
        "test_admission: it needs five nodes that lost their ledgers",
}

# What whoever reads waits for before the next line: what was begun in the background is there, what
# was killed is gone.
PONG = """until [ "$(redis-cli ping 2>&1)" = PONG ]; do sleep 0.01; done
redis-cli exists k >/dev/null"""
# On a terminal redis-cli prints as the documents show it.
ON_A_TERMINAL = 'redis-cli() { command redis-cli --no-raw "$@"; }'
THEN = {
    "redlock-node --max-ttl 10s &": PONG,
    "redlock-node --max-ttl 10s --restart-delay off &": PONG,
    # Who reads and types is slower than a script; the sleep that follows counts on it.
    "kill -9 %1": "wait %1 2>/dev/null; sleep 1.5",
    "kill -9 %+": "wait %+ 2>/dev/null",
    "kill %+": "wait",
    "redlock run --no-wait nightly -- sh -c 'sleep 2; exit 7' &":
        "until redlock holder nightly >/dev/null; do sleep 0.01; done",
    "./object_store.py serve 8080 &":
        "until (exec 3<>/dev/tcp/127.0.0.1/8080) 2>/dev/null; do sleep 0.01; done",
}


def set_the_stage():
    for words in (["ip", "link", "set", "lo", "up"], ["mount", "-t", "tmpfs", "none", "/srv"],
                  ["mount", "-t", "tmpfs", "none", "/usr/local/bin"],
                  *(["ip", "addr", "add", f"10.0.0.{i}/32", "dev", "lo"] for i in (1, 2, 3))):
        subprocess.run(words, check=True)
    os.mkdir("/srv/reports")
    os.environ["PATH"] = f"{BUILD}:{os.environ['PATH']}"
    backup = pathlib.Path("/usr/local/bin/backup")
    backup.write_text("#!/bin/sh\necho backed up\n")
    backup.chmod(0o755)


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.left = {(block.document, block.first): block for block in blocks()
                    if block.document not in RUN_ELSEWHERE and block.first not in NOT_RUN}
        cls.up = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="redlock-test.")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("REDLOCK_")}

    def take(self, document, *firsts):
        return [self.left.pop((document, first)) for first in firsts]

    def start(self, command):
        """A command of the documents that stays in the foreground."""
        words = command if "|" in command else "exec " + command  # its end is waited for
        process = subprocess.Popen(["sh", "-c", words], cwd=self.folder, env=self.environment,
                                   start_new_session=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait, PATIENCE_S)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        """Its whole process group, which start_new_session made."""
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)

    def five_nodes(self):
        """`redlock up`, as its manual page has it."""
        if ("docs/man/redlock.1", "redlock up") in self.left:
            self.take("docs/man/redlock.1", "redlock up")
        self.start("redlock up")
        ports = range(7001, 7006)
        self.environment["REDLOCK_NODES"] = ",".join(f"redis://127.0.0.1:{port}" for port in ports)
        wait_until(lambda: all(ask(port, "PING") == "+PONG" for port in ports), "five nodes")

    def shell(self, script, shell=("bash",), cwd=None):
        """(exit status, output and errors)."""
        done = subprocess.run([*shell, "-c", script], cwd=cwd or self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        return done.returncode, done.stdout

    def play(self, session, cwd=None, prepare="", cleanup="kill $(jobs -p) 2>/dev/null; wait"):
        """Runs the commands of blocks in one shell; each line that they show must have come."""
        script, shown = [ON_A_TERMINAL, prepare], []
        for block in session:
            for command, typed, printed in block.commands:
                text = command + (" <<'TYPED'\n" + "\n".join(typed) + "\nTYPED" if typed else "")
                script += [text, THEN.get(command, "")]
                shown += printed
        _, output = self.shell("\n".join([*script, cleanup]), cwd=cwd)
        for line in missing(shown, output):
            self.fail(f"the document shows\n{line}\nbut this came:\n{output}")
        self.assertNotIn("not found", output)

    def give_back(self, name):
        """A lock that an example leaves behind."""
        told = self.shell(f"redlock holder {name} --json")[1]
        self.shell(f"redlock release {name} --value {json.loads(told)['value']}")

    def ends_where_it_is_held(self, block, name):
        """The example under `set -e`, in each shell, while another has the lock."""
        status, output = self.shell(f"redlock acquire {name} --ttl 40s")
        self.assertEqual(status, 0, output)
        value = re.search(r"REDLOCK_VALUE=(\S+)", output)[1]
        # The wait of the example is none here; nothing else is changed.
        script = block.script.replace("--wait 1m", "--wait 10ms")
        for shell in SHELLS:
            for begin in ("set -e", "set -e; REDLOCK_VALUE=stale REDLOCK_TOKEN=7"):
                status, output = self.shell(f"{begin}\n{script}\necho it went on", shell)
                self.assertEqual(status, 75, (shell, output))
                self.assertNotIn("it went on", output)
        self.assertEqual(self.shell(f"redlock release {name} --value {value}")[0], 0)

    def runs_in_each_shell(self, block, then=""):
        for shell in SHELLS:
            status, output = self.shell(f"set -e\n{block.script}\n{then}", shell)
            self.assertEqual(status, 0, (shell, output))

    # --- the tests, in the order of their names: the last looks what is left ---

    def test_a_node_of_its_own(self):
        self.play(self.take("README.md", "redlock-node --bootstrap") +
                  self.take("docs/restart.md", "redis-cli SET printer alice NX PX 10000",
                            "kill -9 %+"))

    def test_a_node_by_its_manual_page(self):
        [block] = self.take("docs/man/redlock-node.1", "redlock-node --bootstrap")
        (bootstrap, _, _), (serve, _, _) = block.commands
        self.assertEqual(self.shell(bootstrap)[0], 0)
        self.start(serve)
        wait_until(lambda: ask(6379, "PING") == "+PONG", "the node")
        [block] = self.take("docs/man/redlock-node.1",
                            'echo "requirepass secret" | redlock-node --port 7001 -')
        self.start(block.script)
        wait_until(lambda: ask(7001, "PING").startswith("-NOAUTH"), "a node with a password")

    def test_five_nodes_and_a_command(self):
        self.five_nodes()
        nodes = self.environment["REDLOCK_NODES"]
        self.play(self.take("README.md", f"export REDLOCK_NODES={nodes}"))

    def test_locks_of_a_shell(self):
        self.five_nodes()
        for document in ("README.md", "docs/man/redlock.1"):
            wait = "" if document == "README.md" else " --wait 1m"
            acquire = f"$(redlock acquire printer --ttl 10s{wait})"
            console, script = self.take(document, f'eval "{acquire}"', f"lock={acquire} || exit")
            self.play([console])
            self.runs_in_each_shell(console)
            self.runs_in_each_shell(script, then=RELEASE)
            for block in (console, script):
                self.ends_where_it_is_held(block, "printer")

    def test_tokens(self):
        self.five_nodes()
        work = pathlib.Path(self.folder, "tokens")
        shutil.copytree(ROOT / "docs/examples/tokens", work)
        # The tokens of the page: more than 33.
        raise_tokens = "for i in $(seq 34); do redlock run --wait 10s report -- true; done\n"
        write = "redlock run report -- ./database.py reports.db write report 'all is well'\n"
        [taken, *stores] = self.take(
            "docs/tokens.md", """redlock run report -- sh -c 'echo "token $REDLOCK_TOKEN"'""",
            "redlock run report -- ./database.py reports.db claim report",
            "./object_store.py serve 8080 &",
            "redlock run report -- ./file_server.sh /srv/reports report 'all is well'")
        self.play(stores, cwd=work, prepare=raise_tokens + write)
        self.play([taken])
        self.give_back("report")
        self.ends_where_it_is_held(taken_eval(taken), "report")
        os.unlink(work / "reports.db")  # the lock of what follows is another, with smaller tokens
        self.play(self.take("docs/tokens.md",
                            "./paused_client.sh ./database.py reports.db write report"), cwd=work)

    def test_the_rest_of_the_manual_page(self):
        nodes = [f"10.0.0.{i}" for i in (1, 2, 3)]
        for address in nodes:
            made = self.shell(f"redlock-node --bootstrap --dir {address}")
            self.assertEqual(made[0], 0, made[1])
            self.start(f"redlock-node --bind {address} --dir {address} --protected-mode no")
        [run, status] = self.take(
            "docs/man/redlock.1", "export REDLOCK_NODES=" +
            ",".join(f"redis://{address}:6379" for address in nodes),
            'redlock status || echo "exit $?"')
        ready = "until redlock status --nodes {} >/dev/null 2>&1; do sleep 0.01; done\n".format(
            ",".join(f"redis://{address}:6379" for address in nodes))
        got, output = self.shell(ready + run.script)
        self.assertEqual((got, output), (0, "backed up\n"))
        self.environment["REDLOCK_NODES"] = "redis://10.0.0.1:6379"
        self.assertEqual(self.shell(status.script)[0], 0)
        # Another has it: the job does not run, and -E 0 says that this is as it should be.
        held = "redlock run nightly -- sh -c 'echo has it; sleep 5' &\n" + \
            "until redlock holder nightly >/dev/null; do sleep 0.01; done\n"
        exported, command = run.script.split("\n")
        got, output = self.shell(f"{exported}\n{held}{command}\ngot=$?\nkill %1; wait; exit $got")
        self.assertEqual(got, 0, output)
        self.assertNotIn("backed up", output)

    def test_the_history_of_its_page(self):
        [check] = self.take("docs/history.md",
                            "redlock drill check history.jsonl --html timeline.html")
        text = (ROOT / "docs/history.md").read_text()
        history = re.search(r"^```jsonl\n(.*?)^```$", text, re.M | re.S)[1]
        pathlib.Path(self.folder, "history.jsonl").write_text(history)
        status, output = self.shell(check.script)
        self.assertIn(status, (0, 1), output)
        self.assertTrue(pathlib.Path(self.folder, "timeline.html").stat().st_size > 0)

    def test_zz_no_example_is_left(self):
        self.assertEqual(list(self.left), [], "are run by no test; see NOT_RUN")


def taken_eval(block):
    """The part of an example that takes the lock for the shell itself."""
    at = next(i for i, line in enumerate(block.lines) if "eval" in line)
    return dataclasses.replace(block, lines=block.lines[at:])


if __name__ == "__main__":
    enter_namespaces()
    set_the_stage()
    unittest.main()
