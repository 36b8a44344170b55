#!/usr/bin/env python3
"""`tools/plumb --extra DIR verify --race --device cpu`: races of a user's own host kernels are reported with
both lines, the repaired kernels are not, and a repro line repeats what it says.

    tools/ci/extra_race.py

A racy and a repaired kernel in plain OpenMP and in AVX, and a loop whose order Archer does not know. Exit 0:
all as it should be; 1: not, with what was wrong."""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import extra

# Columns are dealt out to threads: a sum of their own for each, or one for all.
SUM = """  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T sum = 0;
#pragma omp parallel for PRIVATE
    for (std::int64_t k = 0; k < cols; ++k) sum += in.A(i, k) * in.x[k];
    put(p, out, i, sum);
  }
"""
# Each thread adds to all partial sums in vector registers, in turn or not.
VECTORS = """  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    alignas(32) float sums[8] = {};
#pragma omp parallel
    {
      alignas(32) float own[8] = {};
#pragma omp for
      for (std::int64_t k = 0; k < cols; ++k) own[k % 8] += float(in.A(i, k) * in.x[k]);
PRIVATE
      _mm256_storeu_ps(sums, _mm256_add_ps(_mm256_loadu_ps(sums), _mm256_load_ps(own)));
    }
    T sum = 0;
    for (const float s : sums) sum += T(s);
    put(p, out, i, sum);
  }
"""
# The partial sum goes from each column to the next. libomp does not take g++'s loop without iterations.
CHAIN = """  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    if (cols == 0) {
      put(p, out, i, T(0));
      continue;
    }
    std::vector<T> sums(static_cast<std::size_t>(cols) + 1);
#pragma omp parallel for ordered(1) schedule(static, 1)
    for (std::int64_t k = 1; k <= cols; ++k) {
#pragma omp ordered depend(sink : k - DISTANCE)
      sums[k] = sums[k - 1] + in.A(i, k - 1) * in.x[k - 1];
#pragma omp ordered depend(source)
    }
    put(p, out, i, sums[cols]);
  }
"""
AROUND = """#include <immintrin.h>

#include <vector>

#include "reference/ops/gemv.hpp"

namespace plumb {
namespace {
template <class T>
void put(const Gemv::Problem<T>& p, const Gemv::Out<T, Space::host>& out, std::int64_t i, T sum) {
  out.y[i] = p.beta == T(0) ? p.alpha * sum : p.alpha * sum + p.beta * out.y[i];
}
template <class T>
void run(const Gemv::Problem<T>& p, const Gemv::In<T, Space::host>& in,
         const Gemv::Out<T, Space::host>& out, Context&) {
  const std::int64_t cols = p.alpha == T(0) ? 0 : in.A.cols;
BODY}
const Register<Gemv, float, Space::host> f32{"NAME", run<float>, Traits{}.not_reproducible()};
}  // namespace
}  // namespace plumb
"""
# The last columns of a row of B, and what lies behind them, are stored as a group of four.
GAP = """#include "reference/ops/transpose.hpp"

namespace plumb {
namespace {
void run(const Transpose::Problem<float>&, const Transpose::In<float, Space::host>& in,
         const Transpose::Out<float, Space::host>& out, Context&) {
  for (std::int64_t j = 0; j < in.A.cols; ++j) {
    float* const row = &out.B(j, 0);
    for (std::int64_t i = 0; i < in.A.rows; ++i) row[i] = in.A(i, j);
    if (j + 1 == in.A.cols) continue;
    for (std::int64_t i = in.A.rows; i < END; ++i) {
      volatile float* const behind = row + i;
      *behind = *behind;
    }
  }
}
const Register<Transpose, float, Space::host> f32{"NAME", run};
}  // namespace
}  // namespace plumb
"""
GAPS = {"racy_gap": "out.B.ld", "mended_gap": "in.A.rows"}
KERNELS = {
    "racy": SUM.replace("PRIVATE", ""),
    "mended": SUM.replace("PRIVATE", "reduction(+ : sum)"),
    "chain": CHAIN.replace("DISTANCE", "1"),
    "racy_chain": CHAIN.replace("DISTANCE", "2"),
}
if "avx2" in Path("/proc/cpuinfo").read_text().split():
    KERNELS["racy_avx"] = VECTORS.replace("PRIVATE\n", "")
    KERNELS["mended_avx"] = VECTORS.replace("PRIVATE", "#pragma omp critical")
CASE = "gemv.f32(fill=exact)"


def line_of(name, text):
    """The number of the first line with `text` in a kernel's file."""
    return source(name).split(text)[0].count("\n") + 1


def source(name):
    if name in GAPS:
        return GAP.replace("END", GAPS[name]).replace("NAME", name)
    return AROUND.replace("BODY", KERNELS[name]).replace("NAME", name)


def judge(place, name):
    """One kernel, in one command, and once more by its repro line."""
    racy = name.startswith("racy")
    stores = {"_avx": "_mm256_storeu", "hain": "sums[k] =", "_gap": "*behind ="}
    line = line_of(name, stores.get(name[-4:], "sum += in.A"))
    said = ["0 failed"] if not racy else [f"RACE  user/{name}", f"{name}.cpp:{line}", "Previous", "#0 "]
    case = "transpose.f32(fill=index)" if name in GAPS else CASE
    words = ["--extra", place, "verify", "--race", "--device", "cpu", "--case", case, "--listed"]
    text = extra.plumb(name, int(racy), [*words, "--variant", f"user/{name}"], *said)
    repro = re.search(r"repro: (.*)", text)
    if not racy:
        return
    again = repro and subprocess.run(
        shlex.split(repro[1]), capture_output=True, text=True, check=False, cwd=extra.ROOT
    )
    if not again or again.returncode != 1 or f"RACE  user/{name}" not in again.stdout:
        extra.failures.append(f"{name}: its repro line does not repeat it: {again}")


def judge_without_options(place):
    """Without what tools/plumb sets around it, the program would report right code: it refuses."""
    around = {key: value for key, value in os.environ.items() if key != "TSAN_OPTIONS"}
    program = f"build/archer/extra/{hashlib.sha1(str(place).encode()).hexdigest()[:10]}/verify"
    words = [program, "--race", "--device", "cpu", "--case", CASE]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=extra.ROOT, env=around)
    if done.returncode != 2 or "TSAN_OPTIONS lacks halt_on_error=1" not in done.stderr:
        extra.failures.append(f"without TSAN_OPTIONS: {done}")


def main():
    os.environ["PLUMB_PRESET"] = "cpu"
    place = Path(tempfile.mkdtemp(prefix="plumb races "))  # a folder with spaces in its name
    try:
        for name in (*KERNELS, *GAPS):
            (place / f"{name}.cpp").write_text(source(name))
        for name in (*KERNELS, *GAPS):
            judge(place, name)
        judge_without_options(place)
    finally:
        shutil.rmtree(place)
    for failure in extra.failures:
        print(f"failed: {failure}", file=sys.stderr)
    return 1 if extra.failures else 0


if __name__ == "__main__":
    sys.exit(main())
