"""The house as the tidy test knows it: what may stand where. A new shell gets its line here."""

from fnmatch import fnmatch

# The picture of docs/architecture.md: a room may include itself and what is named here.
ROOMS = {
    "base": set(),
    "protocol": {"base"},
    "lua": {"protocol", "base"},
    "server": {"lua", "protocol", "base"},
    "coordinator": {"lua", "protocol", "base"},
}

# Memory of their own from the system, as malloc has: no effect outside the process, so still pure.
HAVE_MEMORY_MAPPED = ["base/block_pool.cpp"]

# The shells: the only files that may know libuv, clocks, files, processes and the environment.
# All others are pure: time and randomness come in as arguments, replies go out as values.
SHELLS = [
    "base/net/*",
    "server/main.cpp",
    "server/embedded_node.*",
    "server/include/redlock/embedded_node.h",
    "server/shell/*",
    "coordinator/main.cpp",
    "coordinator/client/*",
    "coordinator/process/*",
    "coordinator/cli/*",
    "coordinator/commands/*",
    "coordinator/drill/planned_drill.*",
    "coordinator/drill/report.*",
    "coordinator/drill/restart.*",
    "coordinator/drill/verdict.*",
    "coordinator/drill/world/*",
    "coordinator/drill/surroundings/*",
]

# Pure all the same: what a shell's room keeps beside it.
PURE_IN_SHELLS = [
    "server/shell/turn_input.h",
    "coordinator/cli/counter_report.*",
    "coordinator/cli/exit_code.h",
    "coordinator/cli/settings_file.*",
    "coordinator/cli/shell_lines.*",
]

# Pure but for one thing that it is there for.
EXCUSED = {
    "base/invariant.cpp": "a broken invariant is told on standard error",
    "coordinator/include/redlock/mutex.h": "try_lock_until asks the clock of its caller's instant",
}

# What may stand at the top besides files whose names begin with a dot.
TOP_LEVEL = {*ROOMS, "config", "tests", "docs", "dev", "CMakeLists.txt", "CMakePresets.json",
             "README.md", "LICENSE"}

COLUMNS_MAX = 100
FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70


def room(path):
    """The room that a path stands in, or None: tests, docs and the top level are none."""
    top = path.split("/")[0]
    return top if top in ROOMS and "/" in path else None


def is_shell(path):
    def stands_in(patterns):
        return any(fnmatch(path, pattern) for pattern in patterns)
    return stands_in(SHELLS) and not stands_in(PURE_IN_SHELLS)


def is_pure(path):
    return room(path) is not None and not is_shell(path)
