// sddmm: products of dense rows, sampled at the places of a sparse pattern. Contract only; cases, oracle and
// bound are in sddmm.cpp.
#pragma once
#include "reference/core/abi.hpp"

namespace plumb {

/// s[e] = sum_k X[i][k] * Y[A.col[e]][k]  for e in [A.row_ptr[i], A.row_ptr[i+1]):  S = mask(A) .* (X Y^T).
///
/// Shapes    A (rows, cols), nnz = row_ptr[rows];  X (rows, k);  Y (cols, k);  s (nnz). Any of them may be 0.
/// Layout    zero-based int32 CSR, columns may be unsorted and may repeat (each repeat gets the same value);
///           X and Y row-major, ld >= k each. s is the value array of A's pattern, entry for entry.
/// Aliasing  s overlaps none of the inputs; X and Y may be one array. s is written and never read.
/// Values    only A's pattern counts: its values do not multiply and are not read. k == 0 yields 0; NaN
///           and Inf of the terms propagate as in IEEE 754. The sign of a zero is free.
/// Narrow    types: fp32 sums rounded once, to nearest even. Beyond the largest number: infinity, NaN in e4m3;
///           subnormals are kept, NaN stays NaN (docs/bounds.md#narrow-outputs).
/// Bound     |s[e] - ref| <= sum_bound_of_many_scales(M_e, k), M_e = sum_k |X[i][k] Y[col][k]|.
/// Cost      2 nnz k flop;  4 nnz + 4 (rows + 1) + v k (used rows of X + used rows of Y) + v nnz bytes (v =
///           bytes of T).
/// Errors    a malformed CSR is rejected by validate() before any variant runs; variants assume a valid A.
/// Source    Nisa, Sukumaran-Rajam, Kurt, Hong and Sadayappan, "Sampled dense matrix multiplication for
///           high-performance machine learning", HiPC 2018; N. J. Higham, Accuracy and Stability (2002),
///           section 3.1.
struct Sddmm {
  static constexpr const char* kName = "sddmm";
  static constexpr Dtype kDtypes[] = {Dtype::f32,  Dtype::f64,     Dtype::f16,
                                      Dtype::bf16, Dtype::f16_f32, Dtype::bf16_f32};
  static constexpr const char* kExtents[] = {"rows", "cols", "k"};  // parameters of a case

  template <class T>
  struct Problem {};  // nothing beside the operands
  template <class T, Space S>
  struct In {
    CsrView<const in_t<T>, S> A;    // (rows, cols), pattern only
    DenseView<const in_t<T>, S> X;  // (rows, k)
    DenseView<const in_t<T>, S> Y;  // (cols, k)
  };
  template <class T, Space S>
  struct Out {
    VecView<out_t<T>, S> s;  // (nnz)
  };

  template <class Views, class F>
  static void each_input(Views& in, F&& f) {
    f("A", in.A), f("X", in.X), f("Y", in.Y);
  }
  template <class Views, class F>
  static void each_output(Views& out, F&& f) {
    f("s", out.s);
  }
  template <class P, class F>
  static void each_scalar(P&, F&&) {}  // there are none

  static void describe(CaseSpace&);
  static void cases(CaseList&);
  template <class T>
  static void make(const Case&, Instance<Sddmm, T>&);
  template <class T>
  static void validate(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&);
  template <class T>
  static void oracle(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&, Reference&);
  template <class T>
  static Work cost(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&);
  static double bound(const Tolerance&, int output, double value, double magnitude, std::int64_t terms);
};

}  // namespace plumb
