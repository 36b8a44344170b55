#!/usr/bin/env python3
"""clang-tidy over every host file of a build, and zero findings.

    tools/ci/tidy.py build/cpu [--deep] [--tests] [--jobs N] [FILE...]

Reads compile_commands.json of the build folder, which must be built: the headers of a file, as ninja noted
them, are part of what its result is remembered by (BUILD/tidy/), so that a second run checks only what has
changed. --deep adds the static analyser, which takes four times as long. FILE: these alone. Exit 0: nothing
found; 1: findings; 2: it cannot run."""

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

ROOT = Path(__file__).resolve().parents[2]
PINNED = "14"  # as clang-format: another version finds other things
ROOMS = ("reference", "datasets", "verify", "gpu", "tools")
OURS = "--header-filter=(%s)/.*\\.[hc]pp$" % "|".join(ROOMS)


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
        if not re.fullmatch(r"unity_\d+_cxx\.cxx", file.name):
            return []
        files = [Path(f) for f in re.findall(r'^#include "(.*)"$', file.read_text(), re.MULTILINE)]
    else:
        files = [file]
    ours = [f.relative_to(ROOT) for f in files if f.suffix == ".cpp" and f.is_relative_to(ROOT)]
    return [str(f) for f in ours if f.parts[0] in ROOMS and not (ROOT / f).is_relative_to(build)]


def entries(build):
    """{compiled file: (object, command, its files of ours)}, each once; generated ones left out."""
    try:
        database = json.loads((build / "compile_commands.json").read_text())
    except OSError as e:
        die(f"{e.filename}: {e.strerror}; build it first (tools/plumb build)")
    found = {}
    for entry in database:
        file = Path(entry["directory"], entry["file"]).resolve()
        if names := sources(file, build):
            output = entry.get("output") or re.search(r" -o (\S+)", entry["command"]).group(1)
            found.setdefault(str(file), (output, entry["command"], names))
    return found


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


def write_database(build, folder):
    """compile_commands.json in a folder, without the precompiled header: clang cannot read gcc's."""
    database = json.loads((build / "compile_commands.json").read_text())
    for entry in database:
        entry["command"] = re.sub(r" -include \S*/cmake_pch\.hxx", "", entry["command"])
    (folder / "compile_commands.json").write_text(json.dumps(database))


def check(tool, database, file, checks):
    """What clang-tidy finds in a compiled file: "" where it finds nothing."""
    if file.endswith(".cxx"):  # which includes what it is made of
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
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    a = p.parse_intermixed_args()
    build = a.build.resolve()
    tool, version = find_tool()
    known = entries(build)
    compiled_as = {name: file for file, (_, _, names) in known.items() for name in names}
    wanted = [os.path.relpath(Path(f).resolve(), ROOT) for f in a.files]
    for name in wanted:
        if name not in compiled_as:
            die(f"{name}: not compiled in {a.build}")
    names = wanted or [n for n in compiled_as if a.tests or "/tests/" not in n]
    files = sorted({compiled_as[n] for n in names})
    checks = ["clang-analyzer-*"] if a.deep else []
    memory = Memory(build / "tidy", "\n".join([version, OURS, (ROOT / ".clang-tidy").read_text(), *checks]))
    write_database(build, memory.folder)
    of_object = headers(build)
    findings = checked = 0

    def job(file):
        output, command, members = known[file]
        mark = memory.mark(command, [*(ROOT / name for name in members), *of_object.get(output, [])])
        if mark.exists():
            return None
        found = check(tool, memory.folder, file, checks)
        if not found:
            mark.touch()
        return found

    with ThreadPoolExecutor(a.jobs) as pool:
        for found in pool.map(job, files):
            checked += found is not None
            if found:
                findings += 1
                print(found, flush=True)
    print(
        f"tidy: {len(names)} files, compiled as {len(files)}; {checked} checked now, findings in {findings}"
    )
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
