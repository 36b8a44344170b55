// skinny_gemm, rung 31: 16-bit elements on tensor cores, X straight from global memory.
//
// Change    what rung 12 does for fp64, for f16 and bf16: words of X are the operands of an mma as they are loaded, 16 bytes a lane, since
//           terms may go to its places in any order; W lies in shared memory as lanes need it, once for a block of eight warps. A lane's
//           columns of Y are neighbours, and are stored together. Warps of a block share the terms where rows are few.
// Traffic   X once for 64 columns; W once for a block, or, deeper than 2048 to 256 terms, once for its rows.
// Limits    memory, up to 32 columns; beyond, what shared memory gives of W.
// Fails at  rows that do not lie on 16 bytes: smaller loads. Some hundred columns and more: rung 33 takes gemm's tiles then.
// Source    PTX ISA, "Matrix Fragments for mma.m16n8k16"; the order of terms our own.
#include "gpu/skinny_gemm/kernels/half_fragments.hpp"

namespace plumb {
namespace {

using namespace skinny;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  half::run_fragments(in, out, context);
}

PLUMB_REGISTER_WITH(SkinnyGemm, "31_half_fragments", (run<T>, Traits{}.needs_sm(80)), f16, bf16, f16_f32,
                    bf16_f32);

}  // namespace
}  // namespace plumb
