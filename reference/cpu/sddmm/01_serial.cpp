// sddmm, host 01: rows, entries of the row, terms of the product.
//
// Change    first rung: the definition, in the operator's own precision.
// Traffic   compulsory bytes, and a row of Y per entry through the cache.
// Limits    one core; the chain of dependent adds (4 cycles each).
// Fails at  nothing, slowly.
#include "reference/core/values.hpp"
#include "reference/ops/sddmm.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Sddmm::Problem<T>&, const Sddmm::In<T, Space::host>& in, const Sddmm::Out<T, Space::host>& out,
         Context&) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    for (std::int32_t e = in.A.row_ptr[i]; e < in.A.row_ptr[i + 1]; ++e) {
      scalar_t<T> sum = 0;
      for (std::int64_t k = 0; k < in.X.cols; ++k) sum += value(in.X(i, k)) * value(in.Y(in.A.col[e], k));
      out.s[e] = stored<out_t<T>>(sum);
    }
  }
}

PLUMB_REGISTER(Sddmm, "01_serial", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
