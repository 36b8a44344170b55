// What the pipelines of the sparse DNN share, on the host and on a device: the activation, a clock, and rows
// gathered into one CSR answer.
#pragma once
#include <chrono>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "reference/core/matrix.hpp"

namespace plumb::sdnn {

/// min(cap, max(0, z + bias * (z != 0))), NaN kept: comparisons are written so that NaN falls through.
[[nodiscard]] PLUMB_HOST_DEVICE float activate(float z, float bias, float cap) {
  float y = z != 0 ? z + bias : 0;
  y = y <= 0 ? 0 : y;
  return y > cap ? cap : y;
}

[[nodiscard]] inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Floats on a cache line's boundary, not initialised.
class AlignedFloats {
 public:
  explicit AlignedFloats(std::int64_t count)
      : data_(static_cast<float*>(::operator new(static_cast<std::size_t>(count) * sizeof(float), kAlign))) {}
  AlignedFloats(AlignedFloats&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  AlignedFloats& operator=(AlignedFloats&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~AlignedFloats() { ::operator delete(data_, kAlign); }
  [[nodiscard]] float* data() const { return data_; }

 private:
  static constexpr std::align_val_t kAlign{64};
  float* data_;
};

/// Rows finished by any thread in any order; build() puts them in order.
struct FinishedRows {
  struct Row {
    std::int32_t id;           // 0-based
    std::size_t first, count;  // in col and val
  };
  std::vector<Row> rows;
  std::vector<std::int32_t> col;
  std::vector<float> val;

  /// Appends the non-zeros of value(j), j in [0, n). NaN is a non-zero.
  template <class Value>
  void append(std::int32_t id, std::int64_t n, Value value) {
    const std::size_t first = col.size();
    for (std::int64_t j = 0; j < n; ++j) {
      const float v = value(j);
      if (v != 0) {
        col.push_back(static_cast<std::int32_t>(j));
        val.push_back(v);
      }
    }
    if (col.size() > first) rows.push_back({id, first, col.size() - first});
  }
};

/// One CSR (rows, cols) from all parts, on all threads. Throws Error where it would need more than 2^31 - 1 entries.
[[nodiscard]] Csr<float> build(const std::vector<FinishedRows>& parts, std::int64_t rows, std::int64_t cols);

}  // namespace plumb::sdnn
