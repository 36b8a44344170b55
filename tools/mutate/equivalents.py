"""Mutants that a person has found to be no faults, with their reasons: verify/mutants/equivalent.txt.

An entry is a paragraph: the file, its lines behind '- ', the mutated ones behind '+ ', a sentence. Behind the
file may stand "in VARIANT", as in "gpu/spmm/rows.hpp in spmm/gpu/03_vector_loads": what is no fault there may
be one elsewhere.
Lines that begin with # are comments. Lines, not numbers: an entry outlives changes elsewhere in its file, and
counts for nothing where its own lines have changed.
"""

from .parse import Refused

NAME = "verify/mutants/equivalent.txt"


def one_line(lines):
    return " ".join(" ".join(lines).split())


def read(path):
    """{(file, old lines, new lines): reason}; lines in one, with single spaces"""
    entries, block, begun = {}, [], 0
    with open(path, encoding="utf-8") as file:
        lines = [*file.read().split("\n"), ""]
    for at, line in enumerate(lines, 1):
        if line.startswith("#"):
            continue
        if line.strip():
            begun = begun or at
            block.append(line)
            continue
        if block:
            old = [text[1:] for text in block[1:] if text[:1] == "-"]
            new = [text[1:] for text in block[1:] if text[:1] == "+"]
            reason = one_line([text for text in block[1:] if text[:1] not in "-+"])
            if not old or not new or not reason or block[0][:1] in "-+":
                raise Refused(f"{path}:{begun}: an entry is a file, '- line', '+ line' and a reason")
            entries[block[0].strip(), one_line(old), one_line(new)] = reason
        block, begun = [], 0
    return entries


def reason_of(file, variant, changed, marked):
    """Of a mutant of that variant, where `marked` has it; else None."""
    return marked.get(key(file, changed)) or marked.get(key(f"{file} in {variant}", changed))


def key(file, changed):
    """Of a mutant: `changed` is its diff."""
    return (
        file,
        one_line(d[1:] for d in changed if d[0] == "-"),
        one_line(d[1:] for d in changed if d[0] == "+"),
    )
