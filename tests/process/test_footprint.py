"""How little a node takes: memory, time to start, size, and what it needs beside itself."""

import os
import pathlib
import re
import shutil
import statistics
import subprocess
import time
import unittest

from harness import NODE_PROGRAM, PATIENCE_S, ProcessTest, main, measures

GLIBC_PARTS = {"linux-vdso", "libc", "libm", "libpthread", "libdl", "librt", "libresolv",
               "ld-linux-x86-64", "ld-linux-aarch64"}


def libraries():
    """What ldd names: the library's name, and its path if it has one."""
    told = subprocess.run(["ldd", str(NODE_PROGRAM)], text=True, capture_output=True, check=True)
    found = {}
    for line in told.stdout.splitlines():
        path = re.search(r"(/\S+) \(", line)
        found[pathlib.Path(line.split()[0]).name.split(".so")[0]] = path and path.group(1)
    return found


@measures
class Footprint(ProcessTest):
    def test_at_most_6_mb_resident_after_the_first_pong(self):
        resident_kb = self.node().resident_kb()
        print(f"\n  VmRSS {resident_kb} kB")
        self.assertLessEqual(resident_kb, 6 * 1024)

    def first_pong_ms(self, server):
        server.exec()
        executed_at = time.monotonic()  # Popen returns once the exec is done
        server.wait_for_pong(pause_s=0.0002)
        took_ms = (time.monotonic() - executed_at) * 1000
        server.stop()
        return took_ms

    def test_first_pong_in_at_most_half_of_the_time_of_redis(self):
        node, redis = self.new_node(), self.new_redis()
        rounds = [[self.first_pong_ms(server) for server in (node, redis)] for _ in range(30)]
        node_ms, redis_ms = (statistics.median(column) for column in zip(*rounds))
        print(f"\n  first PONG after exec: {node_ms:.1f} ms, redis-server {redis_ms:.1f} ms")
        self.assertLessEqual(node_ms, redis_ms / 2)

    def test_the_stripped_program_is_at_most_8_mb(self):
        stripped = pathlib.Path(self.folder()) / "stripped"
        subprocess.run(["strip", "-o", str(stripped), str(NODE_PROGRAM)], check=True)
        print(f"\n  stripped: {stripped.stat().st_size} bytes")
        self.assertLessEqual(stripped.stat().st_size, 8 * 1024 * 1024)

    def test_it_needs_glibc_alone(self):
        self.assertLessEqual(set(libraries()), GLIBC_PARTS)

    @unittest.skipUnless(os.geteuid() == 0, "chroot is root's alone")
    def test_the_copied_file_serves_where_there_is_nothing_else(self):
        node = self.new_node(bootstrap=False)
        root = pathlib.Path(self.folder())
        for path in [path for path in libraries().values() if path]:
            copy = root / path.lstrip("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        shutil.copy(NODE_PROGRAM, root / "redlock-node")
        node.launch([shutil.which("chroot"), root, "/redlock-node", "--port", node.port,
                     "--dir", "/state"])
        node.wait_for_pong(PATIENCE_S)


if __name__ == "__main__":
    main()
