"""Fits the model of cost by which an operator's adaptive rung chooses, from times of its candidates.

    tools/plumb fit OP [--drawn N] [--seed S|fresh] [--limit SECONDS]
                                        times the candidates on drawn cases, fits, writes gpu/OP/costs.hpp
    tools/plumb fit OP --from RUN.json  fits again from the times of an earlier run, or of several on one chip
    tools/plumb fit OP --folder DIR     only writes the candidates, as kernels for --extra

The candidates are those of gpu/OP/candidates.hpp. Where they prepare something (kPreparations), that time has
models of its own, and the regret is printed for plans of a few uses too. A fifth of the cases at a time is
held out: the regret printed is of cases that the models had not seen.
"""

import argparse
import json
import math
import pathlib
import re
import subprocess
import sys

try:
    from . import model
except ModuleNotFoundError as missing:  # --folder does without
    model, MISSING = None, missing.name

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDS, FEWEST = 5, 3  # parts of the cases; cases of a candidate that is fitted
FOCUS = 2  # a time twice the best of its case counts a quarter
USES = (1, 10, 1000)  # of a plan, for which the regret is printed where candidates prepare something
TYPES = {"f32": "float", "f64": "double"}


def operators():
    return sorted(p.parent.name for p in ROOT.glob("gpu/*/candidates.hpp"))


def candidates_of(op):
    text = (ROOT / "gpu" / op / "candidates.hpp").read_text()
    return int(re.search(r"constexpr int kCandidates = (\d+);", text).group(1))


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
    for c in range(candidates_of(op)):
        for short, full in TYPES.items():
            only = f"Only<{full}, {c}>"
            members = ", ".join(f"{only}::{m}" for m in ("run", "kTraits", "supports", "prepare", "release"))
            lines.append(
                f"const Register<{only}::Operator, {full}, Space::device> {short}_{c}{{"
                f'"c{c:02}", {members}}};'
            )
    lines += ["", "}  // namespace", "}  // namespace plumb", ""]
    (folder / "c00.cu").write_text("\n".join(lines))
    for c in range(1, candidates_of(op)):
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


def rows_of(cases, candidate):
    """(terms, microseconds, weight): a time counts less the further it is from the best of its case."""
    return [
        (*t[candidate], (min(u for _, u in t.values()) / t[candidate][1]) ** FOCUS)
        for t in cases
        if candidate in t
    ]


def fit_one(rows, common):
    """(sharpness, costs, most of each term), or None of too few cases."""
    if len(rows) < FEWEST:
        return None
    return *model.fit(rows, common), [max(x[i] for x, _, _ in rows) for i in range(model.TERMS)]


def fit_all(count, cases):
    rows = [rows_of(cases, c) for c in range(count)]
    common = model.fit_together([r for of_one in rows for r in of_one])
    return {c: fit_one(of_one, common) for c, of_one in enumerate(rows)}


def believed(models, times):
    """{candidate: microseconds}: what the rung believes of the candidates that have a model."""
    known = {c: t for c, t in times.items() if models.get(c)}
    beyond = {c: model.beyond(models[c][2], t[0]) for c, t in known.items()}
    nearest = min(beyond.values(), default=0)
    return {c: model.predict(models[c], t[0]) * model.doubt(beyond[c], nearest) for c, t in known.items()}


def regret_of(models, times, before=None):
    """`before`: models and times of the preparation, and the uses that share it."""
    expected = believed(models, times)
    taken = {c: us for c, (_, us) in times.items()}
    if before:
        of_before, times_before, uses = before
        shares = believed(of_before, times_before)
        expected = {c: us + shares[c] / uses for c, us in expected.items() if c in shares}
        taken = {c: us + times_before[c][1] / uses for c, us in taken.items() if c in times_before}
    if not expected:
        return None
    return taken[min(expected, key=expected.get)] / min(taken.values()) - 1


def quantile(values, q):
    values = sorted(values)
    at = q * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])


def held_out(count, cases, before=()):
    """{uses: regrets} of the cases, by models of the other folds; 0 uses: many. `before`: preparations."""
    regrets = {uses: [] for uses in (0, *(USES if before else ()))}
    for fold in range(FOLDS):
        models = fit_all(count, [t for i, t in enumerate(cases) if i % FOLDS != fold])
        of_before = fit_all(count, [t for i, t in enumerate(before) if i % FOLDS != fold]) if before else {}
        for i in range(fold, len(cases), FOLDS):
            for uses, found in regrets.items():
                found.append(regret_of(models, cases[i], (of_before, before[i], uses) if uses else None))
    return {uses: [r for r in found if r is not None] for uses, found in regrets.items()}


def said(regrets):
    return (
        f"median {100 * quantile(regrets, 0.5):.1f} %, "
        f"95th percentile {100 * quantile(regrets, 0.95):.1f} %, worst {100 * max(regrets):.1f} %"
    )


def line_of(found):
    if not found:  # never measured: never chosen
        return "      {1, {1e9, 0, 0, 0, 0, 0, 0, 0}, {}},"
    sharpness, costs, most = found
    listed = [", ".join(f"{v:.4g}" for v in values) for values in (costs, most)]
    return f"      {{{sharpness:g}, {{{listed[0]}}}, {{{listed[1]}}}}},"


def table(name, models):
    return [f"  static constexpr CostModel {name}[] = {{", *(line_of(m) for m in models.values()), "  };"]


def all_said(regrets):
    """Of many uses, and of the few that have regrets."""
    few = [f"; of {uses} uses: {said(found)}" for uses, found in regrets.items() if uses and found]
    return said(regrets[0]) + "".join(few)


def header(op, machine, commands, fitted):
    lines = [f"// Written by `tools/plumb fit {op}`, not by hand. Measured on {machine}:"]
    lines += [f"// {command}" for command in commands]
    lines += [
        f"// {kind}: {len(cases)} drawn cases; regret of those held out: {all_said(regrets)}."
        for kind, cases, regrets, _, _ in fitted
    ]
    lines += [
        "#pragma once",
        '#include "gpu/common/cost_model.hpp"',
        "",
        "namespace plumb {",
        f"namespace {namespace_of(op)} {{",
        "",
        "/// Of the candidates in their order: sharpness, microseconds for a unit of terms, most of them.",
        "// clang-format off",
        "template <class T>",
        "struct Costs;",
    ]
    for kind, _, _, models, before in fitted:
        lines += ["template <>", f"struct Costs<{TYPES[kind]}> {{", *table("model", models)]
        lines += [*(table("preparation", before) if before else []), "};"]
    lines += ["// clang-format on", "", f"}}  // namespace {namespace_of(op)}", "}  // namespace plumb", ""]
    return "\n".join(lines)


def fit_reports(op, paths, out):
    """Fits from reports of bench on one chip, writes the costs to `out`, and gives its path back."""
    reports = [json.loads(path.read_text()) for path in paths]
    devices = [r["machine"].get("device", "an unknown device") for r in reports]
    for path, device in zip(paths, devices):
        if device != devices[0]:
            refuse(f"{path}: measured on {device}, but {paths[0]} on {devices[0]}")
    count, fitted = candidates_of(op), []
    for kind in TYPES:
        cases = [t for report in reports for t in times_of(report, op, kind).values()]
        if len(cases) < FOLDS:
            few = f"{len(cases)} cases of {op}.{kind} have candidates' times"
            refuse(f"{paths[0]}: {few}; at least {FOLDS}")
        before = []
        if prepares(op):
            found = [times_of(report, op, kind, before=True) for report in reports]
            before = [f.get(c, {}) for report, f in zip(reports, found) for c in times_of(report, op, kind)]
            if not any(before):
                refuse(f"{paths[0]}: no times of preparation of {op}.{kind}")
        regrets = held_out(count, cases, before)
        models = fit_all(count, cases)
        print(f"{op}.{kind}: {len(cases)} cases; regret of those held out: {all_said(regrets)}")
        fixed = min(said_fixed(cases, c) for c in range(count))
        print(
            f"  always the same candidate, the best one: {fixed[0] * 100:.1f} % more on geometric mean "
            f"(number {fixed[1]})"
        )
        fitted.append((kind, cases, regrets, models, fit_all(count, before) if before else {}))
    out.write_text(header(op, devices[0], [command_of(r) for r in reports], fitted))
    print(f"wrote {out}")
    return out


def command_of(report):
    """What was measured, without the paths of the machine."""
    words = report.get("command", "").split()
    words[:1] = ["bench"]
    return " ".join(w for i, w in enumerate(words) if w != "--json" and (i == 0 or words[i - 1] != "--json"))


def said_fixed(cases, c):
    """What choosing candidate c always would cost, over its cases; infinite where these are few."""
    known = [t for t in cases if c in t]
    if 2 * len(known) < len(cases):
        return math.inf, c
    return math.exp(sum(math.log(t[c][1] / min(u for _, u in t.values())) for t in known) / len(known)) - 1, c


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
    fit_reports(args.op, args.reports, ROOT / "gpu" / args.op / "costs.hpp")


if __name__ == "__main__":
    main()
