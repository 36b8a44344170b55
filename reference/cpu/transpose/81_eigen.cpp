// transpose, host 81: Eigen's assignment of a transposed map.
//
// Change    the library's own loop.
// Traffic   as rung 01.
// Limits    one core; the strided side, element by element.
// Fails at  rows a power of two apart.
#include <Eigen/Core>

#include "reference/ops/transpose.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Transpose::Problem<T>&, const Transpose::In<T, Space::host>& in,
         const Transpose::Out<T, Space::host>& out, Context&) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Stride = Eigen::OuterStride<>;
  const Eigen::Map<const Matrix, 0, Stride> a(in.A.data, in.A.rows, in.A.cols, Stride(in.A.ld));
  Eigen::Map<Matrix, 0, Stride> b(out.B.data, out.B.rows, out.B.cols, Stride(out.B.ld));
  b = a.transpose();
}

PLUMB_REGISTER_WITH(Transpose, "81_eigen", (run<T>, Traits{}.of_library()), float, double);

}  // namespace
}  // namespace plumb
