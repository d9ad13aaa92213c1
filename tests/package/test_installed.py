#!/usr/bin/env python3
"""cmake --install into a folder, and programs built with what is there and nothing else of ours."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import programs

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = programs.ROOT / "docs/examples"

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow",
            "-Wundef", "-Wmissing-field-initializers", "-Werror"]

# One member of each struct that a user fills in or compares with.
DESIGNATED = """
#include <redlock/embedded_node.h>
#include <redlock/mutex.h>
using namespace redlock;
using namespace std::chrono_literals;
template <class... T> void use(const T&...) {}
void fill() {
  use(ClientOptions{.nodes = {"a"}}, AcquireOptions{.ttl = 5s}, GuardOptions{.wait = 5s},
      AdmitOptions{.floor = 7}, Lock{.name = "a"}, Holder{.nodes = 3}, NodeState{.grants = true},
      NodeAdmission{.fenced = true}, Admitted{.floor = 7}, Error{.code = ErrorCode::held},
      NodeAnswer{.kind = AnswerKind::yes}, EmbeddedNodeOptions{.bootstrap = true}, Failure{});
  use(NodeAnswer{.node = "a"}, Error{.text = "a"}, Holder{.value = "a"}, NodeState{.state = "a"});
}
"""

# What a shared object may show of the library that is linked into it: members of public classes,
# and the few public functions beside them.
PUBLIC = re.compile(
    r"(?:(?:vtable|VTT|typeinfo|typeinfo name|guard variable) for )?"
    r"redlock::(?:Client|Guard|Mutex|Lock|Error|GuardOptions|NodeAnswer|EmbeddedNode)\b"
    r"|redlock::(?:value_of_failure|answer_name|error_name)\b")
INSIDE = re.compile(r"\b(?:fmt|uv_|lua_|redlock::(?:net|coordinator|protocol|lua|server))"
                    r"|::(?:Core|Keeping|Several|Thread)\b")
# g++ 12 takes no notice of an enumeration's visibility: what it makes of these and the standard
# library's templates is shown.
ENUMERATIONS = re.compile(r"redlock::coordinator::(?:Greeting::Step|NodeIdentity)\b")


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="redlock-test.")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.prefix = pathlib.Path(cls.folder.name, "prefix")
        programs.run("cmake", "--install", programs.BUILD, "--prefix", cls.prefix)
        cls.include = cls.prefix / "include"
        cls.libraries = cls.prefix / "lib" / programs.run("c++", "-print-multiarch").strip()

    def test_everything_is_below_the_prefix(self):
        for name in ("bin/redlock", "bin/redlock-node", "etc/redlock/redlock.conf",
                     "etc/redlock/redlock-node.conf", "lib/systemd/system/redlock-node@.service",
                     "lib/systemd/system/redlock-door.service",
                     "share/redlock/kubernetes/redlock.yaml",
                     "lib/sysusers.d/redlock.conf", "share/man/man1/redlock.1.gz",
                     "share/man/man1/redlock-node.1.gz", "share/zsh/vendor-completions/_redlock",
                     "share/bash-completion/completions/redlock-node"):
            self.assertTrue((self.prefix / name).is_file(), name)

    def test_every_document_that_the_readme_names_is_there(self):
        readme = (programs.ROOT / "README.md").read_text(encoding="utf-8")
        named = {pathlib.Path(path).name for path in re.findall(r"\]\(([^)#:]+)", readme)}
        self.assertGreater(len(named), 15)
        there = {each.name for each in self.prefix.rglob("*")}
        self.assertEqual(named - {"LICENSE"} - there, set())  # that is Debian's copyright
        self.assertIn("copyright", there)

    def test_examples_that_are_programs_can_be_executed(self):
        files = [each for each in (self.prefix / "share/doc/redlock/examples").rglob("*")
                 if each.is_file()]
        programs_of_them = [each for each in files if each.read_bytes().startswith(b"#!")]
        self.assertGreater(len(programs_of_them), 5)
        for each in files:
            self.assertEqual(os.access(each, os.X_OK), each in programs_of_them, each)

    def test_every_public_header_stands_alone(self):
        headers = self.headers()
        self.assertGreater(len(headers), 3)
        for header in headers:
            with self.subTest(str(header)):
                programs.run("c++", "-std=c++20", "-fsyntax-only", *WARNINGS, "-I", self.include,
                             "-x", "c++", "-", input=f"#include <{header}>\n")

    def headers(self):
        return [path.relative_to(self.include) for path in self.include.rglob("*.h")]

    def test_what_users_fill_in_warns_of_nothing(self):
        for compiler in programs.COMPILERS:
            with self.subTest(compiler):
                programs.run(compiler, "-std=c++20", "-fsyntax-only", *WARNINGS,
                             "-fvisibility=hidden", "-I", self.include, "-x", "c++", "-",
                             input=DESIGNATED)

    def test_the_header_for_c_is_c(self):
        for standard in ("c99", "c17"):
            with self.subTest(standard):
                programs.run("cc", f"-std={standard}", "-fsyntax-only", *WARNINGS,
                             "-Wstrict-prototypes", "-Wc++-compat", "-I", self.include, "-x", "c",
                             "-", input="#include <redlock/redlock.h>\n")

    def test_another_standard_library_is_refused_in_one_sentence(self):
        """Its types are others: what was linked so would break when it runs."""
        for header in self.headers():
            for define in ("-D_GLIBCXX_DEBUG", "-D_GLIBCXX_USE_CXX11_ABI=0"):
                if header.name in ("redlock.h", "visibility.h"):  # they are for C too
                    continue
                with self.subTest(header=str(header), define=define):
                    done = self.compile(header, define)
                    self.assertNotEqual(done.returncode, 0)
                    errors = re.findall(r"error: (.*)", done.stderr)
                    self.assertEqual(len(errors), 1, done.stderr)
                    self.assertIn("build it in your project", errors[0])
                    self.assertEqual(self.compile(
                        header, define, "-DREDLOCK_BUILT_WITH_ITS_USER").returncode, 0)

    def compile(self, header, *options):
        return subprocess.run(
            ["c++", "-std=c++20", "-fsyntax-only", *options, "-I", self.include, "-x", "c++", "-"],
            input=f"#include <{header}>\n", stderr=subprocess.PIPE, text=True, check=False)

    def test_the_libraries_name_no_place_of_this_machine(self):
        # Where a path begins: a checkout at /redlock is not meant by include/redlock/.
        place = rb"(?<![\w./-])" + re.escape(str(programs.ROOT).encode()) + rb"/"
        for path in [*self.libraries.glob("*.a"), *self.libraries.glob("*.so"),
                     *self.libraries.rglob("*.cmake"), *self.libraries.rglob("*.pc")]:
            found = re.search(place, path.read_bytes())
            self.assertIsNone(found, path)

    def test_one_program_can_hold_all_of_both_libraries(self):
        """Their shared parts are in each of them, and must not meet as duplicates."""
        wanted = pathlib.Path(self.folder.name, "wanted")
        symbols = programs.run("nm", "--defined-only", *self.libraries.glob("libredlock-*.a"))
        names = set(re.findall(r"^\w+ T (\w+)$", symbols, re.M))
        self.assertGreater(len(names), 500)
        wanted.write_text("".join(f"-Wl,-u,{name}\n" for name in names))
        for order in (["redlock-client", "redlock-node"], ["redlock-node", "redlock-client"]):
            with self.subTest(order):
                libraries = programs.run("pkg-config", "--libs", *order, env={
                    **os.environ, "PKG_CONFIG_PATH": str(self.libraries / "pkgconfig")}).split()
                programs.run("c++", "-x", "c++", "-", "-x", "none", f"@{wanted}", *libraries,
                             "-o", wanted.with_suffix(".out"), input="int main() {}\n")

    def test_the_shared_library_shows_the_functions_of_its_header_alone(self):
        header = (self.include / "redlock/redlock.h").read_text()
        declared = set(re.findall(r"^REDLOCK_PUBLIC .*?(redlock_\w+)\(", header, re.M))
        self.assertGreater(len(declared), 10)
        symbols = programs.run("nm", "-D", "--defined-only", self.libraries / "libredlock.so")
        self.assertEqual(set(re.findall(r" T (\w+)", symbols)), declared)
        needed = programs.run("objdump", "-p", self.libraries / "libredlock.so")
        names = set(re.findall(r"NEEDED +(\w+)", needed))
        self.assertLessEqual(names, {"libuv", "libssl", "libcrypto", "libc", "libm", "ld"})

    def test_a_plugin_is_loaded_and_shows_what_is_public_alone(self):
        for compiler in programs.COMPILERS:
            with self.subTest(compiler):
                build = pathlib.Path(self.folder.name, "plugin-" + compiler)
                programs.run("cmake", "-S", HERE / "plugin", "-B", build, "-G", "Ninja",
                             f"-DCMAKE_PREFIX_PATH={self.prefix}",
                             f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=Release",
                             "-DCMAKE_CXX_VISIBILITY_PRESET=hidden")
                programs.run("cmake", "--build", build)
                with programs.five_nodes(build) as nodes:
                    programs.run(build / "host", build / "plugin.so", nodes, timeout=60)
                symbols = programs.run("nm", "-D", "--defined-only", "-C", build / "plugin.so")
                self.check_shown(re.findall(r"^\w* +\w (.*)", symbols, re.M))

    def check_shown(self, names):
        self.assertIn("plugin_work", names)
        self.assertIn("redlock::Client::~Client()", names)
        ours = [name for name in names if re.match(r"(?:[a-zA-Z ]+ for )?redlock::", name)]
        self.assertEqual([name for name in ours if not PUBLIC.match(name)], [])
        # Of a function its name: a private constructor takes what is hidden, and is none of it.
        rest = [ENUMERATIONS.sub("", name).partition("(")[0] for name in names]
        self.assertEqual([name for name in rest if INSIDE.search(name)], [])

    def test_python_uses_the_shared_library(self):
        with programs.five_nodes(self.folder.name) as nodes:
            told = programs.run(EXAMPLES / "python/try.py", timeout=60, env={
                **os.environ, "REDLOCK_NODES": nodes, "PYTHONDONTWRITEBYTECODE": "1",
                "REDLOCK_LIBRARY": str(self.libraries / "libredlock.so.0.1")})
        self.assertEqual(told.count(" serving\n"), 5, told)

    def test_programs_use_the_libraries(self):
        folders = [HERE / "consumer", *(p.parent for p in EXAMPLES.glob("*/CMakeLists.txt"))]
        done = subprocess.run([HERE / "use_library.sh", self.prefix, *folders], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
