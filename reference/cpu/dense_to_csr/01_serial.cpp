// dense_to_csr, host 01: one sweep over the matrix, appending as it goes.
//
// Change    first rung: the definition.
// Traffic   compulsory bytes.
// Limits    one core; a branch per element, mispredicted at middling densities.
// Fails at  nothing, slowly.
#include "reference/core/values.hpp"
#include "reference/ops/dense_to_csr.hpp"

namespace plumb {
namespace {

template <class T>
void run(const DenseToCsr::Problem<T>&, const DenseToCsr::In<T, Space::host>& in,
         const DenseToCsr::Out<T, Space::host>& out, Context&) {
  std::int32_t nnz = 0;
  out.row_ptr[0] = 0;
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    for (std::int64_t j = 0; j < in.x.cols; ++j) {
      if (value(in.x(i, j)) != 0) {
        out.col[nnz] = static_cast<std::int32_t>(j);
        out.val[nnz] = in.x(i, j);
        ++nnz;
      }
    }
    out.row_ptr[i + 1] = nnz;
  }
}

PLUMB_REGISTER(DenseToCsr, "01_serial", run, float, double, f16, bf16, e4m3);

}  // namespace
}  // namespace plumb
