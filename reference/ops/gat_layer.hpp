// gat_layer: a graph attention layer with one head: a vertex's mean of its neighbours' features, weighted by a softmax over its edges.
#pragma once
#include "reference/formula/formula_of.hpp"

namespace plumb {

/// y[i] = sum over the entries (i, j) of A of p[i][j] h[j],  p[i] = softmax over them of leaky_relu(s[i] + t[j]), of slope 0.2
///
/// Shapes    A (n, m), sparse, whose values are not read;  s (n);  t (m);  h (m, d);  y (n, d). Any of them may be 0.
/// Layout    CSR: zero-based, int32. h and y row-major, ld >= d each.
/// Aliasing  y does not overlap the inputs. y is written and never read.
/// Values    finite. A row without entries gives 0.
/// Bound     by the formula (docs/formulas.md).
/// Errors    validate() rejects what is no CSR matrix, and shapes that differ.
/// Source    Velickovic et al., "Graph attention networks" (2018).
struct GatLayer : FormulaOf<GatLayer> {
  static constexpr const char* kName = "gat_layer";
  static constexpr const char* kSignature = "A: csr n m, s: n, t: m, h: m d -> y: n d";
  PLUMB_INPUTS(Sparse A; Vector s, t; Matrix h;)
  PLUMB_OUTPUTS(Matrix y;)
  template <class X>
  static X formula(const X& a, const X& s, const X& t, const X& h) {
    const X x = leaky_relu(of_row(a, s) + of_column(a, t), X(0.2)), e = exp(x - of_row(a, shift(x, "A")));
    const X weight = sum(e, "A");
    return sum(e * of_column(a, h), "A") / where(weight > X(0), weight, X(1));
  }
};

}  // namespace plumb
