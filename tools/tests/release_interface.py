"""What the programs of a release show to scripts, as docs/contributing/versions.md names it: options, exit
codes, verdict words, names of host variants, keys and columns of reports.

    tools/tests/release_interface.py BIN >tools/tests/releases/VERSION/interface.json"""

import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

PROGRAMS = ("verify", "bench", "infer", "dataset")
CASE = "gemv.f32(rows=5,cols=7,fill=exact,seed=1)"
ONE = ["--case", CASE, "--variant", "cpu/01_serial"]
# Commands whose exit codes depend on no machine; 1 is that of a plug-in's wrong kernel, judged elsewhere.
ENDS = (
    ["verify", *ONE],
    ["verify", "--case", CASE, "--variant", "cpu/no_such"],
    ["verify", "--no-such-option"],
    ["verify", "--case", "no_such"],
    ["bench", "--case", CASE, "--variant", "cpu/01_serial", "--dry-run"],
    ["bench", "--case", "no_such"],
    ["infer", "gcn", "--no-such-option"],
    ["dataset", "list"],
    ["dataset", "info", "/no/such/file"],
)
JSON = {
    "bench": ["bench", *ONE, "--warm", "--samples", "20", "--budget", "0.05"],
    "infer sdnn": ["infer", "sdnn", "--inputs", "20", "--layers", "2"],
    "infer gcn": ["infer", "gcn"],
}
# Parts of JSON whose keys are facts of a machine or a run.
FACTS = ("machine",)


def ran(words):
    words = [str(word) for word in words]
    nowhere = {
        "PLUMB_DATA": "/nonexistent",
        "PLUMB_CACHE": "/nonexistent",
    }  # data is generated, the same everywhere
    return subprocess.run(words, check=False, capture_output=True, text=True, env={**os.environ, **nowhere})


def options(place):
    """{"infer sdnn": ["--layers", ...]}"""
    found = {}
    for program in PROGRAMS:
        for line in ran([place / program, "--option-table"]).stdout.splitlines():
            kind, name = line.split("\t")[:2]
            if kind == "command":
                command = found.setdefault(name, [])
            else:
                command += [word for word in name.split(",") if word.startswith("-")]
    return found


def keys(value, before=""):
    """The paths of a JSON value: "results[].case"."""
    found = set()
    if isinstance(value, list):
        found = {key for item in value for key in keys(item, before + "[]")}
    elif isinstance(value, dict):
        for name, item in value.items():
            path = f"{before}.{name}" if before else name
            found |= {path} | (set() if name in FACTS else keys(item, path))
    return found


def reports(place):
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        ran([place / "verify", *ONE, "--junit", folder / "junit", "--csv", folder / "csv"])
        for name, (program, *words) in JSON.items():
            ran([place / program, *words, "--json", folder / name])
        elements = xml.parse(folder / "junit").getroot().iter()
        return {
            "csv columns": (folder / "csv").read_text().splitlines()[0].split(","),
            "junit": sorted({f"{e.tag} {name}" for e in elements for name in e.attrib}),
            **{name: sorted(keys(json.loads((folder / name).read_text()))) for name in JSON},
        }


def variants(place):
    """ "gemv cpu/01_serial"."""
    text = ran([place / "verify", "--list", "variants"]).stdout
    return sorted({" ".join(pair) for pair in re.findall(r"^\s*(\S+) +(cpu/\S+)", text, re.M)})


def interface(place):
    return {
        "options": options(place),
        "exit codes": {" ".join(words): ran([place / words[0], *words[1:]]).returncode for words in ENDS},
        "reports": reports(place),
        "variants": variants(place),
    }


if __name__ == "__main__":
    print(json.dumps(interface(Path(sys.argv[1])), indent=1, sort_keys=True))
