// Planted faults of layernorm: each is a right kernel with one thing changed. `verify --mutants` must kill every one.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "reference/ops/layernorm.hpp"
#include "verify/mutants/host_mutant.hpp"
#include "verify/mutants/narrow_mutants.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(LayerNorm);

// y of each row, where spread(x, cols, mean) says what a row less its mean is divided by.
template <class T, class F>
void normalised(const In<T>& in, const Out<T>& out, F&& spread) {
  const std::int64_t cols = in.x.cols;
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    const T* const x = in.x.data + i * in.x.ld;
    T sum = 0;
    for (std::int64_t j = 0; j < cols; ++j) sum += x[j];
    const T mean = sum / static_cast<T>(cols), divisor = spread(x, cols, mean);
    for (std::int64_t j = 0; j < cols; ++j) out.y(i, j) = (x[j] - mean) / divisor * in.w[j] + in.b[j];
  }
}

// The sum of squares about the mean of the first `count` elements.
template <class T>
T squares_of(const T* x, std::int64_t count, T mean) {
  T squares = 0;
  for (std::int64_t j = 0; j < count; ++j) squares += (x[j] - mean) * (x[j] - mean);
  return squares;
}

PLUMB_FAULT(one_pass_undeclared, "one_pass_undeclared", 0,
            "the variance is the mean of squares less the square of the mean, and nobody was told",
            "one loop less", kNumeric) {
  normalised(in, out, [&](const T* x, std::int64_t cols, T mean) {
    const T variance = squares_of(x, cols, T(0)) / static_cast<T>(cols) - mean * mean;
    return std::sqrt(std::max(variance, T(0)) + p.eps);
  });
}

PLUMB_FAULT(epsilon_outside_of_the_root, "epsilon_outside_of_the_root", 0,
            "epsilon is added to the root, not to the variance", "two definitions confused", kNumeric) {
  normalised(in, out, [&](const T* x, std::int64_t cols, T mean) {
    return std::sqrt(squares_of(x, cols, mean) / static_cast<T>(cols)) + p.eps;
  });
}

PLUMB_FAULT(unbiased_variance, "unbiased_variance", 0, "the sum of squares is divided by one less",
            "the variance of a sample", kNumeric) {
  normalised(in, out, [&](const T* x, std::int64_t cols, T mean) {
    return std::sqrt(squares_of(x, cols, mean) / static_cast<T>(cols > 1 ? cols - 1 : 1) + p.eps);
  });
}

PLUMB_FAULT(last_square_dropped, "last_square_dropped", 0, "the last element of a row is not in the variance",
            "a loop's bound", kNumeric) {
  normalised(in, out, [&](const T* x, std::int64_t cols, T mean) {
    return std::sqrt(squares_of(x, cols > 1 ? cols - 1 : 1, mean) / static_cast<T>(cols) + p.eps);
  });
}

template <class T, class Fault>
struct Narrow {
  static void run(const P<T>& p, const In<T>& in, const Out<T>& out, Context&) {
    const std::int64_t cols = in.x.cols;
    for (std::int64_t i = 0; i < in.x.rows; ++i) {
      const auto x = [&](std::int64_t j) { return Fault::read(in.x(i, j)); };
      const auto mean_of = [&](auto&& term) {
        float sum = 0;
        for (std::int64_t j = 0; j < cols; ++j) {
          if (Fault::takes(j, cols)) sum = Fault::kept(sum + term(j));
        }
        return sum / static_cast<float>(cols);
      };
      const float mean = mean_of(x);
      const float root =
          std::sqrt(mean_of([&](std::int64_t j) { return (x(j) - mean) * (x(j) - mean); }) + p.eps);
      for (std::int64_t j = 0; j < cols; ++j)
        out.y(i, j) = Fault::template write<out_t<T>>((x(j) - mean) / root * Fault::read(in.w[j]) +
                                                      Fault::read(in.b[j]));
    }
  }
};
const NarrowMutants<LayerNorm, Narrow, narrow_faults::OfSums, f16, bf16> narrow_types_m;

}  // namespace
}  // namespace plumb
