// The body of rung 24: the depth of a tile in parts, one for each block of a cluster, whose sums meet in shared memory and leave from there
// row by row. Header only.
#pragma once
#include "gpu/device/clusters.hpp"
#include "gpu/gemm/kernels/parts.hpp"

namespace plumb {
namespace gemm {

/// At most 8 blocks, which every chip with clusters runs; on one group of its multiprocessors (GPC), of 16 or a few more.
constexpr Meeting kInCluster{8, 48, 0, false};
constexpr Index kNeighbours = 16;

/// How many parts the depth of each tile is divided into, and what the busiest multiprocessor does; `together` blocks on one at once. The
/// blocks of a tile must run on `kNeighbours` neighbouring multiprocessors: fewer clusters fit than their blocks alone would. Tiles stay
/// whole where not all clusters run at once: those that wait for room as one take up to twice the time that their work would.
template <class S>
Divided divided_in_clusters(Index m, Index n, Index depth, Index together) {
  const Index tiles = ceil_div(m, S::BM) * ceil_div(n, S::BN), steps = ceil_div(depth, S::BK),
              many = device_multiprocessors(), start = ceil_div(kInCluster.start, S::BK),
              groups = many > kNeighbours ? ceil_div(many - kNeighbours + 1, kNeighbours) : 1;
  Index best = 1, least = ceil_div(tiles, many * together) * steps;
  for (Index parts = 2; parts <= kInCluster.most && 2 * parts <= steps; ++parts) {
    const Index time = ceil_div(steps, parts) + start;
    if (time < least && tiles <= groups * (kNeighbours * together / parts)) best = parts, least = time;
  }
  const Index of_part = ceil_div(steps, best), rounds = ceil_div(tiles, many * together);
  return {{0, static_cast<int>(best)},
          {ceil_div(tiles * best, many) * of_part, best > 1 ? of_part : rounds * steps}};
}

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
      store_vector<V>(at, c.lane);
    } else {
      for (int l = 0; j + l < out.C.cols; ++l) finish(p, at + l, sum.lane[l]);
    }
  }
}

/// Blocks of a cluster follow each other along x, `parts` of them for a tile.
template <class T, class S, bool Wide>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks)
    gemm_clusters(Problem<T> p, In<T> in, Out<T> out, int parts, bool wide_c) {
  using Sums = TileSums<T, S>;
  static_assert(S::BM * Sums::kPitch * sizeof(T) <= S::kShared, "the sums fit in the stages");
  PLUMB_DYNAMIC_SHARED(T, shared);
  const unsigned block = blockIdx.x / static_cast<unsigned>(parts);
  const int part = static_cast<int>(blockIdx.x % static_cast<unsigned>(parts));
  const TileIndex tile = banded_tile(block, ceil_div(out.C.rows, S::BM), ceil_div(out.C.cols, S::BN));
  const Index i0 = tile.m * S::BM, j0 = tile.n * S::BN;
  const Index depth = depth_of(p, in), steps = ceil_div(depth, S::BK), first = steps * part / parts;
  narrow_to(in, depth, first * S::BK, (steps * (part + 1) / parts - first) * S::BK);
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
  const bool wide = by_vectors<S>(in);
  launch_clusters(wide ? gemm_clusters<T, S, true> : gemm_clusters<T, S, false>, tiles * parts,
                  static_cast<unsigned>(parts), S::kThreads, S::kShared, context.stream, p, in, out,
                  static_cast<int>(parts), rows_on_vectors(out.C));
}

}  // namespace gemm
}  // namespace plumb
