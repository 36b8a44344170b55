// What happens to memory: bounds, initialisation, and whether two accesses are ordered by anything CUDA
// promises.
//
// The order: block barriers by generation; __syncwarp, shuffles, votes and the other *_sync operations among
// the lanes of their mask; a fence followed by an atomic or volatile store, seen by an atomic or volatile
// load followed by a fence or a barrier, at the narrower of their scopes; launches of one stream; streams
// where an event or a synchronisation joins them. Nothing else: no lockstep in a warp, no order between
// blocks, and a relaxed atomic orders nothing. Two accesses to one granule race when one writes, they are by
// different threads, none is ordered before the other, and they are not both atomic (or volatile) at a scope
// that holds both threads.
//
// Two plain writes of one value race by the letter, and can do no harm: a flag that several threads raise. They are not reported;
// a read of it that is not ordered after them is.
//
// Volatile in shared memory counts as plain unless its writer has executed a fence since the last barrier:
// this is how a flag with a fence is told from the old warp-synchronous reduction, which is wrong since Volta
// and must be reported. The consumer's side may use a barrier in place of its fence, as the programming
// guide's own threadFenceReduction does.
#include <fmt/core.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "gpu/simt/engine.hpp"
#include "reference/core/error.hpp"

namespace plumb::simt {

// ---- clocks ----

namespace {

Known merge(const Known& a, const Known& b) {
  if (a.generation != b.generation) return a.generation > b.generation ? a : b;
  Known out{a.block, a.generation, {}};
  out.threads.reserve(a.threads.size() + b.threads.size());
  auto i = a.threads.begin();
  auto j = b.threads.begin();
  while (i != a.threads.end() || j != b.threads.end()) {
    if (j == b.threads.end() || (i != a.threads.end() && i->first < j->first)) {
      out.threads.push_back(*i++);
    } else if (i == a.threads.end() || j->first < i->first) {
      out.threads.push_back(*j++);
    } else {
      out.threads.emplace_back(i->first, std::max(i->second, j->second));
      ++i;
      ++j;
    }
  }
  return out;
}

const Known* find(const ClockPtr& clock, std::uint32_t block) {
  if (clock == nullptr) return nullptr;
  const auto it = std::lower_bound(clock->blocks.begin(), clock->blocks.end(), block,
                                   [](const Known& k, std::uint32_t b) { return k.block < b; });
  return it != clock->blocks.end() && it->block == block ? &*it : nullptr;
}

bool covers(const Known* k, std::uint32_t generation, std::uint16_t thread, std::uint32_t step) {
  if (k == nullptr) return false;
  if (k->generation != generation) return k->generation > generation;
  const auto it = std::lower_bound(k->threads.begin(), k->threads.end(), thread,
                                   [](const auto& e, std::uint16_t t) { return e.first < t; });
  return it != k->threads.end() && it->first == thread && it->second >= step;
}

}  // namespace

ClockPtr join(const ClockPtr& a, const ClockPtr& b) {
  if (a == nullptr || a == b) return b;
  if (b == nullptr) return a;
  auto out = std::make_shared<Clock>();
  out->blocks.reserve(a->blocks.size() + b->blocks.size());
  auto i = a->blocks.begin();
  auto j = b->blocks.begin();
  while (i != a->blocks.end() || j != b->blocks.end()) {
    if (j == b->blocks.end() || (i != a->blocks.end() && i->block < j->block)) {
      out->blocks.push_back(*i++);
    } else if (i == a->blocks.end() || j->block < i->block) {
      out->blocks.push_back(*j++);
    } else {
      out->blocks.push_back(merge(*i++, *j++));
    }
  }
  return out;
}

ClockPtr snapshot(Thread& t) {
  Block& b = *t.block;
  auto own = std::make_shared<Clock>();
  Known k{b.id, b.generation, {}};
  const bool valid = t.warp_generation == b.generation;
  for (int lane = 0; lane < kWarp; ++lane) {
    const auto id = static_cast<std::uint16_t>(t.warp * kWarp + lane);
    if (lane == t.lane) {
      k.threads.emplace_back(id, t.step);
    } else if (valid && t.warp_step[lane] != 0) {
      k.threads.emplace_back(id, t.warp_step[lane]);
    }
  }
  own->blocks.push_back(std::move(k));
  return join(join(own, t.more), b.more);
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
    auto own = std::make_shared<Clock>();
    own->blocks.push_back({b->id, b->generation + 1, {}});
    all = join(all, join(own, b->more));
  }
  for (Block* b : blocks) b->more = all;
}

void on_warp_sync(Block& b, int warp, unsigned mask) {
  Thread* lanes = &b.threads[static_cast<std::size_t>(warp) * kWarp];
  std::uint32_t joined[kWarp] = {};
  bool clocks = false;
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
    Thread& t = lanes[__builtin_ctz(rest)];
    if (t.warp_generation == b.generation) {
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

// ---- the shadow ----

Shadow::Shadow(std::size_t bytes) : bytes_(bytes) {
  const std::size_t need = (bytes / 4 + 2) * sizeof(Cell);
  void* p = mmap(nullptr, need, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    throw input_error("gpu/simt", 0, "no memory for the shadow of an array", std::to_string(bytes));
  cells_ = static_cast<Cell*>(p);  // zero pages: no access, not initialised
}

Shadow::~Shadow() { munmap(cells_, (bytes_ / (std::size_t{1} << shift_) + 2) * sizeof(Cell)); }

void Shadow::refine() {
  Cell* const old = cells_;
  const std::size_t count = bytes_ / 4 + 2;
  void* p = mmap(nullptr, (bytes_ + 2) * sizeof(Cell), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    throw input_error("gpu/simt", 0, "no memory for the shadow of an array", std::to_string(bytes_));
  cells_ = static_cast<Cell*>(p);
  shift_ = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Cell& c = old[i];
    if (c.write.block == 0 && c.other.block == 0 && c.initialised == 0 && c.async_pending == 0) continue;
    for (std::size_t j = 0; j < 4 && i * 4 + j < bytes_; ++j) {
      Cell& fine = cells_[i * 4 + j];
      fine = c;
      if (c.more != 0) {  // each byte owns its set
        const MarkSet copy = engine.mark_sets[c.more];
        engine.mark_sets.push_back(copy);
        fine.more = static_cast<std::uint32_t>(engine.mark_sets.size() - 1);
      }
    }
  }
  munmap(old, count * sizeof(Cell));
}

void forget_marks() {
  engine.mark_sets.assign(1, {});
  engine.free_mark_sets.clear();
  for (auto& a : engine.image) a->shadow.reset();
}

namespace {

constexpr std::size_t kMaxMarks =
    64;  // groups of unordered readers kept for one granule; beyond them a sample

void release_more(Cell& c) {
  if (c.more == 0) return;
  engine.mark_sets[c.more].marks.clear();
  engine.mark_sets[c.more].warps = 0;
  engine.free_mark_sets.push_back(c.more);
  c.more = 0;
}

MarkSet& more_of(Cell& c) {
  if (c.more == 0) {
    if (!engine.free_mark_sets.empty()) {
      c.more = engine.free_mark_sets.back();
      engine.free_mark_sets.pop_back();
    } else {
      engine.mark_sets.emplace_back();
      c.more = static_cast<std::uint32_t>(engine.mark_sets.size() - 1);
    }
  }
  return engine.mark_sets[c.more];
}

std::uint64_t warp_bit(const Mark& m) { return std::uint64_t{1} << ((m.block * 37 + m.warp) & 63u); }

int launch_of(std::uint32_t block) {
  const auto it = std::upper_bound(engine.launches.begin(), engine.launches.end(), block,
                                   [](std::uint32_t b, const Launch& l) { return b < l.first_block; });
  return static_cast<int>(it - engine.launches.begin()) - 1;
}

bool launch_known(std::uint32_t block) {
  const Launch& now = engine.launches.back();
  const int then = launch_of(block);
  const auto stream = static_cast<std::size_t>(engine.launches[static_cast<std::size_t>(then)].stream);
  return stream < now.knows.size() && now.knows[stream] > then;
}

// Whether everything `m` stands for happened before the thread's next access.
bool known(const Thread& t, const Mark& m) {
  const Block& b = *t.block;
  const auto generation = static_cast<std::uint32_t>(m.epoch >> 32);
  const auto step = static_cast<std::uint32_t>(m.epoch);
  if (m.block == b.id) {
    if (generation < b.generation) return true;
    const Known* sparse = nullptr;
    bool looked = false;
    for (unsigned rest = m.lanes; rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      if (m.warp == t.warp) {
        if (lane == t.lane) continue;
        if (t.warp_generation == b.generation && t.warp_step[lane] >= step) continue;
      }
      if (!looked) {
        sparse = find(t.more, b.id);
        looked = true;
      }
      if (!covers(sparse, generation, static_cast<std::uint16_t>(m.warp * kWarp + lane), step)) return false;
    }
    return true;
  }
  if (m.block < engine.launches.back().first_block) return launch_known(m.block);
  const Known* mine = find(t.more, m.block);
  const Known* all = find(b.more, m.block);
  if (mine == nullptr && all == nullptr) return false;
  for (unsigned rest = m.lanes; rest != 0; rest &= rest - 1) {
    const auto id = static_cast<std::uint16_t>(m.warp * kWarp + __builtin_ctz(rest));
    if (!covers(mine, generation, id, step) && !covers(all, generation, id, step)) return false;
  }
  return true;
}

// Whether the two would race if unordered.
bool conflict(const Mark& a, const Mark& b) {
  if (a.writes == 0 && b.writes == 0) return false;
  if (a.strength == kPlain || b.strength == kPlain) return true;
  return (a.strength == kBlockScope || b.strength == kBlockScope) && a.block != b.block;
}

ThreadId thread_of(const Mark& m, int launch) {
  const Launch& l = engine.launches[static_cast<std::size_t>(launch)];
  ThreadId id;
  if (l.host) return id;
  const std::uint32_t linear = m.block - l.first_block;
  id.block = {linear % l.grid.x, linear / l.grid.x % l.grid.y, linear / l.grid.x / l.grid.y};
  const unsigned n =
      m.warp * static_cast<unsigned>(kWarp) + static_cast<unsigned>(__builtin_ctz(m.lanes | 1u << 31));
  id.thread = {n % l.block.x, n / l.block.x % l.block.y, n / l.block.x / l.block.y};
  return id;
}

const char* verb(const Mark& m) {
  if (m.async != 0) return "written by an asynchronous copy";
  if (m.strength != kPlain) return m.writes != 0 ? "written atomically" : "read as volatile";
  return m.writes != 0 ? "written" : "read";
}

// Where an access falls.
struct Target {
  const char* array;
  std::int64_t offset;
  bool shared;
};

}  // namespace

void settle_doubt() {
  if (std::memcmp(engine.doubt.at, engine.doubt.before, engine.doubt.bytes) != 0)
    engine.findings.push_back(std::move(engine.doubtful));
  engine.doubt.at = nullptr;
}

namespace {

void report_race(const Thread& t, const Mark& now, const Mark& then, const Target& target) {
  // Noted now, and moved aside where the two may prove to store the same value.
  const bool both_write = now.writes != 0 && then.writes != 0 && now.strength == kPlain &&
                          then.strength == kPlain && now.async == 0 && then.async == 0;
  const std::size_t before = engine.findings.size();
  const int launch = launch_of(then.block);
  const bool same_launch = launch == static_cast<int>(engine.launches.size()) - 1;
  const bool host = engine.launches[static_cast<std::size_t>(launch)].host;
  const std::string where =
      fmt::format("{}'{}' at byte {}", target.shared ? "shared " : "", target.array, target.offset);
  RawFinding* f =
      note(FindingKind::race,
           fmt::format("{} is {} here and {} there{}, and nothing orders the two", where, verb(now),
                       verb(then), then.block != now.block && same_launch ? " by another block" : ""),
           &t, now.location, then.location);
  if (f == nullptr) return;
  f->finding.array = target.array;
  f->finding.offset = target.offset;
  f->finding.has_other = true;
  f->other_launch = launch;
  f->finding.other_thread = thread_of(then, launch);
  if (!same_launch || host) {
    f->finding.hint = "the two are in different streams: an event, waited for, would order them";
  } else if (then.block != now.block) {
    f->finding.hint =
        now.strength != kPlain && then.strength != kPlain
            ? "a block-scope atomic does not reach another block: use device scope"
        : now.writes != 0 && then.writes != 0
            ? "no barrier reaches another block: atomicAdd, or one launch per phase, would order them"
            : "no barrier reaches another block: the writer needs __threadfence() before an atomic flag, the "
              "reader the flag and a fence or barrier";
  } else if (then.warp == t.warp) {
    f->finding.hint = "a __syncwarp() or __syncthreads() between the two lines would order them";
  } else {
    f->finding.hint = "a __syncthreads() between the two lines would order them";
  }
  if (both_write && engine.access_bytes <= sizeof engine.doubt.before && engine.findings.size() > before) {
    engine.doubtful = std::move(engine.findings.back());
    engine.findings.pop_back();
    engine.doubt.at = engine.access_at;
    engine.doubt.bytes = engine.access_bytes;
    std::memcpy(engine.doubt.before, engine.access_at, engine.access_bytes);
  }
}

// One granule. Returns false once something was reported, so that one access is one finding.
bool touch(Thread& t, Cell& c, const Mark& now, const Target& target, bool check_initialised) {
  const Block& b = *t.block;
  if (target.shared && c.owner_block != b.id) {
    release_more(c);
    c = Cell{};
    c.owner_block = b.id;
  }
  // What nearly every access is: plain, and after a barrier or the thread's own.
  if (now.strength == kPlain && c.async_pending == 0 &&
      (c.initialised != 0 || now.writes != 0 || !check_initialised)) {
    const auto behind = [&](const Mark& m) {
      return m.block == b.id && (static_cast<std::uint32_t>(m.epoch >> 32) < b.generation ||
                                 (m.warp == now.warp && m.lanes == now.lanes));
    };
    if (c.write.block == 0 || behind(c.write)) {
      if (now.writes != 0) {
        if (c.other.block == 0 || (c.more == 0 && behind(c.other))) {
          c.write = now;
          c.other.block = 0;
          c.atomics = 0;
          c.initialised = 1;
          return true;
        }
      } else if (c.atomics == 0) {
        if (c.other.block == 0 || (target.shared && c.more == 0 && behind(c.other))) {
          c.other = now;
          return true;
        }
        std::vector<Mark>& more = engine.mark_sets[c.more].marks;  // [0] is empty
        Mark& last = more.empty() ? c.other : more.back();
        if (last.epoch == now.epoch && last.block == now.block && last.warp == now.warp &&
            last.strength == kPlain) {
          last.lanes |= now.lanes;
          last.location = now.location;
          return true;
        }
      }
    }
  }
  bool good = true;
  if (c.async_pending != 0 && now.async == 0) {
    RawFinding* f =
        note(FindingKind::async_copy_not_waited_for,
             fmt::format("shared '{}' at byte {} is {} here while an asynchronous copy to it is under way",
                         target.array, target.offset, verb(now)),
             &t, now.location, c.write.location);
    if (f != nullptr) {
      f->finding.array = target.array;
      f->finding.offset = target.offset;
      f->finding.has_other = true;
      f->finding.other_thread = thread_of(c.write, static_cast<int>(engine.launches.size()) - 1);
      f->finding.hint = c.async_thread == t.id
                            ? "wait for the group (cp.async.wait_group) or its barrier before using its data"
                            : "the copying thread must wait for its group, then a barrier publishes the data; or "
                              "wait for the barrier that the copy completes on";
    }
    c.async_pending = 0;
    c.initialised = 1;
    c.write = Mark{};
    good = false;
  }
  if (good && c.write.block != 0 && conflict(c.write, now) && !known(t, c.write)) {
    report_race(t, now, c.write, target);
    good = false;
  }
  if (c.other.block != 0) {
    if (good && conflict(c.other, now) && !known(t, c.other)) {
      report_race(t, now, c.other, target);
      good = false;
    }
    if (good && c.more != 0 && (now.writes != 0 || c.atomics != 0)) {
      for (const Mark& m : engine.mark_sets[c.more].marks) {
        if (conflict(m, now) && !known(t, m)) {
          report_race(t, now, m, target);
          good = false;
          break;
        }
      }
    }
  }
  if (now.writes == 0 || now.strength != kPlain) {
    if (check_initialised && c.initialised == 0 && now.async == 0 && good) {
      RawFinding* f = note(FindingKind::uninitialised,
                           fmt::format("{}'{}' at byte {} is read before anything wrote it",
                                       target.shared ? "shared " : "", target.array, target.offset),
                           &t, now.location);
      if (f != nullptr) {
        f->finding.array = target.array;
        f->finding.offset = target.offset;
      }
      good = false;
    }
  }
  if (now.writes != 0 || !good) c.initialised = 1;

  if (now.writes != 0 && now.strength == kPlain) {
    c.write = now;
    c.other.block = 0;
    c.atomics = 0;
    release_more(c);
    return good;
  }
  if (now.writes != 0) c.atomics = 1;
  const auto same_group = [&](const Mark& m) {
    return m.block == now.block && m.epoch == now.epoch && m.warp == now.warp && m.strength == now.strength &&
           m.writes == now.writes;
  };
  // An older mark may go when all who come after this one also come after it, and this one conflicts with as
  // much.
  const auto superseded = [&](const Mark& m) {
    if (target.shared && static_cast<std::uint32_t>(m.epoch >> 32) < b.generation) return true;
    return now.writes >= m.writes && now.strength <= m.strength && known(t, m);
  };
  if (c.other.block == 0) {
    c.other = now;
  } else if (same_group(c.other)) {
    c.other.lanes |= now.lanes;
    c.other.location = now.location;
  } else if (c.more == 0 && superseded(c.other)) {
    c.other = now;
  } else {
    MarkSet& set = more_of(c);
    std::vector<Mark>& more = set.marks;
    if ((set.warps & warp_bit(now)) != 0) {
      for (Mark& m : more) {
        if (!same_group(m)) continue;
        m.lanes |= now.lanes;
        m.location = now.location;
        return good;
      }
    }
    // What may go does, but not at every access: as the list doubles, and where a barrier came between.
    const bool doubled = more.size() < kMaxMarks ? (more.size() & (more.size() - 1)) == 0 : next_random() % 16 == 0;
    if (doubled || (target.shared && static_cast<std::uint32_t>(c.other.epoch >> 32) < b.generation)) {
      more.erase(std::remove_if(more.begin(), more.end(), superseded), more.end());
      set.warps = 0;
      for (const Mark& m : more) set.warps |= warp_bit(m);
    }
    set.warps |= warp_bit(now);
    if (superseded(c.other)) {
      c.other = now;
    } else if (more.size() < kMaxMarks) {
      more.push_back(now);
    } else {
      more[next_random() % kMaxMarks] = now;
    }
  }
  return good;
}

// Marks all granules of [offset, offset + bytes).
void touch_range(Thread& t, Shadow& shadow, std::size_t offset, std::size_t bytes, const Mark& now,
                 Target target, bool check_initialised) {
  if (shadow.granule() != 1 && ((offset | bytes) & 3u) != 0) shadow.refine();
  const std::size_t step = shadow.granule();
  if (check_initialised && now.writes == 0 && bytes != step) {
    // Up to 4 bytes are a number: all of it must be written. A structure read whole has padding that nobody wrote,
    // and a vector may have components that nobody will use: up to 8 bytes any unwritten word is a finding, above
    // only a read of nothing but unwritten words.
    const std::size_t word = step == 1 ? 4 : 1;  // granules of a word
    bool all = true;
    bool any = false;
    for (std::size_t i = 0; i < bytes; i += step * word) {
      bool unwritten = true;
      for (std::size_t j = i; j < i + step * word && j < bytes; j += step) {
        const Cell& c = *shadow.at(offset + j);
        if (c.initialised != 0 && (!target.shared || c.owner_block == t.block->id)) unwritten = false;
      }
      all = all && unwritten;
      any = any || unwritten;
    }
    check_initialised = bytes <= 4 || (bytes <= 8 ? any : all);
  }
  if (bytes == step) {
    touch(t, *shadow.at(offset), now, target, check_initialised);
    return;
  }
  const std::int64_t first = target.offset;
  for (std::size_t i = 0; i < bytes; i += step) {
    target.offset = first + static_cast<std::int64_t>(i);
    if (!touch(t, *shadow.at(offset + i), now, target, check_initialised)) return;
  }
}

Array* find_array(const unsigned char* p) {
  Array* last = engine.last_array;
  if (last != nullptr && static_cast<std::size_t>(p - last->base) < last->bytes) return last;
  const auto after = std::upper_bound(engine.arrays.begin(), engine.arrays.end(), p,
                                      [](const unsigned char* at, const auto& a) { return at < a->base; });
  if (after == engine.arrays.begin()) return nullptr;
  Array* a = std::prev(after)->get();
  return static_cast<std::size_t>(p - a->base) < a->bytes ? engine.last_array = a : nullptr;
}

std::string nearest_array(const unsigned char* p) {
  const Array* best = nullptr;
  std::uint64_t best_distance = ~std::uint64_t{0};
  bool before = false;
  for (const auto& a : engine.arrays) {
    const bool left = p < a->base;
    const std::uint64_t distance =
        left ? static_cast<std::uint64_t>(a->base - p) : static_cast<std::uint64_t>(p - a->base - a->bytes);
    if (distance < best_distance) {
      best = a.get();
      best_distance = distance;
      before = left;
    }
  }
  if (best == nullptr) return "no array is known";
  if (best_distance > (std::uint64_t{1} << 32)) return "it is near no array";
  if (before) return fmt::format("{} bytes before '{}' ({} bytes)", best_distance, best->name, best->bytes);
  return fmt::format("{} bytes past the end of '{}' ({} bytes)", best_distance, best->name, best->bytes);
}

bool is_write(Access kind) {
  return kind == Access::write || kind == Access::volatile_write || kind == Access::atomic_store ||
         kind == Access::atomic_rmw;
}

[[noreturn]] void out_of_bounds(const Thread& t, Access kind, Location location, std::size_t bytes,
                                const std::string& where, const std::string& array, std::int64_t offset) {
  RawFinding* f =
      note(FindingKind::out_of_bounds,
           fmt::format("{} of {} bytes out of bounds: {}", is_write(kind) ? "write" : "read", bytes, where),
           &t, location);
  if (f != nullptr) {
    f->finding.array = array;
    f->finding.offset = offset;
  }
  stop();
}

inline Mark mark_of(Thread& t, Access kind, Location location, Scope scope, bool shared) {
  const Block& b = *t.block;
  Mark m;
  m.epoch = std::uint64_t{b.generation} << 32 | t.step;
  if (t.fence_epoch != 0 && is_write(kind) && kind != Access::write) {
    // The flag that publishes a fence is known to whoever knows the fence: the last block may reset the counter it drew from.
    m.epoch = t.fence_epoch;
    t.fence_epoch = 0;
  }
  m.block = b.id;
  m.location = location;
  m.lanes = 1u << t.lane;
  m.warp = t.warp;
  m.writes = is_write(kind) ? 1 : 0;
  switch (kind) {
    case Access::read:
    case Access::write:
      m.strength = kPlain;
      break;
    case Access::volatile_read:
      m.strength = shared ? kBlockScope : kDeviceScope;
      break;
    case Access::volatile_write:
      m.strength = !shared ? kDeviceScope : t.fenced_generation == b.generation ? kBlockScope : kPlain;
      break;
    default:
      m.strength = scope == Scope::block ? kBlockScope : kDeviceScope;
      break;
  }
  return m;
}

// What a flag carries from those who fenced before writing it to those who fence after reading it.
void pass_flag(Thread& t, const void* p, Access kind, Scope scope) {
  const std::uint32_t block = t.block->id;
  const bool reads = kind != Access::volatile_write && kind != Access::atomic_store;
  const bool publishes = is_write(kind) && (t.fenced_block != nullptr || t.fenced_device != nullptr);
  if (!publishes && engine.flags.empty()) return;
  if (reads) {
    const auto it = engine.flags.find(p);
    if (it != engine.flags.end()) {
      const Flag& flag = it->second;
      if (scope == Scope::device && flag.device != nullptr) {
        t.seen_device = join(t.seen_device, flag.device);
        t.has_clocks = true;
      }
      if (flag.block != nullptr && flag.block_id == block) {
        t.seen_block = join(t.seen_block, flag.block);
        t.has_clocks = true;
      }
    }
  }
  if (!is_write(kind)) return;
  if (kind != Access::atomic_rmw && !publishes) {
    engine.flags.erase(p);  // a store heads no release sequence but its own
    return;
  }
  if (!publishes) return;
  Flag& flag = engine.flags[p];
  if (kind != Access::atomic_rmw) flag = Flag{};
  if (scope == Scope::device) flag.device = join(flag.device, t.fenced_device);
  flag.block = flag.block_id == block ? join(flag.block, t.fenced_block) : t.fenced_block;
  flag.block_id = block;
}

}  // namespace

void access(void* p, std::size_t bytes, Access kind, Location location, Scope scope) {
  Thread* const current = engine.current;
  if (current == nullptr) return;
  Thread& t = *current;
  auto* const at = static_cast<unsigned char*>(p);
  if (static_cast<std::size_t>(at - t.stack_low) < kStackBytes) return;
  ++engine.counters.accesses;
  settle();
  engine.access_at = at;
  engine.access_bytes = bytes;
  Block& b = *t.block;
  const bool strong = kind != Access::read && kind != Access::write;
  const bool reads = kind != Access::write && kind != Access::volatile_write && kind != Access::atomic_store;

  const auto off = static_cast<std::size_t>(at - b.arena);
  if (off < kArenaBytes) {
    const std::uint16_t id = b.piece_of[off / 4];
    if (id == 0 || off + bytes > b.pieces[id - 1u].end) {
      // Name the piece before it: most overruns leave an array at its end.
      const SharedPiece* piece = id != 0 ? &b.pieces[id - 1u] : nullptr;
      for (const SharedPiece& candidate : b.pieces) {
        if (id == 0 && candidate.end <= off && (piece == nullptr || candidate.end > piece->end))
          piece = &candidate;
      }
      const std::string where = piece != nullptr
                                    ? fmt::format("byte {} of shared '{}' ({} bytes)", off - piece->begin,
                                                  piece->name, piece->end - piece->begin)
                                    : "no shared memory was asked for there";
      out_of_bounds(t, kind, location, bytes, where, piece != nullptr ? piece->name : "",
                    piece != nullptr ? static_cast<std::int64_t>(off) - piece->begin : -1);
    }
    const SharedPiece& piece = b.pieces[id - 1u];
    if (b.shadow == nullptr) b.shadow = std::make_unique<Shadow>(kArenaBytes);
    touch_range(t, *b.shadow, off, bytes, mark_of(t, kind, location, scope, true),
                {piece.name, static_cast<std::int64_t>(off) - piece.begin, true}, reads);
    if (strong) pass_flag(t, p, kind, scope);
    return;
  }

  Array* a = find_array(at);
  if (a == nullptr) {
    for (const auto& segment : engine.image) {
      if (static_cast<std::size_t>(at - segment->base) < segment->bytes) a = segment.get();
    }
  }
  if (a == nullptr) {
    if (!is_write(kind)) {
      if (at >= engine.params_low && at < engine.params_high) return;
      for (const auto& [low, high] : engine.constants) {
        if (at >= low && at < high) return;
      }
    }
    out_of_bounds(t, kind, location, bytes, nearest_array(at), "", -1);
  }
  const auto offset = static_cast<std::size_t>(at - a->base);
  if (offset + bytes > a->bytes) {
    out_of_bounds(t, kind, location, bytes,
                  fmt::format("byte {} of '{}' ({} bytes)", a->bytes, a->name, a->bytes), a->name,
                  static_cast<std::int64_t>(a->bytes));
  }
  if (!a->writable) {
    if (is_write(kind)) {
      RawFinding* f =
          note(FindingKind::read_only_written,
               fmt::format("'{}' is an input and is written at byte {}", a->name, offset), &t, location);
      if (f != nullptr) {
        f->finding.array = a->name;
        f->finding.offset = static_cast<std::int64_t>(offset);
      }
      stop();
    }
    if (a->initialised) return;  // nothing can be wrong with reading it
  }
  if (a->shadow == nullptr) a->shadow = std::make_unique<Shadow>(a->bytes);
  touch_range(t, *a->shadow, offset, bytes, mark_of(t, kind, location, scope, false),
              {a->name.c_str(), static_cast<std::int64_t>(offset), false}, reads && !a->initialised);
  if (strong) pass_flag(t, p, kind, scope);
}

bool polling(Thread& t) { return (++t.volatile_reads & 3u) == 0; }

void async_started(void* to, const void* from, std::size_t bytes, std::size_t valid, Location location) {
  Thread& t = *engine.current;
  if (valid > 0) access(const_cast<void*>(from), valid, Access::read, location, Scope::device);
  access(to, bytes, Access::write, location, Scope::device);
  Block& b = *t.block;
  const auto off = static_cast<std::size_t>(static_cast<unsigned char*>(to) - b.arena);
  for (std::size_t i = 0; i < bytes; i += b.shadow->granule()) {
    Cell& c = *b.shadow->at(off + i);
    c.write.async = 1;
    c.async_pending = 1;
    c.async_thread = t.id;
  }
}

void async_landed(Block& b, void* to, std::size_t bytes, Location location, bool taken) {
  const auto off = static_cast<std::size_t>(static_cast<unsigned char*>(to) - b.arena);
  for (std::size_t i = 0; i < bytes; i += b.shadow->granule()) {
    Cell& c = *b.shadow->at(off + i);
    if (c.async_pending == 0) continue;  // its early use was reported already
    c.async_pending = 0;
    if (!taken) continue;
    c.write = mark_of(*engine.current, Access::write, location, Scope::device, true);
    c.write.async = 1;
  }
}

void host_operation(const char* what, void* stream, Here here, void* to, const void* from,
                    std::size_t bytes) {
  if (!checking()) return;
  Launch& l = open_launch(stream);
  l.kernel = what;
  l.host = true;
  l.here = here;
  l.blocks = 1;
  const std::uint32_t id = engine.next_block_id++;
  const Location location = locate(here);
  const auto range = [&](const void* p, bool writes) {
    Array* a = find_array(static_cast<const unsigned char*>(p));
    if (a == nullptr) return;  // host memory of the program, or memory it did not name
    const auto offset = static_cast<std::size_t>(static_cast<const unsigned char*>(p) - a->base);
    if (offset + bytes > a->bytes || (writes && !a->writable)) {
      RawFinding* f = note(
          offset + bytes > a->bytes ? FindingKind::out_of_bounds : FindingKind::read_only_written,
          fmt::format("{} of {} bytes at byte {} of '{}' ({} bytes)", what, bytes, offset, a->name, a->bytes),
          nullptr, location);
      if (f != nullptr) f->finding.array = a->name;
      engine.is_stopped = true;
      return;
    }
    if (!a->writable) return;
    if (a->shadow == nullptr) a->shadow = std::make_unique<Shadow>(a->bytes);
    if (a->shadow->granule() != 1 && ((offset | bytes) & 3u) != 0) a->shadow->refine();
    engine.access_at = static_cast<const unsigned char*>(p);
    engine.access_bytes = bytes;
    Block pseudo;  // stands in for the thread that does it
    pseudo.id = id;
    Thread t;
    t.block = &pseudo;
    Mark now = mark_of(t, writes ? Access::write : Access::read, location, Scope::device, false);
    for (std::size_t i = 0; i < bytes; i += a->shadow->granule()) {
      if (!touch(t, *a->shadow->at(offset + i), now,
                 {a->name.c_str(), static_cast<std::int64_t>(offset + i), false}, !writes && !a->initialised))
        break;
      if (writes) a->shadow->at(offset + i)->initialised = 1;
    }
  };
  if (from != nullptr) range(from, false);
  range(to, true);
}

void load_image() {
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void*) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& h = info->dlpi_phdr[i];
          if (h.p_type != PT_LOAD) continue;
          auto* base = reinterpret_cast<unsigned char*>(info->dlpi_addr + h.p_vaddr);
          if ((h.p_flags & PF_W) != 0) {
            auto a = std::make_unique<Array>();
            a->name = "program variable";
            a->base = base;
            a->bytes = h.p_memsz;
            engine.image.push_back(std::move(a));
          } else {
            engine.constants.emplace_back(base, base + h.p_memsz);
          }
        }
        return 0;
      },
      nullptr);
}

}  // namespace plumb::simt
