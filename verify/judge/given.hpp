// Outputs that somebody has computed by himself, judged against an operator: nothing is run, elements are compared.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "verify/engine/operator/entry.hpp"
#include "verify/judge/compare.hpp"

namespace plumb {

/// What is said of one output.
struct GivenOutput {
  std::string name;
  Comparison comparison;
  std::int64_t unbounded = 0;  // elements of which the contract says nothing: whatever they hold is right
  std::vector<std::string> misses;  // the first ones as reports tell them
};

/// `outputs`: of each output of the call, in its order, the packed elements that were computed. They may come from tensor cores. Throws Error
/// where shapes or values are not as the contract has them, and where the contract has no bound for the arithmetic.
[[nodiscard]] std::vector<GivenOutput> judge_given(const OperatorEntry&, const GivenCall&,
                                                   const std::vector<const void*>& outputs, Arithmetic);

}  // namespace plumb
