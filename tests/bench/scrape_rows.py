"""The row about a node that is watched: what ten scrapes a second of its metrics cost its clients.

A prober asks one question after another, in turn while nobody scrapes and while somebody does.
"""

import contextlib
import http.client
import threading
import time

import noise
from figures import ratio_row
from probing import Prober
from servers import Server, fail, progress, reserve_ports

SCRAPES_A_SECOND = 10


class Scraper:
    """Reads the page so often, as long as the `with` lasts; each time by a new connection."""

    def __init__(self, port):
        self.port = port
        self.ends = threading.Event()
        self.pages = 0

    def __enter__(self):
        self.thread = threading.Thread(target=self.scrape)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()

    def scrape(self):
        while not self.ends.wait(1 / SCRAPES_A_SECOND):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            connection.request("GET", "/metrics")
            self.pages += b"redlock_" in connection.getresponse().read()
            connection.close()


def rows(arguments):
    seconds = 2 if arguments.quick else 5
    runs = arguments.runs or (5 if arguments.quick else 9)
    pairs, others = [], []
    [metrics] = reserve_ports(1)
    with Server(arguments.programs["node"], arguments.cores[0],
                ["--metrics-port", str(metrics)]) as node:
        for run in range(runs):
            progress(f"a node that is scraped: run {run + 1}")
            with noise.Watch() as watch:
                pairs.append({side: p999_ms(node, arguments.cores[1], metrics, side, seconds)
                              for side in (("alone", "scraped"), ("scraped", "alone"))[run % 2]})
            others.append(watch.others)
    return [ratio_row(f"{SCRAPES_A_SECOND} scrapes a second: a prober's p99.9", "ms", pairs,
                      "scraped", "alone", "at most", 1.05, 1.02, others, by_wall_clock=True)]


def p999_ms(node, core, metrics, side, seconds):
    scraper = Scraper(metrics) if side == "scraped" else contextlib.nullcontext()
    with Prober(node.port, core) as prober, scraper:
        time.sleep(seconds)
    if side == "scraped" and scraper.pages < seconds * SCRAPES_A_SECOND / 2:
        fail(f"{scraper.pages} pages of metrics in {seconds} s: the machine is too busy")
    return prober.p999_ms
