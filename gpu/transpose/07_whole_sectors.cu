// transpose, rung 7: pieces of B's rows begin on sectors.
//
// Change    rung 4's tile, moved for each row of B to where that row's sectors of 32 bytes begin: rows that do
//           not lie on sectors are written in whole sectors all the same.
// Traffic   as rung 2, and up to 7 rows of A (fp64: 3) more for 64, from the second-level cache.
// Fails at  rows of B on sectors, where it reads more for nothing.
// Source    the ladder's own step.
#include "gpu/transpose/sector_tile.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Transpose::Problem<T>&, const Transpose::In<T, Space::device>& in,
         const Transpose::Out<T, Space::device>& out, Context& context) {
  transpose::run_sector_tiles<T>(in, out, context);
}

PLUMB_REGISTER(Transpose, "07_whole_sectors", run, float, double, f16, bf16, e4m3);

}  // namespace
}  // namespace plumb
