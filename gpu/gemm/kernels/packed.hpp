// The body of rung 15: operands packed beforehand, tiles that arrive by bulk copies. Header only.
#pragma once
#include "gpu/gemm/kernels/add_parts.hpp"
#include "gpu/gemm/kernels/slices.hpp"

namespace plumb {
namespace gemm {

constexpr int kMostParts = 16;
/// Steps of K that handing a part of a tile over costs: it goes through memory twice.
constexpr Index kHandOver = 64;

/// How the tiles of shape S are divided, and the time: multiply-adds on the busiest multiprocessor, whole
/// rounds of tiles and then the rest in parts. A block alone on a multiprocessor takes as long as all that it has room for together.
struct Plan {
  Division division;
  double time;
};
template <class S>
Plan plan_of(const In<float>& in, const Out<float>& out) {
  const Index tiles = ceil_div(out.C.rows, S::BM) * ceil_div(out.C.cols, S::BN), depth = in.A.cols,
              round = device_multiprocessors() * S::kBlocks, whole = tiles / round * round,
              rest = tiles - whole;
  const auto steps_of = [&](Index blocks, Index steps) {
    return ceil_div(blocks, round) * S::kBlocks * steps;
  };
  Division best{static_cast<int>(tiles), 1};
  Index steps = steps_of(tiles, depth);
  for (int parts = 2; parts <= kMostParts && rest > 0; ++parts) {
    const Index divided = steps_of(whole, depth) + steps_of(rest * parts, ceil_div(depth, parts) + kHandOver);
    if (divided < steps) steps = divided, best = {static_cast<int>(whole), parts};
  }
  return {best, static_cast<double>(steps) * (S::BM * S::BN)};
}

/// Writes a lane's sums, those of the warp at (wm, wn) of the tile: to C, or to the part's own memory.
template <class S, class Lane>
PLUMB_DEVICE void store_part(Problem<float> p, Out<float> out, const PartOfTile& of, int wm, int wn,
                             const float (&sum)[S::TM][S::TN], LanePlace place,
                             float* partial /* (parts of tiles, BM, BN) */, bool wide_c) {
  Index i = of.tile.m * S::BM + wm, j = of.tile.n * S::BN + wn;
  if (of.parts > 1) {
    out = place_of_part<S>(partial, {0, of.parts}, of);
    p = {1.0f, 0.0f}, i = wm, j = wn, wide_c = true;
  }
  Lane::store(p, out, i, j, sum, place, wide_c);
}

constexpr int kPackThreads = 256, kPackDepth = 32;

/// V elements that are moved at once.
template <int V>
struct alignas(4 * V) Piece {
  float lane[V];
};
template <int V>
PLUMB_DEVICE Piece<V> load_piece(const DenseView<const float, Space::device>& a, Index row, Index col,
                                 Index rows, Index cols) {
  if (row < rows && col + V <= cols) return *reinterpret_cast<const Piece<V>*>(a.data + row * a.ld + col);
  Piece<V> piece;
#pragma unroll
  for (int l = 0; l < V; ++l) piece.lane[l] = load_or_zero(a, row, col + l, rows, cols);
  return piece;
}

/// Rows [i0, i0 + BM) and columns [k0, k0 + kPackDepth) of A, turned; V elements at a time, as its rows are
/// aligned.
template <class S, int V>
PLUMB_DEVICE void pack_a(const In<float>& in, Index i0, Index k0, Index depth,
                         float (&turned)[S::BM][kPackDepth + 1], float* to /* (kPackDepth, BM) */) {
  constexpr int kPerRow = kPackDepth / V, kRowStep = kPackThreads / kPerRow;
  const int t = static_cast<int>(threadIdx.x), row = t / kPerRow, k = t % kPerRow * V;
  Piece<V> x[S::BM / kRowStep];
#pragma unroll
  for (int u = 0; u < S::BM / kRowStep; ++u)
    x[u] = load_piece<V>(in.A, i0 + row + u * kRowStep, k0 + k, in.A.rows, depth);
#pragma unroll
  for (int u = 0; u < S::BM / kRowStep; ++u) {
#pragma unroll
    for (int l = 0; l < V; ++l) turned[row + u * kRowStep][k + l] = x[u].lane[l];
  }
  __syncthreads();
#pragma unroll
  for (int u = 0; u < S::BM * kPackDepth / kPackThreads; ++u) {
    const int e = t + u * kPackThreads;
    to[e] = turned[e % S::BM][e / S::BM];
  }
}

/// Rows [k0, k0 + kPackDepth) and columns [j0, j0 + BN) of B; V elements at a time, as its rows are aligned.
template <class S, int V>
PLUMB_DEVICE void pack_b(const In<float>& in, Index k0, Index j0, Index depth,
                         float* to /* (kPackDepth, BN) */) {
  constexpr int kPerRow = S::BN / V, kRowStep = kPackThreads / kPerRow;
  const int t = static_cast<int>(threadIdx.x), row = t / kPerRow, col = t % kPerRow * V;
  Piece<V> x[kPackDepth / kRowStep];
#pragma unroll
  for (int u = 0; u < kPackDepth / kRowStep; ++u)
    x[u] = load_piece<V>(in.B, k0 + row + u * kRowStep, j0 + col, depth, in.B.cols);
#pragma unroll
  for (int u = 0; u < kPackDepth / kRowStep; ++u)
    *reinterpret_cast<Piece<V>*>(to + (row + u * kRowStep) * S::BN + col) = x[u];
}

/// A turned, in panels of BM rows: (panels, padded, BM); B in panels of BN columns: (panels, padded, BN);
/// zeros past their ends. The first `blocks_a` blocks take A.
template <class S>
__global__ void __launch_bounds__(kPackThreads)
    gemm_pack(In<float> in, Index depth, unsigned steps /* of kPackDepth */, unsigned blocks_a, bool wide_a,
              bool wide_b, float* a, float* b) {
  __shared__ float turned[S::BM][kPackDepth + 1];
  let_dependent_begin();
  if (blockIdx.x < blocks_a) {  // neighbours take neighbouring columns of the same rows
    const Index panel = blockIdx.x / steps, k0 = static_cast<Index>(blockIdx.x % steps) * kPackDepth;
    float* const to = a + static_cast<Index>(blockIdx.x) * kPackDepth * S::BM;
    if (wide_a) {
      pack_a<S, 4>(in, panel * S::BM, k0, depth, turned, to);
    } else {
      pack_a<S, 1>(in, panel * S::BM, k0, depth, turned, to);
    }
  } else {
    const unsigned block = blockIdx.x - blocks_a, panels = (gridDim.x - blocks_a) / steps;
    const Index panel = block % panels, step = block / panels;
    float* const to = b + (panel * steps + step) * kPackDepth * S::BN;
    if (wide_b) {
      pack_b<S, 4>(in, step * kPackDepth, panel * S::BN, depth, to);
    } else {
      pack_b<S, 1>(in, step * kPackDepth, panel * S::BN, depth, to);
    }
  }
}

/// Tiles of B from packed panels, one after the other along the depth.
template <class S>
struct PackedB {
  static constexpr bool kPacked = true;
  const float* panels;  // (panels, padded, BN)

  struct Cursor {
    const float* from;
    PLUMB_DEVICE Cursor(const PackedB& b, Index tile, Index k, Index padded)
        : from(b.panels + (tile * padded + k) * S::BN) {}
    PLUMB_DEVICE void copy(float* to, Mbarrier* bar) {
      bulk_copy(to, from, S::BK * S::BN * static_cast<int>(sizeof(float)), bar);
      from += S::BK * S::BN;
    }
  };
};

/// Barriers of the stages; what follows them in shared memory begins on 128 bytes.
template <class S>
struct alignas(128) Barriers {
  Mbarrier full[S::kStages];
};

template <class S, class OfB>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks)
    gemm_packed(Problem<float> p, const float* a /* (panels, padded, BM) */, const __grid_constant__ OfB b,
                Index padded, Out<float> out, Division division,
                float* partial /* (parts of tiles, BM, BN) */, bool wide_c) {
  using Lane = LaneTile<float, S::TM, S::TN>;
  PLUMB_DYNAMIC_SHARED(float, shared);
  __shared__ Barriers<S> barriers;
  let_dependent_begin();
  wait_for_primary();  // the panels
  Mbarrier* const full = barriers.full;
  const PartOfTile of = part_of_tile<S>(division, out.C.rows, out.C.cols, padded / S::BK);
  const int tiles = static_cast<int>(of.stages);
  const int warp = static_cast<int>(threadIdx.x) / 32, wm = warp / S::WN * Lane::kRows,
            wn = warp % S::WN * Lane::kCols;
  static_assert(S::WK == 1 && S::BK % 2 == 0,
                "a warp takes whole tiles, from and to the first of two fragments");
  constexpr int kBytesA = S::BK * S::BM * 4, kBytesB = S::BK * S::BN * 4, kStage = S::BK * (S::BM + S::BN);
  const LanePlace place = lane_place();
  float sum[S::TM][S::TN] = {};

  if (tiles > 0) {
    const Index k0 = of.first * S::BK;
    const float* from_a = a + (of.tile.m * padded + k0) * S::BM;
    typename OfB::Cursor from_b(b, of.tile.n, k0, padded);
    const auto start = [&](int stage) {
      float* const to = shared + stage * kStage;
      mbarrier_arrive_expect(full + stage, kBytesA + kBytesB);
      bulk_copy(to, from_a, kBytesA, full + stage);
      from_b.copy(to + S::BK * S::BM, full + stage);
      from_a += S::BK * S::BM;
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
      if (threadIdx.x == 0 && t + S::kStages - 1 < tiles) {  // all left it at the last barrier
        bulk_copy_fence();
        start(writing);
      }
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

  store_part<S, Lane>(p, out, of, wm, wn, sum, place, partial, wide_c);
}

/// Tiles of B come as `b` says.
template <class S, class OfB>
void run_packed(const Problem<float>& p, const In<float>& in, const Out<float>& out, Context& context,
                Division division, OfB b) {
  const Index depth = p.alpha == 0.0f ? 0 : in.A.cols, padded = ceil_div(depth, kPackDepth) * kPackDepth;
  const Index panels_a = ceil_div(out.C.rows, S::BM), panels_b = ceil_div(out.C.cols, S::BN),
              tiles = panels_a * panels_b, packed_b = OfB::kPacked ? panels_b : 0;
  if (tiles == 0) return;
  if (padded == 0) division = {static_cast<int>(tiles), 1};  // nothing to share
  const Index rest = tiles - division.whole;
  const auto floats = [&](Index n) {
    return static_cast<float*>(context.workspace(n * static_cast<Index>(sizeof(float))));
  };
  float* const a = floats(panels_a * S::BM * padded);
  float* const of_b = floats(packed_b * S::BN * padded);
  float* const partial = floats(division.parts > 1 ? rest * division.parts * S::BM * S::BN : 0);
  if constexpr (OfB::kPacked) b.panels = of_b;
  static_assert(kPackDepth % S::BK == 0, "the packed depth is whole stages");
  const Index steps = padded / kPackDepth, blocks_a = panels_a * steps;
  launch(gemm_pack<S>, blocks_a + packed_b * steps, kPackThreads, 0, context.stream, in, depth,
         static_cast<unsigned>(steps), static_cast<unsigned>(blocks_a), rows_on_vectors(in.A),
         rows_on_vectors(in.B), a, of_b);
  constexpr std::size_t kShared = sizeof(float) * S::kStages * S::BK * (S::BM + S::BN);
  launch_dependent(gemm_packed<S, OfB>, division.whole + rest * division.parts, S::kThreads, kShared,
                   context.stream, p, static_cast<const float*>(a), b, padded, out, division, partial,
                   rows_on_vectors(out.C));
  if (division.parts > 1)
    run_add_parts<S>(division, static_cast<int>(padded / S::BK), p, partial, out, context);
}

/// 128 x 128 by four warps of 64 x 64, two blocks per multiprocessor, and the same in deeper stages.
using Shallow = Square<float>;
using Deep = Shape<float, 128, 128, 32, 2, 2, 1, 16, 8, 3, 2>;

/// Rounds of tiles from which the deeper stages win; below, they lose.
constexpr Index kManyRounds = 3;
/// Share of the arithmetic rate that the smallest tiles reach, next to the larger ones'.
constexpr double kEfficiencySliced = 0.92;

/// The time of run_slices, as a Plan's.
inline double time_of_slices(const In<float>& in, const Out<float>& out) {
  return tile_cost(out.C.rows, out.C.cols, Sliced::BM, Sliced::BN, kEfficiencySliced) *
         static_cast<double>(in.A.cols);
}

/// run(shape, division) makes C by tiles of 128 x 128, in stages as their number suits.
template <class Run>
void run_squares(const Plan& plan, const Out<float>& out, Context& context, Run&& run) {
  const Index tiles = ceil_div(out.C.rows, Deep::BM) * ceil_div(out.C.cols, Deep::BN);
  if (tiles >= kManyRounds * Deep::kBlocks * device_multiprocessors()) {
    context.explain("128 x 128 tiles in stages of 32, a block for each: many rounds of them");
    run(Deep{}, Division{static_cast<int>(tiles), 1});
  } else {
    context.explain(plan.division.parts == 1
                        ? "128 x 128 tiles in stages of 16, a block for each"
                        : "128 x 128 tiles in stages of 16, those of the last round in parts of the depth");
    run(Shallow{}, plan.division);
  }
}

/// The same, or slices where 128 x 128 are too few.
template <class Run>
void run_by_shape(const Problem<float>& p, const In<float>& in, const Out<float>& out, Context& context,
                  Run&& run) {
  const Index tiles = ceil_div(out.C.rows, Deep::BM) * ceil_div(out.C.cols, Deep::BN);
  const Plan plan = plan_of<Shallow>(in, out);
  if (tiles < kManyRounds * Deep::kBlocks * device_multiprocessors() && plan.time > time_of_slices(in, out))
    return run_slices(p, in, out, context);  // says what it does
  run_squares(plan, out, context, run);
}

}  // namespace gemm
}  // namespace plumb
