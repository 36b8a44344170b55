// bias_gelu_residual, host 02: rows by threads.
//
// Change    against 01: an OpenMP loop over rows.
// Traffic   every array once.
// Limits    calls of a library function.
// Fails at  one long row: it has one core.
#include "reference/core/values.hpp"
#include "reference/cpu/gelu/gelu.hpp"
#include "reference/ops/bias_gelu_residual.hpp"

namespace plumb {
namespace {

template <class T>
void run(const BiasGeluResidual::Problem<T>&, const BiasGeluResidual::In<T, Space::host>& in,
         const BiasGeluResidual::Out<T, Space::host>& out, Context&) {
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    for (std::int64_t j = 0; j < out.y.cols; ++j) {
      out.y(i, j) = stored<out_t<T>>(gelu_of(value(in.x(i, j)) + value(in.b[j])) + value(in.r(i, j)));
    }
  }
}

PLUMB_REGISTER(BiasGeluResidual, "02_openmp", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
