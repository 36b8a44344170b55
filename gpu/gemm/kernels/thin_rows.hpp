// The body of rung 27: C of up to 16 rows in fp32, B from memory to registers. Header only.
#pragma once
#include "gpu/gemm/kernels/parts.hpp"

namespace plumb {
namespace gemm {

/// BM x 128 by eight warps, each with all of the tile and every eighth run of 32 terms: a lane makes all rows of four columns.
template <int BM_>
struct ThinRows {
  static constexpr int BM = BM_, BN = 128, kWarps = 8, kRun = 32, BK = kWarps * kRun, WK = 1, kStages = 1,
                       kBlocks = 2, kThreads = 32 * kWarps, kV = Vector<float>::kLanes;
  static constexpr bool kVectorsOfA = false, kVectorsOfB = true, kStreams = false;
  static constexpr int kPitchA = BM + kV;          // of a run of A, turned
  static constexpr int kOwn = BM * BN / kThreads;  // elements of C that a thread writes
  static constexpr int kAhead = BM == 16 ? 4 : 8;  // rows of B that are loaded before the first product
  static constexpr std::size_t kShared = sizeof(float) * kWarps * BM * BN;
  static_assert(2 * kRun * kPitchA <= BM * BN && kOwn % kV == 0 && kRun % kAhead == 0,
                "the sums' place has room for A");
};

/// The calling lane's columns of a row of B: four neighbours where rows are whole vectors, else a warp's width apart; zeros past the end.
template <bool Wide>
struct ThinColumns {
  const float* first;
  Index ld;
  int within;  // columns of B from the lane's first one on
  PLUMB_DEVICE ThinColumns(const In<float>& in, Index j0) : ld(in.B.ld) {
    const int lane = static_cast<int>(threadIdx.x) % 32, at = Wide ? 4 * lane : lane;
    const Index left = in.B.cols - j0 - at;
    within = left > 128 ? 128 : left < 0 ? 0 : static_cast<int>(left);
    first = in.B.data + j0 + at;
  }
  PLUMB_DEVICE const float* row(Index k) const { return first + k * ld; }
  PLUMB_DEVICE Vector<float> load(const float* from /* row() */) const {
    Vector<float> v{};
    if constexpr (Wide) {
      if (within > 0) v = *reinterpret_cast<const Vector<float>*>(from);
    } else {
#pragma unroll
      for (int e = 0; e < 4; ++e) v.lane[e] = 32 * e < within ? from[32 * e] : 0.f;
    }
    return v;
  }
};

template <int BM>
struct TileSums<float, ThinRows<BM>> {
  using S = ThinRows<BM>;
  float sum[S::kOwn] = {};

  template <bool Wide>
  PLUMB_DEVICE void make(const In<float>& in, Index i0, Index j0, Index depth, float* shared) {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const ThinColumns<Wide> columns(in, j0);
    float all[BM][4] = {};
    float* now = shared + warp * (BM * S::BN);
    float* next = now + S::kRun * S::kPitchA;
    Index k = warp * S::kRun;
    start_run(now, in, i0, k, depth);
    for (; k < depth; k += S::BK) {
      start_run(next, in, i0, k + S::BK, depth);
      cp_async_wait<1>();
      __syncwarp();
      const int terms = depth - k < S::kRun ? static_cast<int>(depth - k) : S::kRun;
      const float* from = columns.row(k);
      int t = 0;
#pragma unroll 1
      for (; t + S::kAhead <= terms; t += S::kAhead) {
        Vector<float> b[S::kAhead];
#pragma unroll
        for (int u = 0; u < S::kAhead; ++u, from += columns.ld) b[u] = columns.load(from);
#pragma unroll
        for (int u = 0; u < S::kAhead; ++u) add_term(all, now + (t + u) * S::kPitchA, b[u]);
      }
#pragma unroll 1
      for (; t < terms; ++t, from += columns.ld) add_term(all, now + t * S::kPitchA, columns.load(from));
      __syncwarp();  // all have read the run, whose place the one after the next takes
      float* const read = now;
      now = next, next = read;
    }
    cp_async_wait_all();
    __syncthreads();  // all have read their runs
    put<Wide>(shared + warp * (BM * S::BN), all, lane);
    __syncthreads();
#pragma unroll
    for (int e = 0; e < S::kOwn; ++e) {
      const float* const mine = shared + row(e) * S::BN + col(e);
      sum[e] = mine[0];
#pragma unroll
      for (int w = 1; w < S::kWarps; ++w) sum[e] += mine[w * (BM * S::BN)];
    }
  }
  PLUMB_DEVICE float (&own())[S::kOwn] { return sum; }
  PLUMB_DEVICE void store(const Problem<float>& p, const Out<float>& out, Index i0, Index j0, bool wide_c,
                          float*) {
#pragma unroll
    for (int e = 0; e < S::kOwn; e += S::kV) {
      const Index i = i0 + row(e), j = j0 + col(e);
      if (i >= out.C.rows) continue;
      float v[S::kV];
#pragma unroll
      for (int l = 0; l < S::kV; ++l) v[l] = sum[e + l];
      if (wide_c) {
        finish_vector(p, out, out.C.data + i * out.C.ld, j, v);
      } else {
#pragma unroll
        for (int l = 0; l < S::kV; ++l) {
          if (j + l < out.C.cols) finish(p, &out.C(i, j + l), v[l]);
        }
      }
    }
  }

 private:
  PLUMB_DEVICE static int row(int e) { return static_cast<int>(threadIdx.x) / 32 + e / S::kV * S::kWarps; }
  PLUMB_DEVICE static int col(int e) { return static_cast<int>(threadIdx.x) % 32 * S::kV + e % S::kV; }
  /// Starts the copies of a run of A, turned: of each row a term a lane; zeros past A's rows and the depth. Closes a group.
  PLUMB_DEVICE static void start_run(float* to, const In<float>& in, Index i0, Index k, Index depth) {
    constexpr int kSize = static_cast<int>(sizeof(float));
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const Index at = k + lane;
    if (k < depth) {
#pragma unroll
      for (int r = 0; r < BM; ++r) {
        const bool inside = at < depth && i0 + r < in.A.rows;
        copy_async<kSize>(to + lane * S::kPitchA + r, inside ? &in.A(i0 + r, at) : in.A.data,
                          inside ? kSize : 0);
      }
    }
    cp_async_commit();
  }
  PLUMB_DEVICE static void add_term(float (&all)[BM][4], const float* a, const Vector<float>& b) {
#pragma unroll
    for (int r = 0; r < BM; r += S::kV) {
      const Vector<float> of_a = *reinterpret_cast<const Vector<float>*>(a + r);
#pragma unroll
      for (int l = 0; l < S::kV; ++l) {
#pragma unroll
        for (int c = 0; c < 4; ++c) all[r + l][c] += of_a.lane[l] * b.lane[c];
      }
    }
  }
  template <bool Wide>
  PLUMB_DEVICE static void put(float* to /* (BM, BN) */, const float (&all)[BM][4], int lane) {
#pragma unroll
    for (int r = 0; r < BM; ++r) {
      if constexpr (Wide) {
        *reinterpret_cast<Vector<float>*>(to + r * S::BN +
                                          4 * lane) = {{all[r][0], all[r][1], all[r][2], all[r][3]}};
      } else {
#pragma unroll
        for (int c = 0; c < 4; ++c) to[r * S::BN + 32 * c + lane] = all[r][c];
      }
    }
  }
};

/// Calls run(S{}): 8 rows, or 16 at a time.
template <class Call>
auto with_thin_rows(Index rows, Call run) {
  return rows <= 8 ? run(ThinRows<8>{}) : run(ThinRows<16>{});
}
struct FitThinRows {
  static constexpr Index kMost = 32;  // rows: B is read again for each 16
  template <class Call>
  static auto with(const Out<float>& out, Call run) {
    return with_thin_rows(out.C.rows, run);
  }
};

}  // namespace gemm
}  // namespace plumb
