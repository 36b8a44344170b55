// What the host pipelines of the GCN share: a step clock, LogSoftmax of a row, and X as rows whatever its
// format.
#pragma once
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "reference/models/gcn.hpp"

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
