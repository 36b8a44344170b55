"""tools/fit: the model that is fitted is found again from its own times, what is chosen by it is rated, and
the files that are written are what the GPU side reads."""

import json
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from fit import __main__ as fit  # noqa: E402

costs, model, regret = fit.costs, fit.model, fit.regret  # the last two: None without scipy
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
    """A report of bench of two candidates, whose times are LATENCY's and BYTES', preparations' too. None
    of the others fits."""
    r, results = random.Random(seed), []
    for i in range(cases):
        for kind in costs.TYPES:
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
            for c in range(2, fit.candidates_of(op)[kind]):
                case = {"case": f"{op}.{kind}({i})", "op": op, "dtype": kind}
                results.append({**case, "variant": f"user/c{c:02}", "verdict": "unsupported"})
    return {
        "command": f"/somewhere/bench --case {op} --json /somewhere/out.json",
        "machine": {"device": "a chip"},
        "results": results,
    }


def times_by(truth, terms, weight=1.0):
    return [(t, float(model.predict(truth, t)), weight) for t in terms]


@needs_scipy
class Model(unittest.TestCase):
    def test_is_the_sum_and_the_norm(self):
        terms = [1, 2, 3, 4, 0, 0, 0, 0]
        self.assertAlmostEqual(model.predict((2, [10, 5, 1, 1, 1, 1, 1, 1]), terms), 10 + 10 + 5)
        self.assertEqual(list(model.predict((2, [10, 5, 1, 1, 1, 1, 1, 1]), [terms, [0] * 8])), [25, 0])
        self.assertAlmostEqual(model.predict((1, [10, 5, 1, 1, 1, 1, 1, 1]), terms), 10 + 10 + 7)
        self.assertAlmostEqual(sum(model.parts_of([1] * 8, 4, terms)), model.predict((4, [1] * 8), terms))

    def test_is_found_again_from_its_own_times_without_a_prior(self):
        r = random.Random(1)
        cases = times_by(LATENCY, [terms_of(r) for _ in range(80)])
        (found,) = model.fit([None], [cases], 0.01)
        for terms, time, _ in cases:
            self.assertLess(abs(model.predict(found, terms) / time - 1), 0.05)

    def test_a_cost_of_which_the_cases_say_nothing_stays_that_of_the_prior(self):
        r = random.Random(2)
        few = times_by(LATENCY, [[*terms_of(r)[:7], 0.0] for _ in range(10)])
        (found,) = model.fit([(2.0, [3.0, 2.0, 0.5, 0.01, 0.1, 0.2, 0.02, 7.0])], [few], 0.01)
        self.assertAlmostEqual(found[1][7], 7.0)
        self.assertNotAlmostEqual(found[1][0], 7.0)

    def test_few_cases_move_a_model_less_the_stronger_the_ridge(self):
        r = random.Random(3)
        dear = (2.0, [c * 3 for c in LATENCY[1]])
        one, many = times_by(dear, [terms_of(r)]), times_by(LATENCY, [terms_of(r) for _ in range(60)])
        terms = one[0][0]
        moved = [model.fit([LATENCY, LATENCY], [one, many], s)[0] for s in (None, 10, 0.001)]
        far = [float(model.predict(m, terms) / model.predict(LATENCY, terms)) for m in moved]
        self.assertLess(far[0], 1.2)  # the other candidate's cases hold what is common
        self.assertLess(far[0], far[1])
        self.assertLess(far[1], far[2])
        self.assertGreater(far[2], 2.5)

    def test_what_all_candidates_share_is_scaled_by_the_cases_of_all(self):
        r = random.Random(4)
        slower = [(p, [c * 2 for c in costs]) for p, costs in (LATENCY, BYTES)]
        rows = [times_by(slower[0], [terms_of(r) for _ in range(60)]), []]
        found = model.fit([LATENCY, BYTES], rows, None)
        for terms in (terms_of(r) for _ in range(9)):
            ratio = model.predict(found[1], terms) / model.predict(BYTES, terms)
            self.assertTrue(1.8 < ratio < 2.2, ratio)  # BYTES itself was never timed

    def test_a_new_candidate_begins_with_the_mean_of_the_others(self):
        priors = [LATENCY, None, None]
        terms = terms_of(random.Random(5))
        found = model.fit(priors, [times_by(LATENCY, [terms]), times_by(LATENCY, [terms]), []], 1)
        for cost, truth in zip(found[1][1], LATENCY[1]):
            self.assertAlmostEqual(cost, truth, delta=1e-3 * truth)
        self.assertIsNone(found[2])  # no prior and no case: never chosen

    def test_of_no_case_at_all_the_prior_is_left(self):
        self.assertEqual(model.fit([LATENCY, None], [[], []], 0.1), [LATENCY, None])


@needs_scipy
class Choice(unittest.TestCase):
    def test_regret_is_what_the_choice_costs(self):
        cheap, dear = [1.0] * 8, [2.0] * 8
        same = (1.0, [1.0] * 8)
        self.assertEqual(regret.regret_of([same, same], {0: (cheap, 5.0), 1: (dear, 8.0)}), 0)
        self.assertAlmostEqual(regret.regret_of([same, same], {0: (dear, 5.0), 1: (cheap, 8.0)}), 0.6)
        self.assertIsNone(regret.regret_of([None], {0: (cheap, 5.0)}))

    def test_of_few_uses_the_preparation_counts_of_many_it_does_not(self):
        same = (1.0, [1.0] * 8)
        quick, slow, nothing, much = [0.5] * 8, [1.0] * 8, [0.01] * 8, [2.0] * 8
        models, times = [same, same], {0: (quick, 4.0), 1: (slow, 8.0)}
        before = {0: (much, 16.0), 1: (nothing, 0.0)}
        self.assertEqual(regret.regret_of(models, times), 0)
        self.assertEqual(regret.regret_of(models, times, (models, before, 1)), 0)  # 8 beside 4 + 16
        self.assertEqual(regret.regret_of(models, times, (models, before, 8)), 0)  # 4 + 2 beside 8
        dear = {0: (nothing, 40.0), 1: (nothing, 0.0)}  # that its model does not know of
        self.assertEqual(regret.regret_of(models, times, (models, dear, 10)), 0)  # 4 + 4 beside 8
        self.assertEqual(regret.regret_of(models, times, (models, dear, 1)), 44 / 8 - 1)

    def test_times_far_from_the_best_count_less(self):
        rows = regret.rows_of([{0: ([1.0], 4.0), 1: ([1.0], 2.0)}], 0)
        self.assertEqual(rows, [([1.0], 4.0, 0.25)])

    def test_candidates_that_do_not_fit_have_no_times(self):
        report = report_of(1, 1)
        report["results"][0]["chosen"] = "unfit 0 0 0 0 0 0 0 0"
        self.assertEqual(list(fit.times_of(report, "gemm", "f32")["gemm.f32(0)"]), [1])

    def cases_by(self, truths, count, seed):
        r = random.Random(seed)
        drawn = [[terms_of(r) for _ in truths] for _ in range(count)]
        return [
            {c: (of[c], float(model.predict(truth, of[c]))) for c, truth in enumerate(truths)} for of in drawn
        ]

    def test_the_strength_is_what_cases_held_out_say(self):
        self.assertIsNone(regret.strength_of([LATENCY, BYTES], self.cases_by([LATENCY, BYTES], 15, 6)))
        swapped = self.cases_by([BYTES, LATENCY], 40, 7)  # the prior has them the wrong way round
        self.assertEqual(regret.strength_of([LATENCY, BYTES], swapped), regret.STRENGTHS[0])

    def test_no_case_is_rated_by_models_that_saw_it(self):
        seen = []
        cases = self.cases_by([LATENCY, BYTES], 7, 8)
        whole = [i > 0 for i in range(7)]
        found = regret.held_out(lambda some: seen.append(some) or [LATENCY, BYTES], cases, whole)
        self.assertEqual(len(found[0]), 6)
        self.assertEqual(sum(len(some) for some in seen), 7 * (regret.FOLDS - 1))
        for case in cases:
            self.assertEqual(sum(case in some for some in seen), regret.FOLDS - 1)


class Files(unittest.TestCase):
    def setUp(self):
        if regret:  # fewer fits
            for name, value in (("FOLDS", 3), ("STRENGTHS", (0.1, None))):
                less = mock.patch.object(regret, name, value)
                less.start()
                self.addCleanup(less.stop)

    def run_fit(self, *words):
        return subprocess.run(
            [str(ROOT / "tools" / "plumb"), "fit", *words], capture_output=True, text=True, check=False
        )

    def prior(self, place, op, models):
        """Costs of `models`, over and over, for as many candidates as each type has."""
        tables = costs.TABLES if fit.prepares(op) else costs.TABLES[:1]
        path = Path(place) / "prior.hpp"
        of_kinds = {
            kind: dict.fromkeys(tables, (models * count)[:count])
            for kind, count in fit.candidates_of(op).items()
        }
        path.write_text(costs.written("any", [], of_kinds))
        return path

    @needs_scipy
    def test_costs_of_a_report_choose_well_and_say_where_they_are_from(self):
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "run.json"
            path.write_text(json.dumps(report_of(12, 3)))
            prior = self.prior(place, "gemm", [None])
            text = fit.fit_reports("gemm", [path], Path(place) / "costs.hpp", prior).read_text()
        self.assertIn("Measured on a chip", text)
        self.assertNotIn("/somewhere", text)
        never = sum(count - 2 for count in fit.candidates_of("gemm").values())
        self.assertEqual(text.count("{1e9,"), never)  # never timed: never chosen
        for kind in costs.TYPES:
            self.assertRegex(
                text, rf"{kind}: 12 drawn cases, .*; regret of the 12 whole ones, held out: median 0.0 %"
            )

    @needs_scipy
    def test_a_case_that_a_limit_cut_short_is_not_rated(self):
        report = report_of(12, 3)
        cut = ("gemm.f32(0)", "gemm.f32(1)")
        first = [r for r in report["results"] if r["case"] in cut and r["variant"] == "user/c00"]
        report["results"] = first + [r for r in report["results"] if r["case"] not in cut]
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "run.json"
            path.write_text(json.dumps(report))
            prior = self.prior(place, "gemm", [LATENCY])
            text = fit.fit_reports("gemm", [path], Path(place) / "costs.hpp", prior).read_text()
        self.assertRegex(text, "f32: 12 drawn cases, .*; regret of the 10 whole ones")
        self.assertRegex(text, "f64: 12 drawn cases, .*; regret of the 12 whole ones")

    @needs_scipy
    def test_costs_that_were_there_hold_what_a_report_does_not_time(self):
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "run.json"
            path.write_text(json.dumps(report_of(10, 3)))
            prior = self.prior(place, "gemm", [LATENCY])
            fit.fit_reports("gemm", [path], Path(place) / "costs.hpp", prior)
            found = costs.read(Path(place) / "costs.hpp", fit.candidates_of("gemm"), model.TERMS)
        self.assertTrue(all(found["f32"]["model"]))
        self.assertNotEqual(found["f32"]["model"][1], found["f32"]["model"][2])
        self.assertEqual(found["f32"]["model"][2], found["f32"]["model"][3])

    @needs_scipy
    def test_one_type_alone_leaves_the_costs_of_the_other(self):
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "run.json"
            path.write_text(json.dumps(report_of(10, 3)))
            prior = self.prior(place, "gemm", [LATENCY])
            text = fit.fit_reports("gemm", [path], Path(place) / "costs.hpp", prior, "f32").read_text()
            found = costs.read(Path(place) / "costs.hpp", fit.candidates_of("gemm"), model.TERMS)
        self.assertNotEqual(found["f32"]["model"][1], LATENCY)
        self.assertEqual(found["f64"]["model"], [LATENCY] * fit.candidates_of("gemm")["f64"])
        self.assertIn("f64: costs fitted before", text)

    def test_costs_are_read_as_they_are_written_and_of_nothing_else(self):
        models = [LATENCY, None]
        tables = {kind: {"model": models, "preparation": models[::-1]} for kind in costs.TYPES}
        text = costs.written("somewhere", ["// a head"], tables)
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "costs.hpp"
            path.write_text(text)
            self.assertEqual(costs.read(path, dict.fromkeys(costs.TYPES, 2), 8), tables)
            for wrong, said in (
                (text.replace("0.05}", "0.05, 1}"), "costs.hpp:15: .* is not a sharpness and 8 costs"),
                (text.replace("0.05}", "x}"), "costs.hpp:15: .* is not a sharpness and 8 costs"),
                (text, "2 costs of f32, model; there are 3 candidates"),
                (text.replace("Costs<double>", "Costs<half>"), "0 costs of f64, no table"),
            ):
                path.write_text(wrong)
                with self.assertRaisesRegex(costs.Unreadable, said):
                    costs.read(path, dict.fromkeys(costs.TYPES, 3 if wrong is text else 2), 8)

    def test_the_costs_of_every_ladder_can_be_a_prior(self):
        for op in fit.operators():
            found = costs.read(ROOT / "gpu" / op / "costs.hpp", fit.candidates_of(op), 8)
            tables = list(costs.TABLES if fit.prepares(op) else costs.TABLES[:1])
            self.assertEqual([list(found[kind]) for kind in costs.TYPES], [tables] * 2, op)

    @needs_scipy
    def test_a_prior_that_is_none_is_refused(self):
        with tempfile.TemporaryDirectory() as place:
            path, prior = Path(place) / "run.json", Path(place) / "costs.hpp"
            path.write_text(json.dumps(report_of(10, 3)))
            for text, said in (("no costs\n", "0 costs of f32"), (None, "No such file")):
                if text:
                    prior.write_text(text)
                else:
                    prior.unlink()
                done = self.run_fit("gemm", "--from", str(path), "--prior", str(prior))
                self.assertEqual(done.returncode, 2)
                self.assertIn(said, done.stderr)
                self.assertIn("costs.hpp", done.stderr)

    def test_costs_lie_where_the_candidates_of_their_ladder_look(self):
        for op in fit.operators():
            text = costs.written(fit.namespace_of(op), [], {})
            now = (ROOT / "gpu" / op / "costs.hpp").read_text()
            self.assertEqual(namespaces(text), namespaces(now), op)

    @needs_scipy
    def test_preparations_have_costs_and_a_regret_where_candidates_have_them(self):
        for op, tables in (("spmv", 2), ("gemm", 0)):
            with tempfile.TemporaryDirectory() as place:
                path = Path(place) / "run.json"
                path.write_text(json.dumps(report_of(5, 3, op)))
                prior = self.prior(place, op, [LATENCY])
                text = fit.fit_reports(op, [path], Path(place) / "costs.hpp", prior).read_text()
            self.assertEqual(text.count("CostModel preparation[]"), tables)
            self.assertEqual(text.count("of 1000 uses"), tables)

    @needs_scipy
    def test_runs_on_one_chip_are_joined(self):
        with tempfile.TemporaryDirectory() as place:
            paths = [Path(place) / "a.json", Path(place) / "b.json"]
            for i, path in enumerate(paths):
                path.write_text(json.dumps(report_of(6, 3 + i)))
            prior = self.prior(place, "gemm", [LATENCY, BYTES])
            text = fit.fit_reports("gemm", paths, Path(place) / "costs.hpp", prior).read_text()
            self.assertIn("f32: 12 drawn cases", text)
            other = report_of(6, 5)
            other["machine"]["device"] = "another chip"
            paths[1].write_text(json.dumps(other))
            done = self.run_fit("gemm", "--from", *map(str, paths))
        self.assertEqual(done.returncode, 2)
        self.assertIn("b.json: measured on another chip", done.stderr)

    def test_every_adaptive_ladder_has_as_many_names_and_costs_as_candidates(self):
        for op in fit.operators():
            counts = fit.candidates_of(op).values()
            costs = (ROOT / "gpu" / op / "costs.hpp").read_text()
            self.assertEqual(costs.count("      {"), (2 if fit.prepares(op) else 1) * sum(counts), op)
            with tempfile.TemporaryDirectory() as place:
                fit.write_folder(op, Path(place))
                self.assertEqual(len(list(Path(place).glob("c*.cu"))), max(counts))
                self.assertEqual((Path(place) / "c00.cu").read_text().count("const Register<"), sum(counts))

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
