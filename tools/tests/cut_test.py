"""verify, bench and infer, ended by a signal in the midst: reports are whole and say so, and no exit code
is 0."""

import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
import xml.dom.minidom
from pathlib import Path

PATIENCE = 600  # seconds after which a test gives up; nothing is measured
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU, signal.SIGALRM)
VERIFY = [os.environ["PLUMB_VERIFY"], "--case", "gemv,reduce,spmv", "--device", "cpu"]


def records(path):
    """The records that a file of JSON lines has until now."""
    if not path.exists():
        return []
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [one for one in lines if "verdict" in one]


class Cut(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="cut ")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def cut(self, number, command, ready):
        """Starts a program, sends the signal when it is ready; its exit code and what it printed."""
        run = subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        end = time.monotonic() + PATIENCE
        while not ready() and run.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        self.assertIsNone(run.poll(), "it ended before it was ready")
        run.send_signal(number)
        text, _ = run.communicate(timeout=PATIENCE)
        return run.returncode, text

    def junit(self):
        return xml.dom.minidom.parse(str(self.folder / "r.xml"))

    def test_verify_leaves_whole_reports_and_says_how_far_it_came(self):
        for number in SIGNALS:
            with self.subTest(number.name):
                (self.folder / "r.json").unlink(missing_ok=True)
                reports = ["--json", "r.json", "--junit", "r.xml", "--html", "r.html", "--markdown", "r.md"]
                code, text = self.cut(
                    number, VERIFY + reports, lambda: len(records(self.folder / "r.json")) > 3
                )
                self.assertEqual(code, 128 + number, text)
                self.assertRegex(text, r"interrupted: [0-9]+ of [0-9]+ records\nverify: ")
                last = json.loads((self.folder / "r.json").read_text().splitlines()[-1])
                self.assertIs(last["complete"], False)
                self.assertEqual(last["passed"] + last["skipped"], len(records(self.folder / "r.json")))
                errors = self.junit().getElementsByTagName("error")
                self.assertEqual([e.getAttribute("type") for e in errors], ["incomplete"])
                self.assertIn("Ended early:", (self.folder / "r.html").read_text())
                self.assertRegex((self.folder / "r.md").read_text(), r"\([0-9]+ of [0-9]+ records")

    def test_after_a_kill_the_reports_of_verify_are_whole_and_not_complete(self):
        code, _ = self.cut(
            signal.SIGKILL,
            [*VERIFY, "--json", "r.json", "--junit", "r.xml"],
            lambda: len(records(self.folder / "r.json")) > 3,
        )
        self.assertEqual(code, -signal.SIGKILL)
        self.assertGreater(len(records(self.folder / "r.json")), 3)
        errors = self.junit().getElementsByTagName("error")
        self.assertEqual([e.getAttribute("type") for e in errors], ["incomplete"])

    def test_a_run_that_ends_says_that_it_is_complete(self):
        command = [os.environ["PLUMB_VERIFY"], "--case", "gemv.f32", "--variant", "cpu/01_serial"]
        command += ["--device", "cpu", "--listed", "--json", "r.json", "--junit", "r.xml"]
        got = subprocess.run(command, cwd=self.folder, check=False, capture_output=True, timeout=PATIENCE)
        self.assertEqual(got.returncode, 0, got.stdout)
        self.assertIs(json.loads((self.folder / "r.json").read_text().splitlines()[-1])["complete"], True)
        self.assertEqual(len(self.junit().getElementsByTagName("error")), 0)

    def test_bench_leaves_a_whole_report(self):
        command = [os.environ["PLUMB_BENCH"], "--case", "gemv,reduce", "--device", "cpu", "--json", "b.json"]
        code, text = self.cut(signal.SIGTERM, command, (self.folder / "b.json").exists)
        self.assertEqual(code, 128 + signal.SIGTERM, text)
        self.assertRegex(text, r"interrupted: [0-9]+ of [0-9]+ variants\nbench: ")
        self.assertIs(json.loads((self.folder / "b.json").read_text())["complete"], False)

    def test_infer_says_how_far_it_came(self):
        said = self.folder / "said"
        with open(said, "w", encoding="utf-8") as out:
            run = subprocess.Popen(
                [os.environ["PLUMB_INFER"], "sdnn", "--drawn", "100000", "--seed", "1"],
                stdout=out,
                stderr=subprocess.STDOUT,
            )
            end = time.monotonic() + PATIENCE
            while said.read_text().count("--drawn 1 ") < 3 and run.poll() is None and time.monotonic() < end:
                time.sleep(0.05)
            run.send_signal(signal.SIGTERM)
            run.wait(timeout=PATIENCE)
        self.assertEqual(run.returncode, 128 + signal.SIGTERM)
        self.assertRegex(said.read_text(), r"interrupted: [0-9]+ of 100000 drawn networks judged, 0 failed\n")


if __name__ == "__main__":
    unittest.main()
