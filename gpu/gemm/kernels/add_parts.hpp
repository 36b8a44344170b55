// Parts of tiles that their blocks left in memory, added by a kernel of their own. Header only.
#pragma once
#include "gpu/common/join_parts.hpp"
#include "gpu/gemm/kernels/division.hpp"

namespace plumb {
namespace gemm {

/// Where a part of a tile lies until it is added: a C of its own.
template <class S, class T>
PLUMB_DEVICE Out<T> place_of_part(T* partial /* (tiles in parts, parts, BM, BN) */, const Division& division,
                                  const PartOfTile& of) {
  const Index at = static_cast<Index>(of.rest) * division.parts + of.part;
  return {{partial + at * (S::BM * S::BN), S::BM, S::BN, S::BN}};
}

/// Adds the parts of the tiles from `whole` on, which the launch before left. `stages`: of a tile's depth. Each element by Shares threads; or,
/// where these are 1, V neighbours of a row by one, in the order of the depth.
template <class T, class S, int V, int Shares>
__global__ void __launch_bounds__(kAddThreads)
    gemm_add_parts(Problem<T> p, const T* partial /* (tiles in parts, parts, BM, BN) */, Out<T> out,
                   Division division, int stages) {
  static_assert(V == 1 || Shares == 1, "shares are of one element");
  using Share = ShareOfElement<Shares>;
  constexpr int kTile = S::BM * S::BN, kEach = V * Share::kElements, kBlocks = kTile / kEach;
  static_assert(kTile % kEach == 0, "threads fill the tile");
  const Share mine;
  const int rest = static_cast<int>(blockIdx.x) / kBlocks,
            e = static_cast<int>(blockIdx.x) % kBlocks * kEach + mine.element * V;
  const Index tiles_m = ceil_div(out.C.rows, S::BM), tiles_n = ceil_div(out.C.cols, S::BN);
  const TileIndex tile = banded_tile(static_cast<unsigned>(division.whole + rest), tiles_m, tiles_n);
  const Index i = tile.m * S::BM + e / S::BN, j = tile.n * S::BN + e % S::BN;
  const int parts =
      parts_of_rest(division, static_cast<int>(tiles_m * tiles_n) - division.whole, stages, rest);
  const bool inside =
      i < out.C.rows && j < out.C.cols && parts > 1;  // of one part, a stream made the whole tile
  partial += static_cast<Index>(rest) * division.parts * kTile + e;
  wait_for_primary();
  if constexpr (V == 1) {
    const T sum = sum_of_shares<Shares>(partial, parts, kTile, inside);
    if (inside && mine.share == 0) finish(p, &out.C(i, j), sum);
  } else if (inside) {
    T sum[V];
    add_parts<8, Vector<T>>(sum, partial, parts, kTile);
    finish_vector(p, out, out.C.data + i * out.C.ld, j, sum);
  }
}

/// By vectors where C's rows lie on them and these keep all multiprocessors busy; by shares where there are many parts of few elements.
template <class S, class T>
void run_add_parts(const Division& division, int stages, const Problem<T>& p, const T* partial,
                   const Out<T>& out, Context& context) {
  constexpr int kV = Vector<T>::kLanes;
  const Index rest = ceil_div(out.C.rows, S::BM) * ceil_div(out.C.cols, S::BN) - division.whole,
              elements = rest * (S::BM * S::BN);
  const bool wide = rows_on_vectors(out.C) && elements >= kV * resident_threads(),
             shared = shares_pay(elements, division.parts);
  launch_dependent(shared ? gemm_add_parts<T, S, 1, kManyShares>
                   : wide ? gemm_add_parts<T, S, kV, 1>
                          : gemm_add_parts<T, S, 1, 1>,
                   shared ? kManyShares * elements / kAddThreads : elements / (kAddThreads * (wide ? kV : 1)),
                   kAddThreads, 0, context.stream, p, partial, out, division, stages);
}

}  // namespace gemm
}  // namespace plumb
