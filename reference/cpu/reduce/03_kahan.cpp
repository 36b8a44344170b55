// reduce, host 03: Kahan's compensated sum.
//
// Change    what an addition rounds away is kept and subtracted from the next term: the error no longer grows
//           with n.
// Traffic   compulsory bytes.
// Limits    one core; four dependent operations per term.
// Fails at  a term larger than the running sum: [1, 1e20, 1, -1e20] gives 0. Rung 04 answers that.
// Source    W. Kahan, CACM 8(1) (1965); Higham (2002), algorithm 4.2.
#include <cmath>

#include "reference/cpu/reduce/parts.hpp"
#include "reference/ops/reduce.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Reduce::Problem<T>&, const Reduce::In<T, Space::host>& in,
         const Reduce::Out<T, Space::host>& out, Context&) {
  T sum = 0, carried = 0;
  for (std::int64_t i = 0; i < in.x.size; ++i) {
    const T term = in.x[i] - carried;
    const T next = sum + term;
    carried = (next - sum) - term;
    if (!std::isfinite(carried)) carried = 0;  // Inf - Inf: the sum is infinite already, and stays infinite
    sum = next;
  }
  out.result[0] = sum;
}

PLUMB_REGISTER_WITH(Reduce, "03_kahan", (run<T>, Traits{}.computes_in(Arithmetic::compensated), sums_only<T>),
                    float, double);

}  // namespace
}  // namespace plumb
