// sddmm, host 02: rows dealt out evenly to OpenMP threads.
//
// Change    the row loop is parallel, schedule(static).
// Traffic   as rung 01.
// Limits    the chain of dependent adds: the compiler may not reorder a sum. Rung 03 allows that.
// Fails at  skewed rows: the thread that owns the giant row works alone. Rung 03 answers that too.
#include "reference/ops/sddmm.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Sddmm::Problem<T>&, const Sddmm::In<T, Space::host>& in, const Sddmm::Out<T, Space::host>& out,
         Context&) {
  const auto A = in.A;
  const std::int64_t length = in.X.cols;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < A.rows; ++i) {
    const T* x = in.X.data + i * in.X.ld;
    for (std::int32_t e = A.row_ptr[i]; e < A.row_ptr[i + 1]; ++e) {
      const T* y = in.Y.data + A.col[e] * in.Y.ld;
      T sum = 0;
      for (std::int64_t k = 0; k < length; ++k) sum += x[k] * y[k];
      out.s[e] = sum;
    }
  }
}

PLUMB_REGISTER(Sddmm, "02_row_static", run, float, double);

}  // namespace
}  // namespace plumb
