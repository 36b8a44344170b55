// spmv, rung 3: one warp per row ("vector CSR").
//
// Change    the row's unit shrinks from a block to a warp: no barrier, sums by shuffle.
// Traffic   compulsory bytes, coalesced within a row; a row shorter than 32 entries wastes lanes, not bytes.
// Fails at  rows shorter than a warp (5 of 32 lanes busy) and giant rows (one warp for all of it). Rung 4
//           answers the first, rungs 8 and 12 the second.
// Source    Bell and Garland, SC'09 (vector CSR kernel).
#include "gpu/spmv/kernels/vector_per_row.hpp"

namespace plumb {
namespace {

using namespace spmv;

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  run_vector_per_row(32, p, in, out, context);
}

PLUMB_REGISTER(Spmv, "03_warp_per_row", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
