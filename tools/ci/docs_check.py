#!/usr/bin/env python3
"""Checks what the Markdown files of the tree say against the tree.

    tools/ci/docs_check.py [FOLDER_WITH_PROGRAMS]

- every relative link leads to a file, and every anchor to a heading;
- every path in backquotes that begins with a room's name exists (pages of decisions and changes speak of the past);
- every `tools/plumb WORD` is a command, and every option of a program is in its --help (where the programs are built);
- the README of a room has at most 40 lines of at most 110 columns;
- the line that a step of an example names (docs/contributing, see new_kinds.py) is in its file, once;
- every page of docs/ is in the navigation of mkdocs.yml;
- every row of a table has as many cells as its head, and a row "together" has the sums of the rows above it.
"""
import re
import subprocess
import sys
from pathlib import Path

import new_kinds

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("reference", "gpu", "verify", "datasets", "tools", "docs")
PROGRAMS = ("verify", "bench", "infer", "dataset")
SUBCOMMANDS = {"bench": ("draw", "compare"), "infer": ("sdnn", "gcn", "gat"),
               "dataset": ("list", "info", "fetch", "generate", "convert")}
PAST = ("CHANGELOG.md", "docs/decisions/", "docs/results/")
EXAMPLE = re.compile(r"NAME|NN|\bOP\b|axpy|my_|mine|IDEA")  # names that stand for the reader's own
problems = []


def problem(file, line, words):
    problems.append(f"{file}:{line}: {words}")


def markdown_files():
    out = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "*.md"], capture_output=True, text=True,
                         check=True).stdout.split("\n")
    return [f for f in out if f and (ROOT / f).exists()]


def anchor(heading):
    """The anchor that MkDocs gives a heading."""
    text = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", text)).strip("-")


def prose(text):
    """The text without code blocks: [(line number, line)], and the lines of the blocks: [(line number, line)]."""
    outside, inside, fenced, blank = [], [], False, True
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced or (line.startswith("    ") and (blank or (inside and inside[-1][0] == number - 1))):
            inside.append((number, line))
        else:
            outside.append((number, line))
        blank = not line.strip()
    return outside, inside


def check_links(file, outside):
    here = (ROOT / file).parent
    for number, line in outside:
        for target in re.findall(r"\]\(([^)\s]+)\)|(?:href|src)=\"([^\"]+)\"", re.sub(r"`[^`]*`", "", line)):
            target = target[0] or target[1]
            if re.match(r"[a-z]+:", target) or target.startswith("api/"):  # api/: Doxygen writes it into the built site
                continue
            path, _, mark = target.partition("#")
            other = (here / path).resolve() if path else ROOT / file
            if not other.exists():
                problem(file, number, f"the link leads to nothing: {target}")
            elif mark and other.suffix == ".md":
                headings = [anchor(h) for h in re.findall(r"^#+ (.*)$", other.read_text(), re.M)]
                if mark not in headings:
                    problem(file, number, f"no such heading: {target}")


def check_paths(file, outside):
    if file.startswith(PAST):
        return
    for number, line in outside:
        if re.search(r"New file `[^`]*`:$", line):  # the page's example makes it
            continue
        for path in re.findall(r"`((?:%s)/[\w./-]+)`" % "|".join(ROOMS), line):
            if not EXAMPLE.search(path) and not (ROOT / path).exists() \
                    and not (ROOT / file).parent.joinpath(path).exists():
                problem(file, number, f"no such file or folder: {path}")


def check_size(file, lines):
    if Path(file).name != "README.md" or len(Path(file).parts) < 2 or file.startswith("docs/") or "template" in file:
        return
    if len(lines) > 40:
        problem(file, 41, f"{len(lines)} lines: the README of a room has at most 40")
    long = [number for number, line in enumerate(lines, 1) if len(line) > 110]
    if long:
        problem(file, long[0], f"{len(long)} lines of more than 110 columns: the README of a room has none")


def helps(folder):
    """Program -> the text of its --help and of its subcommands'; empty where nothing is built."""
    found = {"plumb": (ROOT / "tools/plumb").read_text()}
    for program in PROGRAMS:
        if folder and (folder / program).exists():
            text = ""
            for words in ([], *([s] for s in SUBCOMMANDS.get(program, ()))):
                text += subprocess.run([folder / program, *words, "--help", "all"], check=False, capture_output=True, text=True).stdout
            found[program] = text
    return found


def commands_of(outside, inside):
    for number, line in outside:
        for code in re.findall(r"`([^`]+)`", line):
            yield number, code
    yield from ((n, line.strip()) for n, line in inside)


def check_commands(file, outside, inside, help_of):
    if file.startswith(PAST):
        return
    for number, code in commands_of(outside, inside):
        code = re.sub(r"\s#.*", "", code)
        code = re.sub(r"'[^']*'|\"[^\"]*\"", "''", code)
        found = re.match(r"(?:[A-Z_]+=\S+ )*(?:tools/plumb(?: --extra \S+)? )?([\w-]+)((?: .*)?)$", code)
        if not found:
            continue
        word, rest = found.groups()
        by_plumb = "tools/plumb" in code
        if by_plumb and not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", help_of["plumb"]):
            problem(file, number, f"tools/plumb has no command {word}")
        if not by_plumb and word not in PROGRAMS:
            continue
        known = help_of.get(word) if word in PROGRAMS else help_of["plumb"]
        first = (rest.split() or ["-"])[0]
        if by_plumb and word in ("infer", "dataset") and re.fullmatch(r"[a-z]+", first) and first not in SUBCOMMANDS[word]:
            problem(file, number, f"{word} has no command {first}")
        for option in re.findall(r"(?<!\S)(--[\w-]+)", rest.split(" -- ")[0].split(" | ")[0]):
            if known is not None and option not in known and option not in help_of["plumb"]:
                problem(file, number, f"{word} --help does not know {option}")


def check_steps(file, text):
    """The steps of an example, where the file that a step changes is the tree's own."""
    for path, where, line, _ in new_kinds.STEP.findall(text):
        if not where:
            continue
        number = text[: text.index(f"`{path}`, {where} `{line}`")].count("\n") + 1
        held = (ROOT / path).read_text().split("\n") if (ROOT / path).is_file() else []
        count = sum(line in other for other in held)
        if count != 1:
            problem(file, number, f"{path}: {count} lines hold '{line}', expected 1")


def cells(row):
    """The cells of a table's row. A bar in backquotes is part of its cell."""
    whole = re.sub(r"`[^`]*`", lambda code: code[0].replace("|", "/"), row.strip())
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", whole)[1:-1]]


def count(cell):
    """The integer that a cell begins with, 33384 of "33,384 of 33,384"; nothing for a fraction or words."""
    found = re.match(r"([\d,]+)(?![\d,]|\.\d| ?%)", cell)
    return int(found[1].replace(",", "")) if found else None


def check_sums(file, number, head, rows, together):
    for place, cell in enumerate(together[1:], 1):
        counts = [count(row[place]) for row in rows]
        total = sum(c for c in counts if c is not None)
        if count(cell) is not None and any(c is not None for c in counts) and total != count(cell):
            problem(file, number, f"{head[place]}: the rows above sum up to {total}, not to {cell}")


def check_tables(file, outside):
    head, rows = None, []
    for number, line in outside:
        if not line.startswith("|"):
            head = None
        elif head is None:
            head, rows = cells(line), []
        elif len(cells(line)) != len(head):
            problem(file, number, f"{len(cells(line))} cells: the table's head has {len(head)}")
        elif cells(line)[0] == "together":
            check_sums(file, number, head, rows, cells(line))
        else:
            rows.append(cells(line))


def check_navigation(files):
    named = set(re.findall(r":\s*([\w./-]+\.md)\s*$", (ROOT / "mkdocs.yml").read_text(), re.M))
    for file in files:
        if file.startswith("docs/") and file[5:] not in named:
            problem(file, 1, "not in the navigation of mkdocs.yml")


def main():
    folder = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
    help_of = helps(folder)
    files = markdown_files()
    for file in files:
        text = (ROOT / file).read_text()
        outside, inside = prose(text)
        check_links(file, outside)
        check_paths(file, outside)
        check_size(file, text.rstrip("\n").split("\n"))
        check_commands(file, outside, inside, help_of)
        check_steps(file, text)
        check_tables(file, outside)
    check_navigation(files)
    missing = [p for p in PROGRAMS if p not in help_of]
    if missing:
        print(f"docs: options of {', '.join(missing)} not checked: not built here")
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"docs: {len(files)} Markdown files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
