// What rungs 8 to 10 share: which elements of a warp's tile a lane makes, and the end of a register tile.
// Header only.
#pragma once
#include "gpu/common/store_vector.hpp"
#include "gpu/gemm/common.hpp"

namespace plumb {
namespace gemm {

/// A lane's place in the 4 x 8 lanes of a warp, bits interleaved: lanes i and i ^ 1 share a row, lanes i and
/// i ^ 2 a column, so that 16-byte shared loads of either operand are served two quarters of the warp at a
/// time.
struct LanePlace {
  int row, col;  // 0..3, 0..7
};
PLUMB_DEVICE LanePlace lane_place() {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  return {(lane >> 1 & 1) | (lane >> 4 & 1) << 1, (lane & 1) | (lane >> 2 & 3) << 1};
}

/// The end of the elements from column j on of a row of C, which lies on vectors: as finish().
template <class T, int V>
PLUMB_DEVICE void finish_vector(const Problem<T>& p, const Out<T>& out, T* row, Index j, const T (&v)[V]) {
  static_assert(V == Vector<T>::kLanes, "whole vectors");
  if (j + V > out.C.cols) {
#pragma unroll
    for (int l = 0; l < V; ++l) {
      if (j + l < out.C.cols) finish(p, row + j + l, v[l]);
    }
    return;
  }
  Vector<T> c{};
  if (p.beta != T(0)) c = *reinterpret_cast<const Vector<T>*>(row + j);
#pragma unroll
  for (int l = 0; l < V; ++l) c.lane[l] = p.alpha * v[l] + (p.beta == T(0) ? T(0) : p.beta * c.lane[l]);
  store_vector<V>(row + j, c.lane);
}

/// A warp makes 4 TM x 8 TN elements; a lane has TM x TN of them in pieces of one vector: element (r, c) of
/// the lane is at row (r / V) * 4 V + place.row * V + r % V of the warp's tile, and column (c / V) * 8 V +
/// place.col * V + c % V.
template <class T, int TM, int TN>
struct LaneTile {
  static constexpr int kV = Vector<T>::kLanes, kRows = 4 * TM, kCols = 8 * TN;
  static_assert(TM % kV == 0 && TN % kV == 0, "a lane's tile is made of vectors");

  /// `a` points at (k, first row of the warp) of a turned tile, `b` at (k, first column of the warp); both on
  /// 16 bytes.
  static PLUMB_DEVICE void load(T (&fa)[TM], T (&fb)[TN], const T* a, const T* b, LanePlace place) {
#pragma unroll
    for (int r = 0; r < TM; r += kV) {
      const Vector<T> v = *reinterpret_cast<const Vector<T>*>(a + r * 4 + place.row * kV);
#pragma unroll
      for (int l = 0; l < kV; ++l) fa[r + l] = v.lane[l];
    }
#pragma unroll
    for (int c = 0; c < TN; c += kV) {
      const Vector<T> v = *reinterpret_cast<const Vector<T>*>(b + c * 8 + place.col * kV);
#pragma unroll
      for (int l = 0; l < kV; ++l) fb[c + l] = v.lane[l];
    }
  }

  static PLUMB_DEVICE void multiply_add(T (&sum)[TM][TN], const T (&fa)[TM], const T (&fb)[TN]) {
#pragma unroll
    for (int r = 0; r < TM; ++r) {
#pragma unroll
      for (int c = 0; c < TN; ++c) {
        const int there = r % 2 == 0 ? c : TN - 1 - c;
        sum[r][there] += fa[r] * fb[there];
      }
    }
  }

  /// Writes the lane's elements of the tile that begins at (i0, j0); whole vectors where `wide` says that
  /// rows of C allow them. All lanes call it.
  static PLUMB_DEVICE void store(const Problem<T>& p, const Out<T>& out, Index i0, Index j0,
                                 const T (&sum)[TM][TN], LanePlace place, bool wide) {
#pragma unroll
    for (int r = 0; r < TM; ++r) {
      const Index i = i0 + r / kV * 4 * kV + place.row * kV + r % kV;
      T* const row = out.C.data + i * out.C.ld;
#pragma unroll
      for (int c = 0; c < TN; c += kV) {
        T v[kV];
#pragma unroll
        for (int l = 0; l < kV; ++l) v[l] = sum[r][c + l];
        if (wide) {
          if (i < out.C.rows) finish_vector(p, out, row, j0 + c * 8 + place.col * kV, v);
        } else {
          store_across(p, out, row, i < out.C.rows, j0 + c * 8, v, place);
        }
      }
    }
  }

 private:
  /// The 8 lanes of a row exchange their vectors so that each of the kV stores writes 8 elements side by side:
  /// bits of an element's column among them are (lane, place in the vector) before, (store, lane) after.
  static PLUMB_DEVICE void store_across(const Problem<T>& p, const Out<T>& out, T* row, bool inside, Index j0,
                                        T (&v)[kV], LanePlace place) {
    swap_with_lanes<8, kV / 2>(v);
    if constexpr (kV == 4) swap_with_lanes<4, 1>(v);
    const int within = kV == 4 ? (place.col & 1) * 4 + (place.col >> 2) * 2 + (place.col >> 1 & 1)
                               : (place.col & 3) * 2 + (place.col >> 2);
#pragma unroll
    for (int l = 0; l < kV; ++l) {
      const Index j = j0 + l * 8 + within;
      if (inside && j < out.C.cols) finish(p, row + j, v[l]);
    }
  }
  /// Swaps a bit of the lane's number with a bit of the place in `v`.
  template <int LaneBit, int PlaceBit>
  static PLUMB_DEVICE void swap_with_lanes(T (&v)[kV]) {
    const bool upper = (static_cast<int>(threadIdx.x) & LaneBit) != 0;
#pragma unroll
    for (int l = 0; l < kV; ++l) {
      if ((l & PlaceBit) != 0) continue;
      const T sent = upper ? v[l] : v[l + PlaceBit], got = __shfl_xor_sync(kAllLanes, sent, LaneBit);
      if (upper)
        v[l] = got;
      else
        v[l + PlaceBit] = got;
    }
  }
};

/// Rungs 8 and 9: a 128 x 128 tile of C by 256 threads, warps 4 x 2, tiles of 8 along K.
struct WarpTiling {
  static constexpr int kTile = 128, kDepth = 8, kThreads = 256, kWarpsAcross = 2, kPerThread = 8,
                       kPitch = kTile + 4;
  /// Blocks per multiprocessor that registers must leave room for: fp64 sums alone take 128.
  template <class T>
  static constexpr int kBlocks = sizeof(T) == 4 ? 2 : 1;
};

/// One K tile on its way through registers: the vectors that the calling thread moves.
template <class T>
struct Carried {
  using S = WarpTiling;
  static constexpr int kV = Vector<T>::kLanes, kVectors = S::kTile * S::kDepth / kV / S::kThreads;
  static constexpr int kPerRowA = S::kDepth / kV, kPerRowB = S::kTile / kV;
  Vector<T> a[kVectors], b[kVectors];

  PLUMB_DEVICE void fetch(const In<T>& in, Index i0, Index j0, Index k0, Index depth) {
#pragma unroll
    for (int u = 0; u < kVectors; ++u) {
      const int v = u * S::kThreads + static_cast<int>(threadIdx.x);
      a[u] = load_vector_or_zero(in.A, i0 + v / kPerRowA, k0 + v % kPerRowA * kV, in.A.rows, depth);
      b[u] = load_vector_or_zero(in.B, k0 + v / kPerRowB, j0 + v % kPerRowB * kV, depth, in.B.cols);
    }
  }
  /// Writes them to the shared tiles; A turned.
  PLUMB_DEVICE void put(T (&as)[S::kDepth][S::kPitch], T (&bs)[S::kDepth][S::kPitch]) const {
#pragma unroll
    for (int u = 0; u < kVectors; ++u) {
      const int v = u * S::kThreads + static_cast<int>(threadIdx.x);
#pragma unroll
      for (int l = 0; l < kV; ++l) as[v % kPerRowA * kV + l][v / kPerRowA] = a[u].lane[l];
      *reinterpret_cast<Vector<T>*>(&bs[v / kPerRowB][v % kPerRowB * kV]) = b[u];
    }
  }
};

}  // namespace gemm
}  // namespace plumb
