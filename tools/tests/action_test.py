"""What tools/action/report.py makes of reports: annotations at lines of the project, and SARIF."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Report(unittest.TestCase):
    script = ROOT / "tools/action/report.py"

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.project = Path(scratch.name)
        kernels = self.project / "kernels"
        kernels.mkdir()
        (kernels / "01_mine.cpp").write_text('// spmv\n\nconst Register<Spmv> r{"01_mine", run};\n')
        (kernels / "02_rows.cu").write_text("\n" * 20)

    def reported(self, records, *more):
        path = self.project / "cpu.json"
        lines = [{"plumbline": "1.2.3"}, *records, {"passed": 1}]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        words = [self.script, "kernels", "out.sarif", path.name, *more]
        environment = {**os.environ, "GITHUB_WORKSPACE": str(self.project)}
        got = subprocess.run(
            [sys.executable, "-B", *words],
            cwd=self.project,
            env=environment,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        return got.stdout.splitlines(), json.loads((self.project / "out.sarif").read_text())["runs"][0]

    @staticmethod
    def record(variant, verdict, case="spmv.f32(rows=1)", reason="y[0]: got 1, want 2", **more):
        return {
            "variant": variant,
            "verdict": verdict,
            "case": case,
            "reason": reason,
            "repro": "again",
            **more,
        }

    def test_failures_of_one_kind_are_one_annotation_where_the_variant_is_named(self):
        said, run = self.reported(
            [self.record("user/01_mine", "fail"), self.record("user/01_mine", "fail", "other")]
        )
        self.assertEqual(len(said), 1)
        self.assertRegex(
            said[0], r"^::error file=kernels/01_mine\.cpp,line=3,title=user/01_mine%3A fail::y\[0\]"
        )
        self.assertIn("and 1 more case", said[0])
        self.assertEqual(run["tool"]["driver"]["version"], "1.2.3")
        self.assertEqual(run["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"], 3)

    def test_the_smallest_case_is_shown(self):
        records = [self.record("user/01_mine", "fail", f"case{n}", elements=n) for n in (300, 2, 7)]
        said, _ = self.reported(records)
        self.assertIn("case: case2%0A", said[0])

    def test_a_finding_is_at_the_line_of_the_project_that_it_names(self):
        places = (
            f"race\n  at /elsewhere/shim.hpp:7\n  and {self.project}/kernels/02_rows.cu:12, block (0,0,0)"
        )
        said, _ = self.reported([self.record("user/02_rows (simt)", "race", detail=[places])])
        self.assertIn("file=kernels/02_rows.cu,line=12,", said[0])

    def test_a_line_of_plumbline_checked_out_beside_the_project_is_not_the_projects(self):
        tree = self.project / ".plumbline"
        self.script = tree / "tools/action/report.py"
        self.script.parent.mkdir(parents=True)
        shutil.copy(Report.script, self.script)
        (tree / "shim.hpp").write_text("\n" * 9)
        places = f"race\n  at {tree}/shim.hpp:7\n  and {self.project}/kernels/02_rows.cu:12, block (0,0,0)"
        said, _ = self.reported([self.record("user/02_rows (simt)", "race", detail=[places])])
        self.assertIn("file=kernels/02_rows.cu,line=12,", said[0])

    def test_passes_marginal_ones_and_skips_are_not_told(self):
        said, run = self.reported(
            [self.record("user/01_mine", word) for word in ("pass", "marginal", "skip")]
        )
        self.assertEqual((said, run["results"]), ([], []))

    def test_findings_of_programs_are_annotated(self):
        where = {"artifactLocation": {"uri": f"file://{self.project}/main.cu"}, "region": {"startLine": 9}}
        result = {"ruleId": "race", "message": {"text": "50%"}, "locations": [{"physicalLocation": where}]}
        (self.project / "main.sarif").write_text(json.dumps({"runs": [{"results": [result]}]}))
        said, _ = self.reported([], "main.sarif")
        self.assertEqual(said, ["::error file=main.cu,line=9,title=race::50%25"])


if __name__ == "__main__":
    unittest.main()
