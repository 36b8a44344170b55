// spmm, host 81: Eigen's sparse times dense product, both row-major.
//
// Change    the library's own loop over mapped operands; no copy is made.
// Traffic   as rung 01.
// Limits    Eigen parallelises it with OpenMP from 20,000 entries on, in chunks of rows.
// Fails at  skewed rows, as rung 02.
#include <Eigen/SparseCore>

#include "reference/ops/spmm.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Spmm::Problem<T>&, const Spmm::In<T, Space::host>& in, const Spmm::Out<T, Space::host>& out,
         Context&) {
  using Sparse = Eigen::SparseMatrix<T, Eigen::RowMajor, std::int32_t>;
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Sparse> a(in.A.rows, in.A.cols, in.A.nnz, in.A.row_ptr, in.A.col, in.A.val);
  const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> b(in.B.data, in.B.rows, in.B.cols,
                                                            Eigen::OuterStride<>(in.B.ld));
  Eigen::Map<Matrix, 0, Eigen::OuterStride<>> c(out.C.data, out.C.rows, out.C.cols,
                                                Eigen::OuterStride<>(out.C.ld));
  c.noalias() = a * b;
}

PLUMB_REGISTER_WITH(Spmm, "81_eigen", (run<T>, Traits{}.of_library()), float, double);

}  // namespace
}  // namespace plumb
