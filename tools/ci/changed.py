#!/usr/bin/env python3
"""Of a change, what .ci/nightly does for the whole tree: clang-tidy over its files, its headers alone, its
kernels by nvcc, and one of each new kind where a generator or a page with an example changed.

    tools/ci/changed.py BUILD [--since COMMIT] [--list]
    tools/ci/changed.py --operators DAY [--since COMMIT]

BUILD is built (tools/plumb build --all). COMMIT is the state before the change: by default where this branch
left main; on main itself the commit before. --list says what would be checked. Of a change to more than 60
files of a kind, .ci/nightly checks those. Exit 0: nothing found; 1: findings. --operators prints those whose
files changed, and a quarter of all: DAY says which."""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST = 60  # files of a kind: more take as long as the whole tree
ROOMS = ("reference/", "datasets/", "verify/", "gpu/", "tools/")
# what new_kinds.py generates from, builds with or reads
KINDS = re.compile(
    r"docs/contributing/|tools/(scaffold|templates|cmake)/|tools/ci/new_kinds\.py"
    r"|gpu/plugin/template/|(.*/)?CMakeLists\.txt"
)


def said(*command):
    """What a command of git prints; None where it fails."""
    got = subprocess.run(["git", "-C", ROOT, *command], capture_output=True, text=True, check=False)
    return got.stdout.strip() if got.returncode == 0 else None


def base():
    """The commit before the change; None in a clone that holds no other."""
    for main in ("origin/main", "main"):
        found = said("merge-base", "HEAD", main)
        if found and found != said("rev-parse", "HEAD"):
            return found
    return said("rev-parse", "HEAD~1")


def changed(since):
    """Files that differ from a commit, those that are not committed too; none that are gone."""
    names = said("diff", "--name-only", since) or ""
    new = said("ls-files", "-o", "--exclude-standard") or ""
    return sorted({n for n in (names + "\n" + new).split("\n") if n and (ROOT / n).is_file()})


def headers_of(names):
    """The objects that compile a header alone, as ninja names them in any build."""
    stems = [re.sub(r"\W", "_", n) for n in names if n.endswith(".hpp")]
    return [re.compile(rf"check_headers_\w+\.dir/headers/{stem}\.cpp\.o$") for stem in stems]


def kernels_of(names):
    """Kernel files that changed, and those that read a changed header of their ladder."""
    found = {n for n in names if re.fullmatch(r"gpu/\w+/(families/)?\w+\.cu", n)}
    for name in names:
        header = re.fullmatch(r"gpu/(?!device/)(\w+)/((kernels|families)/)?\w+\.hpp", name)
        if header:
            for kernel in (ROOT / "gpu" / header[1]).rglob("*.cu"):
                if f'#include "{name}"' in kernel.read_text():
                    found.add(str(kernel.relative_to(ROOT)))
    return sorted(found)


def operators_of(names, day):
    """Those whose contract, kernels or mutants changed, and a quarter of all, as --case takes them."""
    known = sorted(p.stem for p in (ROOT / "reference/ops").glob("*.hpp"))
    rooms = r"(?:reference/ops|reference/cpu|gpu|verify/mutants(?:/device)?)/"
    touched = {op for op in known for n in names if re.match(rf"{rooms}{op}(?:[./]|_\w+[.])", n)}
    return ",".join(op for i, op in enumerate(known) if i % 4 == day % 4 or op in touched)


def targets(build, patterns):
    listed = subprocess.run(
        ["ninja", "-C", build, "-t", "targets", "all"], capture_output=True, text=True, check=True
    ).stdout
    names = [line.partition(":")[0] for line in listed.splitlines()]
    return [n for n in names if any(p.search(n) for p in patterns)]


def run(title, *command):
    print(f"--- {title}", flush=True)
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def nvcc():
    return shutil.which("nvcc") or Path("/usr/local/cuda/bin/nvcc").exists()


def compile_kernels(kernels):
    """By nvcc, each alone, for one chip and without optimisation."""
    folder = ROOT / "build/gpu-unrun"
    options = ["-DPLUMB_UNITY=OFF", "-DPLUMB_TESTS=OFF"]
    if not run("configuring gpu-unrun", "cmake", "--preset", "gpu-unrun", *options):
        return False
    objects = [re.compile(rf"plumb_gpu(_sm90a)?\.dir/{re.escape(k[4:])}\.o$") for k in kernels]
    return run(f"{len(kernels)} kernel files by nvcc", "ninja", "-C", folder, *targets(folder, objects))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build", type=Path, nargs="?", default=ROOT / "build/cpu")
    p.add_argument("--operators", type=int, metavar="DAY")
    p.add_argument("--since", metavar="COMMIT")
    p.add_argument("--list", action="store_true")
    a = p.parse_args()
    since = a.since or base()
    if a.operators is not None:
        print(operators_of(changed(since) if since else [], a.operators))
        return 0
    if since is None:
        print("changed: this clone holds no earlier commit to compare with (.ci/nightly checks all)")
        return 0
    names = changed(since)
    host = [n for n in names if n.startswith(ROOMS) and n.endswith((".cpp", ".hpp")) and "/tests/" not in n]
    kernels, kinds = kernels_of(names), [n for n in names if KINDS.match(n)]
    counts = f"{len(names)} files, {len(host)} of the host, {len(kernels)} kernel files to compile"
    print(f"changed since {since[:10]}: {counts}")
    if a.list:
        print(*host, *kernels, *kinds, sep="\n")
        return 0
    good = True
    alone = targets(a.build, headers_of(names))
    for what, files in (("files of the host", host), ("headers", alone), ("kernel files", kernels)):
        if len(files) > MOST:
            print(f"{len(files)} {what} are more than {MOST}: .ci/nightly checks them")
            files.clear()
    if host:
        good = run("clang-tidy", "tools/ci/tidy.py", a.build, "--reading", *host) and good
    if alone:
        # by tools/plumb, which waits for who else builds there
        good = run(f"{len(alone)} headers alone", "tools/plumb", "build", *alone) and good
    if kernels and nvcc():
        good = compile_kernels(kernels) and good
    if kinds:
        good = run("one of each new kind: " + ", ".join(kinds[:3]), "tools/ci/new_kinds.py") and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
