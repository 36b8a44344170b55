#!/usr/bin/env python3
"""One of each kind that tools/plumb writes the beginning of, generated in a copy of the tree, filled in,
built and run.

    tools/ci/new_kinds.py [--keep]

The copy (build/new_kinds) holds the whole judge, and of the ladders, host variants and mutants only the first
few, so that it builds in a minute or two. Exit 0: every kind was judged as it should be; 1: not, with what
was wrong; --keep leaves the copy."""

import argparse
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COPY = ROOT / "build/new_kinds"
VERIFY = ["build/kinds/bin/verify", "--no-color"]
failures = []


def copy_tree():
    """The tracked and new files of the tree, without what the new kinds do not need."""
    shutil.rmtree(COPY, ignore_errors=True)
    names = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "-z"],
        capture_output=True,
        text=True,
        check=True,
    )
    spare = re.compile(
        r"gpu/(?!gemv/01)\w+/\d\d_.*\.cu$|gpu/tests/|reference/cpu/(?!gemv/)\w+/\d\d_|verify/mutants/\w+\.(cpp|cu)$|docs/|.*\.(md|svg)$"
    )
    for name in names.stdout.split("\0"):
        if name and (ROOT / name).is_file() and (not spare.match(name) or "/template/" in name):
            (COPY / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, COPY / name)


def run(title, command, expected=0, *said):
    """Runs a command in the copy; notes a failure unless it exits as expected and says every text of `said`.
    Returns what it said."""
    start = time.monotonic()
    got = subprocess.run(command, cwd=COPY, capture_output=True, text=True, check=False)
    text = got.stdout + got.stderr
    print(f"{title}: exit code {got.returncode}, {time.monotonic() - start:.1f} s", flush=True)
    missing = [s for s in said if s not in text]
    if got.returncode != expected or missing:
        failures.append(
            f"{title}: exit code {got.returncode}, expected {expected}; not said: {missing}\n{text[-4000:]}"
        )
    return text


def new(kind, *words):
    """What tools/plumb new-KIND says; the path of the file of that kind which it names last."""
    said = run(f"new-{kind} {' '.join(words)}", ["tools/plumb", f"new-{kind}", *words])
    paths = re.findall(r"(?:reference|gpu|verify)/[\w/]+\.(?:cpp|cu)", said)
    return paths[0] if paths else ""


def fill(path, old, text):
    """Fills in a generated file: `old` must be in it."""
    before = (COPY / path).read_text()
    if old not in before:
        failures.append(f"{path}: holds no '{old}'")
    (COPY / path).write_text(before.replace(old, text))


INSTRUCTION = """    def do_cnot(self, words, args):  # cnot.b32 d, a;  d is 1 where a is 0, else 0
        kind = self.kind(words)
        if kind is None or len(args) != 2:
            return None
        return self.assign(args[0], '!%s' % self.value(args[1], kind))

"""
USE_OF_IT = """  unsigned one, zero;
  asm("cnot.b32 %0, %1;" : "=r"(one) : "r"(0u));
  asm("cnot.b32 %0, %1;" : "=r"(zero) : "r"(blockDim.x));
  for (std::int64_t i = threadIdx.x; i < problem.n; i += kThreads) {
    out.y[i] = static_cast<T>(one + one + zero) * in.x[i];
  }
  // Until this writes"""


def generate():
    """Writes one of each kind; returns the names of the variants that judge() asks for."""
    new("op", "axpy")
    new("op", "row_product", "--like", "gemv")
    unwritten = new("variant", "axpy", "not_filled_in")
    variant = new("variant", "axpy", "twice")
    fill(
        variant,
        "(void)problem, (void)in, (void)out;",
        "for (std::int64_t i = 0; i < problem.n; ++i) out.y[i] = in.x[i] + in.x[i];",
    )
    rung = new("variant", "axpy", "thread_per_element", "--cuda")
    fill(
        rung,
        "  // Until this writes",
        "  for (std::int64_t i = threadIdx.x; i < problem.n; i += kThreads) out.y[i] = 2 * in.x[i];\n"
        "  // Until this writes",
    )
    racy = new("variant", "axpy", "all_threads_one_sum", "--cuda")
    fill(
        racy,
        "  // Until this writes",
        "  for (std::int64_t i = 0; i < problem.n; ++i) out.y[i] = threadIdx.x + 2 * in.x[i];\n"
        "  // Until this writes",
    )
    new("mutant", "axpy", "nothing_written_at_all")
    ptx = new("variant", "axpy", "by_a_new_instruction", "--cuda")
    fill(ptx, "  // Until this writes", USE_OF_IT)
    reader = next(COPY.glob("gpu/simt/**/ptx.py")).relative_to(COPY)
    fill(reader, "    def do_popc(", INSTRUCTION + "    def do_popc(")
    return [Path(f).stem for f in (unwritten, variant, rung, racy, ptx)]


def judge(unwritten, variant, rung, racy, ptx):
    """Judges what generate() wrote, each by its variants' names."""
    on_cpu, on_simt = ["--device", "cpu"], ["--device", "simt", "--race"]
    for title, words, expected, *said in (
        (
            "operator and variant",
            ["axpy.*", f"*/01_serial,*/{variant}", *on_cpu],
            0,
            f"cpu/{variant}",
            ", 0 failed",
        ),
        (
            "operator like another",
            ["row_product.*", "*/01_serial", *on_cpu],
            0,
            "cpu/01_serial",
            ", 0 failed",
        ),
        ("variant not filled in", ["axpy.*", f"*/{unwritten}"], 1, "UNWRITTEN"),
        ("rung", ["axpy.*", f"*/{rung}", *on_simt], 0, f"gpu/{rung} (simt)", ", 0 failed"),
        ("racy rung", ["axpy.*", f"*/{racy}", *on_simt], 1),
        ("instruction of inline PTX", ["axpy.*", f"*/{ptx}", *on_simt], 0, f"gpu/{ptx} (simt)", ", 0 failed"),
    ):
        case, variants, *device = words
        run(title, [*VERIFY, "--case", case, "--variant", variants, *device], expected, *said)
    mutants = [*VERIFY, "--mutants", "--case", "axpy.*", *on_cpu]
    run("mutants", mutants, 0, "nothing_written_at_all", "last_element_left_out")


def plugins():
    for op, code, word in (("spmv", 0, ", 0 failed"), ("gemv", 1, "UNWRITTEN")):
        name = f"mine_{op}"
        new("plugin", op, name)
        run(
            f"configuring the plug-in of {op}",
            ["cmake", "-S", name, "-B", f"{name}/build", "-DPLUGIN_CUDA=OFF"],
        )
        run(f"building the plug-in of {op}", ["cmake", "--build", f"{name}/build"])
        run(
            f"plug-in of {op}",
            [
                *VERIFY,
                "--plugin",
                f"{name}/build/lib{name}.so",
                "--fill",
                "exact",
            ],
            code,
            word,
        )


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--keep", action="store_true")
    keep = p.parse_args().keep
    copy_tree()
    names = generate()
    run(
        "configuring",
        ["cmake", "-S", ".", "-B", "build/kinds", "-G", "Ninja", "-DPLUMB_GPU=OFF", "-DPLUMB_TESTS=OFF"],
    )
    run("building", ["ninja", "-C", "build/kinds", "verify", "plumb_simt_worker"])
    if not failures:
        judge(*names)
        plugins()
    if not keep:
        shutil.rmtree(COPY, ignore_errors=True)
    print("\n".join(failures) or "one of each kind was generated, built and judged")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
