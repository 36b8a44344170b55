// sddmm, rung 2: one warp per row, each lane an entry of it.
//
// Change    no search; all lanes read the same element of X, so that half of the reads become broadcasts.
// Traffic   as rung 1 for Y, k elements per row for X.
// Fails at  rows shorter than a warp, whose lanes idle, and giant rows, which one warp walks alone. The reads
//           of Y are still one sector each. Rungs 3 and 6 answer these.
// Source    Bell and Garland, SC'09, whose CSR-vector gives a row to a warp.
#include "gpu/sddmm/common.hpp"

namespace plumb {
namespace {

using namespace sddmm;

template <class T>
__global__ void __launch_bounds__(kThreads) sddmm_warp_per_row(In<T> in, Out<T> out) {
  const Index i = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  if (i >= in.A.rows) return;
  const Index end = in.A.row_ptr[i + 1];
  const in_t<T>* x = in.X.data + i * in.X.ld;
  for (Index e = in.A.row_ptr[i] + static_cast<int>(threadIdx.x) % 32; e < end; e += 32) {
    const in_t<T>* y = in.Y.data + in.A.col[e] * in.Y.ld;
    scalar_t<T> sum = 0;
    for (Index k = 0; k < in.X.cols; ++k) sum += value(x[k]) * value(y[k]);
    out.s.data[e] = stored<out_t<T>>(sum);
  }
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  launch(sddmm_warp_per_row<T>, ceil_div(in.A.rows, kThreads / 32), kThreads, 0, context.stream, in, out);
}

PLUMB_REGISTER(Sddmm, "02_warp_per_row", run, float, double);

}  // namespace
}  // namespace plumb
