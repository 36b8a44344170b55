#!/usr/bin/env python3
"""Each form of gpu/simt/ptx/forms.py that is offered is translated and compiled; each that is not is refused; the page has the same table."""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "gpu/simt/ptx"))
import compile_module  # noqa: E402
import forms  # noqa: E402
from module_code import ModuleCode  # noqa: E402

HEAD = """.version 8.8
.target sm_90a
.address_size 64
.global .align 16 .b8 g[64];
.const .align 16 .b8 c[64] = {1, 2, 3};
.shared .align 128 .b8 s[1024];
.func (.param .b32 o) f(.param .b32 i)
{
  .reg .b32 %r<2>;
  ld.param.b32 %r0, [i];
  st.param.b32 [o], %r0;
  ret;
}
"""
BODY = """.visible .entry k{number}(.param .u64 k_param_0)
{{
  .reg .pred %p<4>; .reg .b16 %h<6>; .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .f32 %f<6>; .reg .f64 %e<6>; .reg .b128 %q<2>;
  .param .b32 i; .param .b32 o;
T: .branchtargets L, L;
  {form};
L:
  ret;
}}
"""


def module_of(all_forms):
    return HEAD + "".join(BODY.format(number=k, form=form) for k, form in enumerate(all_forms))


def offered():
    return [form for of in forms.OFFERED.values() for form in of]


class Forms(unittest.TestCase):
    def test_what_is_offered_is_translated(self):
        module = ModuleCode(module_of(offered()))
        module.code("forms.ptx")
        self.assertEqual([what for _, what in module.refused], [])

    def test_what_is_not_offered_is_refused_by_name(self):
        for name, (_, form) in forms.NOT_OFFERED.items():
            module = ModuleCode(module_of([form]))
            module.code("forms.ptx")
            self.assertEqual(len(module.refused), 1, name)
            self.assertIn(form.split(" ")[0].split(".")[0], module.refused[0][1])

    def test_a_modifier_that_is_not_known_is_refused(self):
        for form in ("add.new.s32 %r0, %r1, %r2", "ld.b32 %r0", "cvt.s32.f32 %r0, %f1", "setp.foo.s32 %p0, %r1, %r2", "shl.b32 %r0, %r1",
                     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0}, {%r0}, {%r1}, {%f0}", "bra NOWHERE", "frobnicate.b32 %r0"):
            module = ModuleCode(module_of([form]))
            module.code("forms.ptx")
            self.assertEqual(len(module.refused), 1, form)

    def test_what_is_offered_compiles(self):
        if not os.path.exists(os.path.join(compile_module.build_folder(), "simt_nvcc.json")):
            self.skipTest("no build of the executor: PLUMB_SIMT_BUILD")
        path = compile_module.Compiler().library(module_of(offered()), "forms.ptx")
        self.assertGreater(os.path.getsize(path), 0)

    def test_the_page_has_the_table(self):
        with open(os.path.join(ROOT, "docs/executor/ptx.md"), encoding="utf-8") as page:
            self.assertIn(forms.table(), page.read())


if __name__ == "__main__":
    unittest.main()
