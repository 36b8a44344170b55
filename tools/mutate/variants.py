"""Which variants a glob names: their files in the tree, or in a user's folder."""

import difflib
import fnmatch
import os
import re
from dataclasses import dataclass

from .parse import Refused


@dataclass(frozen=True)
class Variant:
    op: str  # the folder's name; of a user's file "user"
    name: str  # cpu/04_merge_path
    path: str

    @property
    def device(self):
        return "simt" if self.path.endswith(".cu") else "cpu"


def listed(folder, op, space, pattern):
    for file in sorted(os.listdir(folder)):
        if re.fullmatch(pattern, file):
            yield Variant(op, f"{space}/{os.path.splitext(file)[0]}", os.path.join(folder, file))


def of_tree(tree):
    for room, space, ending in (("reference/cpu", "cpu", "cpp"), ("gpu", "gpu", "cu")):
        for op in sorted(os.listdir(os.path.join(tree, room))):
            folder = os.path.join(tree, room, op)
            if os.path.isdir(folder):
                yield from listed(folder, op, space, rf"\d\d_\w+\.{ending}")


def absent_from_executor(manifest):
    """Rungs that the CPU executor cannot run, with the reason, as the build lists them."""
    with open(manifest, encoding="utf-8") as file:
        lines = re.findall(r'\{"(\w+)", "(gpu/\w+)", "([^"]+)", \w+\}', file.read())
    return {(op, name): why for op, name, why in lines}


def matches(variant, glob):
    return any(fnmatch.fnmatchcase(text, glob) for text in (variant.name, f"{variant.op}/{variant.name}"))


def choose(tree, extra, globs, device, absent):
    """The variants that any of the globs names; those that call a library only where it names them whole."""
    known = list(listed(extra, "user", "user", r"\w+\.(cpp|cu)")) if extra else list(of_tree(tree))
    chosen = []
    for glob in globs:
        found = [v for v in known if matches(v, glob)]
        if not found:
            names = [f"{v.op}/{v.name}" for v in known]
            near = difflib.get_close_matches(glob, names, 1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise Refused(
                f"--mutate: no variant matches '{glob}'{hint} (as 'spmv/cpu/*' or 'cpu/04_merge_path')"
            )
        for v in found:
            library = not extra and os.path.basename(v.path).startswith("8") and "*" in glob
            if v not in chosen and not library and (v.op, v.name) not in absent:
                chosen.append(v)
    chosen = [v for v in chosen if device in ("", v.device)]
    if not chosen:
        where = device or "cpu or simt"
        raise Refused(f"--mutate: nothing that runs here matches {', '.join(globs)} on device {where}")
    return chosen
