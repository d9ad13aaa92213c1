"""The runner believes only a full search: cut short, out of memory or another kind is no proof."""

import contextlib
import io
import re
import subprocess
import sys
import tempfile
import unittest

import run
import verdict
from cases import Case, Twin, bounds

VERIFIED = """
(Spin Version 6.5.2 -- 6 December 2019)
\t+ Compression

Full statespace search for:
\tnever claim         \t- (none specified)
\tassertion violations\t+
\tcycle checks       \t- (disabled by -DSAFETY)
\tinvalid end states\t+

State-vector 184 byte, depth reached 70, errors: 0
   201672 states, stored
   366836 states, matched
   568508 transitions (= stored+matched)
hash conflicts:      3242 (resolved)

  212.363\ttotal actual memory usage

pan: elapsed time 2.86 seconds
"""
REFUTED = VERIFIED.replace("errors: 0", "errors: 1") + (
    "pan:1: assertion violated (newest==a) (at depth 61)\nWarning: Search not completed\n")


class Reading(unittest.TestCase):
    def refused(self, output, status=0):
        found = verdict.read(output, status)
        self.assertFalse(found.is_verified, output)
        self.assertFalse(found.is_refuted, output)

    def test_a_full_search_without_errors_is_verified(self):
        found = verdict.read(VERIFIED, 0)
        self.assertTrue(found.is_verified, found.problems)
        self.assertEqual((found.states, found.depth, found.megabytes), (201672, 70, 212.363))

    def test_each_line_that_tells_of_a_full_search_is_needed(self):
        for line in ("Full statespace search", "assertion violations", "invalid end states",
                     "State-vector", "states, stored"):
            self.refused(re.sub(f".*{line}.*\n", "", VERIFIED))

    def test_a_search_that_was_cut_short_is_not_verified(self):
        for text in ("error: max search depth too small", "pan: out of memory",
                     "Warning: Search not completed", "aborting (ctrl-c or other signal)"):
            self.refused(f"{VERIFIED}{text}\n")

    def test_a_search_of_another_kind_is_not_verified(self):
        for kind in ("Bit statespace search for:", "Hash-Compact 4 search for:"):
            self.refused(VERIFIED.replace("Full statespace search for:", kind))
        for check in ("assertion violations", "invalid end states"):
            self.refused(VERIFIED.replace(f"{check}\t+", f"{check}\t- (disabled)"))

    def test_nothing_less_than_a_whole_output_of_a_verifier_that_ended_well_will_do(self):
        self.refused("")
        self.refused(VERIFIED, status=1)
        self.refused(VERIFIED[:VERIFIED.index("hash conflicts")].replace("errors: 0", "errors:"))

    def test_a_step_that_no_run_takes_is_not_passed_over(self):
        coverage = ("        2:  232:\tcase 20: // STATE 13 - a.pml:248 - [D_STEP248]\n"
                    "        1:  239:\t\tnow.crashes = 1;\n"
                    "    #####:  240:\t\tnow.given = 2;\n"
                    "    #####:  241:\t\tcontinue;\n")
        self.assertEqual(list(verdict.untaken(coverage)),
                         ["never taken, in the step at a.pml:248: now.given = 2;"])

    def test_a_failed_assertion_refutes_and_another_error_does_not(self):
        self.assertTrue(verdict.read(REFUTED, 0).is_refuted)
        self.refused(REFUTED.replace("assertion violated", "invalid end state"))
        self.refused(REFUTED.replace("errors: 1", "errors: 0"))


class Running(unittest.TestCase):
    """The same with spin itself."""

    CASE = Case("tokens", "tokens.pml", bounds(2, 1, 1))

    def run_case(self, case, *defines, **limits):
        with tempfile.TemporaryDirectory() as folder:
            workshop = run.Workshop(case, folder)
            workshop.build(*defines)
            return workshop.verify(**limits)

    def test_a_full_search_is_verified(self):
        found = self.run_case(self.CASE)
        self.assertTrue(found.is_verified, found.problems)

    def test_one_that_would_have_to_go_deeper_is_not(self):
        found = self.run_case(self.CASE, depth_max=80)
        self.assertIn("max search depth too small", found.problems)

    def test_one_that_runs_out_of_memory_is_not(self):
        found = self.run_case(self.CASE, "-UMEMLIM", "-DMEMLIM=140")
        self.assertIn("reached -DMEMLIM bound", found.problems)

    def test_one_that_stores_bits_for_states_is_not(self):
        self.assertFalse(self.run_case(self.CASE, "-UCOLLAPSE", "-DBITSTATE").is_verified)

    def test_one_with_steps_that_are_never_taken_is_not(self):
        case = Case("tokens", "tokens.pml", bounds(1, 1, 0), is_small=True)
        with contextlib.redirect_stdout(io.StringIO()) as told:
            self.assertFalse(run.check(case))
        self.assertIn("never taken, in the step at tokens.pml:", told.getvalue())

    def test_a_twin_that_breaks_nothing_is_a_failure(self):
        sound = Twin("NO_SUCH_RULE", "tokens.pml", bounds(2, 0, 0), rule="F", text="nothing")
        with contextlib.redirect_stdout(io.StringIO()) as told:
            self.assertFalse(run.check(sound))
        self.assertIn("NOT REFUTED", told.getvalue())

    def test_a_case_that_is_not_there_is_told(self):
        done = subprocess.run([sys.executable, run.__file__, "tokens-9"], text=True, check=False,
                              stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 64)
        self.assertIn("no case is tokens-9; there are: tokens-2", done.stderr)


if __name__ == "__main__":
    if run.missing_tools():
        sys.exit(77)
    unittest.main()
