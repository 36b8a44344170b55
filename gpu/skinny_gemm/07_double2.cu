// skinny_gemm, rung 7: X by 16-byte loads (double2), one row per thread.
//
// Change    a tile of K is one vector: one load where rung 6 has two (fp32: four).
// Traffic   compulsory, if the caches hold what they were given: a load takes 16 bytes of a 32-byte sector in
//           each of 32 rows, 1 KB apart. The next load reads the other halves, when 32 warps times 32
//           lines have passed through the same cache.
// Fails at  just that: half of each sector is lost or fetched twice, and only one load is in flight per
//           thread, so it loses to rung 6 although it issues half as many loads. Wide loads help where lanes
//           are neighbours, which they are not. Needs bases and leading dimensions in multiples of 16 bytes.
// Source    the ladder's own step.
#include "gpu/skinny_gemm/common.hpp"

namespace plumb {
namespace {

using namespace skinny;

template <class T>
__global__ void __launch_bounds__(kThreads) skinny_double2(In<T> in, Out<T> out) {
  constexpr int kTile = Vector<T>::kLanes;
  row_by_tiles<T, kTile>(in, out, [&](T(&x)[kTile], Index row, Index k) { load_vectors<1>(x, in, row, k); });
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  launch_rows<T>(skinny_double2<T>, in, out, kCols, context);
}

PLUMB_REGISTER_WITH(SkinnyGemm, "07_double2", (run<T>, Traits{}.align(16)), float, double);

}  // namespace
}  // namespace plumb
