#!/usr/bin/env python3
"""Compares what the headers of rungs say under Limits with what ptxas says of their kernels.

    tools/ci/limits.py BUILD [--write] [--jobs N] [GLOB...]

BUILD is a configured GPU build (compile_commands.json), e.g. build/gpu; GLOB names
rungs, e.g. 'spmv/1*'; without one, all.

Every rung is compiled once more with -Xptxas -v, for the chip that its Limits name. Limits begin with one
sentence that this program also writes (--write):

    fp32 / fp64: 40 / 17 to 32 registers, 16 / 32 bytes of static shared memory, no spills (sm_90, nvcc 13.0,
    ptxas -v).

'17 to 32': the instances of a kernel differ. One figure without types holds for both; 'fp32:' alone: no
kernel is in fp64. A kernel without a type in its name counts in both. Where a file has several kernels, each
is named. The sentence after it may give the blocks that fit, 'N / M blocks of T per SM': the registers must
allow that many (checked where there is one kernel).
A rung whose Limits begin with 'those of', 'as rung' or 'the library's' is left out.

Exit code 1 where something differs, 2 on a usage error, and where nvcc is not the version that Limits name.
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
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = "13.0"  # of nvcc: another one allocates other registers
CHIP = "sm_90"  # where a rung names none yet
WIDTH = 110
INDENT = "//           "
TYPES = {"float": "fp32", "double": "fp64"}


@dataclasses.dataclass
class Kernel:
    name: str  # demangled
    registers: int = 0
    shared: int = 0  # bytes, static
    spilled: int = 0  # bytes

    def types(self):
        """The type of the kernel's data: the first that its name gives; both where it gives none."""
        found = re.search(r"\b(float|double)\b", self.name)
        return [TYPES[found.group(1)]] if found else list(TYPES.values())

    def family(self):
        """The name without its return type, namespaces, template arguments and parameters."""
        return (
            re.sub(r"^(?:void )?(?:\(anonymous namespace\)::|\w+::)*", "", self.name)
            .split("<")[0]
            .split("(")[0]
        )


@dataclasses.dataclass
class Limits:
    begin: int  # in the source: of the paragraph's text, and of what follows it
    end: int
    chip: str
    said: str  # the sentence that ptxas decides
    rest: str  # what a person adds


def limits_of(source):
    """The Limits paragraph of a rung's text; None where it has none, or points to another's."""
    found = re.search(r"^// Limits    (.*?)\n(?=// [A-Z])", source, re.S | re.M)
    if not found:
        return None
    text = re.sub(r"\s*\n//\s*", " ", found.group(1))
    if re.match(r"(those of|as rung|the library's)\b", text):
        return None
    parts = re.match(rf"(.*?) ?\((sm_\d+a?), nvcc {re.escape(VERSION)}, ptxas -v\)\.?\s*(.*)$", text, re.S)
    if not parts:  # the sentence is not there yet
        return Limits(found.start(1), found.end(1), CHIP, text, "")
    return Limits(found.start(1), found.end(1), parts.group(2), parts.group(1), parts.group(3))


def kernels_of(log, chip):
    """The kernels of one chip in the output of ptxas -v, names demangled."""
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
    names = subprocess.run(
        ["c++filt"], input="\n".join(k.name for k in kernels), capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for kernel, name in zip(kernels, names):
        kernel.name = name
    return kernels


def families(kernels):
    """{name without template arguments: its kernels}; the family with the most registers first."""
    found = {}
    for kernel in kernels:
        found.setdefault(kernel.family(), []).append(kernel)
    return dict(sorted(found.items(), key=lambda of: (-max(k.registers for k in of[1]), of[0])))


def figures(kernels, member):
    """The least and the most that kernels take, per type: '40', '40 / 32', '17 to 32 / 28'."""
    said = []
    for kind in TYPES.values():
        values = [getattr(k, member) for k in kernels if kind in k.types()]
        if values:
            low, high = min(values), max(values)
            said.append(f"{low}" if low == high else f"{low} to {high}")
    return said[0] if len(set(said)) == 1 else " / ".join(said)


def described(kernels):
    """What the kernels of one family take."""
    parts = [f"{figures(kernels, 'registers')} registers"]
    if any(k.shared for k in kernels):
        parts.append(f"{figures(kernels, 'shared')} bytes of static shared memory")
    if any(k.spilled for k in kernels):
        parts.append(f"{figures(kernels, 'spilled')} bytes spilled per thread")
    return ", ".join(parts)


def sentence(kernels):
    """What Limits must begin with."""
    of = families(kernels)
    parts = [described(k) if len(of) == 1 else f"{name} {described(k)}" for name, k in of.items()]
    if not any(k.spilled for k in kernels):
        parts[-1] += ", no spills"
    said = "; ".join(parts)
    named = [t for t in TYPES.values() if any(k.types() == [t] for k in kernels)]
    if len(named) == 1:
        return f"{named[0]}: {said}"
    return f"fp32 / fp64: {said}" if " / " in said else said


def blocks_that_fit(registers, threads):
    """Blocks of an SM by registers and threads: 65,536 registers, given to warps by 256; 2,048 threads."""
    warps = -(-threads // 32)
    return min(65536 // (-(-registers // 8) * 8 * 32) // warps, 2048 // threads, 32)


def differences(limits, kernels):
    """What the header says and ptxas does not, in words; empty: nothing."""
    if not kernels:
        return [f"ptxas names no kernel for {limits.chip}"]
    found = []
    if limits.said != sentence(kernels):
        found.append(f"Limits say '{limits.said}', ptxas: '{sentence(kernels)}'")
    blocks = re.match(r"(\d+)(?: / (\d+))? blocks? of ([\d,]+)(?: threads)? per SM", limits.rest)
    if blocks and len(families(kernels)) == 1:
        threads = int(blocks[3].replace(",", ""))
        for stated, kind in zip((blocks[1], blocks[2] or blocks[1]), TYPES.values()):
            registers = [k.registers for k in kernels if kind in k.types()]
            fit = blocks_that_fit(min(registers), threads) if registers else int(stated)
            if int(stated) > fit:
                found.append(
                    f"{kind}: {stated} blocks of {threads} are stated, {min(registers)} registers allow {fit}"
                )
    return found


def rewritten(source, limits, kernels):
    """The rung's text with the first sentence of its Limits as ptxas has it."""
    text = f"{sentence(kernels)} ({limits.chip}, nvcc {VERSION}, ptxas -v). {limits.rest}".strip()
    lines = textwrap.wrap(text, WIDTH - len(INDENT), break_long_words=False, break_on_hyphens=False)
    return source[: limits.begin] + ("\n" + INDENT).join(lines) + source[limits.end :]


def compile_command(entry, chip):
    """The build's own command for a file, for one chip, with ptxas -v and no output kept."""
    arguments = [a for a in shlex.split(entry["command"]) if a != "-DPLUMB_FAMILIES"]  # a rung's own kernels
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


def check(path, entry, write):
    """What is wrong with one rung, in words; None where its Limits state no figures."""
    source = path.read_text()
    limits = limits_of(source)
    if limits is None:
        return None
    done = subprocess.run(
        compile_command(entry, limits.chip),
        cwd=entry["directory"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        return [f"does not compile: {done.stderr.strip().splitlines()[-1:]}"]
    kernels = kernels_of(done.stdout + done.stderr, limits.chip)
    if write and kernels:
        changed = rewritten(source, limits, kernels)
        if changed != source:
            path.write_text(changed)
            limits = limits_of(changed)
    return differences(limits, kernels)


def rung_entries(listing):
    """{file: its entry}. Without the builds of --stress, whose kernels have delays in them."""
    return {
        pathlib.Path(e["file"]).resolve(): e
        for e in listing
        if "-DPLUMB_STRESS" not in shlex.split(e["command"])
    }


def compiler_differs(entries):
    """Why the build's nvcc cannot be compared with; empty: it can."""
    nvcc = next((shlex.split(e["command"])[0] for e in entries.values() if "nvcc" in e["command"]), "")
    if not nvcc:
        return "the build compiles nothing with nvcc"
    said = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    release = re.search(r"release (\S+),", said)
    if release and release.group(1) == VERSION:
        return ""
    return f"Limits state nvcc {VERSION}, {nvcc} is {release.group(1) if release else 'unknown'}"


def usage_error(words):
    print(f"limits.py: {words}", file=sys.stderr)
    return 2


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("globs", nargs="*", default=["*"], metavar="GLOB")
    parser.add_argument("--write", action="store_true", help="mend the first sentence of Limits")
    parser.add_argument("--jobs", type=int, default=4)
    given = parser.parse_args()
    listing = given.build / "compile_commands.json"
    if not listing.is_file():
        return usage_error(f"{listing}: no such file; configure with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    entries = rung_entries(json.loads(listing.read_text()))
    rungs = [
        p
        for p in sorted(ROOT.glob("gpu/*/[0-9][0-9]_*.cu"))
        if p in entries
        and any(fnmatch.fnmatch(str(p.relative_to(ROOT / "gpu").with_suffix("")), g) for g in given.globs)
    ]
    if not rungs:
        return usage_error(f"{listing} names no rung that matches {given.globs} (none with PLUMB_UNITY)")
    if why := compiler_differs(entries):
        return usage_error(why)
    checked = failed = 0
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for rung, found in zip(rungs, pool.map(lambda p: check(p, entries[p], given.write), rungs)):
            for what in found or []:
                print(f"{rung.relative_to(ROOT)}: {what}")
            checked += found is not None
            failed += bool(found)
    print(f"limits: {len(rungs)} rungs, {checked} state figures, {failed} differ from what they state")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
