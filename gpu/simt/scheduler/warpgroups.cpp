// Products of a warpgroup (wgmma): started by its four warps, done at a moment that the schedule draws, seen after their wait.
//
// A warp's part of a product needs no other warp's registers, so each warp goes on by itself, and nothing but the wait makes them meet: it
// ends when all four have started what it waits for. Until then the sums hold NaN, and are kept apart; shared memory counts as being read.
#include "gpu/simt/scheduler/warpgroups.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "gpu/simt/language/warpgroup_products.hpp"
#include "gpu/simt/memory/quick.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

constexpr std::size_t kSumsKept = 16;       // of a warp, that are not in flight
constexpr std::size_t kFragmentsKept = 64;  // of A

auto all_of(const ProductForm& f) {
  return std::tie(f.columns, f.total, f.a, f.b, f.negate_a, f.negate_b, f.turn_a, f.turn_b, f.saturate);
}

// What a sum in flight holds: not a number, in either format.
constexpr unsigned kUnfinished = 0x7fc0dead, kUnfinishedHalves = 0x7ead7ead;
unsigned unfinished(const ProductForm& form) {
  return form.total == Total::f16 ? kUnfinishedHalves : kUnfinished;
}

Warpgroup& warpgroup_of(const Thread& t, Here here) {
  Block& b = *t.block;
  const std::size_t at = t.warp / kWarpgroupWarps;
  if (static_cast<std::size_t>(b.size) < (at + 1) * kWarpgroupWarps * kWarp)
    trap("wgmma needs four whole warps, the first of which is a multiple of four", here);
  if (b.warpgroups.size() <= at) b.warpgroups.resize(at + 1);
  if (b.warpgroups[at] == nullptr) b.warpgroups[at] = std::make_unique<Warpgroup>();
  return *b.warpgroups[at];
}
WarpProducts& products_of(const Thread& t, Warpgroup& g) { return g.warps[t.warp % kWarpgroupWarps]; }

std::uint64_t issued_by_all(const Warpgroup& g) {
  std::uint64_t least = g.warps[0].issued;
  for (const WarpProducts& w : g.warps) least = std::min(least, w.issued);
  return least;
}

// ---- what the lanes of a warp hand in ----

struct LaneProduct {
  const ProductForm* form;
  void* const* d;
  const unsigned* a;
  unsigned long long a_at, b_at;
  bool add;
  Here here;
  const void* const* a_places;
  std::shared_ptr<StartedProduct> started;
  bool agreed = true;
};

void gather(unsigned, void* const* in, void* const*) {
  auto* const first = static_cast<LaneProduct*>(in[0]);
  const auto p = std::make_shared<StartedProduct>();
  p->form = *first->form;
  p->a_at = first->a_at, p->b_at = first->b_at;
  p->a_in_registers = first->a != nullptr;
  p->add = first->add;
  p->here = first->here;
  p->sums = std::make_shared<Accumulator>();
  for (int l = 0; l < kWarp; ++l) {
    auto* const lane = static_cast<LaneProduct*>(in[l]);
    lane->started = p;
    lane->agreed = all_of(*lane->form) == all_of(p->form) && lane->a_at == p->a_at && lane->b_at == p->b_at &&
                   lane->add == p->add && (lane->a != nullptr) == p->a_in_registers;
    if (!lane->agreed) first->agreed = false;
    if (lane->a != nullptr) std::memcpy(p->a[l], lane->a, sizeof p->a[l]);
    LaneSums& sums = p->sums->lanes[l];
    sums.at.assign(lane->d, lane->d + registers_of(p->form));
    sums.now.resize(sums.at.size());
    for (std::size_t i = 0; i < sums.at.size(); ++i)
      std::memcpy(&sums.now[i], sums.at[i], sizeof sums.now[i]);
  }
}

// Everything that can be wrong with the call alone.
void check_call(const Thread& t, const LaneProduct& mine, Here here) {
  must_be_hopper("wgmma", here);
  const ProductForm& f = *mine.form;
  if (f.columns < 8 || f.columns > kMostColumns || f.columns % 8 != 0)
    trap("wgmma makes 8 to 256 columns, a multiple of 8", here);
  const char* why = mine.a == nullptr ? cannot_read({mine.a_at, f.a, f.turn_a}) : nullptr;
  if (why == nullptr) why = cannot_read({mine.b_at, f.b, f.turn_b});
  for (int i = 0; i < registers_of(f) && why == nullptr; ++i) {
    if (static_cast<std::size_t>(static_cast<unsigned char*>(mine.d[i]) - t.stack_low) >= kStackBytes)
      why = "sums of wgmma that are no variables of the thread";
  }
  if (why != nullptr) not_offered(why, here);
}

// ---- registers ----

void note_registers(const Thread& t, const std::string& text, Here here, Here other, const char* hint) {
  if (!checking()) return;
  RawFinding* f =
      note(FindingKind::product_registers, text, &t, locate(here), other.line != 0 ? locate(other) : 0);
  if (f == nullptr) return;
  f->finding.hint = hint;
  if (other.line == 0) return;
  f->finding.has_other = true;
  f->finding.other_thread = f->finding.thread;
  f->other_launch = current().schedule.number;
}

// Whether the variables hold other than those words.
bool changed(const LaneSums& sums, const std::vector<unsigned>* words, unsigned same) {
  for (std::size_t i = 0; i < sums.at.size(); ++i) {
    if (std::memcmp(sums.at[i], words != nullptr ? &(*words)[i] : &same, sizeof same) != 0) return true;
  }
  return false;
}
bool changed_in_flight(const Accumulator& sums, unsigned poison) {
  return std::any_of(std::begin(sums.lanes), std::end(sums.lanes),
                     [&](const LaneSums& l) { return changed(l, nullptr, poison); });
}

constexpr const char* kWrittenEarly =
    "the sums of the wgmma that was started there were written before its wait";
constexpr const char* kWaitFirst = "wgmma.wait_group must come before the sums are touched";

std::uint64_t hash_of(const unsigned (&a)[kWarp][4]) {
  std::uint64_t h = 1469598103934665603u;
  for (const auto& lane : a) {
    for (const unsigned word : lane) h = (h ^ word) * 1099511628211u;
  }
  return h;
}

// Registers that were written since the last wait, or never used by a product, need a wgmma.fence before a product uses them.
bool needs_fence(WarpProducts& w, const StartedProduct& p, const Accumulator* before) {
  bool written = before == nullptr;
  if (before != nullptr && before->landed) {
    for (const LaneSums& l : before->lanes) written = written || changed(l, &l.now, 0);
  }
  if (!p.a_in_registers) return written;
  const std::uint64_t hash = hash_of(p.a);
  const bool new_fragment = std::find(w.fragments.begin(), w.fragments.end(), hash) == w.fragments.end();
  if (new_fragment && w.fragments.size() < kFragmentsKept) w.fragments.push_back(hash);
  return written || new_fragment;
}

// The product adds to sums that are in flight, or takes the variables' values as they are now.
void attach_sums(const Thread& t, WarpProducts& w, StartedProduct& p) {
  const auto same = std::find_if(w.sums.begin(), w.sums.end(),
                                 [&](const auto& s) { return s->lanes[0].at == p.sums->lanes[0].at; });
  Accumulator* const before = same != w.sums.end() ? same->get() : nullptr;
  if (needs_fence(w, p, before) && !w.fenced) {
    note_registers(t,
                   w.waited_at.line != 0
                       ? "wgmma uses registers that were written since the wait there, with no wgmma.fence"
                       : "wgmma uses registers that were written before, with no wgmma.fence",
                   p.here, w.waited_at,
                   "wgmma.fence comes before the first product, and before one whose registers were written");
  }
  if (before != nullptr && !before->landed) {
    if (!w.told && changed_in_flight(*before, unfinished(p.form)))
      note_registers(t, kWrittenEarly, p.here, before->here, kWaitFirst);
    p.sums = *same;
  } else {
    if (before != nullptr) w.sums.erase(same);
    if (w.sums.size() > kSumsKept) {
      w.sums.erase(std::remove_if(w.sums.begin(), w.sums.end(), [](const auto& s) { return s->landed; }),
                   w.sums.end());
    }
    w.sums.push_back(p.sums);
  }
  p.sums->last = p.number;
  p.sums->here = p.here;
  const unsigned poison = unfinished(p.form);
  for (LaneSums& lane : p.sums->lanes) {
    for (void* at : lane.at) std::memcpy(at, &poison, sizeof poison);
  }
}

void land_sums(const Thread& t, WarpProducts& w, std::uint64_t upto, Here here) {
  for (const auto& sums : w.sums) {
    if (sums->landed || sums->last >= upto) continue;
    bool written = false;
    for (LaneSums& lane : sums->lanes) {
      written = written || (changed(lane, nullptr, kUnfinished) && changed(lane, nullptr, kUnfinishedHalves));
      for (std::size_t i = 0; i < lane.at.size(); ++i)
        std::memcpy(lane.at[i], &lane.now[i], sizeof(unsigned));
    }
    sums->landed = true;
    if (written && !w.told) note_registers(t, kWrittenEarly, here, sums->here, kWaitFirst);
  }
}

void note_touched(const Thread& t, const char* text, Location location, Location other, const char* hint) {
  RawFinding* f = note(FindingKind::product_registers, text, &t, location, other);
  if (f == nullptr) return;
  f->finding.hint = hint;
  f->finding.has_other = true;
  f->finding.other_thread = f->finding.thread;
}

}  // namespace

RegisterUse& RegisterUses::at(const void* word, bool on_stack) {
  if (!on_stack) return elsewhere_[word];
  constexpr std::uintptr_t kMore = 256;  // bytes
  const std::uintptr_t p = reinterpret_cast<std::uintptr_t>(word) & ~std::uintptr_t{3};
  if (numbers_.empty()) low_ = p;
  if (p < low_) {
    const std::uintptr_t more = (low_ - p + kMore) / 4;
    numbers_.insert(numbers_.begin(), more, 0);
    low_ -= 4 * more;
  }
  const std::size_t i = (p - low_) / 4;
  if (i >= numbers_.size()) numbers_.resize(i + kMore / 4);
  if (numbers_[i] == 0) numbers_[i] = static_cast<std::uint16_t>((uses_.emplace_back(), uses_.size()));
  return uses_[numbers_[i] - 1u];
}

namespace {

// The thread's variables that the product takes, from here on in flight. Those that it wrote after a fence of this product's group need another.
void use_registers(Thread& t, const LaneProduct& mine, bool fenced) {
  if (t.registers == nullptr) t.registers = std::make_unique<ProductRegisters>();
  ProductRegisters& all = *t.registers;
  const std::uint64_t behind = mine.started->number + 1;
  const auto use = [&](const void* at) -> RegisterUse& {
    RegisterUse& u = all.uses.at(at, on_own_stack(t, at));
    if (fenced && u.written == all.fences + 1)
      note_touched(t,
                   "wgmma uses here a register that was written there, with no wgmma.fence between the two",
                   locate(mine.here), u.written_at, "wgmma.fence comes behind the write, before the product");
    u.written = 0;
    u.here = mine.here;
    return u;
  };
  for (int i = 0; i < registers_of(*mine.form); ++i) use(mine.d[i]).sum_of = behind;
  if (mine.a == nullptr || mine.a_places == nullptr) return;
  for (int i = 0; i < 4; ++i) {
    if (mine.a_places[i] != nullptr) use(mine.a_places[i]).a_of = behind;
  }
}

// ---- shared memory, and the other warps ----

void disagree(const Thread& t, const GroupProduct& theirs, Here here) {
  RawFinding* f =
      note(FindingKind::divergent_barrier,
           "warps of one warpgroup start different products: all four must execute the same wgmma", &t,
           locate(here), locate(theirs.here));
  if (f != nullptr) {
    f->finding.has_other = true;
    f->finding.other_thread = {t.block->index, t.block->threads[theirs.thread].index};
    f->finding.hint = "the form and the descriptors of a product are the same in all four warps";
  }
  stop();
}

// The warpgroup's product of that number, which this warp must mean too.
GroupProduct& join_group(const Thread& t, Warpgroup& g, const StartedProduct& p) {
  if (p.number == g.first + g.products.size())
    g.products.push_back({p.form, p.a_at, p.b_at, p.a_in_registers, p.here, t.id, {}});
  GroupProduct& theirs = g.products[p.number - g.first];
  if (all_of(theirs.form) != all_of(p.form) || theirs.a_at != p.a_at || theirs.b_at != p.b_at ||
      theirs.a_in_registers != p.a_in_registers)
    disagree(t, theirs, p.here);
  return theirs;
}

Described of_a(const StartedProduct& p) { return {p.a_at, p.form.a, p.form.turn_a}; }
Described of_b(const StartedProduct& p) { return {p.b_at, p.form.b, p.form.turn_b}; }
int first_row(unsigned warp) { return static_cast<int>(warp % kWarpgroupWarps) * kRowsOfWarp; }

void read_operands(const Thread& t, WarpProducts& w, const StartedProduct& p, GroupProduct& group) {
  ProxyReader reader(ProxyUnit::of_products(t.warp / kWarpgroupWarps),
                     static_cast<std::uint32_t>(w.committed) + 1, "wgmma", p.here);
  const auto read = [&](const std::vector<std::uint32_t>& units, bool keep) {
    for (const std::uint32_t at : units) reader.read(at);
    if (keep && checking()) group.reads.insert(group.reads.end(), units.begin(), units.end());
  };
  const bool first = group.reads.empty();
  read(units_of(of_b(p), 0, p.form.columns), first);
  if (!p.a_in_registers) read(units_of(of_a(p), first_row(t.warp), kRowsOfWarp), true);
  reader.finish();
}

void compute(const Block& block, unsigned warp, WarpProducts& w, std::uint64_t upto) {
  unsigned char a[kRowsOfWarp * kBytesAlongK];
  std::vector<unsigned char> b;
  for (; !w.open.empty() && w.open.front()->number < upto; w.open.pop_front()) {
    const StartedProduct& p = *w.open.front();
    if (p.a_in_registers) {
      fetch(p.a, a);
    } else {
      fetch(of_a(p), block.arena, first_row(warp), kRowsOfWarp, a);
    }
    b.resize(static_cast<std::size_t>(p.form.columns * kBytesAlongK));
    fetch(of_b(p), block.arena, 0, p.form.columns, b.data());
    WarpSums sums;
    for (int l = 0; l < kWarp; ++l) sums[l] = p.sums->lanes[l].now.data();
    add_product(p.form, a, b.data(), p.add, sums);
  }
}

void wake_waiting(Block& b, Warpgroup& g) {
  for (const std::uint16_t id : g.waiting) wake(b.threads[id]);
  if (!g.waiting.empty()) progress();
  g.waiting.clear();
}

// By the first of a warp's lanes that comes here.
void begin(const Thread& t, const std::shared_ptr<StartedProduct>& p) {
  p->begun = true;
  Warpgroup& g = warpgroup_of(t, p->here);
  WarpProducts& w = products_of(t, g);
  p->number = w.issued++;
  GroupProduct& group = join_group(t, g, *p);
  attach_sums(t, w, *p);
  read_operands(t, w, *p, group);
  w.open.push_back(p);
  wake_waiting(*t.block, g);
  if (one_in(2)) compute(*t.block, t.warp, w, w.issued);
}

// ---- groups ----

void missing_warp(const Thread& t, const Thread& gone, Here here) {
  RawFinding* f =
      note(FindingKind::divergent_barrier,
           fmt::format("a warpgroup waits for a product that not all of its warps started; thread {} has "
                       "returned and will never start it",
                       show(gone.index)),
           &t, locate(here));
  if (f != nullptr) f->finding.hint = "all four warps of the warpgroup must execute the same wgmma";
  current().run.is_stopped = true;
}

// A thread of the warpgroup that has exited with its warp's products not all started; null: none.
const Thread* gone_before(const Block& b, const Warpgroup& g, std::size_t group, std::uint64_t upto) {
  for (std::size_t w = 0; w < kWarpgroupWarps; ++w) {
    if (g.warps[w].issued >= upto) continue;
    const Thread* lanes = &b.threads[(group * kWarpgroupWarps + w) * kWarp];
    for (int l = 0; l < kWarp; ++l) {
      if (lanes[l].state == ThreadState::done) return lanes + l;
    }
  }
  return nullptr;
}

void finish(const Thread& t, Warpgroup& g, WarpProducts& w, std::uint64_t upto, Here here) {
  // The other warps' products have ended, too, though their sums are theirs to wait for: what they read may be overwritten now.
  for (unsigned warp = 0; warp < kWarpgroupWarps; ++warp) compute(*t.block, warp, g.warps[warp], upto);
  land_sums(t, w, upto, here);
  w.waited = upto;
  w.fenced = false;
  w.told = false;
  w.waited_at = here;
  while (!w.groups.empty() && w.groups.front() <= upto) w.groups.pop_front();
  for (; g.settled < upto; ++g.settled) {
    settle(*t.block, g.products[g.settled - g.first].reads, ProxyUnit::of_products(t.warp / kWarpgroupWarps),
           static_cast<std::uint32_t>(upto));
    g.settled_generation = t.block->generation;
  }
  std::uint64_t least = g.warps[0].waited;
  for (const WarpProducts& other : g.warps) least = std::min(least, other.waited);
  for (; g.first < least; ++g.first) g.products.pop_front();
}

struct LaneGroup {
  WarpProducts* products;
};
void raise_fence(unsigned, void* const* in, void* const*) {
  WarpProducts& w = *static_cast<LaneGroup*>(in[0])->products;
  w.fenced = true;
  w.fragments.clear();
}
void close_group(unsigned, void* const* in, void* const*) {
  WarpProducts& w = *static_cast<LaneGroup*>(in[0])->products;
  w.groups.push_back(w.issued);
  w.committed = w.issued;
}

}  // namespace

void wgmma(const ProductForm& form, void* const* d, const unsigned* a, unsigned long long a_at,
           unsigned long long b_at, bool add, Here here, const void* const* a_places) {
  Thread& t = *current().schedule.thread;
  LaneProduct mine{&form, d, a, a_at, b_at, add, here, a_places, nullptr};
  check_call(t, mine, here);
  (void)warpgroup_of(t, here);
  whole_warp_exchange("wgmma.mma_async", &gather, &mine, here, WarpOrder::memory);
  if (!mine.agreed) trap("lanes of one warp give different descriptors or predicates to a wgmma", here);
  if (!mine.started->begun) begin(t, mine.started);
  if (checking()) use_registers(t, mine, products_of(t, warpgroup_of(t, here)).fenced);
}

void touch_registers(Thread& t, const void* at, std::size_t bytes, bool writes, Location location) {
  ProductRegisters& all = *t.registers;
  const auto first = reinterpret_cast<std::uintptr_t>(at), last = first + bytes;
  for (std::uintptr_t p = first & ~std::uintptr_t{3}; p < last; p += 4) {
    RegisterUse* const found = all.uses.find(p);
    if (found == nullptr) continue;
    RegisterUse& use = *found;
    WarpProducts& w = products_of(t, warpgroup_of(t, use.here));
    const bool sum = use.sum_of > w.waited, of_a = use.a_of > w.waited;
    if (sum) {
      note_touched(t,
                   writes ? "a sum of the wgmma that was started there is written here, before its wait"
                          : "a sum of the wgmma that was started there is read here, before its wait",
                   location, locate(use.here), kWaitFirst);
      w.told |= writes;
    } else if (of_a && writes) {
      note_touched(t, "a register of A of the wgmma that was started there is written here, before its wait",
                   location, locate(use.here),
                   "the product may read it late: wgmma.wait_group must come before the write");
    }
    if (sum || (of_a && writes)) use.sum_of = use.a_of = 0;  // told once
    if (writes) use.written = all.fences + 1, use.written_at = location;
  }
}

void wgmma_fence(Here here) {
  must_be_hopper("wgmma", here);
  Thread& t = *current().schedule.thread;
  if (t.registers != nullptr) ++t.registers->fences;
  LaneGroup mine{&products_of(t, warpgroup_of(t, here))};
  whole_warp_exchange("wgmma.fence", &raise_fence, &mine, here, WarpOrder::memory);
}

void wgmma_commit(Here here) {
  const Thread& t = *current().schedule.thread;
  LaneGroup mine{&products_of(t, warpgroup_of(t, here))};
  whole_warp_exchange("wgmma.commit_group", &close_group, &mine, here, WarpOrder::memory);
}

void wgmma_wait(int pending, Here here) {
  Thread& t = *current().schedule.thread;
  Warpgroup& g = warpgroup_of(t, here);
  WarpProducts& w = products_of(t, g);
  whole_warp_exchange("wgmma.wait_group", nullptr, nullptr, here, WarpOrder::memory);
  const auto kept = static_cast<std::size_t>(std::max(pending, 0));
  const std::uint64_t upto = w.groups.size() > kept ? w.groups[w.groups.size() - kept - 1] : w.waited;
  while (issued_by_all(g) < upto) {
    const Thread* gone = gone_before(*t.block, g, t.warp / kWarpgroupWarps, upto);
    if (gone != nullptr) {
      missing_warp(t, *gone, here);
      stop();
    }
    t.here = here;
    t.waits_for = "wgmma.wait_group";
    t.mask = 0;
    g.waiting.push_back(t.id);
    t.state = ThreadState::named_barrier;
    switch_out();
  }
  if (w.waited < upto) finish(t, g, w, upto, here);
  if (!checking()) return;
  if (upto > 0 && g.settled_generation == t.block->generation)
    learn(t, clock_of(*t.block, ProxyUnit::of_products(t.warp / kWarpgroupWarps), g.settled_generation,
                      static_cast<std::uint32_t>(upto)));
  ++t.step;
}

void check_products_at_exit(const Thread& gone) {
  const Block& b = *gone.block;
  const std::size_t at = gone.warp / kWarpgroupWarps;
  if (b.warpgroups.size() <= at || b.warpgroups[at] == nullptr || b.warpgroups[at]->waiting.empty()) return;
  const Warpgroup& g = *b.warpgroups[at];
  const Thread& waiting = b.threads[g.waiting.front()];
  // those that wait do so for what this warp has not started, or for another's
  if (g.warps[gone.warp % kWarpgroupWarps].issued == issued_by_all(g))
    missing_warp(waiting, gone, waiting.here);
}

void check_products(const Block& b) {
  for (const auto& g : b.warpgroups) {
    if (g == nullptr) continue;
    for (std::size_t w = 0; w < kWarpgroupWarps; ++w) {
      if (g->warps[w].waited == g->warps[w].issued) continue;
      const GroupProduct& p = g->products[g->warps[w].waited - g->first];
      RawFinding* f = note(FindingKind::async_copy_not_waited_for,
                           fmt::format("block {} ended while a wgmma was under way", show(b.index)), nullptr,
                           locate(p.here));
      if (f == nullptr) return;
      f->finding.thread = {b.index, b.threads[p.thread].index};
      f->finding.hint = "wgmma.commit_group and wgmma.wait_group come before the end";
      return;
    }
  }
}

}  // namespace plumb::simt
