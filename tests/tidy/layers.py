"""The checks of the rooms: who may include whom, what is pure, and what is built of what."""

import posixpath
import re
from collections import Counter
from fnmatch import fnmatch

import house
from checks import check
from tree import CPP, line_of


@check({"coordinator/quorum.h": '#include "server/node.h"\n', "server/node.h": ""},
       {"server/node.cpp": '#include "coordinator/quorum.h"\n', "coordinator/quorum.h": ""},
       {"base/time.h": '#include "protocol/reply.h"\n', "protocol/reply.h": ""},
       {"lua/engine/engine.h": '#include "server/node.h"\n', "server/node.h": ""},
       {"lua/library/math.h": '#include "lua/engine/engine.h"\n', "lua/engine/engine.h": ""},
       {"server/locks/lock.h": '#include "server/node/node.h"\n', "server/node/node.h": ""},
       {"server/node/node.cpp": '#include "server/commands/ttl.h"\n', "server/commands/ttl.h": ""},
       {"coordinator/quorum/a.h": '#include "protocol/resp/a.h"\n', "protocol/resp/a.h": ""},
       {"server/node/node.cpp": '#include "base/net/loop.h"\n', "base/net/loop.h": ""},
       {"server/node.cpp": '#include "server/shell/log.h"\n', "server/shell/log.h": ""},
       {"base/time.cpp": '#include "base/net/clock.h"\n', "base/net/clock.h": ""},
       {"server/node.cpp": '#include "tests/fixture.h"\n', "tests/fixture.h": ""},
       {"server/node.cpp": '#include "node.h"\n', "server/node.h": ""},
       {"server/node.cpp": "#include <redlock/client.h>\n",
        "coordinator/include/redlock/client.h": ""},
       {"server/node.cpp": "#include <redlock/embedded_node.h>\n",
        "server/include/redlock/embedded_node.h": ""},
       good=[{"server/main.cpp": '#include "base/net/loop.h"\n', "base/net/loop.h": ""},
             {"lua/engine/a.h": '#include "protocol/resp/a.h"\n', "protocol/resp/a.h": ""},
             {"server/info.cpp": '#include "base/version.h"\n', "base/version.h.in": ""}])
def includes_go_down(tree):
    """Who may include whom: rooms by the picture, and nothing pure a shell."""
    for path in tree.paths(*CPP):
        room = house.room(path)
        for line, quote, name in tree.includes(path):
            if quote == "<":
                name = tree.public_header(name)
            if room is None or name is None:
                continue
            if name not in tree and name + ".in" not in tree:
                yield f'{path}:{line}: "{name}" is no file; name it from the top of the repository'
            elif house.room(name) not in house.ROOMS[room] | {room}:
                yield f"{path}:{line}: {room} may not include {name}"
            elif house.is_pure(path) and house.is_shell(name):
                yield f"{path}:{line}: a pure file may not include the shell {name}"


@check({"server/a.h": "", "server/a.cpp": '#include "server/a.h"\n#include "server/b.h"\n',
        "server/b.h": '#include "server/a.h"\n'},
       {"server/a.h": '#include "server/b.h"\n', "server/b.h": '#include "server/c.h"\n',
        "server/c.h": '#include "server/a.h"\n'},
       good=[{"server/a.h": "", "server/a.cpp": '#include "server/a.h"\n#include "server/b.h"\n',
              "server/b.h": '#include "server/c.h"\n', "server/c.h": ""}])
def modules_make_no_circle(tree):
    """A header and its source are a module; what it includes never leads back to it."""
    leads_to = {}
    for path in filter(house.room, tree.paths(*CPP)):
        names = {tree.public_header(name) if quote == "<" else name
                 for _, quote, name in tree.includes(path)}
        known = leads_to.setdefault(_module(path), set())
        known |= {_module(name) for name in names if name in tree} - {_module(path)}
    for module, others in leads_to.items():
        for other in sorted(others):
            is_half = {module, other} in house.HALVES
            if not is_half and module in _reached(leads_to, other):
                yield f"{module}: includes {other}, which leads back to it"


def _module(path):
    return posixpath.splitext(path)[0]


def _reached(leads_to, start):
    """All modules that an include leads to from here."""
    seen, pending = set(), [start]
    while pending:
        module = pending.pop()
        for other in leads_to.get(module, ()):
            if {module, other} in house.HALVES or other in seen:
                continue
            seen.add(other)
            pending.append(other)
    return seen


@check({"server/include/redlock/node.h": '#include "server/node.h"\n'},
       {"server/include/redlock/node.h": "#include <uv.h>\n"},
       {"server/include/redlock/node.h": "#include <sys/types.h>\n"},
       {"server/include/redlock/node.h": "#include <fmt/format.h>\n"},
       {"server/include/node.h": "#include <string>\n"},
       {"base/log.h": '#include "base/include/redlock/result.h"\n'},
       {"base/log.h": "#include <redlock/none.h>\n"},
       {"server/include/redlock/node.h": "#include <stdlib.h>\n"},
       good=[{"server/include/redlock/node.h": "#include <redlock/result.h>\n#include <cstdint>\n",
              "base/include/redlock/result.h": ""},
             {"coordinator/include/redlock/redlock.h": "#include <stdint.h>\n"},
             {"server/node.h": '#include "server/lock.h"\n#include <fmt/format.h>\n'}])
def public_headers_show_only_what_is_public(tree):
    """What users include is <redlock/…> for us too, and leads to that and the standard library."""
    allowed = re.compile(r"redlock/.*|[a-z_]+|std(bool|def|int)\.h")
    for path in tree.paths(*CPP):
        is_public = house.room(path) is not None and "/include/" in path
        if is_public and "/include/redlock/" not in path:
            yield f"{path}: a public header stands in include/redlock"
        for line, quote, name in tree.includes(path):
            if is_public and (quote != "<" or not allowed.fullmatch(name)):
                yield f"{path}:{line}: a public header may not include {name}"
            if quote == '"' and "/include/redlock/" in name:
                yield f"{path}:{line}: a public header is included as <redlock/…>"
            if quote == "<" and name.startswith("redlock/") and tree.public_header(name) is None:
                yield f"{path}:{line}: <{name}> is no public header"


@check({"server/node.cpp": "#include <uv.h>\n"},
       {"protocol/resp/reply.cpp": "#include <unistd.h>\n"},
       {"coordinator/quorum.cpp": "#include <sys/socket.h>\n"},
       {"base/log.cpp": "#include <iostream>\n"},
       {"server/lock.cpp": "#include <fstream>\n"},
       {"server/lock.cpp": "#include <sys/mman.h>\n"},
       {"server/lock.cpp": "#include <thread>\n"},
       {"server/lock.cpp": "#include <lua.hpp>\n"},
       {"server/main.cpp": "#include <lauxlib.h>\n"},
       {"coordinator/door.cpp": "#include <lua.h>\n"},
       good=[{"base/net/loop.cpp": "#include <uv.h>\n#include <sys/socket.h>\n"},
             {"base/memory/block_pool.cpp": "#include <sys/mman.h>\n"},
             {"lua/engine.cpp": "#include <lua.hpp>\n#include <sys/types.h>\n"}])
def system_headers_stand_where_they_may(tree):
    """libuv and the system only in shells, Lua's C API only in lua/."""
    system = re.compile(r"uv\.h|unistd\.h|fcntl\.h|poll\.h|netdb\.h|pthread\.h|spawn\.h"
                        r"|termios\.h|dirent\.h|(net|netinet|arpa|linux)/.*|sys/(?!types\.h).*"
                        r"|iostream|fstream|filesystem|thread|random")
    lua = re.compile(r"lua\.h(pp)?|lauxlib\.h|lualib\.h")
    for path in tree.paths(*CPP):
        for line, quote, name in tree.includes(path):
            if name == "sys/mman.h" and path in house.HAVE_MEMORY_MAPPED:
                continue
            if quote == "<" and house.is_pure(path) and system.fullmatch(name):
                yield f"{path}:{line}: <{name}> is for shells only"
            is_ours = house.room(path) is not None and not path.startswith("lua/")
            if quote == "<" and is_ours and lua.fullmatch(name):
                yield f"{path}:{line}: <{name}> is for lua/ only"


@check(*({"server/lock.cpp": f"void f() {{ {code}; }}\n"} for code in (
    "clock_gettime(CLOCK_MONOTONIC, &t)", "auto t = std::chrono::steady_clock::now()",
    "gettimeofday(&t, nullptr)", "return time(nullptr)", "return std::time(nullptr)",
    "uv_now(loop)", "uv_hrtime()", "FILE* f = fopen(name, mode)", "std::fopen(name, mode)",
    "getenv(name)", "std::getenv(name)", "rand()", "std::random_device seed",
    "::read(fd, p, n)", "::write(fd, p, n)", "::open(name, 0)", "usleep(10)", "getpid()",
    "std::this_thread::sleep_for(1s)", "std::printf(text)", "exit(1)")),
       good=[{"server/lock.cpp": "// no clock_gettime(2) here\nlog(\"uv_now()\"); lock.time(now);\n"
                                 "writer.write(reply); table.open(key); runtime(1); random();\n"
                                 "Instant Lock::time() const { return deadline_; }\n"},
             {"base/net/clock.cpp": "clock_gettime(CLOCK_BOOTTIME, &t);\n"}])
def pure_parts_ask_nobody(tree):
    """No clock, no random numbers, no files, no environment: those are arguments."""
    asking = re.compile(
        r"::now\s*\(|\b(system|steady|high_resolution|file|utc)_clock\b|\brandom_device\b"
        r"|\bthis_thread\b|\buv_\w+\s*\("
        # Functions of C, called plainly or from std; not members and not names that end so.
        r"|(?<![\w.>:])(?:std::|::)?(clock_gettime|gettimeofday|time|clock|localtime(_r)?|s?rand"
        r"|getrandom|f(re)?open|f?printf|puts|getenv|setenv|usleep|nanosleep|getpid|fork"
        r"|exit|system|signal|kill)\s*\("
        r"|(?<![\w.>:])::(open|read|write|close|send|recv|socket|connect|unlink|rename|stat)\s*\(")
    for path in tree.paths(*CPP):
        if not house.is_pure(path) or path in house.EXCUSED:
            continue
        code = tree.code(path)
        for match in asking.finditer(code):
            if not _declares(code, match):
                line = line_of(code, match.start())
                yield f"{path}:{line}: a pure part calls {match.group().strip()}"


def _declares(code, match):
    """Whether a type stands before the name: `Instant time(…` declares, it does not call."""
    before = re.search(r"([\w>&*]+)\s+$", code[:match.start()])
    return before is not None and before.group(1) not in ("return", "co_return", "else", "do")


# --- the build ---


@check({"server/CMakeLists.txt": "add_library(redlock_server lock.cpp)\n"
                                 "target_link_libraries(redlock_server PUBLIC redlock_quorum)\n",
        "coordinator/CMakeLists.txt": "add_library(redlock_quorum STATIC quorum.cpp)\n"},
       {"server/CMakeLists.txt": "add_library(redlock_server lock.cpp)\n"
                                 "target_link_libraries(redlock_server PRIVATE redlock_net)\n",
        "base/CMakeLists.txt": "add_library(redlock_net net/loop.cpp)\n"},
       {"server/CMakeLists.txt": "add_library(redlock_server lock.cpp)\n"
                                 "target_link_libraries(redlock_server uv_static)\n"},
       {"server/CMakeLists.txt": "add_library(redlock_server lock.cpp shell/ledger_file.cpp)\n"},
       {"protocol/resp/CMakeLists.txt": "add_library(redlock_resp reply.cpp)\n"
                                        "target_link_libraries(redlock_resp lua_static)\n"},
       good=[{"server/CMakeLists.txt": "add_executable(redlock-node main.cpp)\n"
                                       "target_link_libraries(redlock-node redlock_net)\n",
              "base/CMakeLists.txt": "add_library(redlock_net net/loop.cpp)\n"}])
def links_follow_the_picture(tree):
    """The CMake targets link as the files include; a pure library holds no shell and links none."""
    targets = dict(_targets(tree))
    for name, (path, sources) in targets.items():
        shell = any(house.is_shell(s) for s in sources)
        if shell and any(house.is_pure(s) and s.endswith(".cpp") for s in sources):
            yield f"{path}: {name} mixes pure files and shells; give the shells their own library"
    for path, name, linked in _links(tree):
        room, (_, sources) = house.room(path), targets.get(name, (path, []))
        shell = any(house.is_shell(s) for s in sources)
        if linked in targets:
            other_path, other_sources = targets[linked]
            if house.room(other_path) not in house.ROOMS[room] | {room}:
                yield f"{path}: {name} may not link {linked}"
            if not shell and any(house.is_shell(s) for s in other_sources):
                yield f"{path}: the pure {name} may not link the shell {linked}"
        if linked == "uv_static" and not shell:
            yield f"{path}: the pure {name} may not link libuv"
        if linked == "lua_static" and not path.startswith("lua/"):
            yield f"{path}: {name} may not link Lua; that is for lua/"


def _targets(tree):
    """(target, (its CMakeLists.txt, its sources)) of every library and program of a room."""
    for path, words in _commands(tree, "add_library|add_executable"):
        folder = posixpath.dirname(path)
        yield words[0], (path, [posixpath.join(folder, w) for w in words[1:] if "." in w])


def _links(tree):
    for path, words in _commands(tree, "target_link_libraries"):
        for linked in words[1:]:
            yield path, words[0], linked


def _commands(tree, names):
    for path in tree.paths("CMakeLists.txt"):
        if house.room(path) is None:
            continue
        text = re.sub(r"#.*", "", tree[path])
        for match in re.finditer(rf"\b(?:{names})\s*\(([^)]*)\)", text):
            yield path, match.group(1).split()


@check({"server/lock.cpp": "", "server/CMakeLists.txt": "add_library(redlock_server node.cpp)\n"},
       {"tests/unit/server/lock_test.cpp": "", "tests/CMakeLists.txt": "# unit/server\n"},
       good=[{"base/net/loop.cpp": "", "base/CMakeLists.txt": "add_library(net net/loop.cpp)\n"}])
def every_source_is_built(tree):
    for path in tree.paths(".cpp"):
        if not any(_names(tree, parent, path) for parent in _parents(path)):
            yield f"{path}: no CMakeLists.txt above it lists this source"


def _parents(path):
    while path:
        path = posixpath.dirname(path)
        yield posixpath.join(path, "CMakeLists.txt")


def _names(tree, lists, path):
    words = re.findall(r"[^\s()\"]+", re.sub(r"#.*", "", tree.get(lists, "")))
    return posixpath.relpath(path, posixpath.dirname(lists) or ".") in words


# A namespace that begins or ends, a type, a constant.
_DEFINITION = re.compile(r"^(?:namespace(?: (\S+))? \{|(\})  // namespace"
                         r"|(?:struct|class|enum class) (?:REDLOCK_\w+ )?([\w:]+)[^;{]*\{"
                         r"|(?:inline )?constexpr [\w:<>, ]+ (k[A-Z]\w*) *[={])", re.M)


@check({"server/a.h": "namespace redlock::server {\nstruct REDLOCK_PUBLIC Entry {\n};\n}\n",
        "server/b.cpp": "namespace redlock::server {\nclass Entry final : A {\n};\n}\n"},
       {"server/a.h": "namespace redlock::server {\nstruct Entry {\n};\n}\n",
        "lua/engine/a.h": "namespace redlock::lua {\nclass Entry {\n};\n}\n"},
       {"server/a.h": "namespace redlock::server {\ninline constexpr int kMax = 1;\n}\n",
        "lua/engine/a.h": "namespace redlock::lua {\nconstexpr std::size_t kMax = 1;\n}\n"},
       good=[{"server/a.h": "namespace redlock::server {\nstruct Entry {\n};\n}\n",
              "lua/engine/a.h": "namespace redlock::lua {\nstruct Entry;\n}\n",
              "server/b.cpp": "namespace redlock::server {\nnamespace {\nstruct Entry {\n"
                              "};\nconstexpr int kMax = 1;\n"
                              "}  // namespace\n}  // namespace redlock::server\n",
              "lua/c.cpp": "namespace redlock::lua {\nnamespace {\nconstexpr int kMax = 1;\n"
                              "}  // namespace\n}  // namespace redlock::lua\n"}])
def a_name_is_defined_once(tree):
    """A type or a constant of one name is one thing, in the whole house.

    Two types of one name in one namespace make one program of both, and neither compiler nor
    linker says a word; in two namespaces they make a reader ask which is meant.
    """
    seen = {}
    for path in tree.paths(*CPP):
        if house.room(path) is None:
            continue
        code, spaces = tree[path], []
        for match in _DEFINITION.finditer(code):
            space, end, kind, constant = match.groups()
            name = kind or constant
            if end:
                del spaces[-1:]
            elif name is None:
                spaces.append(space)
            elif None not in spaces and name not in house.TWICE:
                line = line_of(code, match.start())
                first = seen.setdefault(name, f"{path}:{line}")
                if first != f"{path}:{line}":
                    yield f"{path}:{line}: {name} is defined at {first} too"


@check({"coordinator/drill/plan/a.h": "namespace redlock::coordinator {\n}\n"},
       {"base/net/turn/a.h": "namespace redlock::base {\n}\n"},
       {"base/a.h": "namespace redlock::server {\n}\n"},
       {"server/node/a.cpp": "namespace redlock::node {\n}\n"},
       good=[{"coordinator/drill/plan/a.h": "namespace redlock::drill {\n}\n"},
             {"server/include/redlock/a.h": "namespace redlock {\n}\n"},
             {"server/a.h": "namespace redlock::server::kinds {\n}\n"}])
def namespaces_follow_folders(tree):
    """A name says where it stands; what users of the libraries see is plainly `redlock`."""
    for path in tree.paths(*CPP):
        expected = house.namespace(path)
        code = tree.code(path) if expected else ""
        for match in re.finditer(r"^namespace (redlock[\w:]*) \{", code, re.M):
            within = expected if expected == "redlock" else rf"{expected}(::\w+)?|redlock"
            if not re.fullmatch(within, match.group(1)):
                line = line_of(code, match.start())
                yield f"{path}:{line}: namespace {match.group(1)}; here it is {expected}"


@check({"server/lock.h": "", "server/lock.cpp": '#include "server/lock.h"\n',
        "server/stale.h": ""},
       {"CMakeLists.txt": "add_subdirectory(base)\n", "base/CMakeLists.txt": "",
        "lua/CMakeLists.txt": ""},
       {"tests/CMakeLists.txt": "# project(a)\n"},
       {"README.md": "See [the rules](docs/safety.md).\n"},
       good=[{"README.md": "[rules](docs/safety.md#clocks) [web](https://redis.io)\n",
              "docs/safety.md": "[up](../README.md) [here](#clocks)\n"},
             {"tests/clients/c/driver.c": '#include "driver.h"\n', "tests/clients/c/driver.h": ""},
             {"docs/examples/worker/CMakeLists.txt": "project(worker)\n"}])
def every_file_is_reached(tree):
    """A header by an include, a CMakeLists.txt by its parent; and every link of a page leads on.

    What says project() is built by its user, outside of this tree.
    """
    included = set()
    for path in tree.paths(*CPP, ".c"):
        for _, _, name in tree.includes(path):
            included |= {name, posixpath.join(posixpath.dirname(path), name),
                         tree.public_header(name)}
    for path in tree.paths(".h"):
        if path not in included:
            yield f"{path}: nobody includes this header"
    for path in tree.paths("/CMakeLists.txt"):
        if re.search(r"^project\(", tree[path], re.M):
            continue
        folder = posixpath.dirname(path)
        above = tree.get(posixpath.join(posixpath.dirname(folder), "CMakeLists.txt"), "")
        if not re.search(rf"add_subdirectory\({re.escape(posixpath.basename(folder))}\)", above):
            yield f"{path}: no add_subdirectory leads here"
    for path in tree.paths(".md"):
        for match in re.finditer(r"\]\(([^)#\s:]+)(#[^)]*)?\)", tree[path]):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), match.group(1)))
            if not any(p == target or p.startswith(target + "/") for p in tree):
                yield f"{path}:{line_of(tree[path], match.start())}: {match.group(1)} is no file"


@check({"base/a.h": ""}, {path: "" for path in ("base/net/a.h", "server/main.cpp")},
       good=[{re.sub(r"\*$", "a.h", shell).replace("*", "a"): "" for shell in house.SHELLS}
             | {path: "" for path in house.EXCUSED}])
def every_declared_shell_is_there(tree):
    for pattern in [*house.SHELLS, *house.EXCUSED]:
        if not any(fnmatch(path, pattern) for path in tree):
            yield f"tests/tidy/house.py: no file is {pattern}; take it out"


@check({f"server/locks/{number}.h": "" for number in range(25)},
       good=[{f"server/{room}/{number}.h": "" for number in range(20) for room in ("a", "b")},
             {f"tests/differential/{number}.h": "" for number in range(30)}])
def a_folder_is_seen_at_once(tree):
    """What a reader finds in a room fits on one screen; a new family may open a folder."""
    folders = Counter(posixpath.dirname(path) for path in tree.paths(*CPP) if house.room(path))
    for folder, count in sorted(folders.items()):
        if count > house.SOURCES_MAX:
            yield f"{folder}: {count} sources of at most {house.SOURCES_MAX}; open a folder"


@check({"notes.txt": ""}, {"src/lock.cpp": ""}, good=[{".ci/run": "", "dev": "", "base/a.h": ""}])
def the_top_level_is_known(tree):
    for top in sorted({path.split("/")[0] for path in tree}):
        if not top.startswith(".") and top not in house.TOP_LEVEL:
            yield f"{top}: does not belong to the top level"
