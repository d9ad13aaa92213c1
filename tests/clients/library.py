"""A library as its language's suite.py describes it, and how its package is fetched.

A folder of a language holds suite.py with these names:

    LANGUAGE   what people call it
    TOOLS      the programs that must be there to run this language ("node", "npm")
    LIBRARIES  a list of Library
    too_old()  optional: what is there but too old, as text ("go 1.21 or newer")
    TABLES     optional: {name: rows} of further tables of docs/clients.md, heads first, which
               its drivers check

Packages go to build/clients/LANGUAGE/NAME and stay there: a second run asks no registry. A registry
that does not answer skips the library, by name; any other failure is one.
"""

import dataclasses
import functools
import hashlib
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = pathlib.Path(os.environ.get("REDLOCK_BUILD", ROOT / "build"))
PLACES = BUILD / "clients"

FETCH_LIMIT_S = 300
BUILD_LIMIT_S = 600

# What package clients say when nobody answers. A registry's "no" (no such version) is none of it.
_NO_ANSWER = re.compile(
    r"timed? ?out|ETIMEDOUT|ECONNRE|ENOTFOUND|EAI_AGAIN|temporary failure|resolve host"
    r"|connection (refused|reset|aborted|broken)|NewConnectionError|no route to host"
    r"|network is unreachable|TLS handshake|SSL connect error|unknown host|no such host"
    r"|could(n't| not) connect|failed to connect|server misbehaving"
    r"|\b(429|50[0234])\b (Too|Internal|Bad|Service|Gateway|Server)"
    r"|E(429|50[0234])\b|status code: 50", re.I)


class Unreachable(Exception):
    """A registry did not answer."""


class Broken(Exception):
    """A package could not be installed or built, although its registry answered."""


@dataclass(frozen=True)
class Fault:
    """What a library gets wrong by itself: seen as a failure that matches, told with its reason."""
    pattern: str
    reason: str

    def matches(self, failure):
        return re.search(self.pattern, failure, re.S) is not None


@dataclass(frozen=True)
class Library:
    language: str
    name: str               # as its registry calls it
    version: str
    tries: str              # what of it is tried: "Lock, asyncio"
    program: object         # contender.Program: starts its driver
    place: pathlib.Path     # where its package is
    nodes: int = 1          # over how many nodes it locks: 1 or 5
    through_door: bool = False  # they stand behind a front door, which is the one that it knows
    tls: bool = False       # its nodes speak TLS to it, and want to see a certificate
    takes_locks: bool = True  # if not, it is a tool of another kind: its features are tried
    key: str = "{}"         # the key of a lock's name
    fetch: tuple = ()       # commands that ask the registry, run in `place`
    pins: tuple = ()        # files that say which versions: changed, they are fetched again
    build: tuple = ()       # commands that ask nobody, run in `place` after the fetch
    node_flags: tuple = ()  # settings that it needs
    tells_errors: bool = True                    # its user sees what the node said
    wakes_within_ms: int = None                  # it waits by pub/sub
    stalls: dict = field(default_factory=dict)   # scenario: why it may take its time
    faults: dict = field(default_factory=dict)   # scenario: Fault
    unusable: Fault = None                       # it does not work with a lock node at all
    no_door: Fault = None                        # it does not work with a front door
    know: str = ""                               # what its user should know

    def behind_a_door(self):
        """The same library, whose node or nodes are one front door over five."""
        return dataclasses.replace(self, nodes=5, through_door=True, stalls={})

    @property
    def title(self):
        return f"{self.name} {self.version}: {self.tries}"

    def is_named(self, name):
        return name.lower() in (self.language.lower(), self.name.lower(), self.title.lower())


def place(language, key):
    return PLACES / language / key


@functools.cache
def suites():
    """Those of all languages, in the order of their folders."""
    found = []
    for path in sorted(HERE.glob("*/suite.py")):
        spec = importlib.util.spec_from_file_location(f"suite_{path.parent.name}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found.append(module)
    return found


def missing_tools(suite):
    return [tool for tool in suite.TOOLS if shutil.which(tool) is None] or suite_too_old(suite)


def suite_too_old(suite):
    return suite.too_old() if hasattr(suite, "too_old") else []


def older(tool, say_version, least):
    """What is missing when this tool is older than (major, minor): a list of texts."""
    said = subprocess.run([tool, *say_version], capture_output=True, text=True).stdout
    found = re.search(r"(\d+)\.(\d+)", said)
    if found and (int(found[1]), int(found[2])) >= least:
        return []
    return [f"{tool} {least[0]}.{least[1]} or newer"]


# --- fetching ---


def fetch(library):
    """Installs and builds a library's package, unless it is there; raises Unreachable or Broken."""
    marker = library.place / ".ready"
    wanted = fingerprint(library)
    if marker.exists() and marker.read_text() == wanted:
        return
    library.place.mkdir(parents=True, exist_ok=True)
    marker.unlink(missing_ok=True)
    for command in library.fetch:
        run(command, library, FETCH_LIMIT_S, tell_unreachable)
    for command in library.build:
        run(command, library, BUILD_LIMIT_S, tell_broken)
    marker.write_text(wanted)


def fingerprint(library):
    digest = hashlib.sha256(repr((library.fetch, library.build)).encode())
    for path in library.pins:
        digest.update(pathlib.Path(path).read_bytes())
    return digest.hexdigest()


def run(command, library, limit_s, tell):
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, cwd=library.place, env={**os.environ, **cache_environment()},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=limit_s)
    except subprocess.TimeoutExpired:
        tell(f"{words[0]} timed out after {limit_s} s")
        return
    if done.returncode != 0:
        tell((done.stderr + done.stdout).strip() or f"{words[0]}: exit {done.returncode}")


def tell_unreachable(text):
    raise (Unreachable if _NO_ANSWER.search(text) else Broken)(last_lines(text))


def tell_broken(text):
    raise Broken(last_lines(text))


def last_lines(text):
    return " / ".join(line.strip() for line in text.splitlines()[-3:])


def cache_environment():
    """Every package client keeps what it downloads under build/clients/cache."""
    cache = PLACES / "cache"
    return {
        "PIP_CACHE_DIR": str(cache / "pip"),
        "PIP_ROOT_USER_ACTION": "ignore",
        "npm_config_cache": str(cache / "npm"),
        "npm_config_update_notifier": "false",
        "GOMODCACHE": str(cache / "go-modules"),
        "GOCACHE": str(cache / "go-build"),
        "GOFLAGS": "-modcacherw",  # or ./dev clean could not remove them
        "CARGO_HOME": str(cache / "cargo"),
        "MAVEN_OPTS": f"-Dmaven.repo.local={cache / 'maven'}",
    }
