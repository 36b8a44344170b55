// The body of the tensor rungs: stages of asynchronous copies as in rung 10, products by warp-wide mma.
// Header only.
//
// Every element of a fragment is loaded by itself, into the register where mma wants it: a load of two neighbours along K
// leaves the second where another row's element belongs, and moves for it took half of the loop's instructions in fp64.
#pragma once
#include "gpu/common/store_vector.hpp"
#include "gpu/gemm/kernels/multistage.hpp"

namespace plumb {
namespace gemm {

/// Two elements, loaded and stored as one.
template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T x, y;
};

/// As Shape; a warp has MT x NT tiles of 16 x 8. Pitches keep the lanes of a load in different banks, both
/// types.
template <class T, int BM_, int BN_, int BK_, int WM_, int WN_, int WK_, int Stages_, int Blocks_ = 1>
struct TensorShape {
  static constexpr int BM = BM_, BN = BN_, BK = BK_, WM = WM_, WN = WN_, WK = WK_, kStages = Stages_,
                       kBlocks = Blocks_, MT = BM / WM / 16, NT = BN / WN / 8;
  static constexpr bool kVectorsOfA = true, kVectorsOfB = true, kStreams = false;
  static constexpr bool kWholeApart = false;  // a branch more before the products: 3 to 6 % longer in fp64
  static constexpr int kThreads = 32 * WM * WN * WK, kPitchA = BK + 4, kPitchB = BN + 4;
  static constexpr int kStageA = BM * kPitchA, kStage = kStageA + BK * kPitchB;
  static constexpr int kExchange = WK == 1 ? 0 : WK / 2 * (32 * WM * WN) * MT * NT * 4;
  static constexpr std::size_t kShared =
      sizeof(T) * (kStages * kStage > kExchange ? kStages * kStage : kExchange);
  static_assert(BM == WM * MT * 16 && BN == WN * NT * 8 && BK % (16 * WK) == 0, "warps fill the tile");
};

/// The calling thread's part of the copies of A's tiles, which keep their rows; kV elements at a time, as
/// rows are aligned.
template <class T, class S, int kV>
struct CopiesOfA {
  static constexpr int kPerRow = S::BK / kV, kRowStep = S::kThreads / kPerRow, kCopies = S::BM / kRowStep;
  static_assert(S::kThreads % kPerRow == 0 && S::BM % kRowStep == 0, "threads fill the tile");

  const T* first;  // element (0, its k) of the next tile's columns
  Index ld, row, other, last;

  PLUMB_DEVICE CopiesOfA(const In<T>& in, Index i0)
      : first(in.A.data + threadIdx.x % kPerRow * kV),
        ld(in.A.ld),
        row(i0 + threadIdx.x / kPerRow),
        other(row_within(i0, static_cast<int>(threadIdx.x) / kPerRow, in.A.rows)),
        last(in.A.rows - 1) {}

  PLUMB_DEVICE void start(T* as /* (BM, kPitchA), shared */) { start_edge(as, S::BK); }
  /// Rows past the end are others of the tile, whose products are not kept; what is past the depth becomes zero.
  PLUMB_DEVICE void start_edge(T* as, Index left) {
    const int t = static_cast<int>(threadIdx.x), k = t % kPerRow * kV;
    const Index within = left - k;
    as += t / kPerRow * S::kPitchA + k;
    const int valid = within > 0 ? kV * static_cast<int>(sizeof(T)) : 0;
#pragma unroll
    for (int u = 0; u < kCopies; ++u) {
      const Index r = row + u * kRowStep;
      copy_async<kV * sizeof(T)>(as + u * kRowStep * S::kPitchA, first + (r <= last ? r : other) * ld, valid);
    }
    first += S::BK;
  }
};

/// A warp's and a lane's place in a tile of TensorShape S: sum[m][n][2 h + e] is element (row(m, h), col(n) + e).
template <class S>
struct TensorPlace {
  int slice, wm, wn, g, t;

  PLUMB_DEVICE TensorPlace() {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    slice = warp / (S::WM * S::WN);
    wm = warp / S::WN % S::WM * (16 * S::MT), wn = warp % S::WN * (8 * S::NT);
    g = lane / 4, t = lane % 4;
  }
  PLUMB_DEVICE int row(int m, int h) const { return wm + 16 * m + 8 * h + g; }
  PLUMB_DEVICE int col(int n) const { return wn + 8 * n + 2 * t; }
};

/// A warp's fragments of one step along K, loaded from a stage.
template <class S, class Math, class T>
PLUMB_DEVICE void load_fragments(const TensorPlace<S>& at, const T* stage, int step,
                                 T (&a)[S::MT][4 * Math::kHalves], T (&b)[S::NT][2 * Math::kHalves]) {
  const T* const as = stage + (at.wm + at.g) * S::kPitchA + at.slice * (S::BK / S::WK) + at.t;
  const T* const bs = stage + S::kStageA + (at.slice * (S::BK / S::WK) + at.t) * S::kPitchB + at.wn + at.g;
#pragma unroll
  for (int f = 0; f < Math::kHalves; ++f) {
    const int k = 8 * (Math::kHalves * step + f);
#pragma unroll
    for (int m = 0; m < S::MT; ++m) {
#pragma unroll
      for (int e = 0; e < 4; ++e) a[m][4 * f + e] = as[(16 * m + 8 * (e % 2)) * S::kPitchA + k + 4 * (e / 2)];
    }
#pragma unroll
    for (int n = 0; n < S::NT; ++n) {
#pragma unroll
      for (int h = 0; h < 2; ++h) b[n][2 * f + h] = bs[(k + 4 * h) * S::kPitchB + 8 * n];
    }
  }
}

/// The calling thread's sums of the tile that begins at (i0, j0), of the first slice of its depth those of all slices. `shared` has
/// S::kShared bytes; threads of the block may still read it at the end.
/// Math makes the products of one step of kHalves times 8 along K, `multiply_add`: sum[m][n] += a[m] b[n].
/// kLoadsFirst: whether copies are started behind a step's loads; before them fewer registers are in use.
/// kBuffers: 2 where the next step's fragments are loaded ahead, 1 where registers are short and the other
/// warps must cover the loads.
template <class S, bool Wide, class T, class Math>
PLUMB_DEVICE void tensor_sums(const In<T>& in, Index i0, Index j0, Index depth, T* shared, Math& math,
                              T (&sum)[S::MT][S::NT][4]) {
  constexpr int kV = Wide ? Vector<T>::kLanes : 1;  // elements that a copy moves
  constexpr int kSteps = S::BK / (8 * Math::kHalves) / S::WK, kBuffers = Math::kBuffers;  // per warp and tile
  static_assert(kSteps % kBuffers == 0, "the first fragment of a tile is in buffer 0");
  const int tiles = static_cast<int>(ceil_div(depth, S::BK));
  if (tiles == 0) return;
  const TensorPlace<S> at;
  StageCopies<T, S, CopiesOfA<T, S, kV>, CopiesOfB<T, S, kV>> copies(in, i0, j0, depth);
  for (int s = 0; s < S::kStages - 1; ++s) copies.start(shared + s * S::kStage);
  T a[kBuffers][S::MT][4 * Math::kHalves], b[kBuffers][S::NT][2 * Math::kHalves];
  int reading = 0, writing = S::kStages - 1;
  if (kBuffers == 2) {
    cp_async_wait<S::kStages - 2>();
    __syncthreads();
    load_fragments<S, Math>(at, shared, 0, a[0], b[0]);
  }
  for (int tile_k = 0; tile_k < tiles; ++tile_k) {
    if (kBuffers == 1) {
      cp_async_wait<S::kStages - 2>();
      __syncthreads();
    }
    T* const free = shared + writing * S::kStage;  // all have left it at the last barrier
    const T* const stage = shared + reading * S::kStage;
    writing = reading;
    reading = reading + 1 == S::kStages ? 0 : reading + 1;
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      const int now = s % kBuffers, next = (s + 1) % kBuffers;
      if (s == 0 && !Math::kLoadsFirst) copies.start(free);
      if (kBuffers == 1)
        load_fragments<S, Math>(at, stage, s, a[now], b[now]);
      else if (s + 1 < kSteps)
        load_fragments<S, Math>(at, stage, s + 1, a[next], b[next]);
      if (s == 0 && Math::kLoadsFirst) copies.start(free);  // products wait for the loads
      if (kBuffers == 2 && s + 1 == kSteps) {
        cp_async_wait<S::kStages - 2>();
        __syncthreads();
        if (tile_k + 1 < tiles)
          load_fragments<S, Math>(at, shared + reading * S::kStage, 0, a[next], b[next]);
      }
      math.multiply_add(sum, a[now], b[now]);
    }
  }
  if (S::WK > 1) add_slices<S>(shared, reinterpret_cast<T(&)[S::MT * S::NT * 4]>(sum), at.slice);
}

/// Makes a tile's elements again, one after the other.
template <class S, class T>
PLUMB_DEVICE void plain_tile(const Problem<T>& p, const In<T>& in, const Out<T>& out, Index i0, Index j0,
                             Index depth) {
  const TensorPlace<S> at;
#pragma unroll 1
  for (int e = 0; e < S::MT * S::NT * 4; ++e) {
    const Index i = i0 + at.row(e / (4 * S::NT), e / 2 % 2), j = j0 + at.col(e / 4 % S::NT) + e % 2;
    if (i >= out.C.rows || j >= out.C.cols) continue;
    T plain = T(0);
    for (Index k = 0; k < depth; ++k) plain += in.A(i, k) * in.B(k, j);
    finish(p, &out.C(i, j), plain);
  }
}

/// Writes a lane's sums of two neighbouring columns, from j on, of a row of C: both at once where C has both.
template <class T>
PLUMB_DEVICE void store_pair(const Problem<T>& p, const Out<T>& out, T* row, Index j, T x, T y) {
  T* const at = row + j;
  if (j + 2 > out.C.cols) {
    if (j < out.C.cols) finish(p, at, x);
    return;
  }
  Pair<T> c{T(0), T(0)};
  if (p.beta != T(0)) c = *reinterpret_cast<const Pair<T>*>(at);
  const T made[2] = {p.alpha * x + (p.beta == T(0) ? T(0) : p.beta * c.x),
                     p.alpha * y + (p.beta == T(0) ? T(0) : p.beta * c.y)};
  store_vector<2>(at, made);
}

/// Puts the calling thread's sums to their places in a tile of BM x BN.
template <class S, int Pitch, class T>
PLUMB_DEVICE void put_tile(T* tile /* (BM, Pitch), shared */, const T (&sum)[S::MT][S::NT][4]) {
  const TensorPlace<S> at;
  if (at.slice > 0) return;  // another slice of the depth
#pragma unroll
  for (int m = 0; m < S::MT; ++m) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int n = 0; n < S::NT; ++n) {
        const Pair<T> pair{sum[m][n][2 * h], sum[m][n][2 * h + 1]};
        *reinterpret_cast<Pair<T>*>(tile + at.row(m, h) * Pitch + at.col(n)) = pair;
      }
    }
  }
}

/// Writes the calling thread's sums of the tile that begins at (i0, j0): two elements at a time where `wide_c` says that rows of C allow them,
/// else row by row out of `shared`, the stages. All threads of the block call it.
template <class S, class T>
PLUMB_DEVICE void store_tile(const Problem<T>& p, const Out<T>& out, Index i0, Index j0,
                             const T (&sum)[S::MT][S::NT][4], bool wide_c, T* shared) {
  constexpr int kPitch = S::BN + 8;
  static_assert(S::BM * kPitch * sizeof(T) <= S::kShared, "the tile fits in the stages");
  if (!wide_c) {
    __syncthreads();  // all have left the stages
    put_tile<S, kPitch>(shared, sum);
    __syncthreads();
    return write_by_rows<S>(p, out, i0, j0, [&](int row, int col) { return shared[row * kPitch + col]; });
  }
  const TensorPlace<S> place;
  if (place.slice > 0) return;  // another slice of the depth
#pragma unroll
  for (int m = 0; m < S::MT; ++m) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const Index i = i0 + place.row(m, h);
      T* const row = out.C.data + i * out.C.ld;
      if (i >= out.C.rows) continue;
#pragma unroll
      for (int n = 0; n < S::NT; ++n)
        store_pair(p, out, row, j0 + place.col(n), sum[m][n][2 * h], sum[m][n][2 * h + 1]);
    }
  }
}

/// Math's kWatches: `outside` is asked whether an operand was outside the range that its arithmetic represents, or the depth too small
/// for it.
template <class T, class S, class Math, bool Wide>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks)
    gemm_tensor(Problem<T> p, In<T> in, Out<T> out, bool wide_c) {
  PLUMB_DYNAMIC_SHARED(T, shared);
  const TileIndex tile = banded_tile_index(ceil_div(out.C.rows, S::BM), ceil_div(out.C.cols, S::BN));
  const Index i0 = tile.m * S::BM, j0 = tile.n * S::BN, depth = depth_of(p, in);
  T sum[S::MT][S::NT][4] = {};
  Math math;
  tensor_sums<S, Wide>(in, i0, j0, depth, shared, math, sum);
  // asked of the whole tile, so that the answer does not depend on lanes
  const bool again = Math::kWatches && __syncthreads_or(math.outside(sum, depth)) != 0;
  if (!again) return store_tile<S>(p, out, i0, j0, sum, wide_c, shared);
  if (TensorPlace<S>().slice == 0) plain_tile<S>(p, in, out, i0, j0, depth);
}

template <class T, class S, class Math>
void run_tensor(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
  const Index tiles = ceil_div(out.C.rows, S::BM) * ceil_div(out.C.cols, S::BN);
  const bool wide_c = reinterpret_cast<std::uintptr_t>(out.C.data) % sizeof(Pair<T>) == 0 &&
                      out.C.ld * sizeof(T) % sizeof(Pair<T>) == 0;
  if (by_vectors<S>(in)) {
    launch(gemm_tensor<T, S, Math, true>, tiles, S::kThreads, S::kShared, context.stream, p, in, out, wide_c);
  } else {
    launch(gemm_tensor<T, S, Math, false>, tiles, S::kThreads, S::kShared, context.stream, p, in, out,
           wide_c);
  }
}

}  // namespace gemm
}  // namespace plumb
