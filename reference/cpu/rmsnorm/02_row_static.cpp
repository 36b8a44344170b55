// rmsnorm, host 02: rows by threads, vectors within a row, one reciprocal per row.
//
// Change    against 01: an OpenMP loop over rows, sums in vector lanes, a product with the reciprocal in place of a division.
// Traffic   as 01.
// Limits    rows that are fewer than cores.
// Fails at  one long row: it has one core.
#include <cmath>

#include "reference/core/values.hpp"
#include "reference/ops/rmsnorm.hpp"

namespace plumb {
namespace {

template <class T>
void run(const RmsNorm::Problem<T>& p, const RmsNorm::In<T, Space::host>& in,
         const RmsNorm::Out<T, Space::host>& out, Context&) {
  using V = scalar_t<T>;
  const std::int64_t cols = in.x.cols;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    const in_t<T>* const x = in.x.data + i * in.x.ld;
    const in_t<T>* const w = in.w.data;
    out_t<T>* const y = out.y.data + i * out.y.ld;
    V squares = 0;
#pragma omp simd reduction(+ : squares)
    for (std::int64_t j = 0; j < cols; ++j) squares += value(x[j]) * value(x[j]);
    const V scale = 1 / std::sqrt(squares / static_cast<V>(cols) + p.eps);
#pragma omp simd
    for (std::int64_t j = 0; j < cols; ++j) y[j] = stored<out_t<T>>(value(x[j]) * scale * value(w[j]));
  }
}

PLUMB_REGISTER(RmsNorm, "02_row_static", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
