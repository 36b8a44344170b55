// cross_entropy, host 02: rows by threads; one loop per row.
//
// Change    against 01: an OpenMP loop over rows; the sum is rescaled where the maximum rises; the difference of the right class first.
// Traffic   x once.
// Limits    two exponentials where the maximum rises.
// Fails at  one long row: it has one core.
#include <cmath>

#include "reference/core/values.hpp"
#include "reference/ops/cross_entropy.hpp"

namespace plumb {
namespace {

template <class T>
void run(const CrossEntropy::Problem<T>&, const CrossEntropy::In<T, Space::host>& in,
         const CrossEntropy::Out<T, Space::host>& out, Context&) {
  using V = scalar_t<T>;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    V max = value(in.x(i, 0)), sum = 1;
    for (std::int64_t j = 1; j < in.x.cols; ++j) {
      const V x = value(in.x(i, j));
      if (x > max)
        sum = sum * std::exp(max - x) + 1, max = x;
      else
        sum += std::exp(x - max);
    }
    out.l[i] = stored<out_t<T>>(std::log(sum) - (value(in.x(i, in.t[i])) - max));
  }
}

PLUMB_REGISTER(CrossEntropy, "02_online", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
