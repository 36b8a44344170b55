#include "gpu/simt/race/lists.hpp"

#include <algorithm>
#include <utility>

namespace plumb::simt {

std::vector<Mark>& MarkLists::marks(List list) {
  marks_.resize(links_[list].size);
  for (std::size_t i = marks_.size(); i-- > 0; list = links_[list].before) marks_[i] = links_[list].mark;
  return marks_;
}

MarkLists::List MarkLists::link(List before, const Mark& mark) {
  List at = 0;
  if (free_.empty()) {
    at = static_cast<List>(links_.size());
    links_.emplace_back();
  } else {
    at = free_.back();
    free_.pop_back();
  }
  const Link& b = links_[before];
  const auto generation = static_cast<std::uint32_t>(mark.epoch >> 32);
  links_[at] = {mark,
                before,
                before != 0 ? b.first : at,
                1,
                b.size + 1,
                std::max(b.newest, generation),
                b.warps | warp_bit(mark)};
  return at;
}

MarkLists::List MarkLists::replace(List list, const std::vector<Mark>& marks) {
  // mostly marks were added
  std::size_t kept = links_[list].size;
  bool longer = kept <= marks.size();
  for (List at = list; longer && at != 0; at = links_[at].before)
    longer = links_[at].mark == marks[links_[at].size - 1];
  if (!longer) {
    release(list);
    kept = 0;
  }
  for (std::size_t i = kept; i < marks.size(); ++i) list = add(list, marks[i]);
  return list;
}

void MarkLists::release(List& list) {
  for (List at = std::exchange(list, 0); at != 0 && --links_[at].holds == 0; at = links_[at].before)
    free_.push_back(at);
}

}  // namespace plumb::simt
