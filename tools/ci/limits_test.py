#!/usr/bin/env python3
"""Tests of limits.py: figures as headers state them, and ptxas -v as nvcc 13.0 prints it."""

import unittest

import limits

HEADER = """// spmv, rung 14: coordinate format.
//
// Limits    {} (sm_90, nvcc 13.0,
//           ptxas -v). {}
// Fails at  nothing.
"""

LOG = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z4packIdEvT_' for 'sm_90'
ptxas info    : Function properties for _Z4packIdEvT_
    16 bytes stack frame, 16 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 16 bytes cumulative stack size, 33792 bytes smem
ptxas info    : Compiling entry function '_Z4packIfEvT_' for 'sm_90'
ptxas info    : Function properties for _Z4packIfEvT_
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 128 registers, used 1 barriers
ptxas info    : Compiling entry function '_Z4packIdEvT_' for 'sm_80'
ptxas info    : Used 254 registers, used 1 barriers, 33792 bytes smem, 464 bytes cmem[0]
"""


AGREES = (
    "fp32 / fp64: 128 / 255 registers, 0 / 33792 bytes of static shared memory, "
    "0 / 16 bytes spilled per thread"
)


def stated(text, rest=""):
    return limits.limits_of(HEADER.format(text, rest))


def kernel(name, registers, shared=0, spilled=0):
    return limits.Kernel(name, registers, shared, spilled)


class Headers(unittest.TestCase):
    def test_the_sentence_ends_at_the_chip_and_what_a_person_adds_follows(self):
        said = stated("18 registers, no spills", "8 blocks of 256 per SM.")
        self.assertEqual(
            (said.said, said.chip, said.rest), ("18 registers, no spills", "sm_90", "8 blocks of 256 per SM.")
        )

    def test_a_rung_that_points_to_another_states_nothing(self):
        self.assertIsNone(limits.limits_of("// Limits    those of the rung chosen.\n// Fails at  x\n"))

    def test_a_header_without_the_sentence_or_of_another_nvcc_differs(self):
        for text in ("TODO", "18 registers, no spills (sm_90, nvcc 12.9, ptxas -v)."):
            source = f"// Limits    {text}\n// Fails at  x\n"
            said = limits.limits_of(source)
            kernels = [kernel("f<float>()", 18)]
            self.assertEqual(len(limits.differences(said, kernels)), 1)
            mended = limits.limits_of(limits.rewritten(source, said, kernels))
            self.assertEqual(limits.differences(mended, kernels), [])


class Ptxas(unittest.TestCase):
    def test_kernels_of_one_chip_are_read(self):
        kernels = limits.kernels_of(LOG, "sm_90")
        self.assertEqual(
            [(k.name, k.registers, k.shared, k.spilled) for k in kernels],
            [("void pack<double>(double)", 255, 33792, 16), ("void pack<float>(float)", 128, 0, 0)],
        )

    def test_the_types_are_told_apart(self):
        self.assertEqual(limits.sentence(limits.kernels_of(LOG, "sm_90")), AGREES)

    def test_the_first_type_in_a_name_is_the_kernels(self):
        self.assertEqual(kernel("void a::sum<plumb::Kahan<float>, double>(double)", 1).types(), ["fp32"])
        self.assertEqual(kernel("starts(int const*)", 1).types(), ["fp32", "fp64"])

    def test_instances_that_differ_are_a_range_and_alike_types_one_figure(self):
        kernels = [kernel(f"void a::f<{t}, {n}>()", r) for t, n, r in (("float", 1, 22), ("float", 2, 24))]
        self.assertEqual(limits.sentence(kernels), "fp32: 22 to 24 registers, no spills")
        kernels = [kernel(f"void a::f<{t}>()", 18) for t in ("float", "double")]
        self.assertEqual(limits.sentence(kernels), "18 registers, no spills")

    def test_each_kernel_of_several_is_named(self):
        kernels = [
            kernel("void plumb::(anonymous namespace)::fill<float>(float*)", 28),
            kernel("void plumb::(anonymous namespace)::fill<double>(double*)", 30),
            kernel("plumb::scan(int*)", 24, 32),
        ]
        self.assertEqual(
            limits.sentence(kernels),
            "fp32 / fp64: fill 28 / 30 registers; "
            "scan 24 registers, 32 bytes of static shared memory, no spills",
        )

    def test_what_agrees_is_silent(self):
        self.assertEqual(limits.differences(stated(AGREES), limits.kernels_of(LOG, "sm_90")), [])

    def test_what_differs_is_named_with_both_sentences(self):
        other = AGREES.replace("128 / 255", "128 / 254")
        found = limits.differences(stated(other), limits.kernels_of(LOG, "sm_90"))
        self.assertEqual(found, [f"Limits say '{other}', ptxas: '{AGREES}'"])

    def test_more_blocks_than_the_registers_allow_are_named_with_the_type(self):
        kernels = limits.kernels_of(LOG, "sm_90")
        self.assertEqual(limits.differences(stated(AGREES, "2 / 1 blocks of 256 per SM."), kernels), [])
        found = limits.differences(stated(AGREES, "2 / 2 blocks of 256 per SM."), kernels)
        self.assertEqual(found, ["fp64: 2 blocks of 256 are stated, 255 registers allow 1"])

    def test_write_mends_the_sentence_and_keeps_the_rest(self):
        kernels = limits.kernels_of(LOG, "sm_90")
        source = HEADER.format("1 register", "2 / 1 blocks of 256 per SM.")
        mended = limits.rewritten(source, limits.limits_of(source), kernels)
        self.assertEqual(limits.differences(limits.limits_of(mended), kernels), [])
        self.assertIn("2 / 1 blocks of 256 per SM.\n// Fails at  nothing.", mended)
        self.assertEqual(limits.rewritten(mended, limits.limits_of(mended), kernels), mended)

    def test_builds_of_stress_are_left_out_their_kernels_have_delays(self):
        plain = {"file": "/a.cu", "command": "nvcc -c /a.cu", "directory": "/"}
        stress = {"file": "/a.cu", "command": "nvcc -DPLUMB_STRESS -c /a.cu", "directory": "/"}
        for listing in ([plain, stress], [stress, plain]):
            self.assertEqual(list(limits.rung_entries(listing).values()), [plain])

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
