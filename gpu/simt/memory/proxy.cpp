#include "gpu/simt/memory/proxy.hpp"

#include <fmt/core.h>

#include <cstring>

#include "gpu/simt/language/async_proxy.hpp"
#include "gpu/simt/race/touch.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

constexpr std::uint32_t kUnderWay = ~0u;  // as a generation: no barrier comes after it
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
  m.block = t.block->id;
  m.warp = f.warp;
  m.lanes = 1u << f.lane;
  for (auto fence = f.proxy_fences.rbegin(); fence != f.proxy_fences.rend(); ++fence) {
    m.epoch = fence->epoch;
    if (known(t, m)) return &*fence;
  }
  return nullptr;
}

}  // namespace

ProxyUnit ProxyUnit::of_products(unsigned warpgroup) {
  return {static_cast<std::uint8_t>(kFirstProductUnit + warpgroup), 0};
}
ProxyUnit ProxyUnit::of_copies(const Thread& t) {
  return {static_cast<std::uint8_t>(kFirstCopyUnit + t.warp), t.lane};
}
ProxyUnit ProxyUnit::of_copies_to_peers(const Thread& t) {
  return {static_cast<std::uint8_t>(kFirstPeerUnit + t.warp), t.lane};
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
  for (const Thread& f : t.block->threads) {
    const ProxyFence* fence = f.proxy_fences.empty() ? nullptr : latest_known(t, f);
    if (fence != nullptr && reaches(fence->known, write)) return at->second = true;
  }
  return false;
}

void ProxyReader::report_unfenced(const Mark& write, const Target& target) {
  reported_ = true;
  const Thread& t = *current().schedule.thread;
  RawFinding* f = note(FindingKind::race,
                       fmt::format("shared '{}' at byte {} is read by {} here and written by a thread there, "
                                   "with no fence.proxy.async between the two",
                                   target.array, target.offset, what_),
                       &t, mark_.location, write.location);
  if (f == nullptr) return;
  f->finding.array = target.array;
  f->finding.offset = target.offset;
  f->finding.has_other = true;
  f->other_launch = current().schedule.number;
  f->finding.other_thread = thread_of(write, f->other_launch);
  f->finding.hint =
      "the asynchronous proxy may miss it: fence.proxy.async behind the write, then the barrier that the "
      "reader waits for";
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
      report_unfenced(write, target);
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
