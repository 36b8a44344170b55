// dense_to_csr, rung 3: one block per row, 16-byte loads.
//
// Change    a block reads 4 KB of a row at once; places come from a scan over the block.
// Traffic   x twice, coalesced; where rows do not lie on 16 bytes, single elements.
// Limits    fp32 / fp64: dense_to_csr_block_counts 27 to 29 / 27 to 30 registers, 32 bytes of static shared
//           memory; dense_to_csr_block_fills 26 to 28 / 26 to 30 registers, 32 bytes of static shared memory;
//           dense_to_csr_scan_tiles 27 registers, 32 bytes of static shared memory; dense_to_csr_scan_totals
//           24 registers, 32 bytes of static shared memory; dense_to_csr_add_totals 10 registers, no spills
//           (sm_90, nvcc 13.0, ptxas -v). 8 blocks of 256 per SM.
// Fails at  narrow rows: most threads of the block idle, and every tile waits for two barriers.
//           Rungs 4 and 5 answer these.
// Source    Blelloch, "Prefix Sums and Their Applications" (1990).
#include "gpu/dense_to_csr/row_scan.hpp"

namespace plumb {
namespace {

using namespace dense_to_csr;

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
void run_pieces(const In<T>& in, const Out<T>& out, Context& context) {
  launch(dense_to_csr_block_counts<N, T>, in.x.rows, kThreads, 0, context.stream, in, out);
  scan_counts(out.row_ptr.data, in.x.rows, context);
  launch(dense_to_csr_block_fills<N, T>, in.x.rows, kThreads, 0, context.stream, in, out);
}

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  if (on_16_bytes(in))
    run_pieces<kVector<T>>(in, out, context);
  else
    run_pieces<1>(in, out, context);
}

const Register<DenseToCsr, float, Space::device> f32{"03_block_per_row", run<float>};
const Register<DenseToCsr, double, Space::device> f64{"03_block_per_row", run<double>};

}  // namespace
}  // namespace plumb
