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
void run(const Spmv::Problem<T>& p, const Spmv::In<T, Space::host>& in, const Spmv::Out<T, Space::host>& out, Context&) {
  using Matrix = Eigen::SparseMatrix<T, Eigen::RowMajor, std::int32_t>;
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  const Eigen::Map<const Matrix> a(in.A.rows, in.A.cols, in.A.nnz, in.A.row_ptr, in.A.col, in.A.val);
  const Eigen::Map<const Vector> x(in.x.data, in.x.size);
  Eigen::Map<Vector> y(out.y.data, out.y.size);
  if (p.beta == T(0)) {
    y.noalias() = p.alpha * (a * x);
  } else {
    y *= p.beta;
    y.noalias() += p.alpha * (a * x);
  }
}

const Register<Spmv, float, Space::host> f32{"81_eigen", run<float>};
const Register<Spmv, double, Space::host> f64{"81_eigen", run<double>};

}  // namespace
}  // namespace plumb
