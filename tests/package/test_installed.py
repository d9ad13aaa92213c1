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


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="redlock-test.")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.prefix = pathlib.Path(cls.folder.name, "prefix")
        programs.run("cmake", "--install", programs.BUILD, "--prefix", cls.prefix)
        cls.libraries = cls.prefix / "lib" / programs.run("c++", "-print-multiarch").strip()

    def test_everything_is_below_the_prefix(self):
        for name in ("bin/redlock", "bin/redlock-node", "etc/redlock/redlock.conf",
                     "etc/redlock/redlock-node.conf", "lib/systemd/system/redlock-node@.service",
                     "lib/sysusers.d/redlock.conf", "share/man/man1/redlock.1.gz",
                     "share/man/man1/redlock-node.1.gz", "share/zsh/vendor-completions/_redlock",
                     "share/bash-completion/completions/redlock-node"):
            self.assertTrue((self.prefix / name).is_file(), name)

    def test_every_public_header_stands_alone(self):
        headers = [path.relative_to(self.prefix / "include")
                   for path in (self.prefix / "include").rglob("*.h")]
        self.assertGreater(len(headers), 3)
        for header in headers:
            with self.subTest(str(header)):
                programs.run("c++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic",
                             "-Werror", "-I", self.prefix / "include", "-x", "c++", "-",
                             input=f"#include <{header}>\n")

    def test_the_libraries_name_no_place_of_this_machine(self):
        # Where a path begins: a checkout at /redlock is not meant by include/redlock/.
        place = rb"(?<![\w./-])" + re.escape(str(programs.ROOT).encode()) + rb"/"
        for path in [*self.libraries.glob("*.a"), *self.libraries.rglob("*.cmake"),
                     *self.libraries.rglob("*.pc")]:
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

    def test_programs_use_the_libraries(self):
        folders = [HERE / "consumer", *(p.parent for p in EXAMPLES.glob("*/CMakeLists.txt"))]
        done = subprocess.run([HERE / "use_library.sh", self.prefix, *folders], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
