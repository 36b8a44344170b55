// Cases drawn from the description of an operator, and tiers that cover every pair of its classes.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reference/core/case_space.hpp"

namespace plumb {

/// The `number`-th case of `seed`: classes drawn by weight, sizes log-uniform within a class. Where the classes together
/// exceed `limit`, extents other than one (itself drawn) move to smaller classes, so that extreme sizes appear in thin cases.
/// The case's reason names the classes. Throws Error where 256 draws give no valid case.
[[nodiscard]] Case draw_case(const CaseSpace& space, std::uint64_t seed, std::uint64_t number,
                             const CaseLimit& limit);

/// Two classes of two parameters that one case meets together.
struct ClassPair {
  std::size_t first_parameter = 0, first_class = 0, second_parameter = 0, second_class = 0;
  friend bool operator==(const ClassPair&, const ClassPair&) = default;
};
/// "rows: 16-bit edge with fill: wide".
[[nodiscard]] std::string describe(const CaseSpace& space, const ClassPair& pair);

/// A covering array of strength 2: cases that together meet every pair of classes which some case within `limit` can meet.
struct Cover {
  std::vector<Case> cases;            // each with a reason that names what it was made for
  std::vector<ClassPair> impossible;  // pairs that no valid case within the limit has
  std::size_t pairs = 0;              // pairs that are met
};
/// Greedy (Cohen et al., "The AETG system", IEEE TSE 1997): each case is built around an open pair and takes, parameter by
/// parameter, the class that meets the most open pairs. Deterministic in `seed`.
[[nodiscard]] Cover cover_pairs(const CaseSpace& space, std::uint64_t seed, const CaseLimit& limit);

/// Pairs of classes that `cases` meet; cases outside the space (matrix=FILE) meet none.
[[nodiscard]] std::vector<ClassPair> pairs_met(const CaseSpace& space, const std::vector<Case>& cases);

}  // namespace plumb
