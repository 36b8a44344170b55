"""tools/mutate: what is found in a file, how it is written as a schema, and that the schema with no mutant in
force does what the original does, and with each what its diff says."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from mutate import attack, equivalents, report, schemata, variants  # noqa: E402
from mutate import operators as ops  # noqa: E402
from mutate.parse import Refused, Unit  # noqa: E402
from mutate.places import Mutant, Place  # noqa: E402

try:
    import mutate.parse

    mutate.parse.cindex()
    PARSER = True
except Refused:
    PARSER = False

KERNEL = """#pragma once
namespace mine {
constexpr int kTile = 4 + 4;
template <int N>
int sum(const int* x, int n) {
  int total = 0;
  for (int i = 0; i < n; ++i) {
    if (x[i] > 0 && x[i] < 100) total += x[i];
  }
  return total;
}
inline int clamp(int v) {
  int low = v < 3 ? 3 : v;
#pragma omp parallel for
  for (int i = 0; i < 2; ++i) {
    low = low + 0;
  }
  return low;
}
inline int of_others(int v) { return v + 31; }
}  // namespace mine
"""
MAIN = """#include <cstdio>
#include <cstdlib>
#include "kernel.hpp"
int main(int argc, char** argv) {
  int x[8] = {5, -1, 7, 200, 1, 0, 0, 0};
  std::printf("%d %d", mine::sum<3>(x, 4), mine::clamp(argc > 9 ? 1 : 8));
}
"""
DRIVER = """#include <cstdlib>
static int force() { const char* t = std::getenv("MUTANT"); return t ? std::atoi(t) : 0; }
extern "C" int plumb_mutant_at(int first, int count) noexcept {
  const int w = force() - first; return w >= 0 && w < count ? w : -1; }
extern "C" void plumb_mutant_absent(int, int) noexcept {}
"""


class Rewriting(unittest.TestCase):
    def test_wrappings_nest_and_keep_their_lines(self):
        text = "a <\n b;"
        inner = Place("f", 0, 1, "off({first}, ", ")", [Mutant("x", 0, 1, "a + 1", 7)])
        outer = Place("f", 0, 6, "binary({first}, ", ")", [Mutant("y", 0, 6, "a > b", 9)], [(1, 5, ", ")])
        self.assertEqual(schemata.rewritten(text, [outer, inner]), "binary(9, off(7, a), \nb);")

    def test_the_first_of_equal_spans_is_outside(self):
        one = Place("f", 0, 1, "p(", ")", [Mutant("x", 0, 1, "", 1)])
        two = Place("f", 0, 1, "q(", "]", [Mutant("x", 0, 1, "", 2)])
        self.assertEqual(schemata.rewritten("a", [one, two]), "p(q(a])")

    def test_blame_takes_errors_and_what_required_them(self):
        log = "/a/k.hpp:3:9: error: no\n/b/points.hpp:1:1: error: x\n/a/k.hpp:8:2:   required from 'f'\n"
        self.assertEqual(attack.blamed(log, {"/a/k.hpp"}), {("/a/k.hpp", 3), ("/a/k.hpp", 8)})


class Reports(unittest.TestCase):
    def result(self, state, family="f"):
        return report.Result("spmv/cpu/01", "a.cpp", 3, family, ["- a", "+ b"], state)

    def test_the_score_leaves_out_equivalents_and_what_was_not_made(self):
        states = [
            report.KILLED,
            report.KILLED,
            report.KILLED,
            report.NOT_COVERED,
            report.EQUIVALENT,
            report.NOT_MADE,
        ]
        text = report.text([self.result(s) for s in states], 2)
        self.assertIn("mutants: 3 of 4 killed, 75.0 %", text)
        self.assertIn("not made: 3,", text)
        self.assertIn("NOT COVERED  spmv/cpu/01  a.cpp:3  f\n    - a\n    + b", text)

    def test_equivalents_are_entries_of_four_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "e.txt"
            path.write_text("# words\n\na.cpp\n-   x = 1;\n+   x = 2;\nnobody reads x\n", encoding="utf-8")
            known = equivalents.read(path)
            self.assertEqual(known[equivalents.key("a.cpp", ["-  x = 1;", "+  x = 2;"])], "nobody reads x")
            path.write_text("\na.cpp\n-   x = 1;\n", encoding="utf-8")
            with self.assertRaisesRegex(Refused, r"e\.txt:2: an entry is"):
                equivalents.read(path)

    def test_every_entry_of_the_tree_names_a_line_of_its_file(self):
        for file, old, _ in equivalents.read(ROOT / equivalents.NAME):
            self.assertIn(
                old, [line.strip() for line in (ROOT / file).read_text(encoding="utf-8").split("\n")]
            )

    def test_globs_name_variants_with_and_without_their_operator(self):
        names = [v.name for v in variants.choose(ROOT, "", ["spmv/cpu/0*"], "", {})]
        self.assertIn("cpu/04_merge_path", names)
        self.assertEqual(
            len(variants.choose(ROOT, "", ["cpu/04_merge_path"], "cpu", {})), 2
        )  # spmv's and spmm's
        with self.assertRaisesRegex(Refused, "did you mean 'spmv/cpu/04_merge_path'"):
            variants.choose(ROOT, "", ["spmv/cpu/04_merge_pat"], "", {})


@unittest.skipUnless(PARSER, "python3-clang-14 is not installed")
class Schemata(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.holder.name).resolve()
        (cls.folder / "kernel.hpp").write_text(KERNEL, encoding="utf-8")
        (cls.folder / "main.cpp").write_text(MAIN, encoding="utf-8")
        cls.unit = Unit(str(ROOT), str(cls.folder / "main.cpp"))
        cls.schema = schemata.schema_of(cls.unit, str(cls.folder / "main.cpp"))
        cls.mutants = schemata.number([cls.schema])
        cls.source = cls.unit.files[str(cls.folder / "kernel.hpp")]

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    def number_of(self, family, text):
        """Of the one mutant in the header whose changed line holds `text`."""
        found = [
            n
            for n, (_, place, m) in self.mutants.items()
            if m.family == family
            and place.file == self.source.path
            and text in "".join(schemata.diff(self.source, m))
        ]
        self.assertEqual(len(found), 1, (family, text, found))
        return found[0]

    def test_what_is_used_at_compile_time_is_counted_and_not_made(self):
        lines = {self.source.line(m.start) for _, p, m in self.mutants.values() if p.file == self.source.path}
        self.assertNotIn(3, lines)
        self.assertGreaterEqual(self.schema.unswitchable(), 3)

    def test_functions_of_a_header_that_the_variant_does_not_use_are_left_to_others(self):
        texts = [m.text for _, p, m in self.mutants.values() if p.file == self.source.path]
        self.assertFalse([t for t in texts if "31" in t])

    def test_a_loop_of_openmp_keeps_its_form(self):
        bounds = [
            m.text
            for _, p, m in self.mutants.values()
            if self.source.line(m.start) == 15 and p.file == self.source.path
        ]
        self.assertIn("2 + 1", bounds)
        self.assertFalse([t for t in bounds if "!(" in t or "<=" in t], bounds)

    def test_the_schema_does_what_number_says(self):
        built = self.folder / "built"
        schemata.write_folder(str(built), [self.schema], self.mutants)
        (built / "driver.cpp").write_text(DRIVER, encoding="utf-8")
        program = built / "program"
        command = ["g++", "-std=c++20", "-w", f"-I{ROOT}", "main.cpp", "driver.cpp", "-o", str(program)]
        made = subprocess.run(command, cwd=built, capture_output=True, text=True, check=False)
        self.assertEqual(made.returncode, 0, made.stderr)

        def output(number):
            run = subprocess.run(
                [program], env={"MUTANT": str(number)}, capture_output=True, text=True, check=False
            )
            return run.stdout

        self.assertEqual(output(0), "12 8")
        self.assertEqual(output(self.number_of(ops.BOUND, "i < n - 1")), "12 8")
        self.assertEqual(output(self.number_of(ops.BOUND, "i < n + 1")), "13 8")
        self.assertEqual(output(self.number_of(ops.LOGICAL, "||")), "211 8")
        self.assertEqual(output(self.number_of(ops.ASSIGNMENT, "total = x[i]")), "7 8")
        self.assertEqual(output(self.number_of(ops.UNCLEARED, "total = 1")), "13 8")
        self.assertEqual(output(self.number_of(ops.NEGATED, "!(v < 3)")), "12 3")


if __name__ == "__main__":
    unittest.main()
