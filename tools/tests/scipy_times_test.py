"""SciPy's times beside a report's: the operators that it makes, and input that is refused."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools/ci/scipy_times.py"
PROGRAMS = Path(os.environ["PLUMB_DATASET"]).parent
CASES = [
    "spmv.f32(rows=60,cols=50,pattern=rmat,density=0.1,alpha=1,beta=1,fill=real,seed=5)",
    "spmm.f64(rows=40,cols=30,n=3,pattern=uniform,density=0.1,fill=real,seed=6)",
    "gemv.f32(rows=20,cols=30,alpha=1,beta=0,fill=real,seed=1)",
    "gemm.f64(m=4,n=5,k=6,alpha=1,beta=0,zeros=0,fill=real,seed=2)",
    "log_softmax.f32(rows=7,cols=9,scale=10,special=none,fill=real,seed=3)",
    "transpose.f32(rows=7,cols=9,fill=real,seed=3)",
]

try:
    import scipy.sparse  # noqa: F401
except ModuleNotFoundError:
    scipy = None


def result(case, variant, seconds, library=False):
    times = {"median_s": seconds}
    return {"case": case, "device": "cpu", "variant": variant, "library": library, "warm": times}


class ScipyTimes(unittest.TestCase):
    def run_on(self, text, **environment):
        with tempfile.TemporaryDirectory() as place:
            report = Path(place) / "report.json"
            report.write_text(text)
            words = [sys.executable, SCRIPT, report, PROGRAMS, "--seconds", "0"]
            return subprocess.run(
                words, check=False, capture_output=True, text=True, env=dict(os.environ, **environment)
            )

    @unittest.skipUnless(scipy, "python3-scipy is not installed")
    def test_every_operator_that_scipy_has_gets_a_row_beside_our_fastest(self):
        results = [result(case, "cpu/01", 1e9) for case in CASES]
        results += [result(case, "cpu/02", 1e-9) for case in CASES]  # the fastest: SciPy takes longer
        results += [result(case, "cpu/80", 1e-12, library=True) for case in CASES]
        done = self.run_on(json.dumps({"results": results}))
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line for line in done.stdout.splitlines() if line.startswith("| ")]
        rows = {line.split("|")[1].strip(): line for line in lines}
        self.assertEqual(
            sorted(rows), ["gemm.f64", "gemv.f32", "log_softmax.f32", "operator", "spmm.f64", "spmv.f32"]
        )
        for name in set(rows) - {"operator"}:
            mean = float(rows[name].split("|")[3].strip().rstrip("x"))
            self.assertGreater(mean, 1, rows[name])
            self.assertIn(f"worst of {name}:", done.stdout)

    @unittest.skipUnless(scipy, "python3-scipy is not installed")
    def test_what_is_no_report_ends_with_2_and_names_the_file(self):
        done = self.run_on("{}")
        self.assertEqual(done.returncode, 2)
        self.assertIn("report.json: not a report of bench", done.stderr)

    def test_without_scipy_it_ends_with_2_and_names_the_package(self):
        with tempfile.TemporaryDirectory() as place:
            for name in ("numpy", "scipy"):
                (Path(place) / f"{name}.py").write_text("raise ModuleNotFoundError(name=__name__)\n")
            done = self.run_on("{}", PYTHONPATH=place)
        self.assertEqual(done.returncode, 2)
        self.assertIn("numpy is not installed", done.stderr)
        self.assertIn("apt-get install python3-scipy", done.stderr)


if __name__ == "__main__":
    unittest.main()
