// layernorm, host 01: three loops per row: mean, variance, result.
//
// Change    first rung: the definition.
// Traffic   x three times, the second and third from the cache where a row fits.
// Limits    one core.
// Fails at  nothing, slowly.
#include <cmath>

#include "reference/core/values.hpp"
#include "reference/ops/layernorm.hpp"

namespace plumb {
namespace {

template <class T>
void run(const LayerNorm::Problem<T>& p, const LayerNorm::In<T, Space::host>& in,
         const LayerNorm::Out<T, Space::host>& out, Context&) {
  using V = scalar_t<T>;
  const std::int64_t cols = in.x.cols;
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    V sum = 0, squares = 0;
    for (std::int64_t j = 0; j < cols; ++j) sum += value(in.x(i, j));
    const V mean = sum / static_cast<V>(cols);
    const auto away = [&](std::int64_t j) { return value(in.x(i, j)) - mean; };
    for (std::int64_t j = 0; j < cols; ++j) squares += away(j) * away(j);
    const V root = std::sqrt(squares / static_cast<V>(cols) + p.eps);
    for (std::int64_t j = 0; j < cols; ++j)
      out.y(i, j) = stored<out_t<T>>(away(j) / root * value(in.w[j]) + value(in.b[j]));
  }
}

PLUMB_REGISTER(LayerNorm, "01_serial", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
