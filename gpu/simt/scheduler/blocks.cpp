// Blocks: made, used again, and brought to the start of a launch.
#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <numeric>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

std::unique_ptr<Block> take_block() {
  if (current().schedule.pool.empty()) {
    auto b = std::make_unique<Block>();
    void* arena = mmap(nullptr, kArenaBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED) throw std::bad_alloc();
    b->arena = static_cast<unsigned char*>(arena);
    b->piece_of.resize(kArenaBytes / 4);
    return b;
  }
  std::unique_ptr<Block> b = std::move(current().schedule.pool.back());
  current().schedule.pool.pop_back();
  return b;
}

void release_stacks(Block& b) {
  if (b.stacks != nullptr) munmap(b.stacks, b.stack_count * kStackBytes);
  b.stacks = nullptr;
  b.stack_count = 0;
}

// Each stack ends in a page that nothing may touch: two of the system's mappings a thread, of which it has a limit.
void ensure_stacks(Block& b, std::size_t count) {
  if (b.stack_count >= count) return;
  release_stacks(b);
  const std::size_t wanted = std::max<std::size_t>(count, 64);
  void* p = mmap(nullptr, wanted * kStackBytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  b.stacks = static_cast<unsigned char*>(p);
  b.stack_count = wanted;
  for (std::size_t i = 0; i < wanted; ++i) {
    if (mprotect(b.stacks + i * kStackBytes, kStackGuardBytes, PROT_NONE) == 0) continue;
    release_stacks(b);
    throw std::bad_alloc();
  }
}

// Stacks and threads for the block's size.
void size_block(Block& b) {
  const auto size = static_cast<std::size_t>(b.size);
  ensure_stacks(b, size);
  if (b.threads.size() != size) {
    b.threads.clear();
    b.threads.resize(size);
    b.ready.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
      Thread& t = b.threads[i];
      t.id = static_cast<std::uint16_t>(i);
      t.lane = static_cast<std::uint8_t>(i % kWarp);
      t.warp = static_cast<std::uint8_t>(i / kWarp);
      t.block = &b;
    }
  }
}

// A thread as it begins: nothing known, nothing under way.
void begin_thread(Thread& t, uint3 index) {
  t.index = index;
  t.stack_low = nullptr;
  t.step = 1;
  t.warp_generation = 0;
  t.fenced_generation = 0;
  if (t.has_clocks) {
    t.more = t.fenced_device = t.fenced_block = t.seen_device = t.seen_block = nullptr;
    t.fenced_inits = t.known_inits = nullptr;
    t.has_clocks = false;
  }
  t.releasing = nullptr;
  t.copies.clear();
  t.bound.clear();
  t.proxy_fences.clear();
  t.map_fences.clear();
  t.init_fence = 0;
  t.registers.reset();
  t.bulk.reset();
  t.trail.clear();
  t.polls = {};
  t.copies_to_peers = 0;
  t.waits_on = nullptr;
  t.in_cluster_barrier = false;
  t.fence_epoch = 0;
  t.volatile_reads = 0;
  if (t.reads != 0) std::fill(std::begin(t.past_reads), std::end(t.past_reads), PastRead{});
  t.reads = 0;
  t.atomic_was_idle = false;
}

}  // namespace

// Where a kernel has no static shared memory, a device's dynamic one begins behind the 1024 bytes that the system has; kernels with
// swizzled tiles count on that.
constexpr std::size_t kDynamicAlignment = 1024;

std::unique_ptr<Block> admit(const Launch& launch, std::uint32_t linear) {
  std::unique_ptr<Block> taken = take_block();
  Block& b = *taken;
  const uint3 g = launch.grid;
  const uint3 s = launch.block;
  b.index = {linear % g.x, linear / g.x % g.y, linear / g.x / g.y};
  b.id = launch.first_block + linear;
  b.generation = 1;
  b.size = static_cast<int>(s.x * s.y * s.z);
  b.done = b.at_barrier = b.at_grid_barrier = b.held_back = 0;
  b.warps = (b.size + kWarp - 1) / kWarp;
  b.serial = ++current().schedule.block_serial;
  b.more = nullptr;
  b.fences = FenceLog{};
  b.fences_since.clear();
  b.last_fence = 0;
  for (NamedBarrier& n : b.named) n = NamedBarrier{};
  b.objects.clear();
  b.flying.clear();
  b.warpgroups.clear();
  b.met_at = b.met_at_too = Here{"", 0};
  b.meetings.clear();
  b.cluster = nullptr;
  b.rank = b.met_in_cluster = 0;
  b.at_cluster_barrier = 0;
  b.relaxed_arrivals = b.ended = false;
  if (b.shadow != nullptr) b.shadow->forget(b.arena_used);
  std::fill_n(b.piece_of.begin(), b.arena_used / 4 + 1, std::uint16_t{0});
  b.pieces.clear();
  b.arena_used = kGap;
  b.static_shared = 0;
  b.dynamic = nullptr;
  const std::size_t dynamic = current().schedule.shape.dynamic_shared;
  if (dynamic > 0) b.dynamic = place_piece(b, "dynamic shared memory", &b, dynamic, kDynamicAlignment);

  size_block(b);
  b.free_stacks.resize(b.threads.size());
  std::iota(b.free_stacks.rbegin(), b.free_stacks.rend(), std::uint16_t{0});
  b.ready_head = b.ready_count = 0;
  for (int w = 0; w < b.warps; ++w) {
    const int lanes = std::min(kWarp, b.size - w * kWarp);
    b.warp_done[w] = lanes == kWarp ? 0u : ~0u << lanes;
    b.warp_waiting[w] = 0;
  }
  uint3 index{0, 0, 0};
  for (Thread& t : b.threads) {
    begin_thread(t, index);
    if (++index.x < s.x) continue;
    index.x = 0;
    if (++index.y < s.y) continue;
    index.y = 0, ++index.z;
  }
  for_threads_in_order(b, [](Thread& t) { wake(t); });
  ++current().run.counters.blocks;
  return taken;
}

// The lowest stacks are the first to be taken, and one that is given back the next: threads that wait for nobody run on one after another.
void take_stack(Thread& t) {
  Block& b = *t.block;
  t.stack_low = b.stacks + b.free_stacks.back() * kStackBytes;
  t.context = nullptr;
  b.free_stacks.pop_back();
}

// Spread over the cache's sets: at equal offsets 1024 fibers would fight for a few lines.
unsigned char* top_of_stack(const Thread& t) {
  const auto i = static_cast<std::size_t>(t.stack_low - t.block->stacks) / kStackBytes;
  return t.stack_low + kStackBytes - (i * 7 % 32) * 192;
}

void leave_stack(Thread& t) {
  Block& b = *t.block;
  if (!b.warpgroups.empty()) return;  // a product under way writes to registers, which lie on the stack
  b.free_stacks.push_back(static_cast<std::uint16_t>((t.stack_low - b.stacks) / kStackBytes));
}

void give_back(Block* b) { current().schedule.pool.emplace_back(b); }

namespace {

// Blocks of earlier launches hold stacks of their own sizes. Where no more can be had, they are let go, and the block is made anew.
Block* admit_with_what_there_is(const Launch& launch, std::uint32_t linear) {
  try {
    return admit(launch, linear).release();
  } catch (const std::bad_alloc&) { current().schedule.pool.clear(); }
  return admit(launch, linear).release();
}

}  // namespace

// Whether the block could be made. Where it could not and others are under way that need not be joined, they go on
// without it (`limit` blocks at once); else the run is given up.
bool admit_or_run_short(const Launch& launch, std::uint32_t linear, bool needed) {
  try {
    current().schedule.resident.push_back(nullptr);
    current().schedule.resident.back() = admit_with_what_there_is(launch, linear);
    return true;
  } catch (const std::bad_alloc&) {
    current().schedule.resident.pop_back();
    const uint3 s = launch.block;
    current().schedule.short_of =
        fmt::format("the stacks and shared memory of {} blocks of {} simulated threads",
                    current().schedule.resident.size() + 1, std::size_t{s.x} * s.y * s.z);
    if (needed) run_short(current().schedule.short_of);
    return false;
  }
}

Block::~Block() {
  release_stacks(*this);
  if (arena != nullptr) munmap(arena, kArenaBytes);
}

}  // namespace plumb::simt
