// layernorm, host 02: rows by threads; mean and variance in one loop.
//
// Change    against 01: an OpenMP loop over rows, Welford's recurrence, whose errors are those of two loops.
// Traffic   x twice.
// Limits    a division per element.
// Fails at  one long row: it has one core.
// Source    Welford, Technometrics 4 (1962).
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
    V mean = 0, squares = 0;
    for (std::int64_t j = 0; j < cols; ++j) {
      const V x = value(in.x(i, j)), away = x - mean;
      mean += away / static_cast<V>(j + 1);
      squares += away * (x - mean);
    }
    const V scale = 1 / std::sqrt(squares / static_cast<V>(cols) + p.eps);
    for (std::int64_t j = 0; j < cols; ++j)
      out.y(i, j) = stored<out_t<T>>((value(in.x(i, j)) - mean) * scale * value(in.w[j]) + value(in.b[j]));
  }
}

PLUMB_REGISTER(LayerNorm, "02_welford", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
