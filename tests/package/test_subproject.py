#!/usr/bin/env python3
"""The sources in the build of another project, by add_subdirectory and by FetchContent."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import programs

HERE = pathlib.Path(__file__).resolve().parent

# What the client does not need is not looked for: names that the build's cache would have.
NOT_NEEDED = ["CLI11_DIR", "nlohmann_json_DIR", "Catch2_DIR", "LUA_STATIC", "MD_STATIC",
              "UV_STATIC_ARCHIVE", "REDLOCK_UV_SHARED"]


class Subproject(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="redlock-test.")
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name, "build")

    def make(self, compiler, *settings):
        launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        programs.run("cmake", "-S", HERE / "subproject", "-B", self.build, "-G", "Ninja",
                     f"-DCMAKE_CXX_COMPILER={compiler}", f"-DREDLOCK_SOURCE={programs.ROOT}",
                     *launcher, *settings)
        programs.run("cmake", "--build", self.build)

    def check_runs(self):
        with programs.five_nodes(self.build) as nodes:
            programs.run(self.build / "host_program", nodes, timeout=60)

    def test_it_is_the_client_alone(self):
        for compiler in programs.COMPILERS:
            with self.subTest(compiler):
                shutil.rmtree(self.build, ignore_errors=True)
                self.make(compiler, "-DWAY=add_subdirectory", "-DWITH_NODE=OFF", "-DCHECKED=OFF")
                self.check_runs()
                self.check_is_small()

    def check_is_small(self):
        cache = (self.build / "CMakeCache.txt").read_text()
        self.assertEqual([name for name in NOT_NEEDED if f"\n{name}" in cache], [])
        needed = programs.run("objdump", "-p", self.build / "host_program")
        self.assertIn("libuv.so", needed)  # once, also for a program that uses it itself
        for name in ("redlock-node", "CPackConfig.cmake", "redlock/CTestTestfile.cmake"):
            self.assertEqual(list(self.build.rglob(name)), [])
        prefix = self.build / "prefix"
        programs.run("cmake", "--install", self.build, "--prefix", prefix)
        installed = [str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file()]
        self.assertEqual(installed, ["bin/host_program"])

    def test_it_may_have_the_node_and_the_debug_mode_of_the_standard_library(self):
        compiler = programs.COMPILERS[-1]
        self.make(compiler, "-DWAY=FetchContent", "-DWITH_NODE=ON", "-DCHECKED=ON")
        self.check_runs()

    def test_the_whole_is_built_where_it_is_asked_for(self):
        """All options on: as a part of another project it configures, and finds its own files."""
        done = subprocess.run(
            ["cmake", "-S", HERE / "subproject", "-B", self.build, "-G", "Ninja",
             f"-DREDLOCK_SOURCE={programs.ROOT}", "-DWAY=add_subdirectory", "-DWITH_NODE=ON",
             "-DCHECKED=OFF", "-DREDLOCK_PROGRAMS=ON", "-DREDLOCK_TESTS=ON"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
            env=os.environ)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
