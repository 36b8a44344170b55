// masked_attention: attention with a mask of queries and keys, and a number of keys for each group.
#pragma once
#include "reference/formula/formula_of.hpp"

namespace plumb {

/// o[g][i] = sum over j of p[j] v[g][j],  p = softmax over the j below keys[g] with mask[i][j] = 1 of scale (q[g][i] . k[g][j])
///
/// Shapes    q (g n, d);  k, v (g m, d);  mask (n, m) of 0 and 1;  keys (g) from 1 to m;  o (g n, d). d and m are 1 or more.
/// Layout    row-major, ld >= the width each.
/// Aliasing  o does not overlap the inputs. o is written and never read.
/// Values    finite. A query that sees no key gives NaN.
/// Bound     by the formula (docs/formulas.md), as that of attention.
/// Errors    validate() rejects shapes that differ from the extents in Problem, masks of other numbers, and lengths that are none.
/// Source    Vaswani et al. (2017).
struct MaskedAttention : FormulaOf<MaskedAttention> {
  static constexpr const char* kName = "masked_attention";
  static constexpr const char* kSignature =
      "q: g n d, k: g m d, v: g m d, mask: n m flag, keys: g to m, scale -> o: g n d";
  static constexpr const char* kMeans[] = {"0"};
  PLUMB_PROBLEM(Scalar scale; Size g, n, d, m;)
  PLUMB_INPUTS(Matrix q, k, v, mask; Indices keys;)
  PLUMB_OUTPUTS(Matrix o;)
  template <class A>
  static A formula(const A& q, const A& k, const A& v, const A& mask, const A& keys, const A& scale) {
    const A seen = mask * (A::index("m") < keys);
    return softmax_mean(where(seen, dot(q, k, "d") * scale, A(-__builtin_inf())), v, "m");
  }
};

}  // namespace plumb
