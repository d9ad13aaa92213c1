"""The page of `redlock status --http` and of a front door as a browser shows it: Debian's Chromium,
by Selenium. So the pages of a drill and of a bench.

REDLOCK_SCREENSHOTS=FOLDER keeps what was seen.
"""

import http.client
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

from group import GroupTest, ask, reserve_ports, wait_until
from test_check import TWO_HOLDERS, CheckTest, acquired, history, releases

SCREENSHOTS = os.environ.get("REDLOCK_SCREENSHOTS")
WIDTHS = (360, 1600)
HOSTILE = "<img src=x onerror=document.title='hit'>\u2028</script>"


class InBrowser:
    """Of a unittest.TestCase."""

    def start_browser(self):
        options = webdriver.ChromeOptions()
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.addCleanup(self.browser.quit)

    def text(self, selector):
        # Rows are made anew while they are read.
        return self.browser.execute_script(
            "const found = document.querySelector(arguments[0]);"
            "return found === null ? '' : found.textContent", selector)

    def until(self, selector, pattern):
        wait_until(lambda: re.search(pattern, self.text(selector)), f"{pattern} in {selector}")
        return self.text(selector)

    def assert_quiet(self):
        self.assertEqual(self.browser.get_log("browser"), [])

    def show_at(self, theme, width, height):
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": theme}]})
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def keep_screenshot(self, name):
        if SCREENSHOTS:
            self.browser.save_screenshot(str(pathlib.Path(SCREENSHOTS) / f"{name}.png"))

    def assert_nothing_is_wider_than(self, width):
        self.assertLessEqual(self.browser.execute_script(
            "return document.documentElement.scrollWidth"), width)


class OfGroup(InBrowser, GroupTest):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.drop_group)
        [port] = reserve_ports(1)
        self.address = f"127.0.0.1:{port}"
        self.start_browser()

    def open(self, credentials=""):
        self.browser.get(f"http://{credentials}{self.address}/")

    def assert_it_fits(self, name, selector, pattern):
        """By day and by night, on a phone and on a large screen."""
        for theme in ("light", "dark"):
            for width in WIDTHS:
                self.show_at(theme, width, 1000)
                self.open()
                self.until(selector, pattern)
                self.assert_nothing_is_wider_than(width)
                for table in self.browser.find_elements(By.CSS_SELECTOR, ".wide"):
                    self.assertLessEqual(int(table.get_property("scrollWidth")),
                                         int(table.get_property("clientWidth")), width)
                self.keep_screenshot(f"{name}-{theme}-{width}")
        self.assert_quiet()


class Status(OfGroup):
    def setUp(self):
        super().setUp()
        self.page = self.start_redlock("status", "--http", self.address)
        self.assertIn(self.address, self.page.stdout.readline())

    def test_a_killed_node_is_seen_within_two_seconds_and_its_delay_counts_down(self):
        self.open()
        self.until("#verdict-text", "all is well; 2 may fail")
        self.assertEqual(self.browser.find_element(By.ID, "verdict").get_attribute("class"), "well")
        node = self.group.nodes[1]
        node.kill()
        killed = time.monotonic()
        self.until("#nodes tr:nth-child(2) .state", "refused|closed|no answer|reset")
        self.assertLess(time.monotonic() - killed, 2)
        self.until("#verdict-text", "1 may fail|one may fail|4 of 5")
        node.folder += "-new"
        node.start()
        node.await_begun()
        seen = set()
        wait_until(lambda: seen.add(self.until(
            "#nodes tr:nth-child(2) .state", "recovering, grants in")) or len(seen) > 3,
            "a delay that counts down")
        self.assert_quiet()

    def test_hostile_names_are_text(self):
        self.open()
        for node in self.group.nodes[:3]:
            ask(node.port, "SET", HOSTILE, "x", "PX", "20000")
        self.until("#locks .name", "<img src=x onerror")
        self.assertEqual(self.browser.find_elements(By.CSS_SELECTOR, "#locks img"), [])
        self.assertNotEqual(self.browser.title, "hit")
        self.assert_quiet()

    def test_nothing_is_wider_than_the_window_by_day_and_by_night(self):
        self.start_job("nightly-report-of-all-departments-and-some-more", "sleep 60")
        self.assert_it_fits("page", "#locks .name", "nightly-report")

    def test_a_page_that_came_when_too_many_looked_comes_alive(self):
        others = []
        for _ in range(16):
            other = http.client.HTTPConnection(self.address)
            other.request("GET", "/events")
            others.append(other.getresponse())
        self.open()
        time.sleep(1)
        self.assertEqual(self.text("#contact"), "not heard yet")
        for other in others:
            other.close()
        self.until("#contact", "live")

    def test_it_says_when_nothing_is_heard_any_more(self):
        self.open()
        self.until("#contact", "live")
        self.page.send_signal(signal.SIGSTOP)
        self.until("#contact", "no word for")


class Door(OfGroup):
    def serve(self, *words):
        [port] = reserve_ports(1)
        self.start_redlock("serve", "--listen", f"127.0.0.1:{port}", "--http", self.address, *words,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: ask(port, "ECHO", "there"), "the door listens")
        return port

    def test_it_shows_how_long_locks_took_and_which_nodes_had_no_say(self):
        port = self.serve()
        self.open()
        self.until("#acquired", "none was taken yet")
        self.assertFalse(self.browser.find_element(By.ID, "acquisitions").is_displayed())
        self.group.kill(3)
        for number in range(1200):
            self.assertEqual(ask(port, "SET", f"lock {number}", "a", "NX", "PX", "20000"), "+OK")
        self.until("#nodes tr:nth-child(4) .votes", "1,(199|200) no answer")
        self.until("#nodes tr:nth-child(1) .votes", "none")
        self.until("#acquired", "half within [0-9.]+ ms, 99 of 100 within [0-9.]+ m?s")
        rows = self.browser.execute_script(  # at once, as they are made anew each second
            "return [...document.querySelectorAll('#bars tr')].map((row) =>"
            "  [row.querySelector('.number').textContent,"
            "   row.querySelector('.bar div')?.getBoundingClientRect().width ?? 0])")
        counts = [int(count.replace(",", "")) for count, _ in rows]
        widths = [width for _, width in rows]
        self.assertEqual(sum(counts), 1200)
        self.assertEqual([width > 0 for width in widths], [count > 0 for count in counts])
        self.assertEqual(widths.index(max(widths)), counts.index(max(counts)))
        self.assertGreater(max(widths), 100)
        self.assert_it_fits("door", "#nodes tr:nth-child(4) .votes", "no answer")

    def test_the_password_is_asked_for_and_is_good_for_all_of_the_page(self):
        self.serve("--requirepass", "secret")
        self.open("anybody:wrong@")
        self.assertEqual(self.browser.find_elements(By.ID, "verdict"), [])
        self.open("anybody:secret@")
        self.until("#verdict-text", "all is well")
        self.until("#contact", "live")


class Bench(InBrowser, GroupTest):
    """The report of `redlock bench`."""

    def test_its_pictures_fit_any_screen_by_day_and_by_night(self):
        self.addCleanup(self.drop_group)
        self.group.kill(4)
        folder = tempfile.TemporaryDirectory(prefix="redlock-test.")
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name, "report.html")
        self.assertExit(0, self.redlock("bench", "--for", "2s", "--html", str(path)))
        self.start_browser()
        for theme in ("light", "dark"):
            for width in WIDTHS:
                self.show_at(theme, width, 1300)
                self.browser.get(f"file://{path}")
                self.until("#headline", "[1-9][0-9,]* locks a second")
                self.keep_screenshot(f"bench-{theme}-{width}")
                self.assert_nothing_is_wider_than(width)
                self.browser.execute_script(  # on a machine that is busy
                    "for (const cell of document.querySelectorAll('#latencies td.number'))"
                    "  cell.textContent = '9,999.99 ms'")
                self.assert_nothing_is_wider_than(width)
                bars = self.browser.find_elements(By.CSS_SELECTOR, ".bar div")
                self.assertGreater(max(bar.size["width"] for bar in bars), width / 5)
        self.assert_quiet()


class Timeline(InBrowser, CheckTest):
    """The picture of a drill's history."""

    def setUp(self):
        super().setUp()
        self.start_browser()

    def bottom(self, selector):
        return self.browser.execute_script(
            "return document.querySelector(arguments[0]).getBoundingClientRect().bottom", selector)

    def test_the_chart_is_on_the_first_screen_of_a_phone_and_its_names_are_whole(self):
        clients = [f"client {number}" for number in range(1, 17)]
        events = [event for number, client in enumerate(clients) for event in (
            acquired(10 + 10 * number, client, str(number), 1000, lock=f"lock {number % 12 + 1}"),
            releases(15 + 10 * number, client, str(number), lock=f"lock {number % 12 + 1}"))]
        page = self.page(history(*events, clients=clients, title="chaos, seed 12345",
                                 nodes=[f"10.0.1.{number}:7001" for number in range(1, 6)]))
        for theme in ("light", "dark"):
            for width, height in ((360, 640), (1600, 900)):
                self.show_at(theme, width, height)
                self.browser.get(f"file://{page}")
                self.until("#verdict-text", "Nothing found: ")
                self.keep_screenshot(f"timeline-{theme}-{width}")
                self.assert_nothing_is_wider_than(width)
                self.assertLess(self.bottom("#names .lane"), height)
                for name in self.browser.find_elements(
                        By.CSS_SELECTOR, "#names span, #corner span"):
                    self.assertLessEqual(int(name.get_property("scrollWidth")),
                                         int(name.get_property("offsetWidth")), name.text)
        self.assert_quiet()

    def test_hostile_names_are_text_and_make_nothing_wider(self):
        page = self.page(TWO_HOLDERS)
        self.show_at("light", 360, 640)
        self.browser.get(f"file://{page}")
        self.until("#verdict-text", "two holders")
        self.assert_nothing_is_wider_than(360)
        self.assertEqual(self.browser.find_elements(By.CSS_SELECTOR, "#names b"), [])
        self.assert_quiet()


if __name__ == "__main__":
    unittest.main()
