// The body of rung 21: tiles of any shape, whole ones first, the depth of the others divided among blocks. Header only.
#pragma once
#include "gpu/gemm/kernels/add_parts.hpp"
#include "gpu/gemm/kernels/fp64_tensor.hpp"

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
  PLUMB_DEVICE void store(const Problem<float>& p, const Out<float>& out, Index i0, Index j0, bool wide_c,
                          float* shared) {
    store_lanes<S>(p, out, i0, j0, sum, wide_c, shared);
  }
  PLUMB_DEVICE void put(float* tile /* (BM, kPitch), shared */) const { put_lanes<S, kPitch>(tile, sum); }
};

template <class S>
struct TileSums<double, S> {
  static constexpr int kPitch = S::BN + 8;
  double sum[S::MT][S::NT][4] = {};

  template <bool Wide>
  PLUMB_DEVICE void make(const In<double>& in, Index i0, Index j0, Index depth, double* shared) {
    Fp64Math<S> math;
    tensor_sums<S, Wide>(in, i0, j0, depth, shared, math, sum);
  }
  PLUMB_DEVICE double (&own())[S::MT * S::NT * 4] {
    return reinterpret_cast<double(&)[S::MT * S::NT * 4]>(sum);
  }
  PLUMB_DEVICE void store(const Problem<double>& p, const Out<double>& out, Index i0, Index j0, bool wide_c,
                          double* shared) {
    store_tile<S>(p, out, i0, j0, sum, wide_c, shared);
  }
  PLUMB_DEVICE void put(double* tile /* (BM, kPitch), shared */) const { put_tile<S, kPitch>(tile, sum); }
};

/// Where the parts of tiles meet: `finished` counts those of a tile that are made, and is 0 between runs. Null: parts are left for
/// gemm_add_parts.
template <class T>
struct Parts {
  Division division;
  T* partial;          // (tiles in parts, parts, sums of a tile)
  unsigned* finished;  // (tiles in parts)
};

/// Makes a part of a tile, or a whole one, and writes it if it is the last, or where it is left.
template <class S, bool Wide, class T>
PLUMB_DEVICE void make_part(Problem<T> p, In<T> in, Out<T> out, const Parts<T>& parts, const PartOfTile& of,
                            Index depth, T* shared, bool wide_c) {
  narrow_to(in, depth, of.first * S::BK, of.stages * S::BK);
  TileSums<T, S> sums;
  Index i0 = of.tile.m * S::BM, j0 = of.tile.n * S::BN;
  sums.template make<Wide>(in, i0, j0, in.A.cols, shared);
  if (of.parts > 1 && parts.finished == nullptr) {
    out = place_of_part<S>(parts.partial, parts.division, of);
    p = {T(1), T(0)}, i0 = j0 = 0, wide_c = true;
  } else if (of.parts > 1) {
    T* const of_tile = parts.partial + static_cast<Index>(of.rest) * parts.division.parts * (S::BM * S::BN);
    if (!join_parts<S::kThreads, Vector<T>>(sums.own(), of.parts, of.part, of_tile, parts.finished + of.rest))
      return;
  }
  sums.store(p, out, i0, j0, wide_c, shared);
}

template <class T, class S, bool Wide>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks)
    gemm_divided(Problem<T> p, In<T> in, Out<T> out, Parts<T> parts, bool wide_c) {
  static_assert(S::WK == 1, "every thread has sums");
  PLUMB_DYNAMIC_SHARED(T, shared);
  let_dependent_begin();
  const Index depth = depth_of(p, in);
  const PartOfTile of = part_of_tile<S>(parts.division, out.C.rows, out.C.cols, ceil_div(depth, S::BK));
  make_part<S, Wide>(p, in, out, parts, of, depth, shared, wide_c);
}

template <class T, class S, bool Wide>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks)
    gemm_streams(Problem<T> p, In<T> in, Out<T> out, Parts<T> parts, bool wide_c) {
  static_assert(S::WK == 1, "every thread has sums");
  PLUMB_DYNAMIC_SHARED(T, shared);
  let_dependent_begin();
  __shared__ PartsOfBlock<S> of_block;
  const Index depth = depth_of(p, in);
  if (threadIdx.x == 0) of_block.begin(parts.division, out.C.rows, out.C.cols, ceil_div(depth, S::BK));
  for (bool more = true; more;) {
    if (threadIdx.x == 0) of_block.take(parts.division, out.C.rows, out.C.cols, ceil_div(depth, S::BK));
    __syncthreads();
    make_part<S, Wide>(p, in, out, parts, of_block.now, depth, shared, wide_c);
    more = of_block.at != of_block.end;
    __syncthreads();  // all have left the stages, and read what comes
  }
}

template <class S, class T>
Index tiles_of(const Out<T>& out) {
  return ceil_div(out.C.rows, S::BM) * ceil_div(out.C.cols, S::BN);
}

/// The counts of the tiles in parts; null where all are whole, or their parts are left.
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
  const bool wide = by_vectors<S>(in);
  auto* kernel = wide ? gemm_divided<T, S, true> : gemm_divided<T, S, false>;
  if constexpr (S::kStreams) {
    if (division.streams > 0) kernel = wide ? gemm_streams<T, S, true> : gemm_streams<T, S, false>;
  }
  launch(kernel, division.whole + (division.streams > 0 ? division.streams : parts), S::kThreads, S::kShared,
         context.stream, p, in, out, Parts<T>{division, partial, finished}, rows_on_vectors(out.C));
  if (parts_are_left(division.parts)) {
    const auto stages = static_cast<int>(ceil_div(depth_of(p, in), S::BK));
    run_add_parts<S>(division, stages, p, partial, out, context);
  }
}

/// fp32: the tiles of rungs 10 to 12, a block for each.
template <class S>
void run_whole(const Problem<float>& p, const In<float>& in, const Out<float>& out, Context& context) {
  run_multistage<float, S>(p, in, out, context);
}
/// fp64: those of rungs 16 and 23.
template <class S>
void run_whole(const Problem<double>& p, const In<double>& in, const Out<double>& out, Context& context) {
  run_tensor<double, S, Fp64Math<S>>(p, in, out, context);
}

/// 128 x 64 as rung 16; 64 x 64 by four warps, three blocks on a multiprocessor; 64 x 128 by four warps of 64 x 32, two blocks: a load from
/// shared memory feeds a third more products than with 32 x 32, and one block multiplies while the other starts or ends a tile.
using Fp64Tile = TensorShape<double, 128, 64, 16, 4, 2, 1, 4>;
using Fp64Small = TensorShape<double, 64, 64, 16, 2, 2, 1, 3, 3>;
using Fp64Wide = TensorShape<double, 64, 128, 16, 1, 4, 1, 3, 2>;
/// 64 x 64, 32 x 64 and 32 x 32 by four warps, and as few blocks on a multiprocessor as leave registers for all sums and fragments.
using Fp64Pair = TensorShape<double, 64, 64, 16, 2, 2, 1, 3, 2>;
using Fp64Low = TensorShape<double, 32, 64, 16, 2, 2, 1, 3, 4>;
using Fp64Square = TensorShape<double, 32, 32, 16, 2, 2, 1, 3, 6>;
/// 128 x 128 by eight warps of 64 x 32: a third less from the second-level cache than 128 x 64, which large products wait for.
using Fp64Large = TensorShape<double, 128, 128, 16, 2, 4, 1, 4>;
/// 32 x 32 with steps of 32, four blocks on a multiprocessor.
using Fp64Steps = TensorShape<double, 32, 32, 32, 2, 2, 1, 3, 4>;

}  // namespace gemm
}  // namespace plumb
