// gemv, host 81: Eigen's product of a mapped matrix and a mapped vector.
//
// Change    the library's own kernel; no copy of an operand is made by us.
// Traffic   as rung 01.
// Limits    one core: Eigen does not parallelise a dense matrix times a vector.
// Fails at  nothing by shape.
#include <Eigen/Core>

#include "reference/ops/gemv.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Gemv::Problem<T>& p, const Gemv::In<T, Space::host>& in, const Gemv::Out<T, Space::host>& out,
         Context& context) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Vec = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> a(in.A.data, in.A.rows, in.A.cols,
                                                            Eigen::OuterStride<>(in.A.ld));
  const Eigen::Map<const Vec> x(in.x.data, in.x.size);
  Eigen::Map<Vec> y(out.y.data, out.y.size);
  if (p.beta == T(0)) {
    y.setZero();
  } else {
    y *= p.beta;
  }
  if (p.alpha == T(0)) return;  // by the contract NaN in A or x then has no effect
  if (p.alpha == T(1)) {
    y.noalias() += a * x;
    return;
  }
  // of one row alpha (a x) is computed as (alpha a) x, where tiny times tiny is 0 and that times an infinity NaN
  auto* sums = static_cast<T*>(context.workspace(out.y.size * static_cast<std::int64_t>(sizeof(T))));
  Eigen::Map<Vec> product(sums, out.y.size);
  product.noalias() = a * x;
  y += p.alpha * product;
}

PLUMB_REGISTER_WITH(Gemv, "81_eigen", (run<T>, Traits{}.of_library()), float, double);

}  // namespace
}  // namespace plumb
