"""What the writers of new files ask of the tree: names, operators, numbers of rungs, templates, and files
written all or none."""

import os
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLANG_FORMAT = "14"  # as in tools/plumb: other versions format otherwise


class Refused(Exception):
    """Something that was asked for and cannot be done; the text says why, and what would be accepted."""


def distance(a, b):
    """Edits that turn a into b: insertions, deletions, substitutions and swaps of neighbours."""
    rows = [list(range(len(b) + 1))]
    for i in range(1, len(a) + 1):
        row = [i]
        for j in range(1, len(b) + 1):
            cost = a[i - 1] != b[j - 1]
            row.append(min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + cost))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                row[j] = min(row[j], rows[i - 2][j - 2] + 1)
        rows.append(row)
    return rows[-1][-1]


def nearest(word, known):
    """The known word at most 2 edits from `word`, the nearest of them; "" where there is none."""
    # of two as near, the one with the same letters
    best = min(known, key=lambda k: (distance(word, k), sorted(word) != sorted(k)), default="")
    return best if best and distance(word, best) <= 2 else ""


def check_name(name, example):
    """Refuses what is no file's and no identifier's name."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise Refused(f"'{name}' is not a name: lower case letters, digits and _ (example: {example})")


def type_of(name):
    """The struct of an operator that does not exist yet: skinny_gemm -> SkinnyGemm."""
    return "".join(part.capitalize() for part in name.split("_"))


class Tree:
    """A checkout of Plumbline. root: its top folder."""

    def __init__(self, root=ROOT):
        self.root = Path(root)

    def operators(self):
        """Names of the operators that have a contract, sorted."""
        return sorted(p.stem for p in (self.root / "reference/ops").glob("*.hpp"))

    def check_operator(self, op):
        """Refuses a name that is no operator's, with the nearest that is."""
        if op in self.operators():
            return
        near = nearest(op, self.operators())
        raise Refused(f"no operator is called '{op}'" + (f"; did you mean '{near}'?" if near else ""))

    def contract(self, op):
        """The text of an operator's contract."""
        return (self.root / f"reference/ops/{op}.hpp").read_text()

    def struct(self, op):
        """The name of an operator's struct, from its contract."""
        begins = r"^struct (\w+)(?: : (?:Contract|FormulaOf)<\w+>)? \{"
        return re.search(begins, self.contract(op), re.M).group(1)

    def next_number(self, folder):
        """Two digits: the number after the highest rung of one's own (01 to 79; libraries' are 80 and up)."""
        taken = [int(p.name[:2]) for p in (self.root / folder).glob("[0-7][0-9]_*")]
        return f"{max(taken, default=0) + 1:02}"

    def template(self, file, /, **words):
        """The text of tools/templates/FILE.in with every @word@ replaced."""
        text = (self.root / f"tools/templates/{file}.in").read_text()
        return re.sub(r"@(\w+)@", lambda m: words[m.group(1)], text)

    def formatted(self, name, text):
        """The text as tools/plumb fmt would leave it; as it is where clang-format 14 is not installed, and
        in an installed tree, which has no style."""
        style = self.root / ".clang-format"
        if Path(name).suffix not in (".cpp", ".hpp", ".cu") or not style.exists():
            return text
        for tool in (f"clang-format-{CLANG_FORMAT}", "clang-format"):
            if shutil.which(tool) and f"version {CLANG_FORMAT}." in output_of([tool, "--version"]):
                return output_of([tool, f"--style=file:{style}", f"--assume-filename={name}"], text)
        return text

    def write(self, files, replaced=()):
        """Writes {path from the root, or absolute: text}: all of them, or none where one is there already or
        cannot be written. Files
        named in `replaced` are there and get a new text."""
        for name in files:
            if name not in replaced and os.path.lexists(self.root / name):
                raise Refused(f"{name} is there already")
        written, folders = [], []
        try:
            for name, text in files.items():
                path = self.root / name
                folders += make_folders(path.parent)
                new = path.with_name(path.name + ".new") if name in replaced else path
                written.append(new)
                new.write_text(self.formatted(name, text))
            for name in replaced:  # nothing but names changes from here
                os.replace(self.root / f"{name}.new", self.root / name)
        except OSError as e:
            for path in written:
                path.unlink(missing_ok=True)
            for folder in reversed(folders):
                folder.rmdir()
            raise Refused(f"{e.filename}: {e.strerror}") from e


def make_folders(folder):
    """Makes a folder and those above it; returns the ones that were not there, the outermost first."""
    missing = [f for f in [folder, *folder.parents] if not f.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing[::-1]


def output_of(command, text=None):
    """What a command writes, given `text` on its standard input. Raises CalledProcessError where it fails."""
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
