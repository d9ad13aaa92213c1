"""redlock drill restart: the story goes as told over lock nodes, and fails over others."""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from group import (PATIENCE_S, REDIS, REDLOCK, REDLOCK_NODE, ask, is_alive, programs_of,
                   read_terminal, wait_until)
from ports import reserve_ports

# The drill lasts a TTL of 3 s and the restart delay after it; all else takes moments.
DRILL_S = 15


class DrillTest(unittest.TestCase):
    """Runs the drill with a temporary folder of its own, in which nothing may stay behind."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="redlock-test.")
        self.addCleanup(shutil.rmtree, self.folder)
        self.temporary = os.path.join(self.folder, "tmp")
        os.mkdir(self.temporary)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("REDLOCK_")}
        # These are never drilled: a node of them would be killed.
        self.environment.update(TMPDIR=self.temporary, REDLOCK_NODES="redis://127.0.0.1:1")

    def start(self, *options):
        process = subprocess.Popen([REDLOCK, "drill", "restart", *options], env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.kill()
        process.communicate()

    def drill(self, *options):
        """(exit status, standard output, standard error); nothing of it is left."""
        process = self.start(*options)
        output, errors = process.communicate(timeout=PATIENCE_S + DRILL_S)
        self.assertEqual(os.listdir(self.temporary), [], "the drill's folder")
        return process.returncode, output, errors

    def told(self, *options, status):
        """The steps of a drill that ends with this status: {"off": {step: line}, "auto": …}."""
        returned, output, errors = self.drill("--json", *options)
        lines = [json.loads(line) for line in output.splitlines()]
        self.assertEqual(returned, status, output + errors)
        self.assertEqual(errors, "")
        times = [line["ms"] for line in lines]
        self.assertEqual(times, sorted(times))
        self.assertLess(times[-1], DRILL_S * 1000)
        self.assertEqual(lines[-1]["step"], "passed" if status == 0 else "failed")
        halves = {}
        for line in lines:
            halves.setdefault(line.get("half"), {})[line["step"]] = line
        return halves

    def script(self, name, *lines):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(("#!/bin/sh", *lines)) + "\n")
        os.chmod(path, 0o755)
        return path

    # --- what each half shows ---

    def assertTwoHolders(self, half):
        step = half["two_holders"]
        self.assertGreater(step["a_validity_left_ms"], 0)
        self.assertEqual([node["says"][:3] for node in step["nodes"]],
                         ["A's", "A's", "B's", "B's", "B's"])

    def assertRefusal(self, half):
        holds = [node["says"] for node in half["a_holds"]["nodes"]]
        self.assertEqual([text.startswith("A's lock") for text in holds], [True] * 3 + [False] * 2)
        self.assertRegex(half["b_refused"]["nodes"][2]["says"],
                         r"^recovering after a restart, no new locks for \d+ ms$")
        self.assertGreater(half["start"]["delay_left_ms"], 0)
        self.assertEqual(half["b_holds"]["a_validity_left_ms"], 0)
        self.assertGreaterEqual(half["b_holds"]["ms"] - half["a_holds"]["ms"],
                                half["a_holds"]["validity_ms"] - 1)  # they are rounded down
        self.assertIn("serving", half["grants"]["text"])
        self.assertEqual(half["as_told"]["differences"], [])


class OwnNodes(DrillTest):
    def test_it_shows_the_violation_without_the_delay_and_the_refusal_with_it(self):
        halves = self.told(status=0)
        self.assertTwoHolders(halves["off"])
        self.assertEqual(halves["off"]["as_told"]["differences"], [])
        self.assertRefusal(halves["auto"])

    def test_people_read_plain_lines_with_times(self):
        status, output, errors = self.drill("--ttl", "2s")
        self.assertEqual((status, errors), (0, ""), output)
        self.assertNotIn("\x1b", output)
        self.assertRegex(output, r"\n +\d+ ms  node 3 is killed: SIGKILL to process \d+\n")
        self.assertRegex(output, r"\n +\d+ ms  B holds it, .* for another \d+ ms: TWO HOLDERS\n")
        self.assertRegex(output, r"\n +node 3  127\.0\.0\.1:\d+  recovering after a restart, ")
        self.assertEqual(output.count("\nAs told: "), 2)
        self.assertTrue(output.endswith("\nThe drill went as told.\n"), output)

    @unittest.skipUnless(os.access(REDIS, os.X_OK), "redis-tools is not installed")
    def test_redis_servers_show_the_violation_in_both_halves(self):
        program = os.path.join(self.folder, "redis-server")
        os.symlink(REDIS, program)
        halves = self.told("--node-binary", program, status=1)
        self.assertIn("no_restart_delay", halves[None])
        for half in ("off", "auto"):
            self.assertTwoHolders(halves[half])
        self.assertIn("as_told", halves["off"])
        self.assertRegex(halves["auto"]["not_as_told"]["differences"][0], "two holders")

    def test_nodes_that_do_not_wait_fail_it(self):
        program = self.script("hasty", f'exec {REDLOCK_NODE} "$@" $(case $* in '
                              '*--port*) echo --restart-delay off ;; esac)')
        halves = self.told("--node-binary", program, status=1)
        self.assertTwoHolders(halves["off"])
        self.assertTwoHolders(halves["auto"])
        self.assertRegex(halves["auto"]["not_as_told"]["differences"][0], "two holders")

    def test_a_program_that_is_no_node_is_told_as_it_is(self):
        status, _, errors = self.drill("--node-binary", self.script("odd", "echo who? >&2; exit 3"))
        self.assertEqual(status, 1)
        self.assertRegex(errors, r"^redlock: .*odd --version: exit status 3: who\?\n$")
        status, output, _ = self.drill("--node-binary", shutil.which("true"))
        self.assertEqual(status, 1)
        self.assertIn("Not as told: the nodes could not be started: node-", output)
        status, _, errors = self.drill("--node-binary", self.folder + "/none")
        self.assertEqual(status, 1)
        self.assertIn("none is no program", errors)

    def on_a_terminal(self, **environment):
        """What a drill that fails at once prints on a terminal."""
        ours, its = pty.openpty()
        drill = subprocess.Popen(
            [REDLOCK, "drill", "restart", "--node-binary", shutil.which("true")], stdout=its,
            stdin=subprocess.DEVNULL, env={**self.environment, **environment})
        os.close(its)
        output = read_terminal(ours)
        self.assertEqual(drill.wait(PATIENCE_S), 1)
        return output

    def test_colours_are_for_terminals_and_never_under_no_color(self):
        self.assertIn("\x1b[31mNot as told: ", self.on_a_terminal())
        plain = self.on_a_terminal(NO_COLOR="1")
        self.assertIn("Not as told: ", plain)
        self.assertNotIn("\x1b", plain)

    def test_ctrl_c_leaves_no_process_and_no_folder(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number.name):
                drill = self.start("--json")
                for line in drill.stdout:
                    if json.loads(line)["step"] == "b_waits":
                        break
                pids = programs_of(drill.pid)
                self.assertEqual(len(pids), 5)
                drill.send_signal(number)
                drill.communicate(timeout=PATIENCE_S)
                self.assertEqual(drill.returncode, 128 + number)
                self.assertEqual([pid for pid in pids if is_alive(pid)], [])
                self.assertEqual(os.listdir(self.temporary), [])

    def test_nodes_end_when_the_drill_is_killed(self):
        drill = self.start("--json")
        for line in drill.stdout:
            if json.loads(line)["step"] == "b_waits":
                break
        pids = programs_of(drill.pid)
        drill.kill()
        wait_until(lambda: not any(is_alive(pid) for pid in pids), "the end of the nodes")


class NodesElsewhere(DrillTest):
    """Nodes that run already, with scripts that kill and start one, as an operator has them."""

    MAX_TTL = "3s"

    def setUp(self):
        super().setUp()
        self.ports = reserve_ports(5)
        self.nodes = ",".join(f"redis://127.0.0.1:{port}" for port in self.ports)
        self.kill_script = self.script("kill-node", f"kill -9 $(cat {self.folder}/${{1##*:}}.pid)")
        # nohup: they are this test's, and go on when the drill has ended.
        self.start_script = self.script(
            "start-node", "port=${1##*:}",
            f"nohup {REDLOCK_NODE} --port $port --dir {self.folder}/$port --max-ttl {self.MAX_TTL} "
            f"--pidfile {self.folder}/$port.pid --restart-delay $2 >{self.folder}/$port.log 2>&1 &")
        self.addCleanup(self.end_nodes)
        for port in self.ports:
            subprocess.run([REDLOCK_NODE, "--bootstrap", "--dir", f"{self.folder}/{port}"],
                           check=True, stdout=subprocess.DEVNULL)
            subprocess.run([self.start_script, f"127.0.0.1:{port}", "auto"], check=True)
        for port in self.ports:
            wait_until(lambda port=port: ask(port, "EXISTS", "k") == ":0", "a node's first answer")

    def pid(self, port):
        try:
            with open(f"{self.folder}/{port}.pid", encoding="ascii") as file:
                return int(file.read() or 0)
        except FileNotFoundError:
            return 0

    def end_nodes(self):
        for port in self.ports:
            self.end_node(port)

    def end_node(self, port):
        pid = self.pid(port)
        if pid and is_alive(pid):
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: not is_alive(pid), "a node's end")

    def options(self, kill="{script} {{address}}", start="{script} {{address}} auto"):
        return ("--nodes", self.nodes, "--kill-command", kill.format(script=self.kill_script),
                "--start-command", start.format(script=self.start_script))

    def test_only_the_refusal_is_shown_where_the_setting_cannot_be_changed(self):
        before = [self.pid(port) for port in self.ports]
        halves = self.told(*self.options(), status=0)
        self.assertIn("one_half", halves[None])
        self.assertNotIn("off", halves)
        self.assertRefusal(halves["auto"])
        after = [self.pid(port) for port in self.ports]
        self.assertEqual([i for i in range(5) if before[i] != after[i]], [2])
        # They serve on, and the drill's lock is gone.
        lock = re.search(r"acquires (\S+) for", halves["auto"]["cut"]["text"])[1]
        self.assertEqual([ask(port, "EXISTS", lock) for port in self.ports], [":0"] * 5)

    def test_both_halves_are_shown_where_the_start_command_sets_it(self):
        options = self.options(start="{script} {{address}} {{restart-delay}}")
        halves = self.told(*options, status=0)
        self.assertTwoHolders(halves["off"])
        self.assertRefusal(halves["auto"])

    def test_a_restart_without_a_delay_fails_it(self):
        halves = self.told(*self.options(start="{script} {{address}} off"), status=1)
        self.assertTwoHolders(halves["auto"])

    def test_a_node_that_was_killed_is_started_again_after_ctrl_c(self):
        killed = self.pid(self.ports[2])
        drill = self.start(*self.options(kill="{script} {{address}}; kill -INT $PPID"))
        output, errors = drill.communicate(timeout=PATIENCE_S)
        self.assertEqual(drill.returncode, 128 + signal.SIGINT, output + errors)
        self.assertFalse(is_alive(killed))
        wait_until(lambda: ask(self.ports[2], "PING") == "+PONG", "the node's start")

    def test_commands_that_do_not_what_they_should_are_told(self):
        status, output, _ = self.drill(*self.options(kill="echo no such unit >&2; false"))
        self.assertEqual(status, 1)
        self.assertIn("no such unit", output)
        status, output, _ = self.drill(*self.options(kill="true", start="true"))
        self.assertEqual(status, 1)
        self.assertRegex(output, "a connection to the node is still open")

    def test_nodes_that_do_not_all_serve_are_not_drilled(self):
        self.end_node(self.ports[4])
        survivor = self.pid(self.ports[2])
        status, output, _ = self.drill(*self.options())
        self.assertEqual(status, 1)
        self.assertRegex(output, rf"node 5  127\.0\.0\.1:{self.ports[4]}  connection refused")
        self.assertTrue(is_alive(survivor))


class CommandLine(DrillTest):
    def test_what_cannot_be_drilled_is_a_usage_error(self):
        three = ("--nodes", "redis://a,redis://b,redis://c")
        commands = ("--kill-command", "true", "--start-command", "true")
        for words, text in ((three, "--kill-command and --start-command"),
                            ((*three, "--kill-command", "true"), "--start-command"),
                            (commands, "need --nodes"),
                            (("--nodes", "redis://a", *commands), "three or more"),
                            ((*three, *commands, "--node-binary", "x"), "--node-binary"),
                            (("--ttl", "100ms"), "at least 1s")):
            status, _, errors = self.drill(*words)
            self.assertEqual(status, 64, errors)
            self.assertIn(text, errors)
            self.assertTrue(re.match(r"redlock: [^\n]+\n$", errors), errors)


if __name__ == "__main__":
    unittest.main()
