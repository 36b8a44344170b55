"""OpenMP: clauses and directives left out. They are fixed when a file is compiled; so a statement is written
once for each, and a number chooses among them."""

import re

from . import operators as ops
from .place import M, Mutant, Place

DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+omp\b((?:[^\n]*\\\n)*[^\n]*)$", re.M)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+((?:[^\n]*\\\n)*[^\n]*)$", re.M)
CLAUSE = re.compile(
    r"\b(reduction|private|firstprivate|lastprivate|linear|num_threads|depend|ordered|copyin|safelen)\s*(?=\()"
)
ALONE = {"barrier", "flush", "taskwait"}
GUARDS = {"critical", "atomic", "single", "master", "masked", "ordered"}


def closed(text, start):
    """Behind the bracket that closes the first one from start on."""
    depth = 0
    for at in range(text.index("(", start), len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return at + 1
    return len(text)


def words_of(directive):
    return re.match(r"(?:\s*[a-z_]+\b(?!\s*\())*", directive).group(0).split()


def lesser(directive, statement, last):
    """What the directive becomes: texts, "" for none. `last`: nothing follows the statement in its region."""
    words, found = words_of(directive), []
    if GUARDS & set(words) and "for" not in words:
        return [""]
    for clause in CLAUSE.finditer(directive):
        if clause.group(1) == "reduction" and words == ["simd"]:
            continue  # compilers find the sum of a loop on one thread themselves
        end = closed(directive, clause.start())
        given = directive[directive.index("(", clause.start()) + 1 : end - 1]
        shared = clause.group(1) == "reduction" and {"parallel", "task", "teams"} & set(words)
        names = given.split(":")[-1].strip()
        by = f"shared({names})" if shared else ""
        found.append(directive[: clause.start()] + by + directive[end:])
    if re.search(r"\bomp_get_thread_num\b", statement) and (s := re.search(r"\bschedule\s*\(", directive)):
        found.append(directive[: s.start()] + directive[closed(directive, s.start()) :])
    waits = {"for", "single", "sections"} & set(words) and "parallel" not in words
    if waits and not last and not re.search(r"\bnowait\b", directive):
        found.append(directive + " nowait")
    return found


def quoted(pragma):
    text = " ".join(pragma.replace("\\\n", " ").split()).replace("\\", "\\\\").replace('"', '\\"')
    return f' _Pragma("{text}") '


def flat(text):
    """A statement in one line; None where directives of the preprocessor stand in it."""
    text = COMMENT.sub(" ", text)
    text = PRAGMA.sub(lambda m: quoted(m.group(1)), text)
    return None if re.search(r"^\s*#", text, re.M) else " ".join(text.split())


class OpenMp:
    """The part of Finder (places.py) that knows OpenMP's directives."""

    def directive_above(self, start):
        """The match of the directive directly above an offset."""
        above = None
        for m in DIRECTIVE.finditer(self.text, 0, start):
            above = m
        return above if above and not self.text[above.end() : start].strip() else None

    def shared_out(self, node, last):
        """A statement under a directive: one copy of it for each lesser directive."""
        start, end = self.span(node)
        above = self.directive_above(start)
        if not above or any(p.start == above.start() for p in self.places):
            return
        if self.text[end : end + 1] == ";":
            end += 1
        statement, directive = self.text[start:end], above.group(1).replace("\\\n", " ")
        copy = flat(statement)
        if copy is None:
            return
        mutants, chain = [], ""
        for n, other in enumerate(lesser(directive, statement, last)):
            pragma = quoted(f"omp {other}") if other else " "
            chain += f"if ({M}at({{first}} + {n}, 1) == 0) {{{pragma}{copy} }} else "
            written = self.text[above.start() : above.start(1)] + other if other else ""
            mutants.append(Mutant(ops.OPENMP, above.start(), above.end(), written))
        if mutants:
            line = self.text.count("\n", 0, above.start()) + 1
            before = f'{chain}{{\n#line {line} "{self.file}"\n'
            self.places.append(Place(self.file, above.start(), end, before, " }", mutants))

    def alone(self, start, end):
        """Directives that are statements themselves, in a function's body."""
        for m in DIRECTIVE.finditer(self.text, start, end):
            words = words_of(m.group(1))
            if words and words[0] in ALONE:
                by = f"if (!{M}deleted({{first}})) {{{quoted('omp ' + m.group(1))}}}"
                mutant = Mutant(ops.OPENMP, m.start(), m.end(), "")
                cut = [(m.start(), m.end(), by)]
                self.places.append(Place(self.file, m.start(), m.end(), "", "", [mutant], cut))
