// gemm: C = alpha A B + beta C for dense row-major matrices. Contract only; cases, oracle and bound are in
// gemm.cpp.
#pragma once
#include "reference/core/abi.hpp"

namespace plumb {

/// C[i, j] = alpha * sum_k A[i, k] * B[k, j] + beta * C[i, j]  for k in [0, A.cols).
///
/// Shapes    A (m, k);  B (k, n);  C (m, n). Any of m, n, k may be 0; k == 0 gives beta * C.
/// Layout    row-major, each matrix with its own leading dimension ld >= cols. What lies between cols and ld
///           is not touched.
/// Aliasing  C overlaps neither A nor B, which may be one array. With beta == 0, C is written and never read.
/// Values    beta == 0: NaN in C does not survive. alpha == 0: neither A nor B is read, C = beta * C (0
///           where beta == 0), even where A or B hold NaN. Otherwise NaN and Inf propagate as in IEEE 754: 0 *
///           Inf is NaN, no term is skipped. alpha scales products or their sum, never an operand: 0.5 *
///           subnormal is 0, and Inf times that NaN. The sign of a zero is free.
/// Narrow    types: fp32 sums rounded once, to nearest even. Beyond the largest number: infinity, NaN in e4m3;
///           subnormals are kept, NaN stays NaN (docs/bounds.md#narrow-outputs).
/// Bound     |C[i, j] - ref| <= sum_bound(M, n), M = affine_magnitude(alpha, sum |A[i, k] B[k, j]|,
///           beta C[i, j]) = |alpha| sum + |beta C[i, j]| max(1, sqrt(k) / 4): a kernel may start at beta C.
///           n = k, plus 1 for alpha != 1 and 1 for beta != 0, which round too.
/// Cost      2 m n k flop;  v (m k + k n + m n) bytes, and v m n more where C is read (v = bytes of T).
/// Errors    shapes that do not fit are rejected by validate() before any variant runs; variants assume
///           fitting shapes.
/// Source    N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. (2002), section 3.5.
struct Gemm {
  static constexpr const char* kName = "gemm";
  static constexpr Dtype kDtypes[] = {Dtype::f32,      Dtype::f64,      Dtype::f16,       Dtype::bf16,
                                      Dtype::f16_f32,  Dtype::bf16_f32, Dtype::e4m3_f16,  Dtype::e4m3_bf16,
                                      Dtype::e4m3_f32, Dtype::e5m2_f16, Dtype::e5m2_bf16, Dtype::e5m2_f32};
  static constexpr const char* kExtents[] = {"m", "n", "k"};  // parameters of a case

  template <class T>
  struct Problem {
    scalar_t<T> alpha, beta;
  };
  template <class T, Space S>
  struct In {
    DenseView<const in_t<T>, S> A;  // (m, k)
    DenseView<const in_t<T>, S> B;  // (k, n)
  };
  template <class T, Space S>
  struct Out {
    DenseView<out_t<T>, S> C;  // (m, n)
  };

  template <class Views, class F>
  static void each_input(Views& in, F&& f) {
    f("A", in.A), f("B", in.B);
  }
  template <class Views, class F>
  static void each_output(Views& out, F&& f) {
    f("C", out.C);
  }
  template <class P, class F>
  static void each_scalar(P& p, F&& f) {
    f("alpha", p.alpha), f("beta", p.beta);
  }

  static void describe(CaseSpace&);
  static void cases(CaseList&);
  template <class T>
  static void make(const Case&, Instance<Gemm, T>&);
  template <class T>
  static void validate(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&);
  template <class T>
  static void oracle(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&, Reference&);
  template <class T>
  static Work cost(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&);
  static double bound(const Tolerance&, int output, double value, double magnitude, std::int64_t terms);
};

}  // namespace plumb
