// dense_to_csr, rung 3: one block per row, 16-byte loads.
//
// Change    a block reads 4 KB of a row at once; places come from a scan over the block.
// Traffic   x twice, coalesced; where rows do not lie on 16 bytes, single elements.
// Fails at  narrow rows: most threads of the block idle, and every tile waits for two barriers.
//           Rungs 4 and 5 answer these.
// Source    Blelloch, "Prefix Sums and Their Applications" (1990).
#include "gpu/dense_to_csr/block_per_row.hpp"

namespace plumb {
namespace {

using namespace dense_to_csr;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_block_per_row(in, out, context);
}

PLUMB_REGISTER(DenseToCsr, "03_block_per_row", run, float, double);

}  // namespace
}  // namespace plumb
