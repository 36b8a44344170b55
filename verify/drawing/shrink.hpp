// Reduces a failing case to a small one that still fails.
#pragma once
#include <functional>

#include "reference/cases/case_space.hpp"

namespace plumb {

struct Shrunk {
  Case smallest;  // the failing case itself where nothing smaller fails
  int runs = 0;   // how often `fails` was asked
};

/// Delta debugging (Zeller and Hildebrandt, IEEE TSE 2002) over the parameters of `failing`: words and scalars to their simplest value,
/// the fill to a simpler one, extents by bisection, the seed to 1; again until a whole pass changes nothing.
/// `fails` says whether a case fails in the same way; it is asked at most `most_runs` times. A case outside the space
/// (matrix=FILE) is returned as it is.
[[nodiscard]] Shrunk shrink_case(const CaseSpace& space, const Case& failing,
                                 const std::function<bool(const Case&)>& fails, int most_runs = 200);

}  // namespace plumb
