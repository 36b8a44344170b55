// Where the lanes of a warp wait for each other, and what they exchange there.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

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
      if ((other.mask >> t.lane & 1u) == 0)
        return false;  // it may come here when it has met those it waits for
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
      current().run.is_stopped = true;
      return false;
    }
    in[other.lane] = other.in;
    out[other.lane] = other.out;
  }
  current().undefined.exchange = &t;
  if (t.combine != nullptr) t.combine(need, in, out);
  b.warp_waiting[t.warp] &= ~need;
  if (checking() && t.warp_order == WarpOrder::memory) on_warp_sync(b, t.warp, need);
  const bool down = current().run.order == Order::descending;
  for (int i = 0; i < kWarp; ++i) {
    const int lane = down ? kWarp - 1 - i : i;
    if ((need >> lane & 1u) != 0 && &lanes[lane] != current().schedule.thread) wake(lanes[lane]);
  }
  progress();
  return true;
}

namespace {

// Lanes at one place need not run together: CUDA promises a lane its own bit and no other. Those whose mask this draws do.
unsigned draw_active(unsigned group, unsigned lane) {
  if (current().run.order == Order::ascending || !one_in(2)) return group;
  const auto drawn = static_cast<unsigned>(next_random() >> 16);
  return (drawn >> lane & 1u) != 0 ? group & drawn : group & ~drawn;
}

}  // namespace

// Lanes that asked for the active mask and whose warp cannot run on: those at one place form one group or several.
bool resolve_active_masks(Block& b) {
  bool any = false;
  for (Thread& t : b.threads) {
    if (t.state != ThreadState::active_mask) continue;
    unsigned group = 0;
    Thread* lanes = &b.threads[static_cast<std::size_t>(t.warp) * kWarp];
    const int count = std::min(kWarp, b.size - t.warp * kWarp);
    for (int i = 0; i < count; ++i) {
      if (lanes[i].state == ThreadState::active_mask && lanes[i].here.line == t.here.line &&
          lanes[i].here.file == t.here.file)
        group |= 1u << i;
    }
    group = draw_active(group, t.lane);
    for (int i = 0; i < count; ++i) {
      if ((group >> i & 1u) == 0) continue;
      lanes[i].answer = group;
      wake(lanes[i]);
    }
    any = true;
  }
  return any;
}

void warp_exchange(unsigned mask, const char* name, Combine combine, void* in, void* out, Here here,
                   WarpOrder order) {
  Thread& t = *current().schedule.thread;
  Block& b = *t.block;
  t.here = here;
  t.waits_for = name;
  leave_trail(t, name, here);
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
  t.warp_order = order;
  t.in = in;
  t.out = out;
  t.state = ThreadState::warp;
  const unsigned waiting = b.warp_waiting[t.warp] |= 1u << t.lane;
  const bool all_are_there = (mask & ~b.warp_done[t.warp] & ~waiting) == 0;  // mostly not: no call then
  if (all_are_there && try_complete_warp(t)) {
    t.state = ThreadState::ready;
    if (current().run.order == Order::random && one_in(4)) yield(false);
    return;
  }
  if (current().run.is_stopped) stop();
  switch_out();
}

unsigned active_mask(Here here) {
  Thread& t = *current().schedule.thread;
  t.here = here;
  t.waits_for = "__activemask";
  t.mask = 0;
  t.state = ThreadState::active_mask;
  switch_out();
  return t.answer;
}

// Orders of lanes elect the first or the last. Drawn ones never elect the first: today's devices do, and its users may count on it.
unsigned elected_rank(unsigned count, unsigned key) {
  const Order order = current().run.order;
  if (order == Order::ascending || count < 2) return 0;
  if (order == Order::descending) return count - 1;
  const std::uint64_t mixed =
      ((current().run.options.seed + 1) * 0x9e3779b97f4a7c15u ^ key) * 0xd1342543de82ef95u;
  return 1 + static_cast<unsigned>(mixed >> 40) % (count - 1);
}

}  // namespace plumb::simt
