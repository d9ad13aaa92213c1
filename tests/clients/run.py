#!/usr/bin/env python3
"""Tries every lock library against real nodes: ./dev clients [NAME...] [--write] [--all].

NAME is a language or a library. Exit 0: all that could be tried passed. Exit 1: a library failed,
docs/clients.md says otherwise (--write writes it), or more than two libraries were skipped because
their registry did not answer. --all: a language whose tools are missing is a failure too.
Results go to build/clients/results.json, what drivers and nodes said to build/clients/runs/.
"""

import argparse
import concurrent.futures
import json
import os
import shutil
import signal
import sys
import threading
import time

import page
import play
import tokens
from library import PLACES, Broken, Unreachable, fetch, missing_tools, suites

UNREACHABLE_MAX = 2
FETCHES_AT_ONCE = 4
PLAYS_AT_ONCE = 2

_telling = threading.Lock()


def tell(text):
    with _telling:
        print(f"clients: {text}", flush=True)


def arguments():
    parser = argparse.ArgumentParser(prog="./dev clients", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--write", action="store_true", help="write the tables of docs/clients.md")
    parser.add_argument("--door", action="store_true",
                        help="each over a front door in place of its nodes")
    parser.add_argument("--all", action="store_true", help="missing tools are a failure")
    parser.add_argument("--list", action="store_true", help="name the libraries and end")
    return parser.parse_args()


def libraries():
    return [library for suite in suites() for library in suite.LIBRARIES]


def chosen(names):
    for name in names:
        if not any(library.is_named(name) for library in libraries()):
            sys.exit(f"clients: there is no '{name}'; ./dev clients --list names all")
    return [library for library in libraries()
            if not names or any(library.is_named(name) for name in names)]


def without_tools(wanted):
    """{language: the tools that are missing} of the libraries that are wanted."""
    return {suite.LANGUAGE: missing for suite in suites()
            if (missing := missing_tools(suite))
            and any(library in wanted for library in suite.LIBRARIES)}


def ready(library):
    """None, or the result of a library that cannot be tried."""
    try:
        fetch(library)
    except Unreachable as error:
        return {"status": "skipped", "why": f"its registry did not answer: {error}"}
    except Broken as error:
        return {"status": "failed", "why": f"cannot be installed: {error}"}
    return None


def try_library(library, fetched):
    """Its result, as soon as its package is there. Two with one package are fetched once."""
    result = fetched.result()
    if result is None:
        runs = "door-runs" if library.through_door else "runs"
        folder = PLACES / runs / library.title.replace("/", "-").replace(" ", "-")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        started = time.monotonic()
        result = (play.unusable if library.unusable else play.library)(library, folder)
        result["seconds"] = round(time.monotonic() - started, 1)
    tell(f"{library.language}: {library.title}: {result['status']}"
         + "".join(f"\n    {line}" for line in complaints(result)))
    return result


def complaints(result):
    if result["status"] in ("failed", "skipped") and "why" in result:
        yield result["why"]
    for name, scene in result.get("scenarios", {}).items():
        if scene["status"] == "failed":
            yield f"{name}: {scene['why']}"


def try_all(wanted):
    """{title: result}"""
    with (concurrent.futures.ThreadPoolExecutor(FETCHES_AT_ONCE) as fetchers,
          concurrent.futures.ThreadPoolExecutor(PLAYS_AT_ONCE) as players):
        fetched = {}
        for library in wanted:
            if library.place not in fetched:
                fetched[library.place] = fetchers.submit(ready, library)
        tried = {library.title: players.submit(try_library, library, fetched[library.place])
                 for library in wanted}
        return {title: future.result() for title, future in tried.items()}


def tokens_wrong(results):
    """Sentences about the programs of docs/tokens.md whose libraries are there."""
    for language, (title, _) in tokens.PROGRAMS.items():
        if results.get(title, {}).get("status") != "passed":
            continue
        folder = PLACES / "runs" / f"tokens-{language}"
        shutil.rmtree(folder, ignore_errors=True)
        wrong = tokens.wrong(language, folder)
        tell(f"{language}: a token through a front door: {wrong or 'passed'}")
        if wrong:
            yield f"docs/tokens.md in {language}: {wrong}"


def verdict(results, missing, must_all):
    """Sentences about what is wrong with the run as a whole."""
    skipped = [title for title, result in results.items() if result["status"] == "skipped"]
    failed = [title for title, result in results.items() if result["status"] == "failed"]
    if failed:
        yield "failed: " + "; ".join(failed)
    if len(skipped) > UNREACHABLE_MAX:
        yield f"{len(skipped)} libraries skipped, at most {UNREACHABLE_MAX}: " + "; ".join(skipped)
    if missing and must_all:
        yield "tools are missing: " + "; ".join(sorted(missing))


def settle_page(results, write, door):
    """Writes the page, or says where it differs."""
    # Of one that could not be tried the page keeps what it says.
    told = {title: result for title, result in results.items() if "scenarios" in result}
    text = page.PAGE.read_text()
    if write:
        updated = page.updated(text, libraries(), told, door)
        page.PAGE.write_text(page.with_tables(updated, suites()))
        return
    differing = page.in_step(text, libraries(), told, door)
    if page.with_tables(text, suites()) != text:
        differing.append("the tables of " + ", ".join(
            suite.LANGUAGE for suite in suites() if page.with_tables(text, [suite]) != text))
    if differing:
        yield "docs/clients.md says otherwise; ./dev clients --write writes:"
        yield from differing


def leave(*_):
    """Ctrl-C, or asked to end: the nodes and drivers of every play go first."""
    play.end_all()
    os._exit(1)


def main():
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)
    options = arguments()
    wanted = chosen(options.names)
    if options.list:
        print("\n".join(f"{library.language}: {library.title}" for library in wanted))
        return
    missing = without_tools(wanted)
    for language, tools in missing.items():
        tell(f"{language} skipped: no {', '.join(tools)} here")
    started = time.monotonic()
    if options.door:
        wanted = [library.behind_a_door() for library in wanted if not library.unusable]
    results = try_all([library for library in wanted if library.language not in missing])
    PLACES.mkdir(parents=True, exist_ok=True)
    name = "results-door.json" if options.door else "results.json"
    (PLACES / name).write_text(json.dumps(results, indent=1) + "\n")
    wrong = [*verdict(results, missing, options.all)]
    if not options.door:
        wrong += tokens_wrong(results)
    wrong += settle_page(results, options.write, options.door)
    for sentence in wrong:
        tell(sentence)
    counts = [sum(result["status"] in words for result in results.values())
              for words in (("passed", "does not work"), ("failed",), ("skipped",))]
    tell(f"{time.monotonic() - started:.0f} s; results in build/clients/{name}")
    print("clients: {} passed, {} failed, {} skipped".format(*counts))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
