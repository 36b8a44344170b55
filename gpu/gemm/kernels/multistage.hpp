// The body of rungs 10 to 12: tiles that arrive by asynchronous copies, several stages ahead, and warps that
// may share the depth of a tile. The order of tiles and the choice of a shape serve the tensor rungs as well.
// Header only.
#pragma once
#include "gpu/common/async_copy.hpp"
#include "gpu/common/sum_registers.hpp"
#include "gpu/gemm/kernels/warp_tile.hpp"

namespace plumb {
namespace gemm {

/// Tiles of C in bands of eight rows of tiles, columns of a band first: blocks that run together share rows
/// of A and columns of B in the second-level cache.
PLUMB_DEVICE TileIndex banded_tile(unsigned b, Index tiles_m, Index tiles_n) {
  constexpr unsigned kBand = 8;
  const auto m = static_cast<unsigned>(tiles_m), n = static_cast<unsigned>(tiles_n);
  const unsigned first = b / (kBand * n) * kBand, height = m - first < kBand ? m - first : kBand,
                 within = b - first * n;
  return {static_cast<Index>(first + within % height), static_cast<Index>(within / height)};
}
PLUMB_DEVICE TileIndex banded_tile_index(Index tiles_m, Index tiles_n) {
  return banded_tile(static_cast<unsigned>(blockIdx.x), tiles_m, tiles_n);
}

/// Time of a problem in tiles of bm x bn: multiply-adds per step of K on the busiest multiprocessor, over the
/// shape's `efficiency`.
inline double tile_cost(Index m, Index n, Index bm, Index bn, double efficiency) {
  const Index tiles = ceil_div(m, bm) * ceil_div(n, bn), rounds = ceil_div(tiles, device_multiprocessors());
  return static_cast<double>(rounds) * static_cast<double>(bm * bn) / efficiency;
}

/// A block's shape: tile BM x BN, BK deep, WM x WN warps over the tile, WK of them over its depth, TM x TN
/// elements per lane. A warp copies Along neighbours of a row of A at once: 8 meet no bank twice, 16 ask memory for fewer pieces. Copies alone
/// of 160,487 rows of 279 (fp32, H100), from memory: 1,350 and 1,760 GB/s; products of operands in the second-level cache take 2 to 5 % longer
/// by 16.
template <class T, int BM_, int BN_, int BK_, int WM_, int WN_, int WK_, int TM_, int TN_, int Stages_,
          int Blocks_, int Along = 8>
struct Shape {
  static constexpr int BM = BM_, BN = BN_, BK = BK_, WM = WM_, WN = WN_, WK = WK_, TM = TM_, TN = TN_,
                       kStages = Stages_, kBlocks = Blocks_, kAlong = Along;
  static constexpr bool kWholeApart = true;  // tiles that lie inside are copied by code of their own
  static constexpr bool kVectorsOfA = false,
                        kVectorsOfB = true;  // that 16 bytes of an operand may be copied at once
  static constexpr bool kStreams = true;     // see Meeting
  static constexpr int kThreads = 32 * WM * WN * WK, kPitchA = BM + 4, kPitchB = BN + 4,
                       kStageA = BK * kPitchA, kStage = kStageA + BK * kPitchB;
  static constexpr int kExchange =
      WK == 1 ? 0 : WK / 2 * (32 * WM * WN) * TM * TN;  // sums handed over between slices
  static constexpr std::size_t kShared =
      sizeof(T) * (kStages * kStage > kExchange ? kStages * kStage : kExchange);
  static_assert(BM == WM * 4 * TM && BN == WN * 8 * TN && BK % (8 * WK) == 0, "warps fill the tile");
};

/// Whether copies move 16 bytes of those operands of which a shape's copies may.
template <class S, class T>
bool by_vectors(const In<T>& in) {
  return (!S::kVectorsOfA || whole_vectors(in.A)) && (!S::kVectorsOfB || whole_vectors(in.B));
}

/// The calling thread's part of the copies of B's tiles, kV elements at a time: a vector, where rows are whole_vectors, or one. Of single
/// elements a thread's copies of a row lie a warp's apart, so that one address serves them.
template <class T, class S, int kV>
struct CopiesOfB {
  static constexpr int kPerRow = S::BN / kV, kEven = kPerRow & -kPerRow,  // its greatest power of two
      kLanes = kV == 1 && kEven > 32 ? 32 : kEven, kAcross = kPerRow / kLanes,
                       kRowStep = S::kThreads / kLanes, kBytes = kV * static_cast<int>(sizeof(T));
  static constexpr int kDown = kRowStep < S::BK ? kRowStep : S::BK;
  static constexpr bool kAllCopy = kRowStep <= S::BK;  // else there are more threads than a tile has for them
  static_assert(S::kThreads % kLanes == 0 && (!kAllCopy || S::BK % kRowStep == 0), "threads fill the tile");

  const T* from;  // element (its k, its first column) of the next tile to copy
  Index ld;
  int within;  // columns of B from the thread's first one on, 0 where that is past the end

  PLUMB_DEVICE CopiesOfB(const In<T>& in, Index j0) : ld(in.B.ld) {
    const int t = static_cast<int>(threadIdx.x);
    const Index col = j0 + t % kLanes * kV, left = in.B.cols - col;
    within = left > S::BN ? S::BN : left < 0 ? 0 : static_cast<int>(left);
    from = in.B.data + static_cast<Index>(t / kLanes) * ld + (within > 0 ? col : 0);
  }
  /// Starts the copies of the next tile, all of which B has.
  PLUMB_DEVICE void start(T* bs /* (BK, kPitchB), shared */) {
    if (!copies()) return;
    bs += place();
#pragma unroll
    for (int r = 0; r < S::BK; r += kRowStep, from += kDown * ld) {
#pragma unroll
      for (int u = 0; u < kAcross; ++u)
        copy_async<kBytes>(bs + r * S::kPitchB + u * kLanes * kV, from + u * kLanes * kV, kBytes);
    }
  }
  /// The same of a tile of which B has `left` rows, and columns that it may not have: these, and what is past the depth, become zero.
  PLUMB_DEVICE void start_edge(T* bs, Index left) {
    const int row = static_cast<int>(threadIdx.x) / kLanes;
    if (!copies()) return;
    bs += place();
#pragma unroll
    for (int r = 0; r < S::BK; r += kRowStep, from += kDown * ld) {
#pragma unroll
      for (int u = 0; u < kAcross; ++u) {
        const bool in_row = u * kLanes * kV < within;
        copy_async<kBytes>(bs + r * S::kPitchB + u * kLanes * kV, from + (in_row ? u * kLanes * kV : 0),
                           row + r < left && in_row ? kBytes : 0);
      }
    }
  }

 private:
  PLUMB_DEVICE static bool copies() { return kAllCopy || static_cast<int>(threadIdx.x) < kLanes * S::BK; }
  PLUMB_DEVICE static int place() {
    const int t = static_cast<int>(threadIdx.x);
    return t / kLanes * S::kPitchB + t % kLanes * kV;
  }
};

/// The row of A that row `row` of the tile at i0 is copied from: its own, or past the end another one of the tile, whose products are not
/// kept. Not the same one for all of these: so many blocks at once read it that the second-level cache served one line at a time, and
/// 16 x 4250 x 2130 in fp64 took 2.6 times as long as its work.
PLUMB_DEVICE Index row_within(Index i0, int row, Index rows) {
  const Index within = rows - i0;
  return i0 + (row < within ? row : row % static_cast<int>(within));
}

/// The same of A, which goes to shared memory turned, an element at a time: no element needs its row aligned.
template <class T, class S>
struct TurnedCopiesOfA {
  static constexpr int kRowStep = S::kThreads / S::kAlong;
  static_assert(S::BM % kRowStep == 0 && S::BK % S::kAlong == 0, "threads fill the tile");

  const T*
      from;  // element (the thread's row, its k) of the next tile to copy; of the tile's first row where A has not the thread's
  Index ld;
  int within;  // rows of the tile that A has

  PLUMB_DEVICE TurnedCopiesOfA(const In<T>& in, Index i0)
      : ld(in.A.ld), within(in.A.rows - i0 < S::BM ? static_cast<int>(in.A.rows - i0) : S::BM) {
    const int t = static_cast<int>(threadIdx.x), row = t / S::kAlong;
    from = in.A.data + (i0 + (row < within ? row : 0)) * ld + t % S::kAlong;
  }
  PLUMB_DEVICE void start(T* as /* (BK, kPitchA), shared */) {
    as += place();
    const T* at = from;
#pragma unroll
    for (int r = 0; r < S::BM; r += kRowStep, at += kRowStep * ld) copy_row(as + r, at, S::BK);
    from += S::BK;
  }
  /// Rows past the end become zero.
  PLUMB_DEVICE void start_edge(T* as, Index left) {
    const int t = static_cast<int>(threadIdx.x);
    as += place();
    const T* at = from;
#pragma unroll 1
    for (int r = t / S::kAlong; r < S::BM; r += kRowStep, as += kRowStep) {
      copy_row(as, at, r < within ? left - t % S::kAlong : 0);
      if (r + kRowStep < within) at += kRowStep * ld;
    }
    from += S::BK;
  }

 private:
  PLUMB_DEVICE static int place() {
    const int t = static_cast<int>(threadIdx.x);
    return t % S::kAlong * S::kPitchA + t / S::kAlong;
  }
  /// `left`: of the depth, from the thread's first element on.
  PLUMB_DEVICE static void copy_row(T* as, const T* at, Index left) {
#pragma unroll
    for (int h = 0; h < S::BK; h += S::kAlong)
      copy_async<sizeof(T)>(as + h * S::kPitchA, at + h, h < left ? static_cast<int>(sizeof(T)) : 0);
  }
};

/// The copies of both operands' tiles, in stages: A's part first, then B's.
template <class T, class S, class OfA, class OfB>
struct StageCopies {
  OfA a;
  OfB b;
  bool inside;  // whether the operands have all rows and columns of the tile
  Index left;   // depth not yet copied

  PLUMB_DEVICE StageCopies(const In<T>& in, Index i0, Index j0, Index depth)
      : a(in, i0), b(in, j0), inside(i0 + S::BM <= in.A.rows && j0 + S::BN <= in.B.cols), left(depth) {}

  /// Starts the copies of the next tile into `stage`, or none where the depth is at its end; closes a group
  /// in either case.
  PLUMB_DEVICE void start(T* stage) {
    if (left > 0) {
      if (S::kWholeApart && inside && left >= S::BK) {
        a.start(stage);
        b.start(stage + S::kStageA);
      } else {
        a.start_edge(stage, left);
        b.start_edge(stage + S::kStageA, left);
      }
      left -= S::BK;
    }
    cp_async_commit();
  }
};

/// Adds the sums of the slices of the depth in a fixed order, halving: the upper half hands its sums to the
/// lower half.
template <class S, class T, int N>
PLUMB_DEVICE void add_slices(T* shared, T (&sum)[N], int slice) {
  constexpr int kSliceThreads = 32 * S::WM * S::WN;
  const int t = static_cast<int>(threadIdx.x) % kSliceThreads;
  for (int half = S::WK / 2; half > 0; half /= 2) {
    T* const mine = shared + (slice % half) * kSliceThreads * N + t;
    __syncthreads();
    if (slice >= half && slice < 2 * half) {
#pragma unroll
      for (int e = 0; e < N; ++e) mine[e * kSliceThreads] = sum[e];
    }
    __syncthreads();
    if (slice < half) {
#pragma unroll
      for (int e = 0; e < N; ++e) sum[e] += mine[e * kSliceThreads];
    }
  }
}

/// Narrows the operands to `most` of the depth, or what there is of it, from `first` on.
template <class T>
PLUMB_DEVICE void narrow_to(In<T>& in, Index depth, Index first, Index most) {
  in.A.cols = in.B.rows = first + most < depth ? most : depth - first;
  in.A.data += first, in.B.data += first * in.B.ld;
}

/// The calling thread's sums of the tile that begins at (i0, j0), of the first slice of its depth those of all slices. `shared` has
/// S::kShared bytes; threads of the block may still read it at the end.
template <class S, bool Wide, class T>
PLUMB_DEVICE void multistage_sums(const In<T>& in, Index i0, Index j0, Index depth, T* shared,
                                  T (&sum)[S::TM][S::TN]) {
  using Lane = LaneTile<T, S::TM, S::TN>;
  const int warp = static_cast<int>(threadIdx.x) / 32, slice = warp / (S::WM * S::WN);
  const int wm = warp / S::WN % S::WM * Lane::kRows, wn = warp % S::WN * Lane::kCols;
  constexpr int kSteps = S::BK / S::WK;  // of K, per warp and tile
  static_assert(kSteps % 2 == 0, "the first fragment of a tile is in buffer 0");
  const int tiles = static_cast<int>(ceil_div(depth, S::BK));
  if (tiles == 0) return;
  const LanePlace place = lane_place();
  StageCopies<T, S, TurnedCopiesOfA<T, S>, CopiesOfB<T, S, Wide ? Vector<T>::kLanes : 1>> copies(in, i0, j0,
                                                                                                 depth);
  for (int s = 0; s < S::kStages - 1; ++s) copies.start(shared + s * S::kStage);
  cp_async_wait<S::kStages - 2>();
  __syncthreads();
  const int offset_a = slice * kSteps * S::kPitchA + wm,
            offset_b = S::kStageA + slice * kSteps * S::kPitchB + wn;
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
  into_other_registers(sum, depth);
  if (S::WK > 1) add_slices<S>(shared, reinterpret_cast<T(&)[S::TM * S::TN]>(sum), slice);
}

/// Writes C's tile that begins at (i0, j0), neighbours of a row by neighbouring lanes; sum_at(row, col) is an element's sum. A thread stays
/// in its column.
template <class S, class T, class SumAt>
PLUMB_DEVICE void write_columns(const Problem<T>& p, const Out<T>& out, Index i0, Index j0, SumAt sum_at) {
  const int col = static_cast<int>(threadIdx.x) % S::BN;
  if (j0 + col >= out.C.cols) return;
  constexpr int kStep = S::kThreads / S::BN;
  const int first = static_cast<int>(threadIdx.x) / S::BN;
  const Index left = out.C.rows - i0 - first;  // rows of C
  T* at = &out.C(i0 + first, j0 + col);
#pragma unroll 8
  for (int r = 0; r < S::BM; r += kStep, at += kStep * out.C.ld) {
    if (r < left) finish(p, at, sum_at(first + r, col));
  }
}
/// The same of tiles whose rows are no share of the threads.
template <class S, class T, class SumAt>
PLUMB_DEVICE void write_elements(const Problem<T>& p, const Out<T>& out, Index i0, Index j0, SumAt sum_at) {
#pragma unroll 4
  for (int e = static_cast<int>(threadIdx.x); e < S::BM * S::BN; e += S::kThreads) {
    const int row = e / S::BN, col = e % S::BN;
    if (i0 + row < out.C.rows && j0 + col < out.C.cols)
      finish(p, &out.C(i0 + row, j0 + col), sum_at(row, col));
  }
}
template <class S, class T, class SumAt>
PLUMB_DEVICE void write_by_rows(const Problem<T>& p, const Out<T>& out, Index i0, Index j0, SumAt sum_at) {
  if constexpr (S::kThreads % S::BN == 0)
    write_columns<S>(p, out, i0, j0, sum_at);
  else
    write_elements<S>(p, out, i0, j0, sum_at);
}

/// Puts the calling thread's sums to their places in a tile of BM x BN.
template <class S, int Pitch, class T>
PLUMB_DEVICE void put_lanes(T* tile /* (BM, Pitch), shared */, const T (&sum)[S::TM][S::TN]) {
  using Lane = LaneTile<T, S::TM, S::TN>;
  constexpr int kV = Lane::kV;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (warp >= S::WM * S::WN) return;  // another slice of the depth
  const LanePlace place = lane_place();
  tile += (warp / S::WN * Lane::kRows + place.row * kV) * Pitch + warp % S::WN * Lane::kCols + place.col * kV;
#pragma unroll
  for (int r = 0; r < S::TM; ++r) {
#pragma unroll
    for (int c = 0; c < S::TN; c += kV) {
      Vector<T> v;
#pragma unroll
      for (int l = 0; l < kV; ++l) v.lane[l] = sum[r][c + l];
      *reinterpret_cast<Vector<T>*>(tile + (r / kV * 4 * kV + r % kV) * Pitch + c * 8) = v;
    }
  }
}

/// Writes the calling thread's sums of the tile that begins at (i0, j0). Whole vectors where `wide_c` says that rows of C allow them; else row
/// by row out of `shared`, the stages, where they have room for the tile: pieces of eight elements on any bounds are twice the sectors.
/// All threads of the block call it.
template <class S, class T>
PLUMB_DEVICE void store_lanes(const Problem<T>& p, const Out<T>& out, Index i0, Index j0,
                              const T (&sum)[S::TM][S::TN], bool wide_c, T* shared) {
  using Lane = LaneTile<T, S::TM, S::TN>;
  constexpr int kPitch = S::BN + 4;
  if constexpr (S::BM * kPitch * sizeof(T) <= S::kShared && S::kThreads % S::BN == 0) {
    if (!wide_c) {
      __syncthreads();  // all have left the stages
      put_lanes<S, kPitch>(shared, sum);
      __syncthreads();
      return write_by_rows<S>(p, out, i0, j0, [&](int row, int col) { return shared[row * kPitch + col]; });
    }
  }
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (warp >= S::WM * S::WN) return;  // another slice of the depth
  Lane::store(p, out, i0 + warp / S::WN * Lane::kRows, j0 + warp % S::WN * Lane::kCols, sum, lane_place(),
              wide_c);
}

template <class T, class S, bool Wide>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks)
    gemm_multistage(Problem<T> p, In<T> in, Out<T> out, bool wide_c) {
  PLUMB_DYNAMIC_SHARED(T, shared);
  const TileIndex tile = banded_tile_index(ceil_div(out.C.rows, S::BM), ceil_div(out.C.cols, S::BN));
  const Index i0 = tile.m * S::BM, j0 = tile.n * S::BN;
  T sum[S::TM][S::TN] = {};
  multistage_sums<S, Wide>(in, i0, j0, depth_of(p, in), shared, sum);
  store_lanes<S>(p, out, i0, j0, sum, wide_c, shared);
}

template <class T, class S>
void run_multistage(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const Index tiles = ceil_div(out.C.rows, S::BM) * ceil_div(out.C.cols, S::BN);
  const bool wide_c = rows_on_vectors(out.C);
  if (by_vectors<S>(in)) {
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
