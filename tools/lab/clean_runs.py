#!/usr/bin/env python3
"""A correct kernel never fails. Draws cases of every operator, with other sizes
and other seeds than the listed ones, runs every variant on them, and counts what fails; on a clean tree every
failure is a false one.

    tools/lab/clean_runs.py --verify build/gpu/bin/verify --runs 10000 --device cpu --device simt [--race]
                          [--device gpu] [--seed 1] [--isolate none]

Progress goes to a terminal. Prints a line per device: records judged (one variant on one case, each run
several times over), and every failure with its repro line.
Exit 0: enough records and no failure; 1: a failure; 2: usage."""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile

SCALARS = {"alpha", "beta", "bias", "cap", "scale", "seed"}  # numbers that are no sizes
BATCH = 60


def listed_cases(verify):
    ids = []
    for line in subprocess.run(
        [verify, "--list", "cases"], capture_output=True, text=True, check=True
    ).stdout.splitlines():
        m = re.match(r"\s+smoke\s+(\S+\(.*\))\s", line)
        if m:
            ids.append(m.group(1))
    return ids


def drawn(rng, case):
    """The case with each size moved by up to a third, or by one or two, and another seed."""
    op, inside = case.rstrip(")").split("(", 1)
    out = []
    for pair in inside.split(","):
        key, value = pair.split("=", 1)
        if key == "seed":
            value = str(rng.randrange(1, 1 << 40))
        elif key not in SCALARS and re.fullmatch(r"[1-9][0-9]*", value):
            n = int(value)
            value = str(max(1, n + rng.choice([rng.randint(-n // 3, n // 3), rng.randint(-2, 2), 0])))
        out.append(f"{key}={value}")
    return f"{op}({','.join(out)})"


def judge(verify, ids, flags):
    """The records of one call, or None where a case cannot be made."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "records")
        run = subprocess.run(
            [verify, "--case", ",".join(ids), "--quiet", "--no-color", "--json", path] + flags,
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode == 2:
            return None
        if run.returncode not in (0, 1, 3, 77):
            sys.exit(f"verify ended with {run.returncode}: {run.stderr.strip()}")
        with open(path) as f:
            return [r for r in map(json.loads, f) if "verdict" in r]


def judged(totals):
    """Records that were run and judged, of the totals by verdict."""
    return sum(totals.get(v, 0) for v in ("pass", "marginal", "fail"))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--verify", default="build/gpu/bin/verify")
    p.add_argument("--runs", type=int, default=10000, help="records to judge on each device")
    p.add_argument("--device", action="append", choices=["cpu", "simt", "gpu"])
    p.add_argument("--race", action="store_true", help="the CPU executor with race detection as well")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument(
        "--isolate",
        default="variant",
        choices=["case", "variant", "none"],
        help="as for verify; none is fastest on a GPU, and a crash ends the count",
    )
    a = p.parse_args()
    cases = listed_cases(a.verify)
    if not cases:
        sys.exit("no cases are listed")
    places = [(d, ["--device", d]) for d in a.device or ["cpu"]]
    if a.race:
        places.append(("simt, races looked for", ["--race"]))
    failed = 0
    for place, flags in places:
        rng = random.Random(f"{a.seed} {place}")
        totals = {}
        failures = []
        drawn_cases = unmade = 0
        while judged(totals) < a.runs:
            ids = [drawn(rng, rng.choice(cases)) for _ in range(BATCH)]
            todo = [ids]
            before = sum(totals.values())
            while todo:
                batch = todo.pop()
                records = judge(a.verify, batch, flags + ["--jobs", str(a.jobs), "--isolate", a.isolate])
                if records is None:  # a drawn size that the operator does not take
                    if len(batch) > 1:
                        todo += [batch[: len(batch) // 2], batch[len(batch) // 2 :]]
                    else:
                        unmade += 1
                    continue
                drawn_cases += len(batch)
                for r in records:
                    verdict = r["verdict"]
                    # the drawn case proves nothing: not the kernel's fault, and not a failure of it
                    if verdict not in ("pass", "marginal", "skip", "unsupported", "mistrusted"):
                        failures.append(r)
                        verdict = "fail"
                    totals[verdict] = totals.get(verdict, 0) + 1
            if sys.stderr.isatty():
                print(
                    f"\r{place}: {judged(totals)} of {a.runs}, {len(failures)} failed ",
                    end="",
                    file=sys.stderr,
                    flush=True,
                )
            if sum(totals.values()) == before or (totals.get("skip", 0) > 0 and len(totals) == 1):
                print(f"{place}: nothing runs here ({totals.get('skip', 0)} records skipped)")
                break
        if sys.stderr.isatty():
            print(file=sys.stderr)
        good = totals.get("pass", 0) + totals.get("marginal", 0)
        print(
            f"{place}: {good} passed ({totals.get('marginal', 0)} marginal), {len(failures)} failed; "
            f"{drawn_cases} cases drawn with seed {a.seed}, "
            f"{totals.get('mistrusted', 0)} prove nothing, {unmade} of no valid size, "
            f"{totals.get('unsupported', 0) + totals.get('skip', 0)} records declined or too large",
            flush=True,
        )
        for r in failures:
            print(f"  {r['verdict']}  {r['variant']}  {r['reason']}\n    {r['repro']}", flush=True)
        failed += len(failures)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
