// The kernel of the bias_relu rungs that move 16 bytes at a time: they differ in how many a thread has under
// way. Header only.
#pragma once
#include "gpu/bias_relu/common.hpp"

namespace plumb {
namespace bias_relu {

constexpr int kVectorThreads = 256;

template <int InFlight, class T, class I>
__global__ void __launch_bounds__(kVectorThreads)
    bias_relu_vector_loads(Problem<T> p, In<T> in, Out<T> out, I vectors /* rows * per_row */, I per_row) {
  constexpr int kLanes = kPackOf<in_t<T>>;
  using V = Pack<in_t<T>, kLanes>;
  const Index first = static_cast<Index>(blockIdx.x) * (kVectorThreads * InFlight) + threadIdx.x;
  V held[InFlight];
  I row[InFlight], col[InFlight];
#pragma unroll
  for (int u = 0; u < InFlight; ++u) {
    const Index at = first + u * kVectorThreads;
    const I v = static_cast<I>(at);
    const bool mine = at < static_cast<Index>(vectors);
    row[u] = mine ? v / per_row : 0;
    col[u] = mine ? (v - row[u] * per_row) * kLanes : static_cast<I>(in.x.cols);
    if (static_cast<Index>(col[u]) + kLanes <= in.x.cols)
      held[u] = *reinterpret_cast<const V*>(&in.x(row[u], col[u]));
  }
#pragma unroll
  for (int u = 0; u < InFlight; ++u) {
    if (static_cast<Index>(col[u]) + kLanes <= in.x.cols) {
      scalar_t<T> y[kLanes];
      if (in.b.size > 0) {
        const V b = *reinterpret_cast<const V*>(&in.b[col[u]]);
#pragma unroll
        for (int l = 0; l < kLanes; ++l) y[l] = activate(value(held[u].at[l]), value(b.at[l]), p.cap);
      } else {
#pragma unroll
        for (int l = 0; l < kLanes; ++l) y[l] = activate(value(held[u].at[l]), p.bias, p.cap);
      }
      store_pack<kLanes>(&out.y(row[u], col[u]), y, false);
    } else {
      for (Index j = col[u]; j < in.x.cols; ++j)
        out.y(row[u], j) = stored<out_t<T>>(activate(value(in.x(row[u], j)), bias_of(p, in, j), p.cap));
    }
  }
}

/// Loads and stores of 16 bytes, InFlight of them per thread; bases and leading dimensions are multiples of 16.
template <int InFlight, class T>
void run_vectors(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const Index per_row = ceil_div(in.x.cols, kPackOf<in_t<T>>), vectors = in.x.rows * per_row;
  const Index blocks = ceil_div(vectors, kVectorThreads * InFlight);
  if (vectors * kPackOf<in_t<T>> < 0x7fffffff) {
    launch(bias_relu_vector_loads<InFlight, T, unsigned>, blocks, kVectorThreads, 0, context.stream, p, in,
           out, static_cast<unsigned>(vectors), static_cast<unsigned>(per_row));
  } else {
    launch(bias_relu_vector_loads<InFlight, T, Index>, blocks, kVectorThreads, 0, context.stream, p, in, out,
           vectors, per_row);
  }
}

}  // namespace bias_relu
}  // namespace plumb
