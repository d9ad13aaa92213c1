"""acquire and extend within the shells that people have: what `eval` does with what they print, and
that a script which does not get the lock, or loses it, does not go on."""

import shutil
import signal
import socket
import subprocess
import unittest

from group import PATIENCE_S, REDLOCK, SHELL_VARIABLES, GroupTest, wait_until

SHELLS = {"bash": ["bash"], "dash": ["dash"], "zsh": ["zsh", "-f"], "busybox": ["busybox", "sh"]}

# What is left of an earlier lock in the shell.
STALE = "; ".join(f"{name}=stale" for name in SHELL_VARIABLES)
SHOW = 'echo "after ${REDLOCK_VALUE-none} ${REDLOCK_TOKEN-none} ${REDLOCK_VALID_UNTIL-none}"'

# The two forms of the documents; the second also sees a redlock that printed nothing.
EVAL = 'eval "$(redlock acquire {})"'
LONG = 'lock=$(redlock acquire {}) || exit; eval "$lock"'


def waits(port):
    """Whether somebody waits for a lock of this node."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as link:
        link.sendall(b"INFO locks\r\n")
        reader = link.makefile("rb")
        return b"\nwaiters:0\r" not in reader.read(int(reader.readline()[1:]))


class Shells(GroupTest):
    def setUp(self):
        super().setUp()
        self.environment["PATH"] = REDLOCK.rpartition("/")[0] + ":" + self.environment["PATH"]

    def keep_busy(self):
        """The lock "busy" is another's until the end of the test."""
        value = self.acquire("busy")["REDLOCK_VALUE"]
        self.addCleanup(self.redlock, "release", "busy", "--value", value)

    def each_shell(self):
        for name, words in SHELLS.items():
            self.assertIsNotNone(shutil.which(words[0]), f"no {words[0]} here (./dev test has it)")
            yield name, words

    def run_script(self, shell, script, **environment):
        return subprocess.run([*shell, "-c", script], env={**self.environment, **environment},
                              capture_output=True, text=True, timeout=PATIENCE_S, check=False)

    def test_a_lock_is_exported(self):
        for name, shell in self.each_shell():
            for form in (EVAL, LONG, "eval $(redlock acquire {})"):
                script = (f"set -eu; {STALE}; " + form.format(f"own-{name} --ttl 20s") +
                          f'; sh -c \'{SHOW}\'; redlock release own-{name}')
                result = self.run_script(shell, script)
                self.assertExit(0, result)
                self.assertRegex(result.stdout, r"^after [\w-]{24} \d+ \d+\.\d\d\n$")

    def test_set_e_ends_a_script_that_did_not_get_it(self):
        self.keep_busy()
        cases = {"busy": 75, "busy --ttl 30": 64, "": 64, "busy --nodes redis://127.0.0.1:1": 69,
                 "busy --nodes http://nowhere": 64, "busy --config /nonexistent": 78}
        for _, shell in self.each_shell():
            for words, status in cases.items():
                for form in (EVAL, LONG):
                    script = f"set -e; {STALE}; {form.format(words)}; echo worked"
                    result = self.run_script(shell, script)
                    self.assertExit(status, result)
                    self.assertEqual(result.stdout, "")

    def test_without_set_e_the_eval_fails_and_nothing_of_an_earlier_lock_is_left(self):
        self.keep_busy()
        for _, shell in self.each_shell():
            for form in (EVAL, "eval $(redlock acquire {})"):
                result = self.run_script(
                    shell, f'{STALE}; {form.format("busy")}; echo "status $?"; {SHOW}')
                self.assertEqual(result.stdout, "status 75\nafter none none none\n")
            result = self.run_script(shell, f"if {EVAL.format('busy')}; then echo worked; fi")
            self.assertEqual(result.stdout, "")

    def test_a_redlock_that_says_nothing_ends_the_long_form(self):
        """One that is not there, or was killed, prints nothing, and an eval of that ends with 0."""
        for _, shell in self.each_shell():
            missing = self.run_script(shell, LONG.format("x") + "; echo worked",
                                      PATH="/usr/bin:/bin")
            self.assertEqual((missing.returncode, missing.stdout), (127, ""))
            killed = self.run_script(shell, 'redlock() { sh -c \'kill -9 $$\'; }; ' +
                                     LONG.format("x") + "; echo worked")
            self.assertEqual((killed.returncode, killed.stdout), (128 + signal.SIGKILL, ""))

    def test_an_interrupted_acquire_fails_in_the_eval(self):
        self.keep_busy()
        waiting = self.start_redlock("acquire", "busy", "--wait", "15s")
        wait_until(lambda: any(waits(node.port) for node in self.group.nodes), "the wait")
        waiting.send_signal(signal.SIGTERM)
        status, output, _ = self.finish(waiting)
        self.assertEqual(status, 128 + signal.SIGTERM)
        self.assertEqual(output, f"unset {' '.join(SHELL_VARIABLES)}; (exit 143)\n")

    def test_an_extension_is_exported_and_a_lost_lock_ends_the_script(self):
        for name, shell in self.each_shell():
            lock = f"long-{name}"
            script = ("set -e; " + EVAL.format(f"{lock} --ttl 10s") +
                      "; before=$REDLOCK_VALID_UNTIL\n"
                      f'eval "$(redlock extend {lock} --ttl 40s)"\n'
                      'echo "$before $REDLOCK_VALID_UNTIL"\n'
                      f"redlock release {lock}\n"
                      "trap 'echo \"$? ${REDLOCK_TOKEN-none}\"' EXIT\n"
                      f'eval "$(redlock extend {lock} --ttl 40s)"\necho worked')
            result = self.run_script(shell, script)
            self.assertExit(1, result)
            times, at_end = result.stdout.splitlines()
            before, after = map(float, times.split())
            self.assertGreater(after, before + 20)
            self.assertEqual(at_end, "1 none")

    def test_an_extension_that_no_quorum_answers_leaves_the_lock_for_what_it_is_worth(self):
        for _, shell in self.each_shell():
            result = self.run_script(
                shell, f"{STALE}; export REDLOCK_VALUE; "
                'eval "$(redlock extend x --nodes redis://127.0.0.1:1)"; echo "status $?"; ' + SHOW)
            self.assertEqual(result.stdout, "status 69\nafter stale stale stale\n")

    def test_a_command_of_run_is_not_told_the_validity_of_another_lock(self):
        script = (EVAL.format("outer --ttl 20s") + "; redlock run -n --ttl 20s inner -- sh -c "
                  "'echo ${REDLOCK_VALIDITY_MS-none} ${REDLOCK_VALID_UNTIL-none}'; "
                  "redlock release outer")
        result = self.run_script(SHELLS["dash"], script)
        self.assertExit(0, result)
        self.assertEqual(result.stdout, "none none\n")

    def test_json_is_for_no_shell(self):
        self.keep_busy()
        self.assertEqual(self.json_of(self.redlock("acquire", "busy", "--json"))["outcome"], "held")
        self.assertEqual(self.redlock("acquire", "--json").stdout, "")


if __name__ == "__main__":
    unittest.main()
