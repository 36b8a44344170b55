#!/usr/bin/env python3
"""The longest functions of the tree and how many decisions each holds. A report: nothing fails by it.

    tools/ci/lengths.py [--lines 60] [--decisions 15] [--all]

Lists functions above either limit (--all: the 40 longest), longest first: lines from the opening to the
closing brace, decisions (if, for, while, case, catch, &&, ||, ?), file and line. Functions are found by
their braces, without a compiler: a macro may hide one. Exit 0; 2: usage."""

import argparse
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DECISION = re.compile(r"\b(?:if|for|while|case|catch)\b|&&|\|\||\?")
# what stands before a body's brace: a name and its parameters, then qualifiers
HEAD = re.compile(
    r"([~\w:]+)\s*\((?:[^;{}]|\{\})*\)\s*"
    r"(?:const|noexcept|override|final|mutable|->[^;{}]+|:[^;]*)*\s*$",
    re.S,
)
WORDS = {"if", "for", "while", "switch", "catch", "return", "sizeof", "defined", "decltype", "alignas"}


def without_text(source):
    """The source with comments, strings and preprocessor lines blanked, every newline kept."""
    pattern = "|".join(
        (
            r"//[^\n]*",
            r"/\*.*?\*/",
            r'R"(\w*)\(.*?\)\1"',
            r'"(?:\\.|[^"\\\n])*"',
            r"'(?:\\.|[^'\\\n])'",
            r"^[ \t]*#(?:\\\n|[^\n])*",
        )
    )
    source = re.sub(r"__launch_bounds__\([^()]*\)", lambda m: " " * len(m.group()), source)
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), source, flags=re.S | re.M)


def functions(source):
    """(name, line, lines, decisions) of every function body; functions within it are counted apart."""
    text = without_text(source)
    depth_of_body, found, start, name, depth = None, [], 0, "", 0
    since = 0  # where the statement before a brace begins
    for m in re.finditer(r"[{};]", text):
        at = m.start()
        if m.group() == "{":
            head = HEAD.search(text[since:at]) if depth_of_body is None else None
            if head and head.group(1) not in WORDS and "=" not in text[since:at].split("(")[0]:
                depth_of_body, start, name = depth, at, head.group(1)
            depth += 1
        elif m.group() == "}":
            depth -= 1
            if depth == depth_of_body:
                body = text[start:at]
                line = text.count("\n", 0, start) + 1
                found.append((name, line, body.count("\n") + 1, len(DECISION.findall(body))))
                depth_of_body = None
        since = at + 1
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--lines", type=int, default=60)
    p.add_argument("--decisions", type=int, default=15)
    p.add_argument("--all", action="store_true")
    a = p.parse_args()
    patterns = ["*.cpp", "*.hpp", "*.cu", "*.h"]
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", *patterns], capture_output=True, text=True, check=True
    )
    every = []
    for file in listed.stdout.split():
        if (ROOT / file).is_file() and not file.startswith("datasets/malformed/"):
            source = (ROOT / file).read_text(errors="replace")
            every += [
                (lines, decisions, file, line, name) for name, line, lines, decisions in functions(source)
            ]
    every.sort(reverse=True)
    over = [f for f in every if f[0] > a.lines or f[1] > a.decisions]
    for lines, decisions, file, line, name in every[:40] if a.all else over:
        print(f"{lines:5} lines {decisions:4} decisions  {file}:{line}  {name}")
    tests = sum("/tests/" in f[2] for f in over)
    print(
        f"{len(every)} functions; {len(over)} "
        f"of more than {a.lines} lines or {a.decisions} decisions, {tests} of them tests"
    )


if __name__ == "__main__":
    main()
