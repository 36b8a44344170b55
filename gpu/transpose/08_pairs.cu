// transpose, rung 8: 16-bit elements two by two.
//
// Change    rung 4's tiles of 64 move an element a lane, which of 16 bits makes half a line; here a lane moves a word of two neighbours, and a
//           thread turns squares of two by two in registers, so that rows of B are words in shared memory too.
// Traffic   as rung 4, in whole lines.
// Limits    memory.
// Fails at  matrices whose pairs do not lie on four bytes. Thin ones, whose tiles are mostly empty.
// Source    the ladder's own step.
#include "gpu/transpose/pair_tile.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Transpose::Problem<T>&, const Transpose::In<T, Space::device>& in,
         const Transpose::Out<T, Space::device>& out, Context& context) {
  transpose::run_pair_tiles<T>(in, out, context);
}

PLUMB_REGISTER_WITH(Transpose, "08_pairs", (run<T>, Traits{}.align(4)), f16, bf16);

}  // namespace
}  // namespace plumb
