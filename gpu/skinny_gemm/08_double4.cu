// skinny_gemm, rung 8: X by 32 bytes (double4), one row per thread.
//
// Change    two 16-byte loads side by side: each thread takes whole sectors.
// Traffic   compulsory: both halves of a sector are asked for at once.
// Fails at  the shape of the requests: each of the two instructions touches 32 lines and is served in as many
//           turns, and with a tile of 4 (fp32: 8) the arithmetic between loads is too short to cover them. A
//           little better than rung 7, behind rung 6. Needs bases and leading dimensions in multiples of 16
//           bytes.
// Source    the ladder's own step.
#include "gpu/skinny_gemm/common.hpp"

namespace plumb {
namespace {

using namespace skinny;

template <class T>
__global__ void __launch_bounds__(kThreads) skinny_double4(In<T> in, Out<T> out) {
  constexpr int kTile = 2 * Vector<T>::kLanes;
  row_by_tiles<T, kTile>(in, out, [&](T(&x)[kTile], Index row, Index k) { load_vectors<2>(x, in, row, k); });
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  launch_rows<T>(skinny_double4<T>, in, out, kCols, context);
}

PLUMB_REGISTER_WITH(SkinnyGemm, "08_double4", (run<T>, Traits{}.align(16)), float, double);

}  // namespace
}  // namespace plumb
