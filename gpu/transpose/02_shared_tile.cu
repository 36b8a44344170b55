// transpose, rung 2: a 32 x 32 tile turned in shared memory.
//
// Change    both reads and writes run along rows; the turn happens in shared memory.
// Traffic   compulsory bytes, coalesced both ways.
// Fails at  bank conflicts: a column of the tile lies in one bank, so reading it takes 32 turns. Rung 3
//           answers that.
// Source    Ruetsch and Micikevicius, "Optimizing Matrix Transpose in CUDA" (2009).
#include "gpu/transpose/tile.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Transpose::Problem<T>&, const Transpose::In<T, Space::device>& in,
         const Transpose::Out<T, Space::device>& out, Context& context) {
  transpose::run_tiles<T, 32, 8, 32>(in, out, context);
}

PLUMB_REGISTER(Transpose, "02_shared_tile", run, float, double);

}  // namespace
}  // namespace plumb
