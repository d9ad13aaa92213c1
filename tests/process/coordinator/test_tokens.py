"""docs/examples/tokens: stores that check fencing tokens, and a client that writes too late.

The first class gives tokens by hand: they are numbers, and a store does not care from where. The
second one gets them with locks over five nodes.
"""

import concurrent.futures
import http.client
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from group import PATIENCE_S, REDLOCK, ROOT, GroupTest, wait_until
from ports import reserve_ports

EXAMPLES = os.path.join(ROOT, "docs/examples/tokens")
DATABASE, OBJECT_STORE, FILE_SERVER = (
    os.path.join(EXAMPLES, name) for name in ("database.py", "object_store.py", "file_server.sh"))


def run(*command, token=None, stdin="", cwd=None):
    """(exit status, standard output, standard error) of a command under a token."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("REDLOCK_")}
    if token is not None:
        environment["REDLOCK_TOKEN"] = str(token)
    done = subprocess.run([str(word) for word in command], input=stdin, capture_output=True,
                          text=True, env=environment, cwd=cwd, timeout=PATIENCE_S, check=False)
    return done.returncode, done.stdout, done.stderr


class Stores:
    """A folder with all three stores in it. Each writes with a command, and is read from."""

    def __init__(self, test):
        self.folder = tempfile.mkdtemp(prefix="redlock-test.")
        test.addCleanup(shutil.rmtree, self.folder)
        [self.port] = reserve_ports(1)
        server = subprocess.Popen([sys.executable, OBJECT_STORE, "serve", str(self.port)],
                                  stderr=subprocess.PIPE)
        test.addCleanup(server.communicate)
        test.addCleanup(server.kill)
        self.url = f"http://127.0.0.1:{self.port}/report"
        wait_until(lambda: server.poll() is not None or self.listens(), "the object store")
        test.assertIsNone(server.poll())
        self.database = os.path.join(self.folder, "reports.db")
        # The text is the last argument.
        self.writers = {"database": (DATABASE, self.database, "write", "report"),
                        "objects": (OBJECT_STORE, "put", self.url),
                        "files": (FILE_SERVER, self.folder, "report")}

    def listens(self):
        try:
            return self.http("GET")[0] == 404
        except OSError:
            return False

    def http(self, method, body=None, **headers):
        """(status, token, body)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            connection.request(method, "/report", body,
                               {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return answer.status, answer.getheader("Fencing-Token"), answer.read().decode()
        finally:
            connection.close()

    def content(self, store):
        """What a store has, as "TOKEN TEXT"."""
        if store == "database":
            return run(DATABASE, self.database, "read", "report")[1].strip()
        if store == "objects":
            return " ".join(self.http("GET")[1:])
        with open(f"{self.folder}/report", encoding="utf-8") as file:
            text = file.read().strip()
        with open(f"{self.folder}/report.token", encoding="utf-8") as file:
            return f"{file.read().strip()} {text}"


class TokensByHand(unittest.TestCase):
    def setUp(self):
        self.stores = Stores(self)

    def test_a_smaller_token_is_refused_and_an_equal_one_accepted(self):
        for store, write in self.stores.writers.items():
            with self.subTest(store):
                self.assertEqual(run(*write, "A's", token=33)[0], 0)
                self.assertEqual(run(*write, "B's", token=34)[0], 0)
                status, _, errors = run(*write, "A's, late", token=33)
                self.assertEqual(status, 1)
                self.assertRegex(errors, "^refused: token 33 is older than 34, ")
                self.assertEqual(self.stores.content(store), "34 B's")
                self.assertEqual(run(*write, "B's second", token=34)[0], 0)
                self.assertEqual(self.stores.content(store), "34 B's second")

    def test_tokens_are_numbers_of_53_bits_not_texts(self):
        for store, write in self.stores.writers.items():
            with self.subTest(store):
                self.assertEqual(run(*write, "nine", token=9)[0], 0)
                self.assertEqual(run(*write, "ten", token=10)[0], 0)
                self.assertEqual(run(*write, "late", token=9)[0], 1)
                self.assertEqual(run(*write, "last", token=2**53 - 1)[0], 0)
                self.assertEqual(run(*write, "late", token=2**53 - 2)[0], 1)
                self.assertEqual(self.stores.content(store), f"{2**53 - 1} last")

    def test_nobody_writes_without_a_token(self):
        for store, write in self.stores.writers.items():
            with self.subTest(store):
                status, _, errors = run(*write, "nobody's")
                self.assertNotEqual(status, 0)
                self.assertIn("REDLOCK_TOKEN", errors)
        self.assertEqual(self.stores.http("PUT", "nobody's")[0], 428)
        self.assertEqual(self.stores.http("PUT", "nobody's", Fencing_Token="many")[0], 400)
        self.assertEqual(self.stores.http("GET")[0], 404)

    def test_of_writers_at_once_the_largest_token_stays(self):
        tokens = list(range(100, 116))
        random.shuffle(tokens)
        for store, write in self.stores.writers.items():
            with self.subTest(store), concurrent.futures.ThreadPoolExecutor(8) as pool:
                done = list(pool.map(lambda token, write=write: run(*write, f"by {token}",
                                                                    token=token), tokens))
                self.assertLessEqual({status for status, _, _ in done}, {0, 1}, done)
                self.assertEqual(self.stores.content(store), "115 by 115")

    def test_the_object_store_tells_who_was_there(self):
        self.assertEqual(self.stores.http("PUT", "B's", Fencing_Token="34"), (204, "34", ""))
        status, token, text = self.stores.http("PUT", "late", Fencing_Token="33")
        self.assertEqual((status, token), (412, "34"))
        self.assertIn("token 33 is older than 34", text)
        self.assertEqual(self.stores.http("GET"), (200, "34", "B's"))

    def test_a_claim_shuts_older_holders_out_before_it_reads(self):
        write = self.stores.writers["database"]
        claim = (DATABASE, self.stores.database, "claim", "report")
        self.assertEqual(run(*write, "1", token=33)[0], 0)
        self.assertEqual(run(*claim, token=34), (0, "34 1\n", ""))
        self.assertEqual(run(*write, "2", token=33)[0], 1)
        self.assertEqual(run(*claim, token=33)[0], 1)
        self.assertEqual(run(*write, "2", token=34)[0], 0)

    def test_the_file_server_takes_files_and_no_ways_out(self):
        write = (FILE_SERVER, self.stores.folder)
        self.assertEqual(run(*write, "a.csv", token=1, stdin="1;2\n")[0], 0)
        with open(f"{self.stores.folder}/a.csv", encoding="utf-8") as file:
            self.assertEqual(file.read(), "1;2\n")
        for name in ("../a", ".a", ""):
            self.assertEqual(run(*write, name, token=1)[0], 64)


class TokensOfLocks(GroupTest):
    def setUp(self):
        super().setUp()
        self.stores = Stores(self)
        # `redlock` is found by name, as in the examples' own words.
        self.environment["PATH"] = os.path.dirname(REDLOCK) + os.pathsep + os.environ["PATH"]

    def test_a_paused_client_cannot_overwrite_what_the_next_holder_wrote(self):
        for store, write in self.stores.writers.items():
            with self.subTest(store):
                story = subprocess.run(
                    [os.path.join(EXAMPLES, "paused_client.sh"), *write], env=self.environment,
                    stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S,
                    check=False)
                self.assertExit(0, story)
                a, b = (int(re.search(rf"^{who} has token (\d+) and ", story.stdout, re.M)[1])
                        for who in "AB")
                self.assertLess(a, b)
                self.assertRegex(story.stderr, rf"^refused: token {a} is older than {b}, ")
                self.assertEqual(self.stores.content(store), f"{b} by B")

    def test_the_story_fails_over_a_store_that_does_not_look_at_tokens(self):
        careless = os.path.join(self.stores.folder, "careless")
        story = subprocess.run(
            [os.path.join(EXAMPLES, "paused_client.sh"), "sh", "-c", 'echo "$1" >"$0"', careless],
            env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=PATIENCE_S, check=False)
        self.assertExit(1, story)
        self.assertIn("A overwrote what B wrote", story.stderr)
        with open(careless, encoding="utf-8") as file:
            self.assertEqual(file.read(), "by A\n")

    def test_run_passes_the_token_to_every_store(self):
        for store, write in self.stores.writers.items():
            with self.subTest(store):
                lock = self.acquire("report")
                self.assertExit(0, self.redlock("release", "report", "--value",
                                                lock["REDLOCK_VALUE"]))
                self.assertExit(0, self.redlock("run", "report", "--", *write, "by the next one"))
                token, text = self.stores.content(store).split(" ", 1)
                self.assertEqual(text, "by the next one")
                self.assertGreater(int(token), int(lock["REDLOCK_TOKEN"]))
                self.assertEqual(run(*write, "late", token=lock["REDLOCK_TOKEN"])[0], 1)


if __name__ == "__main__":
    unittest.main()
