// Launches by a kernel (dynamic parallelism). A device may begin such a grid at any time, and counts the one that launched it as done
// when it has ended, too. Here it begins when that one has ended, and what launched it is known to it. Those of one block's NULL stream
// run one after the other, also those of one other stream of the grid; nothing else orders them.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

const void* const kTailLaunch = reinterpret_cast<const void*>(0x3);  // cudaStreamTailLaunch
const void* const kFireAndForget = reinterpret_cast<const void*>(0x4);

// The executor's streams of nested launches, for each depth so many: further ones are ordered behind each other.
constexpr std::size_t kStreams = 64;
void* key_of(int depth, std::size_t nth) {
  static auto& keys = *new std::deque<std::array<char, kStreams>>;
  while (keys.size() <= static_cast<std::size_t>(depth)) keys.emplace_back();
  return &keys[static_cast<std::size_t>(depth)][nth % kStreams];
}

bool is_tail(const NestedLaunch& n) { return n.stream == kTailLaunch; }

/// The streams of one grid's launches, numbered as they come.
class Streams {
 public:
  std::size_t number_of(const NestedLaunch& n) {
    if (n.stream == kFireAndForget) return next_++;
    const auto [it, is_new] = numbers_.try_emplace({n.stream, n.stream == nullptr ? n.block : 0}, next_);
    next_ += is_new;
    return it->second;
  }

 private:
  std::map<std::pair<void*, std::uint64_t>, std::size_t> numbers_;
  std::size_t next_ = 0;
};

}  // namespace

void launch_nested(void* stream, std::function<void(void* stream)> launch) {
  current().schedule.nested.push_back({stream, current().schedule.thread->block->serial, std::move(launch)});
}

void run_nested(void* stream) {
  if (current().schedule.nested.empty()) return;
  std::vector<NestedLaunch> all;
  all.swap(current().schedule.nested);
  const auto tails =
      std::stable_partition(all.begin(), all.end(), [](const NestedLaunch& n) { return !is_tail(n); });
  Streams streams;
  std::vector<void*> used;
  const int depth = current().schedule.depth++;
  for (auto n = all.begin(); n != all.end() && !current().run.is_stopped; ++n) {
    void* const key = n < tails ? key_of(depth, streams.number_of(*n)) : stream;
    if (key != stream) {
      order_streams(key, stream);
      used.push_back(key);
    }
    n->launch(key);
    if (n + 1 >= tails) {  // what comes after the grid, its tail launches first, comes after all of them
      for (void* k : used) order_streams(stream, k);
      used.clear();
    }
  }
  current().schedule.depth = depth;
}

}  // namespace plumb::simt
