#!/usr/bin/env python3
"""Rungs of verify by PTX in place of C++ (PLUMB_SIMT_PTX): a kernel that nvcc made of a rung, right, without its barrier, and not there.

    road_test.py BUILD_FOLDER [unittest's arguments]

All rungs are compared by rungs_test.py, where nvcc is."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
BUILD = os.path.abspath(sys.argv.pop(1))
sys.dont_write_bytecode = True
sys.path[:0] = [HERE, os.path.join(ROOT, "gpu/simt/ptx")]
import split_modules  # noqa: E402

CASE = "transpose.f32(rows=40,cols=70,fill=real,seed=1)"
with open(os.path.join(HERE, "transpose_tile.ptx"), encoding="utf-8") as file:
    TEXT = file.read()


class Road(unittest.TestCase):
    def judged(self, text, rung="02_shared_tile"):
        """verify's record of the rung, its kernel replaced by that of the module."""
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "own.ptx"), "w", encoding="utf-8") as file:
                file.write(text)
            if text:
                split_modules.split(folder, [os.path.join(folder, "own.ptx")])
            environment = dict(os.environ, PLUMB_SIMT_PTX=folder, PLUMB_SIMT_BUILD=BUILD, TMPDIR=folder)
            report = os.path.join(folder, "records.json")
            subprocess.run([os.path.join(BUILD, "bin/verify"), "--case", CASE, "--variant", f"gpu/{rung}", "--device", "simt", "--race", "--timeout", "300",
                            "--json", report], env=environment, capture_output=True, check=False)
            with open(report, encoding="utf-8") as file:
                return [r for r in map(json.loads, file) if "verdict" in r][0]

    def test_a_rung_runs_by_its_ptx(self):
        self.assertEqual(self.judged(TEXT)["verdict"], "pass")

    def test_its_lines_are_those_of_the_source_and_of_the_module(self):
        record = self.judged(TEXT.replace("bar.sync \t0;", ""))
        self.assertEqual(record["verdict"], "race")
        self.assertRegex(record["reason"], r"race in .*transpose_tile<float, 32, 8, 32>: shared 'tile' at byte \d+")
        self.assertRegex(str(record), r"gpu/transpose/tile.hpp:\d+ \(.*own.0.ptx:\d+\)")

    def test_the_kernel_that_runs_is_that_of_the_module(self):
        self.assertEqual(self.judged(TEXT.replace("st.global.f32", "// st.global.f32"))["verdict"], "unwritten")

    def test_a_kernel_that_no_module_has_is_skipped(self):
        record = self.judged(TEXT, "03_padded")
        self.assertEqual(record["verdict"], "skip")
        self.assertRegex(record["reason"], r"out of PTX: .* has no kernel 'void plumb::transpose::transpose_tile<float, 32, 8, 33>")

    def test_an_instruction_that_is_not_offered_is_told(self):
        record = self.judged(TEXT.replace("bar.sync", "stacksave.u64 %rd1; bar.sync"))
        self.assertEqual(record["verdict"], "error")
        self.assertIn("not supported by the CPU executor: PTX: stacksave", record["reason"])

    def test_a_folder_without_a_list_is_an_error_that_names_it(self):
        record = self.judged("")
        self.assertEqual(record["verdict"], "error")
        self.assertRegex(record["reason"], r"/kernels: no list of kernels \(PLUMB_SIMT_PTX\)")


class Split(unittest.TestCase):
    def test_each_kernel_is_alone_with_what_all_share(self):
        text = TEXT + ".const .b8 c[4];\n.visible .entry other() { // { \n ret; }\n"
        (first, alone), (second, other) = split_modules.each_alone(text)
        self.assertIn("transpose_tile", first)
        self.assertEqual(second, "other")
        self.assertTrue(all(".version" in t and ".const .b8 c[4];" in t for t in (alone, other)))
        self.assertNotIn(".entry other", alone)
        self.assertNotIn(first, other)

    def test_a_module_that_ends_too_early_names_its_line(self):
        with self.assertRaisesRegex(split_modules.BadModule, "a bracket that nothing closes"):
            list(split_modules.each_alone(TEXT[: TEXT.rindex("}")]))


if __name__ == "__main__":
    unittest.main()
