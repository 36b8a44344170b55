// skinny_gemm, host 04: outer products into sums held in registers.
//
// Change    a tile of kRows x kTile elements of Y stays in vector registers over the whole of k: one step
//           loads a row of the tile of W and broadcasts kRows elements of X. W is padded to whole tiles
//           beforehand.
// Traffic   X once per tile of columns, Y once; W from the first-level cache.
// Limits    memory bandwidth where n <= 16.
// Fails at  widths just above a multiple of 16: the last tile multiplies padding.
#include <algorithm>

#include "reference/cpu/simd.hpp"
#include "reference/ops/skinny_gemm.hpp"

namespace plumb {
namespace {

constexpr std::int64_t kRows = 8, kTile = 16;

// tile (kRows, kTile) = sum over k of x[r][k] times row k of w (k, kTile)
template <class T, class E>
void multiply_tile(std::int64_t depth, const E* const* x, const T* w, T* tile) {
  constexpr int kVectors = kTile / kLanes < T >> 0 ? static_cast<int>(kTile) / kLanes<T> : 1;
  static_assert(kVectors * kLanes<T> == kTile);
  Vector<T> sum[kRows][kVectors] = {};
  for (std::int64_t k = 0; k < depth; ++k, w += kTile) {
    Vector<T> row[kVectors];
    for (int v = 0; v < kVectors; ++v) load<T>(row[v], w + v * kLanes<T>);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sum[r][v] += value(x[r][k]) * row[v];
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) store<T>(tile + r * kTile + v * kLanes<T>, sum[r][v]);
  }
}

template <class T>
void run(const SkinnyGemm::Problem<T>&, const SkinnyGemm::In<T, Space::host>& in,
         const SkinnyGemm::Out<T, Space::host>& out, Context& context) {
  using V = scalar_t<T>;
  const auto X = in.X, W = in.W;
  const auto Y = out.Y;
  const std::int64_t depth = X.cols, tiles = (Y.cols + kTile - 1) / kTile;
  // W by tiles of columns: (tiles, k, kTile)
  auto* w = static_cast<V*>(context.workspace(tiles * depth * kTile * static_cast<std::int64_t>(sizeof(V))));
  for (std::int64_t j = 0; j < tiles * kTile; ++j) {
    for (std::int64_t k = 0; k < depth; ++k) {
      w[(j / kTile * depth + k) * kTile + j % kTile] = j < W.cols ? value(W(k, j)) : V(0);
    }
  }
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < Y.rows; i += kRows) {
    const std::int64_t high = std::min(kRows, Y.rows - i);
    // rows past the end read the last row again, and are not stored
    const in_t<T>* x[kRows];
    for (std::int64_t r = 0; r < kRows; ++r) x[r] = X.data + (i + std::min(r, high - 1)) * X.ld;
    for (std::int64_t t = 0; t < tiles; ++t) {
      V tile[kRows * kTile];
      multiply_tile(depth, x, w + t * depth * kTile, tile);
      const std::int64_t wide = std::min(kTile, Y.cols - t * kTile);
      for (std::int64_t r = 0; r < high; ++r) {
        for (std::int64_t c = 0; c < wide; ++c)
          Y(i + r, t * kTile + c) = stored<out_t<T>>(tile[r * kTile + c]);
      }
    }
  }
}

PLUMB_REGISTER(SkinnyGemm, "04_outer_product", run, float, double, f16, bf16, f16_f32, bf16_f32, e4m3_f16,
               e4m3_bf16, e4m3_f32, e5m2_f16, e5m2_bf16, e5m2_f32);

}  // namespace
}  // namespace plumb
