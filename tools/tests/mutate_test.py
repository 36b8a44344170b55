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
#include <atomic>
namespace mine {
constexpr int kTile = 4 + 4;
template <int N>
int sum(const int* x, int n) {
  int total = 0;
  for (int i = 0; i < n; ++i) {
    if (x[i] > 0 && x[i] < 100) total += x[i];
  }
  if constexpr (N > 5) total = 7 * total; return total;
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
inline int counted(const int* x, std::atomic<int>& ready) {
  constexpr int kFew = 3, kMany = 70000;
  int whole = 0;
#pragma omp parallel for reduction(+ : whole) schedule(static)
  for (int i = 0; i < 4; ++i) {
    whole += x[i];  // of each
  }
  int far = kMany, less = far < whole ? far : whole;
  for (int i = 0; i + 2 <= kFew; i += 2) whole += x[i];
  unsigned n = 0;
  if (n == 0) ready.store(whole, std::memory_order_release);
#pragma omp barrier
  return ready.load() + far - far + less - less;
}
}  // namespace mine
"""
MAIN = """#include <cstdio>
#include <cstdlib>
#include "kernel.hpp"
#include "of_others.hpp"
int main(int argc, char** argv) {
  int x[8] = {5, -1, 7, 200, 1, 0, 0, 0};
  std::atomic<int> ready{0};
  std::printf("%d %d %d", mine::sum<3>(x, 4), mine::clamp(argc > 9 ? 1 : 8), mine::counted(x, ready));
}
"""
DEVICE = """#include "gpu/device/kernel.hpp"
__host__ __device__ inline int same(int v) { return v; }
__global__ void copy(volatile int* to, const int* from, int n) {
  __shared__ int staged[64];
  const int t = static_cast<int>(threadIdx.x);
  plumb::cp_async<4>(staged + t, from + t);
  plumb::cp_async_commit();
  plumb::cp_async_wait<0>();
  __syncthreads();
  if (t < n) {
    to[t] = staged[t];
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
  }
  while (to[0] == 0) __nanosleep(97);
  atomicAdd(staged, __ldcg(from));
}
template <class... Given>
void launch(Given...) {}
void begin(int* to) { launch(copy, 3, 64, 7, to); }
"""
DRIVER = """#include <cstdlib>
static int force() { const char* t = std::getenv("MUTANT"); return t ? std::atoi(t) : 0; }
extern "C" int plumb_mutant_at(int first, int count) noexcept {
  const int w = force() - first; return w >= 0 && w < count ? w : -1; }
extern "C" int plumb_mutant_asked(int first, int count) noexcept { return plumb_mutant_at(first, count); }
extern "C" void plumb_mutant_felt(int) noexcept {}
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


class Folders(unittest.TestCase):
    def test_a_second_attack_in_a_folder_is_refused_and_one_after_it_is_not(self):
        with tempfile.TemporaryDirectory() as folder:
            refused = self.assertRaisesRegex(Refused, f"another --mutate writes {folder}")
            with attack.alone_in(folder), refused:
                attack.attack("none", folder, [], {}, [])
            self.assertEqual(attack.attack("none", folder, [], {}, []), {})


class Reports(unittest.TestCase):
    def result(self, state, family="f"):
        return report.Result("spmv/cpu/01", "a.cpp", 3, family, ["- a", "+ b"], state)

    def test_the_score_leaves_out_equivalents_and_what_was_not_made(self):
        states = [
            report.KILLED,
            report.KILLED,
            report.KILLED,
            report.NOT_COVERED,
            report.DECLINED,
            report.EQUIVALENT,
            report.NOT_MADE,
        ]
        text = report.text([self.result(s) for s in states], 2)
        self.assertIn("mutants: 3 of 4 killed, 75.0 %", text)
        self.assertIn("not made: 3,", text)
        self.assertIn("NOT COVERED  spmv/cpu/01  a.cpp:3  f\n    - a\n    + b", text)

    def test_equivalents_are_parts_of_a_file_with_a_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "e.txt"

            def reason(text, changed, file="a.cpp"):
                path.write_text(text, encoding="utf-8")
                return equivalents.reason_of(file, "f/gpu/01", changed, equivalents.read(path))

            changed = ["-  x = 1;  y = 1;", "+  x = 1; y = 2;"]
            known = "# words\n\na.cpp\n  y = 1; ==> y = 2; -- nobody reads y\n"
            self.assertEqual(reason(known, changed), "nobody reads y")
            self.assertIsNone(reason(known, changed, "b.cpp"))
            self.assertIsNone(reason(known, ["-  x = 1;  y = 1;", "+  x = 2; y = 2;"]))
            self.assertEqual(reason("a.cpp\n  = 1; ==> = 2; -- either\n", changed), "either")
            there = "a.cpp in f/gpu/01\n  y = 1 ==> y = 2\n    -- not there\n"
            self.assertEqual(reason(there, changed), "not there")
            self.assertIsNone(reason(there.replace("01", "02"), changed))
            two = "a.cpp\n  y = 3 ==> y = 4\n  (x && y) ==> (x) -- y is true there\n"
            self.assertEqual(reason(two, ["-   if (x", "-   && y) {", "+  if (x) {"]), "y is true there")
            self.assertEqual(reason(two, ["- y = 3;", "+ y = 4;"]), "y is true there")
            for text, line in (
                ("\na.cpp\n  y = 1\n", 3),
                ("  y = 1 ==> y = 2 -- no file\n", 1),
                ("a.cpp\n  -- nothing\n", 2),
                ("a.cpp\n  y = 1 ==> y = 2\nb.cpp\n", 3),
            ):
                path.write_text(text, encoding="utf-8")
                with self.assertRaisesRegex(Refused, rf"e\.txt:{line}: an entry is"):
                    equivalents.read(path)
            path.write_text("a.cpp\n  y = 1 ==> y = 2\n", encoding="utf-8")
            with self.assertRaisesRegex(Refused, "no reason"):
                equivalents.read(path)

    def test_every_entry_of_the_tree_names_text_of_its_file(self):
        texts = {}
        for named, old, new, _ in equivalents.read(ROOT / equivalents.NAME):
            file, _, variant = named.partition(" in ")
            self.assertRegex(variant, r"^(\w+/(cpu|gpu)/\w+)?$")
            if file not in texts:
                texts[file] = " ".join((ROOT / file).read_text(encoding="utf-8").split())
            self.assertIn(old, texts[file], file)
            self.assertNotEqual(old, new)

    def test_what_killed_is_counted_by_mutation_operator(self):
        killed = self.result(report.KILLED)
        killed.verdict = "fail"
        raced = self.result(report.KILLED, "g")
        raced.verdict, raced.race = "race", True
        lines = report.kills([killed, killed, raced])
        self.assertEqual(
            [line.split() for line in lines],
            [["killed", "by", "fail", "race"], ["f", "2", "0"], ["g", "0", "1"]],
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
        (cls.folder / "of_others.hpp").write_text('#pragma once\n#include "kernel.hpp"\n', encoding="utf-8")
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
        self.assertNotIn(4, lines)
        self.assertGreaterEqual(self.schema.unswitchable(), 3)

    def test_functions_of_a_header_that_the_variant_does_not_use_are_left_to_others(self):
        texts = [m.text for _, p, m in self.mutants.values() if p.file == self.source.path]
        self.assertFalse([t for t in texts if "31" in t])

    def test_a_header_that_is_included_again_is_known_at_every_place(self):
        again = (str(self.folder / "of_others.hpp"), 2, str(self.folder / "kernel.hpp"))
        self.assertIn(again, self.unit.includes)

    def test_a_variant_that_chooses_leaves_the_headers_of_its_candidates_to_them(self):
        folder = self.folder / "rungs"
        folder.mkdir()
        texts = {
            "shared.hpp": "#pragma once\ninline int shared(int v) { return v + 5; }\n",
            "candidates.hpp": '#include "shared.hpp"\ninline int chosen(int v) { return shared(v) + 6; }\n',
            "01_first.cpp": '#include "rungs/shared.hpp"\nint first(int v) { return shared(v); }\n',
            "02_adaptive.cpp": '#include "candidates.hpp"\nint any(int v) { return chosen(v); }\n',
        }
        for name, text in texts.items():
            (folder / name).write_text(text.replace("rungs/", f"{folder}/"), encoding="utf-8")

        def files_of(name):
            path = str(folder / name)
            places = schemata.schema_of(Unit(str(ROOT), path), path).places()
            return {Path(p.file).name for p in places}

        self.assertEqual(files_of("01_first.cpp"), {"shared.hpp"})
        self.assertEqual(files_of("02_adaptive.cpp"), {"candidates.hpp"})

    def test_constants_that_fit_and_bounded_values_are_not_narrowed(self):
        narrowed = [
            (self.source.text[m.start : m.end], place.before)
            for _, place, m in self.mutants.values()
            if m.family == ops.NARROWED and place.file == self.source.path
        ]
        self.assertIn("narrow_constant", dict(narrowed)["kMany"])
        lines = [
            self.source.text.split("\n")[self.source.line(p.start) - 1]
            for p in self.schema.places()
            if "narrow" in p.before
        ]
        self.assertFalse([line for line in lines if "of each" in line and "x[i]" not in line], lines)

    def test_relations_that_are_the_same_for_unsigned_values_are_not_made(self):
        texts = [m.text for _, _, m in self.mutants.values() if m.family == ops.RELATIONAL]
        self.assertIn("n >= 0", texts)
        self.assertNotIn("n <= 0", texts)

    def test_the_lesser_of_equal_numbers_is_either(self):
        texts = [m.text for _, _, m in self.mutants.values() if m.family == ops.RELATIONAL]
        self.assertIn("far != whole", texts)
        self.assertNotIn("far <= whole", texts)

    def test_directives_that_stand_alone_are_left_out(self):
        self.number_of(ops.OPENMP, "omp barrier")

    def test_copies_barriers_and_inline_ptx_of_a_kernel(self):
        path = self.folder / "device.cu"
        path.write_text(DEVICE, encoding="utf-8")
        unit = Unit(str(ROOT), str(path))
        self.assertEqual(unit.errors(), [])
        found = {(m.family, m.text) for p in schemata.schema_of(unit, str(path)).places() for m in p.mutants}
        for family, text in (
            (ops.COPY, "plumb::cp_async_wait<0 + 1>()"),
            (ops.BARRIER, ";"),
            (ops.NARROWED_BARRIER, "__syncwarp()"),
            (ops.MOVED_BARRIER, "if (t < n) __syncthreads();"),
            (ops.VOLATILE, "plain(to[t]) = staged[t]"),
            (ops.VOLATILE, "plain(to[0])"),
            (ops.LOAD, "__ldg(from)"),
            (ops.ATOMIC, "plain_atomicAdd(staged, __ldcg(from))"),
            (ops.SCOPE, "atomicAdd_block(staged, __ldcg(from))"),
            (ops.PTX, ";"),
            (ops.PTX, 'asm volatile("fence.relaxed.gpu;" ::: "memory");'),
            (ops.PTX, 'asm volatile("fence.acq_rel.cta;" ::: "memory");'),
            (ops.PTX, 'asm volatile("cp.async.wait_group 2;" ::: "memory");'),
        ):
            self.assertIn((family, text), found)
        texts = {text for _, text in found}
        self.assertTrue({"(3 + 1)", "(7 - 1)"} <= texts)
        self.assertFalse({"(7 + 1)", "(97 + 1)", "(97 - 1)"} & texts)

    def test_a_loop_of_openmp_keeps_its_form(self):
        bounds = [
            m.text
            for _, p, m in self.mutants.values()
            if self.source.line(m.start) == 16 and p.file == self.source.path
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

        self.assertEqual(attack.compiled([str(program)]), set())  # nothing is optimised

        def output(number):
            run = subprocess.run(
                [program], env={"MUTANT": str(number)}, capture_output=True, text=True, check=False
            )
            return run.stdout

        self.assertEqual(output(0), "12 8 216")
        self.assertEqual(output(self.number_of(ops.BOUND, "i < n - 1")), "12 8 216")
        self.assertEqual(output(self.number_of(ops.BOUND, "i < n + 1")), "13 8 216")
        self.assertEqual(output(self.number_of(ops.LOGICAL, "||")), "211 8 216")
        self.assertEqual(output(self.number_of(ops.DROPPED, "if (x[i] < 100)")), "11 8 216")
        self.assertEqual(output(self.number_of(ops.ASSIGNMENT, "total = x[i]")), "7 8 216")
        self.assertEqual(output(self.number_of(ops.NEGATED, "!(v < 3)")), "12 3 216")
        self.assertEqual(output(self.number_of(ops.OPENMP, "shared(whole)")), "12 8 216")
        self.assertEqual(output(self.number_of(ops.FURTHER, "i + 2 <= kFew + 2")), "12 8 223")
        self.assertEqual(output(self.number_of(ops.ORDER, "whole, std::memory_order_relaxed")), "12 8 216")
        self.assertEqual(
            output(self.number_of(ops.ORDER, "ready.load(std::memory_order_relaxed)")), "12 8 216"
        )

    def test_places_without_code_are_known_where_programs_are_optimised(self):
        built = self.folder / "optimised"
        schemata.write_folder(str(built), [self.schema], self.mutants)
        (built / "driver.cpp").write_text(DRIVER, encoding="utf-8")
        command = ["g++", "-std=c++20", "-O2", "-w", f"-I{ROOT}", "main.cpp", "driver.cpp", "-o", "program"]
        made = subprocess.run(command, cwd=built, capture_output=True, text=True, check=False)
        self.assertEqual(made.returncode, 0, made.stderr)
        numbers = attack.compiled([str(built / "program"), str(built / "none")])
        dead = self.number_of(ops.ARITHMETIC, "7 + total")
        reached = self.number_of(ops.ASSIGNMENT, "total = x[i]")
        fates = {n: {"state": report.NOT_COVERED} for n in (dead, reached)}
        attack.leave_out_dead(fates, self.mutants, numbers)
        self.assertEqual(fates[dead]["state"], report.NOT_MADE)
        self.assertEqual(fates[reached]["state"], report.NOT_COVERED)


if __name__ == "__main__":
    unittest.main()
