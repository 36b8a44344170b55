// dense_to_csr, host 02: count rows, scan the counts, fill rows.
//
// Change    two parallel sweeps over the matrix with a serial scan of the row counts between them: a row
//           knows where its entries go before it writes them.
// Traffic   x twice; the second time from the cache only where the matrix fits.
// Limits    memory bandwidth in the first sweep, the branch per element in the second.
// Fails at  one long row: rows are not split. And the scan is serial: matrices of very many, very short rows.
#include "reference/ops/dense_to_csr.hpp"

namespace plumb {
namespace {

template <class T>
void run(const DenseToCsr::Problem<T>&, const DenseToCsr::In<T, Space::host>& in,
         const DenseToCsr::Out<T, Space::host>& out, Context&) {
  const std::int64_t rows = in.x.rows, cols = in.x.cols;
  out.row_ptr[0] = 0;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < rows; ++i) {
    const T* x = in.x.data + i * in.x.ld;
    std::int32_t count = 0;
#pragma omp simd reduction(+ : count)
    for (std::int64_t j = 0; j < cols; ++j) count += x[j] != T(0) ? 1 : 0;
    out.row_ptr[i + 1] = count;
  }
  for (std::int64_t i = 0; i < rows; ++i) out.row_ptr[i + 1] += out.row_ptr[i];
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < rows; ++i) {
    const T* x = in.x.data + i * in.x.ld;
    std::int32_t at = out.row_ptr[i];
    for (std::int64_t j = 0; j < cols; ++j) {
      if (x[j] != T(0)) {
        out.col[at] = static_cast<std::int32_t>(j);
        out.val[at] = x[j];
        ++at;
      }
    }
  }
}

PLUMB_REGISTER(DenseToCsr, "02_count_scan_fill", run, float, double);

}  // namespace
}  // namespace plumb
