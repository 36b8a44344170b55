// transpose: B = A^T for dense row-major matrices. Contract only; cases and oracle are in transpose.cpp.
#pragma once
#include "reference/core/abi.hpp"

namespace plumb {

/// B[j, i] = A[i, j].
///
/// Shapes    A (rows, cols);  B (cols, rows). Either of them may be 0.
/// Layout    row-major, each matrix with its own leading dimension ld >= cols. What lies between cols and ld
///           is not touched.
/// Aliasing  B does not overlap A: this is not the transpose in place. B is written and never read.
/// Values    every value arrives as it is: infinities and subnormals included, -0 as -0, a NaN as a NaN (its
///           payload is not judged).
/// Narrow    types: bits are moved; no value is flushed, and e4m3's NaN stays one.
/// Bound     0: nothing is computed.
/// Cost      0 flop;  2 v rows cols bytes (v = bytes of T).
/// Errors    shapes that do not fit are rejected by validate() before any variant runs; variants assume
///           fitting shapes.
/// Source    the definition.
struct Transpose {
  static constexpr const char* kName = "transpose";
  static constexpr Dtype kDtypes[] = {Dtype::f32, Dtype::f64, Dtype::f16, Dtype::bf16, Dtype::e4m3};
  static constexpr const char* kExtents[] = {"rows", "cols"};  // parameters of a case

  template <class T>
  struct Problem {};
  template <class T, Space S>
  struct In {
    DenseView<const in_t<T>, S> A;  // (rows, cols)
  };
  template <class T, Space S>
  struct Out {
    DenseView<out_t<T>, S> B;  // (cols, rows)
  };

  template <class Views, class F>
  static void each_input(Views& in, F&& f) {
    f("A", in.A);
  }
  template <class Views, class F>
  static void each_output(Views& out, F&& f) {
    f("B", out.B);
  }
  template <class P, class F>
  static void each_scalar(P&, F&&) {}  // there are none

  static void describe(CaseSpace&);
  static void cases(CaseList&);
  template <class T>
  static void make(const Case&, Instance<Transpose, T>&);
  template <class T>
  static void validate(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&);
  template <class T>
  static void oracle(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&, Reference&);
  template <class T>
  static Work cost(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&);
  static double bound(const Tolerance&, int output, double value, double magnitude, std::int64_t terms);
};

}  // namespace plumb
