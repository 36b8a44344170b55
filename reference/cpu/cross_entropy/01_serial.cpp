// cross_entropy, host 01: two loops per row: maximum, sum of exponentials.
//
// Change    first rung: the definition.
// Traffic   x twice.
// Limits    one core.
// Fails at  nothing, slowly.
#include <algorithm>
#include <cmath>

#include "reference/ops/cross_entropy.hpp"

namespace plumb {
namespace {

template <class T>
void run(const CrossEntropy::Problem<T>&, const CrossEntropy::In<T, Space::host>& in,
         const CrossEntropy::Out<T, Space::host>& out, Context&) {
  for (std::int64_t i = 0; i < in.x.rows; ++i) {
    T max = in.x(i, 0), sum = 0;
    for (std::int64_t j = 1; j < in.x.cols; ++j) max = std::max(max, in.x(i, j));
    for (std::int64_t j = 0; j < in.x.cols; ++j) sum += std::exp(in.x(i, j) - max);
    out.l[i] = std::log(sum) + max - in.x(i, in.t[i]);
  }
}

PLUMB_REGISTER(CrossEntropy, "01_serial", run, float, double);

}  // namespace
}  // namespace plumb
