// sddmm, rung 3: one warp per entry, lanes along k, summed by shuffles.
//
// Change    a row of Y is read side by side: its sectors are used whole.
// Traffic   2 k elements per entry, coalesced; X and row_ptr mostly from the L1.
// Fails at  short k: at k = 32 a lane has one product and then five shuffles; and every entry waits for its
//           own search before its first load. Rungs 4 and 6 answer these.
// Source    M. Harris, "Faster Parallel Reductions on Kepler" (2014), for the reduction.
#include "gpu/sddmm/common.hpp"

namespace plumb {
namespace {

using namespace sddmm;

template <class T>
__global__ void __launch_bounds__(kThreads) sddmm_warp_per_entry(In<T> in, Out<T> out) {
  const Index e = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (e >= in.A.nnz) return;  // whole warps
  const in_t<T>* x = in.X.data + row_of(in.A.row_ptr, 0, in.A.rows, e) * in.X.ld;
  const in_t<T>* y = in.Y.data + in.A.col[e] * in.Y.ld;
  scalar_t<T> sum = 0;
  for (Index k = lane; k < in.X.cols; k += 32) sum += value(x[k]) * value(y[k]);
  sum = sum_lanes(sum, 32);
  if (lane == 0) out.s.data[e] = stored<out_t<T>>(sum);
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  launch(sddmm_warp_per_entry<T>, ceil_div(in.A.nnz, kThreads / 32), kThreads, 0, context.stream, in, out);
}

PLUMB_REGISTER(Sddmm, "03_warp_per_entry", run, float, double);

}  // namespace
}  // namespace plumb
