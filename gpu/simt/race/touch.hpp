// One access to one granule, the fast path: what nearly every access is, plain, and after a barrier or the thread's own.
#pragma once
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

/// A bit for the mark's warp, which others may have, too.
inline std::uint64_t warp_bit(const Mark& m) { return std::uint64_t{1} << ((m.block * 37 + m.warp) & 63u); }

/// Groups of unordered readers that are kept for one granule; beyond them a sample.
constexpr std::size_t kMaxMarks = 64;

/// Whether a further group of readers goes behind the others without a look at them: none is of its warp, the list is not at a length
/// where it is gone through, and the first is of another warp and of this generation, so that it stays.
inline bool only_adds(const Thread& t, const Mark& latest, const MarkSet& set, const Mark& now) {
  const std::size_t further = set.marks.size();
  if (further >= kMaxMarks || (further & (further - 1)) == 0) return false;
  if (((set.warps | warp_bit(latest)) & warp_bit(now)) != 0 || t.more != nullptr) return false;
  const Mark& first = set.marks.front();
  return first.block == now.block && first.warp != now.warp && (first.epoch ^ now.epoch) >> 32 == 0;
}

/// Leaves the access's mark where nothing can be wrong with it. False: it is for touch_slowly().
inline bool touch_fast(const Thread& t, Cell& c, const Mark& now, const Target& target,
                       bool check_initialised) {
  const Block& b = *t.block;
  if (now.strength != kPlain || c.async_pending != 0) return false;
  if (c.initialised == 0 && now.writes == 0 && check_initialised) return false;
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
      if (c.other.block == 0 || (target.home != nullptr && c.more == 0 && behind(c.other))) {
        c.other = now;
        return true;
      }
      Mark& last = c.other;
      if (last.epoch == now.epoch && last.block == now.block && last.warp == now.warp &&
          last.strength == kPlain) {
        last.lanes |= now.lanes;
        last.location = now.location;
        return true;
      }
      if (c.more == 0 || target.home == nullptr || b.cluster != nullptr) return false;
      MarkSet& set = current().race.mark_sets[c.more];
      if (!only_adds(t, last, set, now)) return false;
      set.warps |= warp_bit(last);
      set.marks.push_back(last);
      last = now;
      return true;
    }
  }
  return false;
}

/// One granule. Returns false once something was reported, so that one access is one finding.
inline bool touch(Thread& t, Cell& c, const Mark& now, const Target& target, bool check_initialised) {
  if (target.home != nullptr && c.owner_block != target.home->id) {
    release_more(c);
    c = Cell{};
    c.owner_block = target.home->id;
  }
  return touch_fast(t, c, now, target, check_initialised) ||
         touch_slowly(t, c, now, target, check_initialised);
}

}  // namespace plumb::simt
