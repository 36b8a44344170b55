#include "gpu/simt/memory/proxy.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "gpu/simt/language/async_proxy.hpp"
#include "gpu/simt/race/touch.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

constexpr std::size_t kUnitBytes = 16;
constexpr std::size_t kFencesKept = 64;  // of a thread; the reader knows one of the latest

const SharedPiece* piece_at(const Block& b, std::uint32_t offset) {
  if (offset + kUnitBytes > kArenaBytes) return nullptr;
  const std::uint16_t id = b.piece_of[offset / 4];
  if (id == 0 || offset + kUnitBytes > b.pieces[id - 1u].end) return nullptr;
  return &b.pieces[id - 1u];
}

// The latest of f's fences that t knows.
const ProxyFence* latest_known(const Thread& t, const Thread& f) {
  Mark m;
  m.block = f.block->id;
  m.warp = f.warp;
  m.lanes = 1u << f.lane;
  for (auto fence = f.proxy_fences.rbegin(); fence != f.proxy_fences.rend(); ++fence) {
    m.epoch = fence->epoch;
    if (known(t, m)) return &*fence;
  }
  return nullptr;
}

// Whether t knows a fence behind what the mark's one thread did in b: by that thread, by itself, or by another of the two blocks.
bool is_fenced(const Thread& t, const Block& b, const Mark& m) {
  const auto behind = [&](const Thread& f) {
    const ProxyFence* fence = f.proxy_fences.empty() ? nullptr : latest_known(t, f);
    return fence != nullptr && reaches(fence->known, m);
  };
  const std::size_t own = m.warp * std::size_t{kWarp} + static_cast<unsigned>(__builtin_ctz(m.lanes));
  if ((own < b.threads.size() && behind(b.threads[own])) || behind(t)) return true;
  const auto in = [&](const Block& block) {
    return std::any_of(block.threads.begin(), block.threads.end(), behind);
  };
  return in(b) || (t.block != &b && in(*t.block));
}

// What a thread did to shared memory there, and what the asynchronous proxy does here, with no fence between the two.
void report_unfenced(const std::string& does, Location here, const Mark& then, const Target& target,
                     bool is_note, const char* hint) {
  const Thread& t = *current().schedule.thread;
  RawFinding* f = note(FindingKind::race,
                       fmt::format("shared '{}' at byte {} is {} here and {} by a thread there, "
                                   "with no fence.proxy.async between the two",
                                   target.array, target.offset, does, then.writes != 0 ? "written" : "read"),
                       &t, here, then.location);
  if (f == nullptr) return;
  f->finding.is_note = is_note;
  name_other(*f, target, then, current().schedule.number);
  f->finding.hint = hint;
}

// Calls f with each mark beside the cell's write, until it returns false.
template <class F>
void for_others(const Cell& c, F&& f) {
  Mark m = other_of(c);
  if (!c.many_warps()) {
    if (m.block == 0 || !f(m)) return;
    return current().race.lists.for_each(c.more, f);
  }
  for (std::uint32_t rest = c.more; rest != 0; rest &= rest - 1) {
    m.warp = static_cast<std::uint8_t>(__builtin_ctz(rest));
    if (!f(m)) return;
  }
}

/// A copy into shared memory, and what threads of that block did there before.
class Refill {
 public:
  Refill(const Block& b, std::string does, Here here)
      : thread_(*current().schedule.thread), block_(b), does_(std::move(does)), here_(locate(here)) {}
  void look_at(const Cell& c, const Target& target) {
    const Mark write = write_of(c);
    if (write.async == 0 && !told_write_) told_write_ = is_unfenced(write, target);
    for_others(c, [&](const Mark& m) {
      bool& told = m.writes != 0 || told_write_ ? told_write_ : told_read_;
      for (std::uint32_t rest = m.lanes; rest != 0 && !told; rest &= rest - 1) {
        Mark one = m;
        one.lanes = rest & -rest;
        told = is_unfenced(one, target);
      }
      return !told_read_ || !told_write_;
    });
  }

 private:
  // What is not ordered at all is a race by itself.
  bool is_unfenced(const Mark& m, const Target& target) {
    if (m.block != block_.id || m.warp >= kWarp || !known(thread_, m) || is_fenced(thread_, block_, m))
      return false;
    report_unfenced(
        does_, here_, m, target, false,
        m.writes != 0
            ? "the write may land behind the copy: fence.proxy.async behind it, then the barrier that the "
              "copying thread waits for"
            : "the copy may land before the read: PTX orders a thread's accesses before those of the "
              "asynchronous proxy by a proxy fence alone: fence.proxy.async behind the read, before the "
              "barrier that the copying thread waits for");
    return true;
  }

  const Thread& thread_;
  const Block& block_;
  std::string does_;
  Location here_;
  bool told_write_ = false, told_read_ = false;
};

}  // namespace

void check_refill(Block& b, const void* to, std::size_t bytes, const char* what, Here here) {
  if (!checking() || b.shadow == nullptr) return;
  const auto offset = static_cast<std::size_t>(static_cast<const unsigned char*>(to) - b.arena);
  if (offset + bytes > kArenaBytes) return;
  const std::uint16_t id = b.piece_of[offset / 4];
  if (id == 0) return;  // the copy itself is out of bounds
  const SharedPiece& piece = b.pieces[id - 1u];
  Refill refill(b, fmt::format("written by {}", what), here);
  Cell last{};
  for (std::size_t i = offset; i < offset + bytes; i += b.shadow->granule()) {
    const Cell& c = *b.shadow->at(i);
    if (c.untouched() || std::memcmp(&c, &last, sizeof c) == 0) continue;
    refill.look_at(last = c, {piece.name, static_cast<std::int64_t>(i) - piece.begin, &b});
  }
}

void check_init_fence(Block& b, const void* object, const Mark& init, Here here) {
  const Thread& t = *current().schedule.thread;
  const Thread& by =
      b.threads[init.warp * std::size_t{kWarp} + static_cast<unsigned>(__builtin_ctz(init.lanes))];
  if (&by == &t || !known(t, init) || by.init_fence >= init.epoch || is_fenced(t, b, init)) return;
  const auto offset = static_cast<std::size_t>(static_cast<const unsigned char*>(object) - b.arena);
  const SharedPiece& piece = b.pieces[b.piece_of[offset / 4] - 1u];
  report_unfenced(
      "used by a bulk copy", locate(here), init,
      {piece.name, static_cast<std::int64_t>(offset) - piece.begin, &b}, true,
      "the asynchronous proxy may not know the barrier yet: fence.mbarrier_init or fence.proxy.async "
      "behind its initialisation, then the barrier that the copying thread waits for");
}

ProxyUnit ProxyUnit::of_products(unsigned warpgroup) {
  return {static_cast<std::uint8_t>(kFirstProductUnit + warpgroup), 0};
}
ProxyUnit ProxyUnit::of_copies(const Thread& t) {
  return {static_cast<std::uint8_t>(kFirstCopyUnit + t.warp), t.lane};
}
ProxyUnit ProxyUnit::of_copies_to_peers(const Thread& t) {
  return {static_cast<std::uint8_t>(kFirstPeerUnit + t.warp), t.lane};
}
ProxyUnit ProxyUnit::of_writes(const Thread& t) {
  return {static_cast<std::uint8_t>(kFirstWriteUnit + t.warp), t.lane};
}

bool is_waited_for(const Thread& t, const Mark& m) {
  if (m.block != t.block->id) return known(t, m);
  return reaches(t.more, m) || reaches(t.block->more, m);
}

void proxy_fence(Here here) {
  Thread& t = *current().schedule.thread;
  t.here = here;
  if (!checking()) return;
  if (t.proxy_fences.size() == kFencesKept) t.proxy_fences.erase(t.proxy_fences.begin());
  t.proxy_fences.push_back({std::uint64_t{t.block->generation} << 32 | t.step, snapshot(t)});
  ++t.step;
}

ProxyReader::ProxyReader(ProxyUnit unit, std::uint32_t step, const char* what, Here here)
    : what_(what), here_(here) {
  mark_.epoch = std::uint64_t{kUnderWay} << 32 | step;
  mark_.block = current().schedule.thread->block->id;
  mark_.location = locate(here);
  mark_.warp = unit.warp;
  mark_.lanes = 1u << unit.lane;
  CellTables& tables = current().race.tables;
  stamp_ = {mark_.block,
            current().schedule.thread->block->generation,
            mark_.lanes,
            unit.warp | std::uint32_t{unit.lane} << Cell::kLaneAt,
            tables.pack(mark_.epoch),
            tables.place_of(mark_.location),
            false};
}

bool ProxyReader::fenced(const Mark& write) {
  const auto [at, is_new] = fenced_.try_emplace(
      {write.epoch, write.warp * 32u + static_cast<unsigned>(__builtin_ctz(write.lanes))});
  if (!is_new) return at->second;
  const Thread& t = *current().schedule.thread;
  return at->second = is_fenced(t, *t.block, write);
}

bool ProxyReader::touch(Thread& t, Cell& c, const Target& target) {
  if (touch_fast(t, c, stamp_, true, false)) return true;
  MarkLists& lists = current().race.lists;
  if (change_.holds && std::memcmp(&c, &change_.before, sizeof c) == 0) {
    c = change_.after;
    if (c.more == 0) return true;
    c.more = 0;
    lists.make(c.more).add(other_of(change_.before));
    return true;
  }
  const Cell before = c;
  if (!touch_slowly(t, c, mark_, target, false)) return false;
  const auto& behind = lists.at(c.more).marks;
  if (before.more == 0 && (c.more == 0 || (behind.size() == 1 && behind[0] == other_of(before))))
    change_ = {before, c, true};
  return true;
}

void ProxyReader::read(std::uint32_t offset) {
  Thread& t = *current().schedule.thread;
  Block& b = *t.block;
  const SharedPiece* piece = piece_at(b, offset);
  if (piece == nullptr) {
    if (checking() && offset + kUnitBytes <= kArenaBytes)
      access(b.arena + offset, kUnitBytes, Access::read, mark_.location);  // says what lies there
    trap(fmt::format("{} reads byte {} of shared memory, which is nobody's", what_, offset).c_str(), here_);
  }
  if (!checking()) return;
  if (b.shadow == nullptr) b.shadow = std::make_unique<Shadow>(kArenaBytes);
  if (first_ == ~0u) first_ = offset;
  current().run.counters.accesses += 1;
  resolve_pending();
  current().race.access_at = b.arena + offset;
  current().race.access_bytes = kUnitBytes;
  for (std::uint32_t i = offset; i < offset + kUnitBytes;
       i += static_cast<std::uint32_t>(b.shadow->granule())) {
    Cell& c = *b.shadow->at(i);
    const Target target{piece->name, static_cast<std::int64_t>(i) - piece->begin, &b};
    if (!touch(t, c, target)) return;
    any_written_ = any_written_ || c.initialised();
    if (c.write_block != b.id || c.write_is_async() || reported_) continue;
    const std::uint64_t which = std::uint64_t{c.write_state & Cell::kEpoch} << 32 | (c.who & Cell::kWriter);
    if (which == last_fenced_) continue;
    const Mark write = unpack(c).write;
    if (fenced(write)) {
      last_fenced_ = which;
    } else {
      reported_ = true;
      report_unfenced(
          fmt::format("read by {}", what_), mark_.location, write, target, false,
          "the asynchronous proxy may miss it: fence.proxy.async behind the write, then the barrier "
          "that the reader waits for");
    }
  }
}

void ProxyReader::finish() {
  if (any_written_ || first_ == ~0u || !checking()) return;
  const Thread& t = *current().schedule.thread;
  const SharedPiece* piece = piece_at(*t.block, first_);
  report_uninitialised(t, mark_, {piece->name, static_cast<std::int64_t>(first_) - piece->begin, t.block});
}

void settle(Block& b, const std::vector<std::uint32_t>& offsets, ProxyUnit unit, std::uint32_t step) {
  if (!checking() || b.shadow == nullptr) return;
  const std::uint64_t read = std::uint64_t{b.generation} << 32 | step;
  CellTables& tables = current().race.tables;
  const PackedEpoch packed = tables.pack(read);
  const auto settle_mark = [&](Mark& m) {
    if (m.block != b.id || m.warp != unit.warp || m.lanes != 1u << unit.lane) return;
    if (m.epoch >> 32 == kUnderWay && static_cast<std::uint32_t>(m.epoch) <= step) m.epoch = read;
  };
  for (const std::uint32_t offset : offsets) {
    for (std::uint32_t i = offset; i < offset + kUnitBytes;
         i += static_cast<std::uint32_t>(b.shadow->granule())) {
      Cell& c = *b.shadow->at(i);
      Mark other = other_of(c);
      const std::uint64_t before = other.epoch;
      settle_mark(other);
      if (other.epoch != before) c.other_state = packed | (c.other_state & Cell::kAtomics);
      if (c.more == 0 || c.many_warps()) continue;  // nor are those of a unit
      MarkList& list = current().race.lists.make(c.more);
      for (Mark& m : list.marks) settle_mark(m);
      list.look_again();
    }
  }
}

ClockPtr clock_of(const Block& b, ProxyUnit unit, std::uint32_t generation, std::uint32_t step) {
  return clock_of({b.id, generation, {{static_cast<std::uint16_t>(unit.warp * kWarp + unit.lane), step}}});
}

}  // namespace plumb::simt
