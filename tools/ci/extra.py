#!/usr/bin/env python3
"""`tools/plumb --extra DIR` on a finished build: kernels of one's own are judged, and nothing of the build is
made again.

    tools/ci/extra.py [PRESET]        default: $PLUMB_PRESET, else cpu

Folders of kernels are made beside each other: a correct one, the same with a fault, one that registers
nothing. Exit 0: all as it should be; 1: not, with what was wrong."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOST = """#include "reference/ops/gemv.hpp"

namespace plumb {
namespace {
template <class T>
void run(const Gemv::Problem<T>& p, const Gemv::In<T, Space::host>& in,
         const Gemv::Out<T, Space::host>& out, Context&) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T sum = 0;
    for (std::int64_t k = 0; p.alpha != T(0) && k < in.A.cols - SHORT; ++k) sum += in.A(i, k) * in.x[k];
    out.y[i] = p.beta == T(0) ? p.alpha * sum : p.alpha * sum + p.beta * out.y[i];
  }
}
const Register<Gemv, float, Space::host> f32{"mine", run<float>};
const Register<Gemv, double, Space::host> f64{"mine", run<double>};
}  // namespace
}  // namespace plumb
"""
DEVICE = """#include "gpu/device/kernel.hpp"
#include "reference/ops/gemv.hpp"

namespace plumb {
namespace {
template <class T>
__global__ void rows(Gemv::Problem<T> p, Gemv::In<T, Space::device> in, Gemv::Out<T, Space::device> out) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= in.A.rows) return;
  T sum = 0;
  for (std::int64_t k = 0; p.alpha != T(0) && k < in.A.cols - SHORT; ++k) sum += in.A(i, k) * in.x[k];
  out.y[i] = p.beta == T(0) ? p.alpha * sum : p.alpha * sum + p.beta * out.y[i];
}
template <class T>
void run(const Gemv::Problem<T>& p, const Gemv::In<T, Space::device>& in,
         const Gemv::Out<T, Space::device>& out, Context& context) {
  launch(rows<T>, (in.A.rows + 127) / 128, 128, 0, context.stream, p, in, out);
}
const Register<Gemv, float, Space::device> f32{"kernel", run<float>};
const Register<Gemv, double, Space::device> f64{"kernel", run<double>};
}  // namespace
}  // namespace plumb
"""
STORE = "  out.y[i] = p.beta == T(0) ? p.alpha * sum : p.alpha * sum + p.beta * out.y[i];"
NOT_BEGUN = """  T before;
  if (p.beta != T(0)) before = p.beta * out.y[i];
  out.y[i] = p.alpha * sum + before;"""
failures = []


def folder(place, name, files):
    path = place / name
    path.mkdir()
    for file, text in files.items():
        (path / file).write_text(text)
    return path


def plumb(title, expected, words, *said):
    """Runs tools/plumb with `words`; notes a failure unless it exits as expected and says every text of
    `said`."""
    start = time.monotonic()
    got = subprocess.run(
        [ROOT / "tools/plumb", *map(str, words)], capture_output=True, text=True, check=False
    )
    print(f"{title}: exit code {got.returncode}, {time.monotonic() - start:.1f} s", flush=True)
    text = got.stdout + got.stderr
    missing = [s for s in said if s not in text]
    if got.returncode != expected or missing:
        failures.append(
            f"{title}: exit code {got.returncode}, expected {expected}; not said: {missing}\n{text[-3000:]}"
        )
    return text


def made(text):
    """Files that a build compiled or linked, of what tools/plumb said about it."""
    return [
        line.split()[-1]
        for line in text.splitlines()
        if line.startswith("[") and "ing CXX" in line or "Building CUDA" in line
    ]


def only(title, text, *allowed):
    """Notes a failure where anything else than the folder's own was made."""
    for file in made(text):
        if not any(a in file for a in allowed):
            failures.append(f"{title}: {file} was made")


def all_runs(title, text):
    """Notes a failure where a user's kernel has fewer than three runs of a case, as rungs have."""
    counted = re.search(r"^verify: (\d+) passed, .*\((\d+) runs", text, re.MULTILINE)
    if counted is None or int(counted[2]) < 3 * int(counted[1]):
        failures.append(f"{title}: not three runs of each record: {counted and counted[0]}")


def main():
    preset = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("PLUMB_PRESET", "cpu")
    os.environ["PLUMB_PRESET"] = preset
    place = Path(tempfile.mkdtemp(prefix="plumb "))  # a folder with a space in its name
    correct, faulty = HOST.replace("SHORT", "0"), HOST.replace("SHORT", "1")
    kernel = DEVICE.replace("SHORT", "0")
    judge = ["verify", "--case", "gemv.*", "--fill", "exact"]
    simt = [*judge, "--device", "simt", "--race"]
    own = ("extra/", "CMakeFiles/plumb_user_", "CMakeFiles/verify_")
    try:
        mine = folder(place, "mine", {"mine.cpp": correct})
        yours = folder(place, "yours", {"mine.cpp": faulty, "kernel.cu": kernel})
        silent = folder(place, "silent", {"mine.cpp": "int unused() { return 1; }\n"})
        plumb("finished build", 0, ["build", "bin/verify", "plumb_simt_worker_main"])
        only(
            "first use", plumb("first use, host", 0, ["--extra", mine, *judge], "user/mine", "0 failed"), *own
        )
        (mine / "mine.cpp").write_text(correct + "// edited\n")
        only("after an edit", plumb("after an edit, host", 0, ["--extra", mine, *judge], "0 failed"), *own)
        text = plumb(
            "faulty kernel beside it",
            1,
            ["--extra", yours, *judge, "--device", "cpu"],
            "FAIL  user/mine  gemv.f32(",
        )
        only("faulty kernel", text, *own)
        text = plumb(
            "kernel on the CPU executor, first use",
            0,
            ["--extra", yours, *simt],
            "user/kernel (simt)",
            "0 failed",
        )
        only("kernel", text, *own)
        all_runs("kernel", text)
        if not shutil.which("nvidia-smi"):
            alone = folder(place, "alone", {"kernel.cu": kernel})
            plumb(
                "a folder of CUDA kernels alone, without a GPU",
                0,
                ["--extra", alone, *judge],
                "there is no GPU here: kernels in .cu files are judged on the CPU executor",
                "user/kernel (simt)",
                "0 failed",
            )
            plumb(
                "bench of a folder with one",
                0,
                ["--extra", yours, "bench", "--case", "gemv.*", "--dry-run"],
                "kernel.cu is not timed: there is no GPU here",
            )
        # where beta is 0 nothing begins `before`
        edited = kernel.replace(STORE, NOT_BEGUN)
        (yours / "kernel.cu").write_text(edited)
        plumb(
            "kernel on the CPU executor, after an edit",
            1,
            ["--extra", yours, *simt],
            "ERROR  user/kernel (simt)  gemv.f32(",
            "uninitialised read",
        )
        if made(plumb("the first folder again", 0, ["--extra", mine, *judge], "0 failed")):
            failures.append("the first folder again: something was made")
        plumb(
            "a file that registers nothing",
            4,
            ["--extra", silent, *judge],
            "registered no variant of that name",
        )
        plumb(
            "the mutants, with it",
            0,
            ["--extra", mine, "verify", "--mutants", "--device", "cpu", "--case", "gemv.*"],
        )
    finally:
        shutil.rmtree(place)
    print("\n".join(failures) or "every folder was judged beside the build, of which nothing was made again")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
