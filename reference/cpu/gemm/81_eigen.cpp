// gemm, host 81: Eigen's product of mapped matrices.
//
// Change    the library's own packing, kernels and OpenMP threads; no copy of an operand is made by us.
// Traffic   as rung 21.
// Limits    its blocking, chosen from the cache sizes it reads at the first product.
// Fails at  nothing by shape.
#include <Eigen/Core>

#include "reference/cpu/gemm/loops.hpp"
#include "reference/ops/gemm.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Gemm::Problem<T>& p, const Gemm::In<T, Space::host>& in, const Gemm::Out<T, Space::host>& out,
         Context& context) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto A = in.A, B = in.B;
  const auto C = out.C;
  if (depth_of(p, in) == 0) return scale_rows(C, p.beta, 0, C.rows);
  const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> a(A.data, A.rows, A.cols,
                                                            Eigen::OuterStride<>(A.ld));
  const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> b(B.data, B.rows, B.cols,
                                                            Eigen::OuterStride<>(B.ld));
  Eigen::Map<Matrix, 0, Eigen::OuterStride<>> c(C.data, C.rows, C.cols, Eigen::OuterStride<>(C.ld));
  if (p.beta == T(0))
    c.setZero();
  else
    c *= p.beta;
  if (p.alpha == T(0)) return;  // by the contract NaN in A or B then has no effect
  if (p.alpha == T(1)) {
    c.noalias() += a * b;
    return;
  }
  // of one row or column alpha (a b) is computed as (alpha a) b, where tiny times tiny is 0 and that times an infinity NaN
  auto* sums = static_cast<T*>(context.workspace(C.rows * C.cols * static_cast<std::int64_t>(sizeof(T))));
  Eigen::Map<Matrix> product(sums, C.rows, C.cols);
  product.noalias() = a * b;
  c += p.alpha * product;
}

PLUMB_REGISTER_WITH(Gemm, "81_eigen", (run<T>, Traits{}.of_library()), float, double);

}  // namespace
}  // namespace plumb
