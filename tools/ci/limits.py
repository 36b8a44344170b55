#!/usr/bin/env python3
"""Compares what the headers of rungs say under Limits with what ptxas says of their kernels.

    tools/ci/limits.py BUILD [GLOB...]

BUILD is a configured GPU build (compile_commands.json), e.g. build/gpu; GLOB names
rungs, e.g. 'spmv/1*'; without one, all.

Every rung is compiled once more with -Xptxas -v, for the chip that its Limits name. Held against each other:
  registers   the most that a kernel of the file takes must be stated, and every stated figure must be
              some kernel's (the ends of a range 'A to B', where it is stated so);
  shared      'no shared memory' without a qualification: no kernel has static shared memory;
  spills      'no spills', or no word of them: no kernel spills; 'spills N bytes': the most that a kernel
              stores is N.
A rung that says 'those of' or 'as rung' another is left out. Exit code 1 where something differs, 2 on a
usage error.
"""

import argparse
import concurrent.futures
import dataclasses
import fnmatch
import json
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass
class Kernel:
    name: str
    registers: int = 0
    shared: int = 0
    spilled: int = 0


@dataclasses.dataclass
class Limits:
    chip: str
    registers: list  # of (low, high)
    no_shared: bool
    spilled: int


def limits_of(source):
    """The Limits paragraph of a rung's text, or None where there is none that states figures."""
    found = re.search(r"^// Limits\s+(.*?)^// [A-Z]", source, re.S | re.M)
    if not found:
        return None
    text = re.sub(r"\s*\n//\s*", " ", found.group(1))
    chip = re.search(r"^(.*?)\((sm_\d+a?), nvcc", text)
    if not chip or re.match(r"(those of|as rung)\b", text):
        return None
    said = chip.group(1)
    spills = re.search(r"spills (\d+) bytes", said)
    no_shared = re.search(r"no shared memory(?! in)", said) is not None
    return Limits(chip.group(2), registers_of(said), no_shared, int(spills.group(1)) if spills else 0)


NUMBERS = r"\d+(?: to \d+)?(?: \([^()]*\))?(?:(?:, | and | / )\d+(?: to \d+)?(?: \([^()]*\))?)*"


def registers_of(said):
    """Figures before the word 'registers', and those after it ('61 registers in fp32, 59 in fp64')."""
    ranges = []
    for found in re.finditer(rf"({NUMBERS}) registers", said):
        add_ranges(ranges, found.group(1))
        rest = said[found.end() :]
        other = re.match(r"(?: in fp32| in fp64)?, (?:and )?(\d+(?: to \d+)?(?: and \d+)?) in fp64", rest)
        if other:
            add_ranges(ranges, other.group(1))
    return ranges


def add_ranges(ranges, text):
    text = re.sub(r"\([^()]*\)", "", text)
    for found in re.finditer(r"(\d+)(?: to (\d+))?", text):
        low = int(found.group(1))
        ranges.append((low, int(found.group(2)) if found.group(2) else low))


def kernels_of(log, chip):
    """The kernels of one chip in the output of ptxas -v."""
    kernels, now = [], None
    for line in log.splitlines():
        entry = re.search(r"Compiling entry function '(\S+)' for '(\w+)'", line)
        if entry:
            now = Kernel(entry.group(1)) if entry.group(2) == chip else None
            if now:
                kernels.append(now)
            continue
        if not now:
            continue
        spill = re.search(r"(\d+) bytes spill stores", line)
        if spill:
            now.spilled = int(spill.group(1))
        used = re.search(r"Used (\d+) registers", line)
        if used:
            now.registers = int(used.group(1))
            shared = re.search(r"(\d+) bytes smem", line)
            now.shared = int(shared.group(1)) if shared else 0
    return kernels


def differences(limits, kernels):
    """What the header says and ptxas does not, in words; empty: nothing."""
    if not kernels:
        return [f"ptxas names no kernel for {limits.chip}"]
    found = []
    taken = sorted({k.registers for k in kernels})
    most = taken[-1]
    if limits.registers and max(high for _, high in limits.registers) != most:
        found.append(f"the most registers are {most}, stated are {words(limits.registers)}")
    for low, high in limits.registers:
        for figure in sorted({low, high}):
            if figure not in taken and figure != max(h for _, h in limits.registers):
                found.append(f"no kernel takes {figure} registers (ptxas: {', '.join(map(str, taken))})")
    shared = max(k.shared for k in kernels)
    if limits.no_shared and shared > 0:
        found.append(f"'no shared memory', but ptxas gives a kernel {shared} bytes")
    spilled = max(k.spilled for k in kernels)
    if spilled != limits.spilled:
        found.append(f"the most bytes spilled are {spilled}, stated are {limits.spilled}")
    return found


def words(ranges):
    return ", ".join(str(low) if low == high else f"{low} to {high}" for low, high in ranges)


def compile_command(entry, chip):
    """The build's own command for a file, for one chip, with ptxas -v and no output kept."""
    arguments = shlex.split(entry["command"])
    kept, skip = [], False
    for a in arguments:
        if skip or a.startswith(("--generate-code", "-gencode", "-arch")):
            skip = a in ("-gencode", "-arch") and not skip
            continue
        kept.append(a)
    at = kept.index("-o")
    kept[at + 1] = "/dev/null"
    number = chip.removeprefix("sm_")
    return kept + [f"--generate-code=arch=compute_{number},code=[sm_{number}]", "-Xptxas", "-v"]


def check(source, entry):
    limits = limits_of(source.read_text())
    if limits is None:
        return []
    done = subprocess.run(
        compile_command(entry, limits.chip),
        cwd=entry["directory"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        return [f"does not compile: {done.stderr.strip().splitlines()[-1:]}"]
    return differences(limits, kernels_of(done.stdout + done.stderr, limits.chip))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("globs", nargs="*", default=["*"])
    parser.add_argument("--jobs", type=int, default=4)
    given = parser.parse_args()
    listing = given.build / "compile_commands.json"
    if not listing.is_file():
        print(
            f"limits.py: {listing}: no such file; configure with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
            file=sys.stderr,
        )
        return 2
    entries = {pathlib.Path(e["file"]).resolve(): e for e in json.loads(listing.read_text())}
    rungs = [
        p
        for p in sorted(ROOT.glob("gpu/*/[0-9][0-9]_*.cu"))
        if p in entries
        and any(fnmatch.fnmatch(str(p.relative_to(ROOT / "gpu").with_suffix("")), g) for g in given.globs)
    ]
    if not rungs:
        print(f"limits.py: {listing} names no rung that matches {given.globs}", file=sys.stderr)
        return 2
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for rung, found in zip(rungs, pool.map(lambda p: check(p, entries[p]), rungs)):
            for what in found:
                print(f"{rung.relative_to(ROOT)}: {what}")
            failed += bool(found)
    print(f"limits: {len(rungs)} rungs, {failed} differ from what they state")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
