"""The house as the tidy test knows it: what may stand where. A new shell gets its line here."""

from fnmatch import fnmatch

# The rooms of docs/architecture.md, from the ground up. A room is a folder with all that is below
# it but for rooms of their own; it may include itself and what is named here.
_NET = {"base", "base/net", "base/net/process", "base/net/turn", "base/net/sockets",
        "base/net/tls"}
_PROTOCOL = {"base", "protocol/resp", "protocol/catalogue", "protocol/access", "protocol/session"}
_LUA = {"base", "protocol/resp", "lua/scripts", "lua/library", "lua/engine"}
_NODE = {*_PROTOCOL, "server/locks", "server/settings", "server/recovery", "server/notify",
         "server/observe", "server/users", "server/grants", "server/group", "server/node"}
_GROUP = {"base", "protocol/resp", "coordinator/quorum", "coordinator/link", "coordinator/roster",
          "coordinator/group"}
_CLIENT = {*_NET, "coordinator/include", "coordinator/quorum", "coordinator/client"}
_DRILL = {"coordinator/drill/plan", "coordinator/drill/history", "coordinator/drill/timeline",
          "coordinator/drill/world", "coordinator/drill/changes", "coordinator/drill/surroundings",
          "coordinator/drill/clients", "coordinator/drill/doors", "coordinator/drill/runs"}
ROOMS = {
    "base": set(),
    "base/net/process": {"base"},
    "base/net/turn": {"base", "base/net/process"},
    "base/net/sockets": {"base", "base/net/process", "base/net/turn"},
    "base/net/tls": {"base", "base/net", "base/net/sockets"},
    "base/net/http": _NET,
    "base/net": _NET,
    "protocol/resp": {"base"},
    "protocol/catalogue": {"base", "protocol/resp"},
    "protocol/access": {"base", "protocol/resp", "protocol/catalogue"},
    "protocol/session": {"base", "protocol/resp", "protocol/access"},
    "lua/scripts": {"base", "protocol/resp"},
    "lua/library": {"base", "protocol/resp"},
    "lua/engine": _LUA,
    "server/locks": {"base"},
    "server/settings": {"base", "protocol/resp", "protocol/catalogue"},
    "server/recovery": {"base", "server/locks", "server/settings"},
    "server/observe": {*_PROTOCOL, "server/settings"},
    "server/notify": {*_PROTOCOL, "server/locks", "server/settings", "server/observe"},
    "server/users": {*_PROTOCOL, "server/notify"},
    "server/grants": _NODE - {"server/users", "server/node"},
    "server/group": {"base", "protocol/resp", "server/settings", "server/recovery",
                     "server/grants"},
    "server/node": {*_NODE, *_LUA},
    "server/commands": _NODE - {"server/recovery", "server/observe"},
    "server/sockets": {*_NODE, *_LUA, *_NET},
    "server/shell": {*_NODE, *_LUA, *_NET, "server/commands", "server/sockets"},
    "server/metrics": {*_NODE, *_LUA, *_NET, "base/net/http", "server/sockets", "server/shell"},
    "server": {*_NODE, *_LUA, *_NET, "server/commands", "server/sockets", "server/shell",
               "server/metrics"},
    "coordinator/include": {"base"},
    "coordinator/quorum": {"base", "coordinator/include"},
    "coordinator/link": {"base", "protocol/resp", "coordinator/quorum"},
    "coordinator/roster": _GROUP - {"coordinator/roster", "coordinator/group"},
    "coordinator/group": _GROUP - {"coordinator/group"},
    "coordinator/results": {"base", "coordinator/include", "coordinator/quorum",
                            "coordinator/group"},
    "coordinator/front_door": {*_GROUP, *_NODE, *_LUA, "coordinator/include",
                               "coordinator/results", "server/commands", "server/sockets"},
    "coordinator/client": {*_CLIENT, *_GROUP, "coordinator/results"},
    "coordinator/serving": {*_CLIENT, *_GROUP, *_NODE, *_LUA, "base/net/http",
                            "coordinator/page", "coordinator/results", "server/metrics",
                            "coordinator/front_door", "server/commands", "server/sockets",
                            "server/shell"},
    "coordinator/process": {*_NET, "protocol/resp"},
    "coordinator/bench": {"base", "coordinator/include"},
    "coordinator/health": {"base", "coordinator/include", "coordinator/quorum"},
    "coordinator/page": {*_CLIENT, "base/net/http", "coordinator/health"},
    "coordinator/cli": _CLIENT,
    "coordinator/drill/plan": {"base"},
    "coordinator/drill/history": {"base", "coordinator/quorum"},
    "coordinator/drill/timeline": {"base", "coordinator/drill/history"},
    "coordinator/drill/world": {*_CLIENT, "coordinator/process", "coordinator/drill/history",
                                "coordinator/drill/plan"},
    "coordinator/drill/changes": {*_CLIENT, "coordinator/process", "coordinator/drill/history",
                                  "coordinator/drill/plan", "coordinator/drill/world",
                                  "coordinator/drill/surroundings"},
    "coordinator/drill/surroundings": {*_CLIENT, "coordinator/process", "coordinator/drill/history",
                                       "coordinator/drill/plan", "coordinator/drill/world"},
    "coordinator/drill/clients": {*_CLIENT, "coordinator/process", "coordinator/drill/history",
                                  "coordinator/drill/plan", "coordinator/drill/world",
                                  "protocol/resp"},
    "coordinator/drill/doors": {*_CLIENT, "coordinator/process", "coordinator/drill/history",
                                "coordinator/drill/plan", "coordinator/drill/world",
                                "coordinator/drill/surroundings"},
    "coordinator/drill/runs": {*_CLIENT, "coordinator/process", "coordinator/drill/history",
                               "coordinator/drill/plan", "coordinator/drill/world",
                               "coordinator/drill/clients"},
    "coordinator/drill": {*_CLIENT, *_DRILL, "coordinator/process"},
    "coordinator/commands": {*_CLIENT, *_DRILL, "coordinator/process", "coordinator/bench",
                             "coordinator/health", "coordinator/page", "coordinator/cli",
                             "base/net/http", "coordinator/drill",
                             "coordinator/serving", "coordinator/front_door", "server/settings",
                             "server/shell", "server/sockets"},
    "coordinator": {*_CLIENT, "coordinator/cli", "coordinator/commands"},
}

# Memory of their own from the system, as malloc has: no effect outside the process, so still pure.
HAVE_MEMORY_MAPPED = ["base/memory/block_pool.cpp", "base/memory/zeroed_pages.cpp"]

# The shells: the only files that may know libuv, clocks, files, processes and the environment.
# All others are pure: time and randomness come in as arguments, replies go out as values.
SHELLS = [
    "base/net/*",
    "server/main.cpp",
    "server/embedded_node.*",
    "server/include/redlock/embedded_node.h",
    "server/metrics/*",
    "server/shell/*",
    "server/sockets/*",
    "coordinator/main.cpp",
    "coordinator/client/*",
    "coordinator/page/*",
    "coordinator/process/*",
    "coordinator/serving/*",
    "coordinator/cli/*",
    "coordinator/commands/*",
    "coordinator/drill/planned_drill.*",
    "coordinator/drill/report.*",
    "coordinator/drill/restart.*",
    "coordinator/drill/verdict.*",
    "coordinator/drill/world/*",
    "coordinator/drill/changes/*",
    "coordinator/drill/surroundings/*",
    "coordinator/drill/clients/*",
    "coordinator/drill/doors/*",
    "coordinator/drill/runs/*",
]

# Pure all the same: what a shell's room keeps beside it.
PURE_IN_SHELLS = [
    "server/sockets/node_host.h",
    "server/sockets/session_host.h",
    "server/sockets/turn_input.h",
    "coordinator/cli/exit_code.h",
    "coordinator/cli/waiting_text.*",
    "coordinator/cli/settings_file.*",
    "coordinator/cli/shell_lines.*",
]

# Pure but for one thing that it is there for.
EXCUSED = {
    "base/invariant.cpp": "a broken invariant is told on standard error",
    "coordinator/include/redlock/mutex.h": "try_lock_until asks the clock of its caller's instant",
}

# Modules (a header with its source) that know each other: two halves of one thing.
HALVES = [
    {"protocol/session/session", "protocol/session/sessions"},
    {"coordinator/client/client_core", "coordinator/client/guard_keeping"},
    {"coordinator/client/client_core", "coordinator/client/client_wait"},
]

# Names of the field that both sides of the wire, or of a library, use for what each of them has.
TWICE = {
    "Lock": "a client's, in its public header, and a node's record of it",
}

# The namespace of a folder and of all below it. What users of the libraries see is `redlock`,
# wherever it stands, and a namespace may have more of its own within.
NAMESPACES = {
    "base": "redlock",
    "base/net": "redlock::net",
    "protocol": "redlock::protocol",
    "lua": "redlock::lua",
    "server": "redlock::server",
    "coordinator": "redlock::coordinator",
    "coordinator/drill": "redlock::drill",
}

# What may stand at the top besides files whose names begin with a dot.
TOP_LEVEL = {*(name.split("/")[0] for name in ROOMS), "config", "tests", "docs", "dev",
             "CMakeLists.txt", "CMakePresets.json", "README.md", "LICENSE"}

# In a folder of a room: a reader looks at no more of them at once.
SOURCES_MAX = 24
COLUMNS_MAX = 100
FILE_LINES_MAX = 400
TEST_LINES_MAX = 500  # a file of tests: scenes, each short
FUNCTION_LINES_MAX = 50


def room(path):
    """The room that a path stands in, or None: tests, docs and the top level are none."""
    folder = path
    while "/" in folder:
        folder = folder.rpartition("/")[0]
        if folder in ROOMS:
            return folder
    return None


def namespace(path):
    """The namespace of what stands in this path, or None."""
    folder = path
    while "/" in folder:
        folder = folder.rpartition("/")[0]
        if folder in NAMESPACES:
            return NAMESPACES[folder]
    return None


def is_shell(path):
    def stands_in(patterns):
        return any(fnmatch(path, pattern) for pattern in patterns)
    return stands_in(SHELLS) and not stands_in(PURE_IN_SHELLS)


def is_pure(path):
    return room(path) is not None and not is_shell(path)
