// Planted faults of softmax: each is a right kernel with one thing changed. `verify --mutants` must kill every one.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/ops/softmax.hpp"
#include "verify/mutants/host_mutant.hpp"
#include "verify/mutants/narrow_mutants.hpp"

namespace plumb {
namespace {

PLUMB_FAULTS_OF(Softmax);

template <class T>
struct State {
  T max = -std::numeric_limits<T>::infinity(), sum = 0;
};

// y = exp(x - max) / sum of each row, where state(row of x, cols) says both.
template <class T, class F>
void by_state(const In<T>& in, const Out<T>& out, F&& state) {
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    const T* const x = in.x.data + i * in.x.ld;
    const State<T> s = state(x, in.x.cols);
    for (std::int64_t j = 0; j < in.x.cols; ++j) out.y(i, j) = std::exp(x[j] - s.max) / s.sum;
  }
}

template <class T>
State<T> sum_of(const T* x, std::int64_t begin, std::int64_t end, T max) {
  State<T> s{max, 0};
  for (std::int64_t j = begin; j < end; ++j) s.sum += std::exp(x[j] - max);
  return s;
}

PLUMB_FAULT(no_rescale, "one_rescale_left_out", 0,
            "where the maximum rises in the middle of a row, the sum so far is not rescaled",
            "the seam between two blocks of an online softmax", kNumeric) {
  by_state<T>(in, out, [](const T* x, std::int64_t cols) {
    State<T> s;
    for (std::int64_t j = 0; j < cols; ++j) {
      const T risen = std::max(s.max, x[j]);
      if (j != cols / 2) s.sum *= std::exp(s.max - risen);  // one rescale left out
      s.sum += std::exp(x[j] - risen), s.max = risen;
    }
    return s;
  });
}

PLUMB_FAULT(no_rescale_at_tiles, "no_rescale_behind_two_blocks", 0,
            "from the third block of 32 on the sum so far is not rescaled",
            "an unrolled loop whose tail is another", kNumeric) {
  by_state<T>(in, out, [](const T* x, std::int64_t cols) {
    State<T> s;
    for (std::int64_t begin = 0; begin < cols; begin += 32) {
      const std::int64_t end = std::min(cols, begin + 32);
      const T risen = std::max(s.max, *std::max_element(x + begin, x + end));
      if (begin < 64) s.sum *= std::exp(s.max - risen);
      s.sum += sum_of(x, begin, end, risen).sum, s.max = risen;
    }
    return s;
  });
}

PLUMB_FAULT(no_max, "no_maximum", 0,
            "exponentials without the maximum: they overflow where elements are large",
            "the definition of a textbook", kNumeric) {
  by_state<T>(in, out, [](const T* x, std::int64_t cols) { return sum_of(x, 0, cols, T(0)); });
}

PLUMB_FAULT(last_dropped, "last_term_dropped", 0, "the last exponential is not in the sum", "a loop's bound",
            kNumeric) {
  by_state<T>(in, out, [](const T* x, std::int64_t cols) {
    return sum_of(x, 0, std::max<std::int64_t>(cols - 1, 1), *std::max_element(x, x + cols));
  });
}

PLUMB_FAULT(off_by_a_128th, "scale_off_by_a_128th", 0, "all is smaller by 2^-7", "a factor kept in bf16",
            kNumeric) {
  by_state<T>(in, out, [](const T* x, std::int64_t cols) {
    State<T> s = sum_of(x, 0, cols, *std::max_element(x, x + cols));
    s.sum *= T(1 + 0x1p-7);
    return s;
  });
}

PLUMB_FAULT(of_the_row_before, "sum_of_another_row", 0, "a row is divided by the sum of one before it",
            "a stale register", kNumeric) {
  State<T> before;
  by_state<T>(in, out, [&](const T* x, std::int64_t cols) {
    State<T> s = sum_of(x, 0, cols, *std::max_element(x, x + cols));
    if (before.sum > 0) std::swap(s.sum, before.sum);
    before.sum = s.sum;
    return s;
  });
}

template <class T, class Fault>
struct Narrow {
  static void run(const P<T>&, const In<T>& in, const Out<T>& out, Context&) {
    const std::int64_t cols = in.x.cols;
    for (std::int64_t i = 0; i < in.x.rows; ++i) {
      const auto x = [&](std::int64_t j) { return Fault::read(in.x(i, j)); };
      float max = x(0), sum = 0;
      for (std::int64_t j = 0; j < cols; ++j) max = std::max(max, x(j));
      for (std::int64_t j = 0; j < cols; ++j) {
        if (Fault::takes(j, cols)) sum = Fault::kept(sum + std::exp(x(j) - max));
      }
      for (std::int64_t j = 0; j < cols; ++j)
        out.y(i, j) = Fault::template write<out_t<T>>(std::exp(x(j) - max) / sum);
    }
  }
};
const NarrowMutants<Softmax, Narrow, narrow_faults::OfSums, f16, bf16> narrow_types_m;

}  // namespace
}  // namespace plumb
