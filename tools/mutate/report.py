"""What became of the mutants: tables by variant and by mutation operator, survivors with their diff."""

import json
from collections import Counter
from dataclasses import dataclass

KILLED, SURVIVED, SAME = "killed", "survived", "no difference seen"
NOT_COVERED, NOT_MADE, EQUIVALENT = "not covered", "not made", "equivalent"
DECLINED = "declines others"
COLUMNS = (KILLED, SURVIVED, SAME, NOT_COVERED, DECLINED, EQUIVALENT)
NO_FAULTS = (DECLINED, EQUIVALENT)


@dataclass
class Result:
    """One mutant's fate."""

    variant: str
    file: str
    line: int
    family: str
    diff: list
    state: str
    verdict: str = ""
    case: str = ""
    race: bool = False
    how: str = ""
    reason: str = ""  # of an equivalent
    felt: bool = True  # False: where cases reach it, its value is always the original's


def score(counts):
    """Killed of all that were made and are faults; None where there are none."""
    faults = sum(counts[c] for c in COLUMNS if c not in NO_FAULTS)
    return 100 * counts[KILLED] / faults if faults else None


def shown(percent):
    return "-" if percent is None else f"{percent:.1f} %"


def table(title, rows):
    wide = max([len(title), *(len(name) for name, _ in rows)])
    lines = [
        f"{title:<{wide}}  {'made':>6}" + "".join(f"{c:>{len(c) + 2}}" for c in COLUMNS) + f"{'score':>10}"
    ]
    for name, counts in rows:
        made = sum(counts[c] for c in COLUMNS)
        cells = "".join(f"{counts[c]:>{len(c) + 2}}" for c in COLUMNS)
        lines.append(f"{name:<{wide}}  {made:>6}{cells}{shown(score(counts)):>10}")
    return lines


def counted(results, what):
    by = {}
    for r in results:
        if r.state != NOT_MADE:
            by.setdefault(what(r), Counter())[r.state] += 1
    return sorted(by.items())


def survivors(results):
    lines = []
    for r in results:
        if r.state in (SURVIVED, SAME, NOT_COVERED):
            never = "" if r.felt or r.state != SAME else ", its value is always the original's"
            lines.append(f"{r.state.upper()}{never}  {r.variant}  {r.file}:{r.line}  {r.family}")
            lines += ["    " + d for d in r.diff]
    return lines


def instrument(r):
    """What killed it: the verdict, and whether every access was checked for races then."""
    return r.verdict if r.verdict == "race" or not r.race else f"{r.verdict} (racing)"


def kills(results):
    """Mutation operators by what killed their mutants."""
    killed = [r for r in results if r.state == KILLED]
    names = [name for name, _ in Counter(instrument(r) for r in killed).most_common()]
    rows = {}
    for r in killed:
        rows.setdefault(r.family, Counter())[instrument(r)] += 1
    wide = max([len("killed by"), *map(len, rows)])
    lines = [f"{'killed by':<{wide}}" + "".join(f"{name:>{len(name) + 2}}" for name in names)]
    for family, counts in sorted(rows.items()):
        lines.append(f"{family:<{wide}}" + "".join(f"{counts[name]:>{len(name) + 2}}" for name in names))
    return lines


def text(results, not_made):
    made = [r for r in results if r.state != NOT_MADE]
    total = Counter(r.state for r in made)
    lines = survivors(results)
    lines += [""] + table("variant", counted(results, lambda r: r.variant))
    lines += [""] + table("mutation operator", counted(results, lambda r: r.family))
    if total[KILLED]:
        lines += [""] + kills(made)
    absent = not_made + len(results) - len(made)
    why = "used at compile time, without code, of no effect on their types, or not compiling"
    lines += ["", f"not made: {absent}, {why}"]
    faults = sum(total[c] for c in COLUMNS if c not in NO_FAULTS)
    lines.append(f"mutants: {total[KILLED]} of {faults} killed, {shown(score(total))}")
    return "\n".join(lines)


def write_json(path, results):
    with open(path, "w", encoding="utf-8") as file:
        for r in results:
            file.write(json.dumps(vars(r)) + "\n")
