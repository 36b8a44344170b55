// conv2d, rung 7: fp64 on tensor cores (fp64).
//
// Change    rung 6's stages, with products by mma m16n8k8 in fp64: twice the rate of the fp64 pipe and the
//           same arithmetic, so nothing is declared. Filters keep their rows in shared memory; the sum may
//           run in any order, so positions (t, t + 4) of a fragment take terms (2 t, 2 t + 1), and two of a
//           filter come in one load.
// Traffic   that of rung 4.
// Limits    fp64: 240 registers, 512 bytes of static shared memory, no spills (sm_90, nvcc 13.0, ptxas -v). 2
//           blocks of 128 threads per SM, 85.7 KiB of shared memory. H200, the case of rung 1: 81 us, 23
//           TFLOP/s, a third of the tensor pipe.
// Fails at  devices before sm_90; address arithmetic, which now limits products of twice the rate.
// Source    PTX ISA, "Matrix Fragments for mma.m16n8k8"; gemm's rung 14.
#include "gpu/conv2d/tiles_family.hpp"

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
