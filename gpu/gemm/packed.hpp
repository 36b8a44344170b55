// The body of rung 15: operands packed beforehand, tiles that arrive by bulk copies. Header only.
#pragma once
#include "gpu/gemm/multistage.hpp"
#include "gpu/runtime/bulk_copy.hpp"

namespace plumb {
namespace gemm {

/// Tiles of C, in the order of the grid: the first `whole` are made by a block each; each of the rest by
/// `parts` blocks, which share its depth.
struct Division {
  int whole, parts;
};

constexpr int kMostParts = 8;
/// Steps of K that handing a part of a tile over costs: it goes through memory twice.
constexpr Index kHandOver = 64;

/// How the tiles of shape S are divided, and the time: multiply-adds on the busiest multiprocessor, whole
/// rounds of tiles and then the rest in parts.
struct Plan {
  Division division;
  double time;
};
template <class S>
Plan plan_of(const In<float>& in, const Out<float>& out) {
  const Index tiles = ceil_div(out.C.rows, S::BM) * ceil_div(out.C.cols, S::BN), depth = in.A.cols,
              many = device_multiprocessors(), round = many * S::kBlocks, whole = tiles / round * round,
              rest = tiles - whole;
  Division best{static_cast<int>(tiles), 1};
  Index steps = (whole / many + ceil_div(rest, many)) * depth;
  for (int parts = 2; parts <= kMostParts && rest > 0; ++parts) {
    const Index divided =
        whole / many * depth + ceil_div(rest * parts, many) * (ceil_div(depth, parts) + kHandOver);
    if (divided < steps) steps = divided, best = {static_cast<int>(whole), parts};
  }
  return {best, static_cast<double>(steps) * (S::BM * S::BN)};
}

constexpr int kPackThreads = 256, kPackRows = 64, kPackDepth = 32;

/// A turned, in panels of BM rows: (panels, padded, BM); B in panels of BN columns: (panels, padded, BN);
/// zeros past their ends. The first `blocks_a` blocks take A.
template <class S>
__global__ void __launch_bounds__(kPackThreads)
    gemm_pack(In<float> in, Index depth, Index padded, Index blocks_a, float* a, float* b) {
  __shared__ float turned[kPackRows][kPackDepth + 1];
  const int t = static_cast<int>(threadIdx.x);
  const Index block = blockIdx.x, steps = padded / kPackDepth;
  if (block >= blocks_a) {
    constexpr int kAtOnce = kPackThreads / S::BN;
    static_assert(kPackThreads % S::BN == 0 && kPackDepth % kAtOnce == 0, "threads fill the panel");
    const Index panel = (block - blocks_a) / steps, k0 = (block - blocks_a) % steps * kPackDepth;
    const int col = t % S::BN;
    float* const to = b + (panel * padded + k0) * S::BN + col;
#pragma unroll 8
    for (int k = t / S::BN; k < kPackDepth; k += kAtOnce)
      to[k * S::BN] = load_or_zero(in.B, k0 + k, panel * S::BN + col, depth, in.B.cols);
    return;
  }
  const Index i0 = block / steps * kPackRows, k0 = block % steps * kPackDepth;
  float x[kPackRows / 8];
#pragma unroll
  for (int u = 0; u < kPackRows / 8; ++u)
    x[u] = load_or_zero(in.A, i0 + t / 32 + 8 * u, k0 + t % 32, in.A.rows, depth);
#pragma unroll
  for (int u = 0; u < kPackRows / 8; ++u) turned[t / 32 + 8 * u][t % 32] = x[u];
  __syncthreads();
  a += (i0 / S::BM * padded + k0) * S::BM + i0 % S::BM;
#pragma unroll
  for (int u = 0; u < 2; ++u) {
    const int k = t / 16 + 16 * u, i = t % 16 * 4;
    Vector<float> v;
#pragma unroll
    for (int l = 0; l < 4; ++l) v.lane[l] = turned[i + l][k];
    *reinterpret_cast<Vector<float>*>(a + static_cast<Index>(k) * S::BM + i) = v;
  }
}

template <class S>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks)
    gemm_packed(Problem<float> p, const float* a /* (panels, padded, BM) */,
                const float* b /* (panels, padded, BN) */, Index padded, Out<float> out, Division division,
                float* partial /* (parts of tiles, BM, BN) */, bool wide_c) {
  using Lane = LaneTile<float, S::TM, S::TN>;
  PLUMB_DYNAMIC_SHARED(float, shared);
  __shared__ Mbarrier full[S::kStages];
  const int rest = static_cast<int>(blockIdx.x) - division.whole;
  const int part = rest < 0 ? 0 : rest % division.parts, parts = rest < 0 ? 1 : division.parts;
  const TileIndex tile =
      banded_tile(rest < 0 ? static_cast<int>(blockIdx.x) : division.whole + rest / division.parts,
                  ceil_div(out.C.rows, S::BM), ceil_div(out.C.cols, S::BN));
  const int all = static_cast<int>(padded / S::BK),
            first = static_cast<int>(static_cast<Index>(all) * part / parts),
            tiles = static_cast<int>(static_cast<Index>(all) * (part + 1) / parts) - first;
  const Index i0 = tile.m * S::BM, j0 = tile.n * S::BN;
  const int warp = static_cast<int>(threadIdx.x) / 32, wm = warp / S::WN * Lane::kRows,
            wn = warp % S::WN * Lane::kCols;
  static_assert(S::WK == 1 && S::BK % 2 == 0,
                "a warp takes whole tiles, from and to the first of two fragments");
  constexpr int kBytesA = S::BK * S::BM * 4, kBytesB = S::BK * S::BN * 4, kStage = S::BK * (S::BM + S::BN);
  const LanePlace place = lane_place();
  float sum[S::TM][S::TN] = {};

  if (tiles > 0) {
    const Index k0 = static_cast<Index>(first) * S::BK;
    const float* from_a = a + (tile.m * padded + k0) * S::BM;
    const float* from_b = b + (tile.n * padded + k0) * S::BN;
    const auto start = [&](int stage) {
      float* const to = shared + stage * kStage;
      mbarrier_arrive_expect(full + stage, kBytesA + kBytesB);
      bulk_copy(to, from_a, kBytesA, full + stage);
      bulk_copy(to + S::BK * S::BM, from_b, kBytesB, full + stage);
      from_a += S::BK * S::BM, from_b += S::BK * S::BN;
    };
    if (threadIdx.x == 0) {
      for (int s = 0; s < S::kStages; ++s) mbarrier_init(full + s, 1);
      mbarrier_fence_init();
      for (int s = 0; s < S::kStages - 1 && s < tiles; ++s) start(s);
    }
    __syncthreads();
    const int offset_a = wm, offset_b = S::BK * S::BM + wn;
    float fa[2][S::TM], fb[2][S::TN];
    mbarrier_wait(full, 0);
    Lane::load(fa[0], fb[0], shared + offset_a, shared + offset_b, place);
    int reading = 0, writing = S::kStages - 1, parity = 0;
    for (int t = 0; t < tiles; ++t) {
      if (threadIdx.x == 0 && t + S::kStages - 1 < tiles) start(writing);  // all left it at the last barrier
      const float* const stage = shared + reading * kStage;
      writing = reading;
      if (++reading == S::kStages) reading = 0, parity ^= 1;
#pragma unroll
      for (int kk = 0; kk < S::BK; ++kk) {
        if (kk + 1 < S::BK) {
          Lane::load(fa[(kk + 1) % 2], fb[(kk + 1) % 2], stage + offset_a + (kk + 1) * S::BM,
                     stage + offset_b + (kk + 1) * S::BN, place);
        } else {
          __syncthreads();
          if (t + 1 < tiles) {
            mbarrier_wait(full + reading, parity);
            const float* const next = shared + reading * kStage;
            Lane::load(fa[0], fb[0], next + offset_a, next + offset_b, place);
          }
        }
        Lane::multiply_add(sum, fa[kk % 2], fb[kk % 2]);
      }
    }
  }

  Index i = i0 + wm, j = j0 + wn;
  if (parts > 1) {  // a tile of its own, as it is
    out.C = {partial + static_cast<Index>(rest) * (S::BM * S::BN), S::BM, S::BN, S::BN};
    p = {1.0f, 0.0f}, i = wm, j = wn, wide_c = true;
  }
  Lane::store(p, out, i, j, sum, place, wide_c);
}

/// Adds the parts of the tiles from `whole` on, in the order of the depth.
template <class S>
__global__ void __launch_bounds__(kPackThreads)
    gemm_add_parts(Problem<float> p, const float* partial /* (tiles, parts, BM, BN) */, Out<float> out,
                   Division division) {
  constexpr int kTile = S::BM * S::BN, kBlocks = kTile / kPackThreads;
  const int rest = static_cast<int>(blockIdx.x) / kBlocks,
            e = static_cast<int>(blockIdx.x) % kBlocks * kPackThreads + static_cast<int>(threadIdx.x);
  const TileIndex tile =
      banded_tile(division.whole + rest, ceil_div(out.C.rows, S::BM), ceil_div(out.C.cols, S::BN));
  const Index i = tile.m * S::BM + e / S::BN, j = tile.n * S::BN + e % S::BN;
  if (i >= out.C.rows || j >= out.C.cols) return;
  float sum = 0.0f;
  for (int part = 0; part < division.parts; ++part)
    sum += partial[(static_cast<Index>(rest) * division.parts + part) * kTile + e];
  finish(p, &out.C(i, j), sum);
}

/// `whole` and `parts`: see Division.
template <class S>
void run_packed(const Problem<float>& p, const In<float>& in, const Out<float>& out, Context& context,
                Division division) {
  const Index depth = p.alpha == 0.0f ? 0 : in.A.cols, padded = ceil_div(depth, kPackDepth) * kPackDepth;
  const Index panels_a = ceil_div(out.C.rows, S::BM), panels_b = ceil_div(out.C.cols, S::BN),
              tiles = panels_a * panels_b;
  if (tiles == 0) return;
  if (padded == 0) division = {static_cast<int>(tiles), 1};  // nothing to share
  const Index rest = tiles - division.whole;
  const auto floats = [&](Index n) {
    return static_cast<float*>(context.workspace(n * static_cast<Index>(sizeof(float))));
  };
  float* const a = floats(panels_a * S::BM * padded);
  float* const b = floats(panels_b * S::BN * padded);
  float* const partial = floats(division.parts > 1 ? rest * division.parts * S::BM * S::BN : 0);
  static_assert(S::BM % kPackRows == 0 && kPackDepth % S::BK == 0, "blocks of the packing fill the panels");
  const Index steps = padded / kPackDepth, blocks_a = panels_a * S::BM / kPackRows * steps;
  launch(gemm_pack<S>, blocks_a + panels_b * steps, kPackThreads, 0, context.stream, in, depth, padded,
         blocks_a, a, b);
  constexpr std::size_t kShared = sizeof(float) * S::kStages * S::BK * (S::BM + S::BN);
  launch(gemm_packed<S>, division.whole + rest * division.parts, S::kThreads, kShared, context.stream, p,
         static_cast<const float*>(a), static_cast<const float*>(b), padded, out, division, partial,
         rows_on_vectors(out.C));
  if (division.parts > 1) {
    launch(gemm_add_parts<S>, rest * (S::BM * S::BN / kPackThreads), kPackThreads, 0, context.stream, p,
           static_cast<const float*>(partial), out, division);
  }
}

}  // namespace gemm
}  // namespace plumb
