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
    "server/ledger_file.*",
    "server/posix_file.*",
    "server/state_folder.*",
    "server/embedded_node.*",
    "server/include/redlock/embedded_node.h",
    "server/node_run.*",
    "server/node_server.*",
    "server/process_inspector.*",
    "server/script_watchdog.*",
    "server/supervisor.*",
    "coordinator/main.cpp",
    "coordinator/command_line*",
    "coordinator/word*",
    "coordinator/node_report.*",
    "coordinator/client.cpp",
    "coordinator/client_core.*",
    "coordinator/guard.cpp",
    "coordinator/guard_keeping.*",
    "coordinator/mutex.cpp",
    "coordinator/several_guards.*",
    "coordinator/lock_client.*",
    "coordinator/node_address.*",
    "coordinator/node_link.*",
    "coordinator/*process*",
    "coordinator/guarded_command.*",
    "coordinator/job_terminal.*",
    "coordinator/local_*",
    "coordinator/drill/client_process.*",
    "coordinator/drill/clients_at_work.*",
    "coordinator/drill/clock.*",
    "coordinator/drill/folder.*",
    "coordinator/drill/history_file.*",
    "coordinator/drill/namespaces.*",
    "coordinator/drill/network.*",
    "coordinator/drill/node_watch.*",
    "coordinator/drill/nodes.*",
    "coordinator/drill/nodes_at_work.*",
    "coordinator/drill/own_network.*",
    "coordinator/drill/partition.*",
    "coordinator/drill/planned_drill.*",
    "coordinator/drill/progress.*",
    "coordinator/drill/recorder.*",
    "coordinator/drill/relay.*",
    "coordinator/drill/report.*",
    "coordinator/drill/restart.*",
    "coordinator/drill/stage.*",
    "coordinator/drill/store.*",
    "coordinator/drill/store_link.*",
    "coordinator/drill/surroundings.*",
    "coordinator/drill/verdict.*",
    "coordinator/drill/wall_clocks.*",
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
    return any(fnmatch(path, pattern) for pattern in SHELLS)


def is_pure(path):
    return room(path) is not None and not is_shell(path)
