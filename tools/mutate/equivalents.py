"""Mutants that a person has found to be no faults, with their reasons: verify/mutants/equivalent.txt.

An entry is a paragraph: the file, the line as it is behind '- ', the mutated one behind '+ ', a sentence.
Lines that begin with # are comments. Lines, not numbers: an entry outlives changes elsewhere in its file, and
counts for nothing where its own line has changed.
"""

from .parse import Refused

NAME = "verify/mutants/equivalent.txt"


def read(path):
    """{(file, old line, new line): reason}"""
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
            if len(block) < 4 or block[1][:2] != "- " or block[2][:2] != "+ ":
                raise Refused(f"{path}:{begun}: an entry is a file, '- line', '+ line' and a reason")
            key = (block[0].strip(), block[1][2:].strip(), block[2][2:].strip())
            entries[key] = " ".join(text.strip() for text in block[3:])
        block, begun = [], 0
    return entries


def key(file, changed):
    """Of a mutant: `changed` is its diff. None where it changes several lines."""
    if len(changed) != 2:
        return None
    return file, changed[0][1:].strip(), changed[1][1:].strip()
