#!/usr/bin/env python3
"""One table of mutants from runs on several machines: what each instrument did, wherever it ran.

    tools/ci/merge_mutants.py docs/results/mutants.md h200.md [...] > merged.md

Each file is what `verify --mutants --markdown FILE` wrote. Text and rows are the first file's; a cell is what
says most in any of them: killed, then survived, not tried, not run, and - (not of its kind). A fault that the
first file does not know is an error. Exit 0; 2: a file that is not such a table."""

import sys

SAYS_MOST = ["killed", "**survived**", "not tried", "not run", "-"]


def die(message):
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


def lines_of(path):
    try:
        with open(path) as f:
            return f.read().splitlines()
    except OSError as e:
        die(f"{path}: {e.strerror}")


def cells_of(line):
    """The cells of a row of the table of mutants; an empty list for any other line."""
    cells = [c.strip() for c in line.strip().strip("|").split("|")]
    return cells if line.startswith("|") and len(cells) > 3 and cells[1].startswith("mutant/") else []


def better(a, b, where):
    for cell in (a, b):
        if cell not in SAYS_MOST:
            die(f"{where}: not a cell of this table: '{cell}'")
    return min(a, b, key=SAYS_MOST.index)


def main():
    if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    first, *others = sys.argv[1:]
    text = lines_of(first)
    table = {(c[0], c[1]): c for c in map(cells_of, text) if c}
    if not table:
        die(f"{first}: holds no table of mutants")
    for path in others:
        for number, cells in enumerate(map(cells_of, lines_of(path)), 1):
            if not cells:
                continue
            known = table.get((cells[0], cells[1]))
            if known is None or len(known) != len(cells):
                die(f"{path}:{number}: {first} has no such row: {cells[0]} {cells[1]}")
            known[3:] = [better(a, b, f"{path}:{number}") for a, b in zip(known[3:], cells[3:])]
    for line in text:
        cells = cells_of(line)
        print("| " + " | ".join(table[cells[0], cells[1]]) + " |" if cells else line)


if __name__ == "__main__":
    main()
