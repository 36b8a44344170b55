// reduce, rung 10: Kahan's compensated sum.
//
// Change    each thread carries the rounding error of its last addition into the next; partial sums are
//           joined the same way.
// Traffic   as rung 7; the additions still hide behind memory.
// Fails at  a term larger than the sum so far: [1, 1e20, 1, -1e20] gives 0. The bound holds, since it is
//           relative to the sum of magnitudes; rung 11 does better.
// Source    W. Kahan, "Further remarks on reducing truncation errors", CACM 8 (1965); Higham (2002),
//           algorithm 4.2.
#include "gpu/reduce/two_pass.hpp"

namespace plumb {
namespace {

using namespace reduce;

// Every operation is written with its rounding: the compiler may contract or reorder nothing here.
template <class T>
struct Kahan {
  static constexpr int kParts = 2;
  T part[kParts];  // the sum, and what it has too much
  PLUMB_DEVICE static Kahan nothing() { return {{T(0), T(0)}}; }
  PLUMB_DEVICE void add(T x) {
    const T y = x - part[1];
    const T t = part[0] + y;
    part[1] = (t - part[0]) - y;
    part[0] = t;
    if (part[1] != part[1])
      part[1] = T(0);  // an infinite sum has no error to carry: Inf - Inf would make it NaN
  }
  PLUMB_DEVICE void join(const Kahan& other) { add(other.part[0]), add(-other.part[1]); }
  PLUMB_DEVICE T value() const { return part[0]; }
};

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  reduce_in_two_passes<Kahan<T>, true>(in, out, context);
}

PLUMB_REGISTER_WITH(Reduce, "10_kahan", (run<T>, Traits{}.computes_in(Arithmetic::compensated), sums_only<T>),
                    float, double);

}  // namespace
}  // namespace plumb
