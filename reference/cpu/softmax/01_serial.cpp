// softmax, host 01: three loops per row: maximum, sum of exponentials, result.
//
// Change    first rung: the definition, with the library's exp.
// Traffic   x three times, the second and third from the cache where a row fits.
// Limits    one core; two calls of exp per entry.
// Fails at  nothing, slowly.
#include <cmath>
#include <limits>

#include "reference/core/values.hpp"
#include "reference/ops/softmax.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Softmax::Problem<T>&, const Softmax::In<T, Space::host>& in,
         const Softmax::Out<T, Space::host>& out, Context&) {
  using V = scalar_t<T>;
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    V max = -std::numeric_limits<V>::infinity();
    for (std::int64_t j = 0; j < in.x.cols; ++j) max = value(in.x(i, j)) > max ? value(in.x(i, j)) : max;
    V sum = 0;
    for (std::int64_t j = 0; j < in.x.cols; ++j) sum += std::exp(value(in.x(i, j)) - max);
    for (std::int64_t j = 0; j < in.x.cols; ++j)
      out.y(i, j) = stored<out_t<T>>(std::exp(value(in.x(i, j)) - max) / sum);
  }
}

PLUMB_REGISTER(Softmax, "01_serial", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
