// The body of rung 25: tiles whose columns are a multiple of eight that fits C; of fp32, A keeps its rows in shared memory. Header only.
#pragma once
#include "gpu/gemm/parts.hpp"

namespace plumb {
namespace gemm {

/// BM x 8 C by warps of 32 rows and all columns; a lane makes 8 rows by C columns. BK deep, `Blocks` on a multiprocessor.
template <int BM_, int C_, int BK_, int Stages_, int Blocks_>
struct Fitted {
  static constexpr int BM = BM_, BN = 8 * C_, BK = BK_, R = 8, C = C_, WK = 1, kStages = Stages_,
                       kBlocks = Blocks_;
  static constexpr bool kVectorsOfA = true, kVectorsOfB = false, kStreams = false;
  static constexpr int kThreads = BM, kWarpRows = 4 * R;
  // 16 bytes more than a row: four rows lie in different banks
  static constexpr int kPitchA = BK + 4, kStageA = BM * kPitchA, kStage = kStageA + BK * BN, kPitchC = BN + 4;
  static constexpr std::size_t kShared =
      sizeof(float) * (kStages * kStage > BM * kPitchC ? kStages * kStage : BM * kPitchC);
  static_assert(BM % kWarpRows == 0 && BK % 32 == 0 && kThreads % 32 == 0, "warps fill the tile");
};

/// A lane's columns of a row in shared memory: whole fours, then two, then one; each kind lies side by side over the eight lanes of a row.
/// Calls part(c, Count, at) for `Count` columns of the lane from its c-th one on, which begin `at` elements after the row does.
template <int N>
struct Columns {
  static constexpr int kOf = N;
};
template <int C, class Part>
PLUMB_DEVICE void for_columns(int lane_col, Part part) {
  constexpr int kFours = C / 4 * 4, kTwos = C / 2 * 2;
#pragma unroll
  for (int c = 0; c < kFours; c += 4) part(c, Columns<4>{}, 8 * c + 4 * lane_col);
  if constexpr (kFours < kTwos) part(kFours, Columns<2>{}, 8 * kFours + 2 * lane_col);
  if constexpr (kTwos < C) part(kTwos, Columns<1>{}, 8 * kTwos + lane_col);
}

/// N elements on their own boundary.
template <int N>
struct alignas(N * sizeof(float)) Run {
  float lane[N];
};

/// The calling thread's part of the copies: a warp's own rows of A, V elements at a time; of B an element.
template <class S, int V>
struct FittedCopies {
  static constexpr int kPerRow = S::BK / V, kRowsAtOnce = 32 / kPerRow, kWarps = S::kThreads / 32,
                       kBytes = V * static_cast<int>(sizeof(float)), kAcross = (S::BN + 31) / 32;
  static_assert(32 % kPerRow == 0 && S::BK % kWarps == 0, "threads fill the tile");

  const float *a, *b;    // the thread's first elements of the next tile
  Index lda, ldb, left;  // depth that is not copied yet
  int within;            // rows of the tile that A has
  int columns;           // of B, from the thread's first one on

  PLUMB_DEVICE FittedCopies(const In<float>& in, Index i0, Index j0, Index depth)
      : lda(in.A.ld), ldb(in.B.ld), left(depth) {
    const Index rows = in.A.rows - i0, cols = in.B.cols - j0 - lane();
    within = rows < S::BM ? static_cast<int>(rows) : S::BM;
    columns = cols > S::BN ? S::BN : cols < 0 ? 0 : static_cast<int>(cols);
    a = in.A.data + i0 * lda + lane() % kPerRow * V;
    b = in.B.data + warp() * ldb + j0 + lane();
  }
  static PLUMB_DEVICE int lane() { return static_cast<int>(threadIdx.x) % 32; }
  static PLUMB_DEVICE int warp() { return static_cast<int>(threadIdx.x) / 32; }
  /// Of the tile.
  static PLUMB_DEVICE int first_row() { return warp() * S::kWarpRows + lane() / kPerRow; }

  /// Starts the copies of the next tile into `stage`, or none where the depth is at its end; closes a group in either case.
  PLUMB_DEVICE void start(float* stage) {
    if (left > 0) {
      const int depth = left < S::BK ? static_cast<int>(left) : S::BK;
      start_a(stage, depth);
      if (depth == S::BK)
        start_b(stage + S::kStageA, S::BK);
      else
        start_b(stage + S::kStageA, depth);
      a += S::BK, b += S::BK * ldb, left -= S::BK;
    }
    cp_async_commit();
  }

 private:
  /// Rows past the end are others of the tile, whose products are not kept; what is past the depth becomes zero.
  PLUMB_DEVICE void start_a(float* to, int depth) const {
    const int at = lane() % kPerRow * V, valid = at < depth ? kBytes : 0;
    to += first_row() * S::kPitchA + at;
    if (within == S::BM) {
      const float* from = a + first_row() * lda;
      const Index step = kRowsAtOnce * lda;
#pragma unroll
      for (int r = 0; r < S::kWarpRows; r += kRowsAtOnce, from += step)
        copy_async<kBytes>(to + r * S::kPitchA, from, valid);
    } else {
#pragma unroll 1
      for (int r = 0; r < S::kWarpRows; r += kRowsAtOnce) {
        const int row = first_row() + r;
        copy_async<kBytes>(to + r * S::kPitchA, a + (row < within ? row : row % within) * lda, valid);
      }
    }
  }
  /// A warp has whole rows. What is past the depth or B's columns becomes zero.
  PLUMB_DEVICE void start_b(float* to, int depth) const {
    constexpr int kSize = static_cast<int>(sizeof(float));
    const float* from = b;
    const Index step = kWarps * ldb;
    to += warp() * S::BN + lane();
#pragma unroll
    for (int r = 0; r < S::BK; r += kWarps, from += step) {
#pragma unroll
      for (int u = 0; u < kAcross; ++u) {
        const int c = 32 * u;
        if (c + 32 > S::BN && c + lane() >= S::BN) continue;
        copy_async<kSize>(to + r * S::BN + c, from + c,
                          c < columns && (depth == S::BK || r + warp() < depth) ? kSize : 0);
      }
    }
  }
};

/// Adds the products of `terms` terms of a stage, up to three zeros more.
template <class S>
PLUMB_DEVICE void add_fitted(const float* stage, int terms, LanePlace place, float (&sum)[S::R][S::C]) {
  constexpr int kV = Vector<float>::kLanes;
  const float *const a = stage + (static_cast<int>(threadIdx.x) / 32 * S::kWarpRows + place.row) * S::kPitchA,
                     *const b = stage + S::kStageA;
#pragma unroll 2
  for (int k = 0; k < terms; k += kV) {
    Vector<float> x[S::R];
#pragma unroll
    for (int r = 0; r < S::R; ++r) x[r] = *reinterpret_cast<const Vector<float>*>(a + 4 * r * S::kPitchA + k);
#pragma unroll
    for (int l = 0; l < kV; ++l) {
      float w[S::C];
      for_columns<S::C>(place.col, [&](int c, auto count, int at) {
        const auto v = *reinterpret_cast<const Run<count.kOf>*>(b + (k + l) * S::BN + at);
#pragma unroll
        for (int i = 0; i < count.kOf; ++i) w[c + i] = v.lane[i];
      });
#pragma unroll
      for (int r = 0; r < S::R; ++r) {
#pragma unroll
        for (int c = 0; c < S::C; ++c) {
          const int there = r % 2 == 0 ? c : S::C - 1 - c;
          sum[r][there] += x[r].lane[l] * w[there];
        }
      }
    }
  }
}

template <int BM, int C, int BK, int Stages, int Blocks>
struct TileSums<float, Fitted<BM, C, BK, Stages, Blocks>> {
  using S = Fitted<BM, C, BK, Stages, Blocks>;
  float sum[S::R][S::C] = {};

  template <bool Wide>
  PLUMB_DEVICE void make(const In<float>& in, Index i0, Index j0, Index depth, float* shared) {
    const LanePlace place = lane_place();
    FittedCopies<S, Wide ? Vector<float>::kLanes : 1> copies(in, i0, j0, depth);
    for (int s = 0; s < Stages - 1; ++s) copies.start(shared + s * S::kStage);
    int reading = 0, writing = Stages - 1;
    for (Index k = 0; k < depth; k += BK) {
      cp_async_wait<Stages - 2>();
      __syncthreads();
      copies.start(shared + writing * S::kStage);  // into the stage that all have left at this barrier
      add_fitted<S>(shared + reading * S::kStage, depth - k < BK ? static_cast<int>(depth - k) : BK, place,
                    sum);
      writing = reading;
      reading = reading + 1 == Stages ? 0 : reading + 1;
    }
    into_other_registers(sum, depth);
  }
  PLUMB_DEVICE float (&own())[S::R * S::C] { return reinterpret_cast<float(&)[S::R * S::C]>(sum); }
  /// Whole vectors where `wide_c` says that rows of C allow them, else row by row out of `shared`, the stages. All threads call it.
  PLUMB_DEVICE void store(const Problem<float>& p, const Out<float>& out, Index i0, Index j0, bool wide_c,
                          float* shared) {
    const LanePlace place = lane_place();
    const int first = static_cast<int>(threadIdx.x) / 32 * S::kWarpRows;
    if (wide_c) return store_runs(p, out, i0 + first + place.row, j0, place);
    __syncthreads();  // all have left the stages
    float* const tile = shared + first * S::kPitchC;
    put_rows(tile + place.row * S::kPitchC, place);
    __syncwarp();
    const Index left = out.C.cols - j0;
    const int n = left < S::BN ? static_cast<int>(left) : S::BN;
    float* at = out.C.data + (i0 + first) * out.C.ld + j0;
    for (int r = 0; r < S::kWarpRows && i0 + first + r < out.C.rows; ++r, at += out.C.ld) {
#pragma unroll
      for (int c = static_cast<int>(threadIdx.x) % 32; c < S::BN; c += 32) {
        if (c < n) finish(p, at + c, tile[r * S::kPitchC + c]);
      }
    }
  }

 private:
  PLUMB_DEVICE void put_rows(float* to, LanePlace place) const {
#pragma unroll
    for (int r = 0; r < S::R; ++r) {
      for_columns<C>(place.col, [&](int c, auto count, int at) {
        Run<count.kOf> v;
#pragma unroll
        for (int i = 0; i < count.kOf; ++i) v.lane[i] = sum[r][c + i];
        *reinterpret_cast<Run<count.kOf>*>(to + 4 * r * S::kPitchC + at) = v;
      });
    }
  }
  PLUMB_DEVICE void store_runs(const Problem<float>& p, const Out<float>& out, Index i, Index j0,
                               LanePlace place) const {
#pragma unroll
    for (int r = 0; r < S::R; ++r) {
      if (i + 4 * r >= out.C.rows) continue;
      float* const row = out.C.data + (i + 4 * r) * out.C.ld;
      for_columns<C>(place.col, [&](int c, auto count, int at) {
        float v[count.kOf];
#pragma unroll
        for (int l = 0; l < count.kOf; ++l) v[l] = sum[r][c + l];
        if constexpr (count.kOf == 4) {
          finish_vector(p, out, row, j0 + at, v);
        } else {
#pragma unroll
          for (int l = 0; l < count.kOf; ++l) {
            if (j0 + at + l < out.C.cols) finish(p, row + j0 + at + l, v[l]);
          }
        }
      });
    }
  }
};

/// The tiles of a type with 8 C columns, by four warps of 32 rows; of fp32 as many blocks on a multiprocessor as registers leave room for.
template <class T, int C>
struct FittedOfType {
  using Type = Fitted<128, C, 32, 2, C <= 6 ? 4 : 3>;
};
template <int C>
struct FittedOfType<double, C> {
  using Type = TensorShape<double, 128, 8 * C, 16, 4, 1, 1, 3, 2>;
};
/// 56 columns leave no registers for fragments ahead, 64 are the eight warps' of rung 16.
template <>
struct Fp64MathOf<TensorShape<double, 128, 56, 16, 4, 1, 1, 3, 2>> {
  using Type = Fp64Products<1>;
};
template <>
struct FittedOfType<double, 8> {
  using Type = Fp64Tile;
};
template <class T, int C>
using FittedOf = typename FittedOfType<T, C>::Type;

/// Eights of columns of a tile, at most eight: as few tiles as cover all columns, and as few columns of each.
inline Index eights_of(Index columns) {
  const Index tiles = ceil_div(columns, 64);
  return tiles > 0 ? ceil_div(ceil_div(columns, tiles), 8) : 1;
}
/// Calls run(S{}) for the shape whose columns fit.
template <class T, class Call>
auto with_fitted(Index columns, Call run) {
  switch (eights_of(columns)) {
    case 8:
      return run(FittedOf<T, 8>{});
    case 7:
      return run(FittedOf<T, 7>{});
    case 6:
      return run(FittedOf<T, 6>{});
    case 5:
      return run(FittedOf<T, 5>{});
    default:
      return run(FittedOf<T, 4>{});
  }
}

}  // namespace gemm
}  // namespace plumb
