"""The page of `redlock status --http` as a browser shows it: Debian's Chromium, by Selenium.

REDLOCK_SCREENSHOTS=FOLDER keeps what was seen.
"""

import http.client
import os
import pathlib
import re
import signal
import time
import unittest

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

from group import GroupTest, ask, reserve_ports, wait_until

SCREENSHOTS = os.environ.get("REDLOCK_SCREENSHOTS")
WIDTHS = (360, 1600)
HOSTILE = "<img src=x onerror=document.title='hit'>\u2028</script>"


class InBrowser(GroupTest):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.drop_group)
        [port] = reserve_ports(1)
        self.address = f"127.0.0.1:{port}"
        self.page = self.start_redlock("status", "--http", self.address)
        self.assertIn(self.address, self.page.stdout.readline())
        options = webdriver.ChromeOptions()
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.addCleanup(self.browser.quit)

    def open(self):
        self.browser.get(f"http://{self.address}/")

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
        for theme in ("light", "dark"):
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                "features": [{"name": "prefers-color-scheme", "value": theme}]})
            for width in WIDTHS:
                self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                    "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
                self.open()
                self.until("#locks .name", "nightly-report")
                self.assertLessEqual(self.browser.execute_script(
                    "return document.documentElement.scrollWidth"), width)
                if SCREENSHOTS:
                    folder = pathlib.Path(SCREENSHOTS)
                    self.browser.save_screenshot(str(folder / f"page-{theme}-{width}.png"))
        self.assert_quiet()

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


if __name__ == "__main__":
    unittest.main()
