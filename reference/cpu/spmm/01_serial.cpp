// spmm, host 01: rows of A, entries of the row, columns of B.
//
// Change    first rung: the definition, in the operator's own precision; the row of C is the accumulator.
// Traffic   compulsory bytes, and the row of C once more per entry, from the first-level cache.
// Limits    one core; a load and a store of C per multiply-add.
// Fails at  nothing, slowly.
#include "reference/ops/spmm.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Spmm::Problem<T>&, const Spmm::In<T, Space::host>& in, const Spmm::Out<T, Space::host>& out,
         Context&) {
  for (std::int64_t i = 0; i < in.A.rows; ++i) {
    for (std::int64_t j = 0; j < out.C.cols; ++j) out.C(i, j) = 0;
    for (std::int32_t k = in.A.row_ptr[i]; k < in.A.row_ptr[i + 1]; ++k) {
      for (std::int64_t j = 0; j < out.C.cols; ++j) out.C(i, j) += in.A.val[k] * in.B(in.A.col[k], j);
    }
  }
}

PLUMB_REGISTER(Spmm, "01_serial", run, float, double);

}  // namespace
}  // namespace plumb
