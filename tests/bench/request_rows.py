"""The rows about single requests: which floors they have, and how many pairs each takes."""

from figures import ratio_row
from request_costs import Requests

PLAIN = ["SET NX PX", "GET", "DEL", "PEXPIRE"]
SCRIPTS = ["EVAL release", "EVALSHA release", "EVAL extend", "EVALSHA extend"]
KNOWN_SCRIPTS = ["EVAL known release", "EVALSHA known release", "EVAL known extend",
                 "EVALSHA known extend"]

# How many times fewer than Redis, by pipeline and request: (floor, aim).
FEWER = {
    64: {"SET NX PX": (4.0, 5.0), "GET": (3.5, 4.5), "DEL": (3.5, 4.5), "PEXPIRE": (3.5, 4.5),
         **{name: (3.0, 4.0) for name in SCRIPTS},
         **{name: (8.0, 10.0) for name in KNOWN_SCRIPTS}, "acquire + release": (5.0, 7.0)},
    16: {"SET NX PX": (2.3, 2.7), "GET": (1.8, 2.2), "DEL": (1.8, 2.2), "PEXPIRE": (1.8, 2.2)},
}
# At most so many times what the bare server spends, at pipeline 1.
OF_BARE = (1.10, 1.05)

NOTES = {"acquire + release": "LOCK.ACQUIRE + LOCK.RELEASE, against SET + EVALSHA"}

ALL = ["node", "redis", "bare"]


def rows(arguments):
    requests = Requests(arguments.programs, arguments.cores)
    quick, runs = arguments.quick, arguments.runs
    requests.pairs(runs or (3 if quick else 5), ALL, 64, 1_000_000, with_scripts=True)
    requests.pairs(runs or (3 if quick else 5), ALL, 16, 500_000 if quick else 1_000_000)
    # Redis is told once here: the limit is the bare server.
    requests.pairs(1, ALL, 1, 100_000)
    requests.pairs((runs or (5 if quick else 15)) - 1, ["node", "bare"], 1, 100_000)
    return fewer_rows(requests) + bare_rows(requests)


def fewer_rows(requests):
    found = []
    for pipeline, floors in FEWER.items():
        for name, (floor, aim) in floors.items():
            what = "cpu ns a pair" if "+" in name else "cpu ns"
            found.append(ratio_row(
                f"{name}, pipeline {pipeline}", what, requests.samples[name, pipeline], "node",
                "redis", "at least", floor, aim, requests.noise[name, pipeline],
                note=NOTES.get(name, "")))
    return found


def bare_rows(requests):
    return [ratio_row(f"{name}, pipeline 1", "cpu ns", requests.samples[name, 1], "node", "bare",
                      "at most", *OF_BARE, requests.noise[name, 1], redis="redis")
            for name in PLAIN]
