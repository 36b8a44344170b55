// gemm, host 81: Eigen's product of mapped matrices.
//
// Change    the library's own packing, kernels and OpenMP threads; no copy is made by us.
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
         Context&) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto A = in.A, B = in.B;
  const auto C = out.C;
  if (depth_of(p, in) == 0) return scale_rows(C, p.beta, 0, C.rows);
  const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> a(A.data, A.rows, A.cols,
                                                            Eigen::OuterStride<>(A.ld));
  const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> b(B.data, B.rows, B.cols,
                                                            Eigen::OuterStride<>(B.ld));
  Eigen::Map<Matrix, 0, Eigen::OuterStride<>> c(C.data, C.rows, C.cols, Eigen::OuterStride<>(C.ld));
  if (p.beta == T(0)) {
    c.noalias() = p.alpha * (a * b);
  } else {
    c *= p.beta;
    c.noalias() += p.alpha * (a * b);
  }
}

const Register<Gemm, float, Space::host> f32{"81_eigen", run<float>, Traits{}.of_library()};
const Register<Gemm, double, Space::host> f64{"81_eigen", run<double>, Traits{}.of_library()};

}  // namespace
}  // namespace plumb
