// bias_relu: bias, rectifier and cap of a dense layer. Contract only; cases, oracle and bound are in
// bias_relu.cpp.
#pragma once
#include "reference/core/abi.hpp"

namespace plumb {

/// y[i][j] = min(max(x[i][j] + b_j, 0), cap)
///
/// Shapes    x (rows, cols);  y (rows, cols);  b (cols): one bias per column, or b (0): b_j = Problem::bias
///           for every j. Any of them may be 0.
/// Layout    x and y row-major, ld >= cols each.
/// Aliasing  y overlaps neither x nor b. y is written and never read; its padding (columns cols..ld-1) is
///           left alone.
/// Values    NaN in x or b, and -Inf + Inf, give NaN, whatever the cap; cap may be +Inf, and then +Inf stays
///           +Inf. The sign of a zero is free.
/// Narrow    types: fp32 sums rounded once, to nearest even. Beyond the largest number: infinity, NaN in e4m3;
///           subnormals are kept, NaN stays NaN (docs/bounds.md#narrow-outputs).
/// Bound     |y - ref| <= u (|x| + |b|): one rounding, and max and min have Lipschitz constant 1; 0 where x + b
///           is below 0 or above cap by (|x| + |b|) / 32 + 2^-22, so that every arithmetic is clamped. The
///           reference is the correctly rounded sum, so exact fills are compared bit for bit, also with a
///           bias like -0.3.
/// Cost      3 rows cols flop (an add and two comparisons);  2 v rows cols + v size(b) bytes (v = bytes of
///           T).
/// Errors    validate() rejects shapes that differ, a cap that is negative or NaN, and a b of neither cols
///           nor 0 elements.
/// Source    Kepner, Alford, Gadepally et al., "Sparse Deep Neural Network Graph Challenge", HPEC 2019 (cap =
///           32).
struct BiasRelu {
  static constexpr const char* kName = "bias_relu";
  static constexpr Dtype kDtypes[] = {Dtype::f32,  Dtype::f64,     Dtype::f16,
                                      Dtype::bf16, Dtype::f16_f32, Dtype::bf16_f32};
  static constexpr const char* kExtents[] = {"rows", "cols"};  // parameters of a case

  template <class T>
  struct Problem {
    scalar_t<T> bias;  // for every column, where b has no elements
    scalar_t<T> cap;   // >= 0; +Inf: no cap
  };
  template <class T, Space S>
  struct In {
    DenseView<const in_t<T>, S> x;  // (rows, cols)
    VecView<const in_t<T>, S> b;    // (cols) or (0)
  };
  template <class T, Space S>
  struct Out {
    DenseView<out_t<T>, S> y;  // (rows, cols)
  };

  template <class Views, class F>
  static void each_input(Views& in, F&& f) {
    f("x", in.x), f("b", in.b);
  }
  template <class Views, class F>
  static void each_output(Views& out, F&& f) {
    f("y", out.y);
  }
  template <class P, class F>
  static void each_scalar(P& p, F&& f) {
    f("bias", p.bias), f("cap", p.cap);
  }

  static void describe(CaseSpace&);
  static void cases(CaseList&);
  template <class T>
  static void make(const Case&, Instance<BiasRelu, T>&);
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
