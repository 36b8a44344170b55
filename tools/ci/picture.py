#!/usr/bin/env python3
"""Draws the rooms of the tree from its includes.

    tools/ci/picture.py            writes docs/architecture/rooms.svg and executor.svg (needs graphviz's dot)
    tools/ci/picture.py --check    fails when a stored picture no longer says what the includes say (needs nothing)
    tools/ci/picture.py --list     prints the boxes and arrows

A box is a folder with C++ or CUDA code; tests, fuzzers and templates are left out, and the folders of the operators are
one box. A header that stands in a room itself and that other folders include is a box of its own. An arrow goes from
the folder that includes to the folder that is included. An arrow that a longer path of arrows
implies is left out of the picture. In a circle of folders, the arrows with the fewest includes are red.
Each picture stores its boxes and arrows as text, which --check compares; so another version of dot changes nothing.
"""
import argparse
import collections
import html
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r"\.(hpp|cpp|cu|cuh|h|inc)$")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)
LEFT_OUT = {"tests", "testing", "fuzz", "template", "templates"}

# Folder -> what it holds, for the boxes. A folder that has no words here is drawn with its name alone.
WORDS = {
    "reference/core": "ABI, contracts, formats,\nrandom numbers",
    "reference/arithmetic": "error-free sums,\nbounded values",
    "reference/cases": "ids, spaces of cases,\nfills, patterns",
    "reference/ops": "one contract, oracle and\nbound per operator",
    "reference/cpu": "host variants",
    "reference/cpu/<op>": "host variants",
    "reference/models": "sparse DNN and GCN",
    "datasets": "readers, writers,\ngenerators, fetching",
    "datasets/io": "bytes: files, gzip, tar",
    "datasets/formats": "readers and writers",
    "datasets/generators": "networks, graphs, digits",
    "datasets/remote": "manifest, fetching",
    "gpu/<op>": "CUDA rungs, one ladder\nper operator",
    "gpu/common": "what several ladders share",
    "gpu/models": "sparse DNN and GCN\non a device",
    "gpu/device": "the language of kernels,\nlaunches, memory, streams",
    "gpu/runtime": "the same on a GPU;\ndevice facts, poison, roofs",
    "gpu/simt": "CPU executor: runs CUDA\nkernels, finds races",
    "gpu/plugin": "C interface for kernels\nin a shared library",
    "gpu/simt/language": "CUDA as a kernel sees it",
    "gpu/simt/language/include": "stand-ins for CUDA's headers",
    "gpu/simt/rewrite": "source to source: <<<>>>,\n__shared__, inline PTX",
    "gpu/simt/scheduler": "fibers, warps, barriers, launch",
    "gpu/simt/memory": "allocations, bounds,\ninitialisation",
    "gpu/simt/race": "clocks, checks of accesses, reports",
    "gpu/simt/host": "streams, events, graphs, heap",
    "verify/image": "bytes of one run: layout,\npoison, guards",
    "verify/selection": "options to a list of jobs",
    "verify/engine": "runs one variant on one\nimage, in a child process",
    "verify/judge": "the checks, in order;\nthe words of a verdict",
    "verify/sweep": "jobs x workers, progress",
    "verify/report": "console, JSON, JUnit, CSV,\nHTML, Markdown",
    "verify/bench": "times, roofs, ladders",
    "verify/mutants": "kernels that are wrong\non purpose",
    "verify/cli": "options and lists",
    "verify/simt": "worker for the executor",
    "verify/stress": "worker for --stress",
    "verify": "main()",
    "verify/operators.hpp": "the one list of operators",
    "verify/drawing": "cases drawn from a description",
    "datasets/networks": "finding and loading\nof whole networks",
    "tools/terminal.hpp": "progress, sizes, exit codes",
    "tools": "plumb, infer, dataset,\nbench",
}
NAMES = {"verify": "main.cpp", "tools": "programs"}  # boxes of files of the room itself
FILLS = {"reference": "#e8f1e4", "datasets": "#fdf3d8", "gpu": "#e3eefa", "verify": "#f4e6f3", "tools": "#eeeeee"}
LINES = {"reference": "#4d8a3c", "datasets": "#b98a12", "gpu": "#2f6db5", "verify": "#97489a", "tools": "#6b6b6b"}
WRONG = "#d01c1c"
PICTURES = {"rooms.svg": ("", 2), "executor.svg": ("gpu/simt", 3)}  # file -> folder drawn, depth of its boxes


def tracked():
    return subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")


def included(file, name, files):
    """The tracked file that '#include "name"' of `file` means, or None for a generated or a system header."""
    beside = os.path.normpath(os.path.join(os.path.dirname(file), name))
    return name if name in files else beside if beside in files else None


class Tree:
    """The folders of the tree and the includes between them."""

    def __init__(self, below, depth):
        files = set(tracked())
        code = [f for f in files if CODE.search(f) and not LEFT_OUT & set(f.split("/")) and f.startswith(below)]
        if below:  # the headers of the room itself are its face and its state: they know every part
            code = [f for f in code if f.count("/") > below.count("/") + 1]
        ops = {Path(f).stem for f in files if re.fullmatch(r"reference/ops/\w+\.hpp", f)}
        self.depth, self.ops = depth, ops
        known = set(code)
        includes = [(f, included(f, name, files)) for f in code for name in INCLUDE.findall(self.text(f))]
        includes = [(f, other) for f, other in includes if other in known]
        # a header that stands in the room itself is a box of its own where other folders include it
        self.shared = {o for f, o in includes if self.in_room(o) and o.endswith(".hpp") and self.folder(f) != self.folder(o)}
        self.boxes = {self.box(f) for f in code}
        self.arrows = collections.Counter((self.box(f), self.box(o)) for f, o in includes if self.box(f) != self.box(o))

    @staticmethod
    def text(file):
        return (ROOT / file).read_text(errors="replace") if (ROOT / file).exists() else ""

    def in_room(self, file):
        return file.count("/") < self.depth

    def folder(self, file):
        parts = ["<op>" if p in self.ops else p for p in file.split("/")[:-1]]
        if parts[:3] == ["reference", "cpu", "<op>"]:
            parts = parts[:2]
        stand_ins = parts[self.depth :] and parts[self.depth] == "include" and self.depth > 2  # for programs, on top of all
        return "/".join(parts[: self.depth + bool(stand_ins)])

    def box(self, file):
        return file if file in self.shared else self.folder(file)


def reaches(graph, start, goal, without=None):
    """Whether a path of arrows leads from start to goal, not counting the one arrow `without`."""
    todo, seen = [start], set()
    while todo:
        at = todo.pop()
        for to in graph.get(at, ()):
            if (at, to) == without or to in seen:
                continue
            if to == goal:
                return True
            seen.add(to)
            todo.append(to)
    return False


def sorted_out(arrows):
    """The arrows that a picture shows, and of them the wrong-way ones: (kept, wrong)."""
    graph, wrong = {}, []
    for (a, b), _ in sorted(arrows.items(), key=lambda item: (-item[1], item[0])):
        if reaches(graph, b, a):
            wrong.append((a, b))
        else:
            graph.setdefault(a, set()).add(b)
    kept = [(a, b) for a in graph for b in graph[a] if not reaches(graph, a, b, without=(a, b))]
    return sorted(kept), sorted(wrong)


def facts(tree):
    kept, wrong = sorted_out(tree.arrows)
    lines = [f"box {b}" for b in sorted(tree.boxes)]
    lines += [f"arrow {a} to {b}" for a, b in kept] + [f"wrong-way arrow {a} to {b}" for a, b in wrong]
    return lines


def label(box, below):
    name = box[len(below):].lstrip("/") or box
    if not below and "/" in box:
        name = box.split("/", 1)[1]
    if box == below or ("/" not in box and not below):
        name = NAMES.get(box, name)
    words = html.escape(WORDS.get(box, "")).replace("\n", "<br/>")
    rows = f'<b>{html.escape(name)}</b>'
    if words:
        rows += f'<br/><font point-size="11" color="#444444">{words}</font>'
    return f"<{rows}>"


def dot_source(tree, below):
    kept, wrong = sorted_out(tree.arrows)
    out = ["digraph rooms {", "rankdir=TB; nodesep=0.28; ranksep=0.55; splines=true; pad=0.2; newrank=true;",
           'bgcolor="white"; fontname="Helvetica";',
           'node [shape=box style="rounded,filled" fillcolor=white fontname="Helvetica" fontsize=14 margin="0.13,0.07"];',
           "edge [arrowsize=0.75 penwidth=1.3];"]
    rooms = collections.defaultdict(list)
    for box in sorted(tree.boxes):
        rooms[box.split("/")[0]].append(box)
    for room, boxes in sorted(rooms.items()):
        line, fill = LINES.get(room, "#6b6b6b"), FILLS.get(room, "#eeeeee")
        if not below:
            out.append(f'subgraph "cluster_{room}" {{ label=<<b>{room}/</b>>; labeljust=l; fontsize=20; fontcolor="{line}";'
                       f' style="rounded,filled"; fillcolor="{fill}"; color="{line}"; margin=12;')
        out += [f'"{b}" [label={label(b, below)} color="{line}"];' for b in boxes]
        if not below:
            out.append("}")
    out += [f'"{a}" -> "{b}" [color="{LINES.get(a.split("/")[0], "#6b6b6b")}"];' for a, b in kept]
    out += [f'"{a}" -> "{b}" [color="{WRONG}" penwidth=2 constraint=false];' for a, b in wrong]
    return "\n".join(out + ["}"])


def centred(svg):
    """Text of a box about the box's middle: dot places it by font widths that a reader's fonts need not have."""
    def one(node):
        xs = [float(x) for x in re.findall(r"(-?[\d.]+),-?[\d.]+", re.search(r'<path[^>]* d="([^"]+)"', node[0])[1])]
        middle = (min(xs) + max(xs)) / 2
        return re.sub(r'text-anchor="start" x="[^"]+"', f'text-anchor="middle" x="{middle:.2f}"', node[0])
    return re.sub(r'<g id="node\d+" class="node">.*?</g>', one, svg, flags=re.S)


def draw(tree, below):
    svg = subprocess.run(["dot", "-Tsvg"], input=dot_source(tree, below), capture_output=True, text=True, check=True).stdout
    svg = re.sub(r"<!--.*?-->\n?", "", svg, flags=re.S)  # dot's comments name its version
    svg = re.sub(r"<!DOCTYPE.*?>\n", "", svg, flags=re.S)
    svg = svg.replace("Helvetica,sans-Serif", "Helvetica,Arial,sans-serif")
    stored = html.escape("\n".join(facts(tree)))
    return centred(svg).replace("</svg>", f"<metadata>\n{stored}\n</metadata>\n</svg>")


def stored_facts(path):
    found = re.search(r"<metadata>\n(.*?)\n</metadata>", path.read_text(), re.S) if path.exists() else None
    return html.unescape(found[1]).split("\n") if found else []


def check(path, tree):
    now, then = facts(tree), stored_facts(path)
    if now == then:
        return True
    print(f"{path.relative_to(ROOT)} is out of date: run tools/ci/picture.py and commit what it writes", file=sys.stderr)
    for line in sorted(set(now) ^ set(then)):
        print(f"  {'new' if line in now else 'gone'}: {line}", file=sys.stderr)
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare the stored pictures with the includes")
    parser.add_argument("--list", action="store_true", help="print boxes and arrows")
    options = parser.parse_args()
    fresh = True
    for file, (below, depth) in PICTURES.items():
        tree = Tree(below, depth)
        path = ROOT / "docs/architecture" / file
        if options.list:
            print(file, *facts(tree), sep="\n")
        elif options.check:
            fresh = check(path, tree) and fresh
        else:
            path.write_text(draw(tree, below))
            print(f"wrote {path.relative_to(ROOT)}")
    if options.check and fresh:
        print("pictures: both say what the includes say")
    return 0 if fresh else 1


if __name__ == "__main__":
    sys.exit(main())
