// log_softmax, host 81: Eigen's array expressions, a row at a time.
//
// Change    the library's vectorised exp and reductions.
// Traffic   as rung 02.
// Fails at  NaN and +Inf without the test here: Eigen's vectorised exp clamps its argument, and the value of
//           a clamp for NaN differs between its versions. The sum of x - x is 0 for finite rows and NaN
//           otherwise; it is computed first.
#if defined(__GNUC__) && !defined(__clang__)
#endif
#include <Eigen/Core>
#include <cmath>
#include <limits>

#include "reference/ops/log_softmax.hpp"

namespace plumb {
namespace {

template <class T>
void run(const LogSoftmax::Problem<T>&, const LogSoftmax::In<T, Space::host>& in,
         const LogSoftmax::Out<T, Space::host>& out, Context&) {
  using Row = Eigen::Array<T, 1, Eigen::Dynamic>;
  constexpr T kInf = std::numeric_limits<T>::infinity();
  const std::int64_t cols = in.x.cols;
  if (cols == 0) return;  // maxCoeff() of nothing is not defined
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    const Eigen::Map<const Row> x(in.x.data + i * in.x.ld, cols);
    Eigen::Map<Row> y(out.y.data + i * out.y.ld, cols);
    const bool finite = (x - x).sum() == T(0);
    if (!finite && ((x != x).any() || (x == kInf).any() || (x == -kInf).all())) {
      y.setConstant(std::numeric_limits<T>::quiet_NaN());
      continue;
    }
    const T max = x.maxCoeff();
    const T log_sum = std::log((x - max).exp().sum());
    y = x - max - log_sum;
  }
}

PLUMB_REGISTER_WITH(LogSoftmax, "81_eigen", (run<T>, Traits{}.of_library()), float, double);

}  // namespace
}  // namespace plumb
