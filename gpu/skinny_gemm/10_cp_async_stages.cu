// skinny_gemm, rung 10: X and W copied asynchronously in stages, ordinary multiply-adds.
//
// Change    cp.async brings tiles of X (fp32: 256 rows by 16; fp64: 128 by 16), each with the rows of W that
//           it meets, two stages ahead and across the ends of rows, so that memory does not wait for
//           arithmetic. Copies are coalesced, independently of the arithmetic's order: a lane takes 8 (fp64: 4) rows 8
//           apart and 4 columns from shared memory, so that each load of X serves 16 multiply-adds and each
//           of W 32 (fp64: 8 and 8). Each block has one contiguous share of the rows. Where N > 16, rows
//           of Y that do not lie on 16-byte boundaries are gathered by their warp and written one by one.
// Traffic   compulsory for up to 64 columns, coalesced; W from the second-level cache, 6 (fp64: 12) % of X's.
// Limits    For N <= 16: 63 / 60 KiB of dynamic shared memory (N = 64: 72 / 78; to gather Y, 9 / 17 more) and
//           3 (N > 32: 2) blocks of 128 threads per SM, each with 32 KiB of X in flight.
// Fails at  nothing by design at N <= 64; fp64 arithmetic outside of the tensor cores has half of rung 9's
//           rate, which shows from N = 32.
// Source    PTX ISA, "cp.async"; Little's law for the bytes in flight.
#include "gpu/skinny_gemm/kernels/stages.hpp"

namespace plumb {
namespace {

using namespace skinny;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_stages<HighTile<T>>(in, out, context);
}

PLUMB_REGISTER_WITH(SkinnyGemm, "10_cp_async_stages", (run<T>, Traits{}.needs_sm(80)), float, double);

}  // namespace
}  // namespace plumb
