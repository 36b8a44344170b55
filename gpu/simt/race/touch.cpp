// One access to one granule, the slow path: races, early use of a copy, reads of nothing, and which marks are kept.
#include "gpu/simt/race/touch.hpp"

#include <algorithm>

namespace plumb::simt {

namespace {

// Whether the two would race if unordered.
bool conflict(const Mark& a, const Mark& b) {
  if (a.writes == 0 && b.writes == 0) return false;
  if (a.strength == kPlain || b.strength == kPlain || a.extent != b.extent) return true;
  return (a.strength == kBlockScope || b.strength == kBlockScope) && a.block != b.block;
}

// Among the granule's reads and atomics the first that the access races with; null: there is none.
const Mark* first_race(const Thread& t, const Marks& c, const Mark& now) {
  if (c.other.block == 0 || (now.writes == 0 && c.atomics == 0)) return nullptr;
  const auto races = [&](const Mark& m) { return conflict(m, now) && !known(t, m); };
  const Mark* race = nullptr;
  current().race.lists.for_each(c.more, [&](const Mark& m) {
    if (races(m)) race = &m;
    return race == nullptr;
  });
  return race != nullptr ? race : races(c.other) ? &c.other : nullptr;
}

// Reports a race of the access with what the granule's marks stand for. False: there was one. Of two plain writes last: they may store the
// same value, and be no race.
bool check_races(const Thread& t, const Marks& c, const Mark& now, const Target& target) {
  const bool writes = now.writes != 0 && now.strength == kPlain;
  const Mark* const last_write =
      c.write.block != 0 && conflict(c.write, now) && !known(t, c.write) ? &c.write : nullptr;
  const Mark* race = writes ? nullptr : last_write;
  if (race == nullptr) race = first_race(t, c, now);
  if (race == nullptr) race = last_write;
  if (race != nullptr) {
    report_race(t, now, *race, target);
    return false;
  }
  if (now.writes != 0 && !writes && target.home == nullptr && c.other.block != 0)
    note_shared_update(t, now, c.other, target);
  return true;
}

bool same_group(const Mark& m, const Mark& now) {
  return m.block == now.block && m.epoch == now.epoch && m.warp == now.warp && m.strength == now.strength &&
         m.extent == now.extent && m.writes == now.writes && m.any_lane == 0;
}

// An older mark may go when all who come after this one also come after it, and this one conflicts with as much.
bool superseded(const Mark& m, const Thread& t, const Mark& now, bool alone) {
  if (alone && static_cast<std::uint32_t>(m.epoch >> 32) < t.block->generation) return true;
  const bool as_wide = now.strength == kPlain || now.extent == m.extent;
  return now.writes >= m.writes && now.strength <= m.strength && as_wide && known(t, m);
}

// Adds a mark to the granule's, the latest among them, of which there is one at least.
void add_to(MarkList& list, const Thread& t, const Mark& now, bool alone) {
  const auto old = [&](const Mark& m) { return superseded(m, t, now, alone); };
  std::vector<Mark>& all = list.marks;
  if ((list.warps & warp_bit(now)) != 0) {
    for (Mark& m : all) {
      if (!same_group(m, now)) continue;
      m.lanes |= now.lanes;
      m.location = now.location;
      return;
    }
  }
  // What may go does, but not at every access: as the list doubles, and where a barrier came between. The first may be replaced.
  const std::size_t further = all.size() - 1;
  const bool doubled = further < kMaxMarks ? (further & (further - 1)) == 0 : next_random() % 16 == 0;
  if (doubled || (alone && static_cast<std::uint32_t>(all[0].epoch >> 32) < t.block->generation)) {
    all.erase(std::remove_if(all.begin() + 1, all.end(), old), all.end());
    list.look_again();
  }
  if (old(all[0])) {
    all[0] = now;
  } else if (all.size() <= kMaxMarks) {
    all.push_back(now);
  } else {
    all[1 + next_random() % kMaxMarks] = now;
  }
  list.warps |= warp_bit(now);
  list.newest = std::max(list.newest, static_cast<std::uint32_t>(now.epoch >> 32));
}

void add_mark(const Thread& t, Marks& c, const Mark& now, bool alone) {
  MarkList& list = current().race.lists.make(c.more);
  list.add(c.other);
  add_to(list, t, now, alone);
  c.other = list.marks.back();
  list.marks.pop_back();
}

// Keeps a read's or an atomic's mark beside the last plain write.
void keep_mark(const Thread& t, Marks& c, const Mark& now, bool alone) {
  if (now.writes != 0) c.atomics = true;
  const bool empty = c.other.block == 0;
  if (!empty && same_group(c.other, now)) {
    c.other.lanes |= now.lanes;
    c.other.location = now.location;
  } else if (empty || (c.more == 0 && superseded(c.other, t, now, alone))) {
    c.other = now;
  } else {
    add_mark(t, c, now, alone);
  }
}

// What the access does to the granule. False: something was reported.
bool touch_marks(Thread& t, Marks& c, const Mark& now, const Target& target, bool check_initialised) {
  bool good = true;
  if (c.async_pending && now.async == 0) {
    report_early_use(t, c, now, target);
    c.async_pending = false;
    c.initialised = true;
    c.write = Mark{};
    good = false;
  }
  good = good && check_races(t, c, now, target);
  const bool needs_value = now.writes == 0 || now.strength != kPlain;
  if (good && needs_value && check_initialised && !c.initialised && now.async == 0) {
    report_uninitialised(t, now, target);
    good = false;
  }
  if (now.writes != 0 || !good) c.initialised = true;
  if (now.writes == 0 || now.strength != kPlain) {
    // What only one block touches is ordered for all of it by the block's barrier.
    keep_mark(t, c, now, target.home != nullptr && !has_peers(*target.home));
    return good;
  }
  c.write = now;
  c.other.block = 0;
  c.atomics = false;
  current().race.lists.release(c.more);
  return good;
}

// A group for each warp of the cell's mark of many: the last stays, the others go behind it.
void list_warps(Cell& c) {
  const std::uint32_t warps = c.more;
  const auto last = static_cast<std::uint32_t>(31 - __builtin_clz(warps));
  c.more = 0;
  c.other_state &= ~Cell::kManyWarps;
  Mark m = other_of(c);
  MarkList& list = current().race.lists.make(c.more);
  for (std::uint32_t rest = warps ^ 1u << last; rest != 0; rest &= rest - 1) {
    m.warp = static_cast<std::uint8_t>(__builtin_ctz(rest));
    list.add(m);
  }
  c.who = (c.who & ~(kWarpBits << Cell::kOtherAt)) | last << Cell::kOtherAt;
}

}  // namespace

void part_warps(Cell& c, const Stamp& s) {
  const std::uint32_t generation = current().race.tables.generation_of(c.other_state & Cell::kEpoch);
  if (c.other_block != s.block || generation >= s.generation) return list_warps(c);
  c.other_block = c.other_state = c.more = 0;
}

bool drop_older(Cell& c, std::uint32_t generation) {
  RaceState& race = current().race;
  const std::uint32_t latest = race.tables.generation_of(c.other_state & Cell::kEpoch);
  if (std::max(latest, race.lists.at(c.more).newest) >= generation) return false;
  race.lists.release(c.more);
  return true;
}

bool join_group(const Thread& t, const Cell& c, const Stamp& s) {
  RaceState& race = current().race;
  std::uint32_t number = c.more;
  MarkList& list = race.lists.make(number);
  const std::uint32_t warp = s.who & kWarpBits;
  if ((list.warps & warp_bit(s.block, warp)) == 0) return false;
  const std::uint64_t epoch = std::uint64_t{s.generation} << 32 | t.step;
  for (Mark& m : list.marks) {
    if (m.epoch != epoch || m.block != s.block || m.warp != warp || m.strength != kPlain || m.writes != 0 ||
        m.any_lane != 0)
      continue;
    m.lanes |= s.lanes;
    m.location = race.tables.location_of(s.place);
    return true;
  }
  return false;
}

// Of each 1024 words the first 128, and so all of small arrays: a sample of large ones.
static bool tells_warps(const Cell& c) {
  return reinterpret_cast<std::uintptr_t>(&c) / (128 * sizeof(Cell)) % 8 == 0;
}

bool chain_behind(const Thread& t, Cell& c, const Stamp& s) {
  constexpr std::uint32_t kNotPlain = 3u << Cell::kStrengthAt | 1u << Cell::kVolatileAt;
  if ((c.more != 0 && !MarkLists::is_chain(c.more)) || (c.who & kNotPlain) != 0) return false;
  MarkLists& lists = current().race.lists;
  const Mark latest = other_of(c);
  const bool full = c.more != 0 && lists.is_full(c.more);
  if (full && next_random() % 16 == 0) {  // what comes after all of it takes its place
    bool all_known = true;
    lists.for_each(c.more, [&](const Mark& m) { return all_known = known(t, m); });
    if (all_known) c.more = 0;
  } else if (!full && (latest.block != s.block || latest.epoch >> 32 >= s.generation)) {
    Mark now;
    now.epoch = std::uint64_t{s.generation} << 32 | t.step;
    now.block = s.block;
    now.lanes = s.lanes;
    now.warp = t.warp;
    if (c.more != 0 && lists.join(c.more, now)) return true;
    if (!lists.chain(c.more, latest, tells_warps(c))) return false;
  }
  leave_read(c, s);
  return true;
}

bool drop_chain(Cell& c) {
  const bool drops =
      MarkLists::is_chain(c.more) && current().race.lists.is_below(c.more, current().race.known_below);
  if (drops) c.more = 0;
  return drops;
}

bool put_behind(const Thread& t, Cell& c, std::uint32_t warp) {
  MarkLists& lists = current().race.lists;
  const MarkList& list = lists.at(c.more);
  if (list.marks.size() >= kMaxMarks || t.more != nullptr) return false;
  const std::uint64_t warps = list.warps | warp_bit(c.other_block, c.who >> Cell::kOtherAt & kWarpBits);
  if ((warps & warp_bit(t.block->id, warp)) != 0) return false;
  const Mark latest = other_of(c);
  const Mark& first = list.marks.empty() ? latest : list.marks.front();
  if (first.block != t.block->id || first.warp == warp || first.epoch >> 32 != t.block->generation)
    return false;
  lists.make(c.more).add(latest);
  return true;
}

void forget_marks() {
  current().race.lists.forget();
  for (auto& a : current().memory.image) a->shadow.reset();
  for (auto& a : current().memory.variables) a->shadow.reset();
  current().race.tables.forget();
}

bool touch_slowly(Thread& t, Cell& cell, const Mark& now, const Target& target, bool check_initialised) {
  if (cell.many_warps()) list_warps(cell);
  Marks marks = unpack(cell);
  const bool good = touch_marks(t, marks, now, target, check_initialised);
  pack(cell, marks);
  return good;
}

}  // namespace plumb::simt
