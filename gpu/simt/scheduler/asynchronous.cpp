// What goes on beside a thread: asynchronous copies, which land at their wait or at a random earlier moment; barriers that live in shared
// memory or stand for a group, arrived at and waited for apart; atomics with an order.
#include <fmt/core.h>

#include <cstring>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

void land(PendingCopy& c) {
  if (c.landed) return;
  std::memcpy(c.to, c.from, static_cast<std::size_t>(c.valid));
  std::memset(c.to + c.valid, 0, static_cast<std::size_t>(c.bytes - c.valid));
  c.landed = true;
}

// `b` is the block that the copies go to.
void finish(Block& b, ThreadCopies::Range group, bool taken) {
  for (PendingCopy& c : group) {
    land(c);
    if (checking()) async_landed(b, c.to, static_cast<std::size_t>(c.bytes), c.location, taken);
  }
}

}  // namespace

void ThreadCopies::drop_oldest() {
  constexpr std::size_t kGroupsKept = 16;  // that are over
  first_ = ends_[first_group_++];
  if (first_ == all_.size() && groups() == 0) return clear();
  if (first_group_ < kGroupsKept) return;
  all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(first_));
  ends_.erase(ends_.begin(), ends_.begin() + static_cast<std::ptrdiff_t>(first_group_));
  for (std::uint32_t& end : ends_) end -= static_cast<std::uint32_t>(first_);
  first_ = first_group_ = 0;
}
std::vector<PendingCopy> ThreadCopies::take_all() {
  std::vector<PendingCopy> all(all_.begin() + static_cast<std::ptrdiff_t>(first_), all_.end());
  clear();
  return all;
}
std::vector<PendingCopy> ThreadCopies::take_open() {
  std::vector<PendingCopy> taken(open().begin(), open().end());
  drop_open();
  return taken;
}

void must_be_multiple(const void* to, const void* from, int of, bool reads, Here here) {
  const bool bad_to = reinterpret_cast<std::uintptr_t>(to) % static_cast<unsigned>(of) != 0;
  if (!bad_to && (!reads || reinterpret_cast<std::uintptr_t>(from) % static_cast<unsigned>(of) == 0)) return;
  note(FindingKind::misaligned,
       fmt::format("asynchronous copy {} an address that is no multiple of {} bytes", bad_to ? "to" : "from",
                   of),
       current().schedule.thread, locate(here));
  stop();
}

void poison_bytes(unsigned char* at, int bytes) {
  for (int i = 0; i < bytes; i += 4) std::memcpy(at + i, &current().run.options.poison, 4);
}

namespace {

// Marks the copy's places, its source where `reads`. It lands now, or leaves poison there until it does.
void start(PendingCopy& c, bool reads) {
  if (checking())
    async_started(c.to, c.from, static_cast<std::size_t>(c.bytes),
                  static_cast<std::size_t>(reads ? c.valid : 0), c.location);
  if (one_in(4)) {
    land(c);
  } else {
    poison_bytes(c.to, c.bytes);
  }
}

}  // namespace

void async_copy(void* shared_dst, const void* global_src, int bytes, int valid, Here here) {
  Thread& t = *current().schedule.thread;
  t.here = here;
  if (bytes != 4 && bytes != 8 && bytes != 16) trap("an asynchronous copy moves 4, 8 or 16 bytes", here);
  if (valid < 0 || valid > bytes) trap("an asynchronous copy reads between no and all of its bytes", here);
  must_be_multiple(shared_dst, global_src, bytes, valid > 0, here);
  if (!is_shared(shared_dst)) trap("an asynchronous copy must go to shared memory", here);
  start(t.copies.add(shared_dst, global_src, bytes, valid, locate(here)), true);
}

void async_commit() {
  Thread& t = *current().schedule.thread;
  for (PendingCopy& c : t.copies.open()) {
    if (one_in(4)) land(c);
  }
  t.copies.commit();
}

void async_wait(int pending) {
  Thread& t = *current().schedule.thread;
  while (t.copies.groups() > static_cast<std::size_t>(std::max(pending, 0))) {
    finish(*t.block, t.copies.oldest(), true);
    t.copies.drop_oldest();
  }
}

void async_wait_all() {
  async_wait(0);
  Thread& t = *current().schedule.thread;
  finish(*t.block, t.copies.open(), true);
  t.copies.drop_open();
}

// ---- barriers as objects, which copies may be bound to, and atomics with an order ----

namespace {

constexpr std::int64_t kMostAwaited = (1 << 20) - 1;  // bytes, PTX ISA, "mbarrier": the range of tx-count

void complete_if_due(Block& b, ObjectBarrier& o) {
  if (o.arrived != o.expected || o.awaited != 0) return;
  ++o.phase;
  o.arrived = 0;
  o.complete = join(o.complete, o.gathering);
  o.gathering = nullptr;
  for (const std::uint16_t id : o.waiting) wake(b.threads[id]);
  o.waiting.clear();
  progress();
}

ObjectBarrier& initialised(Block& b, const void* key, Here here) {
  ObjectBarrier& o = b.objects[key];
  if (o.expected == 0) trap("arrival at a barrier that nobody initialised", here);
  return o;
}

void await_bytes(ObjectBarrier& o, std::int64_t more, Here here) {
  o.awaited += more;
  if (o.awaited > kMostAwaited || o.awaited < -kMostAwaited)
    trap("a barrier awaits more bytes than it can count (1048575)", here);
}

void land_flight(Block& b, std::size_t at) {
  Flight f = std::move(b.flying[at]);
  b.flying.erase(b.flying.begin() + static_cast<std::ptrdiff_t>(at));
  finish(b, f.copies, false);
  const auto found = b.objects.find(f.barrier);
  if (checking()) f.known = join(f.known, settle_map(f.map));
  if (f.source.block != nullptr) {
    Block& from = *f.source.block;
    settle(from, f.source.reads, f.source.unit, f.source.step);
    if (checking()) f.known = join(f.known, clock_of(from, f.source.unit, from.generation, f.source.step));
  }
  if (found == b.objects.end()) return;  // invalidated meanwhile
  ObjectBarrier& o = found->second;
  o.gathering = join(o.gathering, f.known);
  o.arrived += f.arrivals;
  o.awaited -= f.bytes;
  complete_if_due(b, o);
}

// Copies land at a moment that the schedule draws, at the latest when no thread of the block can go on without them.
void land_some(Block& b) {
  for (std::size_t i = 0; i < b.flying.size();) {
    if (one_in(32)) {
      land_flight(b, i);
    } else {
      ++i;
    }
  }
}

}  // namespace

void send(Thread& t, Block& b, Flight flight) {
  if (checking()) {
    flight.known = snapshot(t);
    ++t.step;
  }
  b.flying.push_back(std::move(flight));
  if (one_in(4)) land_flight(b, b.flying.size() - 1);
}

namespace {

// An operation on a barrier, which knows more of it than other accesses do: the initialisations behind a fence.mbarrier_init.
void touch_barrier(Thread& t, const void* object, Access kind, Here here) {
  if (!checking()) return;
  const ClockPtr before = t.more;
  if (t.known_inits != nullptr) t.more = join(t.more, t.known_inits);
  access(const_cast<void*>(object), 8, kind, locate(here), cluster_scope());
  if (t.known_inits != nullptr) t.more = before;
}

}  // namespace

void barrier_init_fence() {
  Thread* const t = current().schedule.thread;
  if (t == nullptr || !checking()) return;
  t->fenced_inits = snapshot(*t);
  t->init_fence = std::uint64_t{t->block->generation} << 32 | t->step;
  t->has_clocks = true;
  ++t->step;
}

Block& take_copy_barrier(Thread& t, const void* object, Here here) {
  Block* const b = holder_of(t, object);
  if (b == nullptr) trap("a bulk copy completes on a barrier in shared memory", here);
  touch_barrier(t, object, Access::atomic_rmw, here);
  ObjectBarrier& o = initialised(*b, object, here);
  if (checking() && !o.init_told) check_init_fence(*b, object, o.init, here);
  o.init_told = true;
  return *b;
}

std::string show_barrier(const Block& b, const void* key) {
  const auto found = b.objects.find(key);
  if (found == b.objects.end()) return "";
  const ObjectBarrier& o = found->second;
  std::string text;
  const auto at = static_cast<std::size_t>(static_cast<const unsigned char*>(key) - b.arena);
  if (at < kArenaBytes && b.piece_of[at / 4] != 0) {
    const SharedPiece& piece = b.pieces[b.piece_of[at / 4] - 1u];
    text = fmt::format(" for '{}' at byte {},", piece.name, at - piece.begin);
  }
  text += fmt::format(" which has {} of {} arrivals", o.arrived, o.expected);
  if (o.awaited > 0) text += fmt::format(" and awaits {} bytes more", o.awaited);
  if (o.awaited < 0) text += fmt::format(" and got {} bytes that nobody announced", -o.awaited);
  return text;
}

// A block that ends gives its shared memory away: no copy may still be on its way there.
void check_flights(const Block& b) {
  if (b.flying.empty()) return;
  RawFinding* f =
      note(FindingKind::async_copy_not_waited_for,
           fmt::format("block {} ended while a copy to its shared memory was under way", show(b.index)),
           nullptr, b.flying.front().copies.front().location);
  if (f == nullptr) return;
  f->finding.thread.block = b.index;
  f->finding.hint = "wait for the barrier that the copy completes on";
}

bool land_flights(Block& b) {
  if (b.flying.empty()) return false;
  while (!b.flying.empty()) land_flight(b, 0);
  return true;
}

void object_barrier_init(void* object, int expected, Here here) {
  Thread& t = *current().schedule.thread;
  if (checking()) access(object, 8, Access::write, locate(here));
  if (expected < 1 || expected > kMostAwaited) trap("a barrier expects between 1 and 1048575 arrivals", here);
  if (&home_of(t, object) != t.block)
    trap("a barrier of another block is initialised: only its own may do so", here);
  ObjectBarrier& o = t.block->objects[object];
  o = ObjectBarrier{};
  o.expected = expected;
  o.init.epoch = std::uint64_t{t.block->generation} << 32 | t.step;
  o.init.block = t.block->id, o.init.warp = t.warp, o.init.lanes = 1u << t.lane;
  o.init.location = locate(here), o.init.writes = 1;
}

unsigned object_barrier_arrive(const void* key, int count, int expected, bool drop, Here here) {
  Thread& t = *current().schedule.thread;
  Block& b = home_of(t, key);
  t.here = here;
  const bool object = expected == 0;
  if (object) touch_barrier(t, key, Access::atomic_rmw, here);
  leave_trail(t, "an arrival at a barrier", here);
  if (expected > 0 && b.objects[key].expected == 0) b.objects[key].expected = expected;
  ObjectBarrier& o = initialised(b, key, here);
  if (o.arrived + count > o.expected) trap("more arrivals at a barrier than it expects", here);
  for (std::size_t i = 0; i < t.bound.size();) {
    if (t.bound[i].first != key) {
      ++i;
      continue;
    }
    finish(*t.block, t.bound[i].second, true);
    t.bound.erase(t.bound.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (checking()) {
    o.gathering = join(o.gathering, snapshot(t));
    ++t.step;
  }
  const unsigned phase = o.phase;
  o.arrived += count;
  complete_if_due(b, o);
  if (drop) {
    --o.expected;
    if (o.phase == phase) --o.arrived;
  }
  return phase;
}

void object_barrier_invalidate(const void* object, Here here) {
  Thread& t = *current().schedule.thread;
  t.here = here;
  if (checking()) access(const_cast<void*>(object), 8, Access::write, locate(here));
  if (!t.block->objects[object].waiting.empty())
    trap("a barrier is invalidated while threads wait for it", here);
  t.block->objects.erase(object);
}

void object_barrier_expect(const void* object, int bytes, Here here) {
  Thread& t = *current().schedule.thread;
  t.here = here;
  touch_barrier(t, object, Access::atomic_rmw, here);
  Block& b = home_of(t, object);
  ObjectBarrier& o = initialised(b, object, here);
  await_bytes(o, bytes, here);
  if (bytes < 0) complete_if_due(b, o);
}

void object_barrier_wait(const void* key, unsigned phase, Here here) {
  Thread& t = *current().schedule.thread;
  Block& b = *t.block;
  t.here = here;
  t.waits_for = "a barrier's wait";
  leave_trail(t, t.waits_for, here);
  t.mask = 0;
  if (&home_of(t, key) != &b)
    trap("a wait for a barrier of another block: only its own may wait there", here);
  // not where the phase is over: what is under way then is what nobody waits for
  if (b.objects[key].phase == phase) land_some(b);
  if (b.objects[key].phase == phase) {
    b.objects[key].waiting.push_back(t.id);
    t.state = ThreadState::named_barrier;
    t.waits_on = key;
    switch_out();
    t.waits_on = nullptr;
  }
  if (checking()) {
    learn(t, b.objects[key].complete);
    ++t.step;
  }
}

bool object_barrier_test(const void* key, unsigned phase, bool may_wait, Here here) {
  Thread& t = *current().schedule.thread;
  // a wait with a time limit ends without its phase now and then
  if (may_wait && !one_in(4)) {
    object_barrier_wait(key, phase, here);
    return true;
  }
  t.here = here;
  t.waits_for = "a barrier's test";
  t.polls = {};
  Block& b = *t.block;
  if (b.objects[key].phase == phase) {
    if (one_in(2)) return false;
    yield(true);
    land_some(b);
    if (b.objects[key].phase == phase) return false;
  }
  object_barrier_wait(key, phase, here);
  return true;
}

unsigned object_barrier_phase(const void* key, Here here) {
  Thread& t = *current().schedule.thread;
  t.here = here;
  // as arrivals do: another thread's initialisation must be ordered before
  touch_barrier(t, key, Access::atomic_load, here);
  return t.block->objects[key].phase;
}

void object_barrier_copies(const void* key, Here) {
  Thread& t = *current().schedule.thread;
  t.bound.emplace_back(key, t.copies.take_open());
}

void object_barrier_copies_arrive(const void* object, bool counted, Here here) {
  Thread& t = *current().schedule.thread;
  t.here = here;
  if (checking()) access(const_cast<void*>(object), 8, Access::atomic_rmw, locate(here), Scope::block);
  if (!counted) --initialised(*t.block, object, here).arrived;
  Flight f;
  f.barrier = object;
  f.arrivals = 1;
  f.copies = t.copies.take_all();
  send(t, *t.block, std::move(f));
}

namespace {

void check_bulk(const void* to, const void* from, int bytes, Here here) {
  must_be_hopper("cp.async.bulk", here);
  if (bytes < 1 || bytes % 16 != 0) trap("a bulk copy moves a multiple of 16 bytes, and some", here);
  must_be_multiple(to, from, 16, true, here);
}

// The copy goes where its barrier is. Memory of a flight's own is nobody's to look at.
void send_bulk(Thread& t, void* shared_dst, const void* from, int bytes, const void* object, Flight f,
               Here here) {
  const bool looked_at = f.source.block == nullptr && f.tile == nullptr;
  Block& b = take_copy_barrier(t, object, here);
  if (holder_of(t, shared_dst) != &b)
    trap("a bulk copy goes to the shared memory of one block, and its barrier lies in that of another", here);
  f.barrier = object;
  f.bytes = bytes;
  if (f.tile == nullptr) check_refill(b, shared_dst, static_cast<std::size_t>(bytes), "a bulk copy", here);
  start(add_copy(f.copies, shared_dst, from, bytes, bytes, locate(here)), looked_at);
  send(t, b, std::move(f));
}

}  // namespace

void bulk_copy(void* shared_dst, const void* global_src, int bytes, const void* object, Here here) {
  Thread& t = *current().schedule.thread;
  t.here = here;
  check_bulk(shared_dst, global_src, bytes, here);
  send_bulk(t, shared_dst, global_src, bytes, object, Flight{}, here);
}

void multicast(unsigned mask, void* shared_dst, const void* object, Here here, const CopyToOne& copy) {
  const Thread& t = *current().schedule.thread;
  if (mask == 0) trap("a multicast copy to no block", here);
  for (; mask != 0; mask &= mask - 1) {
    const auto rank = static_cast<unsigned>(__builtin_ctz(mask));
    copy(in_rank(t, shared_dst, rank, here), in_rank(t, object, rank, here));
  }
}

void bulk_copy_multicast(void* shared_dst, const void* global_src, int bytes, const void* object,
                         unsigned mask, Here here) {
  multicast(mask, shared_dst, object, here,
            [&](void* to, const void* at) { bulk_copy(to, global_src, bytes, at, here); });
}

void bulk_copy_to_peer(void* shared_dst, const void* shared_src, int bytes, const void* object, Here here) {
  Thread& t = *current().schedule.thread;
  t.here = here;
  if (!is_shared(shared_src)) trap("a bulk copy to another block comes out of the thread's own", here);
  check_bulk(shared_dst, shared_src, bytes, here);
  Flight f;
  f.source.block = t.block;
  f.source.unit = ProxyUnit::of_copies_to_peers(t);
  f.source.step = ++t.copies_to_peers;
  ProxyReader reader(f.source.unit, f.source.step, "a copy to another block", here);
  for (unsigned i = 0; i < static_cast<unsigned>(bytes); i += 16) {
    f.source.reads.push_back(shared_offset(shared_src) + i);
    reader.read(f.source.reads.back());
  }
  reader.finish();
  send_bulk(t, shared_dst, shared_src, bytes, object, std::move(f), here);
}

void store_to_peer(void* shared_dst, const void* value, int bytes, const void* object, Here here) {
  Thread& t = *current().schedule.thread;
  t.here = here;
  must_be_multiple(shared_dst, nullptr, bytes, false, here);
  Flight f;
  const auto* const from = static_cast<const unsigned char*>(value);
  f.tile = std::make_shared<std::vector<unsigned char>>(from, from + bytes);
  const void* const kept = f.tile->data();
  send_bulk(t, shared_dst, kept, bytes, object, std::move(f), here);
}

void ordered_begin(const volatile void* p, std::size_t bytes, Ordered kind, Scope scope, bool release,
                   Here here) {
  Thread* t = current().schedule.thread;
  if (t == nullptr) return;
  pause_before_atomic(*t, p, bytes, here);
  if (!checking()) return;
  if (release) on_release(*t);
  const Access what = kind == Ordered::load       ? Access::atomic_load
                      : kind == Ordered::store    ? Access::atomic_store
                      : kind == Ordered::exchange ? Access::atomic_exchange
                                                  : Access::atomic_rmw;
  access(const_cast<void*>(p), bytes, what, locate(here), scope);
}

void ordered_end(bool changed, bool acquire) {
  Thread* t = current().schedule.thread;
  if (t == nullptr) return;
  if (acquire && checking()) on_acquire(*t);
  t->releasing = nullptr;
  atomic_end(changed);
}

}  // namespace plumb::simt
