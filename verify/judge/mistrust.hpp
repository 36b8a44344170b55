// The check of a case itself, before any variant: can its reference tell right from wrong?
#pragma once
#include <string>

#include "verify/engine/operator/entry.hpp"

namespace plumb {

/// "" where it can, else the reason why it cannot: a constant reference, one that zeros would pass, sums that are not exact where
/// bits are compared. Throws ResourceError where the memory runs out.
[[nodiscard]] std::string why_mistrusted(const Case&, PreparedCase&);

}  // namespace plumb
