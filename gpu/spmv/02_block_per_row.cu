// spmv, rung 2: one block per row.
//
// Change    the entries of a row are shared out among the 128 threads of a block, and summed by a tree.
// Traffic   compulsory bytes, coalesced; the row's last round leaves most of the block idle.
// Fails at  short rows: a row of 5 entries keeps 5 of 128 threads busy and still pays two barriers. Rung 3
//           answers that.
// Source    the vector kernel of Bell and Garland, SC'09, with the block as its unit.
#include "gpu/spmv/kernels/block_per_row.hpp"

namespace plumb {
namespace {

using namespace spmv;

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  run_block_per_row(p, in, out, context);
}

PLUMB_REGISTER(Spmv, "02_block_per_row", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
