#!/usr/bin/env python3
"""Tests of limits.py: figures as headers state them, and ptxas -v as nvcc 13.0 prints it."""

import unittest

import limits

HEADER = """// spmv, rung 14: coordinate format.
//
// Limits    {}
//           continued (sm_90, nvcc 13.0, ptxas -v). H200: 40 registers of something else.
// Fails at  nothing.
"""

LOG = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Zdouble' for 'sm_90'
ptxas info    : Function properties for _Zdouble
    16 bytes stack frame, 16 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 16 bytes cumulative stack size, 33792 bytes smem
ptxas info    : Compiling entry function '_Zfloat' for 'sm_90'
ptxas info    : Function properties for _Zfloat
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 128 registers, used 1 barriers
ptxas info    : Compiling entry function '_Zdouble' for 'sm_80'
ptxas info    : Used 254 registers, used 1 barriers, 33792 bytes smem, 464 bytes cmem[0]
"""


def stated(text):
    return limits.limits_of(HEADER.format(text))


class Headers(unittest.TestCase):
    def test_figures_of_registers_are_read_in_every_form_in_use(self):
        for text, expected in [
            ("18 registers, no shared memory:", [(18, 18)]),
            ("26 registers in fp32, 28 in fp64, no shared memory:", [(26, 26), (28, 28)]),
            ("22 to 24 registers:", [(22, 24)]),
            ("fp32 / fp64: 128 / 232 registers, 8.25 / 16.5 KiB shared:", [(128, 128), (232, 232)]),
            ("34 and 32 registers, 32 bytes in fp32:", [(34, 34), (32, 32)]),
            ("254 to 255 registers (64 x 128: 242 to 255), 146 KiB:", [(254, 255)]),
            ("247 (B by 16 bytes) and 250 registers, 154 KiB shared:", [(247, 247), (250, 250)]),
        ]:
            with self.subTest(text):
                self.assertEqual(stated(text).registers, expected)

    def test_shared_memory_and_spills(self):
        self.assertTrue(stated("18 registers, no shared memory:").no_shared)
        self.assertFalse(stated("35 registers, no shared memory in the first pass:").no_shared)
        self.assertEqual(stated("127 registers; fp64 spills 40 bytes per thread").spilled, 40)
        self.assertEqual(stated("127 registers, no spills").spilled, 0)

    def test_a_rung_that_points_to_another_states_nothing(self):
        self.assertIsNone(limits.limits_of("// Limits    those of the rung chosen.\n// Fails at  x\n"))


class Ptxas(unittest.TestCase):
    def test_kernels_of_one_chip_are_read(self):
        kernels = limits.kernels_of(LOG, "sm_90")
        self.assertEqual(
            [(k.name, k.registers, k.shared, k.spilled) for k in kernels],
            [("_Zdouble", 255, 33792, 16), ("_Zfloat", 128, 0, 0)],
        )

    def test_what_agrees_is_silent(self):
        said = stated("fp32 / fp64: 128 / 255 registers; fp64 spills 16 bytes per thread")
        self.assertEqual(limits.differences(said, limits.kernels_of(LOG, "sm_90")), [])

    def test_what_differs_is_named(self):
        said = stated("fp32 / fp64: 127 / 254 registers, no shared memory, no spills")
        found = "\n".join(limits.differences(said, limits.kernels_of(LOG, "sm_90")))
        for words in (
            "the most registers are 255, stated are 127, 254",
            "no kernel takes 127 registers",
            "gives a kernel 33792 bytes",
            "the most bytes spilled are 16, stated are 0",
        ):
            self.assertIn(words, found)

    def test_the_command_is_the_builds_for_one_chip(self):
        entry = {
            "command": "nvcc -O3 --generate-code=arch=compute_80,code=[sm_80] -x cu -c a.cu -o b.o",
            "directory": "/",
        }
        command = limits.compile_command(entry, "sm_90a")
        self.assertNotIn("--generate-code=arch=compute_80,code=[sm_80]", command)
        self.assertEqual(command[-3:], ["--generate-code=arch=compute_90a,code=[sm_90a]", "-Xptxas", "-v"])
        self.assertEqual(command[command.index("-o") + 1], "/dev/null")


if __name__ == "__main__":
    unittest.main()
