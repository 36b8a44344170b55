// gemm, rung 15: operands packed beforehand in panels, tiles of them by bulk copies, the last round in parts
// (fp32).
//
// Change    rung 10 spends one copy instruction per element of A, because the turn must happen on the way
//           to shared memory, and as many for B where its rows are not aligned. Here a first kernel lays
//           both out in memory as panels of a tile's rows or columns, A turned, zeros past their ends: a
//           tile of either is one bulk copy (cp.async.bulk) that one thread starts, and the loop is
//           multiply-adds and loads. The tiles of a last round that is not full are each made by several
//           blocks, which share the depth, and a third kernel adds their sums in its order. Many rounds take
//           stages 32 deep; problems too small to pack take rung 18's tiles of 64 x 128.
// Traffic   that of rung 10, and A and B through memory once more: O(n^2).
// Limits    Where the loop's registers lie shows: two operands of one bank in 12 % of its multiply-adds
//           (stages of 32: 9), by the SASS; 20 (15) % when the last of a tile's blocks to end added the sums
//           in this kernel.
// Fails at  chips before sm_90; a single round of tiles, 2044: the loop alone, 338 us, is 1.03 of the
//           library's time, and packing shows. Rung 19 packs half as much.
// Source    K. Goto and R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008); PTX
//           ISA, "cp.async.bulk"; M. Osama et al., "Stream-K" (2023), for the last round.
#include "gpu/gemm/kernels/packed.hpp"

namespace plumb {
namespace {

using namespace gemm;

void run(const Problem<float>& p, const In<float>& in, const Out<float>& out, Context& context) {
  run_by_shape(p, in, out, context, [&](auto shape, Division division) {
    using S = decltype(shape);
    run_packed<S>(p, in, out, context, division, PackedB<S>{});
  });
}

const Register<Gemm, float, Space::device> f32{"15_packed", run, Traits{}.needs_sm(90)};

}  // namespace
}  // namespace plumb
