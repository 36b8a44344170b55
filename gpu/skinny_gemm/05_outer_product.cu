// skinny_gemm, rung 5: outer products into 16 accumulators.
//
// Change    one element of X at a time, multiplied with a row of W into 16 sums: 16 independent chains
//           instead of one, and the registers of the row are free again.
// Traffic   X and Y once per 16 columns. W's row is one address for the whole warp, 16 bytes a load.
// Fails at  the loads of X, one element from each of 32 lines, with the arithmetic waiting for each. Rung 6
//           answers that.
// Source    the ladder's own step.
#include "gpu/skinny_gemm/common.hpp"

namespace plumb {
namespace {

using namespace skinny;

template <class T>
__global__ void __launch_bounds__(kThreads) skinny_outer_product(In<T> in, Out<T> out) {
  row_by_tiles<T, 1>(in, out, [&](T(&x)[1], Index row, Index k) { x[0] = in.X(row, k); });
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  launch_rows<T>(skinny_outer_product<T>, in, out, kCols, context);
}

PLUMB_REGISTER(SkinnyGemm, "05_outer_product", run, float, double);

}  // namespace
}  // namespace plumb
