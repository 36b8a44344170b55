// What a thread met on its way: the last of its barriers, fences and other orders, for a page that shows a race.
#include <algorithm>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

constexpr std::size_t kKept = 24;

const Block* resident_block(std::uint32_t id) {
  for (const Block* b : current().schedule.resident) {
    if (b->id == id) return b;
  }
  return nullptr;
}

}  // namespace

void add_to_trail(Thread& t, const char* what, Here here) {
  if (t.trail.size() == kKept) t.trail.erase(t.trail.begin());
  t.trail.push_back({what, here, std::uint64_t{t.block->generation} << 32 | t.step});
}

std::vector<TrailStep> trail_of(const Mark& m, unsigned warp) {
  const Block* b = resident_block(m.block);
  const std::size_t thread =
      warp * std::size_t{kWarp} + static_cast<unsigned>(__builtin_ctz(m.lanes | 1u << 31));
  std::vector<TrailStep> out;
  if (b == nullptr || thread >= b->threads.size()) return out;
  for (const TrailPoint& p : b->threads[thread].trail)
    out.push_back(
        {p.what, {p.here.file, p.here.line}, static_cast<std::uint32_t>(p.epoch >> 32), p.epoch < m.epoch});
  return out;
}

}  // namespace plumb::simt
