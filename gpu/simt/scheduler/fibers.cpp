// Fibers: a thread of a kernel is one; one that waits switches to the next of its block, or to the scheduler.
//
// Why fibers and not threads: a barrier of 1024 threads costs two microseconds instead of milliseconds, and a
// seed replays. Boost.Context's jump_fcontext does the switch (some ten nanoseconds). Threads switch only
// where a device would let them meet (barriers, warp operations, atomics, fences): between those points a
// race cannot show in the values, which is why Options::check looks at every access instead.
#include <fmt/core.h>

#include <boost/context/detail/fcontext.hpp>
#include <new>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

bool runs_in_kernel() { return current().schedule.thread != nullptr; }

namespace {

struct ThreadExit {};

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

void push_ready(Block& b, const Thread& t) {
  std::size_t at = b.ready_head + b.ready_count++;
  if (at >= b.ready.size()) at -= b.ready.size();
  b.ready[at] = t.id;
}

// Where the one stands that jumped here: a thread, or (null) the scheduler.
void note_origin(const transfer_t& from) {
  auto* const thread = static_cast<Thread*>(from.data);
  (thread != nullptr ? thread->context : current().schedule.scheduler) = from.fctx;
}

void switch_to_scheduler(Thread& me) {
  note_origin(jump_fcontext(static_cast<fcontext_t>(current().schedule.scheduler), &me));
}

[[noreturn]] void fiber_main(transfer_t from);

// From a thread, or (null) the scheduler.
void switch_from(Thread* me, Thread& next) {
  if (next.context == nullptr) {
    unsigned char* const top = top_of_stack(next);
    next.context = make_fcontext(top, static_cast<std::size_t>(top - next.stack_low), &fiber_main);
  }
  note_origin(jump_fcontext(static_cast<fcontext_t>(next.context), me));
}

// The kernel's part of the running thread, and what follows from its end.
void run_to_end(Thread& me) {
  try {
    current().schedule.body(current().schedule.closure);
  } catch (const ThreadExit&) {      // as if it had returned
  } catch (const std::bad_alloc&) {  // the executor's own, on this thread's behalf
    run_short("what is kept of memory accesses");
  }
  me.state = ThreadState::done;
  try {
    resolve_pending();
    end_thread(me);
  } catch (const std::bad_alloc&) { run_short("what is kept of the threads that wait"); }
}

// Runs threads one after another, as long as the next has not begun and is given the stack of the one before.
[[noreturn]] void fiber_main(transfer_t from) {
  note_origin(from);
  for (;;) {
    Thread& me = *current().schedule.thread;
    run_to_end(me);
    Thread* const next = next_in_slice(*me.block);
    if (next == nullptr) {
      for (;;) switch_to_scheduler(me);
    }
    if (next->stack_low != me.stack_low) switch_from(&me, *next);
  }
}

}  // namespace

LastingExecutor the_executor;

void switch_out() {
  Thread& me = *current().schedule.thread;
  Thread* const next = next_in_slice(*me.block);
  if (next == nullptr) return switch_to_scheduler(me);
  if (next != &me) switch_from(&me, *next);
}

void switch_to(Thread& t) { switch_from(nullptr, t); }

void exit_thread() { throw ThreadExit{}; }

void wake(Thread& t) {
  t.state = ThreadState::ready;
  t.polls = {};
  push_ready(*t.block, t);
}

Thread& pop_ready(Block& b) {
  const bool stay = current().run.order == Order::ascending || current().run.order == Order::descending ||
                    (current().run.order == Order::by_warp && (next_random() & 7u) != 0);
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

void progress() { current().schedule.idle = current().schedule.slice_idle = 0; }

void yield(bool spinning) {
  Thread* t = current().schedule.thread;
  if (t == nullptr) return;
  if (spinning) {
    ++current().schedule.idle;
    ++current().schedule.slice_idle;
    ++current().schedule.slice_polls;
  }
  push_ready(*t->block, *t);
  switch_out();
}

void run_short(const std::string& what, const char* of) {
  if (current().run.shortage.empty()) current().run.shortage = fmt::format("out of {}: {}", of, what);
  current().run.is_stopped = true;
}

void stop() {
  current().run.is_stopped = true;
  for (;;) switch_out();
}

}  // namespace plumb::simt
