// bias_relu, host 81: Eigen's array expressions.
//
// Change    the sum is an expression; rectifier and cap are select() on comparisons that are false for NaN,
//           so that NaN is kept. What max() and min() do with NaN differs between Eigen's versions.
// Traffic   y is written, then twice read and written again, each time whole: three passes.
// Limits    one core: Eigen does not parallelise element-wise expressions.
// Fails at  matrices larger than the cache, by its three passes.
#include <Eigen/Core>

#include "reference/ops/bias_relu.hpp"

namespace plumb {
namespace {

template <class T>
void run(const BiasRelu::Problem<T>& p, const BiasRelu::In<T, Space::host>& in,
         const BiasRelu::Out<T, Space::host>& out, Context&) {
  using Array = Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Row = Eigen::Array<T, 1, Eigen::Dynamic>;
  using Stride = Eigen::OuterStride<>;
  const Eigen::Map<const Array, 0, Stride> x(in.x.data, in.x.rows, in.x.cols, Stride(in.x.ld));
  Eigen::Map<Array, 0, Stride> y(out.y.data, out.y.rows, out.y.cols, Stride(out.y.ld));
  if (in.b.size > 0) {
    y = x.rowwise() + Eigen::Map<const Row>(in.b.data, in.b.size);
  } else {
    y = x + p.bias;
  }
  y = (y < T(0)).select(T(0), y);
  y = (y > p.cap).select(p.cap, y);
}

PLUMB_REGISTER_WITH(BiasRelu, "81_eigen", (run<T>, Traits{}.of_library()), float, double);

}  // namespace
}  // namespace plumb
