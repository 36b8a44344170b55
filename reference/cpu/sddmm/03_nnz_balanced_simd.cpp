// sddmm, host 03: entries dealt out evenly, whatever row they are in; SIMD sums.
//
// Change    each thread takes nnz / threads entries and finds the row of its first by binary search: no entry
//           depends on another, so a giant row is simply shared. The inner sum is marked simd and runs in
//           lanes.
// Traffic   as rung 01.
// Limits    two vector loads per multiply-add, and one reduction across lanes per entry.
// Fails at  short k: the reduction across lanes costs more than the product.
#include <omp.h>

#include <algorithm>

#include "reference/core/values.hpp"
#include "reference/ops/sddmm.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Sddmm::Problem<T>&, const Sddmm::In<T, Space::host>& in, const Sddmm::Out<T, Space::host>& out,
         Context&) {
  const auto A = in.A;
  const std::int64_t length = in.X.cols;
#pragma omp parallel
  {
    const std::int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    const std::int64_t begin = A.nnz * thread / threads, end = A.nnz * (thread + 1) / threads;
    // the last row that starts at or before `begin`: empty rows before it start there too
    std::int64_t i = std::upper_bound(A.row_ptr, A.row_ptr + A.rows + 1, begin) - A.row_ptr - 1;
    for (std::int64_t e = begin; e < end; ++e) {
      while (A.row_ptr[i + 1] <= e) ++i;
      const in_t<T>* x = in.X.data + i * in.X.ld;
      const in_t<T>* y = in.Y.data + A.col[e] * in.Y.ld;
      scalar_t<T> sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::int64_t k = 0; k < length; ++k) sum += value(x[k]) * value(y[k]);
      out.s[e] = stored<out_t<T>>(sum);
    }
  }
}

PLUMB_REGISTER(Sddmm, "03_nnz_balanced_simd", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
