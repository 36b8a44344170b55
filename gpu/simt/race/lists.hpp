// Groups of readers or atomics of a granule, those before its latest.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "gpu/simt/race/race.hpp"

namespace plumb::simt {

/// A bit for the mark's warp, which others may have, too.
inline std::uint64_t warp_bit(std::uint32_t block, std::uint32_t warp) {
  return std::uint64_t{1} << ((block * 37 + warp) & 63u);
}
inline std::uint64_t warp_bit(const Mark& m) { return warp_bit(m.block, m.warp); }

struct MarkList {
  std::vector<Mark> marks;  // oldest first
  std::uint64_t warps = 0;  // a bit for each warp that may be among them
  std::uint32_t newest =
      0;  // no generation among them is above it; what is under way in the asynchronous proxy has the highest of all
  void add(const Mark& mark) {
    warps |= warp_bit(mark);
    newest = std::max(newest, static_cast<std::uint32_t>(mark.epoch >> 32));
    marks.push_back(mark);
  }
  /// After marks have been changed or taken away.
  void look_again() {
    warps = newest = 0;
    for (const Mark& m : marks) {
      warps |= warp_bit(m);
      newest = std::max(newest, static_cast<std::uint32_t>(m.epoch >> 32));
    }
  }
};

/// The lists of a run's cells, by number. 0 is the empty one, which nobody changes.
class MarkLists {
 public:
  [[nodiscard]] const MarkList& at(std::uint32_t number) const { return lists_[number]; }
  /// The list of that number, or a new one, whose number it becomes.
  MarkList& make(std::uint32_t& number) {
    if (number == 0) number = take();
    return lists_[number];
  }
  /// The number of a list with the same marks; 0 for the empty one.
  std::uint32_t copy(std::uint32_t number);
  /// Gives it up.
  void release(std::uint32_t& number);
  void forget();

 private:
  std::uint32_t take();

  std::vector<MarkList> lists_{1};
  std::vector<std::uint32_t> free_;
};

}  // namespace plumb::simt
