#include "gpu/simt/race/lists.hpp"

namespace plumb::simt {

std::uint32_t MarkLists::take(std::uint32_t chain) {
  std::uint32_t number = static_cast<std::uint32_t>(lists_.size());
  if (free_.empty()) {
    lists_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  for_each(chain, [&](const Mark& m) {
    lists_[number].add(m);
    return true;
  });
  return number;
}

bool MarkLists::chain(std::uint32_t& number, const Mark& reader, bool of_warps) {
  const std::uint32_t longer = chains_.behind(number & ~kChain, reader, of_warps);
  if (longer != 0) number = longer | kChain;
  return longer != 0;
}

std::uint32_t MarkLists::copy(std::uint32_t number) {
  if (number == 0 || is_chain(number)) return number;
  const std::uint32_t to = take();
  lists_[to] = lists_[number];
  return to;
}

void MarkLists::release(std::uint32_t& number) {
  if (number != 0 && !is_chain(number)) {
    MarkList& list = lists_[number];
    list.marks.clear();  // its room is the next one's
    list.warps = list.newest = 0;
    free_.push_back(number);
  }
  number = 0;
}

void MarkLists::forget() {
  lists_.assign(1, {});
  free_.clear();
  chains_ = ReaderChains{};
}

void MarkLists::forget_chains() {
  constexpr std::size_t kMany = std::size_t{1} << 20;
  if (chains_.size() > kMany) chains_.forget();
}

}  // namespace plumb::simt
