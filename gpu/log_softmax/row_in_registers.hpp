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
  constexpr int kStride = Lanes * V;
  using S = scalar_t<T>;
  HeldRow<Held, V, S> held;
  held.load(in.x.data + (mine ? row : in.x.rows - 1) * in.x.ld, first, cols, kStride, lowest<S>());
  S m = max_of(held);
  for (int d = Lanes / 2; d > 0; d /= 2) m = larger(m, __shfl_xor_sync(kAllLanes, m, d));
  S s = subtract_and_sum(held, m, first, cols, kStride);
  for (int d = Lanes / 2; d > 0; d /= 2) s += __shfl_xor_sync(kAllLanes, s, d);
  const S log_sum = log_of(s);
  held.each([log_sum](S& x) { x -= log_sum; });
  if (mine) held.store(out.y.data + row * out.y.ld, first, cols, kStride);
}

template <class T, int Lanes, int Held>
void start_lanes(const In<T>& in, const Out<T>& out, Context& context) {
  constexpr int kV = kPieceOf<in_t<T>, Held>;
  const bool wide = in_pieces<kV>(in.x) && in_pieces<kV>(out.y);
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
