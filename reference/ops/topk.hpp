// topk: the k largest elements of each row, and where they stand. Contract only; cases and oracle are in topk.cpp.
#pragma once
#include "reference/core/abi.hpp"

namespace plumb {

/// values[i][p] = x[i][indices[i][p]], the p-th largest element of row i, for p from 0 to k - 1.
///
/// Shapes    x (rows, cols);  values (rows, k), indices (rows, k). rows may be 0; k is from 1 to cols.
/// Layout    row-major, each matrix with its own ld >= its columns; the padding is no part of it. indices are
///           zero-based int32.
/// Aliasing  the outputs overlap neither x nor each other. They are written before they are read.
/// Values    copied, not computed, in descending order. NaN is larger than every number, +Inf included, as in
///           torch.topk; subnormals are told apart; +0 and -0 are equal.
/// Ties      of equal elements any may be taken, and in any order, each column once in a row. NaN of any bits
///           are equal. Two runs may choose otherwise: outputs are not compared between runs, each is judged by
///           itself.
/// Narrow    types: bits are moved; no value is flushed.
/// Bound     0: an index is right where its column may stand at that place, and has not stood before in its
///           row. A value is that of the column that its index names, bit for bit (NaN with NaN): a zero has
///           the sign of the one at that column.
/// Cost      rows cols flop (comparisons);  v rows (cols + k) + 4 rows k bytes (v = bytes of T).
/// Errors    validate() rejects k below 1 or above cols, outputs of another shape, and columns beyond int32.
/// Source    torch.topk(largest=True, sorted=True); routing of tokens to experts.
struct TopK {
  static constexpr const char* kName = "topk";
  static constexpr Dtype kDtypes[] = {Dtype::f32, Dtype::f64, Dtype::f16, Dtype::bf16};
  static constexpr const char* kExtents[] = {"rows", "cols", "k"};  // parameters of a case

  template <class T>
  struct Problem {};  // k is the number of columns of the outputs
  template <class T, Space S>
  struct In {
    DenseView<const in_t<T>, S> x;  // (rows, cols)
  };
  template <class T, Space S>
  struct Out {
    DenseView<out_t<T>, S> values;       // (rows, k)
    DenseView<std::int32_t, S> indices;  // (rows, k)
  };

  template <class Views, class F>
  static void each_input(Views& in, F&& f) {
    f("x", in.x);
  }
  template <class Views, class F>
  static void each_output(Views& out, F&& f) {
    f("values", out.values), f("indices", out.indices);
  }
  template <class P, class F>
  static void each_scalar(P&, F&&) {}  // there are none

  static void describe(CaseSpace&);
  static void cases(CaseList&);
  template <class T>
  static void make(const Case&, Instance<TopK, T>&);
  template <class T>
  static void validate(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&);
  template <class T>
  static void oracle(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&, Reference&);
  template <class T>
  static Work cost(const Problem<T>&, const In<T, Space::host>&, const Out<T, Space::host>&);
  static double bound(const Tolerance&, int output, double value, double magnitude, std::int64_t terms);
};

}  // namespace plumb
