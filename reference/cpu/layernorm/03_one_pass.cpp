// layernorm, host 03: rows by threads; the sums of elements and of squares in one loop.
//
// Change    against 02: vectors, no division; the variance is the mean of squares less the square of the mean, as declared.
// Traffic   x twice.
// Limits    accuracy where the mean is large beside the variance.
// Fails at  one long row: it has one core.
#include <algorithm>
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
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    const in_t<T>* const x = in.x.data + i * in.x.ld;
    V sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum, squares)
    for (std::int64_t j = 0; j < cols; ++j) sum += value(x[j]), squares += value(x[j]) * value(x[j]);
    const V mean = sum / static_cast<V>(cols);
    const V variance = std::max(squares / static_cast<V>(cols) - mean * mean, V(0));
    const V scale = 1 / std::sqrt(variance + p.eps);
    for (std::int64_t j = 0; j < cols; ++j)
      out.y(i, j) = stored<out_t<T>>((value(x[j]) - mean) * scale * value(in.w[j]) + value(in.b[j]));
  }
}

PLUMB_REGISTER_WITH(LayerNorm, "03_one_pass", (run<T>, Traits{}.computes_in(Arithmetic::one_pass)), float,
                    double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
