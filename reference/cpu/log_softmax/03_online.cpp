// log_softmax, host 03: maximum and sum in one read ("online softmax").
//
// Change    the sum is kept relative to the running maximum and rescaled when that grows: one pass for both.
// Traffic   x twice instead of three times; it pays where a row does not fit a cache.
// Limits    one exp per entry, two on a new maximum: about log(cols) of them in random data.
// Fails at  ascending rows: every entry is a new maximum. -Inf and +Inf need branches of their own: before
//           the first finite entry -Inf - -Inf would make the sum NaN, and after +Inf the others would come
//           out as -Inf in place of NaN.
// Source    Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018), algorithm 3.
#include <cmath>
#include <limits>

#include "reference/ops/log_softmax.hpp"

namespace plumb {
namespace {

template <class T>
void run(const LogSoftmax::Problem<T>&, const LogSoftmax::In<T, Space::host>& in,
         const LogSoftmax::Out<T, Space::host>& out, Context&) {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  const std::int64_t cols = in.x.cols;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    const T* x = in.x.data + i * in.x.ld;
    T* y = out.y.data + i * out.y.ld;
    T max = -kInf, sum = 0;
    for (std::int64_t j = 0; j < cols; ++j) {
      if (x[j] == -kInf) continue;
      if (x[j] > max) {
        sum = sum * std::exp(max - x[j]) + T(1);  // the first time 0 * exp(-Inf) = 0
        max = x[j];
      } else {
        sum += std::exp(x[j] - max);
      }
    }
    const T shift = max == kInf || max == -kInf ? std::numeric_limits<T>::quiet_NaN() : max;
    const T log_sum = std::log(sum);
    for (std::int64_t j = 0; j < cols; ++j) y[j] = x[j] - shift - log_sum;
  }
}

PLUMB_REGISTER(LogSoftmax, "03_online", run, float, double);

}  // namespace
}  // namespace plumb
