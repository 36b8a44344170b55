// Where the threads of a block wait for each other: barriers of the block, named ones, those of the grid.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

// Warps may meet from different statements, as PTX counts them (docs/decisions/0006); a warp's lanes may not, nor may votes of
// different kinds.
bool may_meet(Block& b) {
  const auto there = [](const Thread& t) { return t.state != ThreadState::done; };
  const Thread* const all = b.threads.data();
  const Thread* const end = all + b.threads.size();
  const Thread& first = *std::find_if(all, end, there);
  for (const Thread& t : b.threads) {
    if (!there(t)) continue;
    const Thread& warp = *std::find_if(all + static_cast<std::size_t>(t.warp) * kWarp, end, there);
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

// Threads that have returned never come: a device lets the others pass the barrier, and no specification says that it must.
void report_absent(const Block& b) {
  const auto with = [&](ThreadState state) {
    return std::find_if(b.threads.begin(), b.threads.end(),
                        [&](const Thread& t) { return t.state == state; });
  };
  const Thread& waiting = *with(ThreadState::block_barrier);
  RawFinding* f =
      note(FindingKind::divergent_barrier,
           fmt::format("{} of {} threads meet at {}; thread {} has returned and does not come", b.at_barrier,
                       b.size, waiting.waits_for, show(with(ThreadState::done)->index)),
           &waiting, locate(waiting.here));
  if (f == nullptr) return;
  f->finding.hint = "every thread of the block must reach the barrier: let none return before it";
  if (b.met_at.line == 0) return;
  f->finding.text += "; warps of the block had met at two different barriers before";
  f->finding.has_other = true;
  f->finding.other_thread = f->finding.thread;
  f->other_location = locate(same_place(b.met_at, waiting.here) ? b.met_at_too : b.met_at);
}

void complete_block_barrier(Block& b) {
  if (!may_meet(b)) {
    current().run.is_stopped = true;
    return;
  }
  if (b.done > 0) report_absent(b);
  if (checking()) on_block_barrier(b);
  ++b.generation;
  b.at_barrier = 0;
  unsigned count = 0;
  for (const Thread& t : b.threads) {
    if (t.state != ThreadState::done) count += t.answer;
  }
  for_threads_in_order(b, [&](Thread& t) {
    if (t.state == ThreadState::done) return;
    t.answer = count;
    if (&t != current().schedule.thread) wake(t);
  });
  progress();
}

void complete_named(Block& b, NamedBarrier& barrier) {
  for (const std::uint16_t id : barrier.waiting) {
    Thread& t = b.threads[id];
    if (checking()) {
      learn(t, barrier.clock);
      ++t.step;
    }
    if (&t != current().schedule.thread) wake(t);
  }
  barrier = NamedBarrier{};
  progress();
}

}  // namespace

bool same_place(Here a, Here b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

void meet_without_the_gone(Block& b) {
  if (b.at_barrier > 0 && b.at_barrier + b.done == b.size) complete_block_barrier(b);
}

int block_barrier(Vote vote, int predicate, Here here) {
  Thread& t = *current().schedule.thread;
  Block& b = *t.block;
  static constexpr const char* kNames[] = {"__syncthreads", "__syncthreads_count", "__syncthreads_and",
                                           "__syncthreads_or"};
  t.here = here;
  t.waits_for = kNames[static_cast<int>(vote)];
  leave_trail(t, t.waits_for, here);
  t.mask = 0;
  // Of __syncthreads_and those are counted that say no: how many are there need not be known.
  t.answer = (predicate != 0) != (vote == Vote::all) ? 1u : 0u;
  t.state = ThreadState::block_barrier;
  ++b.at_barrier;
  if (b.at_barrier + b.done == b.size) {
    complete_block_barrier(b);
    if (current().run.is_stopped) stop();
    t.state = ThreadState::ready;
    if (b.size > 1 && current().run.order != Order::ascending)
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
      return t.answer == 0 ? 1 : 0;
    case Vote::any:
      return t.answer != 0 ? 1 : 0;
  }
  return 0;
}

void named_barrier(int id, int threads, bool wait, Here here) {
  Thread& t = *current().schedule.thread;
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
  leave_trail(t, t.waits_for, here);
  t.mask = 0;
  t.barrier_id = id;
  if (wait) {
    barrier.waiting.push_back(t.id);
    t.state = ThreadState::named_barrier;
  } else {
    ++t.step;
  }
  if (barrier.arrived == barrier.expected) {
    complete_named(b, barrier);
    t.state = ThreadState::ready;
  } else if (wait) {
    switch_out();
  }
}

void grid_barrier(Here here) {
  Thread& t = *current().schedule.thread;
  if (!current().schedule.cooperative) trap("a grid barrier needs a cooperative launch", here);
  t.here = here;
  t.waits_for = "the grid barrier";
  leave_trail(t, t.waits_for, here);
  t.mask = 0;
  t.state = ThreadState::grid_barrier;
  ++t.block->at_grid_barrier;
  switch_out();
}

void release_grid_barrier() {
  if (checking()) on_grid_barrier(current().schedule.resident);
  for (Block* b : current().schedule.resident) {
    b->at_grid_barrier = 0;
    ++b->generation;
    for_threads_in_order(*b, [](Thread& t) {
      if (t.state == ThreadState::grid_barrier) wake(t);
    });
  }
  progress();
}

void** meeting_place(const void* key) {
  std::vector<void*>& place = current().schedule.thread->block->meetings[key];
  if (place.empty()) place.resize(kMaxThreads);
  return place.data();
}

}  // namespace plumb::simt
