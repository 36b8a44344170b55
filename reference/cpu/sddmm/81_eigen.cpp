// sddmm, host 81: Eigen's dot product per entry. Eigen has no sampled product; forming X Y^T whole would cost
// rows * cols.
//
// Change    the library's vectorised dot over mapped rows; the entry loop and its threads are ours.
// Traffic   as rung 01.
// Fails at  skewed rows, as rung 02: chunks of whole rows.
#if defined(__GNUC__) && !defined(__clang__)
#endif
#include <Eigen/Core>

#include "reference/ops/sddmm.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Sddmm::Problem<T>&, const Sddmm::In<T, Space::host>& in, const Sddmm::Out<T, Space::host>& out,
         Context&) {
  using Vector = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>>;
  const auto A = in.A;
#pragma omp parallel for schedule(dynamic, 16)
  for (std::int64_t i = 0; i < A.rows; ++i) {
    const Vector x(in.X.data + i * in.X.ld, in.X.cols);
    for (std::int32_t e = A.row_ptr[i]; e < A.row_ptr[i + 1]; ++e) {
      out.s[e] = x.dot(Vector(in.Y.data + A.col[e] * in.Y.ld, in.Y.cols));
    }
  }
}

PLUMB_REGISTER_WITH(Sddmm, "81_eigen", (run<T>, Traits{}.of_library()), float, double);

}  // namespace
}  // namespace plumb
