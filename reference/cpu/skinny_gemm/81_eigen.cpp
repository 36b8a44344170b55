// skinny_gemm, host 81: Eigen's product of mapped matrices.
//
// Change    the library's own packing, kernels and OpenMP threads; no copy is made by us.
// Traffic   X is packed: written and read once more than needed.
// Limits    the packing.
// Fails at  nothing by shape.
#include <Eigen/Core>

#include "reference/ops/skinny_gemm.hpp"

namespace plumb {
namespace {

template <class T>
void run(const SkinnyGemm::Problem<T>&, const SkinnyGemm::In<T, Space::host>& in,
         const SkinnyGemm::Out<T, Space::host>& out, Context&) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Stride = Eigen::OuterStride<>;
  const Eigen::Map<const Matrix, 0, Stride> x(in.X.data, in.X.rows, in.X.cols, Stride(in.X.ld));
  const Eigen::Map<const Matrix, 0, Stride> w(in.W.data, in.W.rows, in.W.cols, Stride(in.W.ld));
  Eigen::Map<Matrix, 0, Stride> y(out.Y.data, out.Y.rows, out.Y.cols, Stride(out.Y.ld));
  y.noalias() = x * w;
}

PLUMB_REGISTER_WITH(SkinnyGemm, "81_eigen", (run<T>, Traits{}.of_library()), float, double);

}  // namespace
}  // namespace plumb
