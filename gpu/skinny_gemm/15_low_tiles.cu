// skinny_gemm, rung 15: rung 10 with tiles of a quarter of the rows.
//
// Change    a tile of 64 rows (fp64: 32) in place of 256 (128): some thousand rows then occupy all multiprocessors, and no block goes
//           along most of them alone. 128 bytes of a row at a time: half as many barriers in fp32, and whole pieces of rows that lie on no
//           16-byte boundary.
// Traffic   that of rung 10, and W four times as often from the second-level cache: a quarter of X's bytes for N = 16 in fp32, half in fp64.
// Fails at  many rows, where rung 10's larger tiles load W less often and multiply more for each load from shared memory.
// Source    as rung 10.
#include "gpu/skinny_gemm/kernels/stages.hpp"

namespace plumb {
namespace {

using namespace skinny;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_stages<LowTile<T>>(in, out, context);
}

PLUMB_REGISTER_WITH(SkinnyGemm, "15_low_tiles", (run<T>, Traits{}.needs_sm(80)), float, double);

}  // namespace
}  // namespace plumb
