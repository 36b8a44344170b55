"""Inline PTX: asm statements left out where they order, with weaker orders and scopes, with one wait less."""

import re

from . import operators as ops
from .place import M, Mutant

STATEMENT = re.compile(r"\b(?:asm|__asm__)\s*(?:(?:volatile|__volatile__)\s*)?\(")


def changes(text):
    """The text of an asm statement, changed in one place each."""
    for pattern, by in ops.PTX_CHANGES:
        for m in re.finditer(pattern, text):
            new = by if by != "+1" else f"wait_group{m.group(1)}{int(m.group(2)) + 1}"
            yield text[: m.start()] + new + text[m.end() :]


class InlinePtx:
    """The part of Finder (places.py) that knows asm statements, by their text: hosts refuse them."""

    def asm_statements(self, start, end):
        for m in STATEMENT.finditer(self.text, start, end):
            close = self.closing(m.end() - 1)
            after = re.match(r"\s*;", self.text[close:])
            if not after or self.cuts_macro(m.start(), close):
                continue
            span = (m.start(), close + after.end())
            text = self.text[span[0] : span[1]]
            others = [""] if re.search(ops.PTX_ORDERS, text) else []
            others += changes(text)
            chain = ""
            for n, other in enumerate(others):
                chain += f"if ({M}at({{first}} + {n}, 1) == 0) {{ {' '.join(other.split())} }} else "
            if others:
                mutants = [Mutant(ops.PTX, *span, other or ";") for other in others]
                self.add(span, (chain + "{ ", " }"), mutants)
