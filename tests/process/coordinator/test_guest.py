"""The library as a guest: programs that fork, exit and end around it go on, or end, as they meant.

The soak starts, uses, cancels, forks and destroys clients from many threads at random while nodes
are stopped, killed and started. With REDLOCK_LONG=1 for an hour.
"""

import os
import random
import signal
import subprocess
import tempfile
import threading
import unittest

from group import BUILD, PATIENCE_S, GroupTest

GUEST = os.path.join(BUILD, "guest")
SOAK_S = 3600 if os.environ.get("REDLOCK_LONG") == "1" else 8


# In namespaces of its own, all of whose processes end with the shell: nodes, a guest that keeps a
# lock, and `redlock run`. The route goes for longer than a silent connection is kept (10 s from the
# first extension that nobody answers, a third of the TTL after the lock was got), so that all are
# dialled again in vain.
ROUTE_GOES = """
    set -e
    ip link set lo up
    "$BUILD/redlock" up --no-door --dir "$DIR" > "$DIR.up" 2>&1 &
    export REDLOCK_NODES=$(seq -s , -f 127.0.0.1:%g 7001 7005)
    until "$BUILD/redlock" acquire ready --ttl 1s > /dev/null 2>&1; do sleep 0.1; done
    "$BUILD/redlock" run --ttl 30s scanner -- sh -c 'echo ready; exec sleep 24' \
      > "$DIR.begun" 2> "$DIR.run" &
    run=$!
    "$BUILD/guest" route $(echo $REDLOCK_NODES | tr , ' ') > "$DIR.guest" &
    guest=$!
    until grep -q ready "$DIR.guest" && grep -q ready "$DIR.begun"; do sleep 0.1; done
    ip rule del pref 0
    sleep 22
    ip rule add pref 0 lookup local
    wait $run && run_status=0 || run_status=$?
    wait $guest && guest_status=0 || guest_status=$?
    echo run $run_status, guest $guest_status, $(cat "$DIR.guest")
"""


class Guest(GroupTest):
    def guest(self, *words, lasts_s=0):
        """(exit status, what it said)"""
        guest = subprocess.run(
            [GUEST, *words, *self.group.addresses.split(",")], capture_output=True, text=True,
            timeout=PATIENCE_S + lasts_s, check=False)
        return guest.returncode, guest.stdout + guest.stderr

    def test_a_forked_child_leaves_its_parents_locks_alone(self):
        self.assertEqual(self.guest("fork"), (0, ""))

    def test_exit_in_a_callback_ends_the_program(self):
        self.assertEqual(self.guest("exit"), (0, ""))
        self.assertEqual(self.redlock("acquire", "printer", "--wait", "5s").returncode, 0)

    def test_a_route_that_goes_costs_the_lock_and_not_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            apart = ["unshare", "-Urnpfm", "--mount-proc", "--kill-child"]
            if subprocess.run([*apart, "ip", "link", "set", "lo", "up"], check=False,
                              capture_output=True).returncode != 0:
                self.skipTest("this machine gives no namespaces")
            told = subprocess.run(
                [*apart, "sh", "-c", ROUTE_GOES], capture_output=True, text=True,
                timeout=PATIENCE_S + 60, check=False,
                env={**os.environ, "BUILD": BUILD, "DIR": f"{folder}/group"})
        self.assertIn("run 0, guest 0, ready again", told.stdout, told.stderr)

    def test_whatever_a_program_does_nothing_breaks(self):
        over = threading.Event()

        def nodes_come_and_go():
            choice = random.Random(1)
            while not over.wait(choice.uniform(0.05, 0.5)):
                node = choice.choice(self.group.nodes)
                if choice.random() < 0.5:
                    node.kill()
                    over.wait(choice.uniform(0.05, 1))
                    node.start()
                else:
                    node.signal(signal.SIGSTOP)
                    over.wait(choice.uniform(0.05, 1))
                    node.signal(signal.SIGCONT)

        thread = threading.Thread(target=nodes_come_and_go)
        thread.start()
        try:
            status, said = self.guest("soak", str(SOAK_S), "1", lasts_s=SOAK_S)
        finally:
            over.set()
            thread.join()
        self.assertEqual(status, 0, said)
        print(f"\n  {said.strip()}", flush=True)


if __name__ == "__main__":
    unittest.main()
