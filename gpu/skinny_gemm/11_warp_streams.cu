// skinny_gemm, rung 11: each warp streams its own rows through its own stages (fp32).
//
// Change    rung 10 without a barrier between warps: a warp copies tiles of 64 rows by 64 into three stages
//           of its own, two ahead, and waits for no other warp. Rows arrive in pieces of 256 bytes, not 64. W is
//           in shared memory as a whole, once.
// Traffic   compulsory for up to 16 columns, coalesced; X again for each further 16 columns, Y again for
//           each further 128 of K.
// Fails at  the issue of multiply-adds: one warp on a scheduler does not issue one per cycle, more warps
//           leave too few bytes of stages for each. Rung 13 leaves the products to the tensor cores, rung 14
//           the copies to the copy engine.
// Source    as rung 10.
#include "gpu/skinny_gemm/kernels/warp_streams.hpp"

namespace plumb {
namespace {

using namespace skinny;

void run(const SkinnyGemm::Problem<float>&, const In<float>& in, const Out<float>& out, Context& context) {
  run_streams<Streams>(in, out, context);
}

// sm_80 has not the shared memory
const Register<SkinnyGemm, float, Space::device> f32{"11_warp_streams", run, Traits{}.needs_sm(90)};

}  // namespace
}  // namespace plumb
