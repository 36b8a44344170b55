// spmv, rung 5: rung 4 with the next round's column and value loaded while this round's x is awaited.
//
// Change    two sets of registers: the load of round r + 1 is issued before the gather of round r, so the
//           chain index -> gather of one round overlaps the next.
// Traffic   as rung 4.
// Fails at  rows of one round, where there is nothing to overlap; skew, as rung 4.
// Source    double buffering in registers, as in the tiled kernels of the gemm ladder.
#include "gpu/spmv/kernels/vector_per_row.hpp"

namespace plumb {
namespace {

using namespace spmv;

template <class T, int Width>
__global__ void __launch_bounds__(kVectorThreads)
    spmv_vector_double_buffer(Problem<T> p, In<T> in, Out<T> out) {
  const Index i = (static_cast<Index>(blockIdx.x) * kVectorThreads + threadIdx.x) / Width;
  const int lane = static_cast<int>(threadIdx.x) % Width;
  const bool mine = i < in.A.rows;
  const Index end = mine ? in.A.row_ptr[i + 1] : 0;
  Index k = mine ? in.A.row_ptr[i] + static_cast<Index>(lane) : 0;
  std::int32_t col = 0, next_col = 0;
  T val = T(0), next_val = T(0);
  if (k < end) col = __ldg(in.A.col + k), val = __ldg(in.A.val + k);
  T sum = T(0);
  for (; k < end; k += Width) {
    if (k + Width < end) next_col = __ldg(in.A.col + k + Width), next_val = __ldg(in.A.val + k + Width);
    sum += val * __ldg(in.x.data + col);
    col = next_col, val = next_val;
  }
  sum = sum_lanes(sum, Width);
  if (mine && lane == 0) finish_row(p, out.y.data, i, sum);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  with_lanes(vector_width(in.A.rows, in.A.nnz), [&](auto lanes) {
    constexpr int kWidth = decltype(lanes)::value;
    launch(spmv_vector_double_buffer<T, kWidth>, ceil_div(in.A.rows, kVectorThreads / kWidth), kVectorThreads,
           0, context.stream, p, in, out);
  });
}

PLUMB_REGISTER(Spmv, "05_vector_double_buffer", run, float, double);

}  // namespace
}  // namespace plumb
