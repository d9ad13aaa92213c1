"""acquire, extend, release, holder and status: what they print and how they end."""

import os
import re
import resource
import subprocess
import time
import unittest

from group import (ROOT, MAX_TTL_MS, REDLOCK, SHELL_VARIABLES, TTL_MS, GroupTest, ask, exported)


class Words(GroupTest):
    def test_a_held_lock_is_refused_with_75_and_one_line(self):
        self.acquire("held")
        result = self.redlock("acquire", "held")
        self.assertExit(75, result)
        self.assertEqual(result.stdout, f"unset {' '.join(SHELL_VARIABLES)}; (exit 75)\n")
        self.assertRegex(result.stderr, r"^redlock: held: held by \S+ for .* more\n$")

    def sh(self, script):
        return subprocess.run(["bash", "-o", "pipefail", "-c", script], env=self.environment,
                              capture_output=True, text=True, check=False)

    def test_a_lock_that_cannot_be_printed_is_released(self):
        for name in ("unseen", "u" * 5000):  # longer than what is written at once
            for output in (">/dev/full", ">&-", "--json >/dev/full"):
                self.assertExit(74, self.sh(f"{REDLOCK} acquire {name} {output}"))
                self.assertExit(1, self.redlock("holder", name))

    def test_what_is_told_and_cannot_be_printed_ends_with_74(self):
        self.acquire("h" * 5000)
        for words in ("list", "--json list", "status", f"--json holder {'h' * 5000}", "group",
                      "--help", "--version"):
            result = self.sh(f"{REDLOCK} {words} >/dev/full")
            self.assertExit(74, result)
            self.assertIn("standard output: No space left on device", result.stderr)
        # Whoever reads no more has seen enough.
        result = self.sh(f"{REDLOCK} list | true")
        self.assertIn(result.returncode, (0, 74))
        self.assertEqual(result.stderr, "")

    def test_too_few_descriptors_are_a_failure_like_any_other(self):
        # Enough for the program and its loop, too few for five connections.
        few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (10, 10))  # noqa: E731
        for words in (["acquire", "few"], ["extend", "few", "--value", "v"], ["holder", "few"],
                      ["release", "few", "--value", "v"], ["status"], ["up"],
                      ["run", "few", "--", "true"]):
            result = subprocess.run([REDLOCK, *words], env=self.environment, capture_output=True,
                                    text=True, check=False, preexec_fn=few)
            self.assertExit(69, result)
            self.assertIn("descriptors", result.stderr)
            if words[0] in ("acquire", "extend"):
                self.assertIn("(exit 69)\n", result.stdout)

    def test_an_extension_that_cannot_be_printed_ends_with_74(self):
        value = self.acquire("unread")["REDLOCK_VALUE"]
        for output in (">/dev/full", ">&-"):
            script = f"{REDLOCK} extend unread --ttl 20s --value {value} {output}"
            self.assertExit(74, self.sh(script))
        self.assertExit(0, self.redlock("release", "unread", "--value", value))

    def test_a_lock_without_a_name_is_a_usage_error(self):
        for words in (["acquire", ""], ["holder", ""], ["run", "", "--", "true"]):
            result = self.redlock(*words)
            self.assertExit(64, result)
            self.assertIn("the lock's name is empty", result.stderr)

    def test_acquire_waits_as_long_as_it_is_told_to(self):
        self.acquire("long")
        self.assertExit(75, self.redlock("acquire", "long", "--wait", "50ms"))
        self.acquire("short", "--ttl", "300ms")
        self.assertExit(0, self.redlock("acquire", "short", "--wait", "15s"))

    def test_extend_gives_a_later_deadline_to_the_holder_alone(self):
        value = self.acquire("longer", "--ttl", "15s")["REDLOCK_VALUE"]
        result = self.redlock("extend", "longer", "--value", value, "--ttl", "30s")
        self.assertExit(0, result)
        told = exported(result.stdout)
        self.assertEqual(set(told), {"REDLOCK_VALIDITY_MS", "REDLOCK_VALID_UNTIL"})
        self.assertGreater(int(told["REDLOCK_VALIDITY_MS"]), 15000)
        self.assertExit(1, self.redlock("extend", "longer", "--value", "guessed"))

    def test_the_validity_has_an_end_on_the_clock_of_proc_uptime(self):
        before = time.clock_gettime(time.CLOCK_BOOTTIME)
        lock = self.acquire("until", "--ttl", "20s")
        after = time.clock_gettime(time.CLOCK_BOOTTIME)
        self.assertRegex(lock["REDLOCK_VALID_UNTIL"], r"^\d+\.\d\d$")
        until = float(lock["REDLOCK_VALID_UNTIL"])
        self.assertTrue(before + 15 < until <= after + 20, (before, until, after))
        left = int(lock["REDLOCK_VALIDITY_MS"]) / 1000
        self.assertTrue(until - after - 0.001 <= left <= until + 0.01 - before, (left, until))
        told = self.json_of(self.redlock("extend", "until", "--value", lock["REDLOCK_VALUE"],
                                         "--ttl", "40s", "--json"))
        now = time.clock_gettime(time.CLOCK_BOOTTIME)
        self.assertTrue(now + 30 < told["valid_until"] <= now + 40, told)
        self.assertExit(0, self.redlock("release", "until", "--value", lock["REDLOCK_VALUE"]))
        told = self.json_of(self.redlock("acquire", "until", "--ttl", "20s", "--json"))
        after = time.clock_gettime(time.CLOCK_BOOTTIME)
        self.assertTrue(now + 15 < told["valid_until"] <= after + 20, told)

    def test_release_says_nothing_and_is_for_the_holder_alone(self):
        value = self.acquire("mine")["REDLOCK_VALUE"]
        guess = self.redlock("release", "mine", "--value", "guessed")
        self.assertExit(1, guess)
        self.assertIn("not this holder's", guess.stderr)
        result = self.redlock("release", "mine", "--value", value)
        self.assertExit(0, result)
        self.assertEqual(result.stdout + result.stderr, "")
        self.assertExit(1, self.redlock("release", "mine", "--value", value))

    def test_the_value_comes_from_a_flag_the_environment_or_standard_input(self):
        for how in ("environment", "stdin"):
            value = self.acquire("value")["REDLOCK_VALUE"]
            if how == "environment":
                self.assertExit(0, self.redlock("extend", "value", REDLOCK_VALUE=value))
                self.assertExit(0, self.redlock("release", "value", REDLOCK_VALUE=value))
            else:
                line = value + "\n"
                self.assertExit(0, self.redlock("extend", "value", "--value", "-", stdin=line))
                self.assertExit(0, self.redlock("release", "value", "--value", "-", stdin=line))
        missing = self.redlock("release", "value")
        self.assertExit(64, missing)
        self.assertIn("REDLOCK_VALUE", missing.stderr)

    def test_holder_says_who_and_for_how_long(self):
        free = self.redlock("holder", "whose")
        self.assertExit(1, free)
        self.assertEqual(free.stdout, "free\n")
        value = self.acquire("whose")["REDLOCK_VALUE"]
        held = self.redlock("holder", "whose")
        self.assertExit(0, held)
        fields = dict(line.split(maxsplit=1) for line in held.stdout.splitlines())
        self.assertEqual(fields["value"], value)
        # An acquisition that has its quorum does not wait for the others.
        self.assertRegex(fields["nodes"], "^[345] of 5$")
        self.assertTrue(0 < int(fields["left_ms"]) <= TTL_MS, fields)

    def test_status_names_a_counter_that_is_far_above_the_others(self):
        self.addCleanup(self.drop_group)
        self.assertExit(0, self.redlock("status"))
        port = self.group.nodes[2].port
        self.assertEqual(ask(port, "SET", "raised", "v", "NX", "PX", "20000"), "+OK")
        for token in (2**32, 2**33):  # no single confirm may raise it by more than 2^32
            self.assertEqual(ask(port, "LOCK.CONFIRM", "raised", "v", str(token)), ":1")
        result = self.redlock("status")
        self.assertExit(1, result)
        self.assertRegex(result.stdout, rf"(?m)^127\.0\.0\.1:{port}: its token counter, "
                                        rf"{2**33}, is far above \d+, .*delete the ledger")
        told = self.json_of(self.redlock("status", "--json"))
        self.assertIs(told["quorum_grants"], True)
        self.assertEqual([node.get("counter_is_far") for node in told["nodes"]],
                         [None, None, "above", None, None])

    def test_json_says_the_same_to_programs(self):
        acquired = self.json_of(self.redlock("acquire", "data", "--json"))
        self.assertEqual((acquired["name"], acquired["outcome"]), ("data", "acquired"))
        self.assertTrue(0 < acquired["validity_ms"] < TTL_MS)
        value = acquired["value"]
        held = self.json_of(self.redlock("holder", "data", "--json"))
        self.assertEqual((held["held"], held["value"], held["of"]), (True, value, 5))
        self.assertIn(held["nodes"], (3, 4, 5))
        refused = self.json_of(self.redlock("acquire", "data", "--json"))
        answers = [node["answer"] for node in refused["nodes"]]
        self.assertEqual(len(answers), 5)
        self.assertGreaterEqual(answers.count("no"), 3)  # whichever come first decide
        extended = self.json_of(self.redlock("extend", "data", "--value", value, "--json"))
        self.assertEqual(extended["outcome"], "extended")
        self.assertTrue(0 < extended["validity_ms"] < TTL_MS)
        released = self.json_of(self.redlock("release", "data", "--value", value, "--json"))
        self.assertEqual(released["outcome"], "released")
        self.assertIs(self.json_of(self.redlock("holder", "data", "--json"))["held"], False)
        status = self.json_of(self.redlock("status", "--json"))
        self.assertIs(status["quorum_grants"], True)
        self.assertEqual([node["state"] for node in status["nodes"]], ["serving"] * 5)

    def test_a_node_that_refuses_is_quoted(self):
        result = self.redlock("acquire", "long", "--ttl", f"{MAX_TTL_MS + 1}ms")
        self.assertExit(78, result)
        self.assertRegex(result.stderr, r"^redlock: long: the nodes refuse it: .*max-ttl.*\n$")

    def test_what_waiting_cannot_change_is_not_waited_for(self):
        began = time.monotonic()
        job = self.redlock("run", "--ttl", f"{MAX_TTL_MS + 1}ms", "long", "--", "true")
        self.assertExit(78, job)
        self.assertLess(time.monotonic() - began, 5)


class Passwords(GroupTest):
    def setUp(self):
        super().setUp()
        for node in self.group.nodes:
            self.assertEqual(ask(node.port, "CONFIG", "SET", "requirepass", "secret"), "+OK")
        self.addCleanup(self.drop_group)

    def test_nodes_that_want_another_password_end_it_with_77(self):
        wrong = self.group.addresses.replace("redis://", "redis://:guessed@")
        for nodes in (self.group.addresses, wrong):
            for word, *words in (("acquire", "x"), ("holder", "x"), ("status",),
                                 ("release", "x", "--value", "v"),
                                 ("run", "-n", "x", "--", "true")):
                with self.subTest(word=word, wrong=nodes is wrong):
                    self.assertExit(77, self.redlock(word, *words, REDLOCK_NODES=nodes))

    def test_the_password_may_stand_in_a_file_or_in_the_environment(self):
        path = self.group.folder + "/password"
        with open(path, "w", encoding="utf-8") as file:
            file.write("secret\n")
        self.assertExit(0, self.redlock("acquire", "x", REDLOCK_PASSWORD="secret"))
        self.assertExit(0, self.redlock("holder", "x", "--password-file", path))
        self.assertExit(0, self.redlock("status", REDLOCK_PASSWORD_FILE=path))
        self.assertExit(77, self.redlock("status", REDLOCK_PASSWORD="guessed"))
        self.assertExit(78, self.redlock("status", REDLOCK_PASSWORD_FILE=path + "-none"))
        self.assertExit(64, self.redlock("status", "--password-file", path + "-none"))

    def test_no_list_of_processes_shows_a_password(self):
        nodes = self.group.addresses.replace("redis://", "redis://default:secret@")
        for words in (("--nodes", nodes), (f"--nodes={nodes}",)):
            job = self.start_job("seen", "echo secret >&2; sleep 100", *words)
            with open(f"/proc/{job.pid}/cmdline", encoding="utf-8") as file:
                shown = file.read()
            self.assertIn("default:******@127.0.0.1", shown)
            self.assertNotIn("secret@", shown)
            self.assertIn("echo secret >&2", shown)  # the command's own words are as they were
            job.terminate()
            self.finish(job)

    def test_the_password_of_the_address_is_used_and_never_shown(self):
        nodes = self.group.addresses.replace("redis://", "redis://:secret@")
        self.assertExit(0, self.redlock("acquire", "x", REDLOCK_NODES=nodes))
        for word in ("acquire", "status", "holder"):
            words = () if word == "status" else ("x",)
            result = self.redlock(word, *words, REDLOCK_NODES=nodes)
            self.assertNotIn("secret", result.stdout + result.stderr)


class Usage(GroupTest):
    def test_mistakes_of_the_command_line_end_with_64(self):
        for words in (("lock",), ("acquire",), ("acquire", "x", "--no-such-flag"),
                      ("acquire", "x", "--ttl", "soon"), ("run", "x"), ("run", "--", "true"),
                      ("run", "x", "-E", "256", "--", "true")):
            with self.subTest(words=words):
                result = subprocess.run([REDLOCK, *words], env=self.environment,
                                        capture_output=True, text=True, check=False)
                self.assertExit(64, result)
                self.assertRegex(result.stderr, "^redlock: ")

    def test_without_nodes_it_says_how_to_name_them_and_ends_with_78(self):
        result = self.redlock("status", REDLOCK_NODES="")
        self.assertExit(78, result)
        for way in ("--nodes", "REDLOCK_NODES", "/etc/redlock/redlock.conf"):
            self.assertIn(way, result.stderr)

    def test_mistakes_of_the_configuration_end_with_78(self):
        self.assertExit(78, self.redlock("status", REDLOCK_NODES="http://somewhere"))
        self.assertExit(78, self.redlock("status", "--config", self.group.folder + "/none"))
        for line in ("lifetime 3s", "ttl 30"):
            path = self.settings_file(line)
            result = self.redlock("status", "--config", path)
            self.assertExit(78, result)
            self.assertIn(f"{path}:1: ", result.stderr)

    def test_the_settings_file_documents_all_that_it_accepts(self):
        with open(os.path.join(ROOT, "config/redlock.conf"), encoding="utf-8") as file:
            documented = re.findall(r"(?m)^#([a-z][a-z-]*) (\S+)$", file.read())
        refused = self.redlock("status", "--config", self.settings_file("lifetime 3s"))
        accepted = refused.stderr.strip().partition("there are ")[2].split(", ")
        self.assertEqual(sorted(accepted), sorted(name for name, _ in documented))
        for name, value in documented:
            # Those of somebody else.
            if name not in ("nodes", "password-file", "tls-ca", "tls-cert", "tls-key"):
                path = self.settings_file(f"{name} {value}")
                self.assertExit(0, self.redlock("status", "--config", path))

    def test_nodes_are_named_as_people_do_and_a_slip_has_its_sentence(self):
        for nodes, what in (("", "no node is named"), (" , ", "no node is named"),
                            ("http://a:1,b:2", "nodes do not speak http://"),
                            ("a:1 b:2 c:3", "separate them by commas"),
                            ("redis://a:1/7", "one database: leave out /7")):
            result = self.redlock("status", "--nodes", nodes)
            self.assertExit(64, result)
            self.assertIn(what, result.stderr)
        listed = ", ".join(node.url + "/0" for node in self.group.nodes)
        self.assertExit(0, self.redlock("status", "--nodes", listed))
        lost = self.redlock("holder", "x", "--nodes", "no-such-host.invalid,b.invalid,c.invalid")
        self.assertExit(69, lost)
        self.assertRegex(lost.stderr, r"no-such-host\.invalid:6379 +.*(name|resolve|known)")

    def test_contradictions_are_refused(self):
        for words in (("acquire", "-n", "-w", "5s", "x"), ("run", "-n", "-w", "5s", "x", "true"),
                      ("hold", "-q", "-v", "x")):
            result = self.redlock(*words)
            self.assertExit(64, result)
            self.assertIn("contradict each other", result.stderr)

    def test_names_that_begin_with_a_dash_and_names_with_control_characters(self):
        for words in (("run", "--", "-job", "true"), ("run", "--", "-job", "--", "true")):
            self.assertExit(0, self.redlock(*words))
        self.acquire("a\x1b[31m\nb")
        for words in (("acquire", "a\x1b[31m\nb"), ("run", "-n", "a\x1b[31m\nb", "true")):
            refused = self.redlock(*words)
            self.assertExit(75, refused)
            self.assertTrue(refused.stderr.startswith("redlock: a\\x1b[31m\\x0ab: held"),
                            refused.stderr)
        long = "x" * 300
        self.acquire(long)
        self.assertLess(len(self.redlock("acquire", long).stderr), 200)

    def test_without_a_thread_no_lock_is_taken(self):
        hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
        if hard != resource.RLIM_INFINITY:
            self.skipTest("stacks are limited here")

        def leave_no_room_for_a_stack():
            resource.setrlimit(resource.RLIMIT_STACK, (1 << 46, hard))

        for words in (("run", "printer", "true"), ("hold", "printer")):
            process = self.start_redlock(*words, preexec_fn=leave_no_room_for_a_stack)
            _, errors = process.communicate(timeout=10)
            self.assertEqual(process.returncode, 126, errors)
            self.assertIn("the system gives no thread", errors)
        self.assertTrue(self.group.is_free("printer"))

    def test_each_subcommands_help_is_whole_and_has_its_own_exit_codes(self):
        for word, has, has_not in (("run", ("126", "-- COMMAND", "--nodes", "--max-hold"), "  65 "),
                                   ("status", ("  2 ", "--watch", "--json"), "  75 "),
                                   ("holder", ("it is free",), "  124 "),
                                   ("hold", ("  0 ", "a signal ended it"), "  127 ")):
            for words in ((word, "--help"), ("help", word)):
                text = self.redlock(*words).stdout
                self.assertTrue(text.split("Exit codes:\n")[1], text)
                for part in has:
                    self.assertIn(part, text)
                self.assertNotIn(has_not, text.split("Exit codes:\n")[1])
                self.assertLessEqual(max(len(line) for line in text.splitlines()), 100)

    def test_flags_win_over_the_environment_and_that_over_the_file(self):
        nodes = [node.url for node in self.group.nodes]
        path = self.settings_file(f"nodes {nodes[0]}")

        def asked(*options, **environment):
            status = self.redlock("status", "--json", "--config", path, *options, **environment)
            return ["redis://" + node["node"] for node in self.json_of(status)["nodes"]]

        self.assertEqual(asked(REDLOCK_NODES=""), nodes[:1])
        self.assertEqual(asked(REDLOCK_NODES=nodes[1]), nodes[1:2])
        self.assertEqual(asked("--nodes", nodes[2], REDLOCK_NODES=nodes[1]), nodes[2:3])

    def test_flags_win_over_the_file(self):
        path = self.settings_file(f"ttl {MAX_TTL_MS + 1}ms")
        words = (REDLOCK, "acquire", "settings", "--config", path)
        refused = subprocess.run(words, env=self.environment, capture_output=True, text=True,
                                 check=False)
        self.assertExit(78, refused)
        self.assertIn("max-ttl", refused.stderr)
        self.acquire("settings", "--config", path, "--ttl", "1s")

    def settings_file(self, text):
        path = self.group.folder + "/redlock.conf"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        return path


if __name__ == "__main__":
    unittest.main()
