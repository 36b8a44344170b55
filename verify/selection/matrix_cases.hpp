// Cases on a user's own matrix: --matrix F.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "reference/cases/case_id.hpp"
#include "verify/drawing/draw_timed.hpp"

namespace plumb {

/// The sparse ones among `listed`, each with its matrix replaced by each of `files`; beside every fill of theirs, fill=own with the
/// file's values. Fill index is left out: it needs a pattern of its own making. fill=own is left out, with a note, where the
/// file holds NaN or infinities, or numbers whose sums leave the type's range. Empty for operators without a sparse operand. Of each file some
/// twenty cases are of tier smoke: every fill in each type, and every other value that some case has, as far as they cost little together. The
/// others are of tier full.
/// Errors: a file that cannot be read.
/// `wanted`: whether a case is asked for at all; others are not in the choice.
[[nodiscard]] std::vector<Case> cases_on_matrices(const CaseSpace& space, const std::vector<Case>& listed,
                                                  const std::vector<std::string>& files,
                                                  const std::function<bool(const Case&)>& wanted,
                                                  std::vector<std::string>& notes);

/// For timing: each of `files` once in every type that `drawn`, cases of one operator, have, with the width or depth of a drawn case.
/// Left out, with a note: a file on which this operator's arrays or work exceed four times the limits of `size`.
[[nodiscard]] std::vector<Case> timed_cases_on_matrices(const CaseSpace& space,
                                                        const std::vector<Case>& drawn,
                                                        const std::vector<std::string>& files,
                                                        const TimedSize& size,
                                                        std::vector<std::string>& notes);

}  // namespace plumb
