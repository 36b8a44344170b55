"""tools/fit: the model that is fitted is found again from its own times, what is chosen by it is rated, and
the files that are written are what the GPU side reads."""

import json
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from fit import __main__ as fit  # noqa: E402

model = fit.model  # None without scipy
needs_scipy = unittest.skipUnless(model, "python3-scipy is not installed")

LATENCY = (2.0, [3.0, 2.0, 0.5, 0.01, 0.1, 0.2, 0.02, 0.05])  # slow chains, cheap bytes
BYTES = (2.0, [5.0, 2.0, 0.1, 0.01, 0.4, 0.2, 0.02, 0.05])


def namespaces(text):
    return [line for line in text.splitlines() if line.startswith("namespace ")]


def terms_of(r):
    return [1.0, float(r.randrange(2))] + [10 ** r.uniform(0, 3) for _ in range(6)]


def said(terms):
    return " ".join(f"{t:.9g}" for t in terms)


def report_of(cases, seed, op="gemm"):
    """A report of bench of two candidates, whose times are LATENCY's and BYTES', their preparations' too."""
    r, results = random.Random(seed), []
    for i in range(cases):
        for kind in fit.TYPES:
            for c, truth in enumerate((LATENCY, BYTES)):
                terms = terms_of(r)
                results.append(
                    {
                        "case": f"{op}.{kind}({i})",
                        "op": op,
                        "dtype": kind,
                        "variant": f"user/c{c:02}",
                        "chosen": f"terms {said(terms)} prepare {said(terms[::-1])}",
                        "prepare_s": 1e-6 * model.predict(truth, terms[::-1]),
                        "warm": {"median_s": 1e-6 * model.predict(truth, terms)},
                    }
                )
    return {
        "command": f"/somewhere/bench --case {op} --json /somewhere/out.json",
        "machine": {"device": "a chip"},
        "results": results,
    }


@needs_scipy
class Model(unittest.TestCase):
    def test_is_the_sum_and_the_norm(self):
        terms = [1, 2, 3, 4, 0, 0, 0, 0]
        self.assertAlmostEqual(model.predict((2, [10, 5, 1, 1, 1, 1, 1, 1]), terms), 10 + 10 + 5)
        self.assertEqual(list(model.predict((2, [10, 5, 1, 1, 1, 1, 1, 1]), [terms, [0] * 8])), [25, 0])
        self.assertAlmostEqual(model.predict((1, [10, 5, 1, 1, 1, 1, 1, 1]), terms), 10 + 10 + 7)
        self.assertAlmostEqual(sum(model.parts_of([1] * 8, 4, terms)), model.predict((4, [1] * 8), terms))

    def test_is_found_again_from_its_own_times(self):
        r = random.Random(1)
        cases = [(t, model.predict(LATENCY, t), 1.0) for t in (terms_of(r) for _ in range(80))]
        found = model.fit(cases, model.fit_together(cases))
        for terms, time, _ in cases:
            self.assertLess(abs(model.predict(found, terms) / time - 1), 0.05)

    def test_a_cost_of_which_the_cases_say_nothing_stays_that_of_all(self):
        r = random.Random(2)
        every = [(t, model.predict(LATENCY, t), 1.0) for t in (terms_of(r) for _ in range(40))]
        common = model.fit_together(every)
        few = [([*t[:7], 0.0], model.predict(LATENCY, [*t[:7], 0.0]), 1.0) for t, _, _ in every[:10]]
        self.assertAlmostEqual(model.fit(few, common)[1][7], common[1][7])


@needs_scipy
class Choice(unittest.TestCase):
    def test_regret_is_what_the_choice_costs(self):
        cheap, dear = [1.0] * 8, [2.0] * 8
        same = (1.0, [1.0] * 8, [2.0] * 8)
        self.assertEqual(fit.regret_of({0: same, 1: same}, {0: (cheap, 5.0), 1: (dear, 8.0)}), 0)
        self.assertAlmostEqual(fit.regret_of({0: same, 1: same}, {0: (dear, 5.0), 1: (cheap, 8.0)}), 0.6)
        self.assertIsNone(fit.regret_of({}, {0: (cheap, 5.0)}))

    def test_of_few_uses_the_preparation_counts_of_many_it_does_not(self):
        same = (1.0, [1.0] * 8, [2.0] * 8)
        quick, slow, nothing, much = [0.5] * 8, [1.0] * 8, [0.01] * 8, [2.0] * 8
        models, times = {0: same, 1: same}, {0: (quick, 4.0), 1: (slow, 8.0)}
        before = {0: (much, 16.0), 1: (nothing, 0.0)}
        self.assertEqual(fit.regret_of(models, times), 0)
        self.assertEqual(fit.regret_of(models, times, (models, before, 1)), 0)  # 8 beside 4 + 16
        self.assertEqual(fit.regret_of(models, times, (models, before, 8)), 0)  # 4 + 2 beside 8
        dear = {0: (nothing, 40.0), 1: (nothing, 0.0)}  # that its model does not know of
        self.assertEqual(fit.regret_of(models, times, (models, dear, 10)), 0)  # 4 + 4 beside 8
        self.assertEqual(fit.regret_of(models, times, (models, dear, 1)), 44 / 8 - 1)

    def test_a_model_is_doubted_far_beyond_its_cases(self):
        small, large = (1.0, [0.2] * 8, [1.0] * 8), (1.0, [1.0] * 8, [9.0] * 8)
        times = {0: ([5.0] * 8, 90.0), 1: ([5.0] * 8, 40.0)}
        self.assertEqual(fit.regret_of({0: small, 1: large}, times), 0)
        self.assertAlmostEqual(fit.regret_of({0: (*small[:2], [2.5] * 8), 1: large}, times), 1.25)
        # a time of a hundredth is believed all the same
        cheap = (1.0, [0.01] * 8, [1.0] * 8)
        self.assertEqual(fit.regret_of({0: cheap, 1: large}, {0: ([5.0] * 8, 4.0), 1: ([5.0] * 8, 40.0)}), 0)
        self.assertEqual([model.doubt(far, 1) for far in (1, 2, 4, float("inf"))], [1, 1, 4, float("inf")])
        self.assertEqual(model.doubt(float("inf"), float("inf")), 1)
        self.assertEqual(model.beyond([1.0, 0.0], [3.0, 0.0]), 3)
        self.assertEqual(model.beyond([1.0, 0.0], [3.0, 1.0]), float("inf"))

    def test_times_far_from_the_best_count_less(self):
        rows = fit.rows_of([{0: ([1.0], 4.0), 1: ([1.0], 2.0)}], 0)
        self.assertEqual(rows, [([1.0], 4.0, 0.25)])

    def test_candidates_that_do_not_fit_have_no_times(self):
        report = report_of(1, 1)
        report["results"][0]["chosen"] = "unfit 0 0 0 0 0 0 0 0"
        self.assertEqual(list(fit.times_of(report, "gemm", "f32")["gemm.f32(0)"]), [1])


class Files(unittest.TestCase):
    def run_fit(self, *words):
        return subprocess.run(
            [str(ROOT / "tools" / "plumb"), "fit", *words], capture_output=True, text=True, check=False
        )

    @needs_scipy
    def test_costs_of_a_report_choose_well_and_say_where_they_are_from(self):
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "run.json"
            path.write_text(json.dumps(report_of(30, 3)))
            text = fit.fit_reports("gemm", [path], Path(place) / "costs.hpp").read_text()
        self.assertIn("Measured on a chip", text)
        self.assertNotIn("/somewhere", text)
        self.assertEqual(text.count("{1e9,") // 2, fit.candidates_of("gemm") - 2)  # never timed: never chosen
        for kind in fit.TYPES:
            self.assertRegex(text, rf"{kind}: 30 drawn cases; regret of those held out: median 0.0 %")

    def test_costs_lie_where_the_candidates_of_their_ladder_look(self):
        for op in fit.operators():
            text = fit.header(op, "a chip", ["bench"], [])
            now = (ROOT / "gpu" / op / "costs.hpp").read_text()
            self.assertEqual(namespaces(text), namespaces(now), op)

    @needs_scipy
    def test_preparations_have_costs_and_a_regret_where_candidates_have_them(self):
        for op, tables in (("spmv", 2), ("gemm", 0)):
            with tempfile.TemporaryDirectory() as place:
                path = Path(place) / "run.json"
                path.write_text(json.dumps(report_of(10, 3, op)))
                text = fit.fit_reports(op, [path], Path(place) / "costs.hpp").read_text()
            self.assertEqual(text.count("CostModel preparation[]"), tables)
            self.assertEqual(text.count("of 1000 uses"), tables)

    @needs_scipy
    def test_runs_on_one_chip_are_joined(self):
        with tempfile.TemporaryDirectory() as place:
            paths = [Path(place) / "a.json", Path(place) / "b.json"]
            for i, path in enumerate(paths):
                path.write_text(json.dumps(report_of(15, 3 + i)))
            text = fit.fit_reports("gemm", paths, Path(place) / "costs.hpp").read_text()
            self.assertIn("f32: 30 drawn cases", text)
            other = report_of(15, 5)
            other["machine"]["device"] = "another chip"
            paths[1].write_text(json.dumps(other))
            done = self.run_fit("gemm", "--from", *map(str, paths))
        self.assertEqual(done.returncode, 2)
        self.assertIn("b.json: measured on another chip", done.stderr)

    def test_every_adaptive_ladder_has_as_many_names_and_costs_as_candidates(self):
        for op in fit.operators():
            count = fit.candidates_of(op)
            costs = (ROOT / "gpu" / op / "costs.hpp").read_text()
            self.assertEqual(costs.count("      {"), (4 if fit.prepares(op) else 2) * count, op)
            with tempfile.TemporaryDirectory() as place:
                self.assertEqual(self.run_fit(op, "--folder", place).returncode, 0)
                self.assertEqual(len(list(Path(place).glob("c*.cu"))), count)
                self.assertEqual((Path(place) / "c00.cu").read_text().count("const Register<"), 2 * count)

    def test_without_scipy_only_the_candidates_are_written_and_the_package_is_named(self):
        with tempfile.TemporaryDirectory() as place:
            (Path(place) / "scipy.py").write_text("raise ModuleNotFoundError(name='scipy')\n")
            words = [sys.executable, "-m", "fit", "gemm"]
            ends = {}
            for option, value in (("--from", "run.json"), ("--folder", place)):
                paths = {"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{place}:{ROOT / 'tools'}"}
                ends[option] = subprocess.run(
                    [*words, option, value], capture_output=True, text=True, check=False, env=paths
                )
        self.assertEqual(ends["--folder"].returncode, 0)
        self.assertEqual(ends["--from"].returncode, 2)
        self.assertIn("apt-get install python3-scipy", ends["--from"].stderr)

    @needs_scipy
    def test_a_report_without_times_is_refused(self):
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "run.json"
            path.write_text(json.dumps(report_of(2, 1)))
            done = self.run_fit("gemm", "--from", str(path))
        self.assertEqual(done.returncode, 2)
        self.assertIn("error: ", done.stderr)
        self.assertIn("2 cases of gemm.f32", done.stderr)


if __name__ == "__main__":
    unittest.main()
