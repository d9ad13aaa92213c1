#!/usr/bin/env python3
"""The manual pages know all that the programs know, and nothing that they do not."""

import re
import shutil
import unittest

import programs

PAGES = programs.ROOT / "docs/man"


def shown(name):
    """The page as text, with every entry of a list in one line."""
    text = programs.run("mandoc", "-T", "utf8", "-O", "width=900", PAGES / name)
    return re.sub(r".\x08", "", text)


def entries(text):
    """The heads of its lists, as {"--nodes", "-w", "port", …}: words before the explanation."""
    heads = re.findall(r"^     (\S.*?)(?:  .*)?$", text, re.M)
    return {re.sub(r"[,;].*", "", word) for head in heads for word in head.split()[:4]}


@unittest.skipUnless(shutil.which("mandoc"), "no mandoc")
class Pages(unittest.TestCase):
    def test_a_page_is_well_formed(self):
        for name in ("redlock.1", "redlock-node.1"):
            with self.subTest(name):
                programs.run("mandoc", "-T", "lint", "-W", "warning", PAGES / name)

    def test_redlock_has_every_word_option_and_exit_code(self):
        text = shown("redlock.1")
        heads = entries(text)
        options = programs.redlock_options()
        for words in programs.redlock_commands():
            self.assertIn(words[-1], heads)
            options |= programs.redlock_options(*words)
        self.assertGreater(len(options), 20)
        self.assertEqual(options - heads, set(), "are not explained")
        section = programs.redlock_help().split("Exit codes:\n")[1].split("\n\n")[0]
        codes = set(re.findall(r"\d+", " ".join(re.findall(r"^  (\d+(?:, \d+)*) ", section, re.M))))
        self.assertEqual(codes - heads, set(), "are not explained")

    def test_redlock_has_nothing_else(self):
        known = set(programs.redlock_options())
        for words in programs.redlock_commands():
            known |= programs.redlock_options(*words)
        told = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", shown("redlock.1")))
        self.assertEqual(told - known, set())

    def test_redlock_names_the_settings_of_its_file(self):
        text = shown("redlock.1")
        config = (programs.ROOT / "config/redlock.conf").read_text()
        for name in re.findall(r"^#([a-z][a-z-]*) \S+$", config, re.M):
            self.assertRegex(text, rf"The names are those of the flags:.*\b{name}\b")

    def test_redlock_node_has_every_setting_and_option(self):
        settings = programs.node_settings()
        self.assertGreater(len(settings), 30)
        heads = entries(shown("redlock-node.1"))
        self.assertEqual(set(settings) - heads, set(), "are not explained")
        options = programs.node_options()
        self.assertIn("--bootstrap", options)
        self.assertEqual(options - heads - {f"--{name}" for name in settings}, set())

    def test_redlock_node_has_nothing_else(self):
        known = programs.node_options() | {f"--{name}" for name in programs.node_settings()}
        told = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", shown("redlock-node.1")))
        self.assertEqual(told - known - {"--setting", "--now"}, set())  # systemctl has --now


if __name__ == "__main__":
    unittest.main()
