"""Requests by the load generator: what a server spends on each, with every answer counted.

A placeholder is {key} (17 bytes), {value} (40 bytes, the key's own) or {deadline}: see
request_template.h. Several commands for one key, a round, are joined by the word THEN.
"""

import json
import subprocess
import sys

from servers import BUILD, fail

GENERATOR = BUILD / "load_generator"
CONNECTIONS = 50
PLACEHOLDERS = {"{key}": "lock:" + "0" * 12, "{value}": "v" * 40, "{deadline}": "0" * 13}


def encoded_size(command):
    """Bytes of one request, which are the same for every key."""
    size = len(f"*{len(command)}\r\n")
    for word in command:
        for name, example in PLACEHOLDERS.items():
            word = word.replace(name, example)
        size += len(f"${len(word)}\r\n") + len(word) + 2
    return size


class Load:
    """What one run of the generator is asked to do."""

    def __init__(self, command, rounds, pipeline=64, connections=CONNECTIONS, **options):
        self.command = [str(word) for word in command]
        self.rounds, self.pipeline, self.connections = rounds, pipeline, connections
        self.options = options  # further options of the generator, as keywords

    def words(self, port, pid):
        words = [GENERATOR, "--port", port, "--pid", pid, "--rounds", self.rounds,
                 "--pipeline", self.pipeline, "--connections", self.connections]
        for name, value in self.options.items():
            name = "--" + name.replace("_", "-")
            words += [name] if value is True else [name, value]
        return [str(word) for word in [*words, "--", *self.command]]


class Answered:
    """What came of it."""

    def __init__(self, told):
        self.rounds = told["rounds"]
        self.distinct_keys = told["distinct_keys"]
        self.seconds = told["seconds"]
        self.cpu_ns = told["server_cpu_ns"] / told["rounds"]
        self.hits = [command["hits"] for command in told["replies"]]


def put(load, port, pid, core):
    """Runs a load from a core; ends the whole benchmark if the server did not serve it."""
    done = subprocess.run(["taskset", "-c", str(core), *load.words(port, pid)], text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        fail(f"{' '.join(load.command)}: {done.stderr.strip()}")
    return Answered(json.loads(done.stdout))


def must_have_hit(answered, expected, load, server):
    """A run that hit anything but what was planned measured something else."""
    wanted = {"all": answered.rounds, "distinct": answered.distinct_keys}[expected]
    for hits in answered.hits:
        if hits != wanted:
            print(f"{load.command}: {hits} hits of {answered.rounds}, not {wanted}",
                  file=sys.stderr)
            fail(f"{server.program} did not serve what it was asked; did locks run out under a "
                 "machine so busy that a run took their TTL?")
