// gemv, rung 3: one warp per row, 16-byte loads, four in flight per lane.
//
// Change    rung 2 with vectors: a quarter of the loads, and 2 KB of each row in flight per warp.
// Traffic   compulsory bytes, coalesced.
// Fails at  few, wide rows: 3 rows of 40,000 keep 3 warps busy. Rung 4 answers that. Needs bases and ld in
//           multiples of 16 bytes.
// Source    J. Luitjens, "CUDA Pro Tip: Increase Performance with Vectorized Memory Access" (2013).
#include "gpu/gemv/vector_loads.hpp"

namespace plumb {
namespace {

using namespace gemv;

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) gemv_vector_loads(Problem<T> p, In<T> in, Out<T> out) {
  const Index i = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (i >= in.A.rows) return;  // whole warps
  const T sum =
      sum_lanes(dot_share<Vector<T>>(in.A.data + i * in.A.ld, in.x.data, 0, columns(p, in), lane, 32));
  if (lane == 0) finish_row(p, out.y.data, i, sum);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  launch(gemv_vector_loads<T>, ceil_div(in.A.rows, kThreads / 32), kThreads, 0, context.stream, p, in, out);
}

PLUMB_REGISTER_WITH(Gemv, "03_vector_loads", (run<T>, Traits{}.align(16)), float, double);

}  // namespace
}  // namespace plumb
