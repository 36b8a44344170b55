// gemm, rung 14: fp64 on tensor cores (fp64).
//
// Change    rung 10's stages, with products by mma m16n8k8 in fp64: the tensor cores have twice the rate of
//           the fp64 pipe and the same arithmetic, so nothing is declared. The form m8n8k4 gets half of
//           that rate on sm_90. Small problems take 64 x 128 tiles whose depth is shared by two groups of
//           warps.
// Traffic   that of rung 10: A is read n / 128 times, B m / 128 times.
// Fails at  devices before sm_90; C of a few tiles, as rung 12. Each step's loads are waited for: rung 16
//           answers.
// Source    PTX ISA, "Matrix Fragments for mma.m16n8k8"; CUTLASS, sm90 fp64 kernels.
#include "gpu/gemm/kernels/fp64_tensor.hpp"

namespace plumb {
namespace {

using namespace gemm;

using Large = TensorShape<double, 128, 128, 16, 2, 4, 1, 4>;
using Halved = TensorShape<double, 64, 128, 32, 1, 4, 2, 3>;

/// Sums take 128 registers, a second set of fragments 48 more than there are.
using Products = Fp64Products<1>;

/// Share of its rate that the smaller tile reaches, with half the reuse.
constexpr double kEfficiencyHalved = 0.95;

void run(const Problem<double>& p, const In<double>& in, const Out<double>& out, Context& context) {
  const Index m = out.C.rows, n = out.C.cols;
  if (tile_cost(m, n, Large::BM, Large::BN, 1.0) <=
      tile_cost(m, n, Halved::BM, Halved::BN, kEfficiencyHalved)) {
    context.explain("128 x 128 tiles: fewest rounds for their size");
    run_tensor<double, Large, Products>(p, in, out, context);
  } else {
    context.explain(
        "64 x 128 tiles, depth shared by two groups of warps: larger tiles leave multiprocessors idle");
    run_tensor<double, Halved, Products>(p, in, out, context);
  }
}

const Register<Gemm, double, Space::device> f64{"14_fp64_tensor", run, Traits{}.needs_sm(90)};

}  // namespace
}  // namespace plumb
