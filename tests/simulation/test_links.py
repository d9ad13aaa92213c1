"""The simulator runs the code that ships: it links the very archives that the programs link, and
compiles nothing of theirs. Read from the link lines of a build: test_links.py BUILD-FOLDER."""

import pathlib
import re
import sys

# What a node and a coordinator are made of, but for their shells.
CORE = {"base/libredlock_base.a", "protocol/resp/libredlock_resp.a",
        "protocol/session/libredlock_session.a", "lua/engine/libredlock_lua.a",
        "server/locks/libredlock_locks.a", "server/recovery/libredlock_recovery.a",
        "server/node/libredlock_node.a", "server/commands/libredlock_node_commands.a",
        "coordinator/quorum/libredlock_quorum.a", "coordinator/link/libredlock_link.a",
        "coordinator/group/libredlock_group.a"}
OWN = "tests/simulation/"
# Several of its own sources at once, where nothing is compiled for a second time.
UNITY = r"/tests/simulation/CMakeFiles/redlock_simulation\.dir/Unity/unity_\d+_cxx\.cxx$"
# Ships with `redlock serve`, and nothing else links it.
DOOR = "coordinator/front_door/libredlock_front_door.a"


def link_inputs(ninja, program):
    """What ninja's build line of a program names: objects and archives."""
    line = re.search(rf"^build {re.escape(program)}: CXX_EXECUTABLE_LINKER\S+ (.*)$", ninja, re.M)
    return set(line.group(1).split("||")[0].replace("|", " ").split()) if line else set()


def link_options(ninja, program):
    """What the linker is told for it; under sanitizers every program has theirs."""
    block = re.search(rf"^build {re.escape(program)}: .*?(?=^build )", ninja, re.M | re.S)
    found = re.search(r"^ +LINK_FLAGS = (.*)$", block.group(), re.M)
    return set(found.group(1).split()) if found else set()


def complaints(ninja):
    simulator = link_inputs(ninja, "redlock-sim")
    shipped = link_inputs(ninja, "redlock-node") | link_inputs(ninja, "redlock")
    for archive in sorted(CORE - simulator):
        yield f"redlock-sim does not link {archive}"
    for archive in sorted(CORE - shipped):
        yield f"no program links {archive}: is it what ships?"
    for other in sorted(simulator - shipped - {DOOR}):
        if not other.startswith(OWN) or other.startswith(OWN + "broken/"):
            yield f"redlock-sim links {other}, which is neither its own nor what ships"
    objects = re.findall(r"^build (tests/simulation/(?!broken)\S+\.o): CXX_COMPILER\S+ (\S+)",
                         ninja, re.M)
    if not objects:
        yield "no object of the simulator is built"
    for built, source in objects:
        if not re.search(rf"/tests/simulation/(doors/)?[^/]+\.cpp$|{UNITY}", source):
            yield f"{built} is compiled from {source}"
    for option in sorted(link_options(ninja, "redlock-sim") - link_options(ninja, "redlock-node")):
        yield f"redlock-sim is linked with an option of its own: {option}"


ARCHIVES = " ".join(sorted(CORE))
GOOD = f"""build redlock-sim: CXX_EXECUTABLE_LINKER__sim tests/simulation/main.o | {ARCHIVES} || x
  FLAGS = -O2
build redlock-node: CXX_EXECUTABLE_LINKER__node server/main.o | {ARCHIVES} || x
  LINK_FLAGS = -static-libgcc
build tests/simulation/host.cpp.o: CXX_COMPILER__sim /src/tests/simulation/host.cpp || x
build end: phony
"""
BAD = [GOOD.replace("server/node/libredlock_node.a", "tests/node.a", 1),
       GOOD.replace("/src/tests/simulation/host.cpp", "/src/server/node/node.cpp"),
       GOOD.replace("tests/simulation/main.o", "tests/simulation/main.o server/decide.o"),
       GOOD.replace("  FLAGS = -O2", "  LINK_FLAGS = -Wl,--wrap=decide"),
       GOOD.replace("build tests/simulation/host", "build tests/other/host")]


def main():
    if list(complaints(GOOD)):
        sys.exit(f"the check refuses what is good: {list(complaints(GOOD))}")
    for bad in BAD:
        if not list(complaints(bad)):
            sys.exit(f"the check accepts what is bad:\n{bad}")
    found = list(complaints((pathlib.Path(sys.argv[1]) / "build.ninja").read_text()))
    if found:
        sys.exit("\n".join(found))


main()
