"""What a request costs: CPU of the server, side by side, in interleaved pairs.

A pair starts all servers anew on the same core and gives each the same work in turns. Every cycle
begins and ends with an empty table and asks for the same keys in another order each time, so that
it is known of every single step how many of its requests must hit: a run that served anything else
fails.
"""

from collections import defaultdict
from itertools import zip_longest

import noise
from load import Load, encoded_size, must_have_hit, put
from servers import ROOT, BareServer, Server, progress

TTL_MS = "30000"
# Where locks shall outlast the next steps, on a busy machine too.
LONGER_MS = "60000"
NODE_OPTIONS = ["--max-ttl", "1h"]
KEYS = 1_000_000
# As no library words them, to a letter: Lua runs them.
RELEASE = ("if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) "
           "else return 0 end")
EXTEND = ("if redis.call('get',KEYS[1]) == ARGV[1] then "
          "return redis.call('pexpire',KEYS[1],ARGV[2]) else return 0 end")
# As libraries do: they are known, and run without Lua.
KNOWN = ROOT / "lua/scripts/known"
KNOWN_RELEASE = (KNOWN / "redis_docs_release.lua").read_text()
KNOWN_EXTEND = (KNOWN / "redislock_refresh.lua").read_text()

SET = ["SET", "{key}", "{value}", "NX", "PX", TTL_MS]
GET = ["GET", "{key}"]
DEL = ["DEL", "{key}"]
PEXPIRE = ["PEXPIRE", "{key}", LONGER_MS]
# What is not measured between the steps: all keys are held, for long.
HOLD = ["SET", "{key}", "{value}", "PX", "600000"]

# What the bare server answers to each.
BARE_REPLIES = {"SET NX PX": r"+OK\r\n", "GET": r"$40\r\n" + "v" * 40 + r"\r\n",
                "DEL": r":1\r\n", "PEXPIRE": r":1\r\n"}
BARE_COMMANDS = {"SET NX PX": SET, "GET": GET, "DEL": DEL, "PEXPIRE": PEXPIRE}


class Step:
    """One kind of request. expected: how many of its rounds hit, "all" or each key once."""

    def __init__(self, name, command, expected, measured=True):
        self.name, self.command, self.expected, self.measured = name, command, expected, measured


def hold():
    return Step("hold", HOLD, "all", measured=False)


def plain_cycle():
    return [Step("SET NX PX", SET, "distinct"), hold(), Step("GET", GET, "all"),
            Step("PEXPIRE", PEXPIRE, "all"), Step("DEL", DEL, "distinct")]


def script_cycle(server, release_body, extend_body, what=""):
    one_key = ["1", "{key}", "{value}"]
    release = server.cli("SCRIPT", "LOAD", release_body)
    extend = server.cli("SCRIPT", "LOAD", extend_body)
    return [hold(),
            Step(f"EVAL {what}extend", ["EVAL", extend_body, *one_key, LONGER_MS], "all"),
            Step(f"EVALSHA {what}extend", ["EVALSHA", extend, *one_key, LONGER_MS], "all"),
            Step(f"EVAL {what}release", ["EVAL", release_body, *one_key], "distinct"), hold(),
            Step(f"EVALSHA {what}release", ["EVALSHA", release, *one_key], "distinct")]


def pair_cycle(server):
    """A lock taken and given back, the best way each server knows."""
    if server.program.is_node:
        command = ["LOCK.ACQUIRE", "{key}", "{value}", "PX", TTL_MS,
                   "THEN", "LOCK.RELEASE", "{key}", "{value}"]
    else:
        release = server.cli("SCRIPT", "LOAD", RELEASE)
        command = [*SET, "THEN", "EVALSHA", release, "1", "{key}", "{value}"]
    return [Step("acquire + release", command, "all")]


class Side:
    """A server in a pair: where each kind of request goes, and what it is."""

    def __init__(self, name, server):
        self.name, self.server, self.is_bare = name, server, name == "bare"

    def cycle(self, with_scripts):
        steps = plain_cycle()
        if with_scripts and not self.is_bare:
            steps += script_cycle(self.server, RELEASE, EXTEND)
            steps += script_cycle(self.server, KNOWN_RELEASE, KNOWN_EXTEND, "known ")
            steps += pair_cycle(self.server)
        return steps

    def measure(self, step, pipeline, rounds, order, core):
        options = {"once": True} if step.name == "acquire + release" else {}
        load = Load(step.command, rounds, pipeline, keys=KEYS, order=order, **options)
        port = self.server.ports[step.name] if self.is_bare else self.server.port
        answered = put(load, port, self.server.pid, core)
        must_have_hit(answered, "all" if self.is_bare else step.expected, load, self.server)
        return answered.cpu_ns


class Requests:
    """Samples of all sides: .samples[name, pipeline] = [{side: ns of one request} of each pair]."""

    def __init__(self, programs, cores):
        self.programs, self.cores = programs, cores
        self.samples = defaultdict(list)
        self.noise = defaultdict(list)  # the same keys: the part of the machine that others took

    def services(self):
        return {name: (encoded_size(command), BARE_REPLIES[name])
                for name, command in BARE_COMMANDS.items()}

    def servers(self, names):
        for name in names:
            if name == "bare":
                yield BareServer(self.programs[name], self.cores[0], self.services())
            else:
                options = NODE_OPTIONS if name == "node" else []
                yield Server(self.programs[name], self.cores[0], options)

    def pair(self, names, pipeline, rounds, turn, with_scripts=False):
        """One pair (or three of them): each step at each side, before the next step."""
        sides, servers = [], list(self.servers(names))
        try:
            for name, server in zip(names, servers):
                sides.append(Side(name, server.__enter__()))
            cycles = [side.cycle(with_scripts) for side in sides]
            for number, steps in enumerate(zip_longest(*cycles)):
                asked = [(side, step) for side, step in zip(sides, steps)
                         if step is not None and (step.measured or not side.is_bare)]
                self.step(asked if turn % 2 == 0 else asked[::-1], pipeline, rounds, number + 1)
        finally:
            for side in sides:
                side.server.__exit__()

    def step(self, asked, pipeline, rounds, order):
        with noise.Watch([side.server for side, _ in asked]) as watch:
            cost = {side.name: side.measure(step, pipeline, rounds, order, self.cores[1])
                    for side, step in asked}
        step = asked[0][1]
        if step.measured:
            self.samples[step.name, pipeline].append(cost)
            self.noise[step.name, pipeline].append(watch.others)

    def pairs(self, count, names, pipeline, rounds, with_scripts=False):
        for turn in range(count):
            progress(f"requests at pipeline {pipeline}: pair {turn + 1} of {count}")
            self.pair(names, pipeline, rounds, turn, with_scripts)
