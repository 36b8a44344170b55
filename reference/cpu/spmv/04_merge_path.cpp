// spmv, host 04: rows and entries balanced together along the merge path.
//
// Change    the work is rows + nnz steps of a merge of row ends with entries; each thread walks an equal number of steps, so
//           a row may span threads. The part of a thread's last, unfinished row is carried over and added once at the end.
// Traffic   as rung 01, plus one (row, sum) pair per thread.
// Limits    one carry per thread, added in thread order: reproducible for a fixed number of threads.
// Fails at  nothing by shape; on regular matrices it only adds the search.
// Source    Merrill and Garland, "Merge-based parallel sparse matrix-vector multiplication", SC'16.
#include <omp.h>

#include <algorithm>

#include "reference/cpu/spmv/finish_row.hpp"
#include "reference/ops/spmv.hpp"

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
struct Carry {
  std::int64_t row;
  T sum;
};

template <class T>
void run(const Spmv::Problem<T>& p, const Spmv::In<T, Space::host>& in, const Spmv::Out<T, Space::host>& out,
         Context& context) {
  const auto A = in.A;
  const std::int32_t* row_end = A.row_ptr + 1;
  const std::int64_t threads = omp_get_max_threads();
  auto* carry =
      static_cast<Carry<T>*>(context.workspace(threads * static_cast<std::int64_t>(sizeof(Carry<T>))));
#pragma omp parallel for schedule(static, 1)
  for (std::int64_t t = 0; t < threads; ++t) {
    const std::int64_t steps = A.rows + A.nnz;
    Position at = search(steps * t / threads, row_end, A.rows, A.nnz);
    const Position end = search(steps * (t + 1) / threads, row_end, A.rows, A.nnz);
    for (; at.row < end.row; ++at.row) {
      T sum = 0;
      for (; at.entry < row_end[at.row]; ++at.entry) sum += A.val[at.entry] * in.x[A.col[at.entry]];
      spmv::finish_row(p, sum, out.y[at.row]);
    }
    T rest = 0;
    for (; at.entry < end.entry; ++at.entry) rest += A.val[at.entry] * in.x[A.col[at.entry]];
    carry[t] = {at.row, rest};
  }
  // the row's last thread wrote it with its own part and beta; the parts of earlier threads are added here
  for (std::int64_t t = 0; t < threads; ++t) {
    if (carry[t].row < A.rows) out.y[carry[t].row] += spmv::scaled(p, carry[t].sum);
  }
}

PLUMB_REGISTER(Spmv, "04_merge_path", run, float, double);

}  // namespace
}  // namespace plumb
