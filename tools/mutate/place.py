"""A place in a file that can be mutated, and its mutants."""

import re
from dataclasses import dataclass, field

M = "::plumb::mutate::"  # of mutant_points.hpp
# kinds of types that are no number
FIXED = {
    *("BOOL", "POINTER", "RECORD", "ENUM", "VOID", "NULLPTR", "CONSTANTARRAY", "INCOMPLETEARRAY"),
    *("LVALUEREFERENCE", "FUNCTIONPROTO", "MEMBERPOINTER"),
}


@dataclass
class Mutant:
    family: str
    start: int
    end: int
    text: str  # in place of [start, end) of the original
    number: int = 0


@dataclass
class Place:
    """[start, end) becomes before + ... + after, where {first} is its first mutant's number."""

    file: str
    start: int
    end: int
    before: str
    after: str
    mutants: list
    cuts: list = field(default_factory=list)
    made: bool = True


def wrapped(text):
    return text if re.fullmatch(r"[\w.:>\-\[\]]+", text) and "->" not in text[-2:] else f"({text})"
