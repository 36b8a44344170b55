// gemv, rung 2: one warp per row.
//
// Change    the lanes of a warp read neighbouring columns; the row is summed by shuffle.
// Traffic   compulsory bytes, coalesced; x from the cache.
// Fails at  bandwidth: one 4-byte load in flight per lane and step. Rung 3 answers that.
// Source    the vector kernel of Bell and Garland, SC'09, on a dense row.
#include "gpu/gemv/common.hpp"

namespace plumb {
namespace {

using namespace gemv;

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) gemv_warp_per_row(Problem<T> p, In<T> in, Out<T> out) {
  const Index i = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (i >= in.A.rows) return;  // whole warps
  const Index cols = columns(p, in);
  T sum = T(0);
  for (Index k = lane; k < cols; k += 32) sum += in.A(i, k) * in.x[k];
  sum = sum_lanes(sum);
  if (lane == 0) finish_row(p, out.y.data, i, sum);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  launch(gemv_warp_per_row<T>, ceil_div(in.A.rows, kThreads / 32), kThreads, 0, context.stream, p, in, out);
}

PLUMB_REGISTER(Gemv, "02_warp_per_row", run, float, double);

}  // namespace
}  // namespace plumb
