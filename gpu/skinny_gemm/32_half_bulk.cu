// skinny_gemm, rung 32: 16-bit elements on tensor cores, rows of X by bulk copies.
//
// Change    rung 31's lanes ask for 16 bytes of a row each and wait for them; here a warp brings runs of rows to shared memory by bulk copies, up
//           to three ahead, and no register holds what is on its way. A run of 16 rows begins on 16 bytes whatever k is, so rows of 11 terms
//           come as fast as rows of 128; rows of Y that no vector fits leave as a run, too.
// Traffic   X once for 64 columns; W once for a block.
// Limits    memory.
// Fails at  gaps between rows of X, and rows of which shared memory does not hold 16 for each warp: as rung 31. Few rows, of which each warp
//           has one run.
// Source    PTX ISA, "cp.async.bulk"; rung 19, whole rows of fp32.
#include "gpu/skinny_gemm/kernels/half_bulk.hpp"

namespace plumb {
namespace {

using namespace skinny;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  if (half::bulk_takes<T>(in, out)) return half::run_bulk(in, out, context);
  context.explain("rows are no runs of bytes, or longer than a warp's shared memory: as rung 31");
  half::run_fragments(in, out, context);
}

PLUMB_REGISTER_WITH(SkinnyGemm, "32_half_bulk", (run<T>, Traits{}.needs_sm(90)), f16, bf16, f16_f32,
                    bf16_f32);

}  // namespace
}  // namespace plumb
