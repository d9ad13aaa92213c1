"""What a service manager is told: systemd's notify protocol over a real socket."""

import pathlib
import socket
import time

from harness import PATIENCE_S, ROOT, ProcessTest, main

WATCHDOG_S = 1.0
HUNG_S = 3 * WATCHDOG_S


class Supervised(ProcessTest):
    def supervised_node(self, **variables):
        """A node that does not run yet, and the socket at which its manager listens."""
        path = pathlib.Path(self.folder()) / "notify"
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(manager.close)
        manager.bind(str(path))
        manager.settimeout(PATIENCE_S)
        node = self.new_node("--supervised", "systemd", "--enable-debug-command", "yes",
                             environment={"NOTIFY_SOCKET": str(path), **variables})
        return node, manager

    def told_within(self, manager, seconds):
        """The messages that come in this time, each with when it was read."""
        end = time.monotonic() + seconds
        told = []
        while (left := end - time.monotonic()) > 0:
            manager.settimeout(left)
            try:
                told.append((time.monotonic(), manager.recv(4096).decode()))
            except TimeoutError:
                break
        return told

    def beats(self, manager, seconds):
        return [when for when, text in self.told_within(manager, seconds) if text == "WATCHDOG=1\n"]

    def test_the_watchdog_hears_from_a_loop_that_turns_and_from_no_other(self):
        node, manager = self.supervised_node(WATCHDOG_USEC=str(int(WATCHDOG_S * 1e6)))
        node.start()
        beats = self.beats(manager, 4 * WATCHDOG_S)
        self.assertGreaterEqual(len(beats), 4)  # eight are due
        between = [after - before for before, after in zip(beats, beats[1:])]
        self.assertLess(max(between), WATCHDOG_S)
        self.assertGreater(sum(between) / len(between), 0.4 * WATCHDOG_S)

        client = node.client()
        began = time.monotonic()
        client.send(b"DEBUG SLEEP %d\r\n" % HUNG_S)
        beats = self.beats(manager, HUNG_S + 2 * WATCHDOG_S)
        heard_while_hung = [beat for beat in beats
                            if began + 0.6 * WATCHDOG_S < beat < began + 0.9 * HUNG_S]
        self.assertEqual(heard_while_hung, [])
        self.assertTrue([beat for beat in beats if beat >= began + HUNG_S], beats)

    def test_it_is_told_ready_and_stopping_and_no_watchdog_that_it_does_not_wait_for(self):
        node, manager = self.supervised_node(WATCHDOG_USEC="100000", WATCHDOG_PID="1")
        node.start()
        texts = [text for _, text in self.told_within(manager, 0.5)]
        self.assertTrue(any(text.startswith("READY=1\n") for text in texts), texts)
        self.assertNotIn("WATCHDOG=1\n", texts)
        self.assertEqual(node.stop(), 0)
        texts = [text for _, text in self.told_within(manager, 0.5)]
        self.assertIn("STOPPING=1\n", texts)

    def test_the_unit_starts_a_node_again_however_it_ended(self):
        unit = (ROOT / "config" / "redlock-node@.service").read_text().splitlines()
        self.assertIn("Type=notify", unit)
        self.assertIn("Restart=always", unit)
        self.assertIn("StartLimitIntervalSec=0", unit)
        self.assertIn("WatchdogSec=10s", unit)


if __name__ == "__main__":
    main()
