// The kernels of rung 3. Apart from the rung because the adaptive one takes them too.
#pragma once
#include "gpu/common/scan.hpp"
#include "gpu/dense_to_csr/common.hpp"

namespace plumb {
namespace dense_to_csr {

static_assert(kThreads == kScanThreads, "the block is scanned whole");

template <int N, class T>
__global__ void __launch_bounds__(kThreads) dense_to_csr_block_counts(In<T> in, Out<T> out) {
  __shared__ int scratch[kWarps];
  const Index i = blockIdx.x;
  int count = 0;
  for (Index j = static_cast<Index>(threadIdx.x) * N; j < in.x.cols; j += kThreads * N)
    count += count_non_zeros(load_piece<N>(in.x.data + i * in.x.ld, j, in.x.cols));
  int total = 0;
  scan_block(count, total, scratch);
  if (threadIdx.x == 0) out.row_ptr.data[i + 1] = total;
}

template <int N, class T>
__global__ void __launch_bounds__(kThreads) dense_to_csr_block_fills(In<T> in, Out<T> out) {
  __shared__ int scratch[kWarps];
  const Index i = blockIdx.x;
  Index begin = out.row_ptr.data[i];
  for (Index base = 0; base < in.x.cols; base += kThreads * N) {
    const Index j = base + static_cast<Index>(threadIdx.x) * N;
    const Piece<T, N> piece = load_piece<N>(in.x.data + i * in.x.ld, j, in.x.cols);
    int total = 0;
    Index at = begin + scan_block(count_non_zeros(piece), total, scratch);
#pragma unroll
    for (int u = 0; u < N; ++u) {
      if (!(piece.element[u] != T(0))) continue;
      out.col.data[at] = static_cast<std::int32_t>(j + u);
      out.val.data[at] = piece.element[u];
      ++at;
    }
    begin += total;
  }
}

template <int N, class T>
void run_block_pieces(const In<T>& in, const Out<T>& out, Context& context) {
  launch(dense_to_csr_block_counts<N, T>, in.x.rows, kThreads, 0, context.stream, in, out);
  scan_counts(out.row_ptr.data, in.x.rows, context);
  launch(dense_to_csr_block_fills<N, T>, in.x.rows, kThreads, 0, context.stream, in, out);
}

template <class T>
void run_block_per_row(const In<T>& in, const Out<T>& out, Context& context) {
  if (on_16_bytes(in))
    run_block_pieces<kVector<T>>(in, out, context);
  else
    run_block_pieces<1>(in, out, context);
}

}  // namespace dense_to_csr
}  // namespace plumb
