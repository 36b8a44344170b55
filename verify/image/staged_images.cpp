#include "verify/image/staged_images.hpp"

#include <algorithm>

namespace plumb {
namespace {

// Of all that are kept, and of one. Memory grows with what a case needs.
constexpr std::int64_t kMostBytes = std::int64_t{32} << 20, kLargest = kMostBytes / 2;
constexpr std::int64_t kLine = 64;

}  // namespace

void make_room(LargeArray<std::byte>& memory, std::int64_t bytes) {
  constexpr std::size_t kLarge = std::size_t{1} << 30;
  const auto needed = static_cast<std::size_t>(bytes);
  if (memory.size() >= needed && (memory.size() < kLarge || memory.size() / 4 < needed)) return;
  memory = {};
  memory = LargeArray<std::byte>(needed);
}

const std::byte* StagedImages::written(LargeArray<std::byte>& memory, std::int64_t at,
                                       const ImageLayout& layout) {
  layout.write(memory.data() + at);
  return memory.data() + at;
}

const std::byte* StagedImages::of(const ImageLayout& layout) {
  const Contents& contents = layout.contents();
  const std::int64_t bytes = layout.bytes();
  if (contents.of_case == 0 || bytes > kLargest) {
    make_room(last_, bytes);
    return written(last_, 0, layout);
  }
  for (const Kept& k : kept_) {
    if (k.contents == contents && k.placement == layout.placement()) return memory_.data() + k.at;
  }
  const bool other_case = !kept_.empty() && kept_.front().contents.of_case != contents.of_case;
  const std::int64_t needed = other_case ? bytes : used_ + bytes;
  if (other_case || needed > static_cast<std::int64_t>(memory_.size())) {
    kept_.clear(), used_ = 0;
    make_room(memory_, std::max(bytes, std::min(2 * needed, kMostBytes)));
  }
  kept_.push_back({contents, layout.placement(), used_});
  used_ = (used_ + bytes + kLine - 1) / kLine * kLine;
  return written(memory_, kept_.back().at, layout);
}

void StagedImages::release_memory() {
  kept_.clear(), used_ = 0;
  memory_ = {}, last_ = {};
}

}  // namespace plumb
