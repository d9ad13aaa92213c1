"""Plays all scenarios with one library, and tells what came of each.

    result = play.library(found, programs, folder)
    result["scenarios"]["contend"]["status"]     # passed, failed, known fault, not offered
"""

import itertools
import pathlib
import threading
import time

import scenarios
from contender import Contender, DriverError
from group import DoorGroup, Group, TlsDoorGroup, TlsGroup
from scenarios import ALL, REFUSAL, Failed, Refused, TTL_MS, want_yes

MAX_TTL = "10m"  # for one lock that outlives every attempt to reach a node that is gone
RUNNING = set()  # every Play that has processes
_leaving = threading.Event()


def end_all():
    """For whoever must leave at once: no node stays behind, whatever is started meanwhile."""
    _leaving.set()
    plays = list(RUNNING)
    for each in plays + plays:
        each.end()


def stop_if_leaving():
    """What is made anew after a failure is not, when the failure is that all ends."""
    if _leaving.is_set():
        threading.Event().wait()


class Play:
    """What a scenario is given: alice and bob, who use the library, and the nodes."""

    def __init__(self, library, folder, result, recovering=0):
        self.library = library
        self.folder = pathlib.Path(folder)
        self.figures = result["figures"]  # NAME_ms: how long it took
        self.says = result["says"]        # occasion: the answer that its user got
        self.names = itertools.count(1)
        self.contenders = []
        stop_if_leaving()
        flags = ("--max-ttl", MAX_TTL, *library.node_flags)
        if library.through_door:
            self.group = (TlsDoorGroup if library.tls else DoorGroup)(self.folder, *flags)
        else:
            self.group = (TlsGroup if library.tls else Group)(self.folder, library.nodes, *flags)
        RUNNING.add(self)
        try:
            self.group.start(recovering)
            self.alice, self.bob = self._contender("alice"), self._contender("bob")
        except BaseException:
            self.end()
            raise

    def _contender(self, name):
        log = self.folder / f"{name}-{len(list(self.folder.glob(name + '-*'))) + 1}.log"
        self.contenders.append(
            Contender(name, self.library.program, log, self.group.environment))
        want_yes(self.contenders[-1].open(self.group.addresses), "the library connects")
        return self.contenders[-1]

    def end(self):
        for contender in self.contenders:
            contender.end()
        self.group.end()
        RUNNING.discard(self)

    def new_lock(self):
        """A name that nobody used yet, and the key under which the library keeps it."""
        name = f"printer-{next(self.names)}"
        return name, self.key(name)

    def key(self, name):
        return self.library.key.format(name)

    def measure(self, figure, repetitions=scenarios.REPETITIONS):
        """The time that the quickest of some acquisitions of free locks took, under this name."""
        answers = []
        for _ in range(repetitions):
            name, _ = self.new_lock()
            answers.append(self.alice.ask("acquire", name, TTL_MS, 0))
            want_yes(answers[-1], "a free lock is acquired")
            self.alice.ask("release", name)
        self.figures[figure] = min(answer.took_ms for answer in answers)

    def reconnect(self, contender, nodes):
        """Until this contender gets a lock at so many nodes: connections broke, and some libraries
        tell their user so."""
        end = time.monotonic() + scenarios.RECONNECT_S
        while True:
            name, key = self.new_lock()
            answer = contender.ask("acquire", name, TTL_MS, 0)
            found = answer.yes and self.group.soon(key, nodes)
            if answer.yes:
                contender.ask("release", name)
            if found:
                return
            if answer.word == "error":
                self.says.setdefault("the first calls after a restart", answer)
            if time.monotonic() > end:
                raise Failed(f"{contender.name}: acquire after a restart: {answer}")
            time.sleep(scenarios.RETRY_S)

    def insist(self, contender, *words):
        """Asks again until the answer is no error: a library with several connections to a node
        finds each of them broken by itself, and reconnect() need not have met them all."""
        end = time.monotonic() + scenarios.RECONNECT_S
        while (answer := contender.ask(*words)).word == "error" and time.monotonic() < end:
            time.sleep(scenarios.RETRY_S)
        return answer


class Act:
    """The nodes and drivers of one act; made anew after a failure."""

    def __init__(self, library, folder, result, name):
        self.library, self.folder, self.result = library, folder, result
        self.recovering = 1 if name == scenarios.RECOVERING else 0
        self.play = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.renew()

    def renew(self):
        if self.play is not None:
            self.play.end()
            self.play = None

    def run(self, scene):
        """None, or why it failed."""
        try:
            if self.play is None:
                self.play = Play(self.library, self.folder, self.result, self.recovering)
            if not set(scene.needs) <= set(self.play.alice.words):
                return NOT_OFFERED
            scene.run(self.play)
        except Refused as refusal:
            self.renew()  # what it had begun is there
            return RefusedBy(refusal)
        except (Failed, DriverError, AssertionError) as failure:
            self.renew()
            text = str(failure) or type(failure).__name__
            return RefusedBy(text) if REFUSAL.search(text) else text
        return None


NOT_OFFERED = "not offered"


class RefusedBy(str):
    """What a front door does not do."""


def library(library, folder):
    """Plays everything with a library that is ready to run. The result, ready for JSON."""
    result = {"figures": {}, "says": {}, "scenarios": {}}
    for name, scenes in ALL.items():
        with Act(library, folder, result, name) as act:
            for scene in scenes:
                if scene.fits(library):
                    result["scenarios"][scene.name] = judge(library, scene.name, act.run(scene))
    result["says"] = {occasion: str(answer) for occasion, answer in result["says"].items()}
    passed = all(outcome["status"] != "failed" for outcome in result["scenarios"].values())
    result["status"] = "passed" if passed else "failed"
    if library.through_door and library.no_door:
        return not_behind_a_door(library, result)
    return result


def judge(library, name, failure):
    """A fault that is the library's own and known must be seen, or its line here is wrong."""
    if isinstance(failure, RefusedBy):
        return {"status": "refused", "why": str(failure)}
    fault = library.faults.get(name)
    if fault is None or (failure is None and library.through_door):  # a door mends some
        status = {None: "passed", NOT_OFFERED: NOT_OFFERED}.get(failure, "failed")
        return {"status": status, "why": failure or ""}
    if failure is None:
        return {"status": "failed", "why": f"passes: its fault is gone ({fault.reason})"}
    if not fault.matches(failure):
        return {"status": "failed", "why": failure}
    return {"status": "known fault", "why": fault.reason, "seen": failure}


def not_behind_a_door(library, result):
    """The result of a library that does not work with a front door: what is seen of it must be
    what its line tells."""
    seen = [scene["why"] for scene in result["scenarios"].values()
            if scene["status"] in ("failed", "refused")]
    if any(library.no_door.matches(failure) for failure in seen):
        return {**result, "status": "does not work", "why": library.no_door.reason}
    why = "; ".join(seen) or f"works: {library.no_door.reason} is no longer so"
    return {**result, "status": "failed", "why": why}


def unusable(library, folder):
    """A library that does not work with a lock node: the error that its user sees must be the one
    that the table tells."""
    result = {"figures": {}, "says": {}, "scenarios": {}}
    with Act(library, folder, result, scenarios.SERVING) as act:
        failure = act.run(ALL[scenarios.SERVING][0])
    seen = failure is not None and library.unusable.matches(failure)
    result["status"] = "does not work" if seen else "failed"
    result["why"] = failure or f"works: {library.unusable.reason} is no longer so"
    return result
