"""What docs/contributing/versions.md promises, on what earlier releases left: tools/tests/releases/VERSION
has a plug-in that was built for that release (plugin.c, plugin.x86_64.so), and its report (verify.json).
PLUMB_VERIFY: the program of today."""

import json
import math
import os
import platform
import subprocess
import tempfile
import unittest
from pathlib import Path

RELEASES = Path(__file__).resolve().parent / "releases"
VERIFY = os.environ["PLUMB_VERIFY"]
# Fills whose data a later release draws otherwise, which its change log says.
REDRAWN = {"0.2.0": ("fill=hostile", "fill=scaled")}


def records(text):
    lines = [json.loads(line) for line in text.splitlines()]
    return lines[0], {(line["case"], line["variant"]): line for line in lines[1:-1]}, lines[-1]


def judged(folder):
    """Today's report on the release's plug-in and cases."""
    before = records((folder / "verify.json").read_text())[1]
    with tempfile.TemporaryDirectory() as scratch:
        cases, report = Path(scratch, "cases"), Path(scratch, "report")
        cases.write_text("".join(case + "\n" for case in dict.fromkeys(case for case, _ in before)))
        plugin = folder / f"plugin.{platform.machine()}.so"
        words = ["--plugin", plugin, "--case", f"@{cases}", "--json", report, "--quiet", "--device", "cpu"]
        subprocess.run([VERIFY, *words], check=False, stdout=subprocess.DEVNULL)
        return records(report.read_text())


@unittest.skipUnless(platform.machine() == "x86_64", "the plug-ins are for x86_64")
class Releases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folders = sorted(path for path in RELEASES.iterdir() if path.is_dir())
        cls.releases = [
            (folder.name, records((folder / "verify.json").read_text()), judged(folder)) for folder in folders
        ]

    def each(self):
        self.assertGreater(len(self.releases), 0)
        for name, before, now in self.releases:
            for key, record in before[1].items():
                self.assertIn(
                    key, now[1], f"release {name}: a case id is no longer read and printed as it was"
                )
                yield f"release {name}, {key}", record, now[1][key]

    @staticmethod
    def redrawn(what):
        return any(f"release {name}," in what and fill in what for name in REDRAWN for fill in REDRAWN[name])

    def test_case_ids_are_read_and_kernels_of_plugins_get_the_verdicts_that_they_had(self):
        for what, record, now in self.each():
            self.assertEqual(now["verdict"], record["verdict"], what)

    def test_cases_have_the_data_that_they_had(self):
        # what a wrong kernel leaves out is a part of the data
        compared = 0
        for what, record, now in self.each():
            if record["verdict"] == "fail" and "relative_l2" in record and not self.redrawn(what):
                compared += 1
                for norm in ("relative_l1", "relative_l2"):
                    same = math.isclose(float(record[norm]), float(now[norm]), rel_tol=1e-6)
                    self.assertTrue(same, f"{what}: {norm} was {record[norm]} and is {now[norm]}")
        self.assertGreater(compared, 0)

    def test_reports_have_the_keys_that_they_had(self):
        for name, before, now in self.releases:
            for part in (0, 2):
                self.assertLessEqual(set(before[part]), set(now[part]), name)
        for what, record, now in self.each():
            self.assertLessEqual(set(record), set(now), what)


if __name__ == "__main__":
    unittest.main()
