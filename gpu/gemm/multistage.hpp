// The body of rungs 10 to 12: tiles that arrive by asynchronous copies, several stages ahead, and warps that may share the depth of a
// tile. The order of tiles and the choice of a shape serve the tensor rungs as well. Header only.
#pragma once
#include "gpu/gemm/warp_tile.hpp"
#include "gpu/runtime/async_copy.hpp"

namespace plumb {
namespace gemm {

/// Tiles of C in bands of eight rows of tiles, columns of a band first: blocks that run together share rows of A and columns of B in
/// the second-level cache.
PLUMB_DEVICE TileIndex banded_tile_index(Index tiles_m, Index tiles_n) {
  constexpr unsigned kBand = 8;
  const auto b = static_cast<unsigned>(blockIdx.x), m = static_cast<unsigned>(tiles_m), n = static_cast<unsigned>(tiles_n);
  const unsigned first = b / (kBand * n) * kBand, height = m - first < kBand ? m - first : kBand, within = b - first * n;
  return {static_cast<Index>(first + within % height), static_cast<Index>(within / height)};
}

/// Time of a problem in tiles of bm x bn: multiply-adds per step of K on the busiest multiprocessor, over the shape's `efficiency`.
inline double tile_cost(Index m, Index n, Index bm, Index bn, double efficiency) {
  const Index tiles = ceil_div(m, bm) * ceil_div(n, bn), rounds = ceil_div(tiles, device_multiprocessors());
  return static_cast<double>(rounds) * static_cast<double>(bm * bn) / efficiency;
}

/// A block's shape: tile BM x BN, BK deep, WM x WN warps over the tile, WK of them over its depth, TM x TN elements per lane.
template <class T, int BM_, int BN_, int BK_, int WM_, int WN_, int WK_, int TM_, int TN_, int Stages_, int Blocks_>
struct Shape {
  static constexpr int BM = BM_, BN = BN_, BK = BK_, WM = WM_, WN = WN_, WK = WK_, TM = TM_, TN = TN_, kStages = Stages_,
                       kBlocks = Blocks_;
  static constexpr int kThreads = 32 * WM * WN * WK, kPitchA = BM + 4, kPitchB = BN + 4, kStage = BK * (kPitchA + kPitchB);
  static constexpr int kExchange = WK == 1 ? 0 : WK / 2 * (32 * WM * WN) * TM * TN;  // sums handed over between slices
  static constexpr std::size_t kShared = sizeof(T) * (kStages * kStage > kExchange ? kStages * kStage : kExchange);
  static_assert(BM == WM * 4 * TM && BN == WN * 8 * TN && BK % (8 * WK) == 0, "warps fill the tile");
};

/// The calling thread's part of the copies of a tile's stages. A goes to shared memory turned, an element at a time: no element needs
/// its row aligned. B keeps its rows, by vectors where Wide says that rows allow it. Rows of A past the end repeat the last one, whose
/// products are not kept; columns of B past the end and everything past the depth become zero.
template <class T, class S, bool Wide>
struct StageCopies {
  static constexpr int kV = Wide ? Vector<T>::kLanes : 1;
  static constexpr int kRowStepA = S::kThreads / 8, kGroupsA = S::BM / kRowStepA;
  static constexpr int kPerRowB = S::BN / kV, kRowStepB = S::kThreads / kPerRowB, kCopiesB = S::BK / kRowStepB;
  static_assert(S::BM % kRowStepA == 0 && S::kThreads % kPerRowB == 0 && S::BK % kRowStepB == 0, "threads fill the tile");

  const T* a[kGroupsA];  // element (its row, its k) of the next tile to copy
  const T* b;            // element (its k, its column)
  Index ldb, left;       // depth not yet copied
  int bytes_b;           // of its vector of B that lie within the matrix

  PLUMB_DEVICE StageCopies(const In<T>& in, Index i0, Index j0, Index depth) : ldb(in.B.ld), left(depth) {
    const int t = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int g = 0; g < kGroupsA; ++g) {
      const Index row = i0 + t / 8 + g * kRowStepA;
      a[g] = in.A.data + (row < in.A.rows ? row : in.A.rows - 1) * in.A.ld + t % 8;
    }
    const Index col = j0 + t % kPerRowB * kV, within = in.B.cols - col;
    bytes_b = within >= kV ? kV * static_cast<int>(sizeof(T)) : within > 0 ? static_cast<int>(within) * static_cast<int>(sizeof(T)) : 0;
    b = in.B.data + static_cast<Index>(t / kPerRowB) * ldb + (within > 0 ? col : 0);
  }

  /// Starts the copies of the next tile into `stage`, or none where the depth is at its end; closes a group in either case.
  PLUMB_DEVICE void start(T* stage) {
    if (left > 0) {
      const int t = static_cast<int>(threadIdx.x);
      T* const as = stage + t % 8 * S::kPitchA + t / 8;
#pragma unroll
      for (int h = 0; h < S::BK; h += 8) {
        const int valid = t % 8 + h < left ? static_cast<int>(sizeof(T)) : 0;
#pragma unroll
        for (int g = 0; g < kGroupsA; ++g) cp_async_zfill<sizeof(T)>(as + h * S::kPitchA + g * kRowStepA, a[g] + h, valid);
      }
      T* const bs = stage + S::BK * S::kPitchA + t / kPerRowB * S::kPitchB + t % kPerRowB * kV;
      const T* from = b;
#pragma unroll
      for (int u = 0; u < kCopiesB; ++u) {
        const int valid = t / kPerRowB + u * kRowStepB < left ? bytes_b : 0;
        cp_async_zfill<kV * sizeof(T)>(bs + u * kRowStepB * S::kPitchB, from, valid);
        from += kRowStepB * ldb;
      }
#pragma unroll
      for (int g = 0; g < kGroupsA; ++g) a[g] += S::BK;
      b = from;
      left -= S::BK;
    }
    cp_async_commit();
  }
};

template <class T, class S, bool Wide>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks) gemm_multistage(Problem<T> p, In<T> in, Out<T> out, bool wide_c) {
  using Lane = LaneTile<T, S::TM, S::TN>;
  PLUMB_DYNAMIC_SHARED(T, shared);
  const TileIndex tile = banded_tile_index(ceil_div(out.C.rows, S::BM), ceil_div(out.C.cols, S::BN));
  const Index i0 = tile.m * S::BM, j0 = tile.n * S::BN, depth = depth_of(p, in);
  const int warp = static_cast<int>(threadIdx.x) / 32, slice = warp / (S::WM * S::WN);
  const int wm = warp / S::WN % S::WM * Lane::kRows, wn = warp % S::WN * Lane::kCols;
  constexpr int kSteps = S::BK / S::WK;  // of K, per warp and tile
  const int tiles = static_cast<int>(ceil_div(depth, S::BK));
  const LanePlace place = lane_place();
  T sum[S::TM][S::TN] = {};

  if (tiles > 0) {
    StageCopies<T, S, Wide> copies(in, i0, j0, depth);
    for (int s = 0; s < S::kStages - 1; ++s) copies.start(shared + s * S::kStage);
    cp_async_wait<S::kStages - 2>();
    __syncthreads();
    const int offset_a = slice * kSteps * S::kPitchA + wm, offset_b = S::BK * S::kPitchA + slice * kSteps * S::kPitchB + wn;
    T fa[2][S::TM], fb[2][S::TN];
    Lane::load(fa[0], fb[0], shared + offset_a, shared + offset_b, place);
    int reading = 0, writing = S::kStages - 1;
    for (int t = 0; t < tiles; ++t) {
      copies.start(shared + writing * S::kStage);  // into the stage that all have left at the last barrier
      const T* const stage = shared + reading * S::kStage;
      writing = reading;
      reading = reading + 1 == S::kStages ? 0 : reading + 1;
#pragma unroll
      for (int kk = 0; kk < kSteps; ++kk) {
        if (kk + 1 < kSteps) {
          Lane::load(fa[(kk + 1) % 2], fb[(kk + 1) % 2], stage + offset_a + (kk + 1) * S::kPitchA,
                     stage + offset_b + (kk + 1) * S::kPitchB, place);
        } else {
          cp_async_wait<S::kStages - 2>();
          __syncthreads();
          const T* const next = shared + reading * S::kStage;
          if (t + 1 < tiles) Lane::load(fa[0], fb[0], next + offset_a, next + offset_b, place);
        }
        Lane::multiply_add(sum, fa[kk % 2], fb[kk % 2]);
      }
    }
    static_assert(kSteps % 2 == 0, "the first fragment of a tile is in buffer 0");
  }

  // Slices of the depth are added in a fixed order, halving: the upper half hands its sums to the lower half.
  if (S::WK > 1) {
    constexpr int kSliceThreads = 32 * S::WM * S::WN;
    const int t = static_cast<int>(threadIdx.x) % kSliceThreads;
    for (int half = S::WK / 2; half > 0; half /= 2) {
      T* const mine = shared + (slice % half) * kSliceThreads * S::TM * S::TN + t;
      __syncthreads();
      if (slice >= half && slice < 2 * half) {
#pragma unroll
        for (int e = 0; e < S::TM * S::TN; ++e) mine[e * kSliceThreads] = sum[e / S::TN][e % S::TN];
      }
      __syncthreads();
      if (slice < half) {
#pragma unroll
        for (int e = 0; e < S::TM * S::TN; ++e) sum[e / S::TN][e % S::TN] += mine[e * kSliceThreads];
      }
    }
    if (slice > 0) return;
  }
  Lane::store(p, out, i0 + wm, j0 + wn, sum, place, wide_c);
}

template <class T, class S>
void run_multistage(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const Index tiles = ceil_div(out.C.rows, S::BM) * ceil_div(out.C.cols, S::BN);
  const bool wide_c = rows_on_vectors(out.C);
  if (rows_on_vectors(in.B)) {
    launch(gemm_multistage<T, S, true>, tiles, S::kThreads, S::kShared, context.stream, p, in, out, wide_c);
  } else {
    launch(gemm_multistage<T, S, false>, tiles, S::kThreads, S::kShared, context.stream, p, in, out, wide_c);
  }
}

/// 128 x 128 by four warps of 64 x 64 (fp32), two blocks per multiprocessor; fp64 by eight warps of 32 x 64.
template <class T>
struct Square;
template <>
struct Square<float> : Shape<float, 128, 128, 16, 2, 2, 1, 16, 8, 4, 2> {};
template <>
struct Square<double> : Shape<double, 128, 128, 16, 4, 2, 1, 8, 8, 4, 1> {};
/// 256 x 128 by eight warps of 64 x 64, one block per multiprocessor.
using Tall = Shape<float, 256, 128, 16, 4, 2, 1, 16, 8, 4, 1>;
/// 64 x 128 by two warps, four times, each a quarter of the depth.
using Sliced = Shape<float, 64, 128, 32, 1, 2, 4, 16, 8, 3, 1>;
/// 64 x 64 by one warp, four times, each a quarter of the depth.
using Small = Shape<float, 64, 64, 32, 1, 1, 4, 16, 8, 4, 2>;

}  // namespace gemm
}  // namespace plumb
