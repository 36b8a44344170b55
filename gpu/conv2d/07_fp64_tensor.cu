// conv2d, rung 7: fp64 on tensor cores (fp64).
//
// Change    rung 6's stages, with products by mma m16n8k8 in fp64: twice the rate of the fp64 pipe and the
//           same arithmetic, so nothing is declared. Filters keep their rows in shared memory; the sum may
//           run in any order, so positions (t, t + 4) of a fragment take terms (2 t, 2 t + 1), and two of a
//           filter come in one load.
// Traffic   that of rung 4.
// Limits    7 KiB of shared memory.
// Fails at  devices before sm_90; address arithmetic, which now limits products of twice the rate.
// Source    PTX ISA, "Matrix Fragments for mma.m16n8k8"; gemm's rung 14.
#include "gpu/conv2d/families/tiles_family.hpp"

namespace plumb {
namespace {

using namespace conv2d;

void run(const Problem<double>& p, const In<double>& in, const Out<double>& out, Context& context) {
  run_tiles<Shapes<double>::Middle, GatheredWindows>(p, in, out, context);
}

const Register<Conv2d, double, Space::device> f64{"07_fp64_tensor", run, Traits{}.needs_sm(90),
                                                  supports_gemm<double>};

}  // namespace
}  // namespace plumb
