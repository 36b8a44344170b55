// Products with their sums in registers, for the host's fused pipeline of the GCN: dense ones of a few rows, and sums over a row of A. A
// library's product takes whole matrices, and its order of additions may depend on how many rows there are.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "reference/core/matrix.hpp"

namespace plumb::gcn {

/// 64 bytes at any address. g++ drops the attributes of a type that a template makes.
template <class T>
struct VectorOf;
template <>
struct VectorOf<float> {
  using Type = float __attribute__((vector_size(64), aligned(4), may_alias));
};
template <>
struct VectorOf<double> {
  using Type = double __attribute__((vector_size(64), aligned(8), may_alias));
};

/// W (rows, cols) in panels of one or two vectors of columns, the last filled up with zeros: the sums of some rows in a panel stay in
/// registers. Every element of a product is one chain of additions, k ascending: its bits do not depend on the rows beside it.
template <class T>
class Panels {
 public:
  static constexpr int kRows =
      8;  // at a time, at most: 16 sums beside two vectors of W are registers of AVX-512

  explicit Panels(const Dense<T>& w) : depth_(w.rows), cols_(w.cols) {
    for (std::int64_t first = 0; first < cols_; first += columns_at(first)) {
      const std::int64_t width = columns_at(first), used = std::min(width, cols_ - first);
      for (std::int64_t k = 0; k < depth_; ++k) {
        const auto row = w.data.begin() + k * cols_ + first;
        values_.insert(values_.end(), row, row + used);
        values_.resize(values_.size() + static_cast<std::size_t>(width - used));
      }
    }
  }

  /// y[r][0..cols) = x[r][0..rows) W for `count` rows.
  void times(const T* const* x, T* const* y, int count) const {
    int r = 0;
    for (; r + kRows <= count; r += kRows) product<kRows>(x + r, y + r);
    if (r + 4 <= count) product<4>(x + r, y + r), r += 4;
    if (r + 2 <= count) product<2>(x + r, y + r), r += 2;
    if (r < count) product<1>(x + r, y + r);
  }

 private:
  static constexpr std::int64_t kLanes = 64 / sizeof(T);
  using Vec = typename VectorOf<T>::Type;

  /// Columns of the panel that begins with this one.
  [[nodiscard]] std::int64_t columns_at(std::int64_t first) const {
    return cols_ - first > kLanes ? 2 * kLanes : kLanes;
  }

  template <int kCount>
  void product(const T* const* x, T* const* y) const {
    const T* panel = values_.data();
    for (std::int64_t first = 0; first < cols_; first += columns_at(first)) {
      if (columns_at(first) > kLanes) {
        block<kCount, 2>(x, panel, first, y);
      } else {
        block<kCount, 1>(x, panel, first, y);
      }
      panel += depth_ * columns_at(first);
    }
  }

  template <int kCount, int kVectors>
  void block(const T* const* x, const T* panel, std::int64_t first, T* const* y) const {
    Vec sum[kCount][kVectors] = {};
    for (std::int64_t k = 0; k < depth_; ++k) {
      const T* const row = panel + k * kVectors * kLanes;
      for (int r = 0; r < kCount; ++r) {
        const Vec value = Vec{} + x[r][k];
        for (int v = 0; v < kVectors; ++v)
          sum[r][v] += value * *reinterpret_cast<const Vec*>(row + v * kLanes);
      }
    }
    const std::int64_t used = std::min(kVectors * kLanes, cols_ - first);
    for (int r = 0; r < kCount; ++r)
      std::memcpy(y[r] + first, sum[r], static_cast<std::size_t>(used) * sizeof(T));
  }

  std::int64_t depth_, cols_;
  std::vector<T> values_;
};

/// Sums over a row of A of rows of S, in registers: at most kVectors vectors of columns at a time. `S` is a matrix by operand_of().
template <class T>
class RowSums {
 public:
  /// A matrix (rows, cols) of zeros behind which a vector may be read from any element on.
  [[nodiscard]] static Dense<T> operand_of(std::int64_t rows, std::int64_t cols) {
    return {rows, cols, std::vector<T>(static_cast<std::size_t>(rows * cols + kVectors * kLanes))};
  }

  /// sum[0..S.cols) = sum over row i of A of val * S[col], or, by the pattern alone, of S[col].
  template <bool kPattern>
  static void gather(const Csr<T>& a, std::int64_t i, const Dense<T>& s, T* sum) {
    for (std::int64_t first = 0; first < s.cols; first += kVectors * kLanes) {
      const std::int64_t width = std::min(kVectors * kLanes, s.cols - first);
      switch ((width + kLanes - 1) / kLanes) {
        case 1:
          columns<1, kPattern>(a, i, s, first, width, sum);
          break;
        case 2:
          columns<2, kPattern>(a, i, s, first, width, sum);
          break;
        case 3:
          columns<3, kPattern>(a, i, s, first, width, sum);
          break;
        default:
          columns<4, kPattern>(a, i, s, first, width, sum);
      }
    }
  }

 private:
  static constexpr std::int64_t kLanes = 64 / sizeof(T), kVectors = 4;
  using Vec = typename VectorOf<T>::Type;

  template <int kCount, bool kPattern>
  static void columns(const Csr<T>& a, std::int64_t i, const Dense<T>& s, std::int64_t first,
                      std::int64_t width, T* sum) {
    Vec sums[kCount] = {};
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const T* const row = s.data.data() + a.col[k] * s.cols + first;
      for (int v = 0; v < kCount; ++v) {
        const Vec values = *reinterpret_cast<const Vec*>(row + v * kLanes);
        if constexpr (kPattern) {
          sums[v] += values;
        } else {
          sums[v] += a.val[k] * values;
        }
      }
    }
    std::memcpy(sum + first, sums, static_cast<std::size_t>(width) * sizeof(T));
  }
};

}  // namespace plumb::gcn
