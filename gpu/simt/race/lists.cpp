#include "gpu/simt/race/lists.hpp"

namespace plumb::simt {

std::uint32_t MarkLists::take() {
  if (free_.empty()) {
    lists_.emplace_back();
    return static_cast<std::uint32_t>(lists_.size() - 1);
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  return number;
}

std::uint32_t MarkLists::copy(std::uint32_t number) {
  if (number == 0) return 0;
  const std::uint32_t to = take();
  lists_[to] = lists_[number];
  return to;
}

void MarkLists::release(std::uint32_t& number) {
  if (number == 0) return;
  MarkList& list = lists_[number];
  list.marks.clear();  // its room is the next one's
  list.warps = list.newest = 0;
  free_.push_back(number);
  number = 0;
}

void MarkLists::forget() {
  lists_.assign(1, {});
  free_.clear();
}

}  // namespace plumb::simt
