"""The command line on a file of Python."""

import json
import re
import subprocess
import sys

import plumbline as pl


def plumb(*words):
    command = [sys.executable, "-m", "plumbline", *words]
    return subprocess.run(command, env=pl._judge.environment(), capture_output=True, text=True, check=False)


def test_the_version_is_that_of_the_tree():
    done = plumb("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"plumbline \d+\.\d+\.\d+", done.stdout.splitlines()[0])


def test_verify_judges_a_file_of_python(kernels, tmp_path):
    done = plumb(
        "verify",
        "--python",
        kernels,
        "--variant",
        "user/transpose",
        "--listed",
        "--json",
        str(tmp_path / "r.json"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    records = [json.loads(line) for line in (tmp_path / "r.json").read_text().splitlines()]
    assert {r["dtype"] for r in records if "dtype" in r} == {"f32", "f64"}


def test_a_failure_prints_a_command_that_repeats_it(kernels):
    words = [
        "verify",
        "--python",
        kernels,
        "--variant",
        "user/leaves_some",
        "--case",
        "transpose.f32(rows=1..40,cols=1..40)",
        "--listed",
    ]
    done = plumb(*words, "--fail-fast")
    assert done.returncode == 1
    repro = next(line for line in done.stdout.splitlines() if "repro: " in line).split("repro: ")[1]
    again = subprocess.run(
        repro, shell=True, env=pl._judge.environment(), capture_output=True, text=True, check=False
    )
    assert again.returncode == 1 and "never written" in again.stdout


def test_the_command_of_a_failure_keeps_the_path_of_the_interpreter(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", f"/somewhere:{pl._library.PACKAGE.parent}")
    monkeypatch.setattr(pl._judge, "_is_installed", lambda: False)
    monkeypatch.setattr(pl._judge.shutil, "which", lambda _: None)
    assert f"PYTHONPATH={pl._library.PACKAGE.parent}:/somewhere " in pl._judge.command()


def test_bad_input_is_exit_code_2(tmp_path):
    for words, part in (
        (("verify", "--python", str(tmp_path / "none.py")), "none.py: no such file"),
        (("verify", "--python", "no_such_module"), "No module named"),
        (("verify", "--python", str(tmp_path / "none.py"), "--device", "simt"), "none.py"),
        (("judge",), "unknown command 'judge'"),
    ):
        done = plumb(*words)
        assert done.returncode == 2 and done.stderr.startswith("error: ") and part in done.stderr, done.stderr


def test_without_the_package_the_interpreter_says_so(kernels, tmp_path):
    environment = {**pl._judge.environment(), "PYTHONPATH": "", "PLUMB_PYTHON": "/usr/bin/false"}
    done = subprocess.run(
        [pl._library.program("verify"), "--python", kernels],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and "opening the plug-in failed" in done.stderr
