// Cases drawn from the description of an operator: --drawn N.
#pragma once
#include <vector>

#include "verify/selection/selection.hpp"

namespace plumb {

/// The first `choice.drawn` cases of the choice's seed (1 where none is given) that --case and --fill let pass. Fewer where
/// 64 draws for each one do not find them.
[[nodiscard]] std::vector<Case> drawn_cases(const CaseSpace& space, const CaseFilter& filter,
                                            const CaseChoice& choice);

}  // namespace plumb
