"""Writes schemata: of every variant a copy of its source and its folder's headers where numbers choose."""

import difflib
import json
import os
import re
from dataclasses import dataclass

from .parse import Source
from .places import COMMENT, Finder

INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[^\n]*", re.M)
RUNTIME = '#include "verify/engine/operator/mutant_points.hpp"\n'
LIST = "schemata.txt"
CHOICE = "candidates.hpp"  # of a variant that chooses
OWN_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"(?:[^"\n]*/)?([^"/\n]+)"', re.M)


@dataclass(eq=False)
class Schema:
    """One variant: its file, the Finders of its files by path, and the unit they were made from."""

    path: str
    unit: object
    finders: dict

    @property
    def stem(self):
        return os.path.splitext(os.path.basename(self.path))[0]

    def places(self):
        return [p for f in self.finders.values() for p in f.places if p.made]

    def unswitchable(self):
        return sum(f.unswitchable for f in self.finders.values())

    def dropped(self):
        return sum(len(p.mutants) for f in self.finders.values() for p in f.places if not p.made)


def schema_of(unit, path):
    finders = {file: Finder(unit, file) for file in unit.files}
    leave_unused(finders, path)
    leave_to_candidates(finders, path)
    return Schema(path, unit, finders)


def leave_unused(finders, path):
    """Functions of headers that the variant does not use, by their names, are left to other variants."""
    bodies = [
        (name, f.text[a:b]) for file, f in finders.items() if file != path for name, a, b in f.functions
    ]
    words = set(re.findall(r"\w+", INCLUDE.sub(" ", COMMENT.sub(" ", finders[path].text))))
    waiting = bodies
    while used := [b for b in waiting if b[0] in words or b[0].startswith("operator")]:
        waiting = [b for b in waiting if b not in used]
        words.update(word for _, body in used for word in re.findall(r"\w+", body))
    unused = {name for name, _ in waiting}
    for file, finder in finders.items():
        if file != path:
            spans = [(a, b) for name, a, b in finder.functions if name in unused]
            finder.places = [p for p in finder.places if not any(a <= p.start < b for a, b in spans)]


def leave_to_candidates(finders, path):
    """A variant that chooses runs each of the others on few cases: their headers are mutated with them."""
    folder, ending = os.path.dirname(path), os.path.splitext(path)[1]
    if os.path.join(folder, CHOICE) not in finders:
        return
    variants = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(ending)]
    waiting = [text for text in (Source(v).text for v in variants) if CHOICE not in text]
    headers = {file: finder for file, finder in finders.items() if file != path}
    while waiting:
        for name in OWN_INCLUDE.findall(waiting.pop()):
            if finder := headers.pop(os.path.join(folder, name), None):
                finder.places = []
                waiting.append(finder.text)


def number(schemata):
    """Numbers every mutant of a build from 1 on; returns {number: (schema, place, mutant)}."""
    known, n = {}, 0
    for schema in schemata:
        for place in schema.places():
            for mutant in place.mutants:
                n += 1
                mutant.number = n
                known[n] = (schema, place, mutant)
    return known


def rewritten(text, places, insertions=()):
    """`text` with the places' wrappings, from the outside in, and further insertions (offset, text)."""
    opens, closes, cuts = {}, {}, {}
    for order, p in enumerate(
        sorted(places, key=lambda p: p.start - p.end)
    ):  # stable: of equal spans the first is outside
        first = str(p.mutants[0].number)
        opens.setdefault(p.start, []).append((order, p.before.replace("{first}", first)))
        closes.setdefault(p.end, []).insert(0, p.after)
        for start, end, by in p.cuts:
            cuts[start] = (end, by.replace("{first}", first) + "\n" * text.count("\n", start, end))
    more = dict(insertions)
    marks = sorted({*opens, *closes, *cuts, *more, *(end for end, _ in cuts.values())})
    out, at = [], 0
    for mark in marks:
        if mark < at:
            continue
        out.append(text[at:mark])
        out += closes.get(mark, [])
        out.append(more.get(mark, ""))
        out += [t for _, t in opens.get(mark, [])]
        at = mark
        if mark in cuts:
            at, by = cuts[mark]
            out.append(by)
            out += closes.get(at, []) if at not in marks else []
    out.append(text[at:])
    return "".join(out)


def write_if_new(path, text):
    """Leaves an equal file alone: what was built from it stays up to date."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    data = text.encode("latin-1")
    if os.path.exists(path):
        with open(path, "rb") as file:
            if file.read() == data:
                return
    with open(path, "wb") as file:
        file.write(data)


def write_schema(schema, folder, serial):
    """The files of one schema. Its namespaces' names are its own: originals may be linked beside it."""
    beside = os.path.join(folder, schema.stem + ".d")

    def placed(path):
        return os.path.join(folder if path == schema.path else beside, os.path.basename(path))

    for path, finder in schema.finders.items():
        source = schema.unit.files[path]
        inside = []
        for start, end in finder.namespaces:
            inside += [(start, f" inline namespace mutated_{serial} {{"), (end, "} ")]
        text = rewritten(source.text, [p for p in finder.places if p.made], inside)
        lines = text.split("\n")
        for file, line, target in schema.unit.includes:
            if file == path and re.match(r'\s*#\s*include\s*"', lines[line - 1]):
                lines[line - 1] = f'#include "{placed(target) if target in schema.finders else target}"'
        once = "#pragma once\n" if path != schema.path else ""
        text = once + RUNTIME + f'#line 1 "{path}"\n' + "\n".join(lines)
        write_if_new(placed(path), text)


def write_folder(folder, schemata, chosen):
    """All schemata of a build, and the list of the mutants that are to be attacked."""
    os.makedirs(folder, exist_ok=True)
    keep = {LIST} | {s.stem + ".d" for s in schemata} | {os.path.basename(s.path) for s in schemata}
    for name in os.listdir(folder):
        if name not in keep and name.endswith((".cpp", ".cu")):
            os.remove(os.path.join(folder, name))
    for serial, schema in enumerate(schemata):
        write_schema(schema, folder, serial)
    lines = [f"{n} user/{known[0].stem}\n" for n, known in sorted(chosen.items())]
    with open(os.path.join(folder, LIST), "w", encoding="utf-8") as file:
        file.writelines(lines)


def diff(source, mutant):
    """The changed lines, as a diff without its head."""
    old = source.text
    new = old[: mutant.start] + mutant.text + old[mutant.end :]
    first = old.rfind("\n", 0, mutant.start) + 1
    last = old.find("\n", mutant.end)
    tail = len(old) - (last if last >= 0 else len(old))
    before, after = old[first : len(old) - tail].split("\n"), new[first : len(new) - tail].split("\n")
    return [d for d in difflib.ndiff(before, after) if d[:1] in "+-"]


def read_fates(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]
