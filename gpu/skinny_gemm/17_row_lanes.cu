// skinny_gemm, rung 17: the lanes of a warp share the depth of a few rows.
//
// Change    no stages: a warp reads two to eight rows, their terms side by side, straight into registers, 128 or 512 bytes of a row with
//           a load; W lies turned in shared memory, so that a lane's terms of it are side by side too. Every lane sums its share of
//           every element; at the end lanes hand each other halves of their sums, until each has the total of one or two.
// Traffic   compulsory for up to 16 columns, X again for each further 16; W once from the second-level cache for each block, and where
//           it has more than 4 KB a column once for each set of rows.
// Fails at  more than 16 columns; little depth, which has no work for 32 lanes and much for the sums: rungs 10 and 6.
// Source    the sums: "Faster Parallel Reductions on Kepler" (NVIDIA, 2014), for many sums at once.
#include "gpu/skinny_gemm/kernels/row_lanes.hpp"

namespace plumb {
namespace {

using namespace skinny;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  row_lanes::run_row_lanes(in, out, context);
}

PLUMB_REGISTER_WITH(SkinnyGemm, "17_row_lanes", (run<T>, Traits{}.needs_sm(80)), float, double);

}  // namespace
}  // namespace plumb
