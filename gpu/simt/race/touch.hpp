// One access to one granule, the fast path: what nearly every access is, plain, and after a barrier or the thread's own.
#pragma once
#include <algorithm>
#include <cstring>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

/// The strength of a volatile access to global memory.
inline Strength of_volatile() { return current().run.options.volatile_is_atomic ? kDeviceScope : kPlain; }

/// The mark that an access of the thread leaves.
inline Mark mark_of(Thread& t, Access kind, Location location, Scope scope, bool shared) {
  const Block& b = *t.block;
  Mark m;
  m.epoch = std::uint64_t{b.generation} << 32 | t.step;
  m.block = b.id;
  m.location = location;
  m.lanes = 1u << t.lane;
  m.warp = t.warp;
  m.writes = is_write(kind) ? 1 : 0;
  if (kind != Access::read && kind != Access::write)
    m.extent = extent_of(current().race.access_at, current().race.access_bytes);
  switch (kind) {
    case Access::read:
    case Access::write:
      m.strength = kPlain;
      break;
    case Access::volatile_read:
      m.is_volatile = 1;
      m.strength = shared ? kBlockScope : of_volatile();
      break;
    case Access::volatile_write:
      m.is_volatile = 1;
      m.strength = !shared ? of_volatile() : t.fenced_generation == b.generation ? kBlockScope : kPlain;
      break;
    default:
      m.strength = scope == Scope::block ? kBlockScope : kDeviceScope;
      break;
  }
  if (t.fence_epoch != 0 && m.writes != 0 && m.strength != kPlain) {
    // The flag that publishes a fence is known to whoever knows the fence: the last block may reset the counter it drew from.
    m.epoch = t.fence_epoch;
    t.fence_epoch = 0;
  }
  return m;
}

/// What a plain access of the thread leaves.
[[gnu::always_inline]] inline Stamp stamp_of(const Thread& t, Location location, bool writes,
                                             std::size_t bytes = 0) {
  const Block& b = *t.block;
  CellTables& tables = current().race.tables;
  return {b.id,
          b.generation,
          1u << t.lane,
          t.warp | std::uint32_t{t.lane} << Cell::kLaneAt,
          tables.pack(std::uint64_t{b.generation} << 32 | t.step),
          tables.place_of(location, bytes),
          writes};
}

constexpr std::uint32_t kWarpBits = (1u << Cell::kLaneAt) - 1;

/// Groups of unordered readers that are kept for one granule; beyond them a sample.
constexpr std::size_t kMaxMarks = 64;

/// Adds a plain read to the group of its warp and step among those before the cell's latest. False: there is none.
bool join_group(const Thread& thread, const Cell& cell, const Stamp& stamp);
/// Puts the cell's group of readers behind those before it, where an access of `warp` needs no look at them: the thread knows nothing beyond its warp,
/// and none of them is of its warp or of an older generation. Where the first is of this generation, all are (add_to() in touch.cpp).
bool put_behind(const Thread& thread, Cell& cell, std::uint32_t warp);
/// Forgets the groups before the cell's latest, where a barrier of the block, which is alone, came after all of them and it. False: it did not.
bool drop_older(Cell& cell, std::uint32_t generation);

/// Puts the cell's group of readers, of global memory, into the chain of those before it (chains.hpp). False: they are in a list, or not plain.
bool chain_behind(const Thread& thread, Cell& cell, const Stamp& stamp);
/// Forgets the chain whose readers all threads of the launch know. False: there is another.
bool drop_chain(Cell& cell);

/// Makes the cell's mark of many warps one for each; gives it up where a barrier of the block came after it.
void part_warps(Cell& cell, const Stamp& stamp);

/// The marks that a stamp is compared with, in place.
[[gnu::always_inline]] inline bool write_is_behind(const Cell& c, const Stamp& s) {
  if (c.write_block < current().race.known_below) return true;
  return c.write_block == s.block &&
         (current().race.tables.generation_of(c.write_state & Cell::kEpoch) < s.generation ||
          (c.who & Cell::kWriter) == s.who);
}
inline std::uint32_t as_other(const Stamp& s) { return (s.who & kWarpBits) << Cell::kOtherAt; }
[[gnu::always_inline]] inline bool other_is_behind(const Cell& c, const Stamp& s) {
  if (c.other_block < current().race.known_below) return true;
  return c.other_block == s.block &&
         (current().race.tables.generation_of(c.other_state & Cell::kEpoch) < s.generation ||
          ((c.who & kWarpBits << Cell::kOtherAt) == as_other(s) && c.other_lanes == s.lanes));
}
[[gnu::always_inline]] inline void leave_read(Cell& c, const Stamp& s) {
  c.other_block = s.block;
  c.other_state = s.epoch;
  c.other_place = s.place;
  c.other_lanes = s.lanes;
  c.who = (c.who & ~Cell::kOther) | as_other(s);
}

/// Whether a plain read differs from the cell's mark in its warp alone.
[[gnu::always_inline]] inline bool is_of_another_warp(const Cell& c, const Stamp& s) {
  return (c.other_state & ~Cell::kManyWarps) == s.epoch && c.other_block == s.block &&
         c.other_lanes == s.lanes && c.other_place == s.place;
}
/// Adds the warp of such a read. False: one of the two is no thread of the block, or the mark is no plain read's.
[[gnu::always_inline]] inline bool add_warp(Cell& c, const Stamp& s) {
  const std::uint32_t warp = s.who & kWarpBits, before = (c.who & Cell::kOther) >> Cell::kOtherAt;
  if (std::max(warp, before) >= kWarp) return false;  // the bits above the warp's are of other accesses
  if (!c.many_warps()) c.more = 1u << before;
  c.more |= 1u << warp;
  c.other_state |= Cell::kManyWarps;
  return true;
}

/// Leaves a plain access's mark where nothing can be wrong with it. False: it is for touch_slowly().
[[gnu::always_inline]] inline bool touch_fast(const Thread& t, Cell& c, const Stamp& s, bool shared,
                                              bool check_initialised) {
  const bool alone = shared && t.block->cluster == nullptr;
  if (c.pending()) return false;
  if (check_initialised && !s.writes && !c.initialised()) return false;
  if (c.write_block != 0 && !write_is_behind(c, s)) return false;
  if (c.many_warps()) {
    if (!s.writes && is_of_another_warp(c, s) && add_warp(c, s)) return true;
    part_warps(c, s);
  }
  if (s.writes) {
    const bool none_beside =
        c.other_block == 0 || (other_is_behind(c, s) && (c.more == 0 || (alone ? drop_older(c, s.generation)
                                                                               : !shared && drop_chain(c))));
    if (!none_beside) return false;
    c.write_block = s.block;
    c.write_state = s.epoch | Cell::kInitialised;
    c.write_place = s.place;
    c.who = s.who;
    c.other_block = c.other_state = 0;
    return true;
  }
  if ((c.other_state & Cell::kAtomics) != 0) return false;
  const bool alone_after = (shared || c.other_block < current().race.known_below) && other_is_behind(c, s) &&
                           (c.more == 0 || (alone ? drop_older(c, s.generation) : !shared && drop_chain(c)));
  if (c.other_block == 0 || alone_after) {
    leave_read(c, s);
    return true;
  }
  constexpr std::uint32_t kPlainGroup =
      (1u << Cell::kWritesAt) - (1u << Cell::kOtherAt);  // warp and strength
  if (c.other_state == s.epoch && c.other_block == s.block && (c.who & kPlainGroup) == as_other(s)) {
    c.other_lanes |= s.lanes;
    c.other_place = s.place;
    return true;
  }
  if (c.more == 0 && alone && is_of_another_warp(c, s) && add_warp(c, s)) return true;
  if (!shared && chain_behind(t, c, s)) return true;
  if (c.more != 0 && join_group(t, c, s)) return true;  // lanes of several warps take turns
  if (!alone || !put_behind(t, c, s.who & kWarpBits)) return false;
  leave_read(c, s);
  return true;
}

/// What the thread that takes up a copy, which has landed, leaves as the copy's write.
inline void leave_copy(const Thread& t, Cell& c, Location location) {
  const Stamp s = stamp_of(t, location, true);
  c.write_block = s.block;
  c.write_state = s.epoch | (c.write_state & Cell::kInitialised);
  c.write_place = s.place;
  c.who = (c.who & Cell::kOther) | s.who | 1u << Cell::kAsyncAt;
}

/// Keeps a plain read for a compare-and-exchange that may follow (attempts.cpp).
inline void note_read(Thread& t, const unsigned char* p, std::size_t bytes, Location location) {
  if (bytes > sizeof(PastRead::value)) return;
  PastRead& r = t.past_reads[++t.reads % kPastReads];
  r.at = p;
  r.location = location;
  r.bytes = static_cast<std::uint8_t>(bytes);
  r.counted = false;
  if (bytes == sizeof(std::uint32_t)) {  // nearly every read
    std::memcpy(&r.value, p, sizeof(std::uint32_t));
  } else {
    std::memcpy(&r.value, p, bytes);
  }
  const RaceState& race = current().race;
  if (race.tried_somewhere[location % race.tried_somewhere.size()]) count_read(r);
}

/// An access, by what it leaves in each of its granules: as a stamp where it is plain, or as a mark, then made where one is asked for.
class Footprint {
 public:
  Footprint(Thread& t, Access kind, Location location, Scope scope, bool shared)
      : thread_(t), kind_(kind), location_(location), plain_(kind == Access::read || kind == Access::write) {
    if (plain_) {
      stamp_ = stamp_of(t, location, kind == Access::write, current().race.access_bytes);
    } else {
      mark_ = mark_of(t, kind, location, scope, shared);
    }
  }
  [[nodiscard]] bool writes() const { return plain_ ? stamp_.writes : mark_.writes != 0; }
  [[nodiscard]] Mark mark() const {
    return plain_ ? mark_of(thread_, kind_, location_, Scope::device, false) : mark_;
  }
  /// In one granule. Returns false once something was reported, so that one access is one finding.
  bool touch(Cell& c, const Target& target, bool check_initialised) const {
    return (plain_ && touch_fast(thread_, c, stamp_, target.home != nullptr, check_initialised)) ||
           touch_slowly(thread_, c, mark(), target, check_initialised);
  }

 private:
  Thread& thread_;
  Access kind_;
  Location location_;
  bool plain_;
  Stamp stamp_{};
  Mark mark_;
};

}  // namespace plumb::simt
