// The body of rung 24: the depth of a tile in parts, one for each block of a cluster, whose sums meet in shared memory and leave from there
// row by row. Header only.
#pragma once
#include "gpu/device/clusters.hpp"
#include "gpu/gemm/parts.hpp"

namespace plumb {
namespace gemm {

/// At most 8 blocks, which every chip with clusters runs; on one group of its multiprocessors (GPC), of 16 or a few more.
constexpr Meeting kInCluster{8, 48, 16};

/// How a shape makes its sums, and where a lane's lie in the tile: fp32 in registers, fp64 on tensor cores.
template <class T, class S>
struct TileSums;

template <class S>
struct TileSums<float, S> {
  static constexpr int kPitch = S::BN + 4, kBlocks = S::kBlocks;
  float sum[S::TM][S::TN] = {};

  template <bool Wide>
  PLUMB_DEVICE void make(const In<float>& in, Index i0, Index j0, Index depth, float* shared) {
    multistage_sums<S, Wide>(in, i0, j0, depth, shared, sum);
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
  static constexpr int kPitch = S::BN + 8, kBlocks = 1;
  double sum[S::MT][S::NT][4] = {};

  template <bool Wide>
  PLUMB_DEVICE void make(const In<double>& in, Index i0, Index j0, Index depth, double* shared) {
    FragmentsAhead<S> math;
    tensor_sums<S, Wide>(in, i0, j0, depth, shared, math, sum);
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

/// Adds the sums of a cluster's blocks for the calling block's share of the tile's rows, in the order of the blocks, and writes C, V elements
/// at a time: rows of C lie on as many.
template <class S, int V, class T>
PLUMB_DEVICE void write_rows(const Problem<T>& p, const Out<T>& out, Index i0, Index j0,
                             const T* tile /* (BM, kPitch), shared */, int part, int parts) {
  constexpr int kPitch = TileSums<T, S>::kPitch, kPerRow = S::BN / V;
  struct alignas(V * sizeof(T)) Piece {
    T lane[V];
  };
  const int first = S::BM * part / parts * kPerRow, past = S::BM * (part + 1) / parts * kPerRow;
#pragma unroll 2
  for (int e = first + static_cast<int>(threadIdx.x); e < past; e += S::kThreads) {
    const int row = e / kPerRow, col = e % kPerRow * V;
    const Index i = i0 + row, j = j0 + col;
    if (i >= out.C.rows || j >= out.C.cols) continue;
    Piece terms[kInCluster.most];  // all loads begin before the first sum
#pragma unroll
    for (int other = 0; other < kInCluster.most; ++other) {
      if (other < parts)
        terms[other] = *reinterpret_cast<const Piece*>(shared_of_block(tile, other) + row * kPitch + col);
    }
    Piece sum = terms[0];
#pragma unroll
    for (int other = 1; other < kInCluster.most; ++other) {
#pragma unroll
      for (int l = 0; l < V; ++l) {
        if (other < parts) sum.lane[l] += terms[other].lane[l];
      }
    }
    T* const at = out.C.data + i * out.C.ld + j;
    if (j + V <= out.C.cols) {
      Piece c{};
      if (p.beta != T(0)) c = *reinterpret_cast<const Piece*>(at);
#pragma unroll
      for (int l = 0; l < V; ++l)
        c.lane[l] = p.alpha * sum.lane[l] + (p.beta == T(0) ? T(0) : p.beta * c.lane[l]);
      *reinterpret_cast<Piece*>(at) = c;
    } else {
      for (int l = 0; j + l < out.C.cols; ++l) finish(p, at + l, sum.lane[l]);
    }
  }
}

/// Blocks of a cluster follow each other along x, `parts` of them for a tile.
template <class T, class S, bool Wide>
__global__ void __launch_bounds__(S::kThreads, TileSums<T, S>::kBlocks)
    gemm_clusters(Problem<T> p, In<T> in, Out<T> out, int parts, bool wide_c) {
  using Sums = TileSums<T, S>;
  static_assert(S::BM * Sums::kPitch * sizeof(T) <= S::kShared, "the sums fit in the stages");
  PLUMB_DYNAMIC_SHARED(T, shared);
  const unsigned block = blockIdx.x / static_cast<unsigned>(parts);
  const int part = static_cast<int>(blockIdx.x % static_cast<unsigned>(parts));
  const TileIndex tile = banded_tile(block, ceil_div(out.C.rows, S::BM), ceil_div(out.C.cols, S::BN));
  const Index i0 = tile.m * S::BM, j0 = tile.n * S::BN;
  narrow_to_part<S::BK>(in, depth_of(p, in), part, parts);
  Sums sums;
  sums.template make<Wide>(in, i0, j0, in.A.cols, shared);
  __syncthreads();  // all have left the stages
  sums.put(shared);
  cluster_barrier();
  if (wide_c) {
    write_rows<S, Vector<T>::kLanes>(p, out, i0, j0, shared, part, parts);
  } else {
    write_rows<S, 1>(p, out, i0, j0, shared, part, parts);
  }
  cluster_barrier();  // a block's shared memory ends with it
}

template <class S, class T>
void run_clusters(const Problem<T>& p, const In<T>& in, const Out<T>& out, Index parts, Context& context) {
  const Index tiles = ceil_div(out.C.rows, S::BM) * ceil_div(out.C.cols, S::BN);
  const bool wide = rows_on_vectors(in.B) && (sizeof(T) == 4 || rows_on_vectors(in.A));
  launch_clusters(wide ? gemm_clusters<T, S, true> : gemm_clusters<T, S, false>, tiles * parts,
                  static_cast<unsigned>(parts), S::kThreads, S::kShared, context.stream, p, in, out,
                  static_cast<int>(parts), rows_on_vectors(out.C));
}

}  // namespace gemm
}  // namespace plumb
