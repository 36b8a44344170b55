"""Arrays of a program on the CPU executor: their names in findings; freed, refused and large ones."""

import re
import subprocess
import unittest

from simt_program import PATIENCE, build

PROGRAM = r"""#include <cstdio>
#include <cstring>
#include <sys/resource.h>
__global__ void fill(float* p, int n) { if (threadIdx.x < n) p[threadIdx.x] = 1; }
__global__ void touch(char* p) { p[threadIdx.x * 4096] = 1; }
static float* make(size_t n) { float* p; cudaMalloc(&p, n); return p; }
static void replay(float* d_x) {
  cudaStream_t s;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamCreate(&s);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  fill<<<1, 256, 0, s>>>(d_x, 256);
  cudaStreamEndCapture(s, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaFree(d_x);
  cudaGraphLaunch(exec, s);
  cudaStreamSynchronize(s);
}
static void large() {
  char* all[10];
  for (char*& one : all) cudaMalloc(&one, size_t(235) << 20);
  touch<<<1, 64>>>(all[3]);
  cudaDeviceSynchronize();
  rusage use;
  getrusage(RUSAGE_SELF, &use);
  std::printf("resident %ld\n", use.ru_maxrss);
}
int main(int, char** argv) {
  const auto is = [&](const char* what) { return std::strcmp(argv[1], what) == 0; };
  float *d_x, h[256];
  cudaMalloc((void**)&d_x, 1024);
  float* first = make(1024);
  float* second = make(1024);
  if (is("read")) cudaMemcpy(h, second, sizeof h, cudaMemcpyDeviceToHost);
  if (is("refused")) std::printf("answer %d\n", cudaMalloc(&first, size_t(9) << 30));
  if (is("replay")) replay(d_x);
  if (is("large")) large();
  if (!is("kernel") && !is("copy") && !is("set") && !is("free")) return 0;
  cudaFree(d_x);
  if (is("kernel")) fill<<<1, 256>>>(d_x, 256);
  if (is("copy")) cudaMemcpy(h, d_x, sizeof h, cudaMemcpyDeviceToHost);
  if (is("set")) cudaMemset(d_x, 0, sizeof h);
  if (is("free")) cudaFree(d_x);
  return cudaDeviceSynchronize();
}
"""


def line_of(text):
    return next(n for n, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


class Arrays(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = build(cls, "arrays", PROGRAM)

    def ran(self, mode, status):
        command = [str(self.folder / "arrays"), mode]
        got = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(got.returncode, status, got.stderr)
        return got

    def test_what_uses_freed_memory_is_told_what_it_was(self):
        for mode in ("kernel", "copy", "set", "replay"):
            with self.subTest(mode):
                told = self.ran(mode, 1).stderr
                self.assertIn("use after free, at byte 0 of 'd_x' (1024 bytes), freed by cudaFree at ", told)
                self.assertRegex(told, rf"allocated at .*arrays\.cu:{line_of('(void**)&d_x')}\b")
                self.assertEqual("a replay of a graph" in told, mode == "replay")
                if mode == "replay":
                    self.assertRegex(told, rf"launched at .*arrays\.cu:{line_of('cudaGraphLaunch')}\b")

    def test_memory_that_is_freed_twice_says_where_first(self):
        self.assertRegex(self.ran("free", 0).stderr, r"freed before: 'd_x', by cudaFree at .*arrays\.cu:")

    def test_arrays_of_one_variable_are_told_apart_and_their_callers_named(self):
        told = self.ran("read", 0).stderr
        self.assertIn("'p #2' at byte 0", told)
        made, called = line_of("static float* make"), line_of("float* second = make")
        where = rf".*arrays\.cu:{made}, called at .*arrays\.cu:{called}\n"
        self.assertRegex(told, "'p #2' is of cudaMalloc at " + where)

    def test_an_allocation_that_is_refused_says_why(self):
        got = self.ran("refused", 0)
        self.assertIn("answer 2", got.stdout)
        self.assertIn(
            "cudaMalloc of 9663676416 bytes: more than the 8589934592 bytes of the device; the program holds "
            "3072 bytes in 3 arrays",
            got.stderr,
        )

    def test_large_arrays_take_room_where_they_are_written(self):
        resident = int(re.search("resident ([0-9]+)", self.ran("large", 0).stdout).group(1))  # KiB
        self.assertLess(resident, 400 << 10)  # of 2350 MiB, and of 8 times as much shadow


if __name__ == "__main__":
    unittest.main()
