#!/usr/bin/env python3
"""Modules of PTX on the CPU executor: kernels.ptx by the library's calls, and by the program as a person types it.

    modules_test.py BUILD_FOLDER [unittest's arguments]"""

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(sys.argv.pop(1))
os.environ["PLUMB_SIMT_BUILD"] = BUILD
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import mutants  # noqa: E402
from executor import Executor  # noqa: E402

KERNELS = os.path.join(HERE, "kernels.ptx")
with open(KERNELS, encoding="utf-8") as file:
    TEXT = file.read()
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


class Pair(ctypes.Structure):
    _fields_ = [("a", ctypes.c_double), ("b", ctypes.c_int * 3)]


class Modules(unittest.TestCase):
    executor = Executor(os.path.join(BUILD, "lib/libplumb_simt_ptx.so"))

    def launch(self, kernel, values, block=64, shared=0, text=TEXT, name=KERNELS, grid=1, mutant=None):
        """Findings; `values`: ctypes arrays become arrays of the run, of which those named below are written by nobody yet."""
        module = self.executor.load(text, name)
        if mutant is not None:
            self.executor.set(module, mutants.VARIABLE, mutant)
        self.executor.begin(seed=3)
        handed = []
        for k, v in enumerate(values):
            if isinstance(v, ctypes.Array):
                self.executor.array("xyzw"[k], ctypes.addressof(v), ctypes.sizeof(v))
                v = ctypes.c_void_p(ctypes.addressof(v))
            handed.append(v)
        self.executor.launch(module, kernel, (grid,), (block,), shared, handed)
        return self.executor.findings()

    def right(self, kernel, values, **how):
        self.assertEqual([f["described"] for f in self.launch(kernel, values, **how)], [])

    def test_a_block_sums_in_shared_memory(self):
        x, out = (ctypes.c_float * 300)(*range(300)), (ctypes.c_float * 1)()
        self.right("total", [x, out, ctypes.c_int(300)], block=128)
        self.assertEqual(out[0], sum(range(300)))

    def test_dynamic_shared_memory(self):
        x, out = (ctypes.c_int * 64)(*range(64)), (ctypes.c_int * 64)()
        self.right("reversed", [x, out], shared=256)
        self.assertEqual(list(out), list(range(63, -1, -1)))

    def test_a_missing_barrier_is_a_race_with_lines_of_both_languages(self):
        x, out = (ctypes.c_int * 64)(), (ctypes.c_int * 64)()
        races = [f for f in self.launch("not_ordered", [x, out], shared=256) if f["kind"] == "race"]
        self.assertEqual({races[0]["at"]["line"], races[0]["other"]["line"]}, {37, 38})
        self.assertEqual(races[0]["at"]["file"], "kernels.cu")
        self.assertRegex(races[0]["at"]["by"], r"kernels\.ptx:\d+$")

    def test_all_mutants_of_a_module_are_one_module(self):
        text, made = mutants.schema(TEXT, ("barrier left out",), warps=2)
        self.assertEqual(text.count("\n"), TEXT.count("\n"))
        lines = [k for k, line in enumerate(TEXT.splitlines(), 1) if "bar.sync" in line]
        self.assertEqual([m.line for m in made], lines)
        x, out = (ctypes.c_int * 64)(*range(64)), (ctypes.c_int * 64)()
        self.right("reversed", [x, out], shared=256, text=text, mutant=0)
        self.assertEqual(list(out), list(range(63, -1, -1)))
        for m in made:
            told = [f["kind"] for f in self.launch("reversed", [x, out], shared=256, text=text, mutant=m.number)]
            self.assertEqual("race" in told, m.line == 281, m.line)

    def test_what_stands_in_place_of_an_instruction(self):
        for text, others in (
                ("bar.sync 0", ["", "bar.warp.sync -1"]), ("@!%p1 bar.sync 1, 64", ["", "bar.sync 1, 96"]), ("barrier.cluster.wait.acquire.aligned", [""]),
                ("membar.gl", ["", "membar.cta", "fence.acq_rel.gpu"]), ("fence.sc.gpu", ["", "fence.sc.cta", "fence.acq_rel.gpu"]),
                ("fence.proxy.async", [""]), ("cp.async.wait_group 2", ["", "cp.async.wait_group 3"]),
                ("cp.async.bulk.wait_group 0", ["", "cp.async.bulk.wait_group 1", "cp.async.bulk.wait_group.read 0"]),
                ("mbarrier.try_wait.parity.shared.b64 p, [%r1+8], %r2",
                 ["setp.eq.u32 p, 0, 0", "xor.b32 %plumb_mutant_other, %r2, 1; mbarrier.try_wait.parity.shared.b64 p, [%r1+8], %plumb_mutant_other"]),
                ("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 64",
                 [f"mbarrier.arrive{x}.shared::cta.b64 _, [%r1]{n}" for x, n in (("", ""), (".expect_tx", ", 80"), (".expect_tx", ", 48"))]),
                ("st.release.gpu.global.u32 [%d1], 1", ["st.relaxed.gpu.global.u32 [%d1], 1", "st.release.cta.global.u32 [%d1], 1"]),
                ("atom.global.gpu.acq_rel.add.u32 %r1, [%d1], 1",
                 [f"atom.global.{x}.add.u32 %r1, [%d1], 1" for x in ("gpu.relaxed", "gpu.acquire", "gpu.release", "cta.acq_rel")]),
                ("mbarrier.init.shared::cta.b64 [%r1], 2", [f"mbarrier.init.shared::cta.b64 [%r1], {n}" for n in (3, 1)]),
                ("st.shared.u32 [%r1], 1", []), ("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1}, %d1, %d2, 1, 1, 1, 0, 0", [])):
            made = mutants.schema(HEAD + ".visible .entry k() {\n  " + text + ";\n  ret;\n}\n", warps=4, blocks=2)[1]
            self.assertEqual([m.by for m in made], others, text)
        alone = mutants.schema(HEAD + ".visible .entry k() { bar.sync 0; membar.gl; }", warps=1, blocks=1)[1]
        self.assertEqual([m.kind for m in alone], ["barrier left out", "fence left out", "fence's order weakened"])

    def test_lines_that_a_compiler_counts_within_inline_asm_are_no_places(self):
        text = HEAD + """.file 1 "source.py"
.visible .entry k(.param .u64 o) {
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [o];
  .loc 1 16 17
  // begin inline asm
  .loc 1 16 17
  mov.u32 %r1, 0x0;
  .loc 1 17 17
  ld.global.b32 { %r1 }, [ %rd1 + 4 ];

  // end inline asm
  .loc 1 20 5
  st.global.b32 [ %rd1 + 8 ], %r1;
  ret;
}
"""
        out = (ctypes.c_int * 1)()
        found = self.launch("k", [out], block=1, text=text, name="inline.ptx")
        self.assertEqual((found[0]["kind"], found[0]["at"]["line"]), ("out of bounds", 16))

    def test_a_module_calls_its_functions_and_reads_its_constants(self):
        x, out = (ctypes.c_float * 64)(*[1] * 64), (ctypes.c_float * 16)()
        self.right("calls", [x, out, ctypes.c_int(4)], block=16)
        self.assertEqual(list(out), [5.0] * 16)

    def test_branches_by_table_and_arithmetic(self):
        x, out = (ctypes.c_int * 64)(*[k % 8 for k in range(64)]), (ctypes.c_int * 64)()
        self.right("chooses", [x, out])
        of = [lambda v: v * 3, lambda v: v // 3, lambda v: v % 3, lambda v: bin(v).count("1"), lambda v: 32 - v.bit_length(),
              lambda v: v << 2, lambda v: -v, lambda v: 99]
        self.assertEqual(list(out), [of[k % 8](k) for k in range(64)])

    def test_variables_point_to_variables_and_stay_between_launches(self):
        out = (ctypes.c_int * 32)()
        self.right("counts", [out], block=32)
        first = out[0]
        self.right("counts", [out], block=32)
        self.assertEqual(out[31], first + 2)

    def test_structures_by_value_and_arrays_of_a_thread(self):
        out = (ctypes.c_double * 8)()
        pair = Pair(0.5, (ctypes.c_int * 3)(10, 20, 30))
        self.right("by_value", [pair, out], block=8)
        self.assertEqual(list(out), [0.5 + (10, 20, 30)[k % 3] + k for k in [(t * 3) & 7 for t in range(8)]])

    def test_an_access_behind_an_array_is_found_by_the_array(self):
        x, out = (ctypes.c_int * 64)(), (ctypes.c_int * 63)()
        found = self.launch("reversed", [x, out], shared=256)
        self.assertEqual([f["kind"] for f in found], ["out of bounds"])
        self.assertIn("at byte 252 of 'y', which has 252", found[0]["text"])

    def test_a_block_that_the_kernel_does_not_allow_is_refused(self):
        found = self.launch("bounded", [(ctypes.c_int * 65)()], block=65)
        self.assertEqual([f["kind"] for f in found], ["bad launch"])

    def test_names_belong_to_their_braces(self):
        text = HEAD + """.visible .entry k(.param .u64 p) {
          .reg .b64 %d1; .reg .b32 %r1; ld.param.u64 %d1, [p]; mov.u32 %r1, 1;
          { .reg .b32 %r1; mov.u32 %r1, 2; { .reg .pred %r1; setp.eq.u32 %r1, 1, 1; @%r1 st.global.u32 [%d1], 7; } st.global.u32 [%d1+4], %r1; }
          st.global.u32 [%d1+8], %r1; ret; }"""
        out = (ctypes.c_int * 3)()
        self.right("k", [out], block=1, text=text, name="scopes.ptx")
        self.assertEqual(list(out), [7, 2, 1])

    def test_calls_by_a_pointer_and_its_prototype(self):
        text = HEAD + """.func (.param .b32 o) twice(.param .b32 i) { .reg .b32 %r<2>; ld.param.b32 %r0, [i]; add.s32 %r1, %r0, %r0; st.param.b32 [o], %r1; ret; }
        .global .u64 table[1] = {twice};
        .visible .entry k(.param .u64 p) { .reg .b64 %d<3>; .reg .b32 %r<2>; ld.param.u64 %d1, [p]; ld.global.u64 %d2, [table];
          { .param .b32 a; .param .b32 b; st.param.b32 [a], 21;
            prototype_0: .callprototype (.param .b32 _) _ (.param .b32 _);
            call (b), %d2, (a), prototype_0; ld.param.b32 %r1, [b]; }
          st.global.u32 [%d1], %r1; ret; }"""
        out = (ctypes.c_int * 1)()
        self.right("k", [out], block=1, text=text, name="pointers.ptx")
        self.assertEqual(out[0], 42)

    def test_an_address_in_a_block_that_is_not_there_is_wrong_where_it_is_used(self):
        text = HEAD + """.shared .align 4 .b32 s; .visible .entry k(.param .u64 p, .param .u32 rank) {
          .reg .b64 %d<5>; .reg .b32 %r<5>; .reg .pred %p1; ld.param.u64 %d1, [p]; ld.param.u32 %r1, [rank]; mov.u32 %r2, s;
          st.shared.u32 [%r2], 7; cvt.u64.u32 %d2, %r2; cvta.shared.u64 %d2, %d2; mapa.u64 %d3, %d2, %r1; mapa.shared::cluster.u32 %r3, %r2, %r1;
          setp.eq.u32 %p1, %r1, 5; @%p1 bra END; ld.u32 %r4, [%d3]; st.global.u32 [%d1], %r4; END: ret; }"""
        for rank, kinds in ((0, []), (5, []), (3, ["out of bounds"])):
            out = (ctypes.c_int * 1)()
            self.assertEqual([f["kind"] for f in self.launch("k", [out, ctypes.c_int(rank)], block=1, text=text, name="mapped.ptx")], kinds)

    def test_an_instruction_that_is_not_offered_stops_where_it_is_reached(self):
        text = HEAD + ".visible .entry k(.param .u64 p) {\n.reg .b64 %d1;\nstacksave.u64 %d1;\nret; }"
        found = self.launch("k", [ctypes.c_void_p(0)], block=1, text=text, name="refused.ptx")
        self.assertIn("not supported by the CPU executor: PTX: stacksave.u64 %d1", found[0]["text"])
        self.assertEqual(found[0]["at"]["line"], 6)


class Program(unittest.TestCase):
    def run_it(self, *words):
        done = subprocess.run([os.path.join(BUILD, "bin/simt_ptx"), *words], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_it_lists_a_module(self):
        code, out, _ = self.run_it(KERNELS)
        self.assertEqual(code, 0)
        self.assertIn("--kernel bounded --block 64  parameters: u64", out)

    def test_it_runs_a_kernel_and_prints_what_it_wrote(self):
        code, out, err = self.run_it(KERNELS, "--kernel", "reversed", "--block", "4", "--shared", "16", "--arg", "x:i32[4]=iota", "--arg", "y:i32[4]=unset")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("x: i32[4], unchanged", out)
        self.assertIn("y: i32[4], 0 to 3: 3 2 1 0", out)

    def test_what_was_compiled_before_needs_no_translator(self):
        words = ("--kernel", "reversed", "--block", "4", "--shared", "16", "--arg", "x:i32[4]=iota", "--arg", "y:i32[4]=unset")
        self.run_it(KERNELS, *words)
        done = subprocess.run([os.path.join(BUILD, "bin/simt_ptx"), "kernels.ptx", *words], cwd=HERE, env={"PATH": "", "PLUMB_SIMT_BUILD": BUILD},
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("y: i32[4], 0 to 3: 3 2 1 0", done.stdout)

    def test_a_finding_is_exit_code_1_and_goes_to_the_files(self):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["PLUMB_SIMT_JSON"] = os.path.join(folder, "found.json")
            code, _, err = self.run_it(KERNELS, "--kernel=reversed", "--block=4", "--shared=16", "--arg=x:i32[4]=iota", "--arg=y:i32[3]=unset")
            with open(os.environ.pop("PLUMB_SIMT_JSON"), encoding="utf-8") as file:
                findings = json.load(file)["findings"]
        self.assertEqual(code, 1)
        self.assertRegex(err, r"write of 4 bytes at byte 12 of 'y', which has 12\n  at kernels.cu:\d+ \(.*kernels.ptx:\d+\)")
        self.assertEqual(findings[0]["kind"], "out of bounds")

    def test_bad_input_is_exit_code_2_and_says_what(self):
        for words, said in ((["none.ptx"], "none.ptx: no such file"), ([KERNELS, "--kernel", "nothing"], "no kernel of that name: nothing"),
                            ([KERNELS, "--kernel", "total", "--block", "32"], "'total' reads its parameter 0, which is not given"),
                            ([KERNELS, "--kernel", "total", "--arg", "q7=1"], "a type that is none of"), ([KERNELS, "--grid", "x"], "--grid: no number"),
                            ([KERNELS, "--kernel", "total"], "the kernel needs --block"), ([KERNELS, "--arg", "f32[4]=7up"], "nor a file: f32[4]=7up"),
                            ([KERNELS, "--nothing", "1"], "an option that is none: --nothing")):
            code, _, err = self.run_it(*words)
            self.assertEqual(code, 2, words)
            self.assertIn("error: ", err)
            self.assertIn(said, err)

    def test_a_module_that_cannot_be_read_names_the_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "bad.ptx")
            with open(path, "w", encoding="utf-8") as file:
                file.write(HEAD + ".visible .entry k(\n.param .u64 p)\n{\n  .reg .weird %r1;\n  ret;\n}\n")
            code, _, err = self.run_it(path)
        self.assertEqual(code, 2)
        self.assertRegex(err, r"error: .*bad\.ptx:7: registers that are not offered")

    def test_what_is_not_offered_is_exit_code_3(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "future.ptx")
            with open(path, "w", encoding="utf-8") as file:
                file.write(HEAD + ".visible .entry k() {\n.reg .b64 %d1;\nstacksave.u64 %d1;\nret; }")
            code, _, err = self.run_it(path, "--kernel", "k", "--block", "1")
        self.assertEqual(code, 3)
        self.assertRegex(err, r"note: .*future\.ptx:6: not offered by the CPU executor: 'stacksave")


if __name__ == "__main__":
    unittest.main()
