"""tools/simt-nvcc as a project's build calls it: options, and programs that are made and run."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True
from simt_nvcc import options  # noqa: E402

PATIENCE = 600  # seconds after which a test gives up; nothing is measured

HEADER = "#pragma once\n__global__ void set(int* to, int value);\n"
KERNEL = """#include "k.h"
extern __device__ int offset;
__global__ void set(int* to, int value) { *to = TWICE(value) + offset; }
"""
MAIN = """#include "k.h"
#include <cstdio>
__device__ int offset = 1;
int from_c();
int main(int argc, char**) {
  int *d, got;
  cudaMalloc(&d, sizeof got);
  set<<<1, argc>>>(d, from_c());
  cudaMemcpy(&got, d, sizeof got, cudaMemcpyDeviceToHost);
  return got == 43 ? 0 : 3;
}
"""


class Options(unittest.TestCase):
    def read(self, *words):
        return options.read(words)

    def test_what_decides_how_device_code_is_made_is_accepted(self):
        words = (
            "-O3 -arch=sm_90a -gencode arch=compute_80,code=sm_80 -lineinfo -G -g -w -m64 -maxrregcount=32 "
            "--generate-code=arch=compute_90,code=sm_90 --use_fast_math --expt-relaxed-constexpr -t4 "
            "--extended-lambda -Xptxas -v,-O3 --ptxas-options=-v -ccbin g++ -Xcudafe --diag_suppress=2 "
            "--threads 4 -Wno-deprecated-gpu-targets a.cu -o b"
        )
        order = self.read(*words.split())
        self.assertEqual(
            (order.files, order.output, order.mode, order.rdc), ([("a.cu", "cu")], "b", "link", False)
        )
        self.assertEqual((order.preprocessor, order.defines, order.host, order.link), ([], [], [], []))

    def test_values_are_joined_or_apart(self):
        order = self.read(
            "-Ia",
            "-I",
            "b",
            "--include-path=c",
            "-isystem",
            "d",
            "-DX",
            "-D",
            "f(x)=x",
            "-UX",
            "-std",
            "c++20",
            "x.cu",
        )
        self.assertEqual(order.preprocessor, ["-I", "a", "-I", "b", "-I", "c", "-isystem", "d"])
        self.assertEqual(order.defines, [("D", "X"), ("D", "f(x)=x"), ("U", "X")])
        self.assertEqual(order.standard, "20")

    def test_libraries_of_the_toolkit_are_left_out(self):
        order = self.read(
            "x.o", "-lcudart", "-lcublas", "-lm", "-Lhere", "-Xlinker", "-rpath,there", "liby.a"
        )
        self.assertEqual(order.link, ["x.o", "-lm", "-Lhere", "-Wl,-rpath", "-Wl,there", "liby.a"])

    def test_modes(self):
        for words, mode, rdc in (
            ("-c", "compile", False),
            ("-dc", "compile", True),
            ("--device-c", "compile", True),
            ("-E", "preprocess", False),
            ("-rdc=true -c", "compile", True),
            ("-dlink", "device link", True),
            ("--lib", "archive", False),
            ("-ptx", "device code", False),
            ("--version", "version", False),
            ("-MM", "dependencies", False),
        ):
            order = self.read(*words.split(), "x.cu")
            self.assertEqual((order.mode, order.rdc), (mode, rdc), words)

    def test_a_language_is_that_of_the_files_behind_it(self):
        self.assertEqual(
            self.read("-x", "cu", "a.cpp", "-x", "none", "b.c").files, [("a.cpp", "cu"), ("b.c", "c")]
        )

    def test_what_it_does_not_know_is_refused(self):
        for words in (
            ["-frobnicate", "x.cu"],
            ["x.txt"],
            ["x.cu", "-o"],
            ["--default-stream", "per-thread", "x.cu"],
            ["@/nowhere"],
        ):
            with self.assertRaises(options.Refused):
                self.read(*words)


class Projects(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(
            prefix="simt nvcc "
        )  # with a space: paths are quoted everywhere
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        for name, text in (("k.h", HEADER), ("k.cu", KERNEL), ("main.cu", MAIN)):
            (self.folder / name).write_text(text)
        (self.folder / "host.cpp").write_text("int from_c() { return 21; }\n")

    def nvcc(self, *words, status=0):
        got = subprocess.run(
            [str(ROOT / "tools/simt-nvcc"), *words],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        self.assertEqual(got.returncode, status, got.stdout + got.stderr)
        return got

    def ran(self, program):
        return subprocess.run(
            [str(self.folder / program)], check=False, capture_output=True, text=True, timeout=PATIENCE
        ).returncode

    def test_separate_files_with_relocatable_device_code(self):
        self.nvcc("-dc", "-DTWICE(x)=((x)*2)", "-MD", "-MF", "k.d", "k.cu", "-o", "k.o")
        self.assertIn("k.h", (self.folder / "k.d").read_text())
        self.assertTrue((self.folder / "k.d").read_text().startswith("k.o:"))
        self.nvcc("-dc", "main.cu")
        self.nvcc("-c", "host.cpp")
        self.nvcc("-dlink", "k.o", "main.o", "-o", "link.o")
        self.nvcc("k.o", "main.o", "host.o", "link.o", "-lcudart", "-o", "program")
        self.assertEqual(self.ran("program"), 0)

    def test_all_at_once_and_a_mistake_in_the_source(self):
        self.nvcc("-rdc=true", "-DTWICE(x)=((x)*3)", "k.cu", "main.cu", "host.cpp", "-o", "program")
        self.assertEqual(self.ran("program"), 3)
        self.assertIn(
            "TWICE", self.nvcc("-rdc=true", "k.cu", "main.cu", "host.cpp", "-o", "program", status=1).stderr
        )
        self.assertIn("nothing.cu: no such file", self.nvcc("nothing.cu", status=2).stderr)


if __name__ == "__main__":
    unittest.main()
