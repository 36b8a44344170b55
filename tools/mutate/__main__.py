"""tools/plumb verify --mutate GLOB. Exit 0: attacked; 1: the score is below --at-least; 2: refused."""

import argparse
import hashlib
import os
import random
import sys
from itertools import groupby

from . import attack, equivalents, report, schemata
from . import operators as ops
from . import variants as known_variants
from .parse import Refused, Unit

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
EXAMPLES = """examples:
  tools/plumb verify --mutate 'spmv/cpu/*'                       every mutant of those variants
  tools/plumb verify --mutate 'spmv/*,gemm/gpu/1*' --sample 500  500 of theirs, drawn by --seed
  tools/plumb --extra my_folder verify --mutate 'user/*'         of kernels of one's own
docs/mutation.md says what the table means."""


class Parser(argparse.ArgumentParser):
    """Errors in Plumbline's words."""

    def error(self, message):
        raise Refused(f"{message} (tools/plumb verify --mutate GLOB --help)")


def parser():
    p = Parser(
        prog="tools/plumb verify", epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument(
        "--mutate",
        required=True,
        metavar="GLOB",
        help="GLOB[,GLOB...] of variants: 'spmv/cpu/*', 'gpu/05_*', 'user/*'",
    )
    p.add_argument(
        "--sample", type=int, metavar="N", help="so many of the mutants, drawn by --seed; default: all"
    )
    p.add_argument("--seed", type=int, default=1, metavar="S", help="of the sample; default 1")
    p.add_argument(
        "--device",
        default="",
        choices=["cpu", "simt"],
        help="host variants alone, or rungs on the CPU executor alone",
    )
    p.add_argument(
        "--tier", default="smoke", choices=["smoke", "full", "stress"], help="the cases; default smoke"
    )
    p.add_argument("--case", default="", metavar="GLOB", help="of these cases alone, as without --mutate")
    p.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count(),
        metavar="N",
        help="attacked side by side; default: one per core",
    )
    p.add_argument(
        "--json", metavar="FILE", help="every mutant and what became of it, one JSON object per line"
    )
    p.add_argument("--at-least", type=float, metavar="PERCENT", help="exit 1 where the score is below")
    return p


def preset_folder():
    return os.path.join(TREE, "build", os.environ["PLUMB_PRESET"])


def folder_of(op, extra):
    name = op if not extra else "user_" + hashlib.sha1(extra.encode()).hexdigest()[:10]
    return os.path.join(preset_folder(), "mutate", name)


def relative(path):
    inside = os.path.relpath(path, TREE)
    return path if inside.startswith("..") else inside


def found(variants):
    """{variant: Schema}; what libclang could not read is said."""
    all_of = {}
    for v in variants:
        unit = Unit(TREE, os.path.realpath(v.path))
        for error in unit.errors()[:1]:
            print(f"note: {relative(v.path)}: what stands there is not mutated: {error}", file=sys.stderr)
        all_of[v] = schemata.schema_of(unit, os.path.realpath(v.path))
    return all_of


class Candidate:
    """One mutant that may be drawn."""

    def __init__(self, variant, schema, place, mutant):
        self.variant, self.schema, self.place, self.mutant = variant, schema, place, mutant
        self.source = schema.unit.files[place.file]
        self.diff = schemata.diff(self.source, mutant)

    def why_equivalent(self, marked):
        name = f"{self.variant.op}/{self.variant.name}"
        return equivalents.reason_of(relative(self.place.file), name, self.diff, marked)

    def result(self, state, fate=None, reason=""):
        fate = fate or {}
        name, file = f"{self.variant.op}/{self.variant.name}", relative(self.place.file)
        line = self.source.line(self.mutant.start)
        said = {key: fate[key] for key in ("verdict", "case", "race", "how", "felt") if key in fate}
        return report.Result(name, file, line, self.mutant.family, self.diff, state, reason=reason, **said)


def candidates(all_of, tier):
    for variant, schema in all_of.items():
        for place in schema.places():
            for mutant in place.mutants:
                if mutant.family != ops.NARROWED_TO_32 or tier == "stress":
                    yield Candidate(variant, schema, place, mutant)


def attack_operator(op, chosen, extra, arguments):
    """Attacks the mutants of one operator's variants: all in one build, with no other place."""
    written = list(dict.fromkeys(c.schema for c in chosen))
    drawn = {id(c.place) for c in chosen}
    for schema in written:
        for place in schema.places():
            place.made = id(place) in drawn
    schemata.number(written)
    by_number = {c.mutant.number: (c.schema, c.place, c.mutant) for c in chosen}
    options = ["--tier", arguments.tier, "--jobs", str(arguments.jobs)]
    if arguments.case:
        options += ["--case", arguments.case]
    if extra:  # a kernel of the user's own has boundaries of its own
        for path in sorted({c.variant.path for c in chosen}):
            options += ["--constants-of", os.path.realpath(path)]
    devices = {c.variant.device for c in chosen}
    if len(devices) == 1:  # an earlier sample's program of the other kind may lie in the same folder
        options += ["--device", *devices]
    print(f"mutate: {op}: {len(chosen)} mutants of {len(written)} variants", file=sys.stderr)
    fates = attack.attack(
        os.path.join(TREE, "tools/plumb"), folder_of(op, extra), written, by_number, options
    )
    for c in chosen:
        fate = fates.get(c.mutant.number)
        yield c.result(fate["state"] if fate else report.NOT_MADE, fate)


def mutate(arguments):
    extra = os.environ.get("PLUMB_MUTATE_EXTRA", "")
    manifest = os.path.join(preset_folder(), "verify", "simt_manifest.cpp")
    absent = known_variants.absent_from_executor(manifest)
    chosen = known_variants.choose(TREE, extra, arguments.mutate.split(","), arguments.device, absent)
    all_of = found(chosen)
    marked = equivalents.read(os.path.join(TREE, equivalents.NAME))
    every = list(candidates(all_of, arguments.tier))
    if not every:
        raise Refused(f"--mutate: nothing in {', '.join(relative(v.path) for v in chosen)} can be mutated")
    if arguments.sample and arguments.sample < len(every):
        every = [
            every[i]
            for i in sorted(random.Random(arguments.seed).sample(range(len(every)), arguments.sample))
        ]
    reasons = [(c, c.why_equivalent(marked)) for c in every]
    results = [c.result(report.EQUIVALENT, reason=why) for c, why in reasons if why]
    faults = sorted((c for c, why in reasons if not why), key=lambda c: c.variant.op)
    for op, group in groupby(faults, key=lambda c: c.variant.op):
        results += attack_operator(op, list(group), extra, arguments)
    not_made = sum(s.unswitchable() for s in all_of.values())
    print(report.text(results, not_made))
    if arguments.json:
        report.write_json(arguments.json, results)
    reached = report.score(dict_of(results))
    return 1 if arguments.at_least is not None and reached is not None and reached < arguments.at_least else 0


def dict_of(results):
    counts = dict.fromkeys((*report.COLUMNS, report.NOT_MADE), 0)
    for r in results:
        counts[r.state] += 1
    return counts


def main():
    try:
        return mutate(parser().parse_args(sys.argv[1:]))
    except Refused as e:
        print(f"error: {e}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
