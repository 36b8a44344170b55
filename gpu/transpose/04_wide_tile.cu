// transpose, rung 4: a 64 x 64 tile, two elements wide per thread each way.
//
// Change    sixteen elements in flight per thread, and rows of 64: 256 or 512 bytes of each row at a time in
//           either matrix, so memory pages are left less often. A lane moves elements tx and tx + 32 of a
//           row: still no alignment asked for.
// Traffic   as rung 2.
// Fails at  matrices narrower than a tile, where most of it is empty: rung 3 wastes less.
// Source    rung 3, with the register tiling of the gemm ladder.
#include "gpu/transpose/wide_tile.hpp"

namespace plumb {
namespace {

constexpr int kRows = 8;

template <class T>
void run(const Transpose::Problem<T>&, const Transpose::In<T, Space::device>& in,
         const Transpose::Out<T, Space::device>& out, Context& context) {
  transpose::run_wide_tiles<T, kRows>(in, out, context);
}

PLUMB_REGISTER(Transpose, "04_wide_tile", run, float, double, f16, bf16, e4m3);

}  // namespace
}  // namespace plumb
