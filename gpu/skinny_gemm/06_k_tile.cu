// skinny_gemm, rung 6: K in tiles of 16 elements in registers.
//
// Change    16 loads of X in flight before the 256 multiply-adds that need them; together they use up the
//           sectors they touch (4 of 32 bytes in fp64), before the cache can lose them.
// Traffic   X and Y once per 16 columns.
// Fails at  a warp still touches 32 lines per load, and each load brings 8 of the 32 bytes of its sectors.
//           Rungs 7 and 8 try wider loads; rung 9 gives neighbouring lanes neighbouring elements.
// Source    the ladder's own step.
#include "gpu/skinny_gemm/kernels/k_tile.hpp"

namespace plumb {
namespace {

using namespace skinny;

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  run_k_tile(in, out, context);
}

PLUMB_REGISTER(SkinnyGemm, "06_k_tile", run, float, double);

}  // namespace
}  // namespace plumb
