// Groups of readers or atomics of a granule, those before its latest.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "gpu/simt/race/chains.hpp"
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

/// What a run's cells have of groups before the latest, by number: lists, and chains. 0 is the empty list, which nobody changes.
class MarkLists {
 public:
  static bool is_chain(std::uint32_t number) { return (number & kChain) != 0; }
  /// Of a list.
  [[nodiscard]] const MarkList& at(std::uint32_t number) const { return lists_[number]; }
  /// Calls f with each mark as long as it returns true.
  template <class F>
  void for_each(std::uint32_t number, F&& f) const {
    if (is_chain(number)) return chains_.for_each(number & ~kChain, f);
    for (const Mark& m : lists_[number].marks)
      if (!f(m)) return;
  }
  /// The list of that number, or a new one, with the marks of a chain, whose number it becomes.
  MarkList& make(std::uint32_t& number) {
    if (number == 0 || is_chain(number)) number = take(number);
    return lists_[number];
  }
  /// Adds a plain reader of global memory to the chain of that number, which becomes another, or 0. False: it is as long as one may be.
  /// `of_warps`: as in ReaderChains::behind().
  bool chain(std::uint32_t& number, const Mark& reader, bool of_warps);
  [[nodiscard]] bool is_full(std::uint32_t chain) const { return chains_.is_full(chain & ~kChain); }
  /// Whether a plain reader is of a group in the chain; it is added to that.
  bool join(std::uint32_t chain, const Mark& reader) { return chains_.join(chain & ~kChain, reader); }
  /// Whether all of a chain's readers are of blocks below that number.
  [[nodiscard]] bool is_below(std::uint32_t chain, std::uint32_t block) const {
    return chains_.newest_block(chain & ~kChain) < block;
  }
  /// The number of a list with the same marks, or the chain; 0 for the empty one.
  std::uint32_t copy(std::uint32_t number);
  /// Gives it up.
  void release(std::uint32_t& number);
  void forget();
  /// All chains, where they are many.
  void forget_chains();

 private:
  static constexpr std::uint32_t kChain = 1u << 31;
  std::uint32_t take(std::uint32_t chain = 0);

  std::vector<MarkList> lists_{1};
  std::vector<std::uint32_t> free_;
  ReaderChains chains_;
};

}  // namespace plumb::simt
