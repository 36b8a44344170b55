#!/usr/bin/env python3
"""clang-tidy over every host file of a build, and zero findings.

    tools/ci/tidy.py build/cpu [--deep] [--tests] [--jobs N] [--reading] [FILE...]

Reads compile_commands.json of the build folder, which must be built: the headers of a file, as ninja noted
them, are part of what its result is remembered by (BUILD/tidy/), so that a second run checks only what has
changed. Most of the time goes to headers: where PLUMB_UNITY is on, files of a library are read together, more
of them at once than the build compiles. --deep adds the static analyser, which takes four times as long, and
the checks in SELDOM. FILE: these alone; with --reading a header too, through one file that includes it. Exit
0: nothing found; 1: findings; 2: it cannot run."""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PINNED = "14"  # as clang-format: another version finds other things
ROOMS = ("reference", "datasets", "verify", "gpu", "tools")
OURS = "--header-filter=(%s)/.*\\.[hc]pp$" % "|".join(ROOMS)
# They look at every call, name or loop of all headers, which is more than half of the time (13 seconds of a
# file that includes CLI11 for one of them), for faults that are rare here. Asked for nightly.
SELDOM = [
    "bugprone-argument-comment",
    "bugprone-fold-init-type",
    "bugprone-infinite-loop",
    "bugprone-misplaced-operator-in-strlen-in-alloc",
    "bugprone-misplaced-widening-cast",
    "bugprone-multiple-statement-macro",
    "bugprone-not-null-terminated-result",
    "bugprone-sizeof-expression",
    "bugprone-suspicious-memset-usage",
    "bugprone-suspicious-semicolon",
    "bugprone-suspicious-string-compare",
    "bugprone-swapped-arguments",
    "bugprone-undelegated-constructor",
    "bugprone-unused-raii",
    "bugprone-unused-return-value",
    "bugprone-use-after-move",
    "bugprone-virtual-near-miss",
    "misc-unused-using-decls",
    "modernize-use-nullptr",
    "performance-type-promotion-in-math-fn",
    "performance-unnecessary-value-param",
    "readability-redundant-access-specifiers",
    "readability-redundant-control-flow",
    "readability-redundant-declaration",
    "readability-redundant-string-init",
]


def die(message):
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


def find_tool():
    """clang-tidy, of the pinned version where that is installed."""
    for tool in (f"clang-tidy-{PINNED}", "clang-tidy"):
        if shutil.which(tool):
            version = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
            if f"version {PINNED}." not in version:
                print(
                    f"tidy: this is not clang-tidy {PINNED}, which the tree is held to: other findings",
                    file=sys.stderr,
                )
            return tool, version
    return die(f"clang-tidy is missing: apt-get install clang-tidy-{PINNED}")


def sources(file, build):
    """The files of ours that a compiled file stands for: itself, or what PLUMB_UNITY made it include."""
    if file.is_relative_to(build):
        if not re.fullmatch(r"unity_\w+_cxx\.cxx", file.name) and file.parent != build / "joined":
            return []
        files = [ROOT / f for f in re.findall(r'^#include "(.*)"$', file.read_text(), re.MULTILINE)]
    else:
        files = [file]
    ours = [f.relative_to(ROOT) for f in files if f.suffix == ".cpp" and f.is_relative_to(ROOT)]
    return [str(f) for f in ours if f.parts[0] in ROOMS and not (ROOT / f).is_relative_to(build)]


class Unit(NamedTuple):
    """What clang-tidy reads in one go: the file that it is told, the command that compiles it, the objects
    that the build made of it, and the files of ours that it stands for."""

    file: str
    command: str
    objects: list
    names: list


def read_units(build):
    """The units of a build: each file once, whatever programs it is compiled for; no generated files."""
    try:
        database = json.loads((build / "compile_commands.json").read_text())
    except OSError as e:
        die(f"{e.filename}: {e.strerror}; build it first (tools/plumb build)")
    found = {}
    for entry in database:
        file = Path(entry["directory"], entry["file"]).resolve()
        if names := sources(file, build):
            output = entry.get("output") or re.search(r" -o (\S+)", entry["command"]).group(1)
            # clang cannot read gcc's precompiled header
            command = re.sub(r" -include \S*/cmake_pch\.hxx| -Werror(?= )", "", entry["command"])
            found.setdefault(str(file), Unit(str(file), command, [output], names))
    return list(found.values())


def group_of(unit):
    """The group of units that may be read together with this one, and how many at once; None: no other.
    Files of a library name no two things alike; the executor's are compiled one by one to save time."""
    target = re.search(r"/([^/]+)[.]dir/", unit.objects[0]).group(1)
    if unit.names[0].startswith("gpu/simt/") and target == "plumb_simt":
        return target, 16
    return (target, 4) if unit.file.endswith("_cxx.cxx") else None


def join(units, folder):
    """Units that may be read together, each group of them as one file in `folder`."""
    groups, joined = {}, []
    for unit in units:
        if group := group_of(unit):
            groups.setdefault(group, []).append(unit)
        else:
            joined.append(unit)
    for (target, size), alike in groups.items():
        for begin in range(0, len(alike), size):
            members = alike[begin : begin + size]
            file = folder / f"{target}_{begin // size}.cxx"
            file.write_text("".join(f'#include "{u.file}"\n' for u in members))
            command = members[0].command.replace(members[0].file, str(file))
            objects = [o for u in members for o in u.objects]
            names = [n for u in members for n in u.names]
            joined.append(Unit(str(file), command, objects, names))
    return joined


def headers(build):
    """{object: its headers within the tree}, as ninja noted them."""
    said = subprocess.run(
        ["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True, check=True
    ).stdout
    found, current = {}, None
    for line in said.splitlines():
        if not line.startswith(" "):
            current = found.setdefault(line.partition(":")[0], [])
        else:
            path = (build / line.strip()).resolve()
            if path.is_relative_to(ROOT):
                current.append(path)
    return found


def through(names, units, of_object):
    """`names` with a header replaced by the compiled file that reads it and the fewest others; those that no
    file reads are left out."""
    reads = {
        u.names[0]: {str(h.relative_to(ROOT)) for o in u.objects for h in of_object.get(o, [])} for u in units
    }
    compiled = {name for u in units for name in u.names}
    found = set()
    for name in names:
        if name in compiled:
            found.add(name)
        elif readers := [u for u, headers_read in reads.items() if name in headers_read]:
            found.add(min(readers, key=lambda u: (len(reads[u]), u)))
    return sorted(found)


class Memory:
    """Remembers by its inputs what was found clean."""

    def __init__(self, folder, seed):
        self.folder, self.seed, self.digests = folder, seed, {}
        folder.mkdir(exist_ok=True)

    def digest(self, path):
        if path not in self.digests:
            self.digests[path] = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""
        return self.digests[path]

    def mark(self, command, files):
        text = "\n".join([self.seed, command, *(f"{f} {self.digest(f)}" for f in sorted(files))])
        return self.folder / hashlib.sha256(text.encode()).hexdigest()


def write_database(build, folder, units):
    """compile_commands.json of the units, in a folder."""
    database = [{"directory": str(build), "file": u.file, "command": u.command} for u in units]
    (folder / "compile_commands.json").write_text(json.dumps(database))


def check(tool, database, file, checks):
    """What clang-tidy finds in a compiled file: "" where it finds nothing."""
    if file.endswith(".cxx") or "/joined/" in file:  # which includes what it is made of
        checks = [*checks, "-bugprone-suspicious-include"]
    rules = [f"--config-file={ROOT}/.clang-tidy", OURS, "--checks=" + ",".join(checks)]
    command = [tool, "-p", str(database), "--quiet", *rules, file]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    found = run.stdout.strip()
    return found or (run.stderr.strip() if run.returncode != 0 else "")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build", type=Path)
    p.add_argument("files", nargs="*", metavar="FILE")
    p.add_argument("--deep", action="store_true")
    p.add_argument("--tests", action="store_true", help="the doctest suites too")
    p.add_argument("--reading", action="store_true", help="FILE may be a header, or not compiled here")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    a = p.parse_intermixed_args()
    build = a.build.resolve()
    tool, version = find_tool()
    checks = ["clang-analyzer-*"] if a.deep else [f"-{name}" for name in SELDOM]
    memory = Memory(build / "tidy", "\n".join([version, OURS, (ROOT / ".clang-tidy").read_text(), *checks]))
    units = read_units(build)
    if not a.files and "PLUMB_UNITY:BOOL=ON" in (build / "CMakeCache.txt").read_text():
        units = join(units, memory.folder)
    wanted = [os.path.relpath(Path(f).resolve(), ROOT) for f in a.files]
    of_object = headers(build)
    if a.reading:
        wanted = through(wanted, units, of_object)
        if not wanted:
            print("tidy: no file of these is compiled here, and none reads them")
            return 0
    for name in wanted:
        if not any(name in u.names for u in units):
            die(f"{name}: not compiled in {a.build}")
    if not wanted:
        wanted = [n for u in units for n in u.names if a.tests or "/tests/" not in n]
    chosen = [u for u in units if any(n in wanted for n in u.names)]
    write_database(build, memory.folder, units)
    findings = checked = 0

    def job(unit):
        read = [h for o in unit.objects for h in of_object.get(o, [])]
        mark = memory.mark(unit.command, [*(ROOT / name for name in unit.names), *read])
        if mark.exists():
            return None
        found = check(tool, memory.folder, unit.file, checks)
        if not found:
            mark.touch()
        return found

    with ThreadPoolExecutor(a.jobs) as pool:
        for found in pool.map(job, chosen):
            checked += found is not None
            if found:
                findings += 1
                print(found, flush=True)
    said = f"tidy: {len(set(wanted))} files, read as {len(chosen)}"
    print(f"{said}; {checked} checked now, findings in {findings}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
