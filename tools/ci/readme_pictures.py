#!/usr/bin/env python3
"""Draws the README's pictures into docs/pictures.

    tools/ci/readme_pictures.py            draws verdict.svg and speed.svg
    tools/ci/readme_pictures.py --check    fails where a stored picture differs from what is drawn now

verdict.svg: the kernel of row_sums.cu, which lacks a barrier; what tools/plumb simt says of it, and of the mended
kernel. speed.svg: the first table of docs/results/gpu.md.
Exit 0: drawn, or equal; 1: a picture differs, or a run did not end as expected.
"""

import html
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs/pictures"
SOURCE = PICTURES / "row_sums.cu"
LOOP = "    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];\n"
WIDTH, LINE, CHARACTER, MARGIN = 100, 19, 8.1, 16
COLOURS = {
    "plain": "#c9d1d9",
    "dim": "#8b949e",
    "prompt": "#79c0ff",
    "bad": "#ff7b72",
    "good": "#7ee787",
    "code": "#d2a8ff",
}


def simt(text, folder):
    """The exit code and the words of a run of the program `text`, as a terminal shows them."""
    path = Path(folder, "row_sums.cu")
    path.write_text(text)
    done = subprocess.run([ROOT / "tools/plumb", "simt", path], capture_output=True, text=True, check=False)
    said = [line for line in done.stderr.splitlines() if not line.startswith("plumb: ")]
    return done.returncode, [*done.stdout.splitlines(), *(line.replace(f"{folder}/", "") for line in said)]


def terminal_lines():
    """[(colour, text)]: the kernel, its finding, and the mended kernel's run."""
    text = SOURCE.read_text()
    with tempfile.TemporaryDirectory() as folder:
        racy, racy_words = simt(text, folder)
        fixed, fixed_words = simt(text.replace(LOOP, LOOP + "    __syncthreads();\n"), folder)
    if (racy, fixed) != (1, 0):
        sys.exit(
            f"readme_pictures.py: the kernel ended with exit code {racy}, the mended one with {fixed}; expected 1 and 0"
        )
    source = text.splitlines()
    first = next(n for n, line in enumerate(source) if "for (int half" in line)
    lines = [("prompt", f"$ sed -n '{first + 1},{first + 3}p' row_sums.cu")]
    lines += [("code", line) for line in source[first : first + 3]]
    lines += [("prompt", "$ tools/plumb simt row_sums.cu; echo exit code $?")]
    lines += [
        ("bad" if "race in" in line else "dim" if line.startswith("  ") else "plain", line)
        for line in racy_words
    ]
    lines += [("plain", "exit code 1"), ("plain", "")]
    lines += [
        (
            "prompt",
            "$ sed -i '12a __syncthreads();' row_sums.cu && tools/plumb simt row_sums.cu; echo exit code $?",
        )
    ]
    return lines + [("good", line) for line in [*fixed_words, "exit code 0"]]


def wrapped(lines):
    for colour, text in lines:
        indent = "      " if text.startswith("  ") else "    "
        while len(text) > WIDTH:
            cut = text.rfind(" ", 0, WIDTH)
            yield colour, text[:cut]
            text = indent + text[cut + 1 :]
        yield colour, text


def terminal(lines):
    lines = list(wrapped(lines))
    width, height = round(WIDTH * CHARACTER + 2 * MARGIN), len(lines) * LINE + 2 * MARGIN
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="monospace" font-size="13.5">',
        f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>',
    ]
    for number, (colour, text) in enumerate(lines):
        y = MARGIN + LINE * number + 14
        out.append(
            f'<text x="{MARGIN}" y="{y}" fill="{COLOURS[colour]}" xml:space="preserve">{html.escape(text)}</text>'
        )
    return "\n".join([*out, "</svg>", ""])


def speeds():
    """[(operator, fp32, fp64)] of the first table of gpu.md: the geometric means on the H200."""
    out = []
    for line in (ROOT / "docs/results/gpu.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 6 and re.fullmatch(r"[\d, ]+", cells[3]) and re.match(r"[\d.]+x", cells[4]):
            out.append((cells[1], *(float(re.match(r"[\d.]+", cells[n])[0]) for n in (4, 5))))
    return out


def plot(rows):
    """Bars of speed beside the vendor's best; longer than six times is cut and written."""
    left, unit, step = 120, 90, 44
    width, height = left + 6 * unit + 120, 60 + step * len(rows)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>',
        '<text x="12" y="22" fill="#24292f">Speed beside the vendor\'s best, NVIDIA H200, geometric mean of drawn cases'
        " (dark: fp32, light: fp64)</text>",
    ]
    for number, (name, *values) in enumerate(rows):
        y = 40 + step * number
        out.append(f'<text x="12" y="{y + 21}" fill="#24292f">{name}</text>')
        for place, (value, colour) in enumerate(zip(values, ("#1f6feb", "#79c0ff"))):
            length, top = min(value, 6) * unit, y + 17 * place
            out.append(f'<rect x="{left}" y="{top}" width="{length:.0f}" height="14" fill="{colour}"/>')
            out.append(
                f'<text x="{left + length + 6:.0f}" y="{top + 12}" fill="#24292f">{value:g}x{" (bar cut)" if value > 6 else ""}</text>'
            )
    out.append(
        f'<line x1="{left + unit}" y1="34" x2="{left + unit}" y2="{height - 14}" stroke="#cf222e" stroke-dasharray="4 3"/>'
    )
    return "\n".join([*out, "</svg>", ""])


def main():
    pictures = {"verdict.svg": terminal(terminal_lines()), "speed.svg": plot(speeds())}
    if "--check" not in sys.argv:
        for name, text in pictures.items():
            (PICTURES / name).write_text(text)
        return 0
    stale = [name for name, text in pictures.items() if (PICTURES / name).read_text() != text]
    for name in stale:
        print(f"docs/pictures/{name} is stale: tools/ci/readme_pictures.py draws it anew")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
