"""The programs of docs/tokens.md, "From any language": each takes a lock at a front door over five
nodes with the library of its language, and writes under the lock's token to a store that checks it.

    tokens.wrong("Python", folder)      # None, or what went wrong
"""

import os
import pathlib
import re
import socket
import subprocess
import sys
import urllib.request

from group import DoorGroup, harness
from library import PLACES, ROOT, cache_environment

sys.path.insert(0, str(ROOT / "tests/process"))

from ports import reserve_ports  # noqa: E402

EXAMPLES = ROOT / "docs/examples/tokens"
LIMIT_S = 60


def _go(folder):
    """The module of the drivers has the version of the library."""
    program = folder / "report"
    subprocess.run(["env", "GOPROXY=off", "GOTOOLCHAIN=auto", "GOWORK=off", "go", "build", "-C",
                    ROOT / "tests/clients/go", "-o", program, EXAMPLES / "report.go"],
                   env={**os.environ, **cache_environment()}, check=True, timeout=300)
    return [program], {}


# By language: the library that has to be there, and what runs its program.
PROGRAMS = {
    "Python": ("redis-py 8.1.0: Lock", lambda folder: (
        [sys.executable, EXAMPLES / "report.py"], {"PYTHONPATH": PLACES / "python/redis-8"})),
    "Node.js": ("node-redis 6.3.1: single-node recipe, RESP3", lambda folder: (
        ["node", EXAMPLES / "report.js"],
        {"NODE_PATH": PLACES / "javascript/node-redis/node_modules"})),
    "Go": ("go-redis 9.23.0: single-node recipe, RESP3", _go),
    "Java": ("Jedis 8.0.2: single-node recipe, RESP3", lambda folder: (
        ["java", "-cp", f"{PLACES}/java/jedis/lib/*", EXAMPLES / "Report.java"], {})),
}


class Store:
    """docs/examples/tokens/object_store.py at work."""

    def __init__(self):
        [self.port] = reserve_ports(1)
        self.url = f"http://127.0.0.1:{self.port}/report"
        self.process = subprocess.Popen(
            [sys.executable, EXAMPLES / "object_store.py", "serve", str(self.port)],
            stderr=subprocess.DEVNULL)
        if not harness.eventually(self._listens):
            self.end()
            raise AssertionError("no object store")

    def _listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), LIMIT_S).close()
            return True
        except OSError:
            return False

    def put(self, text, token):
        return subprocess.run(
            [sys.executable, EXAMPLES / "object_store.py", "put", self.url, text],
            env={**os.environ, "REDLOCK_TOKEN": str(token)}, capture_output=True, text=True,
            timeout=LIMIT_S)

    def text(self):
        with urllib.request.urlopen(self.url, timeout=LIMIT_S) as answer:
            return answer.read().decode()

    def end(self):
        self.process.kill()
        self.process.wait()


def _written(command, environment, group, store, text):
    """The token that the program says it wrote under."""
    done = subprocess.run([*map(str, command), str(group.door.port), store.url, text],
                          env={**os.environ, **{k: str(v) for k, v in environment.items()}},
                          capture_output=True, text=True, timeout=LIMIT_S)
    told = re.search(r"^written under token (\d+)$", done.stdout, re.MULTILINE)
    if done.returncode != 0 or told is None:
        raise AssertionError(f"exit {done.returncode}: {done.stdout}{done.stderr}")
    if store.text() != text:
        raise AssertionError(f"the store has {store.text()!r}, not {text!r}")
    return int(told[1])


def _play(language, folder):
    command, environment = PROGRAMS[language][1](folder)
    group = DoorGroup(folder)
    running = [group]
    try:
        group.start()
        running.append(store := Store())
        first = _written(command, environment, group, store, "the first")
        group.kill_from(3)  # a quorum is left
        second = _written(command, environment, group, store, "the second")
        if second <= first:
            raise AssertionError(f"token {second} after {first}")
        late = store.put("too late", first)
        if late.returncode == 0 or store.text() != "the second":
            raise AssertionError(f"a write with token {first} after {second}: {late.stdout}")
        group.wait_until_gone("report")
    finally:
        for each in reversed(running):
            each.end()


def _differing_page(language):
    """The page shows each program as it stands."""
    [path] = [path for path in EXAMPLES.glob("[Rr]eport.*")
              if path.suffix == {"Python": ".py", "Node.js": ".js", "Go": ".go",
                                 "Java": ".java"}[language]]
    if path.read_text() not in (ROOT / "docs/tokens.md").read_text():
        return f"docs/tokens.md does not show {path.name} as it stands"
    return None


def wrong(language, folder):
    """None, or what went wrong with the program of this language."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if differing := _differing_page(language):
        return differing
    try:
        _play(language, folder)
    except (AssertionError, subprocess.SubprocessError, OSError) as failure:
        return str(failure)
    return None
