// spmm, rung 2: one warp per row, a lane per column.
//
// Change    the unit is a row: its bounds are read once, and a warp that ends frees its place for another at
//           once, where a block of eight rows waited for its longest.
// Traffic   as rung 1; indices and values once more for every 32 columns.
// Fails at  widths below 32: the lanes beyond are idle.
#include "gpu/spmm/common.hpp"

namespace plumb {
namespace {

using namespace spmm;

constexpr int kThreads = 128;

template <class T>
__global__ void __launch_bounds__(kThreads) spmm_row_per_warp(In<T> in, Out<T> out) {
  const Index i = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  if (i >= out.C.rows) return;
  const Index begin = in.A.row_ptr[i], end = in.A.row_ptr[i + 1];
  for (Index j = threadIdx.x % 32; j < out.C.cols; j += 32) {
    scalar_t<T> sum = 0;
    for (Index k = begin; k < end; ++k)
      sum += load_value(in.A.val + k) * load_value(&in.B(__ldg(in.A.col + k), j));
    out.C(i, j) = stored<out_t<T>>(sum);
  }
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  launch(spmm_row_per_warp<T>, ceil_div(out.C.rows, kThreads / 32), kThreads, 0, context.stream, in, out);
}

PLUMB_REGISTER(Spmm, "02_row_per_warp", run, float, double);

}  // namespace
}  // namespace plumb
