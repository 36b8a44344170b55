// What the rungs of conv2d that are products of matrices share: the windows of an image as columns, and a
// panel of columns times a few rows in vector registers.
#pragma once
#include <algorithm>

#include "reference/cpu/simd.hpp"
#include "reference/ops/conv2d.hpp"

namespace plumb::conv2d {

/// Column j of `columns` (c r s, ld) becomes the pixels under the window of output first + j of `image`, for
/// j in [0, count).
template <class T>
void gather_windows(const Conv2d::Problem<T>& p, const DenseView<const in_t<T>, Space::host>& X,
                    std::int64_t image, std::int64_t first, std::int64_t count, scalar_t<T>* columns,
                    std::int64_t ld) {
  for (std::int64_t ch = 0; ch < p.c; ++ch) {
    const in_t<T>* plane = &X(image * p.c + ch, 0);
    for (std::int64_t a = 0; a < p.r; ++a) {
      for (std::int64_t b = 0; b < p.s; ++b, columns += ld) {
        std::int64_t oy = first / p.ow, ox = first % p.ow;
        for (std::int64_t j = 0; j < count; ++j) {
          const std::int64_t iy = oy * p.stride_h + a * p.dilation_h - p.pad_h,
                             ix = ox * p.stride_w + b * p.dilation_w - p.pad_w;
          const bool inside = iy >= 0 && iy < p.h && ix >= 0 && ix < p.w;
          columns[j] = inside ? value(plane[iy * p.w + ix]) : scalar_t<T>(0);
          if (++ox == p.ow) ox = 0, ++oy;
        }
      }
    }
  }
}

// 16 sums, 2 vectors of the panel and 1 broadcast in 32 registers; 8, 2 and 1 in 16
inline constexpr int kRows = kVectorRegisters == 32 ? 8 : 4, kVectors = 2;
/// Columns of a panel.
template <class T>
inline constexpr std::int64_t kCols = kVectors* kLanes<T>;

/// tile (kRows, kCols) = a (rows, depth) times panel (depth, kCols); rows past `rows` hold nothing of use.
template <class T, class E>
void multiply_panel(std::int64_t rows, std::int64_t depth, const E* a, std::int64_t lda, const T* panel,
                    T* tile) {
  Vector<T> sum[kRows][kVectors] = {};
  const E* row[kRows];
  for (std::int64_t i = 0; i < kRows; ++i) row[i] = a + std::min(i, rows - 1) * lda;
  for (std::int64_t t = 0; t < depth; ++t, panel += kCols<T>) {
    Vector<T> b[kVectors];
    for (int v = 0; v < kVectors; ++v) load<T>(b[v], panel + v * kLanes<T>);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sum[i][v] += value(row[i][t]) * b[v];
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int v = 0; v < kVectors; ++v) store<T>(tile + i * kCols<T> + v * kLanes<T>, sum[i][v]);
  }
}

}  // namespace plumb::conv2d
