// log_softmax, rung 3: the row in registers, by as many lanes as it needs.
//
// Change    x is read once and kept: 1 to 32 lanes per row by its width, up to 32 elements each (fp64 too:
//           frameworks read three times there). 16-byte pieces where rows are made of them, neighbouring
//           lanes taking neighbouring pieces; elements otherwise.
// Traffic   compulsory: x once, y once.
// Limits    fp32 / fp64: log_softmax_row_in_registers 17 to 75 / 28 to 119 registers; log_softmax_wide_row 30
//           / 58 registers, no spills (sm_90, nvcc 13.0, ptxas -v). Up to 128 columns 8 blocks of 256 threads
//           per SM; down to 3 / 2 at 1,024 columns.
// Fails at  rows beyond 1,024 elements, which take rung 2's three passes within the same kernel: rung 4 takes
//           a block for those.
// Source    PyTorch's persistent softmax has the same idea; ours holds fp64 as well.
#include "gpu/log_softmax/common.hpp"

namespace plumb {
namespace {

using namespace log_softmax;

constexpr int kThreads = 256;

/// Lanes: per row, a power of two. Held: elements per lane, in pieces of V: a row is a round of pieces after
/// another, a lane each. V > 1 where the row is made of whole pieces on 16-byte boundaries.
template <class T, int Lanes, int Held, int V>
__global__ void __launch_bounds__(kThreads) log_softmax_row_in_registers(In<T> in, Out<T> out) {
  const Index thread = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x, row = thread / Lanes;
  const int first = static_cast<int>(thread % Lanes) * V, cols = static_cast<int>(in.x.cols);
  const bool mine = row < in.x.rows;  // lanes without a row stay for the shuffles, and do the last one again
  const T* const x = in.x.data + (mine ? row : in.x.rows - 1) * in.x.ld + first;
  T* const y = out.y.data + (mine ? row : in.x.rows - 1) * out.y.ld + first;
  Piece<T, V> held[Held / V];
  T m = lowest<T>(), s = T(0);
#pragma unroll
  for (int p = 0; p < Held / V; ++p) {
    const bool inside = p * Lanes * V + first < cols;
    if (inside) held[p] = *reinterpret_cast<const Piece<T, V>*>(x + p * Lanes * V);
#pragma unroll
    for (int e = 0; e < V; ++e) {
      if (!inside) held[p].e[e] = lowest<T>();
      m = larger(m, held[p].e[e]);
    }
  }
  for (int d = Lanes / 2; d > 0; d /= 2) m = larger(m, __shfl_xor_sync(kAllLanes, m, d));
#pragma unroll
  for (int p = 0; p < Held / V; ++p) {
#pragma unroll
    for (int e = 0; e < V; ++e) {
      held[p].e[e] -= m;
      if (p * Lanes * V + first < cols) s += exp_of(held[p].e[e]);
    }
  }
  for (int d = Lanes / 2; d > 0; d /= 2) s += __shfl_xor_sync(kAllLanes, s, d);
  const T log_sum = log_of(s);
#pragma unroll
  for (int p = 0; p < Held / V; ++p) {
#pragma unroll
    for (int e = 0; e < V; ++e) held[p].e[e] -= log_sum;
    if (mine && p * Lanes * V + first < cols) *reinterpret_cast<Piece<T, V>*>(y + p * Lanes * V) = held[p];
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) log_softmax_wide_row(In<T> in, Out<T> out) {
  const Index i = (static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (i >= in.x.rows) return;  // whole warps
  T m = lowest<T>(), s = T(0);
  for (Index j = lane; j < in.x.cols; j += 32) m = larger(m, in.x(i, j));
  m = max_lanes(m);
  for (Index j = lane; j < in.x.cols; j += 32) s += exp_of(in.x(i, j) - m);
  const T log_sum = log_of(sum_lanes(s));
  for (Index j = lane; j < in.x.cols; j += 32) out.y(i, j) = finish(in.x(i, j), m, log_sum);
}

template <class T, int Lanes, int Held>
void start(const In<T>& in, const Out<T>& out, Context& context) {
  constexpr int kV = 16 / sizeof(T);
  const bool wide = whole_pieces<kV>(in, out);
  launch(wide ? log_softmax_row_in_registers<T, Lanes, Held, kV>
              : log_softmax_row_in_registers<T, Lanes, Held, 1>,
         ceil_div(in.x.rows, kThreads / Lanes), kThreads, 0, context.stream, in, out);
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  const Index n = in.x.cols;
  if (n <= 4) return start<T, 1, 4>(in, out, context);
  if (n <= 8) return start<T, 2, 4>(in, out, context);
  if (n <= 16) return start<T, 4, 4>(in, out, context);
  if (n <= 32) return start<T, 8, 4>(in, out, context);
  if (n <= 64) return start<T, 16, 4>(in, out, context);
  if (n <= 128) return start<T, 32, 4>(in, out, context);
  if (n <= 256) return start<T, 32, 8>(in, out, context);
  if (n <= 512) return start<T, 32, 16>(in, out, context);
  if (n <= 1024) return start<T, 32, 32>(in, out, context);
  launch(log_softmax_wide_row<T>, ceil_div(in.x.rows, kThreads / 32), kThreads, 0, context.stream, in, out);
}

const Register<LogSoftmax, float, Space::device> f32{"03_row_in_registers", run<float>};
const Register<LogSoftmax, double, Space::device> f64{"03_row_in_registers", run<double>};

}  // namespace
}  // namespace plumb
