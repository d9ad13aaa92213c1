"""redlock drill chaos --replace: the group changes under load, and keeps its promises."""

import os
import unittest

from drills import DrillTest, broken_nodes, main
from group import SANITIZED

# What a checker that knows of no changes accepts (docs/history.md), but for names with x_.
FIELDS = {
    "asks": {"lock"}, "waits": {"lock", "until"},
    "acquired": {"lock", "hold", "asked", "valid_until", "token", "ttl_ms"},
    "refused": {"lock", "why"}, "extended": {"lock", "hold", "valid_until", "ttl_ms"},
    "releases": {"lock", "hold"}, "lost": {"lock", "hold", "why"},
    "wrote": {"lock", "hold", "accepted", "token"}, "killed": {"why"}, "started": set(),
    "stopped": set(), "continued": set(), "stalled": {"ms"}, "recovering": {"until"},
    "serving": set(),
    "cut": {"from", "direction"}, "healed": set(), "slowed": {"ms"}, "unslowed": set(),
}

LONG = os.environ.get("REDLOCK_LONG") == "1"
LASTS_S = 900 if LONG else 15
REPLACED = 200 if LONG else 1


class Changes(DrillTest):
    def test_the_group_changes_while_clients_work(self):
        ttl = () if LONG else ("--ttl", "1s")  # the machine has more to do
        report = self.judged("--replace", "--seed", "1", "--clients", "4", *ttl, lasts_s=LASTS_S,
                             status=0)
        self.assertTrue(report["clean"])
        changes = report["figures"]["changes"]
        self.assertGreaterEqual(changes["replaced"], REPLACED)
        self.assertGreaterEqual(changes["replaced"] + changes["added"] + changes["removed"], 3)
        self.assertGreaterEqual(changes["kills"], 1)
        _, events, counts = self.told()
        self.assertHappened(counts, ("node", "killed", 5), ("client", "stopped", 1),
                            ("client", "acquired", 100), ("client", "wrote", 100))
        for event in events:
            own = {name for name in event if not name.startswith("x_")} - {"t", "who", "what"}
            self.assertLessEqual(own, FIELDS[event["what"]], event)
        if LONG:
            for kind in ("added", "removed"):
                self.assertGreaterEqual(changes[kind], 20)
            self.assertGreaterEqual(changes["undisturbed"], 50)


@unittest.skipUnless(LONG, "these take minutes")
@unittest.skipIf(SANITIZED, "programs that are broken on purpose are not instrumented")
class Broken(DrillTest):
    """The drill over nodes that break a rule."""

    def test_each_broken_rule_is_found(self):
        for edit in broken_nodes():
            if edit.options:  # of another drill
                continue
            with self.subTest(edit.name):
                self.assertFound(edit, "--replace", "--for", "60s")


if __name__ == "__main__":
    main()
