#!/usr/bin/env python3
"""What a forge shows of `plumb verify --json` and `plumb simt --sarif`: annotations of GitHub on stdout, one
for each variant, verdict and place, and one for each finding; and a SARIF file of the former.

    tools/action/report.py KERNELS OUT.sarif FILE...     KERNELS: what --extra had; FILE: .json, .sarif"""

import json
import os
import re
import sys
from collections import namedtuple
from pathlib import Path

GOOD = ("pass", "marginal", "skip")
PLACE = re.compile(r"((?:/|\./|\w)[^\s:'\"]*\.(?:cu|cuh|cpp|hpp|c|h|py)):(\d+)")
Failure = namedtuple("Failure", "variant verdict file line records")
TREE = Path(os.path.abspath(__file__)).parents[2]


def in_project(path, project):
    """The path below the project's folder; None where it is elsewhere, or a file of Plumbline's own there."""
    path, project = Path(os.path.abspath(path)), Path(os.path.abspath(project))
    if not path.is_relative_to(project) or (project != TREE and path.is_relative_to(TREE)):
        return None
    return str(path.relative_to(project))


def file_of(variant, kernels):
    """Where a variant user/NAME stands: the line that names it in the file NAME.cpp, or NAME.cu."""
    name, _, device = variant.removeprefix("user/").partition(" ")
    for ending in (".cu", ".cpp") if device else (".cpp", ".cu"):
        path = Path(kernels) / (name + ending)
        if path.is_file():
            lines = path.read_text(errors="replace").splitlines()
            return str(path), next((i for i, line in enumerate(lines, 1) if f'"{name}"' in line), 1)
    return kernels, 1


def place_of(record, kernels, project):
    """The first line of the project that the record's texts name; else where the variant stands."""
    for text in (record.get("reason", ""), *record.get("detail", [])):
        for path, line in PLACE.findall(text):
            own = in_project(path, project)
            if own and os.path.isfile(os.path.join(project, own)):
                return own, int(line)
    path, line = file_of(record["variant"], kernels)
    return in_project(path, project) or path, line


def failures(paths, kernels, project):
    groups = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            records = [json.loads(line) for line in file]
        for record in records:
            if "verdict" not in record or record["verdict"] in GOOD:
                continue
            key = (record["variant"], record["verdict"], *place_of(record, kernels, project))
            groups.setdefault(key, []).append(record)
    return [Failure(*key, records) for key, records in groups.items()]


def message(failure):
    first = min(failure.records, key=lambda record: record.get("elements", float("inf")))  # the smallest
    others = len(failure.records) - 1
    more = f"\nand {others} more case{'s' if others > 1 else ''}" if others else ""
    return f"{first['reason']}\ncase: {first['case']}\nrepro: {first['repro']}{more}"


def escaped(text, more=""):
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def annotation(file, line, title, text):
    where = f"file={escaped(file, ':,')},line={line},title={escaped(title, ':,')}"
    return f"::error {where}::{escaped(text)}"


def findings(path, project):
    """(file, line, title, text) of the results of a SARIF file."""
    with open(path, encoding="utf-8") as file:
        runs = json.load(file)["runs"]
    for result in (result for run in runs for result in run["results"]):
        place = result["locations"][0]["physicalLocation"]
        file = place["artifactLocation"]["uri"].removeprefix("file://")
        line = place.get("region", {}).get("startLine", 1)
        yield in_project(file, project) or file, line, result["ruleId"], result["message"]["text"]


def sarif(found, version):
    results = []
    for failure in found:
        region = {"artifactLocation": {"uri": failure.file}, "region": {"startLine": failure.line}}
        text = f"{failure.variant}: {message(failure)}"
        results.append(
            {
                "ruleId": failure.verdict,
                "level": "error",
                "message": {"text": text},
                "locations": [{"physicalLocation": region}],
            }
        )
    rules = [{"id": verdict} for verdict in sorted({failure.verdict for failure in found})]
    driver = {"name": "plumbline", "version": version, "rules": rules}
    run = {"tool": {"driver": driver}, "results": results}
    return {"version": "2.1.0", "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "runs": [run]}


def main():
    kernels, out, *paths = sys.argv[1:]
    project = os.environ.get("GITHUB_WORKSPACE", os.getcwd())
    for path in (path for path in paths if path.endswith(".sarif")):
        for finding in findings(path, project):
            print(annotation(*finding))
    reports = [path for path in paths if path.endswith(".json")]
    if not reports:
        return
    found = failures(reports, kernels, project)
    for failure in found:
        title = f"{failure.variant}: {failure.verdict}"
        print(annotation(failure.file, failure.line, title, message(failure)))
    with open(reports[0], encoding="utf-8") as file:
        version = json.loads(file.readline())["plumbline"]
    with open(out, "w", encoding="utf-8") as file:
        json.dump(sarif(found, version), file, indent=1)


if __name__ == "__main__":
    main()
