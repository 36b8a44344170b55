// reduce, rung 11: Neumaier's compensated sum.
//
// Change    the error of every addition is summed apart and added once at the end: terms larger than the sum
//           lose nothing.
// Traffic   as rung 7; the additions still hide behind memory.
// Fails at  cancellation beyond u^2: rung 12 carries two words throughout.
// Source    A. Neumaier, ZAMM 54 (1974); T. Ogita, S. Rump, S. Oishi, "Accurate sum and dot product", SISC 26
//           (2005), Sum2.
#include "gpu/reduce/two_pass.hpp"

namespace plumb {
namespace {

using namespace reduce;

// Every operation is written with its rounding: the compiler may contract or reorder nothing here. a + b = s
// + the error returned, exactly (Knuth). For an infinite s there is none: Inf - Inf would make it NaN.
template <class T>
PLUMB_DEVICE T two_sum(T a, T b, T& s) {
  s = a + b;
  const T from_b = s - a;
  const T error = (a - (s - from_b)) + (b - from_b);
  return error == error ? error : T(0);
}

template <class T>
struct Neumaier {
  static constexpr int kParts = 2;
  T part[kParts];  // the sum, and its error
  PLUMB_DEVICE static Neumaier nothing() { return {{T(0), T(0)}}; }
  PLUMB_DEVICE void add(T x) { part[1] += two_sum(part[0], x, part[0]); }
  PLUMB_DEVICE void join(const Neumaier& other) {
    const T error = two_sum(part[0], other.part[0], part[0]);
    part[1] += other.part[1] + error;
  }
  PLUMB_DEVICE T value() const { return part[0] + part[1]; }
};

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  reduce_in_two_passes<Neumaier<T>, true>(in, out, context);
}

PLUMB_REGISTER_WITH(Reduce, "11_neumaier",
                    (run<T>, Traits{}.computes_in(Arithmetic::compensated), sums_only<T>), float, double);

}  // namespace
}  // namespace plumb
