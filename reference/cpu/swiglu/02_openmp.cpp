// swiglu, host 02: rows by threads.
//
// Change    against 01: an OpenMP loop over rows.
// Traffic   every array once.
// Limits    calls of a library function.
// Fails at  one long row: it has one core.
#include <cmath>

#include "reference/core/values.hpp"
#include "reference/ops/swiglu.hpp"

namespace plumb {
namespace {

template <class T>
void run(const SwiGlu::Problem<T>&, const SwiGlu::In<T, Space::host>& in,
         const SwiGlu::Out<T, Space::host>& out, Context&) {
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < out.y.rows; ++i) {
    for (std::int64_t j = 0; j < out.y.cols; ++j) {
      const auto a = value(in.a(i, j));
      out.y(i, j) = stored<out_t<T>>(a / (1 + std::exp(-a)) * value(in.b(i, j)));
    }
  }
}

PLUMB_REGISTER(SwiGlu, "02_openmp", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
