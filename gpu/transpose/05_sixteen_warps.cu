// transpose, rung 5: rung 4's tile by twice as many threads.
//
// Change    16 warps with eight elements each in place of 8 with sixteen: fewer registers, so a
//           multiprocessor is full, and the barrier waits for less.
// Traffic   as rung 2.
// Fails at  as rung 4.
// Source    the ladder's own step.
#include "gpu/transpose/wide_tile.hpp"

namespace plumb {
namespace {

constexpr int kRows = 16;

template <class T>
void run(const Transpose::Problem<T>&, const Transpose::In<T, Space::device>& in,
         const Transpose::Out<T, Space::device>& out, Context& context) {
  transpose::run_wide_tiles<T, kRows>(in, out, context);
}

PLUMB_REGISTER(Transpose, "05_sixteen_warps", run, float, double);

}  // namespace
}  // namespace plumb
