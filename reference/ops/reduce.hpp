// reduce: the sum or the maximum of a vector. Contract only; cases, oracle and bound are in reduce.cpp.
#pragma once
#include "reference/core/abi.hpp"

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
struct Reduce {
  static constexpr const char* kName = "reduce";
  static constexpr Dtype kDtypes[] = {Dtype::f32,  Dtype::f64,     Dtype::f16,
                                      Dtype::bf16, Dtype::f16_f32, Dtype::bf16_f32};
  static constexpr const char* kExtents[] = {"n"};  // parameters of a case

  enum class Kind : std::uint8_t { sum, max };

  template <class T>
  struct Problem {
    Kind kind;
  };
  template <class T, Space S>
  struct In {
    VecView<const in_t<T>, S> x;  // (n)
  };
  template <class T, Space S>
  struct Out {
    VecView<out_t<T>, S> result;  // (1)
  };

  template <class Views, class F>
  static void each_input(Views& in, F&& f) {
    f("x", in.x);
  }
  template <class Views, class F>
  static void each_output(Views& out, F&& f) {
    f("result", out.result);
  }
  template <class P, class F>
  static void each_scalar(P& p, F&& f) {
    f("kind", p.kind);
  }

  static void describe(CaseSpace&);
  static void cases(CaseList&);
  template <class T>
  static void make(const Case&, Instance<Reduce, T>&);
  template <class T>
  static void validate(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&);
  template <class T>
  static void oracle(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&, Reference&);
  template <class T>
  static Work cost(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&);
  /// Makes of a problem its n-th neighbour, over the same arrays of the same shapes; false: it has no more. Those
  /// behind the first differ from it in as few members as may be.
  template <class T>
  static bool make_other(Problem<T>&, int n);
  static double bound(const Tolerance&, int output, double value, double magnitude, std::int64_t terms);
};

}  // namespace plumb
