#!/usr/bin/env python3
"""Rungs by nvcc's PTX and by C++: the same verdicts on the CPU executor.

    rungs_test.py BUILD_FOLDER [--only OPERATOR[/GLOB],...] [--shard I/N] [--mutants] [--nvcc NVCC]

Compiles the rungs of operators (default: all) by nvcc to PTX, makes folders of their kernels, judges each rung by `verify --device simt --race`
twice, once with PLUMB_SIMT_PTX, and compares the verdicts case by case. With --mutants, the planted faults of kernels instead, by `verify
--mutants --device simt`: each is killed by PTX where it is by C++. What differs is told with the command that repeats it.

Exit 0; 1: a verdict differs, or nothing was compared; 77, skipped: nvcc is not installed here.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import glob
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "gpu/simt/ptx"))
import split_modules  # noqa: E402

FLAGS = ["-ptx", "-arch=sm_90a", "-lineinfo", "-std=c++17", "-I", ROOT]
# planted faults that only C++ can show, and why
BY_CPP_ALONE = {"mutant/element_beside_what_a_lane_holds": "an own array that nvcc keeps in registers has no element beside it"}
SECONDS = 600  # of a record: the first that launches a kernel compiles it


def is_of_a_library(source):
    with open(source, encoding="utf-8") as file:
        return "requires:" in (first := file.readline()) and any(word in first for word in ("cublas", "cusparse", "cub"))


def rungs(only):
    """{operator: [source]} of the rungs that are asked for, libraries' own left out."""
    found = collections.defaultdict(list)
    for source in sorted(glob.glob(os.path.join(ROOT, "gpu/*/[0-9][0-9]_*.cu"))):
        operator, rung = os.path.relpath(source, os.path.join(ROOT, "gpu"))[:-3].split(os.sep)
        if any(fnmatch.fnmatch(f"{operator}/{rung}", one if "/" in one else one + "/*") for one in only) and not is_of_a_library(source):
            found[operator].append(source)
    return found


def compiled(nvcc, sources, folder):
    """Modules of the sources, as many at once as there are cores."""
    os.makedirs(folder, exist_ok=True)
    modules = [os.path.join(folder, os.path.basename(s)[:-3] + ".ptx") for s in sources]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(lambda pair: subprocess.run([nvcc, *FLAGS, pair[0], "-o", pair[1]], capture_output=True, text=True, check=False),
                             zip(sources, modules)))
    for source, one in zip(sources, done):
        if one.returncode != 0:
            sys.exit(f"error: {source}: nvcc -ptx\n{one.stderr}")
    return modules


def records_of(build, operator, words, report, kernels):
    """(records, command): what verify writes to the report; by PTX where `kernels` names a folder."""
    command = [os.path.join(build, "bin/verify"), "--case", f"{operator}.*", "--device", "simt", "--json", report, *words]
    environment = {k: v for k, v in os.environ.items() if k != "PLUMB_SIMT_PTX"}
    environment["PLUMB_SIMT_BUILD"] = build
    before = ""
    if kernels:
        before = f"PLUMB_SIMT_BUILD={build} PLUMB_SIMT_PTX={kernels} "
        environment.update(PLUMB_SIMT_PTX=kernels, PLUMB_COMMAND=before + "tools/plumb")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    with open(report, encoding="utf-8") as file:
        found = [json.loads(line) for line in file]
    if not any("verdict" in r or "mutant" in r for r in found):
        sys.exit(f"error: {before}{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return found, before + " ".join(command)


def judged(build, operator, names, report, shard, kernels=None):
    """{(variant, case): (verdict, reason, command)} of the rungs."""
    words = ["--race", "--all", "--quiet", "--timeout", str(SECONDS)] + (["--shard", shard] if shard else [])
    for name in names:
        words += ["--variant", f"gpu/{name}"]
    found, _ = records_of(build, operator, words, report, kernels)
    return {(r["variant"], r["case"]): (r["verdict"], r["reason"], r["repro"]) for r in found if "verdict" in r}


def attacked(build, operator, report, kernels=None):
    """{(what, mutant): (whether it is killed on the executor, how, command)} of the operator's mutants: in any way, and by the race check."""
    found, command = records_of(build, operator, ["--mutants"], report, kernels)
    faults = {}
    for r in found:
        ways = {way: r.get(way, "-") for way in ("numeric", "repeat", "simt", "race")}
        if set(ways.values()) == {"-"} or r["mutant"] in BY_CPP_ALONE:
            continue
        faults["planted faults", r["mutant"]] = ("killed" if "killed" in ways.values() else "survived", r["how"], command)
        if ways["race"] != "-":
            faults["races of planted faults", r["mutant"]] = (ways["race"], r["how"], command)
    return faults


def compared(operator, by_cpp, by_ptx):
    """Prints a line for each rung, and what differs; returns (records, those that are not the same)."""
    rows, others = collections.defaultdict(collections.Counter), 0
    for (rung, case), (verdict, _, _) in sorted(by_cpp.items()):
        other, reason, repro = by_ptx.get((rung, case), ("missing", "the record is not there", ""))
        rows[rung]["same" if other == verdict else "other"] += 1
        rows[rung][verdict] += 1
        if other != verdict:
            others += 1
            print(f"  {case}: {verdict} by C++, {other} by PTX: {reason.splitlines()[0] if reason else ''}\n    {repro}")
    for rung, row in rows.items():
        words = ", ".join(f"{n} {word}" for word, n in sorted(row.items()) if word not in ("same", "other"))
        print(f"{operator} {rung}: {'SAME' if not row['other'] else 'DIFFERENT'} {row['same']} of {row['same'] + row['other']} ({words})", flush=True)
    return len(by_cpp), others


def both(asked, build, operator, sources):
    """The two answers about an operator: by C++, and by the PTX of the sources."""
    folder = os.path.join(build, "ptx_rungs", operator)
    if asked.mutants:
        sources = glob.glob(os.path.join(ROOT, f"verify/mutants/{operator}.cu")) + glob.glob(os.path.join(ROOT, f"verify/mutants/{operator}_*.cu"))
    kernels = os.path.join(folder, "mutants" if asked.mutants else "kernels")
    if not sources:
        return {}, {}
    split_modules.split(kernels, compiled(asked.nvcc, sources, folder))
    reports = [os.path.join(folder, name) for name in ("by_cpp.json", "by_ptx.json")]
    if asked.mutants:
        return attacked(build, operator, reports[0]), attacked(build, operator, reports[1], kernels)
    names = [os.path.basename(s)[:-3] for s in sources]
    return judged(build, operator, names, reports[0], asked.shard), judged(build, operator, names, reports[1], asked.shard, kernels)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("build")
    options.add_argument("--only", default="*")
    options.add_argument("--shard", default="")
    options.add_argument("--mutants", action="store_true")
    options.add_argument("--nvcc", default=shutil.which("nvcc"))
    asked = options.parse_args()
    if not asked.nvcc:
        print("skipped: no nvcc")
        sys.exit(77)
    build, records, others = os.path.abspath(asked.build), 0, 0
    for operator, sources in rungs(asked.only.split(",")).items():
        one = compared(operator, *both(asked, build, operator, sources))
        records, others = records + one[0], others + one[1]
    print(f"{records - others} of {records} verdicts by PTX are those by C++")
    return 1 if others or not records else 0


if __name__ == "__main__":
    sys.exit(main())
