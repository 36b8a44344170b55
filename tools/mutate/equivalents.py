"""Mutants that a person has found to be no faults, with their reasons: verify/mutants/equivalent.txt.

    gpu/spmm/rows.hpp in spmm/gpu/03_vector_loads
      (end - begin <= work.cut) ==> (end + begin <= work.cut) -- No row is cut.

A file, alone or "in VARIANT": what is no fault there may be one elsewhere. Below it, indented, a part of its
text ==> what the mutant has in its place; behind `--`, there or on a line of its own, the reason of all parts
since the last one. Lines that begin with # are comments. An entry outlives changes around its part.
"""

import re

from .parse import Refused

NAME = "verify/mutants/equivalent.txt"


def one_line(lines):
    return " ".join(" ".join(lines).split())


def read(path):
    """[(file, part, mutated part, reason)], spaces single"""
    entries, file, parts = [], "", []
    with open(path, encoding="utf-8") as lines:
        for at, line in enumerate(lines, 1):
            text = one_line([line])
            if not text or text[0] == "#":
                continue
            if line[0] != " " and not parts:
                file = text
                continue
            change, dashes, reason = f" {text}".partition(" -- ")
            old, arrow, new = change.strip().partition(" ==> ")
            if arrow:
                parts.append((file, old, new))
            right = file and line[0] == " " and parts and bool(change) == bool(arrow)
            if not right or (dashes and not reason):
                raise Refused(f"{path}:{at}: an entry is a file, and below it 'part ==> mutant -- reason'")
            if dashes:
                entries += [(*part, reason) for part in parts]
                parts = []
    if parts:
        raise Refused(f"{path}: the last entry has no reason")
    return entries


def reason_of(file, variant, changed, marked):
    """Of a mutant of that variant, whose diff is `changed`, where `marked` has it; else None."""
    old, new = (one_line(d[1:] for d in changed if d[0] == sign) for sign in "-+")
    for named, part, mutated, reason in marked:
        if named in (file, f"{file} in {variant}"):
            ends = (at.start() for at in re.finditer(f"(?={re.escape(part)})", old))
            if any(old[:at] + mutated + old[at + len(part) :] == new for at in ends):
                return reason
    return None
