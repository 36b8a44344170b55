"""pytest: @plumbline.cases, and the options of the plug-in that pyproject.toml registers."""

from __future__ import annotations

import json
import os
import pathlib
import random
import subprocess
from collections.abc import Callable
from typing import Any

from plumbline import _by_value, _declare, _judge, _library
from plumbline._errors import PlumblineError
from plumbline._report import Report

ATTRIBUTE = "plumb_cases"


class Case:
    """One case of an operator, as a test gets it. str(case) is its id."""

    def __init__(self, identity: str, device: str | None = None, folder: str | None = None) -> None:
        self.id, self.device, self.folder = identity, device, folder

    def skip(self, reason: str) -> None:
        """Says that the case does not run; does not return."""
        import pytest

        pytest.skip(reason)

    def __str__(self) -> str:
        return self.id

    def __repr__(self) -> str:
        return f"Case({self.id!r})"

    @property
    def op(self) -> str:
        return self.id.split(".")[0]

    def judge(self, kernel: Any, **choice: Any) -> Report:
        """Judges a variant, or a function, on this case. AssertionError: it failed. Under pytest a case that does not run is skipped."""
        given = (kernel,) if not callable(kernel) or hasattr(kernel, "op") else (self.op, kernel)
        choice.setdefault("device", self.device)
        if len(given) == 2 and "storage" not in choice:
            choice["storage"] = self.id.split("(")[0].split(".", 1)[1]
        report = _judge.judge(*given, cases=self.id, **choice)
        if self.folder:
            _save(report, pathlib.Path(self.folder))
        if not report.failures and not report.passed:
            self.skip("; ".join(sorted({r.reason for r in report.skipped})) or report.text.strip())
        return report.raise_if_failed()


def _save(report: Report, folder: pathlib.Path) -> None:
    """Records to records.jsonl, which several processes add lines to; pages of failures to files of their own."""
    text = "".join(json.dumps(r.facts) + "\n" for r in report.records)
    descriptor = os.open(folder / "records.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
    for record in report.failures:
        name = "".join(c if c.isalnum() or c in "._-" else "_" for c in f"{record.variant}_{record.case}")[
            :180
        ]
        (folder / f"{name}.html").write_text(report.to_html(), encoding="utf-8")


def cases(
    op: str,
    *,
    tier: str = "smoke",
    drawn: int = 0,
    seed: int | str | None = None,
    listed: bool = True,
    storage: str = "f32",
    fills: str | None = None,
) -> Callable[[Any], Any]:
    """A test for every case of an operator: the test takes `case` and calls case.judge(kernel). Ids of tests are ids of cases.

    `op` may be a glob over ids, as "spmv.f32(rows=1..100)"; drawn=N takes N cases that nobody listed. The options --plumb-seed and
    --plumb-device of pytest take the place of `seed` and of the device; --plumb-report=DIR keeps records and pages of failures.
    """

    def mark(test: Any) -> Any:
        setattr(
            test,
            ATTRIBUTE,
            {
                "op": op,
                "tier": tier,
                "drawn": drawn,
                "seed": seed,
                "listed": listed,
                "storage": storage,
                "fills": fills,
            },
        )
        return test

    return mark


def case_ids(
    op: str, *, tier: str, drawn: int, seed: int | str | None, listed: bool, storage: str, fills: str | None
) -> list[str]:
    """The ids that verify would judge, in its order. PlumblineError: there are none."""
    glob, name = op if "." in op else f"{op}.{storage}*", op.split(".", maxsplit=1)[0]
    _library.signature(name)
    probe = _by_value.write(_declare.make(name, _probe, storage=storage))
    words = [
        _library.program("verify"),
        "--dry-run",
        "--python",
        probe,
        "--variant",
        "user/_probe",
        "--case",
        glob,
        "--tier",
        tier,
    ]
    words += ["--drawn", str(drawn)] if drawn else []
    words += ["--seed", str(seed)] if seed is not None else []
    words += ["--fill", fills] if fills else []
    words += ["--listed"] if listed else []
    done = subprocess.run(words, env=_judge.environment(), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PlumblineError((done.stderr or done.stdout).strip().removeprefix("error: "))
    return [line.split("  ")[0] for line in done.stdout.splitlines() if line.endswith("user/_probe")]


def _probe(*arguments: Any) -> None:
    """Is judged nowhere: it makes verify list its cases."""


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("plumbline", "kernels judged by plumbline")
    group.addoption(
        "--plumb-seed", default=None, help="a number or 'fresh': the seed of drawn cases and of data"
    )
    group.addoption(
        "--plumb-device",
        default=None,
        choices=["cpu", "cuda", "simt"],
        help="where kernels run (default: as they are declared)",
    )
    group.addoption(
        "--plumb-report", default=None, metavar="DIR", help="a folder for records.jsonl and pages of failures"
    )


def pytest_configure(config: Any) -> None:
    """'fresh' is drawn once: processes of pytest-xdist have to collect the same tests. UsageError: an option's value is none."""
    import pytest

    given = getattr(config, "workerinput", {}).get("plumb_seed", config.getoption("--plumb-seed"))
    config.plumb_seed = str(random.SystemRandom().randrange(1, 1 << 32)) if given == "fresh" else given
    if config.plumb_seed is not None and not config.plumb_seed.isdecimal():
        raise pytest.UsageError(f"--plumb-seed={given}: a number or 'fresh'")
    if folder := config.getoption("--plumb-report"):
        try:
            pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise pytest.UsageError(f"--plumb-report={folder}: {error.strerror}") from None


def pytest_report_header(config: Any) -> str | None:
    return f"plumbline: --plumb-seed={config.plumb_seed}" if config.plumb_seed else None


class _Xdist:
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["plumb_seed"] = node.config.plumb_seed


def pytest_plugin_registered(plugin: Any, manager: Any) -> None:
    """Hooks of pytest-xdist are known once it is there."""
    if (
        manager.hasplugin("xdist")
        and not manager.hasplugin("plumb-xdist")
        and hasattr(manager.hook, "pytest_configure_node")
    ):
        manager.register(_Xdist(), "plumb-xdist")


def pytest_generate_tests(metafunc: Any) -> None:
    import pytest

    choice = getattr(metafunc.function, ATTRIBUTE, None)
    if choice is None:
        return
    config = metafunc.config
    if config.plumb_seed is not None:
        choice = {**choice, "seed": config.plumb_seed}
    try:
        ids = case_ids(**choice)
    except PlumblineError as error:
        raise pytest.Collector.CollectError(f"{metafunc.definition.nodeid}: {error}") from None
    folder = config.getoption("--plumb-report")
    made = [Case(i, config.getoption("--plumb-device"), folder) for i in ids]
    metafunc.parametrize("case", made, ids=ids)
