// What goes on beside a thread: asynchronous copies, which land at their wait or at a random earlier moment; barriers that live in shared
// memory or stand for a group, arrived at and waited for apart; atomics with an order.
#include <fmt/core.h>

#include <cstring>

#include "gpu/simt/engine.hpp"

namespace plumb::simt {

namespace {

void land(PendingCopy& c) {
  if (c.landed) return;
  std::memcpy(c.to, c.from, static_cast<std::size_t>(c.valid));
  std::memset(c.to + c.valid, 0, static_cast<std::size_t>(c.bytes - c.valid));
  c.landed = true;
}

void finish(std::vector<PendingCopy>& group) {
  for (PendingCopy& c : group) {
    land(c);
    if (checking()) async_landed(c.to, static_cast<std::size_t>(c.bytes), c.location);
  }
}

}  // namespace

void async_copy(void* shared_dst, const void* global_src, int bytes, int valid, Here here) {
  Thread& t = *engine.current;
  t.here = here;
  const auto to = reinterpret_cast<std::uintptr_t>(shared_dst);
  const auto from = reinterpret_cast<std::uintptr_t>(global_src);
  if (bytes != 4 && bytes != 8 && bytes != 16) trap("an asynchronous copy moves 4, 8 or 16 bytes", here);
  if (valid < 0 || valid > bytes) trap("an asynchronous copy reads between no and all of its bytes", here);
  if (to % static_cast<unsigned>(bytes) != 0 || (from % static_cast<unsigned>(bytes) != 0 && valid > 0)) {
    note(FindingKind::misaligned,
         fmt::format("asynchronous copy of {} bytes {} an address that is no multiple", bytes,
                     to % static_cast<unsigned>(bytes) != 0 ? "to" : "from"),
         &t, locate(here));
    stop();
  }
  if (!is_shared(shared_dst)) trap("an asynchronous copy must go to shared memory", here);
  const Location location = locate(here);
  if (checking())
    async_started(shared_dst, global_src, static_cast<std::size_t>(bytes), static_cast<std::size_t>(valid),
                  location);
  PendingCopy c{static_cast<unsigned char*>(shared_dst),
                static_cast<const unsigned char*>(global_src),
                bytes,
                valid,
                location,
                false};
  if (one_in(4)) {
    land(c);
  } else {
    for (int i = 0; i < bytes; i += 4) std::memcpy(c.to + i, &engine.options.poison, 4);
  }
  t.open.push_back(c);
}

void async_commit() {
  Thread& t = *engine.current;
  for (PendingCopy& c : t.open) {
    if (one_in(4)) land(c);
  }
  t.committed.push_back(std::move(t.open));
  t.open.clear();
}

void async_wait(int pending) {
  Thread& t = *engine.current;
  while (t.committed.size() > static_cast<std::size_t>(std::max(pending, 0))) {
    finish(t.committed.front());
    t.committed.pop_front();
  }
}

void async_wait_all() {
  async_wait(0);
  finish(engine.current->open);
  engine.current->open.clear();
}

// ---- barriers as objects, which copies may be bound to, and atomics with an order ----

void object_barrier_init(void* object, int expected, Here here) {
  Thread& t = *engine.current;
  if (checking()) access(object, 8, Access::write, locate(here));
  if (expected < 1 || expected > kMaxThreads) trap("a barrier expects between 1 and 1024 arrivals", here);
  ObjectBarrier& o = t.block->objects[object];
  o = ObjectBarrier{};
  o.expected = expected;
}

unsigned object_barrier_arrive(const void* key, int count, int expected, bool drop, Here here) {
  Thread& t = *engine.current;
  Block& b = *t.block;
  t.here = here;
  const bool object = expected == 0;
  if (object && checking()) access(const_cast<void*>(key), 8, Access::atomic_rmw, locate(here), Scope::block);
  ObjectBarrier& o = b.objects[key];
  if (o.expected == 0) o.expected = expected;
  if (o.expected == 0) trap("arrival at a barrier that nobody initialised", here);
  if (o.arrived + count > o.expected) trap("more arrivals at a barrier than it expects", here);
  for (std::size_t i = 0; i < t.bound.size();) {
    if (t.bound[i].first != key) {
      ++i;
      continue;
    }
    finish(t.bound[i].second);
    t.bound.erase(t.bound.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (checking()) {
    o.gathering = join(o.gathering, snapshot(t));
    ++t.step;
  }
  const unsigned phase = o.phase;
  o.arrived += count;
  const bool complete = o.arrived == o.expected;
  if (drop) --o.expected, --o.arrived;
  if (complete) {
    ++o.phase;
    o.arrived = 0;
    o.complete = join(o.complete, o.gathering);
    o.gathering = nullptr;
    for (const std::uint16_t id : o.waiting) wake(b.threads[id]);
    o.waiting.clear();
    progress();
  }
  return phase;
}

void object_barrier_wait(const void* key, unsigned phase, Here here) {
  Thread& t = *engine.current;
  Block& b = *t.block;
  t.here = here;
  t.waits_for = "a barrier's wait";
  t.mask = 0;
  if (b.objects[key].phase == phase) {
    b.objects[key].waiting.push_back(t.id);
    t.state = State::named_barrier;
    switch_out();
  }
  if (checking()) {
    learn(t, b.objects[key].complete);
    ++t.step;
  }
}

unsigned object_barrier_phase(const void* key, Here here) {
  Thread& t = *engine.current;
  t.here = here;
  // as arrivals do: another thread's initialisation must be ordered before
  if (checking()) access(const_cast<void*>(key), 8, Access::atomic_load, locate(here), Scope::block);
  return t.block->objects[key].phase;
}

void object_barrier_copies(const void* key, Here) {
  Thread& t = *engine.current;
  t.bound.emplace_back(key, std::move(t.open));
  t.open.clear();
}

void ordered_begin(const volatile void* p, std::size_t bytes, Ordered kind, Scope scope, bool release,
                   Here here) {
  Thread* t = engine.current;
  if (t == nullptr) return;
  pause_before_atomic(*t, here);
  if (!checking()) return;
  if (release) on_fence(*t, scope);
  const Access what = kind == Ordered::load    ? Access::atomic_load
                      : kind == Ordered::store ? Access::atomic_store
                                               : Access::atomic_rmw;
  access(const_cast<void*>(p), bytes, what, locate(here), scope);
}

void ordered_end(bool changed, Scope scope, bool acquire) {
  Thread* t = engine.current;
  if (t == nullptr) return;
  if (acquire && checking()) on_fence(*t, scope);
  atomic_end(changed);
}

}  // namespace plumb::simt
