// reduce, host 02: halves summed apart, then together.
//
// Change    the order of the sum is a tree: the error grows with log2(n), at the price of a recursion.
// Traffic   compulsory bytes.
// Limits    one core; the leaves of kLeaf terms, summed in a row.
// Fails at  [1, 1e20, 1, -1e20]: 0 instead of 2. A better order cannot bring back what was rounded away.
// Source    Higham (2002), section 4.1.
#include "reference/cpu/reduce/parts.hpp"
#include "reference/ops/reduce.hpp"

namespace plumb {
namespace {

constexpr std::int64_t kLeaf = 8;

template <class T>
T pairwise(const T* x, std::int64_t n) {
  if (n <= kLeaf) {
    T sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += x[i];
    return sum;
  }
  const std::int64_t half = n / 2;
  return pairwise(x, half) + pairwise(x + half, n - half);
}

template <class T>
void run(const Reduce::Problem<T>&, const Reduce::In<T, Space::host>& in,
         const Reduce::Out<T, Space::host>& out, Context&) {
  out.result[0] = pairwise(in.x.data, in.x.size);
}

PLUMB_REGISTER_WITH(Reduce, "02_pairwise", (run<T>, Traits{}.computes_in(Arithmetic::pairwise), sums_only<T>),
                    float, double);

}  // namespace
}  // namespace plumb
