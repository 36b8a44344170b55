// The body of rung 18: tiles of C whose depth is shared by groups of warps that do not wait for each other.
// Header only.
#pragma once
#include "gpu/gemm/kernels/multistage.hpp"

namespace plumb {
namespace gemm {

/// A block's shape: a tile of BM x BN, WM x WN warps over it, Slices times, each for a part of its depth in
/// stages of BK; TM x TN elements per lane.
template <int BM_, int BN_, int BK_, int WM_, int WN_, int Slices, int TM_, int TN_, int Stages, int Blocks>
struct Apart {
  static constexpr int BM = BM_, BN = BN_, BK = BK_, WM = WM_, WN = WN_, TM = TM_, TN = TN_, kSlices = Slices,
                       kStages = Stages, kBlocks = Blocks;
  static constexpr int kSliceThreads = 32 * WM * WN, kThreads = kSliceThreads * kSlices;
  static constexpr int kPitchA = BM + 4, kPitchB = BN + 4, kStageA = BK * kPitchA,
                       kStage = kStageA + BK * kPitchB, kRing = kStages * kStage;
  static constexpr int kPitchC = BN + 4, kPart = BM * kPitchC;  // of a slice's sums
  static constexpr std::size_t kShared = sizeof(float) * kSlices * (kRing > kPart ? kRing : kPart);
  static_assert(BM == WM * 4 * TM && BN == WN * 8 * TN && BK % 8 == 0, "warps fill the tile");
};

/// V: elements of B that a copy moves, as its rows are aligned.
template <class S, int V>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks)
    gemm_slices(Problem<float> p, In<float> in, Out<float> out) {
  using Lane = LaneTile<float, S::TM, S::TN>;
  PLUMB_DYNAMIC_SHARED(float, shared);
  const TileIndex tile = banded_tile_index(ceil_div(out.C.rows, S::BM), ceil_div(out.C.cols, S::BN));
  const Index i0 = tile.m * S::BM, j0 = tile.n * S::BN, depth = depth_of(p, in);
  const int warp = static_cast<int>(threadIdx.x) / 32, slice = warp / (S::WM * S::WN);
  const int wm = warp / S::WN % S::WM * Lane::kRows, wn = warp % S::WN * Lane::kCols;
  const int t = static_cast<int>(threadIdx.x) % S::kSliceThreads;
  const Index all = ceil_div(depth, S::BK), first = all * slice / S::kSlices;
  const int stages = static_cast<int>(all * (slice + 1) / S::kSlices - first),
            most = static_cast<int>(ceil_div(all, S::kSlices));
  const LanePlace place = lane_place();
  float sum[S::TM][S::TN] = {};

  const auto meet = [&] { named_barrier_sync(slice + 1, S::kSliceThreads); };
  if (stages > 0) {
    // A goes to shared memory turned, an element at a time; rows past its end are others again, columns of
    // B past theirs are zero: neither's products are kept
    constexpr int kRowStepA = S::kSliceThreads / 8, kGroups = S::BM / kRowStepA;
    const float* from_a[kGroups];
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      from_a[g] =
          in.A.data + row_within(i0, t / 8 + g * kRowStepA, in.A.rows) * in.A.ld + first * S::BK + t % 8;
    }
    constexpr int kPerRow = S::BN / V < S::kSliceThreads ? S::BN / V : S::kSliceThreads,
                  kAcross = S::BN / V / kPerRow, kRowStepB = S::kSliceThreads / kPerRow,
                  kCopies = S::BK / kRowStepB;
    const int row_b = t / kPerRow, col_b = t % kPerRow * V;
    int bytes[kAcross];
#pragma unroll
    for (int q = 0; q < kAcross; ++q) {
      const Index within = in.B.cols - j0 - col_b - q * kPerRow * V;
      bytes[q] = 4 * (within >= V ? V : within > 0 ? static_cast<int>(within) : 0);
    }
    const float* from_b = in.B.data + (first * S::BK + row_b) * in.B.ld + (bytes[0] > 0 ? j0 + col_b : 0);
    const Index past = first + stages;
    int whole = past * S::BK <= depth ? stages : stages - 1;  // stages not yet copied
    int rest =
        past * S::BK <= depth ? 0 : static_cast<int>(depth - (past - 1) * S::BK);  // depth of a last one
    const auto start = [&](float* stage) {
      float* const as = stage + t % 8 * S::kPitchA + t / 8;
      float* const bs = stage + S::kStageA + row_b * S::kPitchB + col_b;
      if (whole > 0) {
#pragma unroll
        for (int h = 0; h < S::BK; h += 8) {
#pragma unroll
          for (int g = 0; g < kGroups; ++g) cp_async<4>(as + h * S::kPitchA + g * kRowStepA, from_a[g] + h);
        }
#pragma unroll
        for (int u = 0; u < kCopies; ++u) {
#pragma unroll
          for (int q = 0; q < kAcross; ++q) {
            copy_async<4 * V>(bs + u * kRowStepB * S::kPitchB + q * kPerRow * V,
                              bytes[q] > 0 ? from_b + q * kPerRow * V : from_b, bytes[q]);
          }
          from_b += kRowStepB * in.B.ld;
        }
#pragma unroll
        for (int g = 0; g < kGroups; ++g) from_a[g] += S::BK;
        --whole;
      } else if (rest > 0) {
        for (int h = 0; h < S::BK; h += 8) {
          const bool inside = t % 8 + h < rest;
#pragma unroll
          for (int g = 0; g < kGroups; ++g)
            copy_async<4>(as + h * S::kPitchA + g * kRowStepA, inside ? from_a[g] + h : in.A.data,
                          inside ? 4 : 0);
        }
        for (int u = 0; u < kCopies; ++u) {
#pragma unroll
          for (int q = 0; q < kAcross; ++q) {
            const int valid = row_b + u * kRowStepB < rest ? bytes[q] : 0;
            copy_async<4 * V>(bs + u * kRowStepB * S::kPitchB + q * kPerRow * V,
                              valid > 0 ? from_b + u * kRowStepB * in.B.ld + q * kPerRow * V : in.B.data,
                              valid);
          }
        }
        rest = 0;
      }
      cp_async_commit();
    };
    float* const ring = shared + slice * S::kRing;
    for (int s = 0; s < S::kStages - 1; ++s) start(ring + s * S::kStage);
    cp_async_wait<S::kStages - 2>();
    meet();
    const int offset_a = wm, offset_b = S::kStageA + wn;
    float fa[2][S::TM], fb[2][S::TN];
    Lane::load(fa[0], fb[0], ring + offset_a, ring + offset_b, place);
    int reading = 0, writing = S::kStages - 1;
    for (int left = stages; left > 0; --left) {
      start(ring + writing * S::kStage);  // into the stage that all have left at the last barrier
      const float* const stage = ring + reading * S::kStage;
      writing = reading;
      reading = reading + 1 == S::kStages ? 0 : reading + 1;
#pragma unroll
      for (int kk = 0; kk < S::BK; ++kk) {
        if (kk + 1 < S::BK) {
          Lane::load(fa[(kk + 1) % 2], fb[(kk + 1) % 2], stage + offset_a + (kk + 1) * S::kPitchA,
                     stage + offset_b + (kk + 1) * S::kPitchB, place);
        } else {
          cp_async_wait<S::kStages - 2>();
          meet();
          const float* const next = ring + reading * S::kStage;
          if (left > 1) Lane::load(fa[0], fb[0], next + offset_a, next + offset_b, place);
        }
        Lane::multiply_add(sum, fa[kk % 2], fb[kk % 2]);
      }
    }
    cp_async_wait_all();
  }
  // as often as the longest slice: compute-sanitizer's racecheck takes threads that have passed other numbers
  // of barriers for unordered, and reported what the block's own barriers below keep apart
  for (int met = stages > 0 ? stages + 1 : 0; met < most + 1; ++met) meet();

  __syncthreads();  // all slices have left their stages
  into_other_registers(sum, depth);
#pragma unroll
  for (int r = 0; r < S::TM; ++r) {
#pragma unroll
    for (int c = 0; c < S::TN; c += Lane::kV) {
      Vector<float> v;
#pragma unroll
      for (int l = 0; l < Lane::kV; ++l) v.lane[l] = sum[r][c + l];
      const int row = wm + r / Lane::kV * 4 * Lane::kV + place.row * Lane::kV + r % Lane::kV,
                col = wn + c * 8 + place.col * Lane::kV;
      *reinterpret_cast<Vector<float>*>(shared + slice * S::kPart + row * S::kPitchC + col) = v;
    }
  }
  __syncthreads();
  write_by_rows<S>(p, out, i0, j0, [&](int row, int col) {
    float total = shared[row * S::kPitchC + col];
#pragma unroll
    for (int s = 1; s < S::kSlices; ++s) total += shared[s * S::kPart + row * S::kPitchC + col];
    return total;
  });
}

/// 64 x 128 by two warps, four times, each a quarter of the depth: rung 12's shape Sliced, its slices apart.
using Slices = Apart<64, 128, 16, 1, 2, 4, 16, 8, 3, 1>;

/// As rung 12 where B's rows, or their ends, let a copy move one element only.
template <class S>
void run_slices_of(const Problem<float>& p, const In<float>& in, const Out<float>& out, Context& context) {
  const Index tiles = ceil_div(out.C.rows, S::BM) * ceil_div(out.C.cols, S::BN);
  const std::uintptr_t bits =
      reinterpret_cast<std::uintptr_t>(in.B.data) |
      static_cast<std::uintptr_t>((in.B.ld | in.B.cols) * static_cast<Index>(sizeof(float)));
  if (bits % 8 != 0) {
    context.explain("64 x 128 tiles, depth shared by four groups of warps in step: rows of B not on 8 bytes");
    run_multistage<float, Sliced>(p, in, out, context);
    return;
  }
  context.explain(
      "64 x 128 tiles, depth shared by four groups of warps apart: larger ones leave "
      "multiprocessors idle");
  launch(bits % 16 == 0 ? gemm_slices<S, 4> : gemm_slices<S, 2>, tiles, S::kThreads, S::kShared,
         context.stream, p, in, out);
}
inline void run_slices(const Problem<float>& p, const In<float>& in, const Out<float>& out,
                       Context& context) {
  run_slices_of<Slices>(p, in, out, context);
}

}  // namespace gemm
}  // namespace plumb
