#!/usr/bin/env python3
"""The completions offer what the programs know: bash's by calling them, zsh's by reading them."""

import pathlib
import re
import shutil
import tempfile
import unittest

import programs

FOLDER = programs.ROOT / "config/completions"

# Calls a completion as bash does, for a line whose last word is the one before the cursor.
CALL = r"""
source "$1"
function=$2
shift 2
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
"$function"
printf '%s\n' "${COMPREPLY[@]}"
"""


def completed(program, *words, cwd=None):
    """What bash would offer for the last of the words."""
    function = "_" + program.replace("-", "_")
    output = programs.run("bash", "-c", CALL, "bash", FOLDER / f"{program}.bash", function,
                          program, *words, cwd=cwd)
    return set(output.split())


class Bash(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="redlock-test.")
        self.addCleanup(self.folder.cleanup)
        pathlib.Path(self.folder.name, "a.conf").touch()
        pathlib.Path(self.folder.name, "state").mkdir()

    def here(self, program, *words):
        return completed(program, *words, cwd=self.folder.name)

    def test_redlock_offers_its_words(self):
        self.assertEqual(completed("redlock", ""), set(programs.redlock_words()))
        self.assertEqual(completed("redlock", "--nodes", "redis://a", "rel"), {"release"})

    def test_redlock_offers_the_options_of_each_word(self):
        common = programs.redlock_options()
        self.assertEqual(completed("redlock", "-"), common)
        for words in programs.redlock_commands():
            with self.subTest(words):
                own = common | programs.redlock_options(*words)
                self.assertEqual(completed("redlock", *words, "-") - {"--"}, own)

    def test_redlock_offers_files_and_signals_as_values(self):
        self.assertEqual(self.here("redlock", "--config", "a"), {"a.conf"})
        self.assertEqual(self.here("redlock", "up", "--dir", ""), {"state"})
        self.assertEqual(completed("redlock", "run", "--signal", "US"), {"USR1", "USR2"})
        self.assertEqual(completed("redlock", "run", "--ttl", ""), set())

    def test_redlock_drill_offers_its_drills(self):
        self.assertEqual(completed("redlock", "drill", ""), set(programs.redlock_words("drill")))
        self.assertEqual(completed("redlock", "drill", "--json", "res"), {"restart"})
        self.assertEqual(self.here("redlock", "drill", "check", "a"), {"a.conf"})

    def test_redlock_run_offers_commands_after_the_dashes(self):
        self.assertIn("mktemp", completed("redlock", "run", "nightly", "--", "mktem"))
        self.assertEqual(self.here("redlock", "run", "nightly", "--", "cat", "a"), {"a.conf"})
        self.assertEqual(completed("redlock", "run", "nightly", ""), set())

    def test_redlock_node_offers_its_settings_and_their_values(self):
        settings = {f"--{name}" for name in programs.node_settings()}
        known = settings | programs.node_options()
        self.assertEqual(completed("redlock-node", "-"), known)
        self.assertEqual(completed("redlock-node", "--max"),
                         {name for name in known if name.startswith("--max")})
        self.assertEqual(completed("redlock-node", "--restart-delay", ""), {"auto", "off"})

    def test_redlock_node_offers_files_where_one_is_expected(self):
        self.assertEqual(self.here("redlock-node", ""), {"a.conf", "state"})
        self.assertEqual(self.here("redlock-node", "a.conf", "--dir", ""), {"state"})
        self.assertEqual(self.here("redlock-node", "--logfile", "a"), {"a.conf"})


class Zsh(unittest.TestCase):
    def test_every_word_option_and_setting_stands_in_them(self):
        redlock = (FOLDER / "_redlock").read_text()
        options = set(programs.redlock_options())
        for word in programs.redlock_words():
            self.assertIn(f"'{word}:", redlock)
        for words in programs.redlock_commands():
            options |= programs.redlock_options(*words)
        for option in options:
            self.assertRegex(redlock, rf"['{{,)]{re.escape(option)}[}}\[]")
        node = (FOLDER / "_redlock-node").read_text()
        for name in programs.node_settings():
            self.assertIn(f"'--{name}[", node)

    @unittest.skipUnless(shutil.which("zsh"), "no zsh on this machine")
    def test_zsh_can_read_them(self):
        for name in ("_redlock", "_redlock-node"):
            programs.run("zsh", "-n", FOLDER / name)


if __name__ == "__main__":
    unittest.main()
