// reduce, host 05: a sum of twice the working precision.
//
// Change    the running sum is an unevaluated pair high + low, renormalised after every term, and rounded
//           once at the end.
// Traffic   compulsory bytes.
// Limits    one core; ten dependent operations per term.
// Fails at  nothing that 2 x 24 or 2 x 53 bits hold.
// Source    T. J. Dekker, Numer. Math. 18 (1971); Y. Hida, X. Li and D. Bailey, ARITH-15 (2001).
#include <cmath>

#include "reference/arithmetic/fp.hpp"
#include "reference/cpu/reduce/parts.hpp"
#include "reference/ops/reduce.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Reduce::Problem<T>&, const Reduce::In<T, Space::host>& in,
         const Reduce::Out<T, Space::host>& out, Context&) {
  T high = 0, low = 0;
  for (std::int64_t i = 0; i < in.x.size; ++i) {
    const auto [sum, error] = two_sum(high, in.x[i]);
    const T rest = low + error;
    const T next = sum + rest;
    low = rest - (next - sum);  // exact: |sum| >= |rest|
    high = next;
    if (!std::isfinite(sum)) high = sum, low = 0;  // an infinity stays infinite, and does not become NaN
  }
  out.result[0] = high;
}

PLUMB_REGISTER_WITH(Reduce, "05_double_double",
                    (run<T>, Traits{}.computes_in(Arithmetic::doubled), sums_only<T>), float, double);

}  // namespace
}  // namespace plumb
