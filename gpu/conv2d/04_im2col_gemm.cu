// conv2d, rung 4: filters by windows as one product of matrices, which is never stored ("implicit gemm").
//
// Change    the outputs of all images are one row of n oh ow columns, each the sum of c r s terms: gemm's 64
//           x 128 tile (fp64: 64 x 64), where the tile of the windows' matrix is gathered from the image on
//           its way into shared memory. What a term adds to a pixel's address is walked by 16 threads, a tile
//           ahead; the next tile comes through registers while this one is multiplied: one barrier per tile.
// Traffic   X is gathered k / 64 times with r s reads of a pixel, from the first-level cache; F n oh ow / 128
//           times from the second level.
// Fails at  addresses: each gathered element pays about twelve instructions for its bounds and its place, a
//           fifth of its multiply-adds; fewer than 64 filters.
// Source    Chellapilla, Puri and Simard (2006); S. Chetlur et al., "cuDNN: Efficient primitives for deep
//           learning" (2014): the matrix that is not stored.
#include "gpu/conv2d/kernels/implicit_gemm.hpp"

namespace plumb {
namespace {

using namespace conv2d;

/// A block's shape: BM filters x BN outputs, BK terms deep, WM x WN warps, TM x TN sums per lane.
template <class T>
struct Shape {
  static constexpr int TM = 8, TN = 4, WM = 2, WN = sizeof(T) == 4 ? 4 : 2, BM = WM * 4 * TM,
                       BN = WN * 8 * TN, BK = 16;
  static constexpr int kThreads = 32 * WM * WN, kPitchF = BM + 4, kPitchX = BN + 4;
  static constexpr int kOfF = BM * BK / kThreads, kOfX = BN * BK / kThreads;  // elements staged by a thread
  static_assert(kThreads % BN == 0 && kThreads % BK == 0, "threads fill the tiles");
};

template <class T>
__global__ void __launch_bounds__(Shape<T>::kThreads)
    conv2d_im2col_gemm(Problem<T> p, In<T> in, Out<T> out, unsigned tiles_of_filters, bool wide) {
  using S = Shape<T>;
  using Lane = gemm::LaneTile<T, S::TM, S::TN>;
  __shared__ __align__(16) T filters[2][S::BK][S::kPitchF], windows[2][S::BK][S::kPitchX];
  __shared__ Tap taps[2][S::BK];
  const int t = static_cast<int>(threadIdx.x), warp = t / 32;
  const int wm = warp / S::WN * Lane::kRows, wn = warp % S::WN * Lane::kCols;
  const gemm::LanePlace place = gemm::lane_place();
  const Index first_filter = static_cast<Index>(blockIdx.x % tiles_of_filters) * S::BM,
              first_output = static_cast<Index>(blockIdx.x / tiles_of_filters) * S::BN;
  const Index depth = in.F.cols;
  const int tiles = static_cast<int>(ceil_div(depth, S::BK));

  // the column of windows that this thread gathers, kOfX terms of each tile from `term` on
  const int column = t % S::BN, term = t / S::BN * S::kOfX;
  const Window<T> window(p, in, out, first_output + column);
  T next_f[S::kOfF], next_x[S::kOfX];
  const auto fetch = [&](int tile) {
#pragma unroll
    for (int i = 0; i < S::kOfF; ++i) {
      const Index row = first_filter + t / S::BK + i * (S::kThreads / S::BK),
                  col = static_cast<Index>(tile) * S::BK + t % S::BK;
      next_f[i] = row < p.k && col < depth ? in.F(row, col) : T(0);
    }
#pragma unroll
    for (int i = 0; i < S::kOfX; ++i) {
      const Tap tap = taps[tile % 2][term + i];
      next_x[i] = window.has(p, tap) ? window.corner[tap.offset] : T(0);
    }
  };
  const auto put = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < S::kOfF; ++i)
      filters[buffer][t % S::BK][t / S::BK + i * (S::kThreads / S::BK)] = next_f[i];
#pragma unroll
    for (int i = 0; i < S::kOfX; ++i) windows[buffer][term + i][column] = next_x[i];
  };
  TapWalk<T> walk(p, t < S::BK ? t : 0, S::BK);
  const auto prepare_taps = [&](int tile) {
    if (t < S::BK) taps[tile % 2][t] = walk.next(p, in.X.ld);
  };

  T sum[S::TM][S::TN] = {};
  prepare_taps(0);
  prepare_taps(1);
  __syncthreads();
  fetch(0);
  put(0);
  __syncthreads();
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) fetch(tile + 1);
#pragma unroll
    for (int kk = 0; kk < S::BK; ++kk) {
      T f[S::TM], x[S::TN];
      Lane::load(f, x, &filters[tile % 2][kk][wm], &windows[tile % 2][kk][wn], place);
      Lane::multiply_add(sum, f, x);
    }
    if (tile + 1 < tiles) put((tile + 1) % 2);
    prepare_taps(tile + 2);  // in place of this tile's, which all read before the last barrier
    __syncthreads();
  }

  store_sums(p, out, first_filter + wm, first_output + wn, sum, place, wide);
}

template <class T>
void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  using S = Shape<T>;
  const Index of_filters = ceil_div(p.k, S::BM);
  launch(conv2d_im2col_gemm<T>, of_filters * ceil_div(p.n * out.Y.cols, S::BN), S::kThreads, 0,
         context.stream, p, in, out, static_cast<unsigned>(of_filters), whole_vectors(out.Y));
}

PLUMB_REGISTER_WITH(Conv2d, "04_im2col_gemm", (run<T>, {}, supports_gemm<T>), float, double);

}  // namespace
}  // namespace plumb
