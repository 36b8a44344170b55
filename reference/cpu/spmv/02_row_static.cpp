// spmv, host 02: rows dealt out evenly to OpenMP threads.
//
// Change    the row loop is parallel, schedule(static): thread t owns a contiguous block of rows.
// Traffic   as rung 01.
// Limits    memory bandwidth on regular matrices.
// Fails at  skewed rows: the thread that owns the giant row works alone. Rung 03 answers that.
#include "reference/cpu/spmv/finish_row.hpp"
#include "reference/ops/spmv.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Spmv::Problem<T>& p, const Spmv::In<T, Space::host>& in, const Spmv::Out<T, Space::host>& out,
         Context&) {
  const auto A = in.A;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < A.rows; ++i) {
    T sum = 0;
    for (std::int32_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) sum += A.val[k] * in.x[A.col[k]];
    spmv::finish_row(p, sum, out.y[i]);
  }
}

PLUMB_REGISTER(Spmv, "02_row_static", run, float, double);

}  // namespace
}  // namespace plumb
