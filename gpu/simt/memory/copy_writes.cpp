#include "gpu/simt/memory/copy_writes.hpp"

#include <algorithm>

#include "gpu/simt/memory/proxy.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

constexpr std::size_t kWritesKept = 4096;

Array* array_or_variable(const unsigned char* at) {
  Array* const a = array_of(at);
  return a != nullptr ? a : find_variable(at);
}

}  // namespace

Array* write_by_copy(Thread& t, unsigned char* to, std::size_t bytes, std::uint32_t group, Location location,
                     bool reduces) {
  Array* const a = array_or_variable(to);
  if (a == nullptr) return a;
  if (a->copy_writes == nullptr) a->copy_writes = std::make_unique<WritesByCopies>(), a->by_proxy = true;
  const ProxyUnit unit = ProxyUnit::of_writes(t);
  Mark m;
  m.epoch = std::uint64_t{kUnderWay} << 32 | group;
  m.block = t.block->id, m.warp = unit.warp, m.lanes = 1u << unit.lane, m.location = location;
  m.writes = m.async = 1;
  const WritesByCopies::Write write{static_cast<std::size_t>(to - a->base), bytes, m, reduces};
  WritesByCopies& all = *a->copy_writes;
  if (all.writes.size() < kWritesKept) {
    all.writes.push_back(write);
  } else {
    all.writes[all.next++ % kWritesKept] = write;
  }
  return a;
}

void settle_writes(const Thread& t, Array& a, std::uint32_t group) {
  if (a.copy_writes == nullptr) return;
  const ProxyUnit unit = ProxyUnit::of_writes(t);
  for (WritesByCopies::Write& w : a.copy_writes->writes) {
    Mark& m = w.mark;
    if (m.block != t.block->id || m.warp != unit.warp || m.lanes != 1u << unit.lane) continue;
    const auto of = static_cast<std::uint32_t>(m.epoch);
    if (m.epoch >> 32 == kUnderWay && of <= group) m.epoch = std::uint64_t{t.block->generation} << 32 | of;
  }
}

void check_copy_writes(const Thread& t, Array& a, std::size_t offset, std::size_t bytes, const Mark& now) {
  if (t.bulk != nullptr && t.bulk->starting) return;
  std::vector<WritesByCopies::Write>& all = a.copy_writes->writes;
  const auto early = std::find_if(all.begin(), all.end(), [&](const WritesByCopies::Write& w) {
    return w.offset < offset + bytes && offset < w.offset + w.bytes &&
           (!w.reduces || now.strength == kPlain) && !is_waited_for(t, w.mark);
  });
  if (early == all.end()) return;
  report_race(t, now, early->mark,
              {a.name.c_str(), static_cast<std::int64_t>(std::max(offset, early->offset)), nullptr});
  early->bytes = 0;  // told once
}

Array::Array() = default;
Array::~Array() = default;

}  // namespace plumb::simt
