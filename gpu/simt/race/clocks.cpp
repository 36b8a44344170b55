// What happens to memory: bounds, initialisation, and whether two accesses are ordered by anything CUDA
// promises.
//
// The order: block barriers by generation; __syncwarp among the lanes of its mask (shuffles, votes and the other *_sync operations
// make lanes meet, and order no memory); a fence followed by an atomic or volatile store, seen by an atomic or volatile
// load followed by a fence or a barrier, at the narrower of their scopes; launches of one stream, but one that may begin
// early from griddepcontrol.wait on; streams where an event or a synchronisation joins them. Nothing else: no lockstep in a warp, no order between
// blocks, and a relaxed atomic orders nothing. Two accesses to one granule race when one writes, they are by
// different threads, none is ordered before the other, and they are not both atomic (or volatile) at a scope
// that holds both threads and of the same bytes.
//
// Two plain writes of one value race by the letter, and can do no harm: a flag that several threads raise. They are not reported;
// a read of it that is not ordered after them is.
//
// Volatile in shared memory counts as plain unless its writer has executed a fence since the last barrier:
// this is how a flag with a fence is told from the old warp-synchronous reduction, which is wrong since Volta
// and must be reported. The consumer's side may use a barrier in place of its fence, as the programming
// guide's own threadFenceReduction does.
#include <algorithm>
#include <cstring>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

const Known* find(const ClockPtr& clock, std::uint32_t block) {
  return clock != nullptr ? clock->blocks.find(block) : nullptr;
}

bool covers(const Known* k, std::uint32_t generation, std::uint16_t thread, std::uint32_t step) {
  if (k == nullptr) return false;
  if (k->generation != generation) return k->generation > generation;
  const auto it = std::lower_bound(k->threads.begin(), k->threads.end(), thread,
                                   [](const auto& e, std::uint16_t t) { return e.first < t; });
  return it != k->threads.end() && it->first == thread && it->second >= step;
}

// Some thread of the block, in that generation.
bool covers_some(const Known* k, std::uint32_t generation) {
  return k != nullptr && (k->generation > generation || (k->generation == generation && !k->threads.empty()));
}

bool has_awaited_launches(const Thread& t) {
  const auto says = [](const ClockPtr& clock) { return clock != nullptr && clock->launches_awaited; };
  return says(t.more) || says(t.block->more);
}

}  // namespace

int launch_of(std::uint32_t block) {
  const auto it = std::upper_bound(current().schedule.launches.begin(), current().schedule.launches.end(),
                                   block, [](std::uint32_t b, const Launch& l) { return b < l.first_block; });
  return static_cast<int>(it - current().schedule.launches.begin()) - 1;
}

bool launch_known(std::uint32_t block, const std::vector<int>& knows) {
  const int then = launch_of(block);
  const auto stream =
      static_cast<std::size_t>(current().schedule.launches[static_cast<std::size_t>(then)].stream);
  return stream < knows.size() && knows[stream] > then;
}

ClockPtr join(const ClockPtr& a, const ClockPtr& b) {
  if (a == nullptr || a == b) return b;
  if (b == nullptr) return a;
  Clock out;
  out.fences = std::max(a->fences, b->fences);
  const Clock& in_block =
      b->block_fences != 0 && (a->block_fences == 0 || b->fences_block != a->fences_block ||
                               b->block_fences > a->block_fences)
          ? *b
          : *a;
  out.fences_block = in_block.fences_block;
  out.block_fences = in_block.block_fences;
  out.launches_awaited = a->launches_awaited || b->launches_awaited;
  out.blocks = join(a->blocks, b->blocks);
  if (out == *a) return a;
  if (out == *b) return b;
  return std::make_shared<const Clock>(std::move(out));
}

ClockPtr clock_of(Known known) {
  Clock clock;
  clock.blocks = KnownBlocks(std::move(known));
  return std::make_shared<const Clock>(std::move(clock));
}

ClockPtr snapshot(Thread& t) {
  Block& b = *t.block;
  Known own{b.id, b.generation, {}};
  const bool valid = t.warp_generation == b.generation;
  for (int lane = 0; lane < kWarp; ++lane) {
    const auto id = static_cast<std::uint16_t>(t.warp * kWarp + lane);
    if (lane == t.lane) {
      own.threads.emplace_back(id, t.step);
    } else if (valid && t.warp_step[lane] != 0) {
      own.threads.emplace_back(id, t.warp_step[lane]);
    }
  }
  return join(join(clock_of(std::move(own)), t.more), b.more);
}

void learn(Thread& t, const ClockPtr& clock) {
  if (clock == nullptr) return;
  t.more = join(t.more, clock);
  t.has_clocks = true;
}

void on_fence(Thread& t, Scope scope) {
  learn(t, t.seen_block);
  t.seen_block = nullptr;
  if (scope == Scope::device) {
    learn(t, t.seen_device);
    t.seen_device = nullptr;
  }
  t.fenced_block = snapshot(t);
  if (scope == Scope::device) t.fenced_device = t.fenced_block;
  t.has_clocks = true;
  t.fenced_generation = t.block->generation;
  t.fence_epoch = std::uint64_t{t.block->generation} << 32 | t.step;
  ++t.step;
}

void on_release(Thread& t) {
  t.releasing = snapshot(t);
  // its store is known to whoever knows what it released
  t.fence_epoch = std::uint64_t{t.block->generation} << 32 | t.step;
  ++t.step;
}

void on_acquire(Thread& t) {
  learn(t, current().race.taken);
  current().race.taken = nullptr;
}

void on_block_barrier(Block& b) {
  ClockPtr more = b.more;
  ClockPtr device;
  ClockPtr block;
  bool any = false;
  for (Thread& t : b.threads) {
    if (!t.has_clocks) continue;
    any = true;
    more = join(join(more, t.more), join(t.seen_device, t.seen_block));
    device = join(device, t.fenced_device);
    block = join(block, t.fenced_block);
  }
  if (!any) return;
  b.fences.forget();
  b.fences_since.clear();
  b.more = more;
  for (Thread& t : b.threads) {
    t.more = t.seen_device = t.seen_block = nullptr;
    t.fenced_device =
        device;  // what each has fenced is published by whoever stores the flag after the barrier
    t.fenced_block = block;
    t.has_clocks = device != nullptr || block != nullptr;
  }
}

void on_grid_barrier(std::vector<Block*>& blocks) {
  ClockPtr all;
  for (Block* b : blocks) {
    on_block_barrier(*b);
    all = join(all, join(clock_of({b->id, b->generation + 1, {}}), b->more));
  }
  for (Block* b : blocks) b->more = all;
}

void on_warp_sync(Block& b, int warp, unsigned mask) {
  Thread* lanes = &b.threads[static_cast<std::size_t>(warp) * kWarp];
  std::uint32_t joined[kWarp] = {};
  bool clocks = false;
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
    Thread& t = lanes[__builtin_ctz(rest)];
    // mostly all know the same, from the sync before
    if (t.warp_generation == b.generation && std::memcmp(joined, t.warp_step, sizeof joined) != 0) {
      for (int i = 0; i < kWarp; ++i) joined[i] = std::max(joined[i], t.warp_step[i]);
    }
    clocks = clocks || t.has_clocks;
  }
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    joined[lane] = std::max(joined[lane], lanes[lane].step);
  }
  ClockPtr more;
  ClockPtr device;
  ClockPtr block;
  if (clocks) {
    for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
      const Thread& t = lanes[__builtin_ctz(rest)];
      more = join(join(more, t.more), join(t.seen_device, t.seen_block));
      device = join(device, t.fenced_device);
      block = join(block, t.fenced_block);
    }
  }
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
    Thread& t = lanes[__builtin_ctz(rest)];
    std::memcpy(t.warp_step, joined, sizeof joined);
    t.warp_generation = b.generation;
    ++t.step;
    if (clocks) {
      t.more = more;
      t.seen_device = t.seen_block = nullptr;
      t.fenced_device = device;
      t.fenced_block = block;
      t.has_clocks = true;
    }
  }
}

void on_launches_awaited(Thread& t) {
  current().schedule.launches[static_cast<std::size_t>(current().schedule.number)].awaited = true;
  auto awaited = std::make_shared<Clock>();
  awaited->launches_awaited = true;
  learn(t, awaited);
}

namespace {

// Whether the block is of a launch that may be under way though it stands before others that ended.
bool is_open(const Launch& launch, std::uint32_t block) {
  return !launch.open.empty() &&
         std::find(launch.open.begin(), launch.open.end(), launch_of(block)) != launch.open.end();
}

}  // namespace

// Whether everything `m` stands for happened before the thread's next access.
bool known(const Thread& t, const Mark& m) {
  const Block& b = *t.block;
  const auto generation = static_cast<std::uint32_t>(m.epoch >> 32);
  const auto step = static_cast<std::uint32_t>(m.epoch);
  if (m.block == b.id) {
    if (generation < b.generation || m.any_warp != 0) return true;
    const Known* sparse = nullptr;
    bool looked = false;
    for (unsigned rest = m.lanes; rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      const bool same_warp = m.warp == t.warp;
      bool is_known =
          same_warp && (lane == t.lane || (t.warp_generation == b.generation && t.warp_step[lane] >= step));
      if (!is_known && !looked) {
        sparse = find(t.more, b.id);
        looked = true;
      }
      is_known =
          is_known || covers(sparse, generation, static_cast<std::uint16_t>(m.warp * kWarp + lane), step);
      if (is_known == (m.any_lane != 0)) return is_known;
    }
    return m.any_lane == 0;
  }
  const Launch& launch = launch_under_way();
  const bool other_launch = m.block < launch.first_block || m.block - launch.first_block >= launch.blocks;
  if (other_launch && !is_open(launch, m.block) &&
      launch_known(m.block, has_awaited_launches(t) ? launch.knows : launch.knows_at_once))
    return true;
  const Known* mine = find(t.more, m.block);
  const Known* all = find(b.more, m.block);
  if (mine == nullptr && all == nullptr) return false;
  if (m.any_warp != 0) return covers_some(mine, generation) || covers_some(all, generation);
  for (unsigned rest = m.lanes; rest != 0; rest &= rest - 1) {
    const auto id = static_cast<std::uint16_t>(m.warp * kWarp + __builtin_ctz(rest));
    const bool is_known = covers(mine, generation, id, step) || covers(all, generation, id, step);
    if (is_known == (m.any_lane != 0)) return is_known;
  }
  return m.any_lane == 0;
}

bool reaches_all(const ClockPtr& clock, const Mark& m) {
  const Known* k = find(clock, m.block);
  for (unsigned rest = m.lanes; rest != 0; rest &= rest - 1) {
    const auto id = static_cast<std::uint16_t>(m.warp * kWarp + __builtin_ctz(rest));
    if (!covers(k, static_cast<std::uint32_t>(m.epoch >> 32), id, static_cast<std::uint32_t>(m.epoch)))
      return false;
  }
  return true;
}

bool reaches(const ClockPtr& clock, const Mark& m) {
  const Known* k = find(clock, m.block);
  if (k == nullptr) return false;
  for (unsigned rest = m.lanes; rest != 0; rest &= rest - 1) {
    const auto id = static_cast<std::uint16_t>(m.warp * kWarp + __builtin_ctz(rest));
    if (covers(k, static_cast<std::uint32_t>(m.epoch >> 32), id, static_cast<std::uint32_t>(m.epoch)))
      return true;
  }
  return false;
}

}  // namespace plumb::simt
