// Covering arrays: cases that together meet every pair, or every triple, of the classes of an operator's description.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "reference/core/case_space.hpp"

namespace plumb {

/// Classes of one, two or three parameters that one case meets together. Unused places are 0.
struct ClassTuple {
  std::size_t size = 0;
  std::array<std::size_t, 3> parameter{}, value_class{};
  friend bool operator==(const ClassTuple&, const ClassTuple&) = default;
};
/// "rows: 16-bit edge with fill: wide".
[[nodiscard]] std::string describe(const CaseSpace& space, const ClassTuple& tuple);

/// Parameters whose classes are to meet in every way: one, two or three of them, ascending.
using Combination = std::vector<std::size_t>;
[[nodiscard]] std::vector<Combination> single_parameters(const CaseSpace& space);
/// Those of them without, and those with a dear class.
[[nodiscard]] std::vector<Combination> single_cheap(const CaseSpace& space);
[[nodiscard]] std::vector<Combination> single_dear(const CaseSpace& space);
/// Of derived parameters each with every other, but not with another derived one: few sizes have both.
[[nodiscard]] std::vector<Combination> parameter_pairs(const CaseSpace& space);
/// Every parameter with every form.
[[nodiscard]] std::vector<Combination> form_pairs(const CaseSpace& space);
/// Of the parameters of contexts() each with every other, but no two special ones.
[[nodiscard]] std::vector<Combination> context_pairs(const CaseSpace& contexts);
/// The type, a size or the layout, and a special one.
[[nodiscard]] std::vector<Combination> context_triples(const CaseSpace& contexts);
/// Without derived ones.
[[nodiscard]] std::vector<Combination> parameter_triples(const CaseSpace& space);
/// The fill, a scalar, and an extent, a row length or a pattern: on which conditional faults tend to depend together.
[[nodiscard]] std::vector<Combination> fill_scalar_size_triples(const CaseSpace& space);

/// Which sizes cases take. With `least` those beyond any tile are near the lower end of their class; and where an operator has several
/// extents they are met once, and not together with other classes: sizes around a block have more than one tile, too.
enum class Sizes : std::uint8_t { any, least };
/// Whether that class is met once for its size.
[[nodiscard]] bool met_once(const CaseSpace&, Sizes, std::size_t parameter, std::size_t value_class);

/// What is to be met by cases within one limit.
struct CoverLayer {
  std::vector<Combination> combinations;
  CaseLimit limit;
  Sizes sizes = Sizes::any;
};

struct Cover {
  std::vector<Case> cases;             // each with a reason that names what it was made for
  std::vector<ClassTuple> impossible;  // of any layer: no valid case within its limit was found
  std::size_t tuples = 0;              // that are met
};
/// Cases that, together with `known`, meet all that the layers name. Greedy (Cohen et al., "The AETG system", IEEE TSE 1997): each
/// case is built around an open tuple, and takes, parameter by parameter, the class that meets the most open tuples.
/// Deterministic in `seed`.
[[nodiscard]] Cover cover(const CaseSpace& space, const std::vector<CoverLayer>& layers,
                          const std::vector<Case>& known, std::uint64_t seed);

/// Those tuples of `combinations` that none of `cases` meets; cases outside of the space (matrix=FILE) meet none.
[[nodiscard]] std::vector<ClassTuple> tuples_not_met(const CaseSpace& space,
                                                     const std::vector<Combination>& combinations,
                                                     const std::vector<Case>& cases);

}  // namespace plumb
