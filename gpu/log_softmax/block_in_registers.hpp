// The kernel of rung 6: a row in the registers of a block. Apart from the rung because the adaptive one takes it too.
#pragma once
#include "gpu/log_softmax/common.hpp"

namespace plumb {
namespace log_softmax {

constexpr Index kMostOfBlock = 16384;  // columns that a block holds

/// Held: elements per thread, in pieces of V as in rung 3.
template <class T, int Threads, int Held, int V>
__global__ void __launch_bounds__(Threads) log_softmax_block_in_registers(In<T> in, Out<T> out) {
  __shared__ T scratch[Threads / 32];
  const Index row = blockIdx.x;
  const int first = static_cast<int>(threadIdx.x) * V, cols = static_cast<int>(in.x.cols);
  const T* const x = in.x.data + row * in.x.ld + first;
  T* const y = out.y.data + row * out.y.ld + first;
  Piece<T, V> held[Held / V];
  T m = lowest<T>(), s = T(0);
#pragma unroll
  for (int p = 0; p < Held / V; ++p) {
    const bool inside = p * Threads * V + first < cols;
    if (inside) held[p] = *reinterpret_cast<const Piece<T, V>*>(x + p * Threads * V);
#pragma unroll
    for (int e = 0; e < V; ++e) {
      if (!inside) held[p].e[e] = lowest<T>();
      m = larger(m, held[p].e[e]);
    }
  }
  m = max_block<Threads>(m, scratch);
#pragma unroll
  for (int p = 0; p < Held / V; ++p) {
#pragma unroll
    for (int e = 0; e < V; ++e) {
      held[p].e[e] -= m;
      if (p * Threads * V + first < cols) s += exp_of(held[p].e[e]);
    }
  }
  const T log_sum = log_of(sum_block<Threads>(s, scratch));
#pragma unroll
  for (int p = 0; p < Held / V; ++p) {
#pragma unroll
    for (int e = 0; e < V; ++e) held[p].e[e] -= log_sum;
    if (p * Threads * V + first < cols) *reinterpret_cast<Piece<T, V>*>(y + p * Threads * V) = held[p];
  }
}

template <class T, int Threads, int Held>
void start_block(const In<T>& in, const Out<T>& out, Context& context) {
  constexpr int kV = 16 / sizeof(T);
  launch(whole_pieces<kV>(in, out) ? log_softmax_block_in_registers<T, Threads, Held, kV>
                                   : log_softmax_block_in_registers<T, Threads, Held, 1>,
         in.x.rows, Threads, 0, context.stream, in, out);
}

/// Threads that a row of `cols` columns takes, at most 16 elements each.
inline int block_threads(Index cols) { return cols <= 4096 ? 256 : cols <= 8192 ? 512 : 1024; }

/// Of rows of 1 to kMostOfBlock columns.
template <class T>
void run_block_in_registers(const In<T>& in, const Out<T>& out, Context& context) {
  const Index n = in.x.cols;
  if (n <= 1024) return start_block<T, 256, 4>(in, out, context);
  if (n <= 2048) return start_block<T, 256, 8>(in, out, context);
  if (n <= 4096) return start_block<T, 256, 16>(in, out, context);
  if (n <= 8192) return start_block<T, 512, 16>(in, out, context);
  start_block<T, 1024, 16>(in, out, context);
}

}  // namespace log_softmax
}  // namespace plumb
