"""Fits the model of cost by which an operator's adaptive rung chooses, from times of its candidates.

    tools/plumb fit OP [--drawn N] [--seed S|fresh] [--limit SECONDS]
                                        times the candidates on drawn cases, fits, writes gpu/OP/costs.hpp
    tools/plumb fit OP --from RUN.json  fits again from the times of an earlier run, or of several on one chip
    tools/plumb fit OP --prior FILE     begins with the costs in FILE, in place of those in gpu/OP/costs.hpp
    tools/plumb fit OP --only f32       keeps the costs of fp64: where those so far choose better than the fit
    tools/plumb fit OP --folder DIR     only writes the candidates, as kernels for --extra

The candidates are those of gpu/OP/candidates.hpp. A fit begins with the costs that are there, and is drawn to
them the more the less the cases say otherwise: how strongly, other cases than those fitted to decide. Where
candidates prepare something (kPreparations), that time has models of its own, and the regret is printed for
plans of a few uses too. A fifth of the cases at a time is held out: the regret printed is of cases that the
models had not seen, but for the costs so far, if they were fitted to the same cases.
"""

import argparse
import functools
import json
import pathlib
import re
import subprocess
import sys
from typing import NamedTuple

from . import costs

try:
    from . import model, regret
except ModuleNotFoundError as missing:  # --folder does without
    model, regret, MISSING = None, None, missing.name

ROOT = pathlib.Path(__file__).resolve().parents[2]


def operators():
    return sorted(p.parent.name for p in ROOT.glob("gpu/*/candidates.hpp"))


def candidates_of(op):
    """{type: how many}: one kCandidates for both types, or one for each."""
    text = (ROOT / "gpu" / op / "candidates.hpp").read_text()
    single, double, both = re.search(
        r"constexpr int kCandidates = (?:sizeof\(T\) == 4 \? (\d+) : (\d+)|(\d+));", text
    ).groups()
    return {"f32": int(both or single), "f64": int(both or double)}


def prepares(op):
    return "kPreparations" in (ROOT / "gpu" / op / "candidates.hpp").read_text()


def refuse(message):
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


def requirement_of(op):
    """What the adaptive rung requires, as its first line says it: the candidates' too."""
    first = next((ROOT / "gpu" / op).glob("*_adaptive.cu")).read_text().splitlines()[0]
    return first if first.startswith("// requires:") else ""


def namespace_of(op):
    text = (ROOT / "gpu" / op / "candidates.hpp").read_text()
    return re.search(r"^namespace plumb \{\nnamespace (\w+) \{$", text, re.MULTILINE).group(1)


def write_folder(op, folder):
    """One file registers all candidates, since they share kernels; the others give the names their files."""
    folder.mkdir(parents=True, exist_ok=True)
    first = requirement_of(op)
    lines = [first] if first else []
    lines += [
        f'#include "gpu/{op}/candidates.hpp"',
        "",
        "namespace plumb {",
        "namespace {",
        "",
        "template <class T, int C>",
        f"struct Only : Adaptive<{namespace_of(op)}::Candidates, T, C> {{}};",
        "",
    ]
    counts = candidates_of(op)
    for short, full in costs.TYPES.items():
        for c in range(counts[short]):
            only = f"Only<{full}, {c}>"
            members = ", ".join(f"{only}::{m}" for m in ("run", "kTraits", "supports", "prepare", "release"))
            lines.append(
                f"const Register<{only}::Operator, {full}, Space::device> {short}_{c}{{"
                f'"c{c:02}", {members}}};'
            )
    lines += ["", "}  // namespace", "}  // namespace plumb", ""]
    (folder / "c00.cu").write_text("\n".join(lines))
    for c in range(1, max(counts.values())):
        (folder / f"c{c:02}.cu").write_text((first + "\n" if first else "") + "// Registered by c00.cu.\n")


def times_of(report, op, kind, before=False):
    """{case: {candidate: (terms, microseconds)}} of one type: of a run, or of what comes before the first."""
    cases = {}
    for r in report["results"]:
        terms = r.get("chosen", "").split()
        if (
            r["op"] != op
            or r["dtype"] != kind
            or not r["variant"].startswith("user/c")
            or terms[:1] != ["terms"]
        ):
            continue
        seconds = r["warm"]["median_s"] if "warm" in r else r.get("left_out_single_s")
        if before:
            seconds = r.get("prepare_s") if "prepare" in terms else None
            terms = terms[terms.index("prepare") :] if seconds else []
        if seconds:
            of = [float(t) for t in terms[1 : 1 + model.TERMS]]
            cases.setdefault(r["case"], {})[int(r["variant"][6:])] = (of, seconds * 1e6)
    return cases


def whole_cases(report, op):
    """The cases of which every candidate was judged. A limit cuts others short: they may lack the fastest."""
    seen = {}
    for r in report["results"]:
        if r["op"] == op and r["variant"].startswith("user/c"):
            seen.setdefault((r["case"], r["dtype"]), set()).add(r["variant"])
    counts = candidates_of(op)
    return {case for (case, kind), variants in seen.items() if len(variants) == counts[kind]}


def read_costs(op, path):
    try:
        return costs.read(path, candidates_of(op), model.TERMS)
    except (OSError, UnicodeDecodeError) as unread:
        refuse(f"{path}: {unread}")
    except costs.Unreadable as unread:
        refuse(str(unread))


def head_of(op, machine, commands, said):
    """The comment of a file of costs: where they are from. `said`: {type: of its cases}."""
    return [
        f"// Written by `tools/plumb fit {op}`, not by hand. Measured on {machine}:",
        *(f"// {command}" for command in commands),
        *(f"// {kind}: {words}." for kind, words in said.items()),
    ]


class Times(NamedTuple):
    """Of all runs: cases, their preparations (empty where candidates prepare nothing), which are whole."""

    cases: list
    before: list
    whole: list


def cases_of(op, kind, paths, reports):
    """The Times of one type."""
    times = [times_of(report, op, kind) for report in reports]
    cases = [t for of_one in times for t in of_one.values()]
    whole = [
        case in complete
        for of_one, complete in zip(times, (whole_cases(report, op) for report in reports))
        for case in of_one
    ]
    if sum(whole) < regret.FOLDS:
        few = f"{sum(whole)} cases of {op}.{kind} have the times of all candidates"
        refuse(f"{paths[0]}: {few}; at least {regret.FOLDS}")
    if not prepares(op):
        return Times(cases, [], whole)
    found = [times_of(report, op, kind, before=True) for report in reports]
    before = [f.get(case, {}) for f, of_one in zip(found, times) for case in of_one]
    if not any(before):
        refuse(f"{paths[0]}: no times of preparation of {op}.{kind}")
    return Times(cases, before, whole)


def compare(now, times):
    """Prints the regret by the costs so far, by these in common, and by the fit; gives that of the fit."""

    def by(models_of):
        run, first = (functools.partial(models_of, now.get(table)) for table in costs.TABLES)
        return regret.held_out(run, times.cases, times.whole, times.before, first)

    ways = {
        "the costs so far": lambda prior, seen: prior,
        "these, each term scaled alike for all": lambda prior, seen: regret.fitted(prior, seen, None),
        "the fit": lambda prior, seen: regret.fit(prior, seen)[0],
    }
    found = {way: by(models_of) for way, models_of in ways.items()}
    for way, regrets in found.items():
        print(f"  regret by {way}: {regret.all_said(regrets)}")
    return found["the fit"]


def fit_kind(op, kind, now, times):
    """({table: models}, what is said of them)."""
    whole = sum(times.whole)
    print(f"{op}.{kind}: {len(times.cases)} cases, {whole} of them whole, each held out once")
    regrets = compare(now, times)
    always = min(regret.said_always(times.cases, c) for c in range(len(now["model"])))
    print(f"  candidate {always[1]} always: {always[0] * 100:.1f} % more on geometric mean")
    tables, words = {}, []
    for table, of_table in (("model", times.cases), ("preparation", times.before)):
        if of_table:
            tables[table], strength = regret.fit(now[table], of_table)
            words += ["the prior in common alone" if strength is None else f"ridge {strength:g}"]
    held_out = f"regret of the {whole} whole ones, held out: {regret.all_said(regrets)}"
    return tables, f"{len(times.cases)} drawn cases, {' and '.join(words)}; {held_out}"


def fit_reports(op, paths, out, prior, only=None):
    """Fits from reports of bench on one chip and the costs in `prior`, and writes the costs to `out`. Types
    other than `only` keep their costs."""
    reports = [json.loads(path.read_text()) for path in paths]
    devices = [r["machine"].get("device", "an unknown device") for r in reports]
    for path, device in zip(paths, devices):
        if device != devices[0]:
            refuse(f"{path}: measured on {device}, but {paths[0]} on {devices[0]}")
    now, tables, said = read_costs(op, prior), {}, {}
    for kind in costs.TYPES:
        if only and kind != only:
            tables[kind], said[kind] = now[kind], "costs fitted before, to other cases"
            continue
        tables[kind], said[kind] = fit_kind(op, kind, now[kind], cases_of(op, kind, paths, reports))
    head = head_of(op, devices[0], [command_of(r) for r in reports], said)
    out.write_text(costs.written(namespace_of(op), head, tables))
    print(f"wrote {out}")
    return out


def command_of(report):
    """What was measured, without the paths of the machine."""
    words = report.get("command", "").split()
    words[:1] = ["bench"]
    return " ".join(w for i, w in enumerate(words) if w != "--json" and (i == 0 or words[i - 1] != "--json"))


def measure(args, folder):
    path = ROOT / "build" / "fit" / f"{args.op}.json"
    path.unlink(missing_ok=True)  # an earlier run's times are not this one's
    bench = [
        str(ROOT / "tools" / "plumb"),
        "--extra",
        str(folder),
        "bench",
        "--case",
        args.op,
        "--drawn",
        args.drawn,
        "--seed",
        args.seed,
        "--device",
        "gpu",
        "--variant",
        "user/*",
        "--samples",
        "20",
        "--budget",
        "0.02",
        "--limit",
        args.limit,
        "--json",
        str(path),
    ]
    done = subprocess.run(bench, check=False)
    if not path.exists():
        sys.exit(done.returncode or 2)
    return path


def main():
    ap = argparse.ArgumentParser(
        prog="tools/plumb fit", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ap.add_argument("op", choices=operators())
    ap.add_argument("--drawn", default="120", help="cases; default 120")
    ap.add_argument("--seed", default="fresh", help="of the cases; default fresh")
    ap.add_argument("--limit", default="300", help="seconds of measurement; default 300")
    ap.add_argument(
        "--from", dest="reports", nargs="+", type=pathlib.Path, help="reports of bench --json to fit from"
    )
    ap.add_argument("--prior", type=pathlib.Path, help="costs to begin with; default gpu/OP/costs.hpp")
    ap.add_argument("--only", choices=costs.TYPES, help="fit this type, keep the costs of the other")
    ap.add_argument("--folder", type=pathlib.Path, help="write the candidates there and end")
    args = ap.parse_args()
    if args.folder:
        write_folder(args.op, args.folder)
        return
    if model is None:
        refuse(f"a fit needs {MISSING}, which this python3 has not: apt-get install python3-scipy")
    if not args.reports:
        folder = ROOT / "build" / "fit" / args.op
        write_folder(args.op, folder)
        args.reports = [measure(args, folder)]
    out = ROOT / "gpu" / args.op / "costs.hpp"
    fit_reports(args.op, args.reports, out, args.prior or out, args.only)


if __name__ == "__main__":
    main()
