#!/usr/bin/env python3
"""Draws docs/results/scaling.md: times that `infer --dry-run` predicts for 1 to 64 GPUs beside measured ones.

    tools/ci/scaling.py FOLDER_WITH_PROGRAMS [SCRATCH]

Measured times are read from the tables of docs/results/networks.md, section "Several GPUs", the only place
where they stand.
Generates the same inputs (6 GiB in SCRATCH or build/scaling; those of the sparse DNN from MNIST, which
$PLUMB_DATA must have: drawn digits keep fewer inputs active), and writes the page's tables and plot.
"""
import json
import math
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/results/scaling.md"
PLOT = ROOT / "docs/results/plots/scaling.svg"
CHIP = "H100"  # of the measured times, where a row names no other
GPUS = 64
GRAPH = ["--scale", "20", "--edge-factor", "28", "--features", "128", "--classes", "32"]


def measured():
    """{network: {GPUs: seconds}} of the rows "| network | T ms | T ms |" of the section, for 1, 2 and perhaps
    4 GPUs. A network is "4096", a GCN's "128-64-32, dense X", or either after its chip: "H200: 4096"."""
    section = (ROOT / "docs/results/networks.md").read_text().split("## Several GPUs")[1].split("\n## ")[0]
    time = r" \| ([\d.]+) ms"
    rows = re.findall(rf"^\| ((?:H\d+: )?\d[^|]*?){time}{time}(?:{time})? \|", section, re.MULTILINE)
    return {name: {n: float(ms) / 1e3 for n, ms in zip((1, 2, 4), of) if ms} for name, *of in rows}


def apart(network):
    """(chip, what it is without the chip)."""
    chip, _, rest = network.rpartition(": ")
    return chip or CHIP, rest


def words_of(network, programs, scratch):
    """What infer is to run: "4096" neurons, or a GCN's "128-64-32, dense X"."""
    if network.isdigit():
        return ["sdnn", "--neurons", network, "--layers", "120"]
    widths, features = network.split(", ")
    hidden = widths.split("-")[1]
    folder = scratch / f"rmat{hidden}"
    if not folder.exists():
        subprocess.run([programs / "dataset", "generate", "gcn", *GRAPH, "--hidden", hidden, "-o", folder],
                       check=True)
    form = "dense" if features == "dense X" else "sparse"
    return ["gcn", "--data", folder, "--features-as", form]


def predicted(network, programs, scratch):
    """{GPUs: what `infer --dry-run` predicts}."""
    chip, rest = apart(network)
    words = words_of(rest, programs, scratch)
    out = scratch / "needs.json"
    subprocess.run([programs / "infer", *words, "--dry-run", "--ranks", str(GPUS), "--chip", chip,
                    "--json", out], check=True, stdout=subprocess.DEVNULL)
    return {p["gpus"]: p for p in json.loads(out.read_text())["predicted"]}


def name_of(network):
    chip, rest = apart(network)
    name = f"sparse DNN, {rest} neurons" if rest.isdigit() else f"GCN, {rest}"
    return name if chip == CHIP else f"{name}, {chip}"


def show(seconds):
    return f"{1e3 * seconds:.3g} ms"


def table(curves, times):
    counts = sorted(next(iter(curves.values())))
    yield "| network | " + " | ".join(f"{n} GPU{'s' if n > 1 else ''}" for n in counts) + " |"
    yield "|---" * (len(counts) + 1) + "|"
    for network, curve in curves.items():
        cells = []
        for n in counts:
            cell = show(curve[n]["seconds"])
            if n in times[network]:
                real = times[network][n]
                cell += f" (measured {show(real)}: {100 * (curve[n]['seconds'] / real - 1):+.1f} %)"
            cells.append(cell)
        yield f"| {name_of(network)} | " + " | ".join(cells) + " |"
    yield ""
    yield f"Of the time on {counts[-1]} GPUs:"
    yield ""
    yield "| network | launches | computation | load balance | exchange | speed beside one GPU |"
    yield "|---|---|---|---|---|---|"
    for network, curve in curves.items():
        one, last = curve[1], curve[counts[-1]]
        yield (f"| {name_of(network)} | {show(last['launch_seconds'])} | {show(last['compute_seconds'])} | "
               f"{last['load_balance']:.3f} | {show(last['exchange_seconds'])} | "
               f"{one['seconds'] / last['seconds']:.3g} times |")


class Plot:
    """Speed beside one GPU, both axes in powers of two."""
    WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 800, 420, 60, 270, 44, 50
    COLOURS = ("#2f81f7", "#b58105", "#2da44e", "#cf222e", "#8250df", "#57606a", "#0a9396", "#e85d9e",
               "#7f5539")

    def __init__(self):
        self.out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.WIDTH} {self.HEIGHT}" '
                    f'width="{self.WIDTH}" height="{self.HEIGHT}"><style>'
                    ".t{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#24292f}"
                    ".g{stroke:#8b949e;stroke-opacity:.35}"
                    "@media(prefers-color-scheme:dark){.t{fill:#e6edf3}}</style>"]

    def x(self, gpus):
        return self.LEFT + math.log2(gpus) / math.log2(GPUS) * (self.WIDTH - self.LEFT - self.RIGHT)

    def y(self, speed):
        low = self.HEIGHT - self.BOTTOM
        return low - math.log2(speed) / math.log2(GPUS) * (low - self.TOP)

    def text(self, x, y, words, anchor="start"):
        self.out.append(f'<text class="t" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>')

    def frame(self):
        self.text(self.LEFT, 20, "speed beside one GPU: lines predicted, dots measured")
        for power in range(int(math.log2(GPUS)) + 1):
            n = 1 << power
            self.out.append(f'<path class="g" d="M{self.x(n):.1f} {self.y(1):.1f}V{self.y(GPUS):.1f}'
                            f'M{self.x(1):.1f} {self.y(n):.1f}H{self.x(GPUS):.1f}"/>')
            self.text(self.x(n), self.y(1) + 18, n, "middle")
            self.text(self.x(1) - 8, self.y(n) + 4, f"{n}x", "end")
        below = f"GPUs ({CHIP} where no other is named)"
        self.text(0.5 * (self.x(1) + self.x(GPUS)), self.HEIGHT - 10, below, "middle")

    def curves(self, curves, times):
        for place, (network, curve) in enumerate(curves.items()):
            colour = self.COLOURS[place % len(self.COLOURS)]
            points = " ".join(f"{self.x(n):.1f},{self.y(max(1, curve[1]['seconds'] / p['seconds'])):.1f}"
                              for n, p in sorted(curve.items()))
            self.out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
            real = times[network]
            for n in (n for n in real if n > 1):
                self.out.append(f'<circle cx="{self.x(n):.1f}" cy="{self.y(real[1] / real[n]):.1f}" r="3" '
                                f'fill="{colour}"><title>{name_of(network)}</title></circle>')
            at = self.TOP + 20 * place
            self.out.append(f'<path stroke="{colour}" stroke-width="3" '
                            f'd="M{self.x(GPUS) + 14:.1f} {at}h14"/>')
            self.text(self.x(GPUS) + 34, at + 4, name_of(network))

    def svg(self):
        return "\n".join(self.out) + "\n</svg>\n"


def main():
    programs = Path(sys.argv[1]).resolve()
    scratch = Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "build/scaling").resolve()
    scratch.mkdir(parents=True, exist_ok=True)
    times = measured()
    curves = {n: predicted(n, programs, scratch) for n in times}
    begin, end = "<!-- scaling.py: begin -->\n", "<!-- scaling.py: end -->"
    page = PAGE.read_text()
    before, rest = page.split(begin)
    drawn = "\n".join(table(curves, times))
    PAGE.write_text(f"{before}{begin}\n{drawn}\n\n{end}{rest.split(end)[1]}")
    plot = Plot()
    plot.frame()
    plot.curves(curves, times)
    PLOT.write_text(plot.svg())


if __name__ == "__main__":
    main()
