// spmm, rung 14: a block for each row of A.
//
// Change    rung 9's loop, but all warps of a block share the entries of one row and add their sums in shared
//           memory: a few hundred rows of a hundred entries keep the whole device busy, and no warp goes
//           along a row alone.
// Traffic   as rung 3.
// Limits    One block of up to 512 threads for a row and a panel of columns.
// Fails at  many short rows, whose blocks have nothing to share.
// Source    the ladder's own step.
#include "gpu/spmm/block_rows.hpp"

namespace plumb {
namespace {

using namespace spmm;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_block_rows(vector_length(in, out), in, out, context);
}

PLUMB_REGISTER(Spmm, "14_block_per_row", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
