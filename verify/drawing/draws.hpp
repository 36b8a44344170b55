// What drawing a case and building a cover share: one stream of random numbers, and points within a limit.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "reference/cases/case_space.hpp"
#include "reference/core/random.hpp"

namespace plumb {

/// Random numbers in the order they are asked for: one stream per case.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t stream) : seed_(random_bits(seed, 30, stream)) {}
  std::size_t below(std::size_t n) { return random_below(seed_, 33, next_++, n); }
  double unit() { return random_unit(seed_, 34, next_++); }
  /// Derived parameters do not follow: update_derived() looks at all of a point, and most points are thrown away.
  void value(const CaseSpace& space, Point& p, std::size_t parameter, std::size_t value_class) {
    space.draw_value(p, parameter, value_class, seed_, next_++);
  }
  /// Draws every parameter but the derived ones from the class that class_of(parameter) gives.
  template <class F>
  void values(const CaseSpace& space, Point& p, F&& class_of) {
    for (const std::size_t i : space.drawn_parameters()) {
      const std::size_t value_class = class_of(i);
      value(space, p, i, value_class);
    }
  }

 private:
  std::uint64_t seed_, next_ = 0;
};

[[nodiscard]] Point empty_point(const CaseSpace& space);

/// Moves extents, the largest first, to smaller classes until the point is valid. Parameters in `kept` stay; derived ones do not
/// follow. False where no smaller class is left.
[[nodiscard]] bool shrink_to_limit(const CaseSpace& space, Point& p, const std::vector<bool>& kept,
                                   const CaseLimit& limit, Draws& draws);

}  // namespace plumb
