// The body of rung 25: tiles whose columns are a multiple of eight that fits C; of fp32, A keeps its rows in shared memory. Header only.
#pragma once
#include "gpu/gemm/kernels/parts.hpp"

namespace plumb {
namespace gemm {

/// 128 x 8 C by four warps, each of every fourth row and all columns; a lane makes 8 rows by C columns. BK deep, `Blocks` on a multiprocessor.
///
/// Rows of A four apart begin at the same place between two 16-byte boundaries, whatever A's leading dimension is: a warp's rows have a shift of
/// 0 to 3 elements in common, and are copied 16 bytes at a time from the boundary before their first element on. So a warp's stage j has the
/// terms from j BK - shift on; that of B begins 4 terms before j BK.
template <int C_, int BK_, int Stages_, int Blocks_>
struct Fitted {
  static constexpr int BM = 128, BN = 8 * C_, BK = BK_, R = 8, C = C_, WK = 1, kStages = Stages_,
                       kBlocks = Blocks_;
  static constexpr bool kVectorsOfA = false, kVectorsOfB = true, kStreams = false;
  static constexpr int kThreads = 128, kWarps = 4, kWarpRows = BM / kWarps, kV = Vector<float>::kLanes;
  // 16 bytes more than a row: four rows lie in different banks
  static constexpr int kPitchA = BK + kV, kStageA = BM * kPitchA, kRowsB = BK + kV,
                       kStage = kStageA + kRowsB * BN, kPitchC = BN + kV;
  static constexpr std::size_t kShared =
      sizeof(float) * (kStages * kStage > BM * kPitchC ? kStages * kStage : BM * kPitchC);
  static_assert(BK % kV == 0 && 32 % (BK / kV) == 0 && R * 4 == kWarpRows, "warps fill the tile");

  static PLUMB_DEVICE int lane() { return static_cast<int>(threadIdx.x) % 32; }
  static PLUMB_DEVICE int warp() { return static_cast<int>(threadIdx.x) / 32; }
  /// Of the tile, a row of the calling warp.
  static PLUMB_DEVICE int row(int of_warp) { return kWarps * of_warp + warp(); }
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

/// The calling thread's part of the copies: of its warp's rows of A 16 bytes at a time, of B as many or an element.
template <class S, bool Wide>
struct FittedCopies {
  static constexpr int kPieces = S::BK / S::kV, kRowsAtOnce = 32 / kPieces, kBytes = 16,
                       kSize = static_cast<int>(sizeof(float));

  const In<float>& in;
  Index row, j0;    // the thread's first row of A
  Index depth, k;   // the warp's first term of the next stage; below 0 where its rows are shifted
  int shift, most;  // of the warp's rows; the most of any warp's

  PLUMB_DEVICE FittedCopies(const In<float>& of, Index i0, Index j, Index of_depth)
      : in(of), row(i0 + S::row(S::lane() / kPieces)), j0(j), depth(of_depth), most(0) {
    for (int w = 0; w < S::kWarps; ++w) {
      const int of_w = shift_of(i0 + w);
      most = of_w > most ? of_w : most;
    }
    shift = shift_of(i0 + S::warp());
    k = -shift;
  }
  [[nodiscard]] PLUMB_DEVICE Index stages() const { return depth > 0 ? ceil_div(depth + most, S::BK) : 0; }

  /// Starts the copies of the next tile into `stage`, or none where the depth is at its end; closes a group in either case.
  PLUMB_DEVICE void start(float* stage) {
    if (depth > 0 && k + shift < depth + most) {
      start_a(stage + (S::warp() * S::kWarpRows + S::lane() / kPieces) * S::kPitchA +
              S::lane() % kPieces * S::kV);
      start_b(stage + S::kStageA, k + shift - S::kV);
      k += S::BK;
    }
    cp_async_commit();
  }

 private:
  [[nodiscard]] PLUMB_DEVICE int shift_of(Index of_row) const {
    const auto first = reinterpret_cast<std::uintptr_t>(in.A.data + of_row * in.A.ld);
    return static_cast<int>(first % kBytes) / kSize;
  }
  PLUMB_DEVICE void start_a(float* to) const {
    const Index at = k + S::lane() % kPieces * S::kV;
    const float* from = in.A.data + row * in.A.ld + at;
    const Index step = kRowsAtOnce * S::kWarps * in.A.ld;
    const bool inside = row - S::lane() / kPieces * S::kWarps + (S::kWarpRows - 1) * S::kWarps < in.A.rows;
    if (inside && k >= 0 && k + S::BK <= depth) {
#pragma unroll
      for (int r = 0; r < S::kWarpRows; r += kRowsAtOnce, from += step)
        copy_async<kBytes>(to + r * S::kPitchA, from, kBytes);
      return;
    }
    // zeros for what lies before a row or behind it, and past A's rows
#pragma unroll 1
    for (int r = 0; r < S::kWarpRows; r += kRowsAtOnce, from += step, to += kRowsAtOnce * S::kPitchA) {
      const bool mine = row + r * S::kWarps < in.A.rows;
      if (mine && at >= 0 && at + S::kV <= depth) {
        copy_async<kBytes>(to, from, kBytes);
        continue;
      }
      for (int e = 0; e < S::kV; ++e) {
        const bool within = mine && at + e >= 0 && at + e < depth;
        copy_async<kSize>(to + e, within ? from + e : in.A.data, within ? kSize : 0);
      }
    }
  }
  /// Rows of B from `first` on; zeros before the first one, behind the last one and past B's columns. Those that no warp reads are left out.
  PLUMB_DEVICE void start_b(float* to, Index first) const {
    const int unread = S::kV - most;
    if constexpr (Wide) {
      constexpr int kPerRow = S::BN / S::kV;
      for (int e = unread * kPerRow + static_cast<int>(threadIdx.x); e < S::kRowsB * kPerRow;
           e += S::kThreads) {
        const int r = e / kPerRow, c = e % kPerRow * S::kV;
        const bool has = first + r >= 0 && first + r < depth && j0 + c < in.B.cols;
        copy_async<kBytes>(to + r * S::BN + c, has ? in.B.data + (first + r) * in.B.ld + j0 + c : in.B.data,
                           has ? kBytes : 0);
      }
    } else {
      const float* from = in.B.data + (first + S::warp()) * in.B.ld + j0 + S::lane();
      const Index step = S::kWarps * in.B.ld, columns = in.B.cols - j0 - S::lane();
      to += S::warp() * S::BN + S::lane();
#pragma unroll
      for (int r = 0; r < S::kRowsB; r += S::kWarps, from += step) {
        if (r + S::warp() < unread) continue;
        const bool in_depth = first + r + S::warp() >= 0 && first + r + S::warp() < depth;
#pragma unroll
        for (int c = 0; c < S::BN; c += 32) {
          if (c + 32 > S::BN && c + S::lane() >= S::BN) continue;
          const bool has = in_depth && c < columns;
          copy_async<kSize>(to + r * S::BN + c, has ? from + c : in.B.data, has ? kSize : 0);
        }
      }
    }
  }
};

/// Adds the products of `terms` terms of a stage, up to three zeros more. `shift`: of the warp's rows.
template <class S>
PLUMB_DEVICE void add_fitted(const float* stage, int terms, int shift, LanePlace place,
                             float (&sum)[S::R][S::C]) {
  constexpr int kV = S::kV;
  const float *const a = stage + (S::warp() * S::kWarpRows + place.row) * S::kPitchA, *const b =
                                                                                          stage + S::kStageA +
                                                                                          (kV - shift) *
                                                                                              S::BN;
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

template <int C, int BK, int Stages, int Blocks>
struct TileSums<float, Fitted<C, BK, Stages, Blocks>> {
  using S = Fitted<C, BK, Stages, Blocks>;
  float sum[S::R][S::C] = {};

  template <bool Wide>
  PLUMB_DEVICE void make(const In<float>& in, Index i0, Index j0, Index depth, float* shared) {
    const LanePlace place = lane_place();
    FittedCopies<S, Wide> copies(in, i0, j0, depth);
    for (int s = 0; s < Stages - 1; ++s) copies.start(shared + s * S::kStage);
    int reading = 0, writing = Stages - 1;
    Index left = depth + copies.shift;  // of the warp's terms
    for (Index t = copies.stages(); t > 0; --t, left -= BK) {
      cp_async_wait<Stages - 2>();
      __syncthreads();
      copies.start(shared + writing * S::kStage);  // into the stage that all have left at this barrier
      add_fitted<S>(shared + reading * S::kStage, left < BK ? static_cast<int>(left) : BK, copies.shift,
                    place, sum);
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
    if (wide_c) return store_runs(p, out, i0, j0, place);
    __syncthreads();  // all have left the stages
    float* const tile = shared + S::warp() * S::kWarpRows * S::kPitchC;
    put_rows(tile + place.row * S::kPitchC, place);
    __syncwarp();
    const Index left = out.C.cols - j0;
    const int n = left < S::BN ? static_cast<int>(left) : S::BN;
    for (int r = 0; r < S::kWarpRows && i0 + S::row(r) < out.C.rows; ++r) {
      float* const at = out.C.data + (i0 + S::row(r)) * out.C.ld + j0;
#pragma unroll
      for (int c = S::lane(); c < S::BN; c += 32) {
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
  PLUMB_DEVICE void store_runs(const Problem<float>& p, const Out<float>& out, Index i0, Index j0,
                               LanePlace place) const {
#pragma unroll
    for (int r = 0; r < S::R; ++r) {
      const Index i = i0 + S::row(place.row + 4 * r);
      if (i >= out.C.rows) continue;
      float* const row = out.C.data + i * out.C.ld;
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

/// The tiles of a type with 8 C columns, by four warps of 32 rows; of fp32 as many blocks on a multiprocessor as leave registers for loads ahead.
template <class T, int C>
struct FittedOfType {
  using Type = Fitted<C, 32, 2, C <= 5 ? 4 : 3>;
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
    case 4:
      return run(FittedOf<T, 4>{});
    case 3:
      return run(FittedOf<T, 3>{});
    default:
      return run(FittedOf<T, 2>{});
  }
}

/// What tiles fit: the columns of C, or its rows.
template <class T>
struct FitColumns {
  template <class Call>
  static auto with(const Out<T>& out, Call run) {
    return with_fitted<T>(out.C.cols, run);
  }
};

/// Of fp64, tiles whose rows are the multiple of 16 that fits C, by four warps beside each other: 16 and 32 rows by 128 columns, 48 by 64, 64 by 96.
template <int Sixteens>
struct FittedRowsOf {
  using Type = TensorShape<double, 16 * Sixteens, 128, 16, 1, 4, 1, 3, Sixteens == 1 ? 3 : 2>;
};
template <>
struct FittedRowsOf<3> {
  using Type = TensorShape<double, 48, 64, 16, 1, 4, 1, 3, 2>;
};
template <>
struct FittedRowsOf<4> {
  using Type = TensorShape<double, 64, 96, 16, 1, 4, 1, 3, 2>;
};
template <int Sixteens>
using FittedRows = typename FittedRowsOf<Sixteens>::Type;

/// Calls run(S{}) for the shape whose rows fit: as few tiles as cover all rows, and as few rows of each.
template <class Call>
auto with_fitted_rows(Index rows, Call run) {
  const Index tiles = rows > 0 ? ceil_div(rows, 64) : 1;
  switch (ceil_div(ceil_div(rows, tiles), 16)) {
    case 4:
      return run(FittedRows<4>{});
    case 3:
      return run(FittedRows<3>{});
    case 2:
      return run(FittedRows<2>{});
    default:
      return run(FittedRows<1>{});
  }
}
struct FitRows {
  template <class Call>
  static auto with(const Out<double>& out, Call run) {
    return with_fitted_rows(out.C.rows, run);
  }
};

/// A rung of such tiles: its plan, and how it runs.
struct FittedPlan {
  Division division;
  unsigned* finished;
};
template <class T, class Fit>
struct FittedRung {
  static void* prepare(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
    return Fit::with(out, [&](auto shape) {
      using S = decltype(shape);
      const Division division =
          divided<S>(out.C.rows, out.C.cols, depth_of(p, in), S::kBlocks, kMeeting<S>).division;
      return new FittedPlan{division, prepare_divided<S>(division, out, context)};
    });
  }
  static void release(void* plan) { delete static_cast<FittedPlan*>(plan); }
  static void run(const Problem<T>& p, const In<T>& in, const Out<T>& out, Context& context) {
    const auto& plan = *static_cast<const FittedPlan*>(context.plan);
    Fit::with(out, [&](auto shape) {
      run_divided<decltype(shape)>(plan.division, plan.finished, p, in, out, context);
    });
  }
};

}  // namespace gemm
}  // namespace plumb
