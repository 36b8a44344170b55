// The body of rung 21: tiles of any shape, whole ones first, the depth of the others divided among blocks, the last of which adds. Header only.
#pragma once
#include "gpu/common/join_parts.hpp"
#include "gpu/gemm/division.hpp"
#include "gpu/gemm/fp64_tensor.hpp"

namespace plumb {
namespace gemm {

/// How a shape makes its sums, and where a lane's lie in the tile: fp32 in registers, fp64 on tensor cores.
template <class T, class S>
struct TileSums;

template <class S>
struct TileSums<float, S> {
  static constexpr int kPitch = S::BN + 4;
  float sum[S::TM][S::TN] = {};

  template <bool Wide>
  PLUMB_DEVICE void make(const In<float>& in, Index i0, Index j0, Index depth, float* shared) {
    multistage_sums<S, Wide>(in, i0, j0, depth, shared, sum);
  }
  PLUMB_DEVICE float (&own())[S::TM * S::TN] { return reinterpret_cast<float(&)[S::TM * S::TN]>(sum); }
  PLUMB_DEVICE void store(const Problem<float>& p, const Out<float>& out, Index i0, Index j0, bool wide_c) {
    store_lanes<S>(p, out, i0, j0, sum, wide_c);
  }
  PLUMB_DEVICE void put(float* tile /* (BM, kPitch), shared */) const {
    using Lane = LaneTile<float, S::TM, S::TN>;
    constexpr int kV = Lane::kV;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    if (warp >= S::WM * S::WN) return;  // another slice of the depth
    const LanePlace place = lane_place();
    tile +=
        (warp / S::WN * Lane::kRows + place.row * kV) * kPitch + warp % S::WN * Lane::kCols + place.col * kV;
#pragma unroll
    for (int r = 0; r < S::TM; ++r) {
#pragma unroll
      for (int c = 0; c < S::TN; c += kV) {
        Vector<float> v;
#pragma unroll
        for (int l = 0; l < kV; ++l) v.lane[l] = sum[r][c + l];
        *reinterpret_cast<Vector<float>*>(tile + (r / kV * 4 * kV + r % kV) * kPitch + c * 8) = v;
      }
    }
  }
};

template <class S>
struct TileSums<double, S> {
  static constexpr int kPitch = S::BN + 8;
  double sum[S::MT][S::NT][4] = {};

  template <bool Wide>
  PLUMB_DEVICE void make(const In<double>& in, Index i0, Index j0, Index depth, double* shared) {
    FragmentsAhead math;
    tensor_sums<S, Wide>(in, i0, j0, depth, shared, math, sum);
  }
  PLUMB_DEVICE double (&own())[S::MT * S::NT * 4] {
    return reinterpret_cast<double(&)[S::MT * S::NT * 4]>(sum);
  }
  PLUMB_DEVICE void store(const Problem<double>& p, const Out<double>& out, Index i0, Index j0, bool wide_c) {
    if (TensorPlace<S>().slice == 0) store_tile<S>(p, out, i0, j0, sum, wide_c);
  }
  PLUMB_DEVICE void put(double* tile /* (BM, kPitch), shared */) const {
    const TensorPlace<S> at;
    if (at.slice > 0) return;
#pragma unroll
    for (int m = 0; m < S::MT; ++m) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
#pragma unroll
        for (int n = 0; n < S::NT; ++n) {
          const Pair<double> pair{sum[m][n][2 * h], sum[m][n][2 * h + 1]};
          *reinterpret_cast<Pair<double>*>(tile + at.row(m, h) * kPitch + at.col(n)) = pair;
        }
      }
    }
  }
};

/// Where the parts of tiles meet: `finished` counts those of a tile that are made, and is 0 between runs.
template <class T>
struct Parts {
  Division division;
  T* partial;          // (tiles in parts, parts, threads, sums of a thread)
  unsigned* finished;  // (tiles in parts, counts_of_parts())
};

template <class T, class S, bool Wide>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks)
    gemm_divided(Problem<T> p, In<T> in, Out<T> out, Parts<T> parts, bool wide_c) {
  static_assert(S::WK == 1, "every thread has sums");
  PLUMB_DYNAMIC_SHARED(T, shared);
  const Index depth = depth_of(p, in);
  const PartOfTile of = part_of_tile<S>(parts.division, out.C.rows, out.C.cols, ceil_div(depth, S::BK));
  narrow_to(in, depth, of.first * S::BK, of.stages * S::BK);
  const Index i0 = of.tile.m * S::BM, j0 = of.tile.n * S::BN;
  TileSums<T, S> sums;
  sums.template make<Wide>(in, i0, j0, in.A.cols, shared);
  if (of.parts > 1) {
    auto& own = sums.own();
    const int rest = of.rest / of.parts;
    T* const of_tile = parts.partial + static_cast<Index>(rest) * of.parts * (S::BM * S::BN);
    if (!join_parts<S::kThreads, Vector<T>>(own, of.parts, of.rest % of.parts, of_tile,
                                            parts.finished + rest * counts_of_parts(of.parts)))
      return;
  }
  sums.store(p, out, i0, j0, wide_c);
}

template <class S, class T>
Index tiles_of(const Out<T>& out) {
  return ceil_div(out.C.rows, S::BM) * ceil_div(out.C.cols, S::BN);
}

/// The counts of the tiles in parts; null where all are whole.
template <class S, class T>
unsigned* prepare_divided(const Division& division, const Out<T>& out, Context& context) {
  return prepare_counts(tiles_of<S>(out) - division.whole, division.parts, context);
}

template <class S, class T>
void run_divided(const Division& division, unsigned* finished, const Problem<T>& p, const In<T>& in,
                 const Out<T>& out, Context& context) {
  const Index parts = (tiles_of<S>(out) - division.whole) * division.parts;
  auto* const partial =
      static_cast<T*>(context.workspace(parts * (S::BM * S::BN) * static_cast<Index>(sizeof(T))));
  const bool wide = whole_vectors(in.B) && (sizeof(T) == 4 || whole_vectors(in.A));
  launch(wide ? gemm_divided<T, S, true> : gemm_divided<T, S, false>, division.whole + parts, S::kThreads,
         S::kShared, context.stream, p, in, out, Parts<T>{division, partial, finished},
         rows_on_vectors(out.C));
}

/// fp32: the tiles of rungs 10 to 12, a block for each.
template <class S>
void run_whole(const Problem<float>& p, const In<float>& in, const Out<float>& out, Context& context) {
  run_multistage<float, S>(p, in, out, context);
}
/// fp64: those of rungs 14 and 16.
template <class S>
void run_whole(const Problem<double>& p, const In<double>& in, const Out<double>& out, Context& context) {
  run_tensor<double, S, FragmentsAhead>(p, in, out, context);
}

/// 128 x 64 as rung 16; 64 x 64 by four warps, three blocks on a multiprocessor; 64 x 128 by four warps of 64 x 32, two blocks: a load from
/// shared memory feeds a third more products than with 32 x 32, and one block multiplies while the other starts or ends a tile.
using Fp64Tile = TensorShape<double, 128, 64, 16, 4, 2, 1, 4>;
using Fp64Small = TensorShape<double, 64, 64, 16, 2, 2, 1, 3, 3>;
using Fp64Wide = TensorShape<double, 64, 128, 16, 1, 4, 1, 3, 2>;

}  // namespace gemm
}  // namespace plumb
