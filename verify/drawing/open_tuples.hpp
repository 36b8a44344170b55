// Which tuples of a covering array are still to be met.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "reference/cases/case_space.hpp"
#include "verify/drawing/cover.hpp"

namespace plumb {

/// Whether what makes a case compute nothing is among these parameters.
template <class Parameters>
[[nodiscard]] bool is_about(const std::vector<std::size_t>& nothings, const Parameters& parameters) {
  return !nothings.empty() && std::all_of(nothings.begin(), nothings.end(), [&](std::size_t i) {
    return std::find(parameters.begin(), parameters.end(), i) != parameters.end();
  });
}

/// A flag for every tuple of some combinations. `classes` below are one of each parameter, in their order.
class OpenTuples {
 public:
  using Classes = std::vector<std::size_t>;

  OpenTuples(const CaseSpace& space, std::vector<Combination> combinations, Sizes sizes = Sizes::any);
  [[nodiscard]] bool open(std::size_t index) const { return open_[index] != 0; }
  /// Closes what `p` meets; returns how many were open.
  std::size_t close_all(const Point& p);
  /// How many open tuples a point of these classes meets; `idle`: it computes nothing.
  [[nodiscard]] std::size_t open_of(const Classes& classes, bool idle) const;
  /// f(index) for every open tuple that `p` meets.
  template <class F>
  void for_each_met(const Point& p, F&& f) const {
    const Idleness idle = idleness(p.classes, space_.idle(p));
    if (idle.idle && space_.idle_at_any_extent(p)) return;
    for (std::size_t c = 0; c < combinations_.size(); ++c) {
      const std::optional<std::size_t> index = met(c, p.classes, idle);
      if (index && open(*index)) f(*index);
    }
  }
  /// How many tuples there are, open or not: indices lie below.
  [[nodiscard]] std::size_t size() const { return open_.size(); }
  /// How many open tuples with a class of that parameter are met, for each class that the parameter may have beside the others'.
  void open_with_each(std::size_t parameter, const Classes& classes, bool idle,
                      std::vector<std::size_t>& met) const;
  /// f(tuple, index) for every open tuple.
  template <class F>
  void for_each_open(F&& f) const {
    for (std::size_t c = 0; c < combinations_.size(); ++c) {
      const std::size_t end = c + 1 < first_.size() ? first_[c + 1] : open_.size();
      for (std::size_t i = first_[c]; i < end; ++i) {
        if (open_[i] != 0) f(tuple(combinations_[c], i - first_[c]), i);
      }
    }
  }

 private:
  // Of a point: whether it computes nothing, and the parameters that see to that.
  struct Idleness {
    bool idle = false;
    std::vector<std::size_t> nothings;
  };
  // One parameter of a combination: how far apart tuples lie in open_ whose classes of it are neighbours.
  struct Member {
    std::size_t parameter = 0, stride = 0;
  };
  // A combination, as one of its parameters sees it, or the extent of which its parameter is the shape.
  struct Seen {
    std::size_t combination, parameter, stride;
    std::array<Member, kMostTogether - 1> others{};
    std::size_t other_count = 0;
  };
  void see(std::size_t combination);
  void close_what_is_met_once(Sizes sizes);
  [[nodiscard]] Idleness idleness(const Classes& classes, bool idle) const;
  [[nodiscard]] std::optional<std::size_t> met(std::size_t combination, const Classes& classes,
                                               const Idleness& how) const;
  [[nodiscard]] std::size_t open_in(std::size_t combination, const Classes& classes,
                                    const Idleness& how) const;
  [[nodiscard]] std::optional<std::size_t> first_beside(const Seen& seen, const Classes& classes) const;
  [[nodiscard]] ClassTuple tuple(const Combination& c, std::size_t index) const;

  const CaseSpace& space_;
  std::vector<Combination> combinations_;
  std::vector<std::size_t> class_count_;  // of each parameter
  std::vector<std::size_t> first_;        // of each combination, in open_
  std::vector<std::vector<Seen>> with_;   // combinations of each parameter
  std::vector<std::uint8_t> open_;
};

}  // namespace plumb
