// spmv, rung 6: rung 4 as a pipeline of three stages: load the entry of round r + 2, gather x for round r +
// 1, add round r.
//
// Change    the gather too is issued a round before it is needed; rung 5 only hid the load of the index.
// Traffic   as rung 4.
// Fails at  rows of one or two rounds: the pipeline never fills; skew, as rung 4.
// Source    software pipelining (Lam, PLDI'88).
#include "gpu/spmv/kernels/vector_per_row.hpp"

namespace plumb {
namespace {

using namespace spmv;

template <class T, int Width>
__global__ void __launch_bounds__(kVectorThreads) spmv_vector_pipeline(Problem<T> p, In<T> in, Out<T> out) {
  const Index i = (static_cast<Index>(blockIdx.x) * kVectorThreads + threadIdx.x) / Width;
  const int lane = static_cast<int>(threadIdx.x) % Width;
  const bool mine = i < in.A.rows;
  const Index end = mine ? in.A.row_ptr[i + 1] : 0;
  Index k = mine ? in.A.row_ptr[i] + static_cast<Index>(lane) : 0;
  // round r: val0, x0;  round r + 1: col1, val1;  nothing is loaded past the row's end
  std::int32_t col1 = 0;
  T val0 = T(0), x0 = T(0), val1 = T(0);
  if (k < end) val0 = __ldg(in.A.val + k), x0 = __ldg(in.x.data + __ldg(in.A.col + k));
  if (k + Width < end) col1 = __ldg(in.A.col + k + Width), val1 = __ldg(in.A.val + k + Width);
  T sum = T(0);
  for (; k < end; k += Width) {
    T x1 = T(0), val2 = T(0);
    std::int32_t col2 = 0;
    if (k + Width < end) x1 = __ldg(in.x.data + col1);
    if (k + 2 * Width < end) col2 = __ldg(in.A.col + k + 2 * Width), val2 = __ldg(in.A.val + k + 2 * Width);
    sum += val0 * x0;
    val0 = val1, x0 = x1, col1 = col2, val1 = val2;
  }
  sum = sum_lanes(sum, Width);
  if (mine && lane == 0) finish_row(p, out.y.data, i, sum);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  with_lanes(vector_width(in.A.rows, in.A.nnz), [&](auto lanes) {
    constexpr int kWidth = decltype(lanes)::value;
    launch(spmv_vector_pipeline<T, kWidth>, ceil_div(in.A.rows, kVectorThreads / kWidth), kVectorThreads, 0,
           context.stream, p, in, out);
  });
}

PLUMB_REGISTER(Spmv, "06_vector_pipeline", run, float, double);

}  // namespace
}  // namespace plumb
