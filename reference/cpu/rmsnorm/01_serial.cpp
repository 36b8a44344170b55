// rmsnorm, host 01: two loops per row: sum of squares, result.
//
// Change    first rung: the definition.
// Traffic   x twice, the second time from the cache where a row fits.
// Limits    one core; one chain of additions.
// Fails at  nothing, slowly.
#include <cmath>

#include "reference/ops/rmsnorm.hpp"

namespace plumb {
namespace {

template <class T>
void run(const RmsNorm::Problem<T>& p, const RmsNorm::In<T, Space::host>& in,
         const RmsNorm::Out<T, Space::host>& out, Context&) {
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    T squares = 0;
    for (std::int64_t j = 0; j < in.x.cols; ++j) squares += in.x(i, j) * in.x(i, j);
    const T root = std::sqrt(squares / static_cast<T>(in.x.cols) + p.eps);
    for (std::int64_t j = 0; j < in.x.cols; ++j) out.y(i, j) = in.x(i, j) * in.w[j] / root;
  }
}

PLUMB_REGISTER(RmsNorm, "01_serial", run, float, double);

}  // namespace
}  // namespace plumb
