// skinny_gemm, rung 9: W as fp64 tensor-core fragments in registers, X streamed past it with no shared memory
// (fp64).
//
// Change    a warp holds all of W (128 x 16: 64 numbers a lane) as fragments of m16n8k8 and multiplies 16
//           rows of X at a time. The sum over k may run in any order, so positions (t, t + 4) of a fragment
//           take elements (2 t, 2 t + 1) of X and of W: each lane loads 16 contiguous bytes, four neighbours
//           64, whole sectors. Eight steps of 8 are in flight while one is multiplied, across the ends of
//           rows. Each warp has one contiguous share of the rows, so all finish together.
// Traffic   compulsory, coalesced; W once per warp.
// Limits    The most registers are for K = 128 and N = 16.
// Fails at  K beyond 128: W is loaded anew for each panel and 16 rows (from the cache); N beyond 16: X is
//           read again per 16 columns. Needs sm_90.
// Source    PTX ISA, "Matrix Fragments for mma.m16n8k8"; Little's law for the loads in flight.
#include "gpu/skinny_gemm/kernels/fragments.hpp"

namespace plumb {
namespace {

using namespace skinny;

void run(const Problem<double>&, const In<double>& in, const Out<double>& out, Context& context) {
  fragments::run_fragments(in, out, context);
}

const Register<SkinnyGemm, double, Space::device> f64{"09_tensor_fragments", run, Traits{}.needs_sm(90)};

}  // namespace
}  // namespace plumb
