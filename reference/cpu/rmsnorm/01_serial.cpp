// rmsnorm, host 01: two loops per row: sum of squares, result.
//
// Change    first rung: the definition.
// Traffic   x twice, the second time from the cache where a row fits.
// Limits    one core; one chain of additions.
// Fails at  nothing, slowly.
#include <cmath>

#include "reference/core/values.hpp"
#include "reference/ops/rmsnorm.hpp"

namespace plumb {
namespace {

template <class T>
void run(const RmsNorm::Problem<T>& p, const RmsNorm::In<T, Space::host>& in,
         const RmsNorm::Out<T, Space::host>& out, Context&) {
  using V = scalar_t<T>;
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    V squares = 0;
    for (std::int64_t j = 0; j < in.x.cols; ++j) squares += value(in.x(i, j)) * value(in.x(i, j));
    const V root = std::sqrt(squares / static_cast<V>(in.x.cols) + p.eps);
    for (std::int64_t j = 0; j < in.x.cols; ++j)
      out.y(i, j) = stored<out_t<T>>(value(in.x(i, j)) * value(in.w[j]) / root);
  }
}

PLUMB_REGISTER(RmsNorm, "01_serial", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
