// reduce, host 81: Eigen's reductions of a mapped array.
//
// Change    the library's own vectorised tree; its maximum is told to propagate NaN, which it does not by
//           default.
// Traffic   compulsory bytes.
// Limits    one core's memory bandwidth.
// Fails at  [1, 1e20, 1, -1e20], as rung 01. The maximum of an empty array is an assertion in Eigen, so it is
//           handled here.
#include <Eigen/Core>

#include "reference/cpu/reduce/parts.hpp"
#include "reference/ops/reduce.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Reduce::Problem<T>& p, const Reduce::In<T, Space::host>& in,
         const Reduce::Out<T, Space::host>& out, Context&) {
  const Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>> x(in.x.data, in.x.size);
  if (p.kind == Reduce::Kind::sum) {
    out.result[0] = x.sum();
  } else {
    out.result[0] = in.x.size == 0 ? kMinusInf<T> : x.template maxCoeff<Eigen::PropagateNaN>();
  }
}

PLUMB_REGISTER_WITH(Reduce, "81_eigen", (run<T>, Traits{}.of_library()), float, double);

}  // namespace
}  // namespace plumb
