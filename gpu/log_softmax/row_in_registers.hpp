// The kernel of rung 3: a row in the registers of a group of lanes. Apart from the rung because the adaptive one takes it too.
#pragma once
#include "gpu/log_softmax/common.hpp"

namespace plumb {
namespace log_softmax {

constexpr int kLanesThreads = 256;
constexpr Index kMostOfLanes = 1024;  // columns that 32 lanes hold

/// Lanes: per row, a power of two. Held: elements per lane, in pieces of V: a row is a round of pieces after
/// another, a lane each. V > 1 where the row is made of whole pieces on 16-byte boundaries.
template <class T, int Lanes, int Held, int V>
__global__ void __launch_bounds__(kLanesThreads) log_softmax_row_in_registers(In<T> in, Out<T> out) {
  const Index thread = static_cast<Index>(blockIdx.x) * kLanesThreads + threadIdx.x, row = thread / Lanes;
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

template <class T, int Lanes, int Held>
void start_lanes(const In<T>& in, const Out<T>& out, Context& context) {
  constexpr int kV = 16 / sizeof(T);
  const bool wide = whole_pieces<kV>(in, out);
  launch(wide ? log_softmax_row_in_registers<T, Lanes, Held, kV>
              : log_softmax_row_in_registers<T, Lanes, Held, 1>,
         ceil_div(in.x.rows, kLanesThreads / Lanes), kLanesThreads, 0, context.stream, in, out);
}

/// Of rows of 1 to kMostOfLanes columns.
template <class T>
void run_row_in_registers(const In<T>& in, const Out<T>& out, Context& context) {
  const Index n = in.x.cols;
  if (n <= 4) return start_lanes<T, 1, 4>(in, out, context);
  if (n <= 8) return start_lanes<T, 2, 4>(in, out, context);
  if (n <= 16) return start_lanes<T, 4, 4>(in, out, context);
  if (n <= 32) return start_lanes<T, 8, 4>(in, out, context);
  if (n <= 64) return start_lanes<T, 16, 4>(in, out, context);
  if (n <= 128) return start_lanes<T, 32, 4>(in, out, context);
  if (n <= 256) return start_lanes<T, 32, 8>(in, out, context);
  if (n <= 512) return start_lanes<T, 32, 16>(in, out, context);
  start_lanes<T, 32, 32>(in, out, context);
}

}  // namespace log_softmax
}  // namespace plumb
