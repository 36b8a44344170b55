#!/usr/bin/env python3
"""late_calls_test.py COMPILER NM: a library is loaded at its first call, not before, and arguments arrive."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import late_calls

HERE = pathlib.Path(__file__).parent
LIBRARY = r"""
#include <cstdio>
static const bool loaded = (std::puts("loaded"), true);
extern "C" double sum(int a, double b, int c, double d, int e, int f, int g, int h, int i, double j,
                      float k) {
  const double words = a + 3 * c + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
  return words + 2 * b + 4 * d + 10 * j + 11 * k + (loaded ? 0 : 1);
}
extern "C" const char* name() { return "late"; }
"""
PROGRAM = r"""
#include <cstdio>
extern "C" double sum(int, double, int, double, int, int, int, int, int, double, float);
extern "C" const char* name();
int main(int count, char**) {
  std::puts("begun");
  std::fflush(stdout);
  if (count > 1) return 0;
  for (int i = 0; i < 2; ++i) std::printf("%g %s\n", sum(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), name());
}
"""
compiler, nm = "c++", "nm"


class LateCalls(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)
        self.library = self.at / "libsums.so"
        self.write("library.cpp", LIBRARY)
        self.compile("-shared", "-fPIC", self.at / "library.cpp", "-o", self.library)
        functions = late_calls.functions_of(nm, str(self.library))
        self.assertEqual(functions, ["name", "sum"])
        self.write("late.S", late_calls.assembly([(str(self.library), functions)]))
        self.write("program.cpp", PROGRAM)
        sources = [self.at / "program.cpp", self.at / "late.S", HERE / "load.cpp"]
        self.compile(*sources, "-ldl", "-o", self.at / "program")

    def write(self, name: str, text: str) -> None:
        (self.at / name).write_text(text)

    @staticmethod
    def compile(*arguments: object) -> None:
        subprocess.run([compiler, "-O1", "-std=c++20", *map(str, arguments)], check=True)

    def run_program(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([self.at / "program", *arguments], capture_output=True, text=True, check=False)

    def test_loads_at_the_first_call(self) -> None:
        self.assertEqual(self.run_program().stdout, "begun\nloaded\n506 late\n506 late\n")

    def test_starts_without_the_library(self) -> None:
        self.assertEqual(self.run_program("nothing").stdout, "begun\n")

    def test_names_an_absent_library(self) -> None:
        self.library.unlink()
        done = self.run_program()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"{self.library}: name cannot be called: ", done.stderr)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        compiler, nm = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
