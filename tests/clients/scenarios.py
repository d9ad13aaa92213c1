"""What every library is put through. A scenario is a function that is given a Play and reads as the
story that it is; it raises Failed when the story goes otherwise.

    @scenario("acquire")
    def acquire(play): ...

Three acts, each with nodes and drivers of its own: SERVING, RECOVERING and DOWN. Within an act the
scenarios run in this order, and one that failed gets new nodes for those that follow.
"""

import re
import statistics
import time

from group import harness

LOCK_WORDS = ("acquire", "extend", "release")

TTL_MS = 10_000        # of a lock that must not run out within its scenario
LONG_TTL_MS = 500_000  # longer than any library tries to reach a node that is gone
SHORT_TTL_MS = 1_000   # of a lock that is waited for
WAIT_MS = 8_000        # of a contender that waits: longer than any short lock lives
STALL_MS_MAX = 200     # what one recovering node may cost an acquisition
REPETITIONS = 5        # of which the quickest counts: a busy machine slows some, a wait slows all
RECONNECT_S = 8        # by then every library has found its node again
RETRY_S = 0.05
CRASH_TTL_MS = 3_000   # longer than five nodes take to be killed and started
NODE_TIMEOUT_MS = 500  # of a front door: its default
FORGOTTEN_S = 0.1      # by then a ledger no longer tells of longer locks that are gone (rule R5)

SERVING, RECOVERING, DOWN = "serving", "recovering", "down"
ALL = {SERVING: [], RECOVERING: [], DOWN: []}


class Failed(Exception):
    """What the library or a node did is not what the scenario says."""


# What a front door does not do, and says so: docs/front-door.md, "What it serves".
REFUSAL = re.compile(r"not served by a front door|a front door does not change the value")


class Refused(Exception):
    """A front door said that it does not do this, to these words of a driver."""


class Scenario:
    def __init__(self, name, run, needs, nodes, door):
        self.name, self.run, self.needs, self.nodes, self.door = name, run, needs, nodes, door

    def fits(self, library):
        if self.door and not library.through_door:
            return False
        if not library.takes_locks:
            return self is FEATURES
        return self.nodes in (None, library.nodes)


def scenario(name, act=SERVING, needs=(), nodes=None, door=False):
    """Registers one. needs: words that the driver must know; nodes: over how many it must lock;
    door: it takes a front door."""
    def register(run):
        ALL[act].append(Scenario(name, run, needs, nodes, door))
        return run
    return register


def want(condition, text):
    if not condition:
        raise Failed(text)


def want_yes(answer, what):
    if REFUSAL.search(answer.text):
        raise Refused(what)
    want(answer.yes, f"{what}: {answer}")
    return answer


def want_refused(answer, what):
    want(not answer.yes, f"{what}, although it must not")
    return answer


def acquire_everywhere(play, contender, name, key, ttl_ms, wait_ms=0):
    """Acquires a lock at every node. A library may answer at a quorum and ask the others after
    it, as pottery does: what follows must not come before that."""
    who = "alice" if contender is play.alice else "bob"
    want_yes(contender.ask("acquire", name, ttl_ms, wait_ms), f"{who} acquires")
    want(play.group.soon(key, len(play.group.nodes)), "some node did not grant")


# --- all nodes serve ---


@scenario("acquire")
def acquire(play):
    """A free lock is got, stands at every node with its TTL, and is free again when released."""
    name, key = play.new_lock()
    acquire_everywhere(play, play.alice, name, key, TTL_MS)
    for left_ms in play.group.ttls_ms(key):
        want(0 < left_ms <= TTL_MS, f"a node says PTTL {left_ms} after a TTL of {TTL_MS}")
    want_yes(play.alice.ask("release", name), "alice releases")
    want(play.group.soon(key, 0), "the key is still there after the release")
    play.measure("healthy_ms")


@scenario("contend")
def contend(play):
    """While alice holds it bob does not get it; when she releases, he who waits does."""
    limit_ms = play.library.wakes_within_ms
    repetitions = REPETITIONS if limit_ms else 1
    woke_ms = statistics.median(hand_over_ms(play) for _ in range(repetitions))
    play.figures["woke_ms"] = woke_ms
    want(limit_ms is None or woke_ms <= limit_ms, f"bob woke after {woke_ms:.0f} ms")


def hand_over_ms(play):
    """From alice's release until bob, who waits, has the lock."""
    name, key = play.new_lock()
    acquire_everywhere(play, play.alice, name, key, TTL_MS)
    want_refused(play.bob.ask("acquire", name, TTL_MS, 0), "bob gets a lock that alice holds")
    want(play.group.soon(key, len(play.group.nodes)), "bob's attempt took alice's lock away")
    play.bob.start("acquire", name, TTL_MS, WAIT_MS)
    time.sleep(0.5)
    released_at = time.monotonic()
    play.alice.ask("release", name)
    want_yes(play.bob.answer(), "bob waits and acquires")
    woke_ms = (time.monotonic() - released_at) * 1000
    play.bob.ask("release", name)
    want(play.group.soon(key, 0), "the key is still there after bob's release")
    return woke_ms


@scenario("extend", needs=("extend",))
def extend(play):
    """An extended lock outlives its first TTL."""
    name, key = play.new_lock()
    acquire_everywhere(play, play.alice, name, key, 2 * SHORT_TTL_MS)
    want_yes(play.alice.ask("extend", name, TTL_MS), "alice extends")
    time.sleep(2 * SHORT_TTL_MS / 1000)
    want(play.group.holding(key) >= play.group.quorum, "the lock ended with its first TTL")
    want_refused(play.bob.ask("acquire", name, TTL_MS, 0), "bob gets the extended lock")
    play.alice.ask("release", name)
    want(play.group.soon(key, 0), "the key is still there after the release")


@scenario("expire")
def expire(play):
    """Nobody releases: bob gets it at the end of the TTL, and not before."""
    name, _ = play.new_lock()
    asked_at = time.monotonic()
    want_yes(play.alice.ask("acquire", name, SHORT_TTL_MS, 0), "alice acquires")
    want_yes(play.bob.ask("acquire", name, TTL_MS, WAIT_MS), "bob waits and acquires")
    waited_ms = (time.monotonic() - asked_at) * 1000
    want(waited_ms >= SHORT_TTL_MS, f"bob got it {waited_ms:.0f} ms after a TTL of {SHORT_TTL_MS}")
    play.bob.ask("release", name)


@scenario("wrong owner")
def wrong_owner(play):
    """A holder whose lock ran out can neither extend nor release that of the next one."""
    name, key = play.new_lock()
    want_yes(play.alice.ask("acquire", name, SHORT_TTL_MS, 0), "alice acquires")
    play.group.wait_until_gone(key)
    acquire_everywhere(play, play.bob, name, key, TTL_MS, WAIT_MS)
    if "extend" in play.alice.words:
        want_refused(play.alice.ask("extend", name, 3 * TTL_MS), "alice extends bob's lock")
    told = play.alice.ask("release", name)
    ttls_ms = play.group.ttls_ms(key)
    want(min(ttls_ms) > 0, f"alice released bob's lock: PTTL {ttls_ms}")
    want(max(ttls_ms) <= TTL_MS, f"alice extended bob's lock: PTTL {ttls_ms}")
    play.says["releasing a lost lock"] = told
    want_refused(play.alice.ask("acquire", name, TTL_MS, 0), "alice gets bob's lock")
    play.bob.ask("release", name)
    want(play.group.soon(key, 0), "the key is still there after bob's release")


@scenario("features")
def features(play):
    """What else the library offers: each word that its driver knows beyond the lock."""
    answers = {word: play.alice.ask(word) for word in play.alice.words if word not in LOCK_WORDS}
    failed = {word: answer for word, answer in answers.items() if not answer.yes}
    if failed and play.library.through_door:  # it serves locks; the page tells what it does not
        raise Refused(", ".join(failed))
    want(not failed, "; ".join(f"{word}: {answer}" for word, answer in failed.items()))


FEATURES = ALL[SERVING][-1]


@scenario("restart")
def restart(play):
    """Every node is stopped and started: the lock outlives it (rule R9)."""
    name, key = play.new_lock()
    acquire_everywhere(play, play.alice, name, key, LONG_TTL_MS)
    for node in play.group.nodes:
        want(node.stop() == 0, f"a node did not stop cleanly: {node.log()[-500:]}")
        node.start()
    want(play.group.holding(key) == len(play.group.nodes), "the lock did not outlive the restart")
    for contender in (play.alice, play.bob):
        play.reconnect(contender, len(play.group.nodes))
    want_refused(play.insist(play.bob, "acquire", name, TTL_MS, 0),
                 "bob gets a lock that alice holds")
    want(play.group.holding(key) == len(play.group.nodes), "bob's attempt took the lock away")
    if "extend" in play.alice.words:
        want_yes(play.insist(play.alice, "extend", name, LONG_TTL_MS), "alice extends")
    play.alice.ask("release", name)
    want(play.group.soon(key, 0), "the key is still there after the release")


@scenario("restart under way", nodes=5)
def restart_under_way(play):
    """The same while both go on: the lock is never lost, and the other four always suffice."""
    name, key = play.new_lock()
    acquire_everywhere(play, play.alice, name, key, LONG_TTL_MS)
    for node in play.group.nodes:
        node.stop()
        play.reconnect(play.alice, 4)
        want_refused(play.bob.ask("acquire", name, TTL_MS, 0), "bob gets a lock that alice holds")
        node.start()
    want(play.group.holding(key) == 5, "the lock did not outlive the restarts")
    play.reconnect(play.alice, 5)
    play.alice.ask("release", name)
    want(play.group.soon(key, 0), "the key is still there after the release")


@scenario("crash")
def crash(play):
    """kill -9 of every node and a start: nobody gets the lock before it would have run out."""
    name, _ = play.new_lock()
    play.group.wait_until_idle()
    time.sleep(FORGOTTEN_S)
    # After the restarts before, a library may still find a connection of its own broken: rueidis
    # has several and chooses by the key.
    want_yes(play.insist(play.alice, "acquire", name, CRASH_TTL_MS, 0), "alice acquires")
    asked_at = play.alice.asked_at
    play.group.kill_all()
    for node in play.group.nodes:
        node.start()
    end = asked_at + WAIT_MS / 1000
    while not (told := play.bob.ask("acquire", name, TTL_MS, 0)).yes:
        want(time.monotonic() < end, f"bob never gets the lock after the crash: {told}")
        time.sleep(0.02)
    waited_ms = (time.monotonic() - asked_at) * 1000
    want(waited_ms >= CRASH_TTL_MS, f"bob got the lock that alice still held: {waited_ms:.0f} ms")
    play.bob.ask("release", name)


# --- one node grants nothing ---


@scenario("recovering", act=RECOVERING, nodes=5)
def one_recovering(play):
    """The other four are enough, and the one that recovers costs no time."""
    name, key = play.new_lock()
    want_yes(play.alice.ask("acquire", name, TTL_MS, 0), "alice acquires from four nodes")
    want(play.group.soon(key, 4), "not just the four that serve hold the lock")
    want_refused(play.bob.ask("acquire", name, TTL_MS, 0), "bob gets a lock that alice holds")
    if "extend" in play.alice.words:
        want_yes(play.alice.ask("extend", name, TTL_MS), "alice extends at four nodes")
    play.alice.ask("release", name)
    want(play.group.soon(key, 0), "the key is still there after the release")
    play.measure("recovering_ms")
    stall_ms = play.figures["recovering_ms"] - play.figures.get("healthy_ms", 0)
    if "recovering" not in play.library.stalls:
        want(stall_ms <= STALL_MS_MAX, f"one recovering node costs {stall_ms:.0f} ms")


@scenario("recovering", act=RECOVERING, nodes=1)
def the_only_one_recovering(play):
    """The node refuses, and its user is told why; no library keeps trying behind his back."""
    name, key = play.new_lock()
    told = want_refused(play.alice.ask("acquire", name, TTL_MS, 0), "a recovering node grants")
    want(play.group.soon(key, 0), "a recovering node holds a key")
    play.says["a recovering node"] = told
    if play.library.tells_errors:
        want("recovering after a restart" in told.text, f"its user is not told why: {told}")
    if "recovering" not in play.library.stalls:
        want(told.took_ms <= STALL_MS_MAX, f"the refusal took {told.took_ms:.0f} ms")


# --- nodes are gone, or the front door ---


@scenario("two stopped", act=DOWN, door=True)
def two_stopped(play):
    """Two nodes hang: their ports accept, and nobody answers. Nothing happens."""
    play.group.stop_from(3)
    name, key = play.new_lock()
    want_yes(play.alice.ask("acquire", name, TTL_MS, 0), "alice acquires")
    want_refused(play.bob.ask("acquire", name, TTL_MS, 0), "bob gets a lock that alice holds")
    play.alice.ask("release", name)
    want_yes(play.bob.ask("acquire", name, TTL_MS, 0), "bob acquires after alice")
    play.bob.ask("release", name)
    play.group.proceed()
    play.group.wait_until_gone(key)


@scenario("three stopped", act=DOWN, door=True)
def three_stopped(play):
    """No quorum answers: nothing is granted, and who asks is told within the node timeout."""
    play.group.stop_from(2)
    name, key = play.new_lock()
    with harness.Client(play.group.door.port) as client:
        asked_at = time.monotonic()
        told = client("SET", name, "v", "NX", "PX", TTL_MS)
        took_ms = (time.monotonic() - asked_at) * 1000
    want("NOQUORUM" in str(getattr(told, "text", told)), f"without a quorum: {told}")
    want(took_ms <= NODE_TIMEOUT_MS + 100, f"to say so took {took_ms:.0f} ms")
    want_refused(play.alice.ask("acquire", name, TTL_MS, 0), "two nodes are no quorum")
    play.group.proceed()
    play.group.wait_until_gone(key)
    for contender in (play.alice, play.bob):
        play.reconnect(contender, 5)


@scenario("door killed", act=DOWN, door=True)
def door_killed(play):
    """kill -9 of the front door and a start: it knows nothing, and the lock is held even so."""
    name, key = play.new_lock()
    want_yes(play.alice.ask("acquire", name, LONG_TTL_MS, 0), "alice acquires")
    play.group.door.kill()
    play.group.door.start()
    for contender in (play.alice, play.bob):
        play.reconnect(contender, 5)
    want_refused(play.insist(play.bob, "acquire", name, TTL_MS, 0),
                 "bob gets a lock that alice holds")
    if "extend" in play.alice.words:
        want_yes(play.insist(play.alice, "extend", name, LONG_TTL_MS), "alice extends")
    play.insist(play.alice, "release", name)
    want(play.group.soon(key, 0), "the key is still there after the release")


@scenario("one down", act=DOWN, nodes=5)
def one_down(play):
    kill_and_acquire(play, 4, "one_down_ms")


@scenario("two down", act=DOWN, nodes=5)
def two_down(play):
    kill_and_acquire(play, 3, "two_down_ms")


@scenario("three down", act=DOWN, nodes=5)
def three_down(play):
    """No quorum is left: nothing is granted, and what two nodes took is undone."""
    play.group.kill_from(2)
    name, key = play.new_lock()
    told = want_refused(play.alice.ask("acquire", name, TTL_MS, 0), "two nodes are no quorum")
    play.says["three nodes down"] = told
    play.figures["three_down_ms"] = told.took_ms
    want(play.group.soon(key, 0), "what two nodes granted was not undone")


@scenario("one down", act=DOWN, nodes=1)
def the_only_one_down(play):
    """Its user is told; when the node is back, so is the library."""
    node, (name, key) = play.group.nodes[0], play.new_lock()
    want_yes(play.alice.ask("acquire", name, LONG_TTL_MS, 0), "alice acquires")
    node.stop()
    told = want_refused(play.bob.ask("acquire", name, TTL_MS, 0), "a node that is gone grants")
    play.says["the node down"] = told
    play.figures["one_down_ms"] = told.took_ms
    node.start()
    want(play.group.holding(key) == 1, "the lock did not outlive the restart")
    for contender in (play.alice, play.bob):
        play.reconnect(contender, 1)


def kill_and_acquire(play, left, figure):
    """The nodes beyond those that are left go; a quorum stays."""
    play.group.kill_from(left)
    for contender in (play.alice, play.bob):
        play.reconnect(contender, left)
    name, key = play.new_lock()
    want_yes(play.alice.ask("acquire", name, TTL_MS, 0), "alice acquires")
    want(play.group.soon(key, left), "some node did not grant")
    want_refused(play.bob.ask("acquire", name, TTL_MS, 0), "bob gets a lock that alice holds")
    play.alice.ask("release", name)
    want(play.group.soon(key, 0), "the key is still there after the release")
    play.measure(figure, repetitions=3)
