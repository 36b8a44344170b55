// reduce, host 04: Neumaier's compensated sum.
//
// Change    the rounding error of every addition is computed exactly, whichever operand is larger, and all of
//           them are added up beside the sum.
// Traffic   compulsory bytes.
// Limits    one core; seven operations per term, of which the chain is one add.
// Fails at  errors that themselves need compensating: the sum of errors is rounded. Rung 05 answers that.
// Source    A. Neumaier, Z. angew. Math. Mech. 54 (1974).
#include "reference/arithmetic/fp.hpp"
#include "reference/cpu/reduce/parts.hpp"
#include "reference/ops/reduce.hpp"

namespace plumb {
namespace {

template <class T>
void run(const Reduce::Problem<T>&, const Reduce::In<T, Space::host>& in,
         const Reduce::Out<T, Space::host>& out, Context&) {
  NeumaierSum<T> sum;
  for (std::int64_t i = 0; i < in.x.size; ++i) sum.add(in.x[i]);
  out.result[0] = sum.value();
}

PLUMB_REGISTER_WITH(Reduce, "04_neumaier",
                    (run<T>, Traits{}.computes_in(Arithmetic::compensated), sums_only<T>), float, double);

}  // namespace
}  // namespace plumb
