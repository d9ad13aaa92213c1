"""What the two programs say of themselves: words, options and settings that a page must know."""

import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("REDLOCK_BUILD", ROOT / "build"))


def run(*command, **options):
    """Its standard output; what goes wrong is an error."""
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE,
                          text=True, **options).stdout


# Of a library's users; the first of them is there wherever these tests run.
COMPILERS = [name for name in ("g++", "clang++-14") if shutil.which(name)]


@contextlib.contextmanager
def five_nodes(folder):
    """Five nodes of a group, from here on until the block ends; their addresses, as one text."""
    for attempt in range(5):
        words = [BUILD / "redlock", "up", "--port", random.randrange(12000, 30000), "--json",
                 "--no-door", "--dir", pathlib.Path(folder, f"up-{attempt}"),
                 "--node-binary", BUILD / "redlock-node"]
        group = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, text=True,
                                 stderr=subprocess.DEVNULL)
        told = group.stdout.readline()
        if told:
            try:
                yield json.loads(told)["REDLOCK_NODES"]
            finally:
                group.terminate()
                group.communicate()
            return
        group.communicate()  # a port of its was in use
    raise AssertionError("no five nodes")


def redlock_help(*word):
    return run(BUILD / "redlock", *word, "--help")


def redlock_words(*word):
    """The words, or the drills of `drill`: the lines below "Subcommands:"."""
    section = redlock_help(*word).split("Subcommands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  ([a-z]+) ", section, re.M)


def redlock_commands():
    """All that has options of its own: [("run",), …, ("drill", "restart"), …]."""
    nested = [(word, part) for word in ("drill", "group") for part in redlock_words(word)]
    return [(word,) for word in redlock_words() if word != "drill"] + nested


def redlock_options(*word):
    """The options of a word, or of all words: {"--nodes", "-E", …}, long names where there are."""
    section = redlock_help(*word).split("Options:\n")[1].split("\n\n")[0]
    names = [re.split(r"[ ,]", line.strip()) for line in re.findall(r"^  (-\S+)", section, re.M)]
    return {max(each, key=len) for each in names}


def node_settings():
    """The names in redlock-node.conf, where each has a line that is switched off with a #."""
    text = (ROOT / "config/redlock-node.conf").read_text()
    return re.findall(r"^#([a-z][a-z-]*) \S", text, re.M)


def node_options():
    """The options in --help of redlock-node, most of them settings; --name stands for any."""
    text = run(BUILD / "redlock-node", "--help")
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) - {"--name"}
