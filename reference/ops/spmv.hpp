// spmv: y = alpha A x + beta y for a sparse matrix A in CSR. Contract only; cases, oracle and bound are in spmv.cpp.
#pragma once
#include "reference/core/abi.hpp"

namespace plumb {

/// y[i] = alpha * sum_k A.val[k] * x[A.col[k]] + beta * y[i]  for k in [A.row_ptr[i], A.row_ptr[i+1]).
///
/// Shapes    A (rows, cols), nnz = row_ptr[rows];  x (cols);  y (rows). Any of them may be 0.
/// Layout    zero-based int32 CSR. Columns may be unsorted and may repeat; repeats add up.
/// Aliasing  y overlaps neither A nor x. With beta == 0, y is written and never read.
/// Values    an empty row yields beta * y[i], and 0 where beta == 0, even where x holds NaN. beta == 0: NaN in y does
///           not survive. alpha == 0: neither A's values nor x count, y = beta * y (0 where beta == 0), even where they
///           hold NaN. Otherwise NaN and Inf of the terms propagate as in IEEE 754, and alpha scales the sum of a row.
///           The sign of a zero is free.
/// Narrow    types: fp32 sums rounded once, to nearest even. Beyond the largest number: infinity, NaN in e4m3;
///           subnormals are kept, NaN stays NaN (docs/bounds.md#narrow-outputs).
/// Bound     |y[i] - ref[i]| <= sum_bound(M_i, n_i), M_i = affine_magnitude(alpha, sum |val x|, beta y[i])
///           = |alpha| sum + |beta y[i]| max(1, sqrt(n_i) / 4): a kernel may start at beta y. n_i = entries of row i (+ 1).
/// Cost      2 nnz flop;  nnz (v + 4) + 4 (rows + 1) + v (distinct columns + rows) bytes, x read once (v = bytes of T);
///           v rows more where y is read. A row without entries moves nothing where beta == 1.
/// Errors    a malformed CSR is rejected by validate() before any variant runs; variants assume a valid A.
/// Source    N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. (2002), section 3.1.
struct Spmv {
  static constexpr const char* kName = "spmv";
  static constexpr Dtype kDtypes[] = {Dtype::f32,  Dtype::f64,     Dtype::f16,
                                      Dtype::bf16, Dtype::f16_f32, Dtype::bf16_f32};
  static constexpr const char* kExtents[] = {"rows", "cols"};  // parameters of a case

  template <class T>
  struct Problem {
    scalar_t<T> alpha, beta;
  };
  template <class T, Space S>
  struct In {
    CsrView<const in_t<T>, S> A;  // (rows, cols)
    VecView<const in_t<T>, S> x;  // (cols)
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
  static void make(const Case&, Instance<Spmv, T>&);
  template <class T>
  static void validate(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&);
  template <class T>
  static void oracle(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&, Reference&);
  template <class T>
  static Work cost(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&);
  static double bound(const Tolerance&, int output, double value, double magnitude, std::int64_t terms);
};

}  // namespace plumb
