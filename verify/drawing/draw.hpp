// Cases drawn from the description of an operator.
#pragma once
#include <cstdint>

#include "reference/cases/case_space.hpp"

namespace plumb {

/// The `number`-th case of `seed`: classes drawn by weight, sizes log-uniform within a class. Where the classes together
/// exceed `limit`, extents other than one (itself drawn) move to smaller classes, so that extreme sizes appear in thin cases.
/// The case's reason names the classes. Throws Error where 256 draws give no valid case.
[[nodiscard]] Case draw_case(const CaseSpace& space, std::uint64_t seed, std::uint64_t number,
                             const CaseLimit& limit);

}  // namespace plumb
