// spmv, host 01: one loop over rows, one over entries.
//
// Change    first rung: the definition, in the operator's own precision.
// Traffic   compulsory bytes; x gathered through the cache.
// Limits    one core; the chain of dependent adds (4 cycles each) on short rows.
// Fails at  nothing, slowly.
#include "reference/cpu/spmv/finish_row.hpp"
#include "reference/ops/spmv.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Spmv::Problem<T>& p, const Spmv::In<T, Space::host>& in, const Spmv::Out<T, Space::host>& out,
         Context&) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    scalar_t<T> sum = 0;
    for (std::int32_t k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k)
      sum += value(in.A.val[k]) * value(in.x[in.A.col[k]]);
    spmv::finish_row<T>(p, sum, out.y[i]);
  }
}

PLUMB_REGISTER(Spmv, "01_serial", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
