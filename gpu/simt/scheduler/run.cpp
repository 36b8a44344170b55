// The loop of a launch: which block goes on, which thread of it, and when none can.
#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "gpu/simt/scheduler/index_variables.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

constexpr std::int64_t kIdleLimit = 4'000'000;  // fruitless polls in a row before the launch counts as hung
constexpr int kMaxResident = 64;

void on_thread_done(Thread& t) {
  Block& b = *t.block;
  ++b.done;
  b.warp_done[t.warp] |= 1u << t.lane;
  progress();
  check_products_at_exit(t);
  current().schedule.thread = nullptr;
  meet_without_the_gone(b);
  if (b.warp_waiting[t.warp] != 0) {
    Thread* lanes = &b.threads[static_cast<std::size_t>(t.warp) * kWarp];
    for (unsigned rest = b.warp_waiting[t.warp]; rest != 0; rest &= rest - 1) {
      Thread& w = lanes[__builtin_ctz(rest)];
      if (w.state == ThreadState::warp && (w.mask >> t.lane & 1u) != 0 && try_complete_warp(w)) break;
    }
  }
}

// Runs threads of one block until none is ready, its threads only poll, or the schedule draws another block. False: stop the launch.
bool run_slice(Block& b) {
  current().schedule.slice_idle = 0;
  current().schedule.turn_over = false;
  const std::int64_t patience = 64 + 2 * static_cast<std::int64_t>(b.size);
  while (b.ready_count > 0 && current().schedule.slice_idle <= patience) {
    Thread& t = pop_ready(b);
    current().schedule.thread = &t;
    running_thread = t.index;
    running_block = b.index;
    ++current().run.counters.switches;
    switch_to(t);
    resolve_pending();
    if (t.state == ThreadState::done) on_thread_done(t);
    current().schedule.thread = nullptr;
    if (current().run.is_stopped) return false;
    if (current().schedule.resident.size() > 1 && current().run.order == Order::random && one_in(128)) {
      current().schedule.turn_over = true;
      return true;
    }
  }
  return true;
}

// Says who waits where: one clause per place.
void report_deadlock(Block& b, const char* what) {
  if (!current().schedule.short_of.empty())
    return run_short(current().schedule.short_of);  // the blocks that were not made may be what is waited for
  struct Group {
    const Thread* first;
    int count;
  };
  std::vector<Group> groups;
  for (const Thread& t : b.threads) {
    if (t.state == ThreadState::done) continue;
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
                    g.first->state == ThreadState::ready ? "poll at" : "wait at", g.first->waits_for);
    if (g.first->here.line != 0) text += fmt::format(" {}:{}", g.first->here.file, g.first->here.line);
    if (g.first->state == ThreadState::warp) text += fmt::format(" with mask {:#x}", g.first->mask);
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
  current().run.is_stopped = true;
}

// Any order of blocks is legal: ascending, descending, or a stride that visits all.
class BlockOrder {
 public:
  explicit BlockOrder(std::uint32_t total) : total_(total) {
    if (current().run.order != Order::random && current().run.order != Order::by_warp) return;
    start_ = next_random() % total;
    do stride_ = total == 1 ? 1 : 1 + next_random() % total;
    while (std::gcd(stride_, std::uint64_t{total}) != 1);
  }
  std::uint32_t operator()(std::uint64_t i) const {
    if (current().run.order == Order::descending) return static_cast<std::uint32_t>(total_ - 1 - i);
    return static_cast<std::uint32_t>((start_ + i * stride_) % total_);
  }

 private:
  std::uint32_t total_;
  std::uint64_t start_ = 0, stride_ = 1;
};

// All threads of `b` wait at the grid barrier or have exited. Opens the barrier where the whole grid does (`all_admitted`: no block is
// still to come). False: it never will.
bool meet_at_grid_barrier(Block& b, bool all_admitted) {
  const std::vector<Block*>& resident = current().schedule.resident;
  bool all = all_admitted;
  for (const Block* r : resident) all = all && r->at_grid_barrier == r->size;
  if (all) {
    release_grid_barrier();
    return true;
  }
  const bool nobody_runs =
      std::all_of(resident.begin(), resident.end(), [](const Block* r) { return r->ready_count == 0; });
  if (b.done == 0 && !nobody_runs) return true;
  report_deadlock(b, "not all threads of the grid reach the grid barrier");
  return false;
}

}  // namespace

void run_blocks(const Launch& launch, bool cooperative) {
  const std::uint32_t total = launch.blocks;
  const BlockOrder nth(total);
  std::uint32_t next = 0;
  std::size_t at = 0;
  std::size_t wanted = static_cast<std::size_t>(std::max(1, current().run.options.resident_blocks));
  if (current().run.order == Order::random)
    wanted = std::max<std::size_t>(wanted, 2);  // blocks interleave, too
  std::size_t limit = cooperative ? total : std::max<std::size_t>(wanted, kMaxResident);
  while (!current().run.is_stopped) {
    while (current().schedule.resident.size() < wanted && next < total && !current().run.is_stopped) {
      if (admit_or_run_short(launch, nth(next), cooperative || current().schedule.resident.empty())) {
        ++next;
      } else {
        wanted = limit = current().schedule.resident.size();
      }
    }
    if (current().run.is_stopped || current().schedule.resident.empty()) break;
    if (at >= current().schedule.resident.size()) at = 0;
    Block& b = *current().schedule.resident[at];
    if (!run_slice(b)) break;
    if (b.done == b.size) {
      check_gaps(b);
      check_flights(b);
      check_products(b);
      check_stores(b);
      give_back(&b);
      current().schedule.resident.erase(current().schedule.resident.begin() +
                                        static_cast<std::ptrdiff_t>(at));
      continue;
    }
    if (current().schedule.turn_over && b.ready_count > 0) {
      ++at;
      continue;
    }
    if (land_flights(b)) continue;
    const bool more_to_admit = next < total && current().schedule.resident.size() < limit;
    if (b.ready_count == 0) {
      if (resolve_active_masks(b)) continue;
      if (b.at_grid_barrier + b.done != b.size || b.at_grid_barrier == 0) {
        report_deadlock(b, "no thread of the block can go on");
        break;
      }
      if (more_to_admit) {
        wanted = current().schedule.resident.size() + 1;
        at = current().schedule.resident.size();
        continue;
      }
      if (!meet_at_grid_barrier(b, next == total)) break;
      ++at;
      continue;
    }
    // Its threads poll: let others run, and bring in a block that may be what they wait for.
    if (current().schedule.idle > kIdleLimit) {
      report_deadlock(b, "the threads poll for something that never comes");
      break;
    }
    if (more_to_admit) wanted = current().schedule.resident.size() + 1;
    ++at;
  }
  for (Block* b : current().schedule.resident) give_back(b);
  current().schedule.resident.clear();
}

}  // namespace plumb::simt
