// edge_softmax: a softmax over the edges of each vertex of a graph.
#pragma once
#include "reference/formula/formula_of.hpp"

namespace plumb {

/// y[e] = exp(a[e]) / sum over the entries f of e's row of exp(a[f]),  a the values of A
///
/// Shapes    A (n, m), sparse;  y has a number for each entry of A. Any of them may be 0; rows may be empty.
/// Layout    CSR: zero-based, int32.
/// Aliasing  y does not overlap A. y is written and never read.
/// Values    finite, and so large that exponentials overflow unless a row's maximum is subtracted.
/// Bound     by the formula (docs/formulas.md), as that of softmax.
/// Errors    validate() rejects what is no CSR matrix, and a y of another size.
/// Source    Velickovic et al., "Graph attention networks" (2018).
struct EdgeSoftmax : FormulaOf<EdgeSoftmax> {
  static constexpr const char* kName = "edge_softmax";
  static constexpr const char* kSignature = "A: csr n m -> y: A";
  PLUMB_INPUTS(Sparse A;)
  PLUMB_OUTPUTS(Vector y;)
  template <class X>
  static X formula(const X& a) {
    const X e = exp(a - of_row(a, shift(a, "A")));
    return e / of_row(a, sum(e, "A"));
  }
};

}  // namespace plumb
