// gemv: y = alpha A x + beta y for a dense row-major matrix. Contract only; cases, oracle and bound are in
// gemv.cpp.
#pragma once
#include "reference/core/abi.hpp"

namespace plumb {

/// y[i] = alpha * sum_k A[i, k] * x[k] + beta * y[i]  for k in [0, A.cols).
///
/// Shapes    A (rows, cols);  x (cols);  y (rows). Any of them may be 0; cols == 0 gives beta * y.
/// Layout    A row-major with its leading dimension ld >= cols; x and y contiguous.
/// Aliasing  y overlaps neither A nor x. With beta == 0, y is written and never read.
/// Values    beta == 0: NaN in y does not survive. alpha == 0: neither A nor x is read, y = beta * y (0
///           where beta == 0). Otherwise NaN and Inf propagate as in IEEE 754: 0 * Inf is NaN, no term is
///           skipped. alpha scales products or their sum, never an operand: 0.5 * subnormal is 0, and Inf
///           times that NaN. The sign of a zero is free.
/// Narrow    types: fp32 sums rounded once, to nearest even. Beyond the largest number: infinity, NaN in e4m3;
///           subnormals are kept, NaN stays NaN (docs/bounds.md#narrow-outputs).
/// Bound     |y[i] - ref| <= sum_bound(M, n), M = affine_magnitude(alpha, sum |A[i, k] x[k]|, beta y[i])
///           = |alpha| sum + |beta y[i]| max(1, sqrt(cols) / 4): a kernel may start at beta y. n = cols, plus
///           1 for alpha != 1 and 1 for beta != 0, which round too.
/// Cost      2 rows cols flop;  v (rows cols + cols + rows) bytes, and v rows more where y is read (v = bytes
///           of T).
/// Errors    shapes that do not fit are rejected by validate() before any variant runs; variants assume
///           fitting shapes.
/// Source    N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. (2002), section 3.5.
struct Gemv {
  static constexpr const char* kName = "gemv";
  static constexpr Dtype kDtypes[] = {Dtype::f32,  Dtype::f64,     Dtype::f16,
                                      Dtype::bf16, Dtype::f16_f32, Dtype::bf16_f32};
  static constexpr const char* kExtents[] = {"rows", "cols"};  // parameters of a case

  template <class T>
  struct Problem {
    scalar_t<T> alpha, beta;
  };
  template <class T, Space S>
  struct In {
    DenseView<const in_t<T>, S> A;  // (rows, cols)
    VecView<const in_t<T>, S> x;    // (cols)
  };
  template <class T, Space S>
  struct Out {
    VecView<out_t<T>, S> y;  // (rows)
  };

  template <class Views, class F>
  static void each_input(Views& in, F&& f) {
    f("A", in.A), f("x", in.x);
  }
  template <class Views, class F>
  static void each_output(Views& out, F&& f) {
    f("y", out.y);
  }
  template <class P, class F>
  static void each_scalar(P& p, F&& f) {
    f("alpha", p.alpha), f("beta", p.beta);
  }

  static void describe(CaseSpace&);
  static void cases(CaseList&);
  template <class T>
  static void make(const Case&, Instance<Gemv, T>&);
  template <class T>
  static void validate(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&);
  template <class T>
  static void oracle(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&, Reference&);
  template <class T>
  static Work cost(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&);
  static double bound(const Tolerance&, int output, double value, double magnitude, std::int64_t terms);
};

}  // namespace plumb
