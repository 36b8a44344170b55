// spmv, host 81: Eigen's sparse row-major product.
//
// Change    the library's own loop over a mapped CSR; no copy is made.
// Traffic   as rung 01.
// Limits    Eigen parallelises row-major sparse times dense vector with OpenMP, in chunks of rows.
// Fails at  skewed rows, as rung 02.
#include <Eigen/SparseCore>

#include "reference/ops/spmv.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Spmv::Problem<T>& p, const Spmv::In<T, Space::host>& in, const Spmv::Out<T, Space::host>& out,
         Context& context) {
  using Matrix = Eigen::SparseMatrix<T, Eigen::RowMajor, std::int32_t>;
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  const Eigen::Map<const Matrix> a(in.A.rows, in.A.cols, in.A.nnz, in.A.row_ptr, in.A.col, in.A.val);
  const Eigen::Map<const Vector> x(in.x.data, in.x.size);
  Eigen::Map<Vector> y(out.y.data, out.y.size);
  if (p.beta == T(0))
    y.setZero();
  else
    y *= p.beta;
  if (p.alpha == T(0)) return;  // by the contract NaN in A or x then has no effect
  if (p.alpha == T(1)) {
    y.noalias() += a * x;
    return;
  }
  // alpha (a x) is computed as (alpha a) x, where 0.5 * subnormal is 0 and that times an infinity NaN
  auto* rows = static_cast<T*>(context.workspace(in.A.rows * static_cast<std::int64_t>(sizeof(T))));
  Eigen::Map<Vector> product(rows, in.A.rows);
  product.noalias() = a * x;
  y += p.alpha * product;
}

PLUMB_REGISTER_WITH(Spmv, "81_eigen", (run<T>, Traits{}.of_library()), float, double);

}  // namespace
}  // namespace plumb
