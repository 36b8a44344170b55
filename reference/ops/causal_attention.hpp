// causal_attention: attention in which a query sees the keys up to its own place.
#pragma once
#include "reference/formula/formula_of.hpp"

namespace plumb {

/// o[g][r][i] = sum over j <= i + max(m - n, 0) of p[j] v[g][j],  p = softmax over those j of scale (q[g][r][i] . k[g][j])
///
/// Shapes    q (g r n, d): group, query head of a group, query;  k, v (g m, d);  o (g r n, d). d and m are 1 or more. Where there are
///           more keys than queries, the queries are the last ones.
/// Layout    row-major, ld >= d each.
/// Aliasing  o does not overlap the inputs. o is written and never read.
/// Values    finite.
/// Bound     by the formula (docs/formulas.md), as that of attention.
/// Errors    validate() rejects shapes that differ from the extents in Problem.
/// Source    Vaswani et al. (2017); Dao, "FlashAttention-2" (2023).
struct CausalAttention : FormulaOf<CausalAttention> {
  static constexpr const char* kName = "causal_attention";
  static constexpr const char* kSignature = "q: g r n d, k: g m d, v: g m d, scale -> o: g r n d";
  static constexpr const char* kMeans[] = {"0"};
  PLUMB_PROBLEM(Scalar scale; Size g, r, n, d, m;)
  PLUMB_INPUTS(Matrix q, k, v;)
  PLUMB_OUTPUTS(Matrix o;)
  template <class A>
  static A formula(const A& q, const A& k, const A& v, const A& scale) {
    const A seen = A::index("m") <= A::index("n") + max(A::size("m") - A::size("n"), A(0));
    return softmax_mean(where(seen, dot(q, k, "d") * scale, A(-__builtin_inf())), v, "m");
  }
};

}  // namespace plumb
