// The executor's heart: fibers, the scheduler, barriers, warp operations, shared memory, launches.
//
// Why fibers and not threads: a barrier of 1024 threads costs two microseconds instead of milliseconds, and a
// seed replays. Boost.Context's jump_fcontext does the switch (some ten nanoseconds). Threads switch only
// where a device would let them meet (barriers, warp operations, atomics, fences): between those points a
// race cannot show in the values, which is why Options::check looks at every access instead.
#include "gpu/simt/executor.hpp"

#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <numeric>

#include "gpu/runtime/launch.hpp"
#include "gpu/simt/engine.hpp"
#include "reference/core/error.hpp"

namespace plumb::simt {

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

Engine engine;

// What the shim declares as constants.
extern uint3 running_thread asm("threadIdx");
extern uint3 running_block asm("blockIdx");
extern uint3 running_block_extent asm("blockDim");
extern uint3 running_grid_extent asm("gridDim");
uint3 running_thread{0, 0, 0};
uint3 running_block{0, 0, 0};
uint3 running_block_extent{1, 1, 1};
uint3 running_grid_extent{1, 1, 1};

namespace {

constexpr std::uint32_t kGap = 64;              // bytes between pieces of shared memory
constexpr unsigned char kGapByte = 0xfb;        // what they hold
constexpr std::size_t kMaxShared = 227 * 1024;  // sm_90's limit per block
constexpr std::int64_t kIdleLimit = 4'000'000;  // fruitless polls in a row before the launch counts as hung
constexpr int kMaxResident = 64;

// The launch under way.
void (*g_body)(void*) = nullptr;
void* g_closure = nullptr;
std::size_t g_dynamic_bytes = 0;
std::vector<Block*> g_resident;
std::vector<std::unique_ptr<Block>> g_pool;
std::int64_t g_idle = 0;        // polls since anything changed
std::int64_t g_slice_idle = 0;  // in this block's slice
bool g_turn_over = false;       // the slice ended by the schedule's draw

std::string show(uint3 v) { return fmt::format("({},{},{})", v.x, v.y, v.z); }

// ---- switching ----

}  // namespace

void switch_out() {
  const transfer_t t = jump_fcontext(static_cast<fcontext_t>(engine.scheduler), nullptr);
  engine.scheduler = t.fctx;
}

namespace {

void push_ready(Block& b, const Thread& t) {
  std::size_t at = b.ready_head + b.ready_count++;
  if (at >= b.ready.size()) at -= b.ready.size();
  b.ready[at] = t.id;
}

}  // namespace

void wake(Thread& t) {
  t.state = State::ready;
  push_ready(*t.block, t);
}

namespace {

Thread& pop_ready(Block& b) {
  const bool stay = engine.order == Order::ascending || engine.order == Order::descending ||
                    (engine.order == Order::by_warp && (next_random() & 7u) != 0);
  if (!stay && b.ready_count > 1) {
    std::size_t at = b.ready_head + next_random() % b.ready_count;
    if (at >= b.ready.size()) at -= b.ready.size();
    std::swap(b.ready[at], b.ready[b.ready_head]);
  }
  const std::uint16_t id = b.ready[b.ready_head];
  if (++b.ready_head == b.ready.size()) b.ready_head = 0;
  --b.ready_count;
  return b.threads[id];
}

template <class F>
void for_threads_in_order(Block& b, F f) {
  if (engine.order == Order::descending) {
    for (int i = b.size - 1; i >= 0; --i) f(b.threads[static_cast<std::size_t>(i)]);
  } else {
    for (int i = 0; i < b.size; ++i) f(b.threads[static_cast<std::size_t>(i)]);
  }
}

// ---- meeting points ----

bool same_place(Here a, Here b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

// Warps may meet from different statements, as PTX counts them (tools/docs/adr/0006); a warp's lanes may not, nor may votes of
// different kinds.
bool may_meet(Block& b) {
  for (const Thread& t : b.threads) {
    const Thread& warp = b.threads[static_cast<std::size_t>(t.warp) * kWarp];
    const Thread& first = b.threads[0];
    const bool apart = !same_place(t.here, warp.here), unlike = t.waits_for != first.waits_for;
    if (!same_place(warp.here, first.here)) b.met_at = first.here, b.met_at_too = warp.here;
    if (!apart && !unlike) continue;
    const Thread& other = apart ? warp : first;
    RawFinding* f = note(FindingKind::divergent_barrier,
                         fmt::format("threads of one {} meet at different barriers: {} and {}",
                                     apart ? "warp" : "block", other.waits_for, t.waits_for),
                         &t, locate(t.here), locate(other.here));
    if (f != nullptr) {
      f->finding.has_other = true;
      f->finding.other_thread = {b.index, other.index};
      f->finding.hint = "a barrier must be reached by all threads of the block or by none";
    }
    return false;
  }
  return true;
}

void complete_block_barrier(Block& b) {
  if (!may_meet(b)) {
    engine.is_stopped = true;
    return;
  }
  if (checking()) on_block_barrier(b);
  ++b.generation;
  b.at_barrier = 0;
  unsigned count = 0;
  for (const Thread& t : b.threads) count += t.answer;
  for_threads_in_order(b, [&](Thread& t) {
    t.answer = count;
    if (&t != engine.current) wake(t);
  });
  progress();
}

void divergent_exit(const Block& b, const Thread& waiting, const Thread& gone) {
  RawFinding* f =
      note(FindingKind::divergent_barrier,
           fmt::format("{} of {} threads of the block wait at {}, which {} that have exited will never reach",
                       b.at_barrier, b.size, waiting.waits_for, b.done),
           &waiting, locate(waiting.here));
  if (f != nullptr) {
    f->finding.hint =
        fmt::format("thread {} has returned: let it fall through to the barrier instead", show(gone.index));
    if (b.met_at.line != 0) {
      f->finding.text += "; warps of the block had met at two different barriers before";
      f->finding.has_other = true;
      f->finding.other_thread = f->finding.thread;
      f->other_location = locate(same_place(b.met_at, waiting.here) ? b.met_at_too : b.met_at);
    }
  }
  engine.is_stopped = true;
}

// Completes the exchange that `t` waits in, if all lanes it needs are there. True if it did.
bool try_complete_warp(Thread& t) {
  Block& b = *t.block;
  const unsigned need = t.mask & ~b.warp_done[t.warp];
  if ((need & ~b.warp_waiting[t.warp]) != 0) return false;
  void* in[kWarp] = {};
  void* out[kWarp] = {};
  Thread* lanes = &b.threads[static_cast<std::size_t>(t.warp) * kWarp];
  for (unsigned rest = need; rest != 0; rest &= rest - 1) {
    Thread& other = lanes[__builtin_ctz(rest)];
    if (other.mask != t.mask ||
        (other.waits_for != t.waits_for && std::strcmp(other.waits_for, t.waits_for) != 0)) {
      RawFinding* f = note(
          FindingKind::lane_outside_mask,
          fmt::format("lanes of one warp do not agree: lane {} is at {} with mask {:#x}, lane {} at {} with "
                      "mask {:#x}",
                      t.lane, t.waits_for, t.mask, other.lane, other.waits_for, other.mask),
          &t, locate(t.here), locate(other.here));
      if (f != nullptr) {
        f->finding.has_other = true;
        f->finding.other_thread = {b.index, other.index};
        f->finding.hint = "all lanes named in a mask must execute the same operation with the same mask";
      }
      engine.is_stopped = true;
      return false;
    }
    in[other.lane] = other.in;
    out[other.lane] = other.out;
  }
  if (t.combine != nullptr) t.combine(need, in, out);
  b.warp_waiting[t.warp] &= ~need;
  if (checking()) on_warp_sync(b, t.warp, need);
  const bool down = engine.order == Order::descending;
  for (int i = 0; i < kWarp; ++i) {
    const int lane = down ? kWarp - 1 - i : i;
    if ((need >> lane & 1u) != 0 && &lanes[lane] != engine.current) wake(lanes[lane]);
  }
  progress();
  return true;
}

void complete_named(Block& b, NamedBarrier& barrier) {
  for (const std::uint16_t id : barrier.waiting) {
    Thread& t = b.threads[id];
    if (checking()) {
      learn(t, barrier.clock);
      ++t.step;
    }
    if (&t != engine.current) wake(t);
  }
  barrier = NamedBarrier{};
  progress();
}

// Lanes that asked for the active mask and whose warp cannot run on: those at one place form one group.
bool resolve_active_masks(Block& b) {
  bool any = false;
  for (Thread& t : b.threads) {
    if (t.state != State::active_mask) continue;
    unsigned group = 0;
    Thread* lanes = &b.threads[static_cast<std::size_t>(t.warp) * kWarp];
    const int count = std::min(kWarp, b.size - t.warp * kWarp);
    for (int i = 0; i < count; ++i) {
      if (lanes[i].state == State::active_mask && lanes[i].here.line == t.here.line &&
          lanes[i].here.file == t.here.file)
        group |= 1u << i;
    }
    for (int i = 0; i < count; ++i) {
      if ((group >> i & 1u) == 0) continue;
      lanes[i].answer = group;
      wake(lanes[i]);
    }
    any = true;
  }
  return any;
}

// ---- shared memory ----

unsigned char* place_piece(Block& b, const char* name, const void* slot, std::size_t bytes,
                           std::size_t alignment) {
  alignment = std::max<std::size_t>(alignment, 16);
  const std::size_t begin = (b.arena_used + alignment - 1) / alignment * alignment;
  const std::size_t end = begin + bytes;
  if (end + kGap > kArenaBytes) {
    RawFinding* f =
        note(FindingKind::bad_launch,
             fmt::format("'{}' does not fit: a block has {} bytes of shared memory", name, kMaxShared),
             engine.current, 0);
    (void)f;
    engine.is_stopped = true;
    if (engine.current != nullptr) stop();
    return b.arena;
  }
  b.pieces.push_back({name, slot, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
  const auto id = static_cast<std::uint16_t>(b.pieces.size());
  std::fill(b.piece_of.begin() + static_cast<std::ptrdiff_t>(begin / 4),
            b.piece_of.begin() + static_cast<std::ptrdiff_t>((end + 3) / 4), id);
  std::memset(b.arena + b.arena_used, kGapByte, begin - b.arena_used);
  unsigned char* data = b.arena + begin;
  for (std::size_t i = 0; i + 4 <= bytes; i += 4) std::memcpy(data + i, &engine.options.poison, 4);
  std::memcpy(data + bytes / 4 * 4, &engine.options.poison, bytes % 4);
  std::memset(data + bytes, kGapByte, kGap);
  b.arena_used = static_cast<std::uint32_t>((end + kGap + 15) / 16 * 16);
  return data;
}

// Without Options::check a write past a piece of shared memory shows only here.
void check_gaps(Block& b) {
  for (const SharedPiece& piece : b.pieces) {
    for (std::uint32_t i = 0; i < kGap; ++i) {
      if (b.arena[piece.end + i] == kGapByte) continue;
      RawFinding* f =
          note(FindingKind::out_of_bounds,
               fmt::format("block {} wrote past the end of shared '{}' ({} bytes), at byte {}", show(b.index),
                           piece.name, piece.end - piece.begin, piece.end - piece.begin + i),
               nullptr, 0);
      if (f != nullptr) {
        f->finding.thread.block = b.index;
        f->finding.array = piece.name;
        f->finding.offset = piece.end - piece.begin + i;
        if (!checking()) f->finding.hint = "with every access checked (--race) its line is named";
      }
      return;
    }
  }
}

// A block that ends gives its shared memory away: no copy may still be on its way there.
void check_flights(const Block& b) {
  if (b.flying.empty()) return;
  RawFinding* f = note(FindingKind::async_copy_not_waited_for,
                       fmt::format("block {} ended while a copy to its shared memory was under way", show(b.index)),
                       nullptr, b.flying.front().copies.front().location);
  if (f == nullptr) return;
  f->finding.thread.block = b.index;
  f->finding.hint = "wait for the barrier that the copy completes on";
}

// ---- blocks ----

[[noreturn]] void fiber_main(transfer_t from) {
  auto* me = static_cast<Thread*>(from.data);
  engine.scheduler = from.fctx;
  g_body(g_closure);
  me->state = State::done;
  for (;;) switch_out();
}

Block& take_block() {
  if (g_pool.empty()) {
    auto b = std::make_unique<Block>();
    void* arena = mmap(nullptr, kArenaBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED) throw input_error("gpu/simt", 0, "no memory for a block's shared memory");
    b->arena = static_cast<unsigned char*>(arena);
    b->piece_of.resize(kArenaBytes / 4);
    return *b.release();
  }
  Block* b = g_pool.back().release();
  g_pool.pop_back();
  return *b;
}

void give_back(Block* b) { g_pool.emplace_back(b); }

void ensure_stacks(Block& b, std::size_t count) {
  if (b.stack_count >= count) return;
  if (b.stacks != nullptr) munmap(b.stacks, b.stack_count * kStackBytes);
  b.stack_count = std::max<std::size_t>(count, 64);
  void* p = mmap(nullptr, b.stack_count * kStackBytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    throw input_error("gpu/simt", 0, "no memory for the threads' stacks", std::to_string(count));
  b.stacks = static_cast<unsigned char*>(p);
  for (std::size_t i = 0; i < b.stack_count; ++i) mprotect(b.stacks + i * kStackBytes, 4096, PROT_NONE);
}

Block& admit(const Launch& launch, std::uint32_t linear) {
  Block& b = take_block();
  const uint3 g = launch.grid;
  const uint3 s = launch.block;
  b.index = {linear % g.x, linear / g.x % g.y, linear / g.x / g.y};
  b.id = launch.first_block + linear;
  b.generation = 1;
  b.size = static_cast<int>(s.x * s.y * s.z);
  b.done = b.at_barrier = b.at_grid_barrier = 0;
  b.warps = (b.size + kWarp - 1) / kWarp;
  b.serial = ++engine.block_serial;
  b.more = nullptr;
  for (NamedBarrier& n : b.named) n = NamedBarrier{};
  b.objects.clear();
  b.flying.clear();
  b.met_at = b.met_at_too = Here{"", 0};
  b.meetings.clear();
  std::fill_n(b.piece_of.begin(), b.arena_used / 4 + 1, std::uint16_t{0});
  b.pieces.clear();
  b.arena_used = kGap;
  b.dynamic = nullptr;
  if (g_dynamic_bytes > 0) b.dynamic = place_piece(b, "dynamic shared memory", &b, g_dynamic_bytes, 128);

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
  b.ready_head = b.ready_count = 0;
  for (int w = 0; w < b.warps; ++w) {
    const int lanes = std::min(kWarp, b.size - w * kWarp);
    b.warp_done[w] = lanes == kWarp ? 0u : ~0u << lanes;
    b.warp_waiting[w] = 0;
  }
  for (std::size_t i = 0; i < size; ++i) {
    Thread& t = b.threads[i];
    const auto n = static_cast<unsigned>(i);
    t.index = {n % s.x, n / s.x % s.y, n / s.x / s.y};
    t.stack_low = b.stacks + i * kStackBytes;
    // Stack tops are spread over the cache's sets: at equal offsets 1024 fibers would fight for a few lines.
    unsigned char* top = t.stack_low + kStackBytes - (i * 7 % 32) * 192;
    t.context = make_fcontext(top, static_cast<std::size_t>(top - t.stack_low) - 4096, &fiber_main);
    t.step = 1;
    t.warp_generation = 0;
    t.fenced_generation = 0;
    if (t.has_clocks) {
      t.more = t.fenced_device = t.fenced_block = t.seen_device = t.seen_block = nullptr;
      t.has_clocks = false;
    }
    t.open.clear();
    t.committed.clear();
    t.bound.clear();
    t.fence_epoch = 0;
    t.volatile_reads = 0;
    t.atomic_was_idle = false;
  }
  for_threads_in_order(b, [](Thread& t) { wake(t); });
  ++engine.counters.blocks;
  return b;
}

void on_thread_done(Thread& t) {
  Block& b = *t.block;
  ++b.done;
  b.warp_done[t.warp] |= 1u << t.lane;
  progress();
  if (b.at_barrier > 0) {
    for (const Thread& w : b.threads) {
      if (w.state == State::block_barrier) return divergent_exit(b, w, t);
    }
  }
  if (b.warp_waiting[t.warp] != 0) {
    engine.current = nullptr;
    Thread* lanes = &b.threads[static_cast<std::size_t>(t.warp) * kWarp];
    for (unsigned rest = b.warp_waiting[t.warp]; rest != 0; rest &= rest - 1) {
      Thread& w = lanes[__builtin_ctz(rest)];
      if (w.state == State::warp && (w.mask >> t.lane & 1u) != 0 && try_complete_warp(w)) break;
    }
  }
}

// Runs threads of one block until none is ready, its threads only poll, or the schedule draws another block. False: stop the launch.
bool run_slice(Block& b) {
  g_slice_idle = 0;
  g_turn_over = false;
  const std::int64_t patience = 64 + 2 * static_cast<std::int64_t>(b.size);
  while (b.ready_count > 0 && g_slice_idle <= patience) {
    Thread& t = pop_ready(b);
    engine.current = &t;
    running_thread = t.index;
    running_block = b.index;
    ++engine.counters.switches;
    const transfer_t back = jump_fcontext(static_cast<fcontext_t>(t.context), &t);
    t.context = back.fctx;
    settle();
    if (t.state == State::done) on_thread_done(t);
    engine.current = nullptr;
    if (engine.is_stopped) return false;
    if (g_resident.size() > 1 && engine.order == Order::random && one_in(128)) {
      g_turn_over = true;
      return true;
    }
  }
  return true;
}

// Says who waits where: one clause per place.
void report_deadlock(Block& b, const char* what) {
  struct Group {
    const Thread* first;
    int count;
  };
  std::vector<Group> groups;
  for (const Thread& t : b.threads) {
    if (t.state == State::done) continue;
    bool found = false;
    for (Group& g : groups) {
      if (g.first->state == t.state && same_place(g.first->here, t.here) && g.first->mask == t.mask) {
        ++g.count;
        found = true;
        break;
      }
    }
    if (!found && groups.size() < 6) groups.push_back({&t, 1});
  }
  std::string text = what;
  for (const Group& g : groups) {
    text +=
        fmt::format("; {} thread{} (first {}) {} {}", g.count, g.count == 1 ? "" : "s", show(g.first->index),
                    g.first->state == State::ready ? "poll at" : "wait at", g.first->waits_for);
    if (g.first->here.line != 0) text += fmt::format(" {}:{}", g.first->here.file, g.first->here.line);
    if (g.first->state == State::warp) text += fmt::format(" with mask {:#x}", g.first->mask);
  }
  if (b.done > 0) text += fmt::format("; {} have exited", b.done);
  const Thread* who = groups.empty() ? nullptr : groups[0].first;
  RawFinding* f =
      note(FindingKind::deadlock, text, who, who != nullptr && who->here.line != 0 ? locate(who->here) : 0);
  if (f != nullptr && groups.size() > 1) {
    f->finding.has_other = true;
    f->finding.other_thread = {b.index, groups[1].first->index};
    f->other_location = groups[1].first->here.line != 0 ? locate(groups[1].first->here) : 0;
    f->other_launch = f->launch;
  }
  engine.is_stopped = true;
}

void release_grid_barrier() {
  if (checking()) on_grid_barrier(g_resident);
  for (Block* b : g_resident) {
    b->at_grid_barrier = 0;
    ++b->generation;
    for_threads_in_order(*b, [](Thread& t) {
      if (t.state == State::grid_barrier) wake(t);
    });
  }
  progress();
}

void run_blocks(const Launch& launch, bool cooperative) {
  const std::uint32_t total = launch.blocks;
  // Any order of blocks is legal: ascending, descending, or a stride that visits all.
  std::uint64_t stride = 1;
  std::uint64_t start = 0;
  if (engine.order == Order::random || engine.order == Order::by_warp) {
    start = next_random() % total;
    do stride = total == 1 ? 1 : 1 + next_random() % total;
    while (std::gcd(stride, std::uint64_t{total}) != 1);
  }
  const auto nth = [&](std::uint64_t i) {
    if (engine.order == Order::descending) return static_cast<std::uint32_t>(total - 1 - i);
    return static_cast<std::uint32_t>((start + i * stride) % total);
  };
  std::uint32_t next = 0;
  std::size_t at = 0;
  std::size_t wanted = static_cast<std::size_t>(std::max(1, engine.options.resident_blocks));
  if (engine.order == Order::random) wanted = std::max<std::size_t>(wanted, 2);  // blocks interleave, too
  const std::size_t limit = cooperative ? total : std::max<std::size_t>(wanted, kMaxResident);
  while (!engine.is_stopped) {
    while (g_resident.size() < wanted && next < total) g_resident.push_back(&admit(launch, nth(next++)));
    if (engine.is_stopped || g_resident.empty()) break;
    if (at >= g_resident.size()) at = 0;
    Block& b = *g_resident[at];
    if (!run_slice(b)) break;
    if (b.done == b.size) {
      check_gaps(b);
      check_flights(b);
      give_back(&b);
      g_resident.erase(g_resident.begin() + static_cast<std::ptrdiff_t>(at));
      continue;
    }
    if (g_turn_over && b.ready_count > 0) {
      ++at;
      continue;
    }
    if (land_flights(b)) continue;
    const bool more_to_admit = next < total && g_resident.size() < limit;
    if (b.ready_count == 0) {
      if (resolve_active_masks(b)) continue;
      if (b.at_grid_barrier + b.done != b.size || b.at_grid_barrier == 0) {
        report_deadlock(b, "no thread of the block can go on");
        break;
      }
      if (more_to_admit) {
        wanted = g_resident.size() + 1;
        at = g_resident.size();
        continue;
      }
      bool all = next == total;
      for (const Block* r : g_resident) all = all && r->at_grid_barrier == r->size;
      if (all) {
        release_grid_barrier();
      } else if (b.done > 0 || std::all_of(g_resident.begin(), g_resident.end(),
                                           [](const Block* r) { return r->ready_count == 0; })) {
        report_deadlock(b, "not all threads of the grid reach the grid barrier");
        break;
      }
      ++at;
      continue;
    }
    // Its threads poll: let others run, and bring in a block that may be what they wait for.
    if (g_idle > kIdleLimit) {
      report_deadlock(b, "the threads poll for something that never comes");
      break;
    }
    if (more_to_admit) wanted = g_resident.size() + 1;
    ++at;
  }
  for (Block* b : g_resident) give_back(b);
  g_resident.clear();
}

}  // namespace

static int stream_index(const void* stream) {
  const auto it = std::find(engine.streams.begin(), engine.streams.end(), stream);
  if (it != engine.streams.end()) return static_cast<int>(it - engine.streams.begin());
  engine.streams.push_back(stream);
  engine.stream_knows.emplace_back();
  return static_cast<int>(engine.streams.size()) - 1;
}

Launch& open_launch(void* stream) {
  Launch launch;
  launch.stream = stream_index(stream);
  auto& knows = engine.stream_knows[static_cast<std::size_t>(launch.stream)];
  knows.resize(engine.streams.size());
  launch.knows = knows;
  launch.first_block = engine.next_block_id;
  engine.launches.push_back(std::move(launch));
  knows[static_cast<std::size_t>(engine.launches.back().stream)] = static_cast<int>(engine.launches.size());
  return engine.launches.back();
}

namespace {

void run_launch(std::string name, const void* kernel, dim3 grid, dim3 block, std::size_t shared_bytes,
                void* stream, bool cooperative, Here here, void (*body)(void*), void* closure) {
  if (engine.current != nullptr) trap("a kernel launches a kernel: not supported by the CPU executor", here);
  begin_by_itself();
  const auto lock = enter_engine();
  if (engine.is_stopped) return;
  enter_stream(stream);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  Launch& launch = open_launch(stream);
  launch.kernel = std::move(name);
  launch.kernel_address = kernel;
  launch.grid = grid;
  launch.block = block;
  launch.here = here;
  const std::uint64_t total = std::uint64_t{grid.x} * grid.y * grid.z;
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  std::string refused;
  if (threads == 0 || threads > kMaxThreads || block.z > 64)
    refused = fmt::format("a block of {} threads, not 1 to {}", show(block), kMaxThreads);
  if (grid.y > 65535 || grid.z > 65535 || total > 0x7fffffffu) refused = "a grid of " + show(grid);
  if (shared_bytes > kMaxShared) refused = fmt::format("{} bytes of dynamic shared memory", shared_bytes);
  if (!refused.empty()) {
    note(FindingKind::bad_launch, "a device refuses " + refused, nullptr, locate(here));
    engine.is_stopped = true;
    return;
  }
  engine.counters.threads += static_cast<std::int64_t>(total * threads);
  if (engine.options.max_threads > 0 && engine.counters.threads > engine.options.max_threads) {
    engine.is_stopped = true;
    engine.running = false;
    return;
  }
  launch.blocks = static_cast<std::uint32_t>(total);
  engine.next_block_id += launch.blocks;
  ++engine.counters.launches;
  g_body = body;
  g_closure = closure;
  g_dynamic_bytes = shared_bytes;
  running_block_extent = block;
  running_grid_extent = grid;
  engine.cooperative = cooperative;
  engine.running = true;
  g_idle = 0;
  run_blocks(launch, cooperative);
  engine.running = false;
  engine.current = nullptr;
  if (engine.is_stopped) report_now();  // the program may abort on the error it is told
}

}  // namespace

// ---- the program's side ----

void begin_run(const Options& options) {
  engine.options = options;
  engine.begun = true;
  engine.is_stopped = false;
  engine.counters = {};
  engine.rng = (options.seed + 1) * 0x9e3779b97f4a7c15u;
  for (int i = 0; i < 4; ++i) next_random();
  engine.order = options.order;
  if (options.order == Order::from_seed) {
    constexpr Order kOrders[] = {Order::ascending, Order::random, Order::descending, Order::by_warp};
    engine.order = kOrders[options.seed % 4];
  }
  engine.next_block_id = 1;
  engine.launches.clear();
  engine.arrays.clear();
  engine.last_array = nullptr;
  engine.flags.clear();
  engine.streams.clear();
  engine.stream_knows.clear();
  engine.findings.clear();
  engine.further_findings = 0;
  engine.doubt = Doubt{};
  if (checking() && engine.image.empty()) load_image();
  forget_marks();
  for (auto& b : g_pool) b->shadow.reset();  // block ids start again
}

bool stopped() { return engine.is_stopped; }
std::int64_t threads_refused() {
  const bool over = engine.options.max_threads > 0 && engine.counters.threads > engine.options.max_threads;
  return over ? engine.counters.threads : 0;
}
Counters counters() { return engine.counters; }

void add_array(const std::string& name, const void* data, std::size_t bytes, bool initialised,
               bool writable) {
  auto a = std::make_unique<Array>();
  a->name = name;
  a->base = static_cast<unsigned char*>(const_cast<void*>(data));
  a->bytes = bytes;
  a->initialised = initialised;
  a->writable = writable;
  const auto after =
      std::upper_bound(engine.arrays.begin(), engine.arrays.end(), a->base,
                       [](const unsigned char* base, const auto& b) { return base < b->base; });
  engine.arrays.insert(after, std::move(a));
}

void remove_array(const void* data) {
  engine.last_array = nullptr;
  auto& all = engine.arrays;
  all.erase(std::remove_if(all.begin(), all.end(), [&](const auto& a) { return a->base == data; }),
            all.end());
}

std::vector<int> knowledge_of(const void* stream) {
  return engine.stream_knows[static_cast<std::size_t>(stream_index(stream))];
}

void add_knowledge(const void* stream, const std::vector<int>& more) {
  auto& knows = engine.stream_knows[static_cast<std::size_t>(stream_index(stream))];
  knows.resize(std::max(engine.streams.size(), more.size()));
  for (std::size_t i = 0; i < more.size(); ++i) knows[i] = std::max(knows[i], more[i]);
}

void order_streams(const void* later, const void* earlier) {
  stream_index(later);
  add_knowledge(later, knowledge_of(earlier));
}

void order_all() {
  std::vector<int> everything(engine.streams.size(), static_cast<int>(engine.launches.size()));
  for (auto& knows : engine.stream_knows) knows = everything;
}

// ---- the kernel's side ----

void progress() { g_idle = g_slice_idle = 0; }

void yield(bool spinning) {
  Thread* t = engine.current;
  if (t == nullptr) return;
  if (spinning) {
    ++g_idle;
    ++g_slice_idle;
  }
  push_ready(*t->block, *t);
  switch_out();
}

void stop() {
  engine.is_stopped = true;
  for (;;) switch_out();
}


int block_barrier(Vote vote, int predicate, Here here) {
  Thread& t = *engine.current;
  Block& b = *t.block;
  static constexpr const char* kNames[] = {"__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or"};
  t.here = here;
  t.waits_for = kNames[static_cast<int>(vote)];
  t.mask = 0;
  t.answer = predicate != 0 ? 1u : 0u;
  t.state = State::block_barrier;
  ++b.at_barrier;
  if (b.done > 0) {
    for (const Thread& gone : b.threads) {
      if (gone.state != State::done) continue;
      divergent_exit(b, t, gone);
      stop();
    }
  }
  if (b.at_barrier == b.size) {
    complete_block_barrier(b);
    if (engine.is_stopped) stop();
    t.state = State::ready;
    if (b.size > 1 && engine.order != Order::ascending)
      yield(false);  // the last to arrive need not be the first to leave
  } else {
    switch_out();
  }
  switch (vote) {
    case Vote::none:
      return 0;
    case Vote::count:
      return static_cast<int>(t.answer);
    case Vote::all:
      return t.answer == static_cast<unsigned>(b.size) ? 1 : 0;
    case Vote::any:
      return t.answer != 0 ? 1 : 0;
  }
  return 0;
}

void named_barrier(int id, int threads, bool wait, Here here) {
  Thread& t = *engine.current;
  Block& b = *t.block;
  if (id < 0 || id > 15) trap("named barriers are 0 to 15", here);
  if (threads <= 0 || threads % kWarp != 0 || threads > (b.size + kWarp - 1) / kWarp * kWarp)
    trap("a named barrier counts whole warps of the block", here);
  NamedBarrier& barrier = b.named[id];
  if (barrier.expected != 0 && barrier.expected != threads)
    trap("threads disagree on a named barrier's count", here);
  barrier.expected = threads;
  ++barrier.arrived;
  if (checking()) barrier.clock = join(barrier.clock, snapshot(t));
  t.here = here;
  t.waits_for = "named barrier";
  t.mask = 0;
  t.barrier_id = id;
  if (wait) {
    barrier.waiting.push_back(t.id);
    t.state = State::named_barrier;
  } else {
    ++t.step;
  }
  if (barrier.arrived == barrier.expected) {
    complete_named(b, barrier);
    t.state = State::ready;
  } else if (wait) {
    switch_out();
  }
}

void grid_barrier(Here here) {
  Thread& t = *engine.current;
  if (!engine.cooperative) trap("a grid barrier needs a cooperative launch", here);
  t.here = here;
  t.waits_for = "the grid barrier";
  t.mask = 0;
  t.state = State::grid_barrier;
  ++t.block->at_grid_barrier;
  switch_out();
}

void warp_exchange(unsigned mask, const char* name, Combine combine, void* in, void* out, Here here) {
  Thread& t = *engine.current;
  Block& b = *t.block;
  t.here = here;
  t.waits_for = name;
  t.mask = mask;
  if ((mask >> t.lane & 1u) == 0) {
    RawFinding* f =
        note(FindingKind::lane_outside_mask,
             fmt::format("lane {} calls {} with mask {:#x}, which does not name it", t.lane, name, mask), &t,
             locate(here));
    if (f != nullptr) f->finding.hint = "every lane that makes the call must be in its mask";
    stop();
  }
  t.combine = combine;
  t.in = in;
  t.out = out;
  t.state = State::warp;
  b.warp_waiting[t.warp] |= 1u << t.lane;
  if (try_complete_warp(t)) {
    t.state = State::ready;
    if (engine.order == Order::random && one_in(4)) yield(false);
    return;
  }
  if (engine.is_stopped) stop();
  switch_out();
}

unsigned active_mask(Here here) {
  Thread& t = *engine.current;
  t.here = here;
  t.waits_for = "__activemask";
  t.mask = 0;
  t.state = State::active_mask;
  switch_out();
  return t.answer;
}

unsigned present(unsigned mask) {
  const Thread& t = *engine.current;
  return mask & ~t.block->warp_done[t.warp];
}

void poison_value(void* out, std::size_t bytes) {
  constexpr unsigned char kNan[8] = {0xad, 0xde, 0xc0, 0x7f, 0xad, 0xde, 0xf8, 0x7f};
  std::memcpy(out, bytes == 8 ? kNan : kNan, std::min<std::size_t>(bytes, 8));
}

void fence(Scope scope) {
  Thread* t = engine.current;
  if (t == nullptr) return;
  if (checking()) on_fence(*t, scope);
  if (engine.order != Order::ascending && one_in(4)) yield(false);
}

void pause_before_atomic(Thread& thread, Here here) {
  thread.here = here;
  thread.waits_for = "an atomic operation";
  if (thread.atomic_was_idle) {
    yield(true);
  } else if (engine.order != Order::ascending && one_in(8)) {
    yield(false);
  }
}

void atomic_begin(const volatile void* p, std::size_t bytes, Scope scope, Here here) {
  Thread* t = engine.current;
  if (t == nullptr) return;
  pause_before_atomic(*t, here);
  if (reinterpret_cast<std::uintptr_t>(p) % bytes != 0) {
    note(FindingKind::misaligned,
         fmt::format("atomic operation on {} bytes at an address that is no multiple", bytes), t,
         locate(here));
    stop();
  }
  if (checking()) access(const_cast<void*>(p), bytes, Access::atomic_rmw, locate(here), scope);
}

void atomic_end(bool changed) {
  Thread* t = engine.current;
  if (t == nullptr) return;
  t->atomic_was_idle = !changed;
  if (changed) progress();
}

void** meeting_place(const void* key) {
  std::vector<void*>& place = engine.current->block->meetings[key];
  if (place.empty()) place.resize(kMaxThreads);
  return place.data();
}

void pause() {
  if (engine.current == nullptr) return;
  engine.current->waits_for = "__nanosleep";
  yield(true);
}

long long clock_ticks() {
  if (engine.current != nullptr) {  // threads that wait for time to pass wait together
    engine.current->waits_for = "the clock";
    yield(false);
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void* SharedSlot::address(std::size_t bytes, std::size_t alignment) {
  Thread* t = engine.current;
  if (t == nullptr) throw input_error("gpu/simt", 0, "shared memory used outside of a kernel", name_);
  Block& b = *t->block;
  if (block_ == b.serial) return address_;
  block_ = b.serial;
  for (const SharedPiece& piece : b.pieces) {
    if (piece.slot == this) return address_ = b.arena + piece.begin;
  }
  return address_ = place_piece(b, name_, this, bytes, alignment);
}

void* dynamic_shared() {
  static unsigned char nothing[16];
  if (engine.current == nullptr)
    throw input_error("gpu/simt", 0, "dynamic shared memory used outside of a kernel");
  Block& b = *engine.current->block;
  // With no dynamic shared memory asked for, the first byte already lies outside.
  return b.dynamic != nullptr ? b.dynamic : checking() ? b.arena : nothing;
}

unsigned shared_offset(const void* p) {
  return static_cast<unsigned>(static_cast<const unsigned char*>(p) - engine.current->block->arena);
}
void* shared_at(unsigned offset) { return engine.current->block->arena + offset; }
bool is_shared(const void* p) {
  const Block& b = *engine.current->block;
  return static_cast<std::size_t>(static_cast<const unsigned char*>(p) - b.arena) < kArenaBytes;
}

void trap(const char* what, Here here) {
  if (engine.current == nullptr) throw input_error(here.file, here.line, what);
  note(FindingKind::trap, what, engine.current, locate(here));
  stop();
}

void launch_written(const char* name, dim3 grid, dim3 block, std::size_t shared_bytes, void* stream,
                    void (*body)(void*), void* closure, std::size_t closure_bytes, Here here) {
  const auto launch = [=](void* in_stream, void* arguments) {
    const auto lock = enter_engine();
    engine.params_low = static_cast<const unsigned char*>(arguments);
    engine.params_high = engine.params_low + closure_bytes;
    run_launch(name, nullptr, grid, block, shared_bytes, in_stream, false, here, body, arguments);
    engine.params_low = engine.params_high = nullptr;
  };
  stream = launch_key(stream);
  if (!is_captured(stream)) return launch(stream, closure);
  // Arguments of a kernel are bytes: a graph keeps them.
  const std::size_t bytes = (closure_bytes + 63) / 64 * 64;
  const std::shared_ptr<void> kept(std::aligned_alloc(64, bytes), &std::free);
  std::memcpy(kept.get(), closure, closure_bytes);
  capture_launch(stream, [launch, kept](void* in_stream) { launch(in_stream, kept.get()); });
}

}  // namespace plumb::simt

// clock() counts a device's cycles in a kernel (cudaDeviceProp::clockRate: a thousand a microsecond), and the process' time in host code.
extern "C" clock_t clock() noexcept {
  if (plumb::simt::engine.current != nullptr) return static_cast<clock_t>(plumb::simt::clock_ticks());
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<clock_t>(used.tv_sec * CLOCKS_PER_SEC + used.tv_nsec / (1000000000 / CLOCKS_PER_SEC));
}

// A failed assert() in a kernel is a finding; in host code it is what it always was.
extern "C" void __assert_fail(const char* expression, const char* file, unsigned line,
                              const char* function) noexcept {
  if (plumb::simt::engine.current != nullptr) {
    plumb::simt::trap((std::string("assertion failed: ") + expression).c_str(),
                      {file, static_cast<int>(line)});
  }
  std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, expression);
  std::abort();
}

namespace plumb {

void Grid::narrow(long long x) {
  if (x < 0 || x > 0x7fffffffLL) throw input_error(file, line, "grid extent out of range", std::to_string(x));
  extent.x = static_cast<unsigned>(x);
}

namespace launching {

void launch_packed(const void* kernel, void (*invoke)(const void*, void**), Grid grid, dim3 block,
                   std::size_t shared_bytes, void* stream, void** args, Kind kind) {
  struct Call {
    const void* kernel;
    void (*invoke)(const void*, void**);
    void** args;
  } call{kernel, invoke, args};
  simt::run_launch(
      {}, kernel, grid.extent, block, shared_bytes, stream, kind == Kind::cooperative, {grid.file, grid.line},
      [](void* c) {
        const auto* what = static_cast<const Call*>(c);
        what->invoke(what->kernel, what->args);
      },
      &call);
}

}  // namespace launching

void device_fill(void* ptr, int byte, std::size_t bytes, void* stream, const char* file, int line) {
  if (bytes == 0 || simt::stopped()) return;
  simt::host_operation("device_fill", stream, {file, line}, ptr, nullptr, bytes);
  if (!simt::stopped()) std::memset(ptr, byte, bytes);
}

void device_copy(void* to, const void* from, std::size_t bytes, void* stream, const char* file, int line) {
  if (bytes == 0 || simt::stopped()) return;
  simt::host_operation("device_copy", stream, {file, line}, to, from, bytes);
  if (!simt::stopped()) std::memcpy(to, from, bytes);
}

int device_multiprocessors() { return simt::engine.options.multiprocessors; }

}  // namespace plumb
