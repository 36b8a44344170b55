#include "gpu/simt/memory/map_proxy.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "gpu/simt/language/async_proxy.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

constexpr std::size_t kMapFencesKept = 32, kReleasesKept = 64, kReadsKept = 1024;

std::uint64_t epoch_of(const Thread& t) { return std::uint64_t{t.block->generation} << 32 | t.step; }

template <class T>
void keep_latest(std::vector<T>& all, std::size_t most, T one) {
  if (all.size() == most) all.erase(all.begin());
  all.push_back(std::move(one));
}

// The array or variable whose bytes a map at `at` has; null where no thread can change them.
Array* changeable(const unsigned char* at) {
  Array* a = array_of(at);
  if (a == nullptr) a = find_variable(at);
  return a == nullptr || !a->writable ? nullptr : a;
}

bool of_launch_under_way(const Mark& m) {
  const Launch& launch = launch_under_way();
  return m.block >= launch.first_block && m.block - launch.first_block < launch.blocks;
}

// Whether the copying thread's block has acquired the map behind the write, or at all where that is of an earlier launch.
bool is_acquired(const Thread& t, const unsigned char* at, const Mark& write, bool of_launch) {
  const auto acquires = [&](const Thread& f) {
    return std::any_of(f.map_fences.rbegin(), f.map_fences.rend(), [&](const MapFence& fence) {
      if (at < fence.at || at + kMapBytes > fence.at + fence.bytes) return false;
      Mark m;
      m.block = f.block->id, m.warp = f.warp, m.lanes = 1u << f.lane, m.epoch = fence.epoch;
      return known(t, m) && (!of_launch || reaches(fence.known, write));
    });
  };
  return acquires(t) || std::any_of(t.block->threads.begin(), t.block->threads.end(), acquires);
}

bool is_released(const Mark& write) {
  const auto& all = current().race.map_releases;
  return std::any_of(all.rbegin(), all.rend(), [&](const ClockPtr& known) { return reaches(known, write); });
}

void report(const Thread& t, const Array& a, std::size_t offset, const Mark& write, Here here,
            const char* missing, bool is_note) {
  RawFinding* f = note(
      FindingKind::race,
      fmt::format("the tensor map in '{}' at byte {} is read by a copy here and {} there, with "
                  "no fence.proxy.tensormap::generic.{} between the two",
                  a.name, offset, of_launch_under_way(write) ? "written" : "was written before", missing),
      &t, locate(here), write.location);
  if (f == nullptr) return;
  f->finding.is_note = is_note;
  name_other(*f, {a.name.c_str(), static_cast<std::int64_t>(offset), nullptr}, write, launch_of(write.block));
  f->finding.hint =
      "a copy may read the map as it was: .release behind the write, then .acquire of its 128 bytes in each "
      "block before its first copy; a map that is a __grid_constant__ parameter needs neither";
}

// Keeps what the copy finds; whether an earlier one found something else there.
bool has_changed(MapReads& of, std::size_t offset, const unsigned char* at) {
  const auto seen = std::find_if(of.seen.begin(), of.seen.end(),
                                 [&](const MapReads::Seen& s) { return s.offset == offset; });
  MapReads::Seen& s = seen != of.seen.end() ? *seen : of.seen.emplace_back(MapReads::Seen{offset, {}});
  const bool changed = seen != of.seen.end() && std::memcmp(s.bytes.data(), at, kMapBytes) != 0;
  std::memcpy(s.bytes.data(), at, kMapBytes);
  return changed;
}

void check_fences(const Thread& t, Array& a, std::size_t offset, Here here) {
  const bool changed = has_changed(*a.map_reads, offset, a.base + offset);
  const Mark write = write_of(*a.shadow->at(offset));
  if (write.block == 0) return;
  const bool of_launch = of_launch_under_way(write);
  if (of_launch && !is_released(write)) return report(t, a, offset, write, here, "release", false);
  if (!is_acquired(t, a.base + offset, write, of_launch))
    report(t, a, offset, write, here, "acquire", !of_launch && !changed);
}

// At most one read of a unit that somebody may have waited for: the later one is known to nobody who does not know the earlier.
void keep_read(MapReads& of, std::size_t offset, const Mark& mark) {
  if (of.reads.size() >= kReadsKept) {
    const std::uint32_t known_below = current().race.known_below;
    of.reads.erase(std::remove_if(of.reads.begin(), of.reads.end(),
                                  [&](const MapReads::Read& r) { return r.mark.block < known_below; }),
                   of.reads.end());
  }
  of.reads.push_back({offset, mark});
}

}  // namespace

void map_release(Here here) {
  Thread& t = *current().schedule.thread;
  t.here = here;
  if (!checking()) return;
  keep_latest(current().race.map_releases, kReleasesKept, snapshot(t));
  ++t.step;
}

void map_acquire(const void* map, int bytes, Here here) {
  Thread& t = *current().schedule.thread;
  t.here = here;
  if (bytes != static_cast<int>(kMapBytes)) trap("fence.proxy.tensormap acquires 128 bytes", here);
  if (!checking()) return;
  keep_latest(t.map_fences, kMapFencesKept,
              {static_cast<const unsigned char*>(map), kMapBytes, epoch_of(t), snapshot(t)});
  ++t.step;
}

MapRead read_map(const void* map, ProxyUnit unit, std::uint32_t step, Here here) {
  const auto* const at = static_cast<const unsigned char*>(map);
  Array* const a = checking() ? changeable(at) : nullptr;
  if (a == nullptr) return {};
  Thread& t = *current().schedule.thread;
  access(const_cast<unsigned char*>(at), kMapBytes, Access::read, locate(here));
  if (a->map_reads == nullptr) a->map_reads = std::make_unique<MapReads>(), a->by_proxy = true;
  const auto offset = static_cast<std::size_t>(at - a->base);
  check_fences(t, *a, offset, here);
  Mark m;
  m.epoch = std::uint64_t{kUnderWay} << 32 | step;
  m.block = t.block->id, m.warp = unit.warp, m.lanes = 1u << unit.lane, m.location = locate(here);
  keep_read(*a->map_reads, offset, m);
  return {at, t.block, unit, step};
}

ClockPtr settle_map(const MapRead& read) {
  Array* const a = read.at != nullptr ? changeable(read.at) : nullptr;
  if (a == nullptr || a->map_reads == nullptr) return nullptr;
  const auto offset = static_cast<std::size_t>(read.at - a->base);
  const std::uint64_t epoch = std::uint64_t{read.block->generation} << 32 | read.step;
  std::vector<MapReads::Read>& all = a->map_reads->reads;
  const auto of_unit = [&](const MapReads::Read& r) {
    return r.offset == offset && r.mark.block == read.block->id && r.mark.warp == read.unit.warp &&
           r.mark.lanes == 1u << read.unit.lane;
  };
  all.erase(std::remove_if(all.begin(), all.end(),
                           [&](const MapReads::Read& r) {
                             return of_unit(r) && r.mark.epoch >> 32 != kUnderWay &&
                                    static_cast<std::uint32_t>(r.mark.epoch) < read.step;
                           }),
            all.end());
  for (MapReads::Read& r : all) {
    if (of_unit(r) && static_cast<std::uint32_t>(r.mark.epoch) == read.step) r.mark.epoch = epoch;
  }
  return clock_of(*read.block, read.unit, read.block->generation, read.step);
}

void check_map_reads(const Thread& t, Array& a, std::size_t offset, std::size_t bytes, const Mark& now) {
  std::vector<MapReads::Read>& all = a.map_reads->reads;
  const auto early = std::find_if(all.begin(), all.end(), [&](const MapReads::Read& r) {
    return r.offset < offset + bytes && offset < r.offset + kMapBytes && !is_waited_for(t, r.mark);
  });
  if (early == all.end()) return;
  report_race(t, now, early->mark,
              {a.name.c_str(), static_cast<std::int64_t>(std::max(offset, early->offset)), nullptr});
  all.erase(early);  // told once
}

}  // namespace plumb::simt
