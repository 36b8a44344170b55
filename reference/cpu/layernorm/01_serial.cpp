// layernorm, host 01: three loops per row: mean, variance, result.
//
// Change    first rung: the definition.
// Traffic   x three times, the second and third from the cache where a row fits.
// Limits    one core.
// Fails at  nothing, slowly.
#include <cmath>

#include "reference/ops/layernorm.hpp"

namespace plumb {
namespace {

template <class T>
void run(const LayerNorm::Problem<T>& p, const LayerNorm::In<T, Space::host>& in,
         const LayerNorm::Out<T, Space::host>& out, Context&) {
  const std::int64_t cols = in.x.cols;
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    T sum = 0, squares = 0;
    for (std::int64_t j = 0; j < cols; ++j) sum += in.x(i, j);
    const T mean = sum / static_cast<T>(cols);
    for (std::int64_t j = 0; j < cols; ++j) squares += (in.x(i, j) - mean) * (in.x(i, j) - mean);
    const T root = std::sqrt(squares / static_cast<T>(cols) + p.eps);
    for (std::int64_t j = 0; j < cols; ++j) out.y(i, j) = (in.x(i, j) - mean) / root * in.w[j] + in.b[j];
  }
}

PLUMB_REGISTER(LayerNorm, "01_serial", run, float, double);

}  // namespace
}  // namespace plumb
