"""redlock drill partition: the network falls apart, and no lock is held twice."""

import os
import re
import signal
import subprocess
import unittest

import drills
from group import PATIENCE_S, REDLOCK, wait_until


class Partition(drills.DrillTest):
    word = "partition"

    def test_a_network_that_falls_apart_breaks_no_promise_and_whoever_has_a_quorum_goes_on(self):
        # In 14 s this seed has every kind of episode.
        drill = self.start("--for", "14s", "--ttl", "1s", "--seed", "2")
        status, output, errors = self.result(drill, 14)
        if status == drills.SKIPPED:
            self.skipTest(errors)
        self.assertEqual((status, errors), (0, ""), output)
        self.assertIn("Nothing found: ", output)
        self.assertRegex(output, r"[1-9]\d* times a client was cut off from a quorum: [1-9]\d* "
                                 r"attempts were refused meanwhile, .* others got [1-9]\d* locks; ")
        self.assert_the_page_tells(output)
        header, events, counts = self.told()
        self.assertEqual(header["title"], "partition, seed 2")
        self.assertEqual(header["nodes"], [f"10.0.1.{i}:7001" for i in range(1, 6)])
        self.assertHappened(counts, ("node", "cut", 10), ("node", "slowed", 1),
                            ("client", "acquired", 100), ("client", "wrote", 100))
        ways = {event.get("direction") for event in events if event["what"] == "cut"}
        self.assertEqual(ways - {None}, {"in", "out"})
        self.assertEqual(counts["node", "cut"], counts["node", "healed"])
        self.assertEqual(counts["node", "slowed"], counts["node", "unslowed"])
        self.assertIn("no_quorum", {event.get("why") for event in events})

    def assert_the_page_tells(self, output):
        """The point of the drill, and whom each client was cut off from."""
        page = self.drawn()
        self.assertIn(page["point"] + "\n", output)
        self.assertRegex(page["point"], "next lock within [0-9.]+ m?s$")
        self.assertEqual(page["differences"], [])
        of_clients = [one for one in page["spells"] if one.get("is_of_nodes")]
        self.assertTrue(all(one["party"] < 16 for one in of_clients))
        without = [one for one in of_clients if not one["has_quorum"]]
        said = re.match(r"(\d+) times a client was cut off from a quorum", page["point"])
        self.assertEqual(len(without), int(said[1]))
        self.assertRegex(without[0]["note"], "^from (node [1-5], )+node [1-5] and node [1-5], "
                                             "and so from every quorum$")
        for one in page["spells"]:
            self.assertTrue(0 <= one["from"] <= one["to"] <= page["length"], one)

    def test_ctrl_c_while_the_network_is_apart_heals_it_and_tells_what_happened(self):
        drill = self.start("--for", "10m", "--seed", "2")
        wait_until(lambda: drill.poll() is not None or self.was_told("cut"), "the split")
        drill.send_signal(signal.SIGINT)
        status, output, errors = self.result(drill, 0)
        if status == drills.SKIPPED:
            self.skipTest(errors)
        self.assertEqual((status, errors), (128 + signal.SIGINT, ""), output)
        *_, counts = self.told()
        self.assertGreater(counts["node", "healed"], 0)

    def test_a_drill_too_short_for_anything_to_go_wrong_is_refused(self):
        status, output, errors = self.result(self.start("--for", "1s"), 0)
        if status == drills.SKIPPED:
            self.skipTest(errors)
        self.assertEqual((status, output), (64, ""))
        self.assertIn("nothing would go wrong within 1.0 s at a TTL of 2.0 s; it needs a longer",
                      errors)

    def refused(self, *before):
        """What the drill says, and ends with, after shell commands as root of a namespace."""
        script = " && ".join((*before, f"exec {REDLOCK} drill partition"))
        drill = subprocess.run(
            ["unshare", "-Urm", "sh", "-c", script], env={**self.environment, "PATH": "/usr/bin"},
            cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=PATIENCE_S, check=False)
        if "unshare: " in drill.stderr or "mount: " in drill.stderr:
            self.skipTest(drill.stderr)
        self.assertEqual((drill.returncode, drill.stdout), (drills.SKIPPED, ""), drill.stderr)
        self.assertEqual(os.listdir(self.temporary), [], "the drill's folder")
        return drill.stderr

    def test_where_namespaces_are_forbidden_it_says_what_it_needs(self):
        told = self.refused("echo 0 >/proc/sys/user/max_user_namespaces")
        self.assertRegex(told, r"^redlock: drill partition: user namespaces are refused: ")
        self.assertIn("user.max_user_namespaces above 0", told)

    def test_programs_that_are_missing_are_named_with_their_packages(self):
        told = self.refused("mount -t tmpfs none /usr/sbin")
        self.assertIn("not installed: ", told)
        self.assertIn("nft (package nftables), tc (package iproute2)", told)


if __name__ == "__main__":
    drills.main()
