// skinny_gemm, rung 12: rung 9's fragments of W, X through shared memory in long pieces of rows (fp64).
//
// Change    rung 9 loads X straight to the lanes, 64 bytes of each of 8 rows at once. Here each warp copies
//           16 rows by 64 into three stages of its own, 512 contiguous bytes of a row, two stages ahead, so
//           that memory reads long pieces and twice as many bytes are in flight; fragments come from
//           there.
// Traffic   compulsory, coalesced; W once per warp.
// Fails at  as rung 9: K beyond 128, N beyond 16.
// Source    as rungs 9 and 10.
#include "gpu/skinny_gemm/kernels/streamed_fragments.hpp"

namespace plumb {
namespace {

using namespace skinny;

void run(const Problem<double>&, const In<double>& in, const Out<double>& out, Context& context) {
  run_streamed_fragments(in, out, context);
}

const Register<SkinnyGemm, double, Space::device> f64{"12_streamed_fragments", run, Traits{}.needs_sm(90)};

}  // namespace
}  // namespace plumb
