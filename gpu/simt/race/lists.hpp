// Groups of readers or atomics of a granule, those before its latest: lists of marks, oldest first.
//
// Why shared: granules side by side are read by the same threads at the same places, so that their lists are equal. A list is a chain
// from its last mark to its first, kept once for all granules that have it.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "gpu/simt/race/race.hpp"

namespace plumb::simt {

/// A bit for the mark's warp, which others may have, too.
inline std::uint64_t warp_bit(std::uint32_t block, std::uint32_t warp) {
  return std::uint64_t{1} << ((block * 37 + warp) & 63u);
}
inline std::uint64_t warp_bit(const Mark& m) { return warp_bit(m.block, m.warp); }

class MarkLists {
 public:
  using List = std::uint32_t;  // 0: the empty one

  [[nodiscard]] std::uint32_t size(List list) const { return links_[list].size; }
  /// A bit for each warp that may be among them (warp_bit).
  [[nodiscard]] std::uint64_t warps(List list) const { return links_[list].warps; }
  [[nodiscard]] const Mark& first(List list) const { return links_[links_[list].first].mark; }
  /// The latest generation among them; what is under way in the asynchronous proxy has one above all.
  [[nodiscard]] std::uint32_t newest(List list) const { return links_[list].newest; }
  /// The marks, until the next call.
  std::vector<Mark>& marks(List list);

  /// The list with one mark more. The caller's hold on `list` becomes one on the result.
  List add(List list, const Mark& mark) {
    List& recent = recent_[(list * 31 + mark.warp * 7 + mark.lanes % 61) % recent_.size()];
    Link& known = links_[recent];
    if (known.holds == 0 || known.before != list || !(known.mark == mark)) return recent = link(list, mark);
    ++known.holds;
    if (list != 0) --links_[list].holds;  // `known` has one, too
    return recent;
  }
  /// Gives up a hold on `list` for one on a list of those marks.
  List replace(List list, const std::vector<Mark>& marks);
  /// One more granule holds it.
  void share(List list) {
    if (list != 0) ++links_[list].holds;
  }
  void release(List& list);
  void forget() { *this = MarkLists{}; }

 private:
  struct Link {
    Mark mark;
    List before = 0, first = 0;
    std::uint32_t holds = 0;  // of granules, and of links behind it; 0: free
    std::uint32_t size = 0;
    std::uint32_t newest = 0;
    std::uint64_t warps = 0;
  };
  List link(List before, const Mark& mark);

  std::vector<Link> links_{1};
  std::vector<List> free_;
  std::array<List, 256> recent_{};  // lists that add() returned
  std::vector<Mark> marks_;
};

}  // namespace plumb::simt
