// skinny_gemm, rung 18: rung 10 with tiles of half of the rows, and 128 bytes of a row at a time.
//
// Change    a tile of 128 rows by 32 terms (fp64: 64 by 16) in place of 256 by 16 (128 by 16): a warp copies 128 bytes of a row with an
//           instruction also where rows lie on no 16-byte boundary, and more blocks share a multiprocessor. Copies alone of 160,487
//           rows of 279 (fp32, H100): pieces of 64 bytes 1,780 GB/s, of 128 bytes 2,350; of 32 bytes, as gemm's tiles had them, 1,270.
// Traffic   that of rung 10, and W twice as often from the second-level cache.
// Fails at  products whose arithmetic counts: half as many multiply-adds as in rung 10 for each load from shared memory.
// Source    as rung 10.
#include "gpu/skinny_gemm/kernels/stages.hpp"

namespace plumb {
namespace {

using namespace skinny;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_stages<MiddleTile<T>>(in, out, context);
}

PLUMB_REGISTER_WITH(SkinnyGemm, "18_middle_tiles", (run<T>, Traits{}.needs_sm(80)), float, double);

}  // namespace
}  // namespace plumb
