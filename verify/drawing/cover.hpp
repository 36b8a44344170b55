// Covering arrays: cases that together meet every pair, or every triple, of the classes of an operator's description.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "reference/cases/case_space.hpp"

namespace plumb {

/// The most parameters whose classes are to meet.
inline constexpr std::size_t kMostTogether = 4;

/// Classes of one to four parameters that one case meets together. Unused places are 0.
struct ClassTuple {
  using Places = std::array<std::size_t, kMostTogether>;
  std::size_t size = 0;
  Places parameter{}, value_class{};
  friend bool operator==(const ClassTuple&, const ClassTuple&) = default;
};
/// "rows: 16-bit edge with fill: wide".
[[nodiscard]] std::string describe(const CaseSpace& space, const ClassTuple& tuple);

/// Parameters whose classes are to meet in every way: one to four of them, ascending.
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
/// Of contexts(): each size with the shape of each other one.
[[nodiscard]] std::vector<Combination> size_shape_pairs(const CaseSpace& contexts);
/// The shapes of two sizes.
[[nodiscard]] std::vector<Combination> shape_pairs(const CaseSpace& contexts);
/// Each combination with each special parameter, the operator's own (special=WORD) too.
[[nodiscard]] std::vector<Combination> beside_each_special(const CaseSpace& contexts,
                                                           const std::vector<Combination>& combinations);
/// Each combination with the type.
[[nodiscard]] std::vector<Combination> beside_each_type(const CaseSpace& space,
                                                        const std::vector<Combination>& combinations);
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

/// Numbers the tuples of a layer from `first` on, and adds to each of `met`, one of each case, those that it meets. Returns the number
/// after the last.
[[nodiscard]] std::size_t number_tuples(const CaseSpace& space, const CoverLayer& layer,
                                        const std::vector<Case>& cases, std::size_t first,
                                        std::vector<std::vector<std::size_t>>& met);

/// Those tuples of `combinations` that none of `cases` meets; cases outside of the space (matrix=FILE) meet none.
[[nodiscard]] std::vector<ClassTuple> tuples_not_met(const CaseSpace& space,
                                                     const std::vector<Combination>& combinations,
                                                     const std::vector<Case>& cases);

}  // namespace plumb
