// spmm, host 03: blocks of rows with equal numbers of entries, SIMD along the width with C in registers.
//
// Change    rows are cut where entries reach multiples of nnz / threads; each row is done in panels of up to
//           four vector registers, whose sums stay there over all entries of the row. Where a team takes longer than the
//           product, one thread does it.
// Traffic   as rung 01 without the re-reading of C; the row's indices and values once per panel, from the
//           first-level cache.
// Limits    loads of B: one vector load per multiply-add.
// Fails at  a single row longer than nnz / threads: rows are not split. Rung 04 answers that.
#include <omp.h>

#include "reference/core/team.hpp"
#include "reference/cpu/spmm/row_panel.hpp"

namespace plumb {
namespace {

constexpr double kRow = 1e-8, kEntry = 2e-9, kMultiplyAdd = 1e-10;  // seconds of one thread, in cache

template <class T>
void run(const Spmm::Problem<T>&, const Spmm::In<T, Space::host>& in, const Spmm::Out<T, Space::host>& out,
         Context&) {
  const auto A = in.A;
  const auto nnz = static_cast<double>(A.nnz), rows = static_cast<double>(A.rows);
  const double alone = kRow * rows + nnz * (kEntry + kMultiplyAdd * static_cast<double>(out.C.cols));
#pragma omp parallel if (worth_sharing(alone))
  {
    const std::int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    const std::int64_t begin = spmm_host::balanced_row(A, thread, threads);
    const std::int64_t end = thread + 1 == threads ? A.rows : spmm_host::balanced_row(A, thread + 1, threads);
    for (std::int64_t i = begin; i < end; ++i) {
      spmm_host::entries_times_dense(A, in.B, A.row_ptr[i], A.row_ptr[i + 1], out.C.data + i * out.C.ld);
    }
  }
}

PLUMB_REGISTER(Spmm, "03_nnz_balanced", run, float, double, f16, bf16, f16_f32, bf16_f32);

}  // namespace
}  // namespace plumb
