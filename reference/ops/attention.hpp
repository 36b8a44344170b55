// attention: every query's mean of the values, weighted by a softmax of its products with the keys; queries in groups that share keys.
#pragma once
#include "reference/formula/formula_of.hpp"

namespace plumb {

/// o[g][r][i] = sum over j of p[j] v[g][j],  p = softmax over j of scale (q[g][r][i] . k[g][j])
///
/// Shapes    q (g r n, d): group, query head of a group, query;  k, v (g m, d);  o (g r n, d). d and m are 1 or more.
/// Layout    row-major, ld >= d each.
/// Aliasing  o does not overlap the inputs. o is written and never read.
/// Values    finite.
/// Bound     by the formula (docs/formulas.md): any order of the sums, keys in blocks with an online softmax, keys split over blocks.
/// Errors    validate() rejects shapes that differ from the extents in Problem.
/// Source    Vaswani et al. (2017); Ainslie et al., "GQA" (2023); Dao, "FlashAttention-2" (2023).
struct Attention : FormulaOf<Attention> {
  static constexpr const char* kName = "attention";
  static constexpr const char* kSignature = "q: g r n d, k: g m d, v: g m d, scale -> o: g r n d";
  static constexpr const char* kMeans[] = {"0"};
  PLUMB_PROBLEM(Scalar scale; Size g, r, n, d, m;)
  PLUMB_INPUTS(Matrix q, k, v;)
  PLUMB_OUTPUTS(Matrix o;)
  template <class A>
  static A formula(const A& q, const A& k, const A& v, const A& scale) {
    return softmax_mean(dot(q, k, "d") * scale, v, "m");
  }
};

}  // namespace plumb
