#!/usr/bin/env python3
"""One of each kind of addition, made in a copy of the tree, built and run.

    tools/ci/new_kinds.py [--keep] [--alone]

What tools/plumb writes the beginning of (an operator, variants, a rung, mutants, plug-ins) is generated and
filled in. The rest (a file format, a report, a check of the judge, an instruction of inline PTX, a model
pipeline) is taken from the examples of docs/contributing, whose steps read

    New file `PATH`:                    and a block of code
    In `PATH`, after `TEXT`:            the block follows the line that holds TEXT
    In `PATH`, before `TEXT`:           the block precedes it
    In `PATH`, in place of `TEXT`:      the block replaces it

The copy (build/new_kinds) holds the whole judge, and of the ladders, host variants and mutants only the first
few, and is compiled without optimisation, so that it builds in minutes. --alone compiles each file by itself,
with its own includes alone: what a file forgets to include shows nowhere else. --keep leaves the copy. Exit
0: every kind was judged as it should be; 1: not, with what was wrong."""

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
        r"gpu/(?!gemv/01)\w+/\d\d_.*\.cu$|gpu/tests/|reference/cpu/(?!gemv/)\w+/\d\d_|verify/mutants/(device/)?\w+\.(cpp|cu)$|docs/|.*\.(md|svg)$"
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


USE_OF_IT = """  unsigned one, two;
  asm("vadd.u32.u32.u32 %0, %1, %2;" : "=r"(one) : "r"(blockDim.x), "r"(1u - blockDim.x));
  asm("vadd.u32.u32.u32 %0, %1, %2;" : "=r"(two) : "r"(one), "r"(1u));
  for (std::int64_t i = threadIdx.x; i < problem.n; i += kThreads) {
    out.y[i] = static_cast<T>(two) * in.x[i];
  }
  // Until this writes"""


STEP = re.compile(
    r"(?:New file|In) `([^`]+)`(?:, (after|before|in place of) `([^`]+)`)?:\n\n```\w*\n(.*?)```\n", re.DOTALL
)


def apply_page(name):
    """Applies the steps of docs/contributing/NAME.md to the copy."""
    steps = STEP.findall((ROOT / "docs/contributing" / f"{name}.md").read_text())
    if not steps:
        failures.append(f"docs/contributing/{name}.md: holds no step")
    for path, where, text, block in steps:
        file = COPY / path
        if not where:
            file.write_text(block)
            continue
        lines = file.read_text().splitlines(keepends=True)
        at = [n for n, line in enumerate(lines) if text in line]
        if len(at) != 1:
            failures.append(f"docs/contributing/{name}.md: {path}: {len(at)} lines hold '{text}', expected 1")
            continue
        begin = at[0] + (where == "after")
        lines[begin : begin + (where == "in place of")] = [block]
        file.write_text("".join(lines))


def generate():
    """Writes one of each kind; returns the names of the variants that judge() asks for."""
    for page in ("format", "report", "check", "ptx", "model"):
        apply_page(page)
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
        ("racy rung", ["axpy.*", f"*/{racy}", *on_simt, "--listed"], 1, "race in "),
        ("instruction of inline PTX", ["axpy.*", f"*/{ptx}", *on_simt], 0, f"gpu/{ptx} (simt)", ", 0 failed"),
    ):
        case, variants, *device = words
        run(title, [*VERIFY, "--case", case, "--variant", variants, *device], expected, *said)
    mutants = [*VERIFY, "--mutants", "--case", "axpy.*", *on_cpu]
    run("mutants", mutants, 0, "nothing_written_at_all", "last_element_left_out")


def judge_pages():
    """Runs what the pages added."""
    (COPY / "d.diag").write_text("1.5\n\n-2\n")
    (COPY / "bad.diag").write_text("1.5\nx\n")
    dataset = "build/kinds/bin/dataset"
    run("file format", [dataset, "info", "d.diag"], 0, "kind: diagonal", "rows: 2", "entries: 2")
    convert = [dataset, "convert", "d.diag", "/dev/stdout", "--format", "el"]
    run("file format, converted", convert, 0, "1\t1\t-2")
    run("file format, an error", [dataset, "info", "bad.diag"], 2, "bad.diag:2: value")
    words = ["--case", "axpy.*", "--variant", "*/01_serial", "--device", "cpu"]
    run("report", [*VERIFY, *words, "--tap", "r.tap"], 0, ", 0 failed")
    tap = (COPY / "r.tap").read_text() if (COPY / "r.tap").is_file() else ""
    if not re.fullmatch(r"TAP version 13\n(ok \d+ - axpy\.\S+ cpu/01_serial\n)+1\.\.\d+\n", tap):
        failures.append(f"report: r.tap holds\n{tap[:2000]}")
    mutants = [*VERIFY, "--mutants", "--case", "gemv.*", "--device", "cpu", "-v"]
    run("check of the judge", mutants, 0, "choice_explained_in_two_lines", "in more than one line")
    correct = [*VERIFY, "--case", "gemv.*", "--device", "cpu", "--listed"]
    run("check of the judge, correct kernels", correct, 0, ", 0 failed")
    infer = ["build/kinds/bin/infer", "sdnn", "--pipeline", "row_by_row", "--check"]
    network = ["--neurons", "1024", "--layers", "6", "--inputs", "20"]
    run("model pipeline", [*infer, *network], 0, "pipeline: row_by_row", ": 0 of 122880 elements outside")


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
                *["--fill", "exact", "--listed"],
            ],
            code,
            word,
        )


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--keep", action="store_true")
    p.add_argument("--alone", action="store_true")
    a = p.parse_args()
    options = {"PLUMB_GPU": "OFF", "PLUMB_TESTS": "OFF"}
    options |= {"CMAKE_BUILD_TYPE": "Debug", "CMAKE_CXX_FLAGS_DEBUG": "-O0"}
    alone = {"PLUMB_UNITY": "OFF", "CMAKE_DISABLE_PRECOMPILE_HEADERS": "ON"}
    together = {"PLUMB_UNITY": "ON"}
    copy_tree()
    names = generate()
    options |= alone if a.alone else together
    defined = [f"-D{name}={value}" for name, value in options.items()]
    run("configuring", ["cmake", "-S", ".", "-B", "build/kinds", "-G", "Ninja", *defined])
    run("building", ["ninja", "-C", "build/kinds", "verify", "plumb_simt_worker", "dataset", "infer"])
    if not failures:
        judge(*names)
        judge_pages()
        plugins()
    if not a.keep:
        shutil.rmtree(COPY, ignore_errors=True)
    print("\n".join(failures) or "one of each kind was generated, built and judged")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
