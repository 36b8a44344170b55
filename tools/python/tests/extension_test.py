"""An extension of torch's, compiled from C++, judged like any function. Compiling it takes half a minute."""

import importlib.util
import shutil
import subprocess
import sys

import plumbline as pl
import pytest

for package in ("torch", "setuptools"):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed", allow_module_level=True)
for program in ("ninja", "g++"):
    if shutil.which(program) is None:
        pytest.skip(f"torch compiles extensions with {program}, which is not here", allow_module_level=True)

SOURCE = r'''
import pathlib
import plumbline as pl
from torch.utils.cpp_extension import load_inline

CODE = r"""
#include <torch/extension.h>

void sums(torch::Tensor x, torch::Tensor w, double eps, torch::Tensor y, bool tight) {
  const auto n = x.size(0), d = x.size(1), step = tight ? d : x.stride(0);
  const float* const from = x.data_ptr<float>();
  float* const to = y.data_ptr<float>();
  for (int64_t i = 0; i < n; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < d; ++j) sum += from[i * step + j] * from[i * step + j];
    const float scale = 1 / std::sqrt(sum / d + static_cast<float>(eps));
    for (int64_t j = 0; j < d; ++j) to[i * y.stride(0) + j] = from[i * step + j] * scale * w.data_ptr<float>()[j];
  }
}
torch::Tensor fresh(torch::Tensor x, torch::Tensor w, double eps, bool last) {
  auto y = torch::empty_like(x, torch::MemoryFormat::Contiguous);
  sums(x.narrow(0, 0, x.size(0) - (last ? 0 : 1)), w, eps, y, false);
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("sums", &sums), m.def("fresh", &fresh); }
"""
here = pathlib.Path(__file__).resolve().parent
extension = load_inline("plumb_norm", [CODE], build_directory=str(here), extra_cflags=["-O1"])


def declare():
    return pl.variant("rmsnorm", arrays="torch")


@declare()
def right(x, w, eps, y):
    extension.sums(x, w, eps, y, False)


@declare()
def right_returned(x, w, eps):
    return extension.fresh(x, w, eps, True)


@declare()
def wrong_stride(x, w, eps, y):
    extension.sums(x, w, eps, y, True)


@declare()
def wrong_last_row(x, w, eps):
    """What torch::empty() holds there is anything."""
    return extension.fresh(x, w, eps, x.shape[0] == 0)
'''


@pytest.fixture(scope="module")
def extension(tmp_path_factory):
    file = tmp_path_factory.mktemp("extension") / "norm.py"
    file.write_text(SOURCE)
    done = subprocess.run([sys.executable, str(file)], env=pl._judge.environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return file


@pytest.mark.parametrize("name", ["right", "right_returned", "wrong_stride", "wrong_last_row"])
def test_kernel(extension, name):
    report = pl.judge(f"{extension}:{name}", cases="rmsnorm.f32(n=1..40,d=1..300)")
    if name.startswith("right"):
        assert report.passed, str(report)
    else:
        assert {r.verdict for r in report.failures} & {"fail", "nondeterministic"}, str(report)
