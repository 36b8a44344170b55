// log_softmax, host 01: three loops per row: maximum, sum of exponentials, result.
//
// Change    first rung: the definition, with the library's exp and log. The maximum may lose NaN, and the sum
//           brings it back; +Inf and a row of -Inf make NaN as Inf - Inf.
// Traffic   x three times, the second and third from the cache where a row fits.
// Limits    one core; one call of exp per entry.
// Fails at  nothing, slowly.
#include <cmath>
#include <limits>

#include "reference/core/values.hpp"
#include "reference/ops/log_softmax.hpp"

namespace plumb {
namespace {

template <class T>
void run(const LogSoftmax::Problem<T>&, const LogSoftmax::In<T, Space::host>& in,
         const LogSoftmax::Out<T, Space::host>& out, Context&) {
  using V = scalar_t<T>;
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    V max = -std::numeric_limits<V>::infinity();
    for (std::int64_t j = 0; j < in.x.cols; ++j) max = value(in.x(i, j)) > max ? value(in.x(i, j)) : max;
    V sum = 0;
    for (std::int64_t j = 0; j < in.x.cols; ++j) sum += std::exp(value(in.x(i, j)) - max);
    const V log_sum = std::log(sum);
    for (std::int64_t j = 0; j < in.x.cols; ++j)
      out.y(i, j) = stored<out_t<T>>(value(in.x(i, j)) - max - log_sum);
  }
}

PLUMB_REGISTER(LogSoftmax, "01_serial", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
