// gemm, rung 4: operands padded to whole tiles, C unpadded at the end.
//
// Change    rung 3 without a comparison in its loop: A and B are first copied into workspace whose sizes are
//           multiples of the tile, zeros around them, and the product is copied out of a padded C.
// Traffic   that of rung 3, and A, B and C passing through memory twice more: O(n^2), against O(n^3) of
//           arithmetic.
// Fails at  small and thin matrices, where the copies and their launches cost more than the guards did, and
//           at memory: it needs room for all three operands once more. Rung 5 goes back to guards, kept out
//           of the inner loop.
// Source    the ladder's own step: padding against branches.
#include "gpu/gemm/kernels/four_per_thread.hpp"

namespace plumb {
namespace {

using namespace gemm;
using S = FourPerThread;

constexpr int kCopyThreads = 256;

template <class T>
__global__ void __launch_bounds__(kCopyThreads)
    gemm_pad(DenseView<const T, Space::device> from, Index rows, Index cols,
             T* to /* (rows, ld), row-major */, Index ld, Index count) {
  const Index e = static_cast<Index>(blockIdx.x) * kCopyThreads + threadIdx.x;
  if (e < count) to[e] = load_or_zero(from, e / ld, e % ld, rows, cols);
}

template <class T>
__global__ void __launch_bounds__(S::kThreads)
    gemm_padded(const T* a /* (m', k') */, const T* b /* (k', n') */, T* c /* (m', n') */, Index k_padded,
                Index n_padded) {
  const TileIndex tile = tile_index(n_padded / S::kTile);
  T sum[2][2] = {};
  four_per_thread(
      sum, tile.m, tile.n, k_padded, [&](Index i, Index k) { return a[i * k_padded + k]; },
      [&](Index k, Index j) { return b[k * n_padded + j]; });
#pragma unroll
  for (int r = 0; r < 2; ++r) {
#pragma unroll
    for (int q = 0; q < 2; ++q) {
      c[(tile.m * S::kTile + threadIdx.y + r * S::kSide) * n_padded + tile.n * S::kTile + threadIdx.x +
        q * S::kSide] = sum[r][q];
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kCopyThreads)
    gemm_unpad(Problem<T> p, const T* c /* (m', n') */, Index n_padded, Out<T> out) {
  const Index e = static_cast<Index>(blockIdx.x) * kCopyThreads + threadIdx.x;
  if (e >= out.C.rows * out.C.cols) return;
  const Index i = e / out.C.cols, j = e % out.C.cols;
  finish(p, &out.C(i, j), c[i * n_padded + j]);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const Index depth = depth_of(p, in), m = ceil_div(out.C.rows, S::kTile) * S::kTile,
              n = ceil_div(out.C.cols, S::kTile) * S::kTile, k = ceil_div(depth, S::kDepth) * S::kDepth;
  if (m == 0 || n == 0) return;
  T* const a = static_cast<T*>(context.workspace(m * k * static_cast<Index>(sizeof(T))));
  T* const b = static_cast<T*>(context.workspace(k * n * static_cast<Index>(sizeof(T))));
  T* const c = static_cast<T*>(context.workspace(m * n * static_cast<Index>(sizeof(T))));
  launch(gemm_pad<T>, ceil_div(m * k, kCopyThreads), kCopyThreads, 0, context.stream, in.A, in.A.rows, depth,
         a, k, m * k);
  launch(gemm_pad<T>, ceil_div(k * n, kCopyThreads), kCopyThreads, 0, context.stream, in.B, depth, in.B.cols,
         b, n, k * n);
  launch(gemm_padded<T>, m / S::kTile * (n / S::kTile), dim3(S::kSide, S::kSide), 0, context.stream,
         static_cast<const T*>(a), static_cast<const T*>(b), c, k, n);
  launch(gemm_unpad<T>, ceil_div(out.C.rows * out.C.cols, kCopyThreads), kCopyThreads, 0, context.stream, p,
         static_cast<const T*>(c), n, out);
}

PLUMB_REGISTER(Gemm, "04_padded", run, float, double);

}  // namespace
}  // namespace plumb
