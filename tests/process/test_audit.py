"""The audit of a node that runs: who did what others have to answer for, in a file of its own."""

import hashlib
import json
import pathlib
import signal
import time

from harness import Client, ProcessTest, eventually, main

LINES_A_SECOND = 50


class Audit(ProcessTest):
    def audited(self, *flags, form="json"):
        self.file = pathlib.Path(self.folder()) / "audit.log"
        return self.node("--audit", str(self.file), "--audit-format", form, *flags)

    def lines(self):
        return [json.loads(line) for line in self.file.read_text().splitlines()]

    def of(self, event):
        return [line for line in self.lines() if line["event"] == event]

    def soon(self, event, count=1):
        self.assertTrue(eventually(lambda: len(self.of(event)) >= count), self.file.read_text())
        return self.of(event)

    def test_a_break_names_client_lock_and_holder_and_no_value(self):
        node = self.audited()
        value = "a-value-that-nobody-else-knows"
        node.client()("LOCK.ACQUIRE", "printer", value, "PX", 30000, "LABEL", "alice@web1")
        with Client(node.port) as mallory:
            mallory("CLIENT", "SETNAME", "mallory")
            self.assertEqual(mallory("DEL", "printer"), 1)
        line = self.soon("lock-broken")[0]
        self.assertEqual((line["command"], line["how"], line["key"]), ("del", "ends", "printer"))
        self.assertEqual((line["name"], line["label"]), ("mallory", "alice@web1"))
        self.assertTrue(line["client"].startswith("127.0.0.1:"))
        self.assertEqual(line["holder"], hashlib.sha1(value.encode()).hexdigest()[:16])
        self.assertNotIn(value, self.file.read_text())

    def test_passwords_settings_and_the_end_are_told_and_no_secret(self):
        node = self.audited()
        client = node.client()
        client("CONFIG", "SET", "requirepass", "secret-of-the-house")
        with Client(node.port) as guest:
            self.assert_error(guest("AUTH", "a-wrong-guess"), "WRONGPASS")
        client("CONFIG", "SET", "maxclients", 77, "requirepass", "another-secret")
        client.send(b"*2\r\n$8\r\nSHUTDOWN\r\n$6\r\nNOSAVE\r\n")
        node.wait()
        self.assertEqual(len(self.of("password-refused")), 1)
        changed = [(line["setting"], line["value"]) for line in self.of("setting-changed")]
        hidden = ("requirepass", "(not shown)")
        self.assertEqual(changed, [hidden, ("maxclients", "77"), hidden])
        self.assertEqual([line["mode"] for line in self.of("shutdown")], ["nosave"])
        text = self.file.read_text() + node.log()
        for secret in ("a-wrong-guess", "secret-of-the-house", "another-secret"):
            self.assertNotIn(secret, text)

    def test_a_flood_is_fifty_lines_a_second_and_a_count_of_the_rest(self):
        node = self.audited("--require-ttl", "no")
        keys = [f"lock-{number}" for number in range(2000)]
        node.client()("MSET", *(word for key in keys for word in (key, "its-holder")))
        began = time.monotonic()
        with Client(node.port) as mallory:
            for key in keys:
                self.assertEqual(mallory("DEL", key), 1)
        seconds = int(time.monotonic() - began) + 2
        self.assertTrue(eventually(lambda: self.told() == len(keys)), self.told())
        self.assertLessEqual(len(self.of("lock-broken")), LINES_A_SECOND * seconds)
        self.assertEqual(self.of("left-out")[0]["of"], "lock-broken")

    def told(self):
        return len(self.of("lock-broken")) + sum(int(line["lines"]) for line in self.of("left-out"))

    def test_the_log_takes_it_too_whatever_its_level(self):
        node = self.node("--audit", "log", "--loglevel", "warning")
        node.client()("SET", "k", "v", "NX", "PX", 30000)
        with Client(node.port) as mallory:
            mallory("SET", "k", "mine", "PX", 30000)
        self.assertTrue(eventually(lambda: "event=lock-broken" in node.log()), node.log())
        self.assertIn("command=set how=overwrites key=k", node.log())

    def test_sighup_opens_the_file_anew_and_others_may_not_read_it(self):
        node = self.audited(form="text")
        node.client()("CONFIG", "SET", "maxclients", 50)
        self.assertTrue(eventually(lambda: "setting=maxclients value=50" in self.file.read_text()))
        self.assertEqual(self.file.stat().st_mode & 0o007, 0)
        self.file.rename(self.file.with_name("audit.log.1"))
        node.process.send_signal(signal.SIGHUP)
        self.assertTrue(eventually(self.file.exists))
        node.client()("CONFIG", "SET", "maxclients", 60)
        self.assertTrue(eventually(lambda: "value=60" in self.file.read_text()))

    def test_lines_that_a_full_disk_does_not_take_are_counted_and_told(self):
        place = pathlib.Path(self.folder()) / "audit.log"
        place.symlink_to("/dev/full")
        node = self.node("--audit", str(place), "--audit-format", "json")
        client = node.client()

        def lost():
            return int(client.info("stats")["audit_lines_lost"])

        self.assertEqual(lost(), 0)
        for number in range(3):
            client("CONFIG", "SET", "maxclients", 50 + number)
            self.assertTrue(eventually(lambda: lost() == number + 1))
        self.assertTrue(eventually(lambda: "audit.log loses lines" in node.log()), node.log())
        self.assertEqual(node.log().count("audit.log loses lines"), 1)
        self.assertIn("No space left on device", node.log())
        real = place.with_name("room.log")
        place.unlink()
        place.symlink_to(real)
        node.process.send_signal(signal.SIGHUP)
        self.assertTrue(eventually(real.exists))
        client("CONFIG", "SET", "maxclients", 60)
        self.assertTrue(eventually(lambda: real.read_text().count("\n") == 2), real.read_text())
        told, line = (json.loads(line) for line in real.read_text().splitlines())
        self.assertEqual(told["text"], "lines that the log could not take: 3")
        self.assertEqual((line["setting"], line["value"]), ("maxclients", "60"))
        self.assertEqual(lost(), 3)

    def test_a_file_that_cannot_be_is_no_start(self):
        done = self.new_node("--audit", "/nowhere/audit.log").run_once()
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nowhere/audit.log", done.stderr)

    def test_hold_strict_tells_what_it_refused(self):
        node = self.audited("--hold-strict", "yes")
        client = node.client()
        client("SET", "k", "v", "NX", "PX", 30000)
        self.assert_error(client("DEL", "k"), "HELD k is held")
        self.assertEqual(self.soon("break-refused")[0]["key"], "k")
        self.assertEqual(self.of("lock-broken"), [])


if __name__ == "__main__":
    main()
