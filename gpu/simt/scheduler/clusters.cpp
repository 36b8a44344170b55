#include "gpu/simt/scheduler/clusters.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

// A 32-bit address of another block's shared memory: above the offset, its rank and one.
constexpr unsigned kRankShift = 24;

const uint3& extent() { return current().schedule.shape.cluster; }

Cluster& cluster_of(Block& b) {
  if (b.cluster == nullptr) {
    b.cluster = std::make_shared<Cluster>();
    b.cluster->index = b.index;
    b.cluster->blocks = {&b};
    b.cluster->threads = b.size;
    b.cluster->gone = b.done;
    b.cluster->arrivals.resize(1);
  }
  return *b.cluster;
}

}  // namespace

bool has_peers(const Block& b) { return b.cluster != nullptr && b.cluster->blocks.size() > 1; }

std::vector<Block*> blocks_beside(Block& b) {
  return b.cluster != nullptr ? b.cluster->blocks : std::vector<Block*>{&b};
}

Block* holder_of(const Thread& t, const void* p) {
  const auto within = [p](const Block& b) {
    return static_cast<std::size_t>(static_cast<const unsigned char*>(p) - b.arena) < kArenaBytes;
  };
  if (within(*t.block)) return t.block;
  if (!has_peers(*t.block)) return nullptr;
  for (Block* b : t.block->cluster->blocks) {
    if (within(*b)) return b;
  }
  return nullptr;
}

Block& home_of(const Thread& t, const void* p) {
  Block* const holder = holder_of(t, p);
  return holder != nullptr ? *holder : *t.block;
}

unsigned char* in_rank(const Thread& t, const void* p, unsigned rank, Here here) {
  const Block* const holder = holder_of(t, p);
  if (holder == nullptr) trap("an address that is mapped to another block must lie in shared memory", here);
  const std::size_t blocks = has_peers(*t.block) ? t.block->cluster->blocks.size() : 1;
  if (rank >= blocks)
    trap(fmt::format("shared memory of block {} of a cluster of {}", rank, blocks).c_str(), here);
  const Block& of = has_peers(*t.block) ? *t.block->cluster->blocks[rank] : *t.block;
  return of.arena + (static_cast<const unsigned char*>(p) - holder->arena);
}

// ---- where a block lies ----

ClusterPlace cluster_place() {
  const uint3 n = extent(), g = current().schedule.shape.grid;
  const uint3 at = current().schedule.thread->block->index;
  ClusterPlace p{{at.x % n.x, at.y % n.y, at.z % n.z},
                 n,
                 {at.x / n.x, at.y / n.y, at.z / n.z},
                 {g.x / n.x, g.y / n.y, g.z / n.z},
                 0};
  p.rank = p.block.x + n.x * (p.block.y + n.y * p.block.z);
  return p;
}

void cluster_dims(unsigned x, unsigned y, unsigned z) {
  LaunchShape& shape = current().schedule.shape;
  const uint3 n = shape.cluster;
  if (n.x == x && n.y == y && n.z == z) return;
  if (shape.cluster_said) {
    refuse(
        LaunchError::invalid_cluster_size,
        fmt::format("clusters of {} blocks: the kernel's __cluster_dims__ are {}", show(n), show({x, y, z})));
    stop();
  }
  shape.cluster = {x, y, z};
  shape.cluster_said = true;
  // Nothing of the kernel has run but this: the launch begins anew, by clusters.
  if (!refuse_launch()) current().schedule.begins_anew = true;
  stop();
}

Scope cluster_scope() {
  const Thread* t = current().schedule.thread;
  return t != nullptr && has_peers(*t->block) ? Scope::device : Scope::block;
}

// ---- shared memory of the cluster ----

unsigned shared_offset(const void* p) {
  const Thread& t = *current().schedule.thread;
  const Block& home = home_of(t, p);
  const auto offset = static_cast<unsigned>(static_cast<const unsigned char*>(p) - home.arena);
  return &home == t.block ? offset : offset | (home.rank + 1) << kRankShift;
}

void* shared_at(unsigned address) {
  const Block& b = *current().schedule.thread->block;
  const unsigned rank = (address >> kRankShift) - 1;
  if (!has_peers(b) || rank >= b.cluster->blocks.size()) return b.arena + address;
  return b.cluster->blocks[rank]->arena + (address & ((1u << kRankShift) - 1));
}

bool is_cluster_shared(const void* p) {
  const Thread* t = current().schedule.thread;
  return t != nullptr && holder_of(*t, p) != nullptr;
}

void* map_shared_rank(const void* p, unsigned rank, Here here) {
  return in_rank(*current().schedule.thread, p, rank, here);
}

unsigned query_shared_rank(const void* p, Here here) {
  const Block* const holder = holder_of(*current().schedule.thread, p);
  if (holder == nullptr) trap("the rank of an address that is not in shared memory of the cluster", here);
  return holder->rank;
}

// ---- blocks of a cluster begin together ----

std::uint32_t clusters_of(const Launch& launch) {
  const uint3 n = extent();
  return launch.blocks / (n.x * n.y * n.z);
}

bool admit_cluster(const Launch& launch, std::uint32_t number, bool needed) {
  const uint3 n = extent(), g = launch.grid;
  const unsigned size = n.x * n.y * n.z;
  if (size == 1) return admit_or_run_short(launch, number, needed);
  const uint3 grid{g.x / n.x, g.y / n.y, g.z / n.z};  // in clusters
  auto cluster = std::make_shared<Cluster>();
  cluster->index = {number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y};
  std::vector<Block*>& resident = current().schedule.resident;
  for (unsigned rank = 0; rank < size; ++rank) {
    const uint3 at{cluster->index.x * n.x + rank % n.x, cluster->index.y * n.y + rank / n.x % n.y,
                   cluster->index.z * n.z + rank / n.x / n.y};
    if (!admit_or_run_short(launch, at.x + g.x * (at.y + g.y * at.z), needed)) {
      for (Block* b : cluster->blocks) give_back(b);
      resident.resize(resident.size() - cluster->blocks.size());
      return false;
    }
    Block& b = *resident.back();
    b.rank = rank;
    b.cluster = cluster;
    cluster->blocks.push_back(&b);
    cluster->threads += b.size;
  }
  cluster->arrivals.resize(size);
  return true;
}

// ---- the barrier ----

namespace {

// The threads of a block that arrive, as a clock says it: those of its latest generation know all of the earlier ones.
void note_arrival(Thread& t, Cluster& c) {
  Block& b = *t.block;
  Known& k = c.arrivals[b.rank];
  if (k.block != b.id || k.generation < b.generation) k = {b.id, b.generation, {}};
  k.threads.emplace_back(t.id, t.step);
  // What all know since the last phase is joined when this one is complete.
  if (t.more != c.complete) c.gathering = join(c.gathering, t.more);
  if (b.more != c.complete) c.gathering = join(c.gathering, b.more);
  ++t.step;
}

ClockPtr take_arrivals(Cluster& c) {
  ClockPtr all = join(c.gathering, c.complete);
  for (Known& k : c.arrivals) {
    if (k.block == 0) continue;
    std::sort(k.threads.begin(), k.threads.end());
    all = join(all, clock_of(std::move(k)));
    k = Known{};
  }
  return all;
}

// Where all threads of a block wait here, the barrier is one of the block, too, which costs less to know.
void begin_generation(Cluster& c, Block& b) {
  on_block_barrier(b);
  ++b.generation;
  b.more = b.more == c.before ? c.complete : join(b.more, c.complete);
  b.met_in_cluster = c.phase;
}

void complete_if_all(Cluster& c) {
  if (c.arrived == 0 || c.arrived + c.gone < c.threads) return;
  ++c.phase;
  c.arrived = c.gone = 0;
  if (checking()) {
    c.before = c.complete;
    c.complete = take_arrivals(c);
    c.gathering = nullptr;
    c.complete_inits = join(c.complete_inits, c.gathering_inits);
    c.gathering_inits = nullptr;
  }
  for (Block* b : c.blocks) {
    c.gone += b->done;
    if (checking() && !b->relaxed_arrivals && b->at_cluster_barrier > 0 &&
        b->at_cluster_barrier + b->done == b->size)
      begin_generation(c, *b);
    b->at_cluster_barrier = 0;
    b->relaxed_arrivals = false;
  }
  for (Thread* t : c.waiting) {
    if (t != current().schedule.thread) wake(*t);
  }
  c.waiting.clear();
  progress();
}

void arrive(Thread& t, bool release, bool waits, Here here) {
  Cluster& c = cluster_of(*t.block);
  if (t.in_cluster_barrier)
    trap("barrier.cluster.arrive once more, with no barrier.cluster.wait between the two", here);
  t.here = here;
  t.waits_for = "the cluster's barrier";
  leave_trail(t, release ? "arrival at the cluster's barrier" : "relaxed arrival at the cluster's barrier",
              here);
  t.mask = 0;
  t.in_cluster_barrier = true;
  t.cluster_phase = c.phase;
  ++c.arrived;
  if (checking()) {
    if (release) {
      note_arrival(t, c);
    } else {  // a fence before it releases what was done before the fence
      c.gathering = join(c.gathering, has_peers(*t.block) ? t.fenced_device : t.fenced_block);
      c.gathering_inits = join(c.gathering_inits, t.fenced_inits);
    }
  }
  if (!release) t.block->relaxed_arrivals = true;
  if (waits) {
    ++t.block->at_cluster_barrier;
    c.waiting.push_back(&t);
  }
  complete_if_all(c);
}

// What a thread that has waited for its phase knows.
void take_phase(Thread& t, const Cluster& c) {
  t.in_cluster_barrier = false;
  if (!checking()) return;
  if (c.complete_inits != nullptr) {
    t.known_inits = c.complete_inits;
    t.has_clocks = true;
  }
  if (t.block->met_in_cluster != c.phase) {
    if (t.more == c.before && c.before != nullptr) {
      t.more = c.complete;  // the earlier one is part of it
    } else {
      learn(t, c.complete);
    }
  }
  ++t.step;
}

void await_phase(Thread& t, Here here) {
  t.here = here;
  t.waits_for = "the cluster's barrier";
  t.mask = 0;
  t.state = ThreadState::cluster_barrier;
  switch_out();
}

}  // namespace

void cluster_arrive(bool release, Here here) { arrive(*current().schedule.thread, release, false, here); }

void cluster_wait(Here here) {
  Thread& t = *current().schedule.thread;
  Cluster& c = cluster_of(*t.block);
  if (!t.in_cluster_barrier)
    trap("barrier.cluster.wait by a thread that did not arrive (barrier.cluster.arrive) before", here);
  if (c.phase == t.cluster_phase) {
    ++t.block->at_cluster_barrier;
    c.waiting.push_back(&t);
    await_phase(t, here);
  }
  take_phase(t, c);
}

void cluster_sync(Here here) {
  Thread& t = *current().schedule.thread;
  arrive(t, true, true, here);
  const Cluster& c = *t.block->cluster;
  if (c.phase == t.cluster_phase) await_phase(t, here);
  take_phase(t, c);
}

void leave_cluster(Thread& t) {
  if (t.block->cluster == nullptr) return;
  Cluster& c = *t.block->cluster;
  if (t.in_cluster_barrier && t.cluster_phase == c.phase) return;  // its arrival counts
  ++c.gone;
  complete_if_all(c);
}

// ---- shared memory of a block that ends ----

namespace {

constexpr const char* kStay =
    "a block must not end before the others have done with its shared memory: a cluster.sync() behind the "
    "last access";

}  // namespace

bool touches_ended(const Thread& t, const Block& holder, const Mark& now, const char* array,
                   std::int64_t offset) {
  if (&holder == t.block || holder.done < holder.size) return false;
  RawFinding* f = note(FindingKind::exited_block,
                       fmt::format("shared '{}' of block {} is {} at byte {} by block {}, and nothing keeps "
                                   "block {} from ending before",
                                   array, show(holder.index), now.writes != 0 ? "written" : "read", offset,
                                   show(t.block->index), show(holder.index)),
                       &t, now.location);
  if (f != nullptr) {
    f->finding.array = array;
    f->finding.offset = offset;
    f->finding.hint = kStay;
  }
  return true;
}

namespace {

// What a thread of the block knew when it ended.
ClockPtr last_knowledge(const Block& b) {
  ClockPtr all = b.more;
  for (const Thread& t : b.threads) all = join(all, t.more);
  return all;
}

void report_visit(const Block& b, const SharedPiece& piece, std::uint32_t at, const Mark& m) {
  const int launch = current().schedule.number;
  const ThreadId who = thread_of(m, launch);
  const bool own = m.block == b.id;
  RawFinding* f = note(
      FindingKind::exited_block,
      own ? fmt::format("shared '{}' of block {} is read at byte {} by a copy to another block, and nothing "
                        "keeps block {} from ending before",
                        piece.name, show(b.index), at - piece.begin, show(b.index))
          : fmt::format(
                "shared '{}' of block {} is {} at byte {} by block {}, and nothing keeps block {} from "
                "ending before",
                piece.name, show(b.index), m.writes != 0 ? "written" : "read", at - piece.begin,
                show(who.block), show(b.index)),
      nullptr, m.location);
  if (f == nullptr) return;
  f->finding.thread = who;
  f->finding.array = piece.name;
  f->finding.offset = at - piece.begin;
  f->finding.hint = kStay;
}

}  // namespace

void check_visits(Block& b) {
  if (!has_peers(b) || !checking() || b.shadow == nullptr) return;
  const ClockPtr knows = last_knowledge(b);
  for (const SharedPiece& piece : b.pieces) {
    for (std::uint32_t at = piece.begin; at < piece.end;
         at += static_cast<std::uint32_t>(b.shadow->granule())) {
      const Cell& cell = *b.shadow->at(at);
      if (cell.untouched()) continue;
      const Marks c = unpack(cell);
      const auto visits = [&](const Mark& m) {
        if (m.block == 0) return false;
        const bool own = m.block == b.id, known = static_cast<std::uint32_t>(m.epoch >> 32) < b.generation;
        if (own && (m.warp < kFirstPeerUnit || known)) return false;
        return !reaches_all(knows, m);
      };
      const Mark* found = visits(c.write) ? &c.write : nullptr;
      for (const Mark& m : current().race.lists.at(c.more).marks) {
        if (found == nullptr && visits(m)) found = &m;
      }
      if (found == nullptr && visits(c.other)) found = &c.other;
      if (found == nullptr) continue;
      report_visit(b, piece, at, *found);
      return;
    }
  }
}

}  // namespace plumb::simt
