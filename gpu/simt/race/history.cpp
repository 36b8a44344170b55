// The past writes to an address: which one a load returns, and where a store comes to lie.
#include "gpu/simt/race/history.hpp"

#include <algorithm>
#include <cstring>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

constexpr std::size_t kMostWrites = 5;     // to an address: the newest and four before it
constexpr std::size_t kMostReaders = 8;    // marks of a write; beyond them the writes before it are forgotten
constexpr std::size_t kMostFences = 1024;  // clocks of a log
constexpr std::size_t kLargestValue = 8;   // bytes; of larger ones the newest alone is known
constexpr unsigned kStaleOf16[] = {8, 4, 2,
                                   12};  // how often a draw prefers what is not newest: one of them for a run

std::uint64_t load_value(const unsigned char* p, std::size_t bytes) {
  std::uint64_t v = 0;
  std::memcpy(&v, p, bytes);
  return v;
}

// A generator of its own: the order of blocks, warps and lanes is the same whether values are drawn or not.
std::uint64_t next_draw() {
  std::uint64_t& s = current().race.draws;
  s ^= s << 13;
  s ^= s >> 7;
  s ^= s << 17;
  return s >> 11;
}
bool draw_stale() { return next_draw() % 16 < current().race.stale_of_16; }

Mark mark_here(const Thread& t) {
  Mark m;
  m.epoch = std::uint64_t{t.block->generation} << 32 | t.step;
  m.block = t.block->id;
  m.lanes = 1u << t.lane;
  m.warp = t.warp;
  return m;
}

// Whether what some thread of the mark did is known to the thread.
bool known_of_any(const Thread& t, const Mark& m) {
  Mark one = m;
  for (unsigned rest = m.lanes; rest != 0; rest &= rest - 1) {
    one.lanes = rest & -rest;
    if (known(t, one)) return true;
  }
  return false;
}

bool reached_by(const ClockPtr& clock, const PastWrite& w) {
  return reaches(clock, w.by) ||
         std::any_of(w.readers.begin(), w.readers.end(), [&](const Mark& m) { return reaches(clock, m); });
}

// Whether a sequentially consistent fence that comes before one of the thread's own comes after the write, or after a read of it.
bool known_by_fences(const Thread& t, PastWrite& w) {
  const Clock nothing;
  const Clock& mine = t.more != nullptr ? *t.more : nothing;
  const std::uint32_t last = std::max(mine.fences, t.block->more != nullptr ? t.block->more->fences : 0);
  const FenceLog& log = current().race.fences;
  if (w.known_by_fence == 0 && w.fences_looked_at < log.dropped())
    w.known_by_fence = 1;  // one of those may know it
  while (w.known_by_fence == 0 && w.fences_looked_at < last) {
    if (reached_by(log.at(++w.fences_looked_at), w)) w.known_by_fence = w.fences_looked_at;
  }
  if (w.known_by_fence != 0 && w.known_by_fence <= last) return true;
  if (mine.fences_block != t.block->id) return false;
  const FenceLog& own = t.block->fences;
  if (own.lossy()) return true;
  for (std::uint32_t i = own.dropped() + 1; i <= mine.block_fences; ++i) {
    if (reached_by(own.at(i), w)) return true;
  }
  return false;
}

// The newest write that the thread knows: it may return no older one, and put no write before it.
std::size_t newest_known(const Thread& t, History& history) {
  for (std::size_t i = history.writes.size() - 1; i > 0; --i) {
    PastWrite& w = history.writes[i];
    if (known_of_any(t, w.by) || known_by_fences(t, w)) return i;
    for (const Mark& m : w.readers) {
      if (known_of_any(t, m)) return i;
    }
  }
  return 0;
}

// The newest write alone, as memory holds it.
void forget_past(History& history, std::uint64_t value) {
  PastWrite& newest = history.writes.back();
  newest.value = value;
  newest.by = Mark{};
  newest.readers.clear();
  newest.follows = false;
  history.writes.erase(history.writes.begin(), history.writes.end() - 1);
}

// The history as memory says now: plain accesses, fills and copies pass it by, and so do atomics of another size.
void refresh(History& history, const unsigned char* p, std::size_t bytes) {
  const std::uint64_t value = bytes <= kLargestValue ? load_value(p, bytes) : 0;
  if (history.writes.empty()) {
    history.writes.emplace_back();
    history.writes.back().value = value;
  } else if (history.bytes != bytes) {
    forget_past(history, value);
  } else if (history.writes.back().value != value) {
    forget_past(history, value);
    history.writes.back().flag = Flag{};  // a plain store heads no release sequence
  }
  history.bytes = bytes;
}

void note_reader(const Thread& t, History& history, std::size_t at) {
  if (at == 0) return;
  PastWrite& w = history.writes[at];
  const Mark now = mark_here(t);
  for (Mark& m : w.readers) {
    if (m.block != now.block || m.warp != now.warp) continue;
    if ((m.lanes & now.lanes) != 0) return;  // its first read says as much
    if (m.epoch == now.epoch) {
      m.lanes |= now.lanes;
      return;
    }
  }
  if (w.readers.size() == kMostReaders) {
    history.writes.erase(history.writes.begin(), history.writes.begin() + static_cast<std::ptrdiff_t>(at));
    history.writes.front().readers.clear();
    return;
  }
  w.readers.push_back(now);
}

// What a fence or barrier that follows, or this load if it acquires, makes known.
void take_up(Thread& t, const Flag& flag, Scope scope) {
  ClockPtr taken;
  if (scope == Scope::device && flag.device != nullptr) {
    t.seen_device = join(t.seen_device, flag.device);
    taken = flag.device;
    t.has_clocks = true;
  }
  if (flag.block != nullptr && flag.block_id == t.block->id) {
    t.seen_block = join(t.seen_block, flag.block);
    taken = join(taken, flag.block);
    t.has_clocks = true;
  }
  current().race.taken = std::move(taken);
}

void publish(Thread& t, Flag& flag, Scope scope) {
  if (scope == Scope::device) flag.device = join(flag.device, join(t.fenced_device, t.releasing));
  const ClockPtr mine = join(t.fenced_block, t.releasing);
  if (mine == nullptr) return;
  flag.block = flag.block_id == t.block->id ? join(flag.block, mine) : mine;
  flag.block_id = t.block->id;
}

// Where a store comes to lie among the writes.
std::size_t draw_position(const Thread& t, History& history) {
  const std::size_t end = history.writes.size();
  if (history.bytes > kLargestValue || end == 1 || !draw_stale()) return end;
  const std::size_t first = newest_known(t, history) + 1;
  const std::size_t at = first + next_draw() % (end - first + 1);
  return at < end && history.writes[at].follows ? end : at;
}

void add_write(Thread& t, History& history, Scope scope, bool follows) {
  const std::size_t at = follows ? history.writes.size() : draw_position(t, history);
  PastWrite w;
  w.by = mark_here(t);
  w.follows = follows;
  w.fences_looked_at = current().race.fences.count();
  if (follows) w.flag = history.writes.back().flag;
  publish(t, w.flag, scope);
  history.writes.insert(history.writes.begin() + static_cast<std::ptrdiff_t>(at), std::move(w));
  current().race.unfinished.write = at;
  current().race.unfinished.writes = true;
}

}  // namespace

void FenceLog::add(ClockPtr clock) {
  if (clocks_.size() == kMostFences) {
    clocks_.erase(clocks_.begin(), clocks_.begin() + kMostFences / 2);
    dropped_ += kMostFences / 2;
    lossy_ = true;
  }
  clocks_.push_back(std::move(clock));
}

void FenceLog::forget() {
  lossy_ = false;
  dropped_ = count();
  clocks_.clear();
}

void pass_value(Thread& t, unsigned char* p, std::size_t bytes, Access kind, Scope scope, const Block* home) {
  RaceState& race = current().race;
  race.taken = nullptr;
  const bool reads = kind != Access::volatile_write && kind != Access::atomic_store;
  const bool writes = is_write(kind);
  auto it = race.histories.find(p);
  if (it != race.histories.end() && home != nullptr && it->second.block != home->id) it->second = History{};
  if (it == race.histories.end()) {
    if (!writes) return;
    it = race.histories.emplace(p, History{}).first;
  }
  History& history = it->second;
  if (history.writes.empty() && !writes) return;
  if (home != nullptr) history.block = home->id;
  refresh(history, p, bytes);
  race.unfinished.at = p;
  race.unfinished.writes = false;
  if (reads) {
    const std::size_t newest = history.writes.size() - 1;
    std::size_t at = newest;
    if (!writes && newest > 0 && draw_stale()) {
      const std::size_t first = newest_known(t, history);
      if (first < newest) at = first + next_draw() % (newest - first);
    }
    take_up(t, history.writes[at].flag, scope);
    if (at < newest) {
      std::memcpy(p, &history.writes[at].value, bytes);
      race.unfinished.history = &history;
    }
    if (!writes) note_reader(t, history, at);
  }
  if (writes) {
    add_write(t, history, scope, reads);
    race.unfinished.history = &history;
  }
  t.releasing = nullptr;
}

void finish_access() {
  const Unfinished u = current().race.unfinished;
  current().race.unfinished.history = nullptr;
  History& history = *u.history;
  const bool valued = history.bytes <= kLargestValue;
  if (u.writes) {
    PastWrite& w = history.writes[u.write];
    if (valued) w.value = load_value(u.at, history.bytes);
    if (w.follows && valued && w.value == history.writes[u.write - 1].value) {
      // it changed nothing: a read of the write before it, which carries on what this one published
      PastWrite& before = history.writes[u.write - 1];
      before.flag = std::move(w.flag);
      if (u.write > 1 && before.readers.size() < kMostReaders) before.readers.push_back(w.by);
      history.writes.pop_back();
    } else if (history.writes.size() > kMostWrites || !valued) {
      const std::size_t most = valued ? kMostWrites : 1;
      history.writes.erase(history.writes.begin(), history.writes.end() - static_cast<std::ptrdiff_t>(most));
      history.writes.front().readers.clear();
      history.writes.front().follows = false;
    }
  }
  if (valued) std::memcpy(u.at, &history.writes.back().value, history.bytes);
}

void on_ordered_fence(Thread& t, Scope scope) {
  Block& b = *t.block;
  FenceLog& all = current().race.fences;
  if (scope == Scope::device) {
    for (ClockPtr& clock : b.fences_since) all.add(std::move(clock));
    b.fences_since.clear();
    b.last_fence = all.count() + 1;
  }
  auto number = std::make_shared<Clock>();
  number->fences = b.last_fence;
  if (scope == Scope::block) {
    number->fences_block = b.id;
    number->block_fences = b.fences.count() + 1;
  }
  learn(t, number);
  on_fence(t, scope);
  if (scope == Scope::device) {
    all.add(t.fenced_block);
  } else {
    b.fences.add(t.fenced_block);
    b.fences_since.push_back(t.fenced_block);
  }
}

void forget_histories(std::uint64_t seed) {
  RaceState& race = current().race;
  race.histories.clear();
  race.fences = FenceLog{};
  race.unfinished = Unfinished{};
  race.taken = nullptr;
  race.draws = (seed + 1) * 0xd1342543de82ef95u;
  for (int i = 0; i < 4; ++i) next_draw();
  race.stale_of_16 = kStaleOf16[next_draw() % 4];
}

}  // namespace plumb::simt
