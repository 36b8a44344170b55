"""gpu/OP/costs.hpp: the models of candidates as they lie there, read and written."""

import re

TYPES = {"f32": "float", "f64": "double"}
TABLES = ("model", "preparation")  # of a run, and of what comes before the first
NEVER = 1e9  # microseconds of a start: what was never measured is never chosen
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
ROW = re.compile(rf"^\s*\{{({NUMBER}), \{{([^{{}}]*)\}}.*\}},$")


class Unreadable(ValueError):
    """A file of costs that is not what this tool writes."""


def model_of(line, where, terms):
    """(sharpness, costs) of a row, or None of a candidate that is never chosen."""
    found = ROW.match(line)
    costs = found.group(2).split(", ") if found else []
    if len(costs) != terms or not all(re.fullmatch(NUMBER, cost) for cost in costs):
        raise Unreadable(f"{where}: '{line.strip()}' is not a sharpness and {terms} costs")
    costs = [float(cost) for cost in costs]
    return None if costs[0] >= NEVER else (float(found.group(1)), costs)


def read(path, counts, terms):
    """{type: {table: models of its candidates}} of a file of costs. `counts`: {type: how many candidates}."""
    kinds = {f"struct Costs<{full}> {{": kind for kind, full in TYPES.items()}
    found, kind, rows = {}, None, None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        table = re.fullmatch(r"  static constexpr CostModel (\w+)\[\] = \{", line)
        if line in kinds:
            kind = found[kinds[line]] = {}
        elif table and kind is not None:
            rows = kind[table.group(1)] = []
        elif line == "  };":
            rows = None
        elif rows is not None:
            rows.append(model_of(line, f"{path}:{number}", terms))
    for kind in TYPES:
        for table in found.get(kind, {"no table": []}):
            have = len(found.get(kind, {}).get(table, []))
            if have != counts[kind]:
                there = f"there are {counts[kind]} candidates"
                raise Unreadable(f"{path}: {have} costs of {kind}, {table}; {there}")
    return found


def row_of(model):
    sharpness, costs = model or (1, [NEVER])
    listed = ", ".join(f"{cost:.4g}" for cost in costs) if model else "1e9, 0, 0, 0, 0, 0, 0, 0"
    return f"      {{{sharpness:g}, {{{listed}}}}},"


def table_of(name, models):
    return [f"  static constexpr CostModel {name}[] = {{", *map(row_of, models), "  };"]


def written(namespace, head, tables):
    """The text of a file: `head` are lines of comment, `tables` is {type: {table: models}}."""
    lines = [
        *head,
        "#pragma once",
        '#include "gpu/common/cost_model.hpp"',
        "",
        "namespace plumb {",
        f"namespace {namespace} {{",
        "",
        "/// Of the candidates in their order: sharpness, microseconds for a unit of terms.",
        "// clang-format off",
        "template <class T>",
        "struct Costs;",
    ]
    for kind, of_kind in tables.items():
        lines += ["template <>", f"struct Costs<{TYPES[kind]}> {{"]
        for name, models in of_kind.items():
            lines += table_of(name, models)
        lines += ["};"]
    lines += ["// clang-format on", "", f"}}  // namespace {namespace}", "}  // namespace plumb", ""]
    return "\n".join(lines)
