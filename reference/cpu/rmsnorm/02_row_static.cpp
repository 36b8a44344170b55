// rmsnorm, host 02: rows by threads, vectors within a row, one reciprocal per row.
//
// Change    against 01: an OpenMP loop over rows, sums in vector lanes, a product with the reciprocal in place of a division.
// Traffic   as 01.
// Limits    rows that are fewer than cores.
// Fails at  one long row: it has one core.
#include <cmath>

#include "reference/ops/rmsnorm.hpp"

namespace plumb {
namespace {

template <class T>
void run(const RmsNorm::Problem<T>& p, const RmsNorm::In<T, Space::host>& in,
         const RmsNorm::Out<T, Space::host>& out, Context&) {
  const std::int64_t cols = in.x.cols;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    const T* const x = in.x.data + i * in.x.ld;
    const T* const w = in.w.data;
    T* const y = out.y.data + i * out.y.ld;
    T squares = 0;
#pragma omp simd reduction(+ : squares)
    for (std::int64_t j = 0; j < cols; ++j) squares += x[j] * x[j];
    const T scale = 1 / std::sqrt(squares / static_cast<T>(cols) + p.eps);
#pragma omp simd
    for (std::int64_t j = 0; j < cols; ++j) y[j] = x[j] * scale * w[j];
  }
}

PLUMB_REGISTER(RmsNorm, "02_row_static", run, float, double);

}  // namespace
}  // namespace plumb
