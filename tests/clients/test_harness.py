"""The tests of libraries, tested: every scenario finds the fault that it is there for, a registry
that does not answer is told from one that says no, and the page says what a run found."""

import concurrent.futures
import pathlib
import sys
import tempfile
import types
import unittest

import contender
import library
import page
import play
import run
import scenarios
from contender import Program
from library import Broken, Fault, Library, Unreachable

HERE = pathlib.Path(__file__).resolve().parent
PLAYS_AT_ONCE = 4

# A fault of the toy, over how many nodes it locks, and the scenario that finds it.
FAULTS = [
    ("takes any", 1, "contend"),
    ("longer TTL", 1, "acquire"),
    ("releases any", 1, "wrong owner"),
    ("extends any", 1, "wrong owner"),
    ("feature fails", 1, "features"),
    ("hides errors", 1, "recovering"),
    ("waits for all", 5, "recovering"),
    ("ignores the quorum", 5, "three down"),
    ("leaves its votes", 5, "three down"),
]


def toy(fault="", nodes=1, **more):
    return Library("Python", "toy", "1", fault or "honest", nodes=nodes, place=HERE,
                   program=Program((sys.executable, HERE / "toy.py", *fault.split())), **more)


def outcome(which):
    with tempfile.TemporaryDirectory(prefix="redlock-test-") as folder:
        return play.library(which, folder)


def statuses(result):
    return {name: scene["status"] for name, scene in result["scenarios"].items()}


class Scenarios(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cases = [("", 1, None), ("", 5, None), *FAULTS]
        with concurrent.futures.ThreadPoolExecutor(PLAYS_AT_ONCE) as pool:
            results = pool.map(lambda case: outcome(toy(*case[:2])), cases)
            cls.results = {case[:2]: result for case, result in zip(cases, results)}

    def test_a_library_without_faults_passes_everything(self):
        for nodes in (1, 5):
            result = self.results["", nodes]
            self.assertEqual(set(statuses(result).values()), {"passed"}, result)
            self.assertEqual(result["status"], "passed")

    def test_every_fault_is_found_by_its_scenario(self):
        for fault, nodes, scene in FAULTS:
            with self.subTest(fault):
                result = self.results[fault, nodes]
                self.assertEqual(result["scenarios"][scene]["status"], "failed", result)
                self.assertEqual(result["status"], "failed")

    def test_one_that_wakes_late_is_found(self):
        result = {"figures": {}, "says": {}, "scenarios": {}}
        contend = next(scene for scene in scenarios.ALL[scenarios.SERVING]
                       if scene.name == "contend")
        with (tempfile.TemporaryDirectory(prefix="redlock-test-") as folder,
              play.Act(toy(wakes_within_ms=0.001), folder, result, scenarios.SERVING) as act):
            self.assertRegex(act.run(contend), "bob woke after [0-9]+ ms")

    def test_a_program_that_takes_no_locks_is_tried_for_its_features(self):
        for fault, status in (("", "passed"), ("feature fails", "failed")):
            result = outcome(toy(fault, takes_locks=False))
            self.assertEqual(statuses(result), {"features": status}, result)
            self.assertEqual(result["status"], status)

    def test_what_the_user_sees_of_a_recovering_node_is_noted(self):
        said = self.results["", 1]["says"]["a recovering node"]
        self.assertRegex(said, "recovering after a restart, no new locks for [0-9]+ ms")

    def test_the_time_of_an_acquisition_is_measured(self):
        figures = self.results["", 5]["figures"]
        for name in ("healthy_ms", "recovering_ms", "one_down_ms", "two_down_ms"):
            self.assertGreater(figures[name], 0)


class FrontDoor(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        faults = ("", "feature fails", "releases any")
        with concurrent.futures.ThreadPoolExecutor(PLAYS_AT_ONCE) as pool:
            results = pool.map(lambda fault: outcome(toy(fault).behind_a_door()), faults)
            cls.results = dict(zip(faults, results))

    def test_a_library_is_tried_over_one_as_over_five_nodes(self):
        result = self.results[""]
        self.assertEqual(result["status"], "passed", result)
        self.assertEqual({result["scenarios"][name]["status"] for name in (
            "acquire", "restart under way", "two stopped", "three stopped", "door killed",
            "two down", "three down")}, {"passed"})

    def test_what_it_refuses_is_no_failure(self):
        result = self.results["feature fails"]
        self.assertEqual((result["status"], result["scenarios"]["features"]["status"]),
                         ("passed", "refused"))

    def test_what_is_listed_as_not_working_with_one_must_be_so(self):
        listed = toy(no_door=Fault("released bob's", "it releases any")).behind_a_door()
        for fault, status in (("releases any", "does not work"), ("", "failed")):
            result = play.not_behind_a_door(listed, self.results[fault])
            self.assertEqual(result["status"], status, result)

    def test_a_fault_is_found_over_one_as_well(self):
        result = self.results["releases any"]
        self.assertEqual((result["status"], result["scenarios"]["wrong owner"]["status"]),
                         ("failed", "failed"))


class Judgement(unittest.TestCase):
    KNOWN = toy(faults={"contend": Fault("taken twice", "it does not look")})

    def status(self, failure):
        return play.judge(self.KNOWN, "contend", failure)["status"]

    def test_a_known_fault_must_be_seen_as_it_is_known(self):
        self.assertEqual(self.status("it was taken twice"), "known fault")
        self.assertEqual(self.status("it hung"), "failed")
        self.assertEqual(self.status(None), "failed")

    def test_without_one_a_failure_is_a_failure(self):
        self.assertEqual(play.judge(self.KNOWN, "acquire", "it hung")["status"], "failed")
        self.assertEqual(play.judge(self.KNOWN, "acquire", None)["status"], "passed")
        self.assertEqual(play.judge(self.KNOWN, "extend", play.NOT_OFFERED)["status"],
                         play.NOT_OFFERED)

    def test_a_library_that_is_listed_as_unusable_must_be_so(self):
        with tempfile.TemporaryDirectory(prefix="redlock-test-") as folder:
            listed = toy(unusable=Fault("LPUSH", "it needs lists"))
            self.assertEqual(play.unusable(listed, folder)["status"], "failed")
            listed = toy("longer TTL", unusable=Fault("PTTL", "it needs longer"))
            self.assertEqual(play.unusable(listed, folder)["status"], "does not work")


class Drivers(unittest.TestCase):
    def start(self, program):
        folder = tempfile.TemporaryDirectory(prefix="redlock-test-")
        self.addCleanup(folder.cleanup)
        driver = contender.Contender("alice", Program((sys.executable, "-c", program)),
                                     pathlib.Path(folder.name) / "log")
        self.addCleanup(driver.end)
        return driver

    def test_what_a_library_prints_is_no_answer(self):
        driver = self.start("input(); print('hello'); print('= yes 1.5 acquire release')")
        answer = driver.open(["127.0.0.1:1"])
        self.assertEqual((answer.yes, answer.took_ms), (True, 1.5))
        self.assertEqual(driver.words, ["acquire", "release"])

    def test_one_that_dies_or_hangs_or_says_nonsense_is_a_defect(self):
        for program in ("import sys; sys.exit('it broke')", "print('= perhaps 1')",
                        "import time; time.sleep(60)"):
            with self.assertRaises(contender.DriverError):
                self.start(program).ask("acquire", "printer", 1, 0, limit_s=1)


class Fetching(unittest.TestCase):
    def fetched(self, *command, **more):
        with tempfile.TemporaryDirectory(prefix="redlock-test-") as folder:
            wanted = Library("Python", "toy", "1", "x", program=None, fetch=(command,),
                             place=pathlib.Path(folder) / "toy", **more)
            library.fetch(wanted)
            return wanted

    def fails_with(self, text):
        return self.fetched(sys.executable, "-c", f"import sys; sys.exit({text!r})")

    def test_no_answer_is_told_from_a_no(self):
        for text in ("npm error code ETIMEDOUT", "npm error network EAI_AGAIN",
                     "ReadTimeoutError(... Read timed out. (read timeout=15)",
                     "Temporary failure in name resolution", "npm error code E503",
                     "dial tcp: connect: connection refused", "Could not resolve host: index",
                     "dial tcp: lookup proxy: no such host", "[7] Could not connect to server",
                     "returned status code: 503, reason phrase: Service Unavailable"):
            with self.assertRaises(Unreachable, msg=text):
                self.fails_with(text)
        for text in ("npm error code E404", "ERROR: No matching distribution found for toy==9",
                     "npm error code ETARGET", "error: linking with cc failed", ""):
            with self.assertRaises(Broken, msg=text):
                self.fails_with(text or " ")

    def test_a_build_that_fails_is_never_a_skip(self):
        command = (sys.executable, "-c", "import sys; sys.exit('connection refused')")
        with self.assertRaises(Broken):
            self.fetched("true", build=(command,))

    def test_what_is_there_is_not_fetched_again_until_its_pins_change(self):
        with tempfile.TemporaryDirectory(prefix="redlock-test-") as name:
            folder = pathlib.Path(name)
            pins = folder / "pins"
            pins.write_text("toy==1")
            wanted = Library("Python", "toy", "1", "x", program=None, pins=(pins,),
                             place=folder / "toy", fetch=(("sh", "-c", "echo once >>count"),))
            for text, times in (("toy==1", 1), ("toy==1", 1), ("toy==2", 2)):
                pins.write_text(text)
                library.fetch(wanted)
                self.assertEqual((folder / "toy/count").read_text(), "once\n" * times)


class Verdict(unittest.TestCase):
    def wrong(self, *kinds, missing=(), must_all=False):
        results = {str(number): {"status": kind} for number, kind in enumerate(kinds)}
        return list(run.verdict(results, missing, must_all))

    def test_more_than_two_skips_fail(self):
        self.assertEqual(self.wrong("passed", "does not work", "skipped", "skipped"), [])
        self.assertEqual(len(self.wrong("skipped", "skipped", "skipped")), 1)

    def test_one_failure_fails(self):
        self.assertEqual(len(self.wrong("passed", "failed")), 1)

    def test_missing_tools_fail_only_where_all_are_wanted(self):
        self.assertEqual(self.wrong("passed", missing=["Go"]), [])
        self.assertEqual(len(self.wrong("passed", missing=["Go"], must_all=True)), 1)


class Page(unittest.TestCase):
    EMPTY = "# Libraries\n" + "".join(
        f"\n{page.mark(table)}\n{page.mark(table, end=True)}\n" for table in ("works", "works not"))
    PASSED = {"figures": {"healthy_ms": 1.0, "recovering_ms": 2.0}, "says": {}, "status": "passed",
              "scenarios": {"acquire": {"status": "passed", "why": ""},
                            "extend": {"status": "not offered", "why": ""}}}
    REFUSED = {"figures": {}, "says": {}, "status": "does not work", "scenarios": {},
               "why": "error: no `LPUSH` here"}

    def test_a_run_writes_its_rows_and_leaves_the_others(self):
        one, two = toy("one", nodes=5), toy("two", unusable=Fault("x", "it needs lists"))
        text = page.updated(self.EMPTY, [one, two], {one.title: self.PASSED})
        text = page.updated(text, [one, two], {two.title: self.REFUSED})
        self.assertIn("| Python: toy 1 | one | passes; has no: extend |  | 2.0 ms, with all five "
                      "1.0 ms |  |\n", text)
        self.assertIn("| Python: toy 1 | two | it needs lists | `error: no 'LPUSH' here` |\n", text)

    def test_what_comes_of_it_over_a_front_door_has_a_cell_that_other_runs_leave(self):
        one = toy("one", nodes=5)
        text = page.updated(self.EMPTY, [one], {one.title: self.PASSED})
        refused = {**self.PASSED, "scenarios": {
            "acquire": {"status": "passed", "why": ""},
            "features": {"status": "refused", "why": "scan, hash"}}}
        text = page.updated(text, [one], {one.title: refused}, door=True)
        line = "| one | passes; has no: extend | passes; not: scan, hash | 2.0 ms, "
        self.assertIn(line, text)
        self.assertIn(line, page.updated(text, [one], {one.title: self.PASSED}))
        self.assertEqual(page.in_step(text, [one], {one.title: refused}, door=True), [])
        self.assertEqual(len(page.in_step(text, [one], {one.title: self.PASSED}, door=True)), 1)
        no = {**refused, "status": "does not work", "why": "it listens to channels"}
        self.assertIn("| no: it listens to channels |",
                      page.updated(text, [one], {one.title: no}, door=True))

    def test_a_library_that_is_no_more_leaves_the_page(self):
        one = toy("one")
        text = page.updated(self.EMPTY, [one], {one.title: self.PASSED})
        self.assertNotIn("toy", page.updated(text, [], {}))

    def test_it_is_in_step_but_for_figures(self):
        one = toy("one", nodes=5)
        text = page.updated(self.EMPTY, [one], {one.title: self.PASSED})
        slower = {**self.PASSED, "figures": {"healthy_ms": 8.0, "recovering_ms": 91.0}}
        self.assertEqual(page.in_step(text, [one], {one.title: slower}), [])
        worse = {**self.PASSED, "scenarios": {"acquire": {"status": "failed", "why": "hung"}}}
        self.assertEqual(len(page.in_step(text, [one], {one.title: worse})), 1)

    def test_the_written_page_tells_what_to_know_of_every_library(self):
        text = page.PAGE.read_text()
        missing = [listed.title for listed in run.libraries()
                   if page.row_key(listed) not in page.rows(text, page.table_of(listed))]
        self.assertEqual(missing, [])
        for listed in run.libraries():
            written = page.rows(text, page.table_of(listed))[page.row_key(listed)]
            self.assertIn(page.cell(listed.know), written)

    def test_a_language_has_tables_of_its_own(self):
        suite = types.SimpleNamespace(TABLES={"works not": (("What", "Why"), ("a | b", "text"))})
        text = page.with_tables(self.EMPTY, [suite, types.SimpleNamespace()])
        self.assertIn("| What | Why |\n| --- | --- |\n| a \\| b | text |\n", text)
        self.assertEqual(page.with_tables(text, [suite]), text)

    def test_a_library_that_cannot_be_installed_changes_nothing_on_the_page(self):
        title = run.libraries()[0].title
        for status in ("failed", "skipped"):
            results = {title: {"status": status, "why": "cannot be installed: sh: exit 1"}}
            for door in (False, True):
                self.assertEqual(list(run.settle_page(results, False, door)), [])

    def test_the_written_page_has_the_tables_of_all_languages(self):
        text = page.PAGE.read_text()
        self.assertEqual(page.with_tables(text, library.suites()), text)

    def test_ports_and_values_are_no_part_of_what_is_said(self):
        text = "ConnectionError: 111 connecting to 127.0.0.1:23456 printer-17, for 612 ms"
        self.assertEqual(page.plain(text),
                         "ConnectionError: 111 connecting to 127.0.0.1:PORT printer, for N ms")


class Suites(unittest.TestCase):
    def test_no_two_libraries_have_one_title(self):
        titles = [listed.title for listed in run.libraries()]
        self.assertEqual(len(titles), len(set(titles)))

    def test_a_library_is_chosen_by_its_name_its_language_or_its_title(self):
        self.assertTrue({"pottery", "redis-py"} <= {one.name for one in run.chosen(["Python"])})
        self.assertEqual({one.name for one in run.chosen(["pottery"])}, {"pottery"})
        with self.assertRaises(SystemExit):
            run.chosen(["nosuch"])

    def test_a_language_without_its_tools_is_named_with_them(self):
        suite = types.SimpleNamespace(TOOLS=("sh", "no-such-tool"))
        self.assertEqual(library.missing_tools(suite), ["no-such-tool"])

    def test_tools_that_are_too_old_are_named_with_the_version_that_is_needed(self):
        said = ("-c", "print('go version go1.19.8 linux/amd64')")
        for least, missing in (((1, 19), []), ((1, 21), [f"{sys.executable} 1.21 or newer"])):
            self.assertEqual(library.older(sys.executable, said, least), missing)
        suite = types.SimpleNamespace(TOOLS=("sh",), too_old=lambda: ["sh 9.1 or newer"])
        self.assertEqual(library.missing_tools(suite), ["sh 9.1 or newer"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
