// spmm, host 04: rows and entries balanced together along the merge path.
//
// Change    the work is rows + nnz steps of a merge of row ends with entries; each thread walks an equal
//           number, so a row may span threads. The sum of a thread's last, unfinished row is carried over and
//           added once at the end.
// Traffic   as rung 03, plus one row of n sums per thread.
// Fails at  nothing by shape; on regular matrices it only adds the search.
// Source    Merrill and Garland, "Merge-based parallel sparse matrix-vector multiplication", SC'16; Yang,
//           Buluc and Owens, "Design principles for sparse matrix multiplication on the GPU", Euro-Par 2018
//           (merge-based spmm).
#include <omp.h>

#include <algorithm>

#include "reference/cpu/spmm/row_panel.hpp"

namespace plumb {
namespace {

struct Position {
  std::int64_t row, entry;
};

// Where diagonal d of the merge of row_ptr[1..rows] with 0..nnz-1 crosses the path.
Position search(std::int64_t d, const std::int32_t* row_end, std::int64_t rows, std::int64_t nnz) {
  std::int64_t low = std::max<std::int64_t>(0, d - nnz), high = std::min(d, rows);
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (row_end[middle] <= d - middle - 1)
      low = middle + 1;
    else
      high = middle;
  }
  return {low, d - low};
}

template <class T>
void run(const Spmm::Problem<T>&, const Spmm::In<T, Space::host>& in, const Spmm::Out<T, Space::host>& out,
         Context& context) {
  const auto A = in.A;
  const std::int64_t n = out.C.cols, threads = omp_get_max_threads(), steps = A.rows + A.nnz;
  const std::int32_t* row_end = A.row_ptr + 1;
  auto* carry =
      static_cast<T*>(context.workspace(threads * n * static_cast<std::int64_t>(sizeof(T))));  // (threads, n)
  auto* carry_row = static_cast<std::int64_t*>(
      context.workspace(threads * static_cast<std::int64_t>(sizeof(std::int64_t))));
#pragma omp parallel for schedule(static, 1)
  for (std::int64_t t = 0; t < threads; ++t) {
    Position at = search(steps * t / threads, row_end, A.rows, A.nnz);
    const Position end = search(steps * (t + 1) / threads, row_end, A.rows, A.nnz);
    for (; at.row < end.row; ++at.row) {
      spmm_host::entries_times_dense(A, in.B, at.entry, row_end[at.row], out.C.data + at.row * out.C.ld);
      at.entry = row_end[at.row];
    }
    // the row that begins here: without entries it has no carry, so that nothing is added to an empty row
    carry_row[t] = at.entry < end.entry ? at.row : A.rows;
    if (at.entry < end.entry) spmm_host::entries_times_dense(A, in.B, at.entry, end.entry, carry + t * n);
  }
  // the thread that reached the row's end wrote it with its own part; the parts of earlier threads are added
  // here
  for (std::int64_t t = 0; t < threads; ++t) {
    if (carry_row[t] == A.rows) continue;
    for (std::int64_t j = 0; j < n; ++j) out.C(carry_row[t], j) += carry[t * n + j];
  }
}

PLUMB_REGISTER(Spmm, "04_merge_path", run, float, double);

}  // namespace
}  // namespace plumb
