"""What docs/contributing/versions.md promises, on what earlier releases left: tools/tests/releases/VERSION
has a plug-in that was built for that release (plugin.c, plugin.x86_64.so), and its report (verify.json); from
0.3.0 on a kernel as source (kernel.cpp), and what the programs showed to scripts (interface.json).
PLUMB_VERIFY: the program of today, beside bench, infer and dataset."""

import json
import math
import os
import platform
import subprocess
import tempfile
import unittest
from pathlib import Path

from release_interface import interface

RELEASES = Path(__file__).resolve().parent / "releases"
ROOT = RELEASES.parents[2]
VERIFY = os.environ["PLUMB_VERIFY"]
# Keys of records in whose runs it happened: which those are depends on the order in which cases are judged.
OF_A_RUN = {"two_callers"}
# Fills whose data a later release draws otherwise, which its change log says.
REDRAWN = {"0.2.0": ("fill=hostile", "fill=scaled"), "0.3.0": ("fill=scaled",)}


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
            self.assertLessEqual(set(record) - OF_A_RUN, set(now), what)


class Sources(unittest.TestCase):
    def test_kernels_as_source_compile(self):
        kernels = sorted(RELEASES.glob("*/kernel.cpp"))
        self.assertGreater(len(kernels), 0)
        for kernel in kernels:
            words = ["c++", "-std=c++20", "-fsyntax-only", "-I", ROOT, kernel]
            got = subprocess.run(words, check=False, stderr=subprocess.PIPE, text=True)
            self.assertEqual(got.returncode, 0, got.stderr)


class Scripts(unittest.TestCase):
    """Options, exit codes, and what is read of reports. Renamed and removed ones stand in the change log, and
    are taken out of the release's interface.json in the version that takes them away."""

    @classmethod
    def setUpClass(cls):
        cls.now = interface(Path(VERIFY).resolve().parent)
        cls.before = {
            path.parent.name: json.loads(path.read_text()) for path in RELEASES.glob("*/interface.json")
        }

    def there(self, before, now, what):
        self.assertEqual(sorted(set(before) - set(now)), [], f"{what}: gone")

    def test_there_is_a_release_to_compare_with(self):
        self.assertIn("0.3.0", self.before)

    def test_options_are_known(self):
        for release, before in self.before.items():
            for command, options in before["options"].items():
                self.there(options, self.now["options"].get(command, []), f"{release}, options of {command}")

    def test_exit_codes_are_the_same(self):
        for release, before in self.before.items():
            for command, code in before["exit codes"].items():
                self.assertEqual(self.now["exit codes"].get(command), code, f"{release}: {command}")

    def test_reports_have_their_keys_and_columns(self):
        for release, before in self.before.items():
            for report, keys in before["reports"].items():
                self.there(keys, self.now["reports"][report], f"{release}, {report}")
            columns = before["reports"]["csv columns"]
            self.assertEqual(self.now["reports"]["csv columns"][: len(columns)], columns, release)

    def test_variants_have_their_names(self):
        for release, before in self.before.items():
            self.there(before["variants"], self.now["variants"], f"{release}, variants")


if __name__ == "__main__":
    unittest.main()
