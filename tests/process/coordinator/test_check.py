"""redlock drill check: judges histories, and draws them on a page that a real browser shows."""

import html.parser
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from group import PATIENCE_S, REDLOCK, ROOT, SANITIZED

MS = 1000000
CHROMIUM = shutil.which("chromium")
BROWSER_S = 60  # its first start on a busy machine takes that long at worst


def history(*events, **header):
    """The text of one; events are (ms, who, what, fields)."""
    lines = [{"format": "redlock-history", "version": 1, **header}]
    lines += [{"t": int(ms * MS), "who": who, "what": what, **fields}
              for ms, who, what, fields in events]
    return "".join(json.dumps(line) + "\n" for line in lines)


def acquired(ms, who, hold, until, lock="printer", **fields):
    return (ms, who, "acquired", {"lock": lock, "hold": hold, "asked": int((ms - 1) * MS),
                                  "valid_until": int(until * MS), **fields})


def releases(ms, who, hold, lock="printer"):
    return (ms, who, "releases", {"lock": lock, "hold": hold})


HANDED_OVER = history(
    acquired(10, "anna", "1", 100, token=1), releases(50, "anna", "1"),
    acquired(51, "bert", "2", 150, token=2), releases(60, "bert", "2"))
REVIVED = history(
    acquired(10, "anna", "1", 9000, token=1, ttl_ms=10000),
    acquired(9500, "bert", "2", 15000, token=2, ttl_ms=10000), releases(16000, "bert", "2"),
    (18000, "anna", "extended", {"lock": "printer", "hold": "1", "valid_until": 27000 * MS}),
    releases(19000, "anna", "1"), clock_drift=0.01)
TOO_LONG = history(
    acquired(10, "anna", "1", 900000, token=1, ttl_ms=10000), releases(50, "anna", "1"))
STARVED = history(
    acquired(10, "anna", "1", 9000, token=1, ttl_ms=10000),
    (20, "bert", "asks", {"lock": "printer"}),
    (21, "bert", "waits", {"lock": "printer", "until": 9000 * MS}),
    releases(40, "anna", "1"),
    *(event for i in range(17) for event in (
        acquired(50 + i, "anna", f"a{i}", 9000, token=2 + i, ttl_ms=10000),
        releases(50.5 + i, "anna", f"a{i}"))),
    acquired(70, "bert", "b", 9000, token=20, ttl_ms=10000), releases(80, "bert", "b"))
TWO_HOLDERS = history(
    acquired(10, "anna", "1", 100), (20, "node 1", "killed", {}), (30, "node 1", "started", {}),
    acquired(40, "bert", "2", 150), releases(90, "anna", "1"), releases(95, "bert", "2"),
    title="</script><script>document.documentElement.dataset.state = 'fooled'</script>",
    nodes=["127.0.0.1:7001"], clients=["anna", "bert", "<b>carl</b> & sons"])


class CheckTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="redlock-test.")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, text, name="history.jsonl"):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def check(self, *words, **options):
        return subprocess.run([REDLOCK, "drill", "check", *words], text=True, capture_output=True,
                              timeout=PATIENCE_S, **options)

    def page(self, text):
        """The path of the timeline of this history."""
        path = os.path.join(self.folder, "timeline.html")
        done = self.check(self.file(text), "--html", path)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return path


class Judging(CheckTest):
    def test_a_clean_history_ends_with_0(self):
        done = self.check(self.file(HANDED_OVER))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"\nNothing found: no two holders at once, ")

    def test_a_finding_ends_with_1_and_names_who_when_and_where(self):
        done = self.check(self.file(TWO_HOLDERS))
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertIn('lock "printer" had two holders for 50 ms, from 0.031000 s: anna (acquired '
                      "at 0.001000 s, line 2) and bert (acquired at 0.031000 s, line 5)",
                      done.stdout)

    def test_a_revived_hold_a_validity_beyond_its_ttl_and_a_starved_waiter_are_found(self):
        for text, kind, places in ((REVIVED, "revived", ["line 2", "line 5"]),
                                   (TOO_LONG, "long_validity", ["line 2"]),
                                   (STARVED, "starved", ["line 4", "line 38"])):
            done = self.check(self.file(text), "--json")
            report = json.loads(done.stdout)
            self.assertEqual((done.returncode, report["counts"][kind]), (1, 1), done.stdout)
            places_of = {one["kind"]: one["places"] for one in report["findings"]}
            self.assertEqual(places_of[kind], places)
            self.assertEqual(report["figures"]["without_ttl"], 0)
        done = self.check(self.file(TOO_LONG.replace(', "ttl_ms": 10000', "")))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("\n  TTLs              1 of 1 hold not told; ", done.stdout)

    def test_programs_get_one_object(self):
        done = self.check(self.file(TWO_HOLDERS), "--json")
        report = json.loads(done.stdout)
        self.assertEqual(done.returncode, 1)
        self.assertFalse(report["clean"])
        self.assertEqual(report["counts"]["overlap"], 1)
        self.assertEqual(report["findings"][0]["places"], ["line 2", "line 5"])
        self.assertEqual(report["figures"]["nodes"]["killed"], 1)

    def test_it_reads_standard_input_and_several_files(self):
        self.assertEqual(self.check("-", input=HANDED_OVER).returncode, 0)
        lines = TWO_HOLDERS.splitlines(keepends=True)
        first, second = self.file("".join(lines[:3]), "a"), self.file("".join(lines[3:]), "b")
        done = self.check(first, second)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"anna \(acquired at \S+ s, \S+/a:2\) and bert \(.*/b:2\)")

    def test_what_is_no_history_ends_with_65_and_says_why(self):
        for text, complaint in (("", "the file is empty"),
                                ("hello\n", "no JSON object: hello"),
                                (HANDED_OVER.replace('"acquired"', '"aquired"', 1),
                                 'there is no event "aquired"')):
            done = self.check(self.file(text))
            self.assertEqual((done.returncode, done.stdout), (65, ""))
            self.assertRegex(done.stderr, r"^redlock: \S+/history\.jsonl:\d+: .*\n$")
            self.assertIn(complaint, done.stderr)
        done = self.check(self.folder + "/none")
        self.assertEqual(done.returncode, 65)
        self.assertIn("none: cannot be opened: No such file", done.stderr)

    def test_a_page_that_cannot_be_written_ends_with_74(self):
        done = self.check(self.file(HANDED_OVER), "--html", self.folder + "/none/page.html")
        self.assertEqual(done.returncode, 74)
        self.assertIn("cannot be written", done.stderr)

    def test_without_a_file_it_is_a_usage_error(self):
        self.assertEqual(self.check().returncode, 64)

    def test_the_sample_of_the_documentation_passes(self):
        with open(os.path.join(ROOT, "docs/history.md"), encoding="utf-8") as file:
            sample = re.search(r"```jsonl\n(.*?)```", file.read(), re.S)[1]
        done = self.check("-", "--json", input=sample)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        writes = json.loads(done.stdout)["figures"]["writes"]
        self.assertEqual((writes["accepted"], writes["late_refused"]), (2, 1))


class WellFormed(html.parser.HTMLParser):
    """Reads a page strictly: every element is closed in order; collects what it refers to."""

    EMPTY = ("meta", "br", "link", "img", "input")

    def __init__(self, text):
        super().__init__()
        self.open, self.references, self.texts, self.identity = [], [], {}, None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.references += [value for name, value in attrs if name in ("src", "href", "action")]
        if tag not in self.EMPTY:
            self.open.append(tag)
        self.identity = dict(attrs).get("id")

    def handle_endtag(self, tag):
        if self.open.pop() != tag:
            raise AssertionError(f"{tag} is closed out of order")

    def handle_data(self, data):
        self.texts[self.identity] = self.texts.get(self.identity, "") + data


class Page(CheckTest):
    def test_it_is_well_formed_and_needs_nothing_else(self):
        with open(self.page(TWO_HOLDERS), encoding="utf-8") as file:
            text = file.read()
        page = WellFormed(text)
        self.assertEqual((page.open, page.references), ([], []))
        self.assertNotRegex(text, r"https?://|@import|url\(|/\*(STYLE|SCRIPT|HISTORY)\*/")
        self.assertIn("default-src 'none'", text)

    def test_it_has_the_history_whatever_its_names_are(self):
        with open(self.page(TWO_HOLDERS), encoding="utf-8") as file:
            told = json.loads(WellFormed(file.read()).texts["history"])
        self.assertTrue(told["title"].startswith("</script>"))
        self.assertEqual(told["clients"], ["anna", "bert", "<b>carl</b> & sons"])
        self.assertEqual(told["holds"]["from"], [1000, 31000])
        self.assertEqual(told["findings"][0]["holds"], [0, 1])

    def told(self, text):
        with open(self.page(text), encoding="utf-8") as file:
            return json.loads(WellFormed(file.read()).texts["history"])

    def test_a_clients_row_tells_whom_it_is_cut_off_from(self):
        nodes = [f"10.0.0.{number}:7001" for number in range(1, 4)]
        told = self.told(history(
            (10, "node 1", "cut", {"from": ["bert"]}), (20, "node 2", "cut", {}),
            (30, "node 1", "healed", {}), (40, "node 2", "healed", {}),
            # One partition cuts both, and is healed.
            (45, "node 1", "cut", {}), (45.2, "node 2", "cut", {}),
            (48, "node 1", "healed", {}), (48.2, "node 2", "healed", {}),
            (50, "node 3", "cut", {"from": ["anna"], "direction": "in"}),
            acquired(60, "anna", "1", 100), releases(70, "anna", "1"),
            nodes=nodes, clients=["anna", "bert"]))
        spells = [(told["clients"][one["party"]], one["from"] // 1000, one["to"] // 1000,
                   one["note"], one["has_quorum"])
                  for one in told["spells"] if one.get("is_of_nodes")]
        self.assertEqual(spells, [
            ("anna", 10, 30, "from node 2", True),
            ("anna", 35, 38, "from node 1 and node 2, and so from every quorum", False),
            ("anna", 40, 60, "from node 3", True),
            ("bert", 0, 10, "from node 1", True),
            ("bert", 10, 20, "from node 1 and node 2, and so from every quorum", False),
            ("bert", 20, 30, "from node 2", True),
            ("bert", 35, 38, "from node 1 and node 2, and so from every quorum", False)])

    def test_a_finding_may_be_of_one_who_waited_and_never_held(self):
        told = self.told(history(
            (20, "anna", "asks", {"lock": "printer"}),
            (21, "anna", "waits", {"lock": "printer", "until": 9000 * MS}),
            (30, "anna", "refused", {"lock": "printer", "why": "held"}), clients=["bert", "anna"]))
        self.assertEqual([(one["kind"], one["holds"], one["clients"])
                          for one in told["findings"]], [("starved", [], [1])])
        finding = self.told(STARVED)["findings"][0]
        self.assertEqual((finding["holds"], finding["clients"]), ([17], [1, 0]))

    def test_no_time_is_before_its_begin(self):
        told = self.told(HANDED_OVER)  # each was asked for a millisecond before all else
        self.assertEqual(told["holds"]["asked"], [0, 41000])
        self.assertEqual(told["attempts"]["from"], [0, 41000])

    def test_figures_are_told_as_people_tell_them(self):
        told = self.told(history(
            acquired(10, "anna", "1", 100), releases(50, "anna", "1"),
            (60, "bert", "asks", {"lock": "printer"}),
            (70, "bert", "refused", {"lock": "printer", "why": "no_quorum"}),
            acquired(60_150, "anna", "2", 61_000)))
        self.assertTrue(told["scale"].startswith("1 min, 2 clients"), told["scale"])
        self.assertEqual(told["figures"][0][2], "no quorum 1")
        self.assertEqual(told["whys"], ["no quorum"])

    def test_what_a_killed_client_held_ends_there(self):
        text = history(acquired(10, "anna", "1", 100), (40, "anna", "killed", {}),
                       (50, "anna", "started", {}), (120, "bert", "asks", {"lock": "printer"}))
        with open(self.page(text), encoding="utf-8") as file:
            holds = json.loads(WellFormed(file.read()).texts["history"])["holds"]
        self.assertEqual((holds["to"], holds["valid"], holds["end"]), ([31000], [91000], [3]))


@unittest.skipUnless(CHROMIUM, "chromium is not installed")
@unittest.skipIf(SANITIZED, "the page is the same")
class Browser(CheckTest):
    """The page in a real browser, which must draw every lane without a script error."""

    OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
               "--disable-background-networking", "--disable-component-update", "--disable-sync",
               "--window-size=1400,1000")

    def shown(self, text, place=""):
        """The attributes that the page's script leaves at <html>, and the page's text."""
        profile = os.path.join(self.folder, "profile")
        command = [CHROMIUM, *self.OPTIONS, f"--user-data-dir={profile}", "--dump-dom",
                   f"file://{self.page(text)}{place}"]
        dom = subprocess.run(command, text=True, capture_output=True, check=True,
                             timeout=BROWSER_S).stdout
        root = re.search(r"<html[^>]*>", dom)[0]
        return dict(re.findall(r'data-(\w+)="([^"]*)"', root)), dom

    def test_every_lane_is_drawn(self):
        shown, dom = self.shown(TWO_HOLDERS)
        self.assertNotIn("error", shown)
        self.assertEqual(shown["state"], "drawn")
        self.assertEqual(shown["lanes"], "5")  # a lock, a node, three clients
        self.assertEqual(shown["holds"], "4")  # each in the lane of its lock and of its client
        self.assertEqual(dom.count('class="lane"'), 5)
        self.assertIn("1 finding: two holders at once: 1.", dom)
        self.assertIn("&lt;b&gt;carl&lt;/b&gt; &amp; sons", dom)

    def test_a_finding_is_jumped_to(self):
        shown, dom = self.shown(TWO_HOLDERS, "#finding=1")
        self.assertEqual((shown["state"], shown.get("error")), ("drawn", None))
        self.assertRegex(dom, r"<button[^>]* aria-current")

    def test_an_empty_history_is_a_page_too(self):
        shown, dom = self.shown(history(title="nothing happened"))
        self.assertEqual((shown["state"], shown.get("error")), ("drawn", None))
        self.assertIn("nothing happened", dom)


if __name__ == "__main__":
    unittest.main()
