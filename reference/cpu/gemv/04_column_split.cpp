// gemv, host 04: columns split over the threads, for a few long rows.
//
// Change    each thread sums its share of the columns for every row; the shares are added in the order of the
//           threads.
// Traffic   compulsory bytes, plus threads * rows partial sums.
// Limits    memory bandwidth. Reproducible for a fixed number of threads.
// Fails at  many short rows: the partial sums outweigh A.
#include <omp.h>

#include "reference/cpu/gemv/simd_dot.hpp"
#include "reference/ops/gemv.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Gemv::Problem<T>& p, const Gemv::In<T, Space::host>& in, const Gemv::Out<T, Space::host>& out,
         Context& context) {
  const std::int64_t depth = p.alpha == T(0) ? 0 : in.A.cols;  // alpha == 0 reads neither A nor x
  const std::int64_t rows = in.A.rows, threads = omp_get_max_threads();
  auto* partial = static_cast<T*>(
      context.workspace(threads * rows * static_cast<std::int64_t>(sizeof(T))));  // (threads, rows)
#pragma omp parallel for schedule(static, 1)
  for (std::int64_t t = 0; t < threads; ++t) {
    const std::int64_t begin = depth * t / threads, end = depth * (t + 1) / threads;
    for (std::int64_t i = 0; i < rows; ++i) {
      partial[t * rows + i] = simd_dot(in.A.data + i * in.A.ld + begin, in.x.data + begin, end - begin);
    }
  }
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < rows; ++i) {
    T sum = 0;
    for (std::int64_t t = 0; t < threads; ++t) sum += partial[t * rows + i];
    out.y[i] = p.beta == T(0) ? p.alpha * sum : p.alpha * sum + p.beta * out.y[i];
  }
}

PLUMB_REGISTER(Gemv, "04_column_split", run, float, double);

}  // namespace
}  // namespace plumb
