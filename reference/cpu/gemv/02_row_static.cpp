// gemv, host 02: rows dealt out to OpenMP threads.
//
// Change    the row loop is parallel, schedule(static).
// Traffic   as rung 01.
// Limits    the chain of dependent adds, on every core.
// Fails at  fewer rows than cores. Rung 04 answers that.
#include "reference/ops/gemv.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Gemv::Problem<T>& p, const Gemv::In<T, Space::host>& in, const Gemv::Out<T, Space::host>& out,
         Context&) {
  const std::int64_t depth = p.alpha == T(0) ? 0 : in.A.cols;  // alpha == 0 reads neither A nor x
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    T sum = 0;
    for (std::int64_t k = 0; k < depth; ++k) sum += in.A(i, k) * in.x[k];
    out.y[i] = p.beta == T(0) ? p.alpha * sum : p.alpha * sum + p.beta * out.y[i];
  }
}

PLUMB_REGISTER(Gemv, "02_row_static", run, float, double);

}  // namespace
}  // namespace plumb
