// reduce: the sum or the maximum of a vector. Contract only; cases, oracle and bound are in reduce.cpp.
#pragma once
#include "reference/core/contract.hpp"

namespace plumb {

/// result[0] = sum_i x[i], or max_i x[i].
///
/// Shapes    x (n);  result (1). n may be 0.
/// Layout    contiguous.
/// Aliasing  result does not overlap x; it is written and never read.
/// Values    sum: of nothing 0; NaN anywhere, or both infinities, give NaN; one infinity alone gives that
///           infinity, also where errors are compensated. max: of nothing -Inf; NaN anywhere gives NaN (a
///           comparison loses it). The sign of a zero is free.
/// Narrow    types: fp32 sums rounded once, to nearest even. Beyond the largest number: infinity, NaN in e4m3;
///           subnormals are kept, NaN stays NaN (docs/bounds.md#narrow-outputs).
/// Bound     sum: |result - ref| <= sum_bound(sum |x[i]|, n) of the declared arithmetic, and the drift of partial
///           sums that grow to |ref|: sum_bound_of_one_sign(|ref|, n). max: 0.
/// Cost      n flop;  v (n + 1) bytes (v = bytes of T).
/// Errors    a result of another size than 1 is rejected by validate() before any variant runs.
/// Source    N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. (2002), chapter 4.
struct Reduce : Contract<Reduce> {
  static constexpr const char* kName = "reduce";
  static constexpr const char* kSignature = "x: n, kind -> result: 1";

  enum class Kind : std::uint8_t { sum, max };

  PLUMB_PROBLEM(Kind kind;)
  PLUMB_INPUTS(Vector x;)
  PLUMB_OUTPUTS(Vector result;)

  PLUMB_CONTRACT(Reduce)
  /// Makes of a problem its n-th neighbour, over the same arrays of the same shapes; false: it has no more. Those
  /// behind the first differ from it in as few members as may be.
  template <class T>
  static bool make_other(Problem<T>&, int n);
};

}  // namespace plumb
