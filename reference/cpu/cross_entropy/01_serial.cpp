// cross_entropy, host 01: two loops per row: maximum, sum of exponentials.
//
// Change    first rung: the definition.
// Traffic   x twice.
// Limits    one core.
// Fails at  nothing, slowly.
#include <algorithm>
#include <cmath>

#include "reference/core/values.hpp"
#include "reference/ops/cross_entropy.hpp"

namespace plumb {
namespace {

template <class T>
void run(const CrossEntropy::Problem<T>&, const CrossEntropy::In<T, Space::host>& in,
         const CrossEntropy::Out<T, Space::host>& out, Context&) {
  using V = scalar_t<T>;
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    const auto x = [&](std::int64_t j) { return value(in.x(i, j)); };
    V max = x(0), sum = 0;
    for (std::int64_t j = 1; j < in.x.cols; ++j) max = std::max(max, x(j));
    for (std::int64_t j = 0; j < in.x.cols; ++j) sum += std::exp(x(j) - max);
    out.l[i] = stored<out_t<T>>(std::log(sum) + max - x(in.t[i]));
  }
}

PLUMB_REGISTER(CrossEntropy, "01_serial", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
