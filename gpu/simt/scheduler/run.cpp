// The loop of a launch: which block goes on, which thread of it, and when none can.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "gpu/simt/scheduler/index_variables.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

constexpr std::int64_t kIdleLimit = 4'000'000;  // fruitless polls in a row before the launch counts as hung
constexpr int kMaxResident = 64;
// More than a warp of blocks: a chain of blocks that wait for each other is as long as one that a warp looks back over.
constexpr std::size_t kManyBlocks = 40, kManyThreads = 16384;

// The block's next ready thread, made the running one; null: there is none, or they only poll.
Thread* take_ready(Block& b) {
  const std::int64_t patience = 64 + 2 * static_cast<std::int64_t>(b.size);
  // A block whose threads poll between its barriers changes something at each of them, and may wait for another block all the same.
  constexpr std::int64_t kBetweenBarriers = 4;
  const ScheduleState& schedule = current().schedule;
  if (b.ready_count == 0 || schedule.slice_idle > patience ||
      schedule.slice_polls > kBetweenBarriers * patience)
    return nullptr;
  Thread& t = pop_ready(b);
  current().schedule.thread = &t;
  running_thread = t.index;
  ++current().run.counters.switches;
  if (t.stack_low == nullptr) take_stack(t);
  if (b.ready_count > 0) {  // mostly the next: its registers, and the frame that it comes back to
    const auto* const context = static_cast<const char*>(b.threads[b.ready[b.ready_head]].context);
    for (std::ptrdiff_t line = 0; line < 3; ++line) __builtin_prefetch(context + 64 * line);
  }
  return &t;
}

// Runs threads of one block until none is ready, its threads only poll, or the schedule draws another block. False: stop the launch.
bool run_slice(Block& b) {
  current().schedule.slice_idle = current().schedule.slice_polls = 0;
  current().schedule.turn_over = current().schedule.slice_ends = false;
  running_block = b.index;
  if (Thread* const first = take_ready(b)) switch_to(*first);
  current().schedule.thread = nullptr;
  return !current().run.is_stopped;
}

// Threads that wait at one place for the same.
struct WaitingGroup {
  const Thread* first;
  int count;
};
bool wait_together(const Thread& a, const Thread& b) {
  return a.state == b.state && same_place(a.here, b.here) && a.mask == b.mask && a.waits_on == b.waits_on &&
         (a.state != ThreadState::ready || a.polls.location == b.polls.location);
}

std::vector<WaitingGroup> who_waits(const std::vector<Block*>& blocks) {
  constexpr std::size_t kMost = 6;
  std::vector<WaitingGroup> groups;
  for (const Block* b : blocks) {
    for (const Thread& t : b->threads) {
      if (t.state == ThreadState::done) continue;
      const auto same = std::find_if(groups.begin(), groups.end(),
                                     [&](const WaitingGroup& g) { return wait_together(*g.first, t); });
      if (same != groups.end()) {
        ++same->count;
      } else if (groups.size() < kMost) {
        groups.push_back({&t, 1});
      }
    }
  }
  return groups;
}

bool polls(const Thread& t) { return t.state == ThreadState::ready && t.polls.at != nullptr; }

Location location_of(const Thread& t) {
  if (t.here.line != 0) return locate(t.here);
  return polls(t) ? t.polls.location : 0;
}

// What a thread polls, and what it finds there each time.
std::string show_polled(const Thread& t) {
  std::uint64_t value = 0;
  std::memcpy(&value, t.polls.at, std::min<std::size_t>(t.polls.bytes, sizeof value));
  return fmt::format(" poll {}, which holds {}{}, by {}", show_place(t, t.polls.at), value,
                     value > 9 ? fmt::format(" ({:#x})", value) : "", t.waits_for);
}

std::string show_waiting(const WaitingGroup& g) {
  const Thread& t = *g.first;
  std::string text =
      fmt::format("; {} thread{} (first {}{})", g.count, g.count == 1 ? "" : "s", show(t.index),
                  has_peers(*t.block) ? " of block " + show(t.block->index) : "");
  if (polls(t)) {
    text += show_polled(t);
  } else {
    text += fmt::format(" {} at {}", t.state == ThreadState::ready ? "poll" : "wait", t.waits_for);
  }
  if (t.here.line != 0) text += fmt::format(" {}:{}", t.here.file, t.here.line);
  if (t.state == ThreadState::warp) text += fmt::format(" with mask {:#x}", t.mask);
  return t.waits_on != nullptr ? text + show_barrier(*t.block, t.waits_on) : text;
}

// Some poll what the host may write after its launch: a launch here has ended when the host goes on. Ends a program, with no finding.
void give_up_on_host(const std::vector<WaitingGroup>& groups) {
  for (const WaitingGroup& g : groups) {
    const Array* a = polls(*g.first) ? array_of(g.first->polls.at) : nullptr;
    if (a == nullptr || !a->of_host) continue;
    const std::string text =
        "a kernel that waits for what the host writes after its launch" + show_waiting(g);
    end_unsupported(text.c_str(), launch_under_way().here);
  }
}

// Some poll what a kernel may write that theirs has launched: here it runs when theirs has ended. Ends a program, with no finding.
void give_up_on_nested(const std::vector<WaitingGroup>& groups) {
  if (current().schedule.nested.empty()) return;
  for (const WaitingGroup& g : groups) {
    if (!polls(*g.first)) continue;
    const std::string text =
        "a kernel that waits for what a kernel writes that it launched" + show_waiting(g);
    end_unsupported(text.c_str(), launch_under_way().here);
  }
}

// Says who waits where: one clause per place.
void report_deadlock(Block& b, const char* what) {
  if (!current().schedule.short_of.empty())
    return run_short(current().schedule.short_of);  // the blocks that were not made may be what is waited for
  const std::vector<Block*> blocks = blocks_beside(b);
  const std::vector<WaitingGroup> groups = who_waits(blocks);
  give_up_on_host(groups);
  give_up_on_nested(groups);
  std::string text = what;
  for (const WaitingGroup& g : groups) text += show_waiting(g);
  int exited = 0;
  for (const Block* p : blocks) exited += p->done;
  if (exited > 0) text += fmt::format("; {} have exited", exited);
  const Thread* who = groups.empty() ? nullptr : groups[0].first;
  RawFinding* f = note(FindingKind::deadlock, text, who, who != nullptr ? location_of(*who) : 0);
  if (f != nullptr && groups.size() > 1) {
    const Thread& other = *groups[1].first;
    f->finding.has_other = true;
    f->finding.other_thread = {other.block->index, other.index};
    f->other_location = location_of(other);
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

// The block's threads have all exited: what it leaves under way, and who still uses its shared memory. The blocks of its cluster go when
// the last of them has ended.
void end_block(Block& b) {
  check_flights(b);
  check_products(b);
  check_stores(b);
  check_visits(b);
  b.ended = true;
  const std::vector<Block*> together = blocks_beside(b);
  if (!std::all_of(together.begin(), together.end(), [](const Block* p) { return p->ended; })) return;
  std::vector<Block*>& resident = current().schedule.resident;
  for (Block* p : together) {
    check_gaps(*p);
    give_back(p);
    resident.erase(std::find(resident.begin(), resident.end(), p));
  }
}

// Whether another block of the cluster has a thread that runs, or lets one of this block's run.
bool peers_can_go_on(Block& b) {
  if (!has_peers(b)) return false;
  const std::vector<Block*>& all = b.cluster->blocks;
  const auto runs = [](const Block* p) { return p->ready_count > 0; };
  if (std::any_of(all.begin(), all.end(), runs)) return true;
  bool any = false;
  for (Block* p : all) {
    if (!p->ended) any = land_flights(*p) || resolve_active_masks(*p) || any;
  }
  return any;
}

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

// Blocks under way at once, at least. Where the schedule is drawn blocks interleave: two, and in one launch of four many.
std::size_t blocks_at_once(const Launch& launch) {
  const auto asked = static_cast<std::size_t>(std::max(1, current().run.options.resident_blocks));
  if (!draws_preemption()) return asked;
  const std::size_t threads = std::size_t{launch.block.x} * launch.block.y * launch.block.z;
  const bool many = current().run.order == Order::random && launch.blocks > 2 && one_in(4);
  return std::max({asked, std::size_t{2}, many ? std::min(kManyBlocks, kManyThreads / threads) : 0});
}

}  // namespace

void end_thread(Thread& t) {
  Block& b = *t.block;
  ++b.done;
  leave_stack(t);
  b.warp_done[t.warp] |= 1u << t.lane;
  progress();
  check_products_at_exit(t);
  current().schedule.thread = nullptr;
  leave_cluster(t);
  meet_without_the_gone(b);
  if (b.warp_waiting[t.warp] != 0) {
    Thread* lanes = &b.threads[static_cast<std::size_t>(t.warp) * kWarp];
    for (unsigned rest = b.warp_waiting[t.warp]; rest != 0; rest &= rest - 1) {
      Thread& w = lanes[__builtin_ctz(rest)];
      if (w.state == ThreadState::warp && (w.mask >> t.lane & 1u) != 0 && try_complete_warp(w)) break;
    }
  }
}

Thread* next_in_slice(Block& b) {
  resolve_pending();
  if (current().run.is_stopped) return nullptr;
  if (current().schedule.resident.size() > 1 && current().run.order == Order::random &&
      (current().schedule.slice_ends || one_in(128))) {
    current().schedule.turn_over = true;
    return nullptr;
  }
  return take_ready(b);
}

namespace {

/// The blocks of a launch: which are resident, whose turn it is, and whether another is brought in.
class BlockLoop {
 public:
  BlockLoop(const Launch& launch, bool cooperative)
      : launch_(launch),
        cooperative_(cooperative),
        total_(clusters_of(launch)),
        nth_(total_),
        wanted_(blocks_at_once(launch)),
        limit_(cooperative ? launch.blocks : std::max<std::size_t>(wanted_, kMaxResident)) {}

  void run() {
    current().schedule.preemption = Preemption::of_launch();
    while (admit_wanted() && take_turn()) offer_turn(std::exchange(polled_, false));
    for (Block* b : resident_) give_back(b);
    resident_.clear();
  }

 private:
  [[nodiscard]] bool may_admit() const { return next_ < total_ && resident_.size() < limit_; }
  bool pass() { return ++at_, true; }

  // False: no block is left, or the run is stopped.
  bool admit_wanted() {
    while (resident_.size() < wanted_ && next_ < total_ && !current().run.is_stopped) {
      if (admit_cluster(launch_, nth_(next_), cooperative_ || resident_.empty())) {
        ++next_;
      } else {
        wanted_ = limit_ = resident_.size();
      }
    }
    return !current().run.is_stopped && !resident_.empty();
  }

  // A slice of one block. False: the launch stops. So it is of those below.
  bool take_turn() {
    if (at_ >= resident_.size()) at_ = 0;
    Block& b = *resident_[at_];
    if (b.ended) return pass();
    if (b.held_back > 0 && resident_.size() > 1) return --b.held_back, pass();
    b.held_back = 0;
    const std::size_t polling_turns = std::exchange(polling_turns_, 0);
    if (!run_slice(b)) return false;
    if (b.done == b.size) {
      end_block(b);
      return true;
    }
    if (current().schedule.turn_over && b.ready_count > 0) return pass();
    if (land_flights(b)) return true;
    return b.ready_count == 0 ? after_waiting(b) : after_polling(b, polling_turns);
  }

  bool after_waiting(Block& b) {
    if (resolve_active_masks(b)) return true;
    if (peers_can_go_on(b)) return pass();
    if (b.at_grid_barrier + b.done != b.size || b.at_grid_barrier == 0) {
      report_deadlock(
          b, has_peers(b) ? "no thread of the cluster can go on" : "no thread of the block can go on");
      return false;
    }
    if (may_admit()) {
      wanted_ = resident_.size() + 1;
      at_ = resident_.size();
      return true;
    }
    return meet_at_grid_barrier(b, next_ == total_) && pass();
  }

  // Its threads poll: others run, and a block is brought in that may be what they wait for.
  bool after_polling(Block& b, std::size_t turns_before) {
    if (current().schedule.idle > kIdleLimit) {
      report_deadlock(b, "the threads poll for something that never comes");
      return false;
    }
    if (may_admit()) wanted_ = resident_.size() + 1;
    polling_turns_ = turns_before + 1;
    if (polling_turns_ > resident_.size()) let_go_of_held();
    polled_ = true;
    return pass();
  }

  // All others poll, perhaps for one that is held back.
  void let_go_of_held() {
    for (Block* b : resident_) b->held_back = 0;
    polling_turns_ = 0;
  }

  const Launch& launch_;
  bool cooperative_;
  std::uint32_t total_;
  BlockOrder nth_;
  std::vector<Block*>& resident_ = current().schedule.resident;
  std::uint32_t next_ = 0;
  std::size_t at_ = 0, wanted_, limit_;
  std::size_t polling_turns_ = 0;  // in a row
  bool polled_ = false;            // in the turn that has ended, for what never came
};

}  // namespace

void run_blocks(const Launch& launch, bool cooperative) { BlockLoop(launch, cooperative).run(); }

}  // namespace plumb::simt
