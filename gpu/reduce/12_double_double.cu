// reduce, rung 12: a double-double sum.
//
// Change    the pair of sum and error is renormalised at every addition: twice the working precision
//           throughout, rounded once.
// Traffic   as rung 7; the additions still hide behind memory.
// Fails at  speed where the additions show: about ten operations a term.
// Source    T. J. Dekker, Numer. Math. 18 (1971); Y. Hida, X. S. Li, D. H. Bailey, "Quad-double arithmetic"
//           (2001).
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
struct DoubleDouble {
  static constexpr int kParts = 2;
  T part[kParts];  // high and low word, the low one at most half an ulp of the high one
  PLUMB_DEVICE static DoubleDouble nothing() { return {{T(0), T(0)}}; }
  PLUMB_DEVICE void take(T high, T low) {
    T s;
    const T error = two_sum(part[0], high, s) + (part[1] + low);
    const T sum = s + error;
    const T rest = error - (sum - s);
    part[0] = sum;
    part[1] = rest == rest ? rest : T(0);
  }
  PLUMB_DEVICE void add(T x) { take(x, T(0)); }
  PLUMB_DEVICE void join(const DoubleDouble& other) { take(other.part[0], other.part[1]); }
  PLUMB_DEVICE T value() const { return part[0]; }
};

template <class T>
void run(const Problem<T>&, const In<T>& in, const Out<T>& out, Context& context) {
  reduce_in_two_passes<DoubleDouble<T>, true>(in, out, context);
}

PLUMB_REGISTER_WITH(Reduce, "12_double_double",
                    (run<T>, Traits{}.computes_in(Arithmetic::doubled), sums_only<T>), float, double);

}  // namespace
}  // namespace plumb
