// gelu, host 02: rows by threads.
//
// Change    against 01: an OpenMP loop over rows.
// Traffic   every array once.
// Limits    calls of a library function.
// Fails at  one long row: it has one core.
#include "reference/core/values.hpp"
#include "reference/cpu/gelu/gelu.hpp"
#include "reference/ops/gelu.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Gelu::Problem<T>&, const Gelu::In<T, Space::host>& in, const Gelu::Out<T, Space::host>& out,
         Context&) {
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    for (std::int64_t j = 0; j < out.y.cols; ++j) out.y(i, j) = stored<out_t<T>>(gelu_of(value(in.x(i, j))));
  }
}

PLUMB_REGISTER(Gelu, "02_openmp", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
