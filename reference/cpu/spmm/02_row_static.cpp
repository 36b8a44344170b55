// spmm, host 02: rows dealt out evenly to OpenMP threads.
//
// Change    the row loop is parallel, schedule(static), and the column loop is marked simd over unaliased
//           rows.
// Traffic   as rung 01.
// Limits    a load and a store of C per multiply-add. Rung 03 keeps C in registers.
// Fails at  skewed rows: the thread that owns the giant row works alone. Rungs 03 and 04 answer that.
#include "reference/ops/spmm.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Spmm::Problem<T>&, const Spmm::In<T, Space::host>& in, const Spmm::Out<T, Space::host>& out,
         Context&) {
  const auto A = in.A;
  const std::int64_t n = out.C.cols;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < A.rows; ++i) {
    T* c = out.C.data + i * out.C.ld;
    for (std::int64_t j = 0; j < n; ++j) c[j] = 0;
    for (std::int32_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      const T a = A.val[k];
      const T* b = in.B.data + A.col[k] * in.B.ld;
#pragma omp simd
      for (std::int64_t j = 0; j < n; ++j) c[j] += a * b[j];
    }
  }
}

PLUMB_REGISTER(Spmm, "02_row_static", run, float, double);

}  // namespace
}  // namespace plumb
