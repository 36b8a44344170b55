// transpose, rung 9: 16-bit elements four by four.
//
// Change    rung 8 moves 128 bytes of a row at a time, which memory serves at five sixths of its rate; here tiles of 128 x 128 have 256 bytes
//           of each row of A and of B, as fp32's tiles of 64 have. A thread turns squares of four by four in registers; squares are rotated
//           in shared memory instead of padded.
// Traffic   as rung 8, in longer pieces.
// Limits    memory.
// Fails at  matrices whose fours do not lie on eight bytes; small ones, which have few such tiles.
// Source    the ladder's own step.
#include "gpu/transpose/pair_tile.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Transpose::Problem<T>&, const Transpose::In<T, Space::device>& in,
         const Transpose::Out<T, Space::device>& out, Context& context) {
  transpose::run_four_tiles<T>(in, out, context);
}

PLUMB_REGISTER_WITH(Transpose, "09_fours", (run<T>, Traits{}.align(8)), f16, bf16);

}  // namespace
}  // namespace plumb
