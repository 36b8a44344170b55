// What the host pipelines of the GCN share: a step clock, a row of A S, and LogSoftmax of a row.
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "reference/models/gcn/gcn.hpp"

namespace plumb::gcn {

[[nodiscard]] inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class StepClock {
 public:
  explicit StepClock(std::vector<GcnStep>& steps) : steps_(steps) {}
  void step(std::string name) {
    const double then = std::exchange(last_, now());
    steps_.push_back({std::move(name), last_ - then});
  }
  [[nodiscard]] double total() const { return last_ - start_; }

 private:
  std::vector<GcnStep>& steps_;
  double start_ = now(), last_ = start_;
};

template <class T>
[[nodiscard]] Dense<T> make_dense(std::int64_t rows, std::int64_t cols) {
  return {rows, cols, std::vector<T>(static_cast<std::size_t>(rows * cols))};
}

// Inlined by force: on rows of a few entries, as Cora's, a call is 3 % of the time.

/// sum[0..width) = sum over row i of A of val * S[col].
template <class T>
[[gnu::always_inline]] inline void gather(const Csr<T>& a, std::int64_t i, const Dense<T>& s, T* sum) {
  const std::int64_t width = s.cols;
  std::fill_n(sum, width, T(0));
  for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
    const T value = a.val[k];
    const T* const row = s.data.data() + a.col[k] * width;
#pragma omp simd
    for (std::int64_t j = 0; j < width; ++j) sum[j] += value * row[j];
  }
}

/// The same of a sparse S.
template <class T>
[[gnu::always_inline]] inline void gather(const Csr<T>& a, std::int64_t i, const Csr<T>& s, T* sum) {
  std::fill_n(sum, s.cols, T(0));
  for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
    const T value = a.val[k];
    for (std::int32_t e = s.row_ptr[a.col[k]]; e < s.row_ptr[a.col[k] + 1]; ++e)
      sum[s.col[e]] += value * s.val[e];
  }
}

/// A row's or a vertex's place in an array.
[[nodiscard]] inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// NaN passes.
template <class T>
[[nodiscard]] T relu(T x) {
  return x <= 0 ? T(0) : x;
}

/// y[j] = x[j] - max - log(sum exp(x - max)). A NaN or +Inf anywhere, or -Inf everywhere, gives NaN
/// everywhere.
template <class T>
void log_softmax_row(const T* x, T* y, std::int64_t n) {
  T top = -std::numeric_limits<T>::infinity();
  for (std::int64_t j = 0; j < n; ++j) top = x[j] > top ? x[j] : top;
  T sum = 0;
  for (std::int64_t j = 0; j < n; ++j) sum += std::exp(x[j] - top);  // NaN of the row comes in here
  const T log_sum = std::log(sum);
  for (std::int64_t j = 0; j < n; ++j) y[j] = x[j] - top - log_sum;
}

}  // namespace plumb::gcn
