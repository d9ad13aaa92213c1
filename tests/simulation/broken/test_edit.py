"""An edit replaces just what it names, and one that has lost its place is refused: test_edit.py"""

import pathlib
import tempfile
import unittest

import edit

HERE = pathlib.Path(__file__).resolve().parent
FIELDS = "rule: R3\nwrong: It forgets.\n  And more.\nseeds: 1..10\n\nfile: a/b.cpp\n"
SOURCE = "int f() {\n  return 1;\n}\nint g() {\n  return 2;\n}\n"


class EditTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        (self.root / "a").mkdir()
        (self.root / "a/b.cpp").write_text(SOURCE, encoding="utf-8")

    def edit(self, text):
        path = self.root / "name.edit"
        path.write_text(text, encoding="utf-8")
        return edit.Edit(path)

    def broken(self, text):
        self.edit(text).apply(self.root, self.root / "out")
        return (self.root / "out/a/b.cpp").read_text(encoding="utf-8")

    def refusal(self, text):
        with self.assertRaises(edit.Unusable) as refused:
            self.broken(text)
        return str(refused.exception)

    def test_each_one_here_fits_the_sources(self):
        for path in sorted(HERE.glob("*.edit")):
            with self.subTest(path.stem):
                edit.Edit(path).apply(HERE.parents[2], self.root / "broken")

    def test_replaces_in_a_copy(self):
        changed = self.broken(FIELDS + "-  return 1;\n+  return 3;\n\n int g() {\n+  step();\n")
        expected = SOURCE.replace("return 1", "return 3").replace("g() {\n", "g() {\n  step();\n")
        self.assertEqual(changed, expected)
        self.assertEqual((self.root / "a/b.cpp").read_text(encoding="utf-8"), SOURCE)

    def test_a_field_goes_on_below(self):
        self.assertEqual(self.edit(FIELDS + "-x\n").wrong, "It forgets. And more.")

    def test_lines_that_are_gone(self):
        text = self.refusal(FIELDS + "-  return 4;\n+  return 3;\n")
        self.assertIn("name.edit:7: these lines stand in a/b.cpp 0 times", text)
        self.assertIn("rule R3", text)

    def test_lines_that_stand_twice(self):
        self.assertIn("2 times", self.refusal(FIELDS + "-}\n"))

    def test_a_part_of_a_line_is_no_line(self):
        self.assertIn("0 times", self.refusal(FIELDS + "-return 1;\n"))

    def test_headers_are_refused(self):
        self.assertIn("no .cpp", self.refusal(FIELDS.replace("b.cpp", "b.h") + "-}\n"))

    def test_what_it_lacks_is_told(self):
        self.assertIn("lacks 'rule:'", self.refusal("seeds: 1..2\nwrong: a\nfile: a/b.cpp\n-}\n"))
        self.assertIn("replaces nothing", self.refusal(FIELDS))
        self.assertIn("no range", self.refusal(FIELDS.replace("1..10", "all") + "-}\n"))
        self.assertIn("'rules' is none of", self.refusal("rules: R3\n"))


if __name__ == "__main__":
    unittest.main()
