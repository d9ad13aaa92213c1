"""redlock run: the exit statuses, signals, and what happens when the lock is lost."""

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
import time
import unittest

from group import REDLOCK, TTL_MS, GroupTest, is_alive, wait_until

# Its argument is a file, to which it adds the boot time every millisecond; SIGTERM is nothing to
# it. What it wrote last is an instant at which it was alive: no delay of ours can falsify that.
HEART = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open(sys.argv[1], "a", buffering=1) as beats:
    while True:
        beats.write(f"{time.clock_gettime(time.CLOCK_BOOTTIME)}\\n")
        time.sleep(0.001)
"""


class CommandsOwnStatus(GroupTest):
    def test_the_exit_status_is_the_commands(self):
        self.assertExit(7, self.redlock("run", "-n", "job", "--", "sh", "-c", "exit 7"))
        self.assertExit(0, self.redlock("run", "-n", "job", "--", "true"))

    def test_a_command_that_a_signal_ended_gives_128_and_the_signal(self):
        result = self.redlock("run", "-n", "job", "--", "sh", "-c", "kill -KILL $$")
        self.assertExit(128 + signal.SIGKILL, result)

    def test_a_program_that_is_not_there_gives_127_and_one_that_is_none_126(self):
        missing = self.redlock("run", "-n", "job", "--", "no-such-program\x1b[31m")
        self.assertExit(127, missing)
        self.assertIn("no-such-program\\x1b[31m: not found", missing.stderr)
        self.assertExit(126, self.redlock("run", "-n", "job", "--", self.group.folder))
        wait_until(lambda: self.group.is_free("job"), "the release")

    def test_the_command_has_our_streams_and_knows_its_lock(self):
        script = "cat; echo $REDLOCK_NAME $REDLOCK_VALUE $REDLOCK_TTL_MS; echo oh >&2"
        result = self.redlock("run", "known", "--", "sh", "-c", script, stdin="hello\n")
        self.assertExit(0, result)
        self.assertRegex(result.stdout, rf"^hello\nknown \S+ {TTL_MS}\n$")
        self.assertEqual(result.stderr, "oh\n")

    def test_streams_that_are_closed_or_full_do_not_matter(self):
        for streams in ("<&-", ">&-", "2>&-", "2>/dev/full", "<&- >&- 2>&-"):
            with self.subTest(streams=streams):
                script = f"{REDLOCK} run -n job -- sh -c 'exit 7' {streams}"
                result = subprocess.run(["sh", "-c", script], env=self.environment, check=False)
                self.assertEqual(result.returncode, 7)
        self.acquire("full")
        refused = subprocess.run(["sh", "-c", f"{REDLOCK} acquire full 2>/dev/full"],
                                 env=self.environment, check=False)
        self.assertEqual(refused.returncode, 75)

    def test_the_lock_is_free_when_the_command_has_ended(self):
        self.assertExit(0, self.redlock("run", "-n", "job", "--", "true"))
        wait_until(lambda: self.group.is_free("job"), "the release")


class Contention(GroupTest):
    def test_a_second_one_meanwhile_ends_with_75_or_what_minus_E_says(self):
        job = self.start_job("job", "read line; exit 7", stdin=-1)
        for status, options in ((75, ("-n",)), (75, ("-w", "50ms")), (9, ("-n", "-E", "9"))):
            result = self.redlock("run", *options, "job", "--", "echo", "never")
            self.assertExit(status, result)
            self.assertEqual(result.stdout, "")
            self.assertRegex(result.stderr, r"^redlock: job: held by \S+ sh for .* more.*\n$")
        job.communicate("\n")
        self.assertEqual(job.returncode, 7)

    def test_one_that_waits_gets_the_lock_when_the_first_has_ended(self):
        for options in (("-w", "15s"), ()):
            first = self.start_job("job", "read line", stdin=-1)
            second = self.start_redlock("run", *options, "job", "--", "echo", "got it")
            time.sleep(0.05)
            self.assertIsNone(second.poll())
            first.communicate("\n")
            self.assertEqual(self.finish(second), (0, "got it\n", ""))

    def test_one_that_is_interrupted_while_it_waits_leaves_no_lock(self):
        first = self.start_job("job", "read line", stdin=-1)
        second = self.start_redlock("run", "job", "--", "echo", "never")
        wait_until(lambda: self.handles(second.pid, signal.SIGTERM), "its signal handler")
        second.send_signal(signal.SIGTERM)
        status, output, _ = self.finish(second)
        self.assertEqual((status, output), (128 + signal.SIGTERM, ""))
        first.communicate("\n")
        wait_until(lambda: self.group.is_free("job"), "the release")

    @staticmethod
    def handles(pid, number):
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            fields = dict(line.split(":", 1) for line in file)
        return int(fields["SigCgt"], 16) >> (number - 1) & 1


class NoQuorum(GroupTest):
    def test_with_three_nodes_stopped_it_ends_with_69_and_tells_of_each_node(self):
        self.group.stop(0, 2, 4)
        result = self.redlock("run", "-n", "job", "--", "echo", "never")
        self.assertExit(69, result)
        self.assertEqual(result.stdout, "")
        self.assertIn("2 of 5 nodes voted, 3 are needed", result.stderr)
        silent = "no answer within 500 ms"
        self.assertTellsOfEachNode(result.stderr, [silent, "granted", silent, "granted", silent])

    def test_with_three_nodes_killed_it_ends_with_69_and_tells_of_each_node(self):
        self.group.kill(0, 2, 4)
        result = self.redlock("run", "-n", "job", "--", "echo", "never")
        self.assertExit(69, result)
        self.assertEqual(result.stdout, "")
        gone = ".*connection refused.*"
        self.assertTellsOfEachNode(result.stderr, [gone, "granted", gone, "granted", gone])
        for word, status in (("acquire", 69), ("holder", 69), ("status", 2)):
            words = () if word == "status" else ("job",)
            self.assertExit(status, self.redlock(word, *words))
        for word in ("extend", "release"):
            result = self.redlock(word, "job", "--value", "whose")
            self.assertExit(69, result)
            self.assertTellsOfEachNode(result.stderr, [gone, ".*", gone, ".*", gone])

    def test_a_lock_that_could_not_be_got_is_taken_back_where_it_was_granted(self):
        self.group.stop(0, 2, 4)
        self.redlock("run", "-n", "undone", "--", "true")
        self.group.proceed()
        wait_until(lambda: self.group.is_free("undone"), "the undoing")

    def test_a_quorum_is_waited_for_as_long_as_for_a_lock(self):
        self.group.stop(0, 1, 2)
        job = self.start_redlock("run", "-w", "15s", "job", "--", "echo", "got it")
        time.sleep(1)
        self.assertIsNone(job.poll())
        self.group.proceed()
        self.assertEqual(self.finish(job), (0, "got it\n", ""))

    def test_a_wait_for_ever_gives_up_after_ten_seconds_without_a_quorum(self):
        self.group.kill(0, 1, 2)
        started = time.monotonic()
        self.assertExit(69, self.redlock("run", "job", "--", "echo", "never"))
        self.assertGreater(time.monotonic() - started, 10)

    def test_two_nodes_may_be_missing(self):
        self.group.kill(1)
        self.group.stop(3)
        self.assertExit(7, self.redlock("run", "-n", "job", "--", "sh", "-c", "exit 7"))


class Loss(GroupTest):
    TTL_S = 2

    def test_the_command_and_all_its_children_are_gone_before_the_validity_ends(self):
        beats = self.group.folder + "/beats"
        script = (f"trap : TERM; {sys.executable} -c '{HEART}' {beats} & echo $! $$; "
                  f"sh -c 'sleep 100 & echo $!; wait' & while :; do wait; done")
        job = self.start_job("lost", script, "--ttl", f"{self.TTL_S}s")
        pids = [int(pid) for pid in (job.stdout.readline() + job.stdout.readline()).split()]
        wait_until(lambda: os.path.exists(beats) and os.path.getsize(beats), "a beat")
        self.group.kill(0, 1, 2)
        # No extension can have begun later, and the drift is taken off what it gave.
        valid_until = time.clock_gettime(time.CLOCK_BOOTTIME) + self.TTL_S * 0.99 - 0.002
        status, _, errors = self.finish(job)
        self.assertEqual(status, 121, errors)
        self.assertIn("the lock was lost", errors)
        self.assertEqual([pid for pid in pids if is_alive(pid)], [])
        with open(beats, encoding="ascii") as file:
            self.assertLess(float(file.read().splitlines()[-1]), valid_until)

    def test_a_lock_that_the_nodes_no_longer_have_is_lost_at_the_next_extension(self):
        for status, options in ((121, ()), (5, ("-L", "5"))):
            job = self.start_job("taken", f"{REDLOCK} release taken; exec sleep 100", *options,
                                 "--ttl", "1.5s")
            got, _, errors = self.finish(job)
            self.assertEqual(got, status, errors)
            self.assertIn("a quorum of nodes does not have it any more", errors)

    def test_it_is_stopped_by_the_signal_that_was_asked_for(self):
        script = (f"trap 'echo bye; exit' USR1; {REDLOCK} release signalled;"
                  "while :; do sleep 0.01; done")
        job = self.start_job("signalled", script, "--signal", "USR1", "--ttl", "3s",
                             "--kill-after", "1s")
        status, output, errors = self.finish(job)
        self.assertEqual((status, output), (121, "bye\n"), errors)

    def test_after_max_hold_the_command_is_stopped_and_the_lock_given_up(self):
        for options in ((), ("-L", "5")):
            job = self.start_job("bounded", "exec sleep 100", "--max-hold", "200ms", *options)
            status, _, errors = self.finish(job)
            self.assertEqual(status, 124)
            self.assertIn("held for 200", errors)
        wait_until(lambda: self.group.is_free("bounded"), "the release")

    def test_the_command_dies_with_redlock(self):
        job = self.start_job("orphan", "sleep 100 & echo $! $$; wait")
        pids = [int(pid) for pid in job.stdout.readline().split()]
        job.kill()
        wait_until(lambda: not any(is_alive(pid) for pid in pids), "the end of the command")


class UnconfirmedRelease(GroupTest):
    def test_it_ends_with_122_when_too_few_nodes_confirm_the_release(self):
        job = self.start_job("kept", "read line", stdin=-1)
        self.group.stop(0, 1, 2)
        _, errors = job.communicate("\n")
        self.assertEqual(job.returncode, 122, errors)
        self.assertIn("could not be confirmed", errors)
        silent = "no answer within 500 ms"
        # Which nodes have it beyond a quorum, nobody promises.
        ended = "(released|not this holder's)"
        self.assertTellsOfEachNode(errors, [silent] * 3 + [ended] * 2)

    def test_a_command_that_failed_keeps_its_own_status(self):
        job = self.start_job("kept", "read line; exit 3", stdin=-1)
        self.group.kill(0, 1, 2)
        job.communicate("\n")
        self.assertEqual(job.returncode, 3)

    def test_it_ends_with_122_when_the_lock_was_gone_already(self):
        result = self.redlock("run", "gone", "--", REDLOCK, "release", "gone")
        self.assertExit(122, result)
        self.assertIn("not held any more", result.stderr)


class Signals(GroupTest):
    def test_signals_reach_the_command_and_the_lock_is_released(self):
        for name in ("INT", "TERM", "HUP", "QUIT"):
            with self.subTest(signal=name):
                job = self.start_job("job", f"trap 'echo {name}; exit 42' {name};"
                                     "echo trapped; while :; do sleep 0.01; done")
                self.assertEqual(job.stdout.readline(), "trapped\n")
                job.send_signal(getattr(signal, "SIG" + name))
                status, output, _ = self.finish(job)
                self.assertEqual((status, output), (42, name + "\n"))
                wait_until(lambda: self.group.is_free("job"), "the release")

    def test_a_command_that_takes_the_signal_as_usual_gives_128_and_the_signal(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            job = self.start_job("job", "exec sleep 100")
            job.send_signal(number)
            self.assertEqual(self.finish(job)[0], 128 + number)
            wait_until(lambda: self.group.is_free("job"), "the release")

    def test_usr1_and_usr2_reach_a_command_that_goes_on(self):
        job = self.start_job("job", "trap 'echo one' USR1; trap 'echo two; exit 0' USR2;"
                             "echo trapped; while :; do sleep 0.01; done")
        self.assertEqual(job.stdout.readline(), "trapped\n")
        job.send_signal(signal.SIGUSR1)
        self.assertEqual(job.stdout.readline(), "one\n")
        job.send_signal(signal.SIGUSR2)
        self.assertEqual(self.finish(job)[:2], (0, "two\n"))

    def test_ctrl_c_at_a_terminal_reaches_the_command_and_the_lock_is_released(self):
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)

        def take_terminal():
            fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

        script = "trap 'exit 42' INT; echo trapped; while :; do sleep 0.01; done"
        job = self.start_redlock("run", "typed", "--", "sh", "-c", script, stdin=theirs,
                                 stdout=theirs, stderr=theirs, start_new_session=True,
                                 preexec_fn=take_terminal)
        os.close(theirs)
        shown = b""
        while b"trapped" not in shown:
            shown += os.read(ours, 1000)
        os.write(ours, b"\x03")
        self.assertEqual(job.wait(20), 42)
        wait_until(lambda: self.group.is_free("typed"), "the release")


if __name__ == "__main__":
    unittest.main()
