"""Each operator on small texts, what is left alone, and mutants of a tiny program."""

import contextlib
import io
import json
import os
import pathlib
import tempfile
import types
import unittest

import judges
import mutants
import mutate
import report
from workshop import Refused, Workshop

COMPILER = os.environ.get("CXX", "c++")


def changes(text, *operators):
    """What a body's mutants are: 'operator: old → new' of just what is replaced."""
    whole = f"void f() {{\n{text}\n}}\n"
    return [f"{one.edit.operator}: {whole[one.edit.at:one.edit.end]} → {one.edit.new}"
            for one in mutate.mutants("a.cpp", whole)
            if not operators or one.edit.operator in operators]


class OperatorsTest(unittest.TestCase):
    def test_comparisons_are_turned(self):
        for old, new in mutate.COMPARISONS.items():
            self.assertEqual(changes(f"bool b = x {old} y;"), [f"compare: {old} → {new}"])

    def test_conditions_are_negated(self):
        self.assertEqual(changes("if (a && b) {}"), ["negate: a && b → !(a && b)"])
        self.assertEqual(changes("while (a) {}"), ["negate: a → !(a)"])
        self.assertEqual(changes("if (T x = f(1); !x) {}", "negate"), ["negate: !x → !(!x)"])
        self.assertEqual(changes("if (const T* x = g()) {}"), ["negate:  → ; !x"])
        self.assertEqual(changes("const T x = a || b ? c : d;"), ["negate: a || b → !(a || b)"])
        self.assertEqual(changes("return f(a, b ? c : d);"), ["negate: b → !(b)"])

    def test_a_lone_comparison_is_turned_and_not_negated_besides(self):
        self.assertEqual(changes("if (a == b) {}"), ["compare: == → !="])
        self.assertEqual(changes("if (a < b) {}"), ["negate: a < b → !(a < b)", "compare: < → <="])

    def test_statements_are_dropped(self):
        for statement in ("f();", "a.b()->c(1 + x);", "a_ = b;", "++n;", "*p = x;", "ns::f<T>(x);",
                          "static_cast<void>(f());", "a[i] = b;", "f({.a = b,\n   .c = d});"):
            self.assertEqual(changes(statement, "drop"), [f"drop: {statement} → ;"])

    def test_statements_within_statements(self):
        self.assertEqual(changes("for (;;) {\n  f();\n}\nif (x) g();\nelse h();", "drop"),
                         ["drop: f(); → ;", "drop: g(); → ;", "drop: h(); → ;"])
        self.assertEqual(changes("switch (x) {\n  case a::b:\n    f();\n    break;\n}", "drop"),
                         ["drop: f(); → ;"])
        self.assertEqual(changes("auto g = [&](T x) { f(x); };", "drop"), ["drop: f(x); → ;"])

    def test_early_refusals_are_dropped(self):
        self.assertEqual(changes("if (x) return;\nf();", "drop"),
                         ["drop: return; → ;", "drop: f(); → ;"])
        self.assertEqual(changes("for (;;) {\n  if (x) continue;\n}", "drop"),
                         ["drop: continue; → ;"])
        self.assertEqual(changes("if (x) {\n  return a;\n}\nreturn b;", "drop"),
                         ["drop: return a; → ;"])

    def test_no_other_statement_is_dropped(self):
        for statement in ("T x = f();", "T& x = f();", "const T x(y);", "ns::T<U> x{y};", "T x;",
                          "auto [a, b] = f();", "using T = U;", "INVARIANT(x, \"y\");", "return x;",
                          "if (x) {\n  return a;\n} else {\n  return b;\n}"):
            self.assertEqual(changes(statement, "drop"), [], statement)

    def test_constants_are_off_by_one(self):
        for old, new in (("0", "1"), ("10ms", "11ms"), ("1'000", "1001"), ("64U", "65U"),
                         ("0xff", "0x100")):
            self.assertEqual(changes(f"T x = {old};"), [f"constant: {old} → {new}"])
        self.assertEqual(changes("double x = 0.5;"), [])

    def test_what_is_asserted_stays(self):
        for text in ('INVARIANT(a < 3 && f(1), "never");', 'static_assert(sizeof(T) == 24);'):
            self.assertEqual(changes(text), [], text)

    def test_min_is_max(self):
        self.assertEqual(changes("T x = std::min(a, b);"), ["extreme: min → max"])
        self.assertEqual(changes("T x = std::max<T>(a, b);"), ["extreme: max → min"])
        self.assertEqual(changes("T x = std::numeric_limits<T>::max();"), [])

    def test_what_is_no_code_is_left_alone(self):
        for text in ("// a < b, 1", "/* a == b\n 1 */", "#include <a1>\n#define A 1 \\\n  < 2",
                     'T x = "a < b \\" == 1";', "T x = '1';", 'T x = R"a(1 < 2 " )" )a";'):
            self.assertEqual(changes(text), [], text)

    def test_templates_are_left_alone(self):
        for text in ("std::vector<T> x;", "template <class T>", "T x = static_cast<T>(y);",
                     "std::map<A, std::vector<B>> x;", "x->y;", "T y = x->y >> z;"):
            self.assertEqual(changes(text, "compare"), [], text)

    def test_types_and_lists_hold_no_statements(self):
        text = "namespace n {\nstruct A {\n  int b_ = c;\n  void f();\n};\nT x[] = {{a}, {b}};\n}\n"
        self.assertEqual(mutate.mutants("a.cpp", text), [])

    def test_a_mutant_is_told_in_one_line(self):
        one = mutate.mutants("a.cpp", "void f() {\n  prepare(a,\n          b);\n}\n")[0]
        self.assertEqual(str(one), "a.cpp:2: drop: - prepare(a, b); + ;")
        self.assertEqual(one.mutated, "void f() {\n  ;\n}\n")

    def test_a_short_line_is_told_with_the_one_above(self):
        one = mutate.mutants("a.cpp", "void f() {\n  if (x) {\n    return;\n  }\n  g();\n}\n")[1]
        self.assertEqual(str(one), "a.cpp:3: drop: - if (x) { return; + if (x) { ;")


class SampleTest(unittest.TestCase):
    def setUp(self):
        self.by_file = {name: mutate.mutants(name, f"T x = {'1 + ' * 9}{name};")
                        for name in ("a", "b")}

    def test_is_dealt_evenly_and_the_same_again(self):
        dealt = mutants.deal(self.by_file, 6, 1)
        self.assertEqual([one.file for one in dealt], ["a", "b"] * 3)
        self.assertEqual(dealt, mutants.deal(self.by_file, 6, 1))
        self.assertNotEqual(dealt, mutants.deal(self.by_file, 6, 2))

    def test_options_stand_before_files_or_behind(self):
        for words in (["build", "--sample", "5", "a", "b"], ["build", "a", "b", "--sample", "5"]):
            given = mutants.options(words)
            self.assertEqual((given.files, given.sample), (["a", "b"], 5))

    def test_a_larger_one_goes_on(self):
        self.assertEqual(mutants.deal(self.by_file, 99, 1)[:6], mutants.deal(self.by_file, 6, 1))
        self.assertEqual(len(mutants.deal(self.by_file, 99, 1)), 18)


# Whatever an operator changes, in every place that a switch has to fit in.
TINY = """\
#include <algorithm>
struct Word {
  const char* first;
  bool operator==(const Word& other) const { return *first == *other.first; }
};
int least(int a) {
  if (a > 3) return 3;
  return a;
}
int down(int a) {
  while (a > 3) --a;
  return a;
}
static const int kTwo = 1 + 1;
int all(int a, int b) {
  enum { kNone, kFour = 4 };
  int four[4] = {0, 0, 0, 0};
  if (const int* x = a < b ? &a : nullptr) four[0] = *x;
  else
    four[0] = std::min(a, b);
  if (Word{"x"} == Word{"xy"} && !(a > b || b != a)) four[1] = std::max<int>(a, kFour);
  for (int i = 2; i <= 3; ++i) four[i] += kTwo;
  switch (a) {
    case 7:
      four[2] = std::min({a, b, 5});
      break;
    default:
      four[3] = [&](auto y) { return y == b ? y : a; }(a);
  }
  return four[0] + 10 * four[1] + 100 * four[2] + 1000 * four[3];
}
"""
TINY_TEST = """\
int least(int);
int down(int);
int all(int, int);
int main() {
  if (least(5) != 3 || least(1) != 1 || down(5) != 3) return 1;
  return all(1, 2) == 1201 && all(7, 6) == 2506 && all(2, 2) == 2242 ? 0 : 2;
}
"""
NINJA = """\
rule run
  command = $do
build tiny.dir/main.o: run
  do = {compiler} -std=c++20 -O0 -o tiny.dir/main.o -c ../main.cpp
build CMakeFiles/tiny.dir/tiny.cpp.o: run
  do = {compiler} -std=c++20 -O0 -o CMakeFiles/tiny.dir/tiny.cpp.o -c ../tiny.cpp
build libtiny.a: run CMakeFiles/tiny.dir/tiny.cpp.o
  do = ar rc libtiny.a CMakeFiles/tiny.dir/tiny.cpp.o
build tiny_test: run tiny.dir/main.o libtiny.a
  do = : && {compiler} tiny.dir/main.o -o tiny_test libtiny.a && :
"""


class TinyTest(unittest.TestCase):
    """Against a program of two files, built as CMake builds."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name).resolve()
        cls.build = cls.root / "build"
        cls.build.mkdir()
        (cls.root / "tiny.cpp").write_text(TINY, encoding="utf-8")
        (cls.root / "main.cpp").write_text(TINY_TEST, encoding="utf-8")
        (cls.build / "build.ninja").write_text(NINJA.format(compiler=COMPILER), encoding="utf-8")
        command = (f"{COMPILER} -std=c++20 -O0 -o CMakeFiles/tiny.dir/tiny.cpp.o "
                   f"-c {cls.root}/tiny.cpp")
        (cls.build / "compile_commands.json").write_text(json.dumps(
            [{"directory": str(cls.build), "file": f"{cls.root}/tiny.cpp", "command": command}]))
        os.system(f"ninja -C {cls.build} tiny_test >{cls.root}/log")
        cls.shop = Workshop(cls.root, cls.build)
        cls.mutants = dict(enumerate(mutate.mutants("tiny.cpp", TINY), 1))
        made, cls.switched = cls.shop.compile_switched("tiny.cpp", list(cls.mutants.items()),
                                                       cls.root / "switched")
        switches = cls.root / "switches.o"
        os.system(f"{COMPILER} -std=c++20 -I{mutants.ROOT} -o {switches} "
                  f"-c {mutants.HERE}/switches.cpp")
        cls.shop.link("tiny_test", {"tiny.cpp": made}, cls.root / "all", switches)

    def status(self, program, number=0):
        return judges.run([program], self.root / "tmp", 1, REDLOCK_MUTANT=str(number))[0]

    def status_alone(self, text):
        source = self.root / "mutant.cpp"
        source.write_text(text, encoding="utf-8")
        if self.shop.compile("tiny.cpp", source, self.root / "mutant.o"):
            return "does not compile"
        self.shop.link("tiny_test", {"tiny.cpp": self.root / "mutant.o"}, self.root / "mutant")
        return self.status(self.root / "mutant")

    def number(self, diff):
        return next(number for number, one in self.mutants.items() if one.diff == diff)

    def test_the_program_has_the_file(self):
        self.assertTrue(self.shop.has("tiny_test", "tiny.cpp"))

    def test_behind_its_number_each_does_what_it_does_alone(self):
        self.assertEqual(self.status(self.root / "all"), 0)
        for number in sorted(self.switched):
            with self.subTest(self.mutants[number].diff):
                self.assertEqual(self.status(self.root / "all", number),
                                 self.status_alone(self.mutants[number].mutated))

    def test_what_must_be_constant_has_no_switch(self):
        for number, one in self.mutants.items():
            is_constant = "enum" in one.diff or "case 7" in one.diff
            self.assertEqual(number not in self.switched, is_constant, one.diff)

    def test_verdicts(self):
        for diff, status in (("- if (a > 3) return 3; + if (a >= 3) return 3;", 0),
                             ("- if (a > 3) return 3; + if (a > 3) ;", 1),
                             ("- while (a > 3) --a; + while (a > 3) ;", None)):
            self.assertEqual(self.status(self.root / "all", self.number(diff)), status, diff)

    def test_a_crash_is_told(self):
        self.assertLess(self.status_alone(TINY.replace("return 3", "__builtin_trap()")), 0)

    def test_one_does_not_compile(self):
        self.assertEqual(self.status_alone(TINY.replace("return 3", "return x")),
                         "does not compile")

    def test_an_object_that_is_not_taken_is_refused(self):
        with self.assertRaises(Refused):
            self.status_alone("int other() { return 1; }\n")


class MetTest(unittest.TestCase):
    def test_who_meets_whom(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "met"
            file.write_text("one\t0.5\tpassed\t1 2 \ntwo, \"2\"\t0.25\tpassed\t2 \nno\t0\tp\t\n")
            met = judges.MetBy(file)
        self.assertEqual([one.name for one in met.of(2)], ["one", 'two, "2"'])
        self.assertEqual([one.name for one in met.of(1)], ["one"])
        self.assertEqual(met.of(3), [])
        self.assertEqual(len(met.all), 3)
        self.assertEqual(judges.quoted('a, "b" [c]'), r'a\, \"b\" \[c]')


class Asked(mutants.Run):
    """Judges that note what they are asked, in place of programs."""

    def __init__(self, build, unit, verdict="failed"):
        super().__init__(types.SimpleNamespace(build=build, compile=lambda *_: ""),
                         build / "results.jsonl")
        self.by = {"a.cpp": {"unit": unit, "simulator": "s"}}
        self.verdict = verdict
        self.asked = []

    def _by_unit_tests(self, mutant, number, folder):
        self.asked.append("unit")
        return {"verdict": self.verdict, "what": ""}

    def _by_simulator(self, mutant, number, folder):
        self.asked.append("simulator")
        return {"verdict": "found", "what": ""}


class GoesOnTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)
        (self.build / "mutants").mkdir()

    def asked(self, text, unit="u", verdict="failed"):
        run = Asked(self.build, unit, verdict)
        with contextlib.redirect_stdout(io.StringIO()):
            run.judge_all(mutate.mutants("a.cpp", text), 1)
        return run.asked

    def test_nothing_is_judged_twice(self):
        self.assertEqual(self.asked("int a = 1;"), ["unit", "simulator"])
        self.assertEqual(self.asked("int a = 1;"), [])
        self.assertEqual(self.asked("int a = 2;"), ["unit", "simulator"])

    def test_what_survived_is_judged_again_by_a_net_that_changed(self):
        self.asked("int a = 1;", verdict="unchanged")
        self.assertEqual(self.asked("int a = 1;", verdict="unchanged"), [])
        self.assertEqual(self.asked("int a = 1;", unit="with another test"), ["unit"])
        self.assertEqual(self.asked("int a = 1;", unit="with a third"), [])


def entry(line, unit, simulator):
    return {"key": str(line), "file": "a.cpp", "line": line, "operator": "drop", "diff": "- a + b",
            "compiles": True, "unit": {"verdict": unit, "what": ""},
            "simulator": {"verdict": simulator, "what": ""}}


class ReportTest(unittest.TestCase):
    def test_scores_of_each_net(self):
        entries = [entry(1, "failed", "unchanged"), entry(2, "unchanged", "found"),
                   entry(3, "hung", "crashed"), entry(4, "unchanged", "changed"),
                   {**entry(5, "", ""), "compiles": False}]
        self.assertIn("| a.cpp | 4 | 2 (50 %) | 2 (50 %) | 3 (75 %) | 0 | 1 |\n",
                      report.scores(entries))
        self.assertIn("| a.cpp:4 | `- a + b` | changed |", report.table_of_survivors(entries))
        self.assertFalse(report.is_enough(entries, {}))

    def test_enough(self):
        entries = [entry(number, "failed", "found") for number in range(19)]
        survivor = entry(19, "unchanged", "changed")
        self.assertTrue(report.is_enough([*entries, survivor], {}))
        self.assertFalse(report.is_enough([*entries[1:], survivor], {}))
        self.assertTrue(report.is_enough([*entries[1:], survivor], {("a.cpp", "- a + b"): "It."}))
        self.assertFalse(report.is_enough([], {}))

    def test_each_reason_is_of_a_source_and_tells_something(self):
        reasons = report.read_reasons()
        self.assertTrue(reasons)
        for (file, _), reason in reasons.items():
            self.assertTrue((mutants.ROOT / file).is_file(), file)
            self.assertTrue(reason, file)

    def test_a_torn_last_line_is_judged_again(self):
        with tempfile.TemporaryDirectory() as folder:
            results = pathlib.Path(folder) / "results.jsonl"
            results.write_text(json.dumps(entry(1, "failed", "found")) + '\n{"key": "2", "fi')
            self.assertEqual(list(report.read(results)), ["1"])


if __name__ == "__main__":
    unittest.main()
