"""tools/scaffold on a copy of the rooms it reads: what is written, what is refused, and that a refusal leaves
nothing."""

import os
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from scaffold import kernels, plugins  # noqa: E402
from scaffold.tree import Refused, Tree, nearest  # noqa: E402

ROOMS = [
    "reference/ops",
    "reference/cpu",
    "verify/mutants",
    "tools/templates",
    "gpu/plugin",
    "gpu/spmv",
    "gpu/gemm",
]


def contents(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


class Scaffold(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        for room in ROOMS:
            shutil.copytree(ROOT / room, self.folder / room)
        shutil.copy(ROOT / "verify/operators.hpp", self.folder / "verify/operators.hpp")
        for name in (".clang-format",):
            shutil.copy(ROOT / name, self.folder / name)
        self.tree = Tree(self.folder)

    def read(self, path):
        return (self.folder / path).read_text()

    def refused(self, reason, function, *arguments, **more):
        before = contents(self.folder)
        with self.assertRaisesRegex(Refused, reason):
            function(self.tree, *arguments, **more)
        self.assertEqual(before, contents(self.folder))

    def test_an_operator_by_formula_is_four_places(self):
        kernels.new_op(self.tree, "gate", formula=True)
        self.assertIn("struct Gate : FormulaOf<Gate>", self.read("reference/ops/gate.hpp"))
        self.assertIn('"reference/ops/gate.hpp"', self.read("reference/cpu/gate/01_serial.cpp"))
        self.assertIn("PLUMB_FAULTS_OF(Gate)", self.read("verify/mutants/gate.cpp"))
        self.assertIn("OperatorList<\n    Gate,\n", self.read("verify/operators.hpp"))
        self.assertEqual("Gate", self.tree.struct("gate"))

    def test_a_formula_of_ones_own_leaves_the_tree_alone(self):
        before = contents(self.folder)
        with tempfile.TemporaryDirectory() as own:
            kernels.new_op(self.tree, "gate", formula=True, folder=own)
            self.assertEqual({"gate.hpp", "gate_serial.cpp"}, set(os.listdir(own)))
            # as the tree's own files are formatted, not as clang-format does by itself
            self.assertIn("  static constexpr const char* kName", (Path(own) / "gate.hpp").read_text())
            self.assertIn('#include "gate.hpp"', (Path(own) / "gate_serial.cpp").read_text())
            with self.assertRaisesRegex(Refused, "is there already"):
                kernels.new_op(self.tree, "gate", formula=True, folder=own)
        self.assertEqual(before, contents(self.folder))

    def test_a_folder_is_for_formulas_and_a_formula_is_like_no_operator(self):
        self.refused("add --formula", kernels.new_op, "gate", folder="/tmp")
        self.refused("choose one", kernels.new_op, "gate", like="spmv", formula=True)

    def test_an_operator_is_five_places(self):
        said = kernels.new_op(self.tree, "axpy")
        for path in (
            "reference/ops/axpy.hpp",
            "reference/ops/axpy.cpp",
            "reference/cpu/axpy/01_serial.cpp",
            "verify/mutants/axpy.cpp",
        ):
            self.assertIn(path, said)
            self.assertNotIn("@", self.read(path))
        listing = self.read("verify/operators.hpp")
        self.assertIn("OperatorList<\n    Axpy,\n", listing)
        includes = (
            re.findall(r"ops/(\w+)\.hpp", listing)[1:]
            if "<op>" in listing
            else re.findall(r'#include "reference/ops/(\w+)', listing)
        )
        self.assertEqual(includes, sorted(includes))

    def test_an_operator_like_another_takes_its_contract(self):
        kernels.new_op(self.tree, "my_product", like="gemv")
        contract = self.read("reference/ops/my_product.hpp")
        self.assertIn("struct MyProduct : Contract<MyProduct> {", contract)
        self.assertIn('kName = "my_product"', contract)
        self.assertIn("PLUMB_INPUTS(Matrix A; Vector x;)", contract)
        self.assertNotRegex(self.read("reference/ops/my_product.cpp"), r"\b[Gg]emv\b")

    def test_rungs_are_numbered_and_take_the_ladders_header(self):
        said = kernels.new_variant(self.tree, "spmv", "idea", cuda=True)
        last = max(int(p.name[:2]) for p in (ROOT / "gpu/spmv").glob("[0-7][0-9]_*.cu"))
        path = f"gpu/spmv/{last + 1:02}_idea.cu"
        self.assertIn(path, said)
        self.assertIn('#include "gpu/spmv/common.hpp"', self.read(path))
        kernels.new_op(self.tree, "axpy")
        kernels.new_variant(self.tree, "axpy", "idea", cuda=True)
        self.assertIn('#include "gpu/device/kernel.hpp"', self.read("gpu/axpy/01_idea.cu"))
        for key in ("Change", "Traffic", "Limits", "Fails at", "Source"):
            self.assertIn(f"// {key}", self.read(path))

    def test_a_rung_s_command_runs_where_there_is_no_gpu(self):
        with mock.patch.object(kernels, "gpu_here", return_value=False):
            self.assertIn("--device simt --race", kernels.new_variant(self.tree, "spmv", "one", cuda=True))
        with mock.patch.object(kernels, "gpu_here", return_value=True):
            self.assertNotIn("--device", kernels.new_variant(self.tree, "spmv", "two", cuda=True))
        with mock.patch.dict(os.environ, PLUMB_PRESET="cpu"):
            self.assertFalse(kernels.gpu_here())

    def test_a_mutant_joins_the_others(self):
        before = self.read("verify/mutants/spmv.cpp")
        kernels.new_mutant(self.tree, "spmv", "last_row_dropped")
        after = self.read("verify/mutants/spmv.cpp")
        self.assertIn('"last_row_dropped"', after)
        self.assertTrue(after.endswith("\n}  // namespace\n}  // namespace plumb\n"))
        self.assertEqual(after.count("PLUMB_FAULT("), before.count("PLUMB_FAULT(") + 1)
        self.assertEqual(after.count("PLUMB_FAULTS_OF("), 1)
        self.refused("holds 'last_row_dropped' already", kernels.new_mutant, "spmv", "last_row_dropped")

    def test_a_plug_in_fetches_every_array_with_its_shape(self):
        plugins.new_plugin(self.tree, "spmm", "mine", place=self.folder)
        host = self.read("mine/host.c")
        shapes = {"A.row_ptr": "(rows + 1)", "A.col": "(nnz)", "A.val": "(nnz)", "B": "(cols, n)"}
        for name, shape in shapes.items():
            self.assertRegex(host, rf'plumb_find_array\(call, "{re.escape(name)}"\); /\* {re.escape(shape)}')
        self.assertIn("tools/plumb verify --plugin build/libmine.so", self.read("mine/README.md"))

    def test_what_is_no_name_is_refused(self):
        for bad in ("../ops/spmv", "", "Spmv"):
            self.refused("no operator is called", kernels.new_variant, bad, "x")
            self.refused("no operator is called", plugins.new_plugin, bad, "x", place=self.folder)
            self.refused("is not a name", kernels.new_op, bad)
            self.refused("is not a name", kernels.new_variant, "spmv", bad)
        self.refused("did you mean 'spmv'", kernels.new_variant, "spvm", "x")
        self.refused("reference/ops/spmv.hpp is there already", kernels.new_op, "spmv")

    def test_a_disk_that_refuses_leaves_nothing(self):
        real = Path.write_text

        def full(path, text, *more):
            if path.name.startswith("operators.hpp"):
                raise OSError(28, "No space left on device", str(path))
            return real(path, text, *more)

        before = contents(self.folder)
        with mock.patch.object(Path, "write_text", full), self.assertRaisesRegex(Refused, "No space left"):
            kernels.new_op(self.tree, "axpy")
        self.assertEqual(contents(self.folder), before)
        self.assertFalse((self.folder / "reference/cpu/axpy").exists())

    @unittest.skipUnless(shutil.which("clang-format"), "clang-format is not installed")
    def test_what_is_written_is_formatted_and_no_wider_than_110_columns(self):
        before = contents(self.folder)
        kernels.new_op(self.tree, "long_name_operator")
        kernels.new_op(self.tree, "like_spmm", like="spmm")
        kernels.new_variant(self.tree, "spmv", "idea", cuda=True)
        kernels.new_variant(self.tree, "spmv", "idea")
        kernels.new_mutant(self.tree, "gemm", "idea")
        for path, text in contents(self.folder).items():
            if path not in before:
                self.assertEqual(text.decode(), self.tree.formatted(str(path), text.decode()), path)
                if "like_spmm" not in str(path):  # whose lines are another file's, with a longer name
                    self.assertLessEqual(max(map(len, text.decode().splitlines())), 110, path)

    def test_nearest_knows_a_swap(self):
        self.assertEqual(nearest("spvm", ["spmm", "spmv"]), "spmv")
        self.assertEqual(nearest("zzzz", ["spmm", "spmv"]), "")


if __name__ == "__main__":
    unittest.main()
