"""What the judge said: a Report of Records, read from the judge's own files."""

from __future__ import annotations

import dataclasses
import html
import json
import pathlib
import re
from typing import Any

PASSED = ("pass", "marginal")
NOT_RUN = ("skip", "unsupported")


@dataclasses.dataclass(frozen=True)
class Record:
    """One variant on one case."""

    case: str  # its id
    variant: str  # "user/mine"
    verdict: str  # "pass", "fail", "out_of_bounds", ... (plumb verify --explain WORD)
    reason: str  # one line; empty where it passed
    detail: tuple[str, ...]
    repro: str  # a command that judges this alone
    facts: dict[str, Any] = dataclasses.field(repr=False)  # all that the judge's JSON holds

    @property
    def passed(self) -> bool:
        return self.verdict in PASSED

    @property
    def place(self) -> tuple[str, int] | None:
        """The (file, line) of the kernel's source that the CPU executor names; None where there is none."""
        found = re.search(r"^ +at (\S.*?):(\d+)[ ,]", "\n".join(self.detail), re.M)
        return (found.group(1), int(found.group(2))) if found else None

    @property
    def failed(self) -> bool:
        return self.verdict not in PASSED + NOT_RUN

    def __str__(self) -> str:
        lines = [f"{self.verdict}: {self.variant} {self.case}"]
        told = self.reason in "\n".join(self.detail)  # what a process has printed does not tell why its run failed
        lines += [f"  {line}" for line in (*(() if told else (self.reason,)), *self.detail) if line]
        return "\n".join([*lines, f"  repro: {self.repro}"])


@dataclasses.dataclass(frozen=True)
class Report:
    """All records of one judgement. `passed` says that all that ran passed, and that something ran."""

    records: tuple[Record, ...]
    complete: bool  # False: the judge was interrupted, or had nothing to judge
    exit_code: int  # of verify
    text: str  # what it printed
    files: dict[str, str] = dataclasses.field(repr=False)  # "json", "junit", "html", "markdown": the reports

    @property
    def passed(self) -> bool:
        return self.complete and not self.failures and any(r.passed for r in self.records)

    @property
    def failures(self) -> tuple[Record, ...]:
        return tuple(r for r in self.records if r.failed)

    @property
    def skipped(self) -> tuple[Record, ...]:
        """What did not run: a case that the function does not support, a device that is not there. The reason says why."""
        return tuple(r for r in self.records if r.verdict in NOT_RUN)

    @property
    def smallest(self) -> tuple[str, ...]:
        """Of drawn cases: per variant that failed a line with the smallest case on which it fails alike, and one with its repro."""
        lines = self.text.splitlines()
        return tuple(
            line
            for i, at in enumerate(lines)
            if at.startswith("smallest case on which ")
            for line in lines[i : i + 2]
        )

    def raise_if_failed(self) -> Report:
        """Returns itself where it passed. AssertionError: something failed, or nothing ran."""
        if self.passed:
            return self
        raise AssertionError(str(self))

    def to_json(self) -> str:
        """One JSON object a line: the judge, every record, the totals."""
        return self.files["json"]

    def to_junit(self) -> str:
        return self.files["junit"]

    def to_html(self) -> str:
        return self.files["html"]

    def to_markdown(self) -> str:
        return self.files["markdown"]

    def to_sarif(self) -> str:
        """SARIF 2.1.0: one result a failure, with the line of the kernel where the CPU executor names one."""
        results = [_sarif(r) for r in self.failures]
        rules = [{"id": word} for word in sorted({r.verdict for r in self.failures})]
        run = {"tool": {"driver": {"name": "plumbline", "rules": rules}}, "results": results}
        return json.dumps({"version": "2.1.0", "runs": [run]}, indent=1)

    def save(self, path: str | pathlib.Path) -> None:
        """Writes the report in the form that the file's ending names: .json, .xml, .html, .md, .sarif. ValueError: another ending."""
        forms = {
            ".json": self.to_json,
            ".xml": self.to_junit,
            ".html": self.to_html,
            ".md": self.to_markdown,
            ".sarif": self.to_sarif,
        }
        ending = pathlib.Path(path).suffix
        if ending not in forms:
            raise ValueError(f"{path}: the ending is one of {', '.join(forms)}")
        pathlib.Path(path).write_text(forms[ending](), encoding="utf-8")

    def _totals(self) -> str:
        passed = sum(r.passed for r in self.records)
        runs = sum(int(r.facts.get("runs", 0)) for r in self.records)
        line = f"plumbline: {passed} passed, {len(self.failures)} failed, {len(self.skipped)} not run ({runs} runs)"
        return line if self.complete or not self.records else line + "; the judge was interrupted"

    def __str__(self) -> str:
        shown = self.failures[:5]
        lines = [str(r) for r in shown]
        if len(self.failures) > len(shown):
            lines.append(f"... and {len(self.failures) - len(shown)} more failures")
        lines += self.smallest
        if not self.passed and not self.failures:
            lines += sorted({f"{r.verdict}: {r.reason}" for r in self.skipped}) or [self.text.strip()]
        return "\n".join([*lines, self._totals()])

    def _repr_html_(self) -> str:
        """For notebooks: the totals, and a row per failure."""
        rows = "".join(
            f"<tr><td>{html.escape(r.verdict)}</td><td><code>{html.escape(r.case)}</code></td><td>{html.escape(r.reason)}</td></tr>"
            for r in self.failures[:20]
        )
        colour = "green" if self.passed else "red"
        table = f"<table><tr><th>verdict</th><th>case</th><th>reason</th></tr>{rows}</table>" if rows else ""
        return f'<div><b style="color:{colour}">{html.escape(self._totals())}</b>{table}</div>'


def _sarif(r: Record) -> dict[str, Any]:
    made: dict[str, Any] = {
        "ruleId": r.verdict,
        "level": "error",
        "message": {"text": f"{r.variant} {r.case}: {r.reason}\n{r.repro}"},
        "partialFingerprints": {"record": f"{r.variant} {r.case}"},
    }
    if r.place is not None:
        file, line = r.place
        made["locations"] = [
            {"physicalLocation": {"artifactLocation": {"uri": file}, "region": {"startLine": line}}}
        ]
    return made


def read(folder: pathlib.Path, exit_code: int, text: str) -> Report:
    """From the files that verify has written into `folder`."""
    files = {p.stem: p.read_text(encoding="utf-8") for p in folder.iterdir() if p.is_file()}
    lines = [json.loads(line) for line in files.get("json", "").splitlines() if line]
    records = tuple(
        Record(
            r["case"],
            r["variant"],
            r["verdict"],
            r.get("reason", ""),
            tuple(r.get("detail", ())),
            r.get("repro", ""),
            r,
        )
        for r in lines
        if "case" in r and "verdict" in r
    )
    complete = any(r.get("complete") for r in lines)
    return Report(records, complete, exit_code, text, files)
