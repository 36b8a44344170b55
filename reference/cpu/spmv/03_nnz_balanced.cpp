// spmv, host 03: blocks of rows with equal numbers of entries, SIMD gathers inside a row.
//
// Change    the row range is cut where the running count of entries crosses multiples of nnz / threads; the inner loop is
//           marked simd, so that the compiler gathers x (AVX2, AVX-512) and sums in lanes. Where a team takes longer than the
//           product, one thread does it.
// Traffic   as rung 01, plus a binary search per thread.
// Limits    the gather: one 4-byte index and one value in, one x element each.
// Fails at  a single row longer than nnz / threads: rows are not split. Rung 04 answers that.
#include <omp.h>

#include <algorithm>

#include "reference/core/team.hpp"
#include "reference/cpu/spmv/finish_row.hpp"
#include "reference/ops/spmv.hpp"

namespace plumb {
namespace {

constexpr double kRow = 3e-9, kEntry = 0.8e-9;  // seconds of one thread, in cache

template <class T>
void run(const Spmv::Problem<T>& p, const Spmv::In<T, Space::host>& in, const Spmv::Out<T, Space::host>& out,
         Context&) {
  const auto A = in.A;
  const in_t<T>* x = in.x.data;
  const double alone = kRow * static_cast<double>(A.rows) + kEntry * static_cast<double>(A.nnz);
#pragma omp parallel if (worth_sharing(alone))
  {
    const std::int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    // an empty row weighs one entry, so that matrices of mostly empty rows are shared out too
    const auto first_row = [&](std::int64_t t) {
      const std::int64_t target = (A.nnz + A.rows) * t / threads;
      std::int64_t low = 0, high = A.rows;
      while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        if (A.row_ptr[middle] + middle < target)
          low = middle + 1;
        else
          high = middle;
      }
      return low;
    };
    const std::int64_t begin = first_row(thread),
                       end = thread + 1 == threads ? A.rows : first_row(thread + 1);
    for (std::int64_t i = begin; i < end; ++i) {
      scalar_t<T> sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::int32_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        sum += value(A.val[k]) * value(x[A.col[k]]);
      spmv::finish_row<T>(p, sum, out.y[i]);
    }
  }
}

PLUMB_REGISTER(Spmv, "03_nnz_balanced", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
