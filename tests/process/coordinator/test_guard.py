"""redlock run's guard: the command and all that it started are dead before the next holder starts.

Rules H1 to H4, whatever happens to redlock or its guard. With REDLOCK_LONG=1 each is tried a
hundred times, several at once; else a few times.
"""

import contextlib
import fcntl
import os
import pty
import random
import shutil
import signal
import struct
import subprocess
import termios
import threading
import time
import unittest

from group import BUILD, REDLOCK, SANITIZED, GroupTest, ask, is_alive, wait_until

HEART = os.path.join(BUILD, "heart")
ROUNDS = 100 if os.environ.get("REDLOCK_LONG") == "1" else 2
AT_ONCE = 4 if os.environ.get("REDLOCK_LONG") == "1" else 2
TTL_S = 1


class Heart:
    """What `heart` has written."""

    def __init__(self, path):
        self.path = path

    def __str__(self):
        return self.path

    def slots(self):
        """(pid, last beat in ns) of each process that has beaten."""
        with contextlib.suppress(FileNotFoundError), open(self.path, "rb") as file:
            data = file.read()
            return [slot for slot in struct.iter_unpack("<qq", data) if slot[0] != 0]
        return []

    def await_beats(self, count):
        wait_until(lambda: len(self.slots()) == count, "the first beats")

    def last_beat(self):
        return max(last for _, last in self.slots())

    def pids(self):
        return [pid for pid, _ in self.slots()]

    def alive(self):
        return [pid for pid in self.pids() if is_alive(pid)]

    def kill(self):
        for pid in self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def guard_of(redlock):
    """The pid of its guard process."""
    def find():
        with open(f"/proc/{redlock.pid}/task/{redlock.pid}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]
    return wait_until(find, "the guard")[0]


def state_of(pid):
    """As in ps."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0]


def full_pipe():
    """(read end, write end) of a pipe into which nothing fits."""
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    for size in (65536, 1):
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(theirs, b"x" * size)
    os.set_blocking(theirs, True)
    return ours, theirs


class GuardTest(GroupTest):
    def assertHeld(self, name):
        """By a quorum: that any more nodes have it, nobody promises."""
        held = [reply for reply in self.group.keys(name) if reply != "$-1"]
        self.assertGreaterEqual(len(held), 3)

    def heart(self, name):
        heart = Heart(os.path.join(self.group.folder, name))
        self.addCleanup(heart.kill)
        return heart

    def hold(self, name, heart, *options, ttl=f"{TTL_S}s", **start):
        job = self.start_redlock("run", *options, "--ttl", ttl, name, "--", HEART, "beat",
                                 str(heart), **start)
        self.addCleanup(heart.kill)  # before the job's end: it has the job's pipes
        heart.await_beats(3)
        return job

    def start_of_the_next(self, name, begun):
        """Waits until another has the lock; the boot time in ns at which its command started."""
        self.assertExit(0, self.redlock("run", "--wait", "15s", "--ttl", "5s", name, "--", HEART,
                                        "once", str(begun)))
        return begun.last_beat()


@unittest.skipIf(SANITIZED, "sanitizers upset the times")
class NeverTwo(GuardTest):
    """One after the other, for each thing that may happen to the first."""

    def try_often(self, name, happen):
        """happen(name, heart) holds the lock and lets something happen to it, or returns early."""
        failures = []

        def one_after_the_other(first):
            for i in range(first, ROUNDS, AT_ONCE):
                try:
                    self.play(f"{name}-{i}", happen)
                except BaseException as error:  # pylint: disable=broad-except
                    failures.append(f"{name}-{i}: {error}")

        threads = [threading.Thread(target=one_after_the_other, args=(i,)) for i in range(AT_ONCE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def play(self, name, happen):
        heart, begun = self.heart(name + ".first"), self.heart(name + ".next")
        happen(name, heart)
        started = self.start_of_the_next(name, begun)
        # One that was killed while others had the processors is seen until it gets one to die on.
        wait_until(lambda: not heart.alive(), "the end of the killed")
        self.assertLess(heart.last_beat(), started)

    def test_redlock_stopped(self):
        def stop(name, heart):
            job = self.hold(name, heart)
            time.sleep(random.random() * TTL_S)
            job.send_signal(signal.SIGSTOP)
        self.try_often("stopped", stop)

    def test_redlock_killed(self):
        def kill(name, heart):
            job = self.hold(name, heart)
            time.sleep(random.random() * TTL_S)
            job.kill()
        self.try_often("killed", kill)

    def test_guard_killed(self):
        def kill_guard(name, heart):
            job = self.hold(name, heart)
            time.sleep(random.random() * TTL_S)
            os.kill(guard_of(job), signal.SIGKILL)
        self.try_often("guard-killed", kill_guard)

    def test_guard_stopped_and_held_too_long(self):
        def stop_guard(name, heart):
            job = self.hold(name, heart, "--max-hold", "500ms")
            os.kill(guard_of(job), signal.SIGSTOP)
        self.try_often("guard-stopped", stop_guard)

    def test_held_too_long_with_a_full_standard_error(self):
        def fill(name, heart):
            ours, theirs = full_pipe()
            self.addCleanup(os.close, ours)
            self.hold(name, heart, "--max-hold", "500ms", stderr=theirs)
            os.close(theirs)
        self.try_often("full", fill)

    def test_lost_with_a_full_standard_error(self):
        """The nodes are stopped for as long as a TTL, so that no extension gets through."""
        for i in range(max(1, ROUNDS // 20)):
            ours, theirs = full_pipe()
            name = f"lost-{i}"
            heart, begun = self.heart(name + ".first"), self.heart(name + ".next")
            self.hold(name, heart, stderr=theirs)
            os.close(theirs)
            self.group.stop(0, 1, 2)
            time.sleep(TTL_S)
            self.group.proceed()
            self.assertLess(heart.last_beat(), self.start_of_the_next(name, begun))
            self.assertEqual(heart.alive(), [])
            os.close(ours)

    def test_held_too_long_behind_a_terminal_that_ctrl_s_has_stopped(self):
        def press(name, heart):
            ours, theirs = pty.openpty()
            self.addCleanup(os.close, ours)
            termios.tcflow(theirs, termios.TCOOFF)  # what Ctrl-S does

            def take_terminal():
                fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

            self.hold(name, heart, "--max-hold", "500ms", stdin=theirs, stdout=theirs,
                      stderr=theirs, start_new_session=True, preexec_fn=take_terminal)
            os.close(theirs)
        self.try_often("ctrl-s", press)


class HoldersEnd(GuardTest):
    """What redlock says and how it ends."""

    def test_stopped_and_continued_after_its_time_it_says_that_the_lock_was_lost(self):
        heart = self.heart("late")
        job = self.hold("late", heart)
        job.send_signal(signal.SIGSTOP)
        wait_until(lambda: not heart.alive(), "the guard's work")
        job.send_signal(signal.SIGCONT)
        status, _, errors = self.finish(job)
        self.assertEqual(status, 121, errors)
        self.assertIn("the lock was lost", errors)

    def test_a_killed_redlock_releases_nothing(self):
        heart = self.heart("unreleased")
        job = self.hold("unreleased", heart, ttl="20s")
        job.kill()
        wait_until(lambda: not heart.alive(), "the guard's work")
        self.assertHeld("unreleased")

    def test_a_killed_guard_is_told(self):
        heart = self.heart("unguarded")
        job = self.hold("unguarded", heart)
        os.kill(guard_of(job), signal.SIGKILL)
        status, _, errors = self.finish(job)
        self.assertEqual(status, 128 + signal.SIGKILL)
        self.assertIn("its guard was killed", errors)

    @unittest.skipIf(SANITIZED, "the sanitizers' own libraries want to be loaded first")
    def test_a_guard_that_is_killed_before_the_command_begins_is_no_success(self):
        """Forking takes 400 ms: no loop has looked at what the guard tells, and no gate opens."""
        begun = self.heart("early")
        environment = {**self.environment, "SLOW_FORK_MS": "400",
                       "LD_PRELOAD": os.path.join(BUILD, "libslow_fork.so")}
        job = self.start_redlock("run", "--ttl", "5s", "early", "--", HEART, "once", str(begun),
                                 env=environment)
        guard = guard_of(job)
        time.sleep(0.25)
        os.kill(guard, signal.SIGKILL)
        status, _, errors = self.finish(job)
        self.assertEqual(status, 128 + signal.SIGKILL, errors)
        self.assertIn("its guard was killed", errors)
        self.assertEqual(begun.slots(), [])

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "needs root, and unshare")
    def test_with_the_proc_of_another_pid_namespace_nothing_is_acquired_or_started(self):
        if subprocess.run(["unshare", "-pf", "true"], check=False).returncode != 0:
            self.skipTest("no pid namespace to be had here")
        begun = self.heart("foreign")
        result = subprocess.run(
            ["unshare", "-pf", *self.command("run", "--ttl", "20s", "foreign", "--", HEART, "once",
                                             str(begun))],
            env=self.environment, capture_output=True, text=True, timeout=20, check=False)
        self.assertEqual(result.returncode, 78, result.stderr)
        self.assertIn("/proc", result.stderr)
        self.assertEqual(begun.slots(), [])
        self.assertTrue(self.group.is_free("foreign"))

    def test_a_command_that_has_stopped_itself_ends_by_a_signal(self):
        """Where no terminal is, nobody else would continue it."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(signal=number):
                job = self.start_redlock("run", "still", "--", "sh", "-c",
                                         "echo $$; ulimit -c 0; kill -STOP $$; sleep 20",
                                         stdin=subprocess.DEVNULL, start_new_session=True)
                command = int(job.stdout.readline())
                wait_until(lambda pid=command: state_of(pid) == "T", "its stop")
                time.sleep(0.1)
                job.send_signal(number)
                self.assertEqual(self.finish(job)[0], 128 + number)

    def test_a_full_standard_error_delays_the_end_for_a_second_at_most(self):
        ours, theirs = full_pipe()
        heart = self.heart("speechless")
        job = self.hold("speechless", heart, "--max-hold", "100ms", stderr=theirs)
        os.close(theirs)
        self.assertEqual(job.wait(10), 124)
        os.close(ours)

    def test_json_that_nobody_reads_holds_nothing_up(self):
        ours, theirs = full_pipe()
        heart = self.heart("unread")
        job = self.hold("unread", heart, "--json", stdout=theirs)
        os.close(theirs)
        self.group.stop(0, 1, 2)
        self.assertEqual(job.wait(10), 121)
        self.assertEqual(heart.alive(), [])
        os.close(ours)

    def test_what_works_on_without_the_lock_is_told_once(self):
        heart = self.heart("left")
        script = (f"{HEART} beat {heart} > /dev/null 2>&1 & "
                  f"while ! [ -s {heart} ]; do sleep 0.01; done; exit 3")
        result = self.redlock("run", "left", "--", "sh", "-c", script)
        heart.await_beats(3)
        self.assertExit(3, result)
        self.assertRegex(result.stderr,
                         r"^redlock: left: \w+ \(process \d+\) works on without the lock.*\n$")
        self.assertNotEqual(heart.alive(), [])
        wait_until(lambda: self.group.is_free("left"), "the release")

    def test_what_works_on_is_told_though_its_first_thread_has_ended(self):
        heart = self.heart("leaderless")
        script = (f"{HEART} leaderless {heart} > /dev/null 2>&1 & "
                  "until grep -q Z /proc/$!/stat; do sleep 0.01; done; exit 3")
        result = self.redlock("run", "leaderless", "--", "sh", "-c", script)
        self.assertExit(3, result)
        self.assertIn("works on without the lock", result.stderr)
        self.assertNotEqual(heart.alive(), [])

    def test_with_wait_all_the_lock_is_held_until_the_last_has_ended(self):
        script = "(setsid sh -c 'sleep 2 &' &) ; exit 3"
        started = time.monotonic()
        job = self.start_redlock("run", "--wait-all", "--ttl", "1s", "all", "--", "sh", "-c",
                                 script)
        wait_until(lambda: not self.group.is_free("all"), "the acquisition")
        self.assertExit(75, self.redlock("run", "-w", "1500ms", "all", "--", "true"))
        status, _, errors = self.finish(job)
        self.assertEqual((status, errors), (3, ""))
        self.assertGreater(time.monotonic() - started, 2)
        wait_until(lambda: self.group.is_free("all"), "the release")

    def test_with_wait_all_a_signal_ends_what_was_left(self):
        job = self.start_redlock("run", "--wait-all", "all", "--", "sh", "-c",
                                 "(setsid sleep 100 &) ; echo left; exit 3")
        self.assertEqual(job.stdout.readline(), "left\n")
        time.sleep(0.2)
        job.terminate()
        self.assertEqual(self.finish(job)[0], 3)

    @unittest.skipIf(SANITIZED, "the sanitizers' own libraries want to be loaded first")
    def test_a_command_does_not_start_when_forking_took_longer_than_the_validity(self):
        begun = self.heart("too-late")
        environment = {**self.environment, "SLOW_FORK_MS": "1500",
                       "LD_PRELOAD": os.path.join(BUILD, "libslow_fork.so")}
        job = self.start_redlock("run", "--ttl", "1s", "slow", "--", HEART, "once", str(begun),
                                 env=environment)
        status, _, errors = self.finish(job)
        self.assertEqual(status, 121, errors)
        self.assertIn("the lock was lost", errors)
        self.assertEqual(begun.slots(), [])


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root, and setpriv")
class AnotherUsersRights(GuardTest):
    """A command that has become another user may not be killed."""

    def start_as_nobody(self, name, *options, kind="root"):
        os.chmod(self.group.folder, 0o777)
        self.addCleanup(os.chmod, self.group.folder, 0o700)
        program = os.path.join(self.group.folder, f"{name}.{len(options)}.program")
        shutil.copy(HEART, program)
        os.chmod(program, 0o4755)
        redlock = shutil.copy(REDLOCK, program + ".redlock")
        heart = self.heart(name)
        with open(str(heart) + ".errors", "w", encoding="utf-8") as errors:
            job = subprocess.Popen(
                ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", redlock,
                 "run", *options, name, "--", program, kind, str(heart)],
                env=self.environment, stderr=errors)
        self.addCleanup(self.end, job)
        heart.await_beats(1)
        with open(f"/proc/{heart.pids()[0]}/status", encoding="ascii") as status:
            if "Uid:\t0\t0" not in status.read():
                self.skipTest("set-user-ID has no effect here")
        return job, heart

    def assertCouldNotBeEnded(self, job, heart):
        job.wait(10)
        with open(str(heart) + ".errors", encoding="utf-8") as file:
            errors = file.read()
        self.assertEqual(job.returncode, 122, errors)
        self.assertIn("could not be ended", errors)
        self.assertNotEqual(heart.alive(), [])

    def test_what_could_not_be_ended_keeps_the_lock_until_it_runs_out(self):
        for options in (("--max-hold", "300ms"), ("--max-hold", "300ms", "-L", "5")):
            with self.subTest(options=options):
                job, heart = self.start_as_nobody("kept", "--ttl", "6s", *options)
                self.assertCouldNotBeEnded(job, heart)
                self.assertHeld("kept")
                heart.kill()
                wait_until(lambda: self.group.is_free("kept"), "the end of the lock")
                os.remove(str(heart))

    def test_a_killed_guard_is_no_release_though_its_first_thread_has_ended(self):
        job, heart = self.start_as_nobody("headless", "--ttl", "6s", kind="leaderless")
        os.kill(guard_of(job), signal.SIGKILL)
        self.assertCouldNotBeEnded(job, heart)
        self.assertHeld("headless")

    def test_a_loss_is_no_release_either(self):
        job, heart = self.start_as_nobody("lost", "--ttl", "2s")
        for node in self.group.nodes[:3]:
            ask(node.port, "DEL", "lost")
        for node in self.group.nodes[:3]:
            ask(node.port, "SET", "lost", "another", "PX", "20000")
        self.assertCouldNotBeEnded(job, heart)


if __name__ == "__main__":
    unittest.main()
