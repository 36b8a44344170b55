// The kernel of rung 6: a row in the registers of a block. Apart from the rung because the adaptive one takes it too.
#pragma once
#include "gpu/log_softmax/common.hpp"

namespace plumb {
namespace log_softmax {

constexpr Index kMostOfBlock = 16384;  // columns that a block holds

/// Held: elements per thread, in pieces of V as in rung 3.
template <class T, int Threads, int Held, int V>
__global__ void __launch_bounds__(Threads) log_softmax_block_in_registers(In<T> in, Out<T> out) {
  using S = scalar_t<T>;
  __shared__ S scratch[Threads / 32];
  const Index row = blockIdx.x;
  const int first = static_cast<int>(threadIdx.x) * V, cols = static_cast<int>(in.x.cols);
  constexpr int kStride = Threads * V;
  HeldRow<Held, V, S> held;
  held.load(in.x.data + row * in.x.ld, first, cols, kStride, lowest<S>());
  const S m = max_block<Threads>(max_of(held), scratch);
  const S log_sum = log_of(sum_block<Threads>(subtract_and_sum(held, m, first, cols, kStride), scratch));
  held.each([log_sum](S& x) { x -= log_sum; });
  held.store(out.y.data + row * out.y.ld, first, cols, kStride);
}

template <class T, int Threads, int Held>
void start_block(const In<T>& in, const Out<T>& out, Context& context) {
  constexpr int kV = kPieceOf<in_t<T>, Held>;
  launch(in_pieces<kV>(in.x) && in_pieces<kV>(out.y) ? log_softmax_block_in_registers<T, Threads, Held, kV>
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
