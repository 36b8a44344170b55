// Copies by tensor maps (cp.async.bulk.tensor, tiled), and bulk copies out of shared memory with their groups.
#include "gpu/simt/scheduler/tensor_copies.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "gpu/simt/language/reductions.hpp"
#include "gpu/simt/language/warpgroup_products.hpp"
#include "gpu/simt/memory/copy_writes.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

constexpr std::uint32_t kMagic = 0x70614d54;
constexpr std::uint64_t kMostStride = std::uint64_t{1} << 40, kMostSize = std::uint64_t{1} << 32;
constexpr unsigned kMostBox = 256, kMostEvery = 8;

struct Encoded {
  std::uint32_t magic;
  std::uint8_t dimensions, element_bytes, swizzled_units, type, every[kMostDimensions];
  std::uint16_t box[kMostDimensions];
  std::uint32_t last[kMostDimensions];  // index
  std::uint64_t strides[kMostDimensions];
  std::uint64_t outside;
  unsigned char* base;
};
static_assert(sizeof(Encoded) <= 128, "a CUtensorMap");

std::uint64_t copied(const TensorTiles& t, int d) { return (t.box[d] + t.every[d] - 1) / t.every[d]; }

bool is_valid(const TensorTiles& t) {
  if (t.dimensions < 1 || t.dimensions > kMostDimensions ||
      reinterpret_cast<std::uintptr_t>(t.base) % kUnit != 0)
    return false;
  for (int d = 0; d < t.dimensions; ++d) {
    if (t.sizes[d] < 1 || t.sizes[d] > kMostSize || t.box[d] < 1 || t.box[d] > kMostBox) return false;
    if (t.every[d] < 1 || t.every[d] > kMostEvery) return false;
    if (d > 0 && (t.strides[d] % kUnit != 0 || t.strides[d] >= kMostStride)) return false;
  }
  const std::uint64_t row = t.box[0] * static_cast<std::uint64_t>(t.element_bytes);
  return row % kUnit == 0 && (t.swizzled_units == 1 || row <= kUnit * t.swizzled_units);
}

// The tiles that a copy names; stops the launch where it names none.
TensorTiles tiles_at(const void* map, int dimensions, const void* shared, Here here) {
  TensorTiles tiles;
  if (!decode(map, tiles)) trap("a tensor copy by what is no tensor map", here);
  if (tiles.dimensions != dimensions) {
    trap(fmt::format("a tensor copy of {} dimensions by a map of {}", dimensions, tiles.dimensions).c_str(),
         here);
  }
  if (!is_cluster_shared(shared)) trap("a tensor copy goes between global and shared memory", here);
  must_be_multiple(shared, nullptr, 128, false, here);
  const std::uint64_t row = tiles.box[0] * static_cast<std::uint64_t>(tiles.element_bytes);
  if (tiles.swizzled_units > 1 && row != kUnit * tiles.swizzled_units)
    not_offered("swizzled boxes whose rows are shorter than the swizzle", here);
  return tiles;
}

// Calls run(from the box's begin in bytes, the first element's address, elements within, elements before) for each row of the box;
// null for rows outside.
template <class Run>
void for_rows(const TensorTiles& t, const int* at, Run run) {
  std::uint64_t rows = 1;
  for (int d = 1; d < t.dimensions; ++d) rows *= copied(t, d);
  const auto width = static_cast<std::int64_t>(t.box[0]);
  const std::int64_t before = std::clamp<std::int64_t>(-std::int64_t{at[0]}, 0, width);
  const std::int64_t end =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(t.sizes[0]) - at[0], before, width);
  for (std::uint64_t row = 0; row < rows; ++row) {
    unsigned char* p = t.base + (at[0] + before) * t.element_bytes;
    bool inside = end > before;
    std::uint64_t rest = row;
    for (int d = 1; d < t.dimensions; ++d) {
      const std::int64_t x = at[d] + static_cast<std::int64_t>(rest % copied(t, d) * t.every[d]);
      rest /= copied(t, d);
      inside = inside && x >= 0 && x < static_cast<std::int64_t>(t.sizes[d]);
      if (inside) p += static_cast<std::uint64_t>(x) * t.strides[d];
    }
    run(row * static_cast<std::uint64_t>(width * t.element_bytes), inside ? p : nullptr, end - before,
        before);
  }
}

std::uint64_t bytes_of_box(const TensorTiles& t) {
  std::uint64_t bytes = t.box[0] * static_cast<std::uint64_t>(t.element_bytes);
  for (int d = 1; d < t.dimensions; ++d) bytes *= copied(t, d);
  return bytes;
}

// Where a byte of a box that begins at `offset` of shared memory lies there.
std::uint32_t swizzled(const TensorTiles& t, std::uint32_t offset, std::uint64_t byte) {
  const std::uint32_t at = offset + static_cast<std::uint32_t>(byte);
  return at ^ (at >> 7 & (t.swizzled_units - 1)) << 4;
}

// The box as it will lie in shared memory, elements past the ends filled.
std::vector<unsigned char> fetch_box(const TensorTiles& t, const int* at, std::uint32_t offset,
                                     Location location) {
  const auto bytes = bytes_of_box(t);
  const auto size = static_cast<std::size_t>(t.element_bytes);
  std::vector<unsigned char> flat(bytes), lies(bytes);
  for (std::size_t i = 0; i < bytes; i += size) std::memcpy(&flat[i], &t.outside, size);
  for_rows(t, at, [&](std::uint64_t begin, unsigned char* from, std::int64_t count, std::int64_t before) {
    if (from == nullptr) return;
    const std::size_t run = static_cast<std::size_t>(count) * size;
    if (checking()) access(from, run, Access::read, location);
    std::memcpy(&flat[begin + static_cast<std::size_t>(before) * size], from, run);
  });
  for (std::uint64_t i = 0; i < bytes; i += kUnit)
    std::memcpy(&lies[swizzled(t, offset, i) - offset], &flat[i], kUnit);
  return lies;
}

BulkGroups& bulk_of(Thread& t) {
  if (t.bulk == nullptr) t.bulk = std::make_unique<BulkGroups>();
  return *t.bulk;
}

void move(const Block& b, OutgoingCopy& c) {
  if (c.moved) return;
  for (const Move& m : c.moves) {
    if (c.type == Number::none) {
      std::memcpy(m.to, b.arena + m.from, m.bytes);
    } else {
      reduce(m.to, b.arena + m.from, m.bytes, c.how, c.type);
    }
  }
  c.moved = true;
}

// A copy writes; a reduction is an atomic operation on each number.
void mark_target(const OutgoingCopy& copy, const Move& m, Location location) {
  if (copy.type == Number::none) return access(m.to, m.bytes, Access::write, location);
  const std::size_t size = bytes_of(copy.type);
  for (std::size_t i = 0; i < m.bytes; i += size) access(m.to + i, size, Access::atomic_rmw, location);
}

// Marks what the copy reads and writes, and lets it begin.
void start_outgoing(Thread& t, OutgoingCopy copy) {
  BulkGroups& bulk = bulk_of(t);
  const Location location = locate(copy.here);
  ProxyReader reader(ProxyUnit::of_copies(t), bulk.closed + 1, "a bulk copy", copy.here);
  for (const std::uint32_t at : copy.reads) reader.read(at);
  reader.finish();
  if (checking()) {
    bulk.starting = true;
    for (const Move& m : copy.moves) {
      mark_target(copy, m, location);
      Array* const a = write_by_copy(t, m.to, m.bytes, bulk.closed + 1, location, copy.type != Number::none);
      if (a != nullptr) bulk.targets.insert(a);
    }
    bulk.starting = false;
    resolve_pending();
  }
  if (one_in(2)) move(*t.block, copy);
  bulk.open.push_back(std::move(copy));
}

}  // namespace

namespace {

void put(const TensorTiles& t, void* map) {
  Encoded e{};
  e.magic = kMagic;
  e.dimensions = static_cast<std::uint8_t>(t.dimensions);
  e.element_bytes = static_cast<std::uint8_t>(t.element_bytes);
  e.swizzled_units = static_cast<std::uint8_t>(t.swizzled_units);
  e.type = static_cast<std::uint8_t>(t.type);
  for (int d = 0; d < kMostDimensions; ++d) {  // the rank may be told last
    e.every[d] = static_cast<std::uint8_t>(t.every[d]);
    e.box[d] = static_cast<std::uint16_t>(t.box[d]);
    e.last[d] = static_cast<std::uint32_t>(t.sizes[d] - 1);
    e.strides[d] = t.strides[d];
  }
  e.outside = t.outside;
  e.base = t.base;
  std::memset(map, 0, kMapBytes);
  std::memcpy(map, &e, sizeof e);
}

}  // namespace

bool encode(const TensorTiles& t, void* map) {
  if (is_valid(t)) put(t, map);
  return is_valid(t);
}

bool decode(const void* map, TensorTiles& t) {
  Encoded e;
  std::memcpy(&e, map, sizeof e);
  if (e.magic != kMagic) return false;
  t.dimensions = e.dimensions;
  t.element_bytes = e.element_bytes;
  t.swizzled_units = e.swizzled_units;
  t.type = static_cast<Number>(e.type);
  for (int d = 0; d < kMostDimensions; ++d) {
    t.every[d] = e.every[d];
    t.box[d] = e.box[d];
    t.sizes[d] = std::uint64_t{e.last[d]} + 1;
    t.strides[d] = e.strides[d];
  }
  t.outside = e.outside;
  t.base = e.base;
  return true;
}

namespace {

// A map's field as tensormap.replace names it, and the type and mode behind a number of it.
struct MapType {
  std::uint8_t bytes;
  Number number;
};
constexpr MapType kMapTypes[] = {{1, Number::none}, {2, Number::none}, {4, Number::u32},  {4, Number::s32},
                                 {8, Number::u64},  {8, Number::s64},  {2, Number::f16},  {4, Number::f32},
                                 {0, Number::none}, {8, Number::f64},  {2, Number::bf16}, {4, Number::f32}};

void replace_of_map(TensorTiles& t, MapField field, unsigned d, unsigned long long value, Here here) {
  switch (field) {
    case MapField::global_address:
      t.base = reinterpret_cast<unsigned char*>(value);
      return;
    case MapField::rank:
      t.dimensions = static_cast<int>(value) + 1;
      return;
    case MapField::box_dim:
      t.box[d] = static_cast<unsigned>(value);
      return;
    case MapField::global_dim:
      t.sizes[d] = value;
      return;
    case MapField::global_stride:
      t.strides[d + 1] = value;
      return;
    case MapField::element_stride:
      t.every[d] = static_cast<unsigned>(value);
      return;
    case MapField::swizzle_mode:
      t.swizzled_units = 1u << value;
      return;
    case MapField::fill_mode:
      t.outside = value == 0             ? 0
                  : t.element_bytes == 2 ? 0x7fff
                  : t.element_bytes == 4 ? 0x7fffffff
                                         : 0x7fffffffffffffff;
      return;
    case MapField::interleave_layout:
      if (value != 0) not_offered("interleaved tensor maps", here);
      return;
    case MapField::elemtype:
      if (value >= std::size(kMapTypes) || kMapTypes[value].bytes == 0)
        not_offered("tensor maps of that type", here);
      t.element_bytes = kMapTypes[value].bytes, t.type = kMapTypes[value].number;
      t.strides[0] = kMapTypes[value].bytes;
      return;
  }
}

// A map may be made of zeros, field by field.
bool is_zero(const void* map) {
  const auto* const bytes = static_cast<const unsigned char*>(map);
  return std::all_of(bytes, bytes + kMapBytes, [](unsigned char b) { return b == 0; });
}

}  // namespace

void tensormap_replace(void* map, MapField field, unsigned dimension, unsigned long long value, Here here) {
  must_be_hopper("tensormap.replace", here);
  Thread& t = *current().schedule.thread;
  t.here = here;
  if (checking()) access(map, kMapBytes, Access::write, locate(here));
  TensorTiles tiles;
  if (!decode(map, tiles) && !is_zero(map)) trap("tensormap.replace of what is no tensor map", here);
  const unsigned most = field == MapField::global_stride ? kMostDimensions - 1 : kMostDimensions;
  if (dimension >= most) trap("tensormap.replace of a dimension that no tensor map has", here);
  replace_of_map(tiles, field, dimension, value, here);
  put(tiles, map);
}

namespace {

// What one lane brings, to all of them.
void hand_on_clock(unsigned, void* const* in, void* const*) {
  ClockPtr known;
  for (int lane = 0; lane < kWarp; ++lane) {
    const ClockPtr& one = *static_cast<const ClockPtr*>(in[lane]);
    if (one != nullptr) known = one;
  }
  for (int lane = 0; lane < kWarp; ++lane) *static_cast<ClockPtr*>(in[lane]) = known;
}

}  // namespace

// A copy of the whole warp: any of its lanes may make it, and all of them know it afterwards.
void tensormap_copy_release(void* global_dst, const void* shared_src, int bytes, Here here) {
  constexpr const char* kName = "tensormap.cp_fenceproxy";
  must_be_hopper(kName, here);
  if (bytes != static_cast<int>(kMapBytes)) trap("tensormap.cp_fenceproxy copies 128 bytes", here);
  Thread& t = *current().schedule.thread;
  whole_warp_exchange(kName, nullptr, nullptr, here);
  ClockPtr known;
  if (t.lane == elected_rank(kWarp, 0)) {
    if (checking()) {
      access(const_cast<void*>(shared_src), kMapBytes, Access::read, locate(here));
      access(global_dst, kMapBytes, Access::write, locate(here));
      resolve_pending();
      known = snapshot(t);
    }
    std::memcpy(global_dst, shared_src, kMapBytes);
    map_release(here);
  }
  whole_warp_exchange(kName, &hand_on_clock, &known, here);
  learn(t, known);
}

void tensor_load(void* shared_dst, const void* map, const int* at, int dimensions, const void* object,
                 Here here) {
  must_be_hopper("cp.async.bulk.tensor", here);
  Thread& t = *current().schedule.thread;
  t.here = here;
  const MapRead read = read_map(map, ProxyUnit::of_copies_to_peers(t), ++t.copies_to_peers, here);
  const TensorTiles tiles = tiles_at(map, dimensions, shared_dst, here);
  Block& b = take_copy_barrier(t, object, here);
  if (holder_of(t, shared_dst) != &b)
    trap("a tensor copy goes to the shared memory of one block, and its barrier lies in that of another",
         here);
  const Location location = locate(here);
  Flight f;
  f.tile =
      std::make_shared<std::vector<unsigned char>>(fetch_box(tiles, at, shared_offset(shared_dst), location));
  f.map = read;
  const int bytes = static_cast<int>(f.tile->size());
  check_refill(b, shared_dst, f.tile->size(), "a tensor copy", here);
  if (checking()) async_started(shared_dst, nullptr, f.tile->size(), 0, location);
  f.barrier = object;
  f.bytes = bytes;
  f.copies.push_back(
      {static_cast<unsigned char*>(shared_dst), f.tile->data(), bytes, bytes, location, false});
  poison_bytes(f.copies[0].to, bytes);
  send(t, b, std::move(f));
}

void tensor_load_multicast(void* shared_dst, const void* map, const int* at, int dimensions,
                           const void* object, unsigned mask, Here here) {
  multicast(mask, shared_dst, object, here,
            [&](void* to, const void* barrier) { tensor_load(to, map, at, dimensions, barrier, here); });
}

namespace {

// The copy of a box out of shared memory.
OutgoingCopy box_out(const TensorTiles& tiles, const int* at, const void* shared_src, Here here) {
  if (!is_shared(shared_src)) trap("a tensor copy out of shared memory begins in the block's own", here);
  const std::uint32_t offset = shared_offset(shared_src);
  OutgoingCopy copy;
  copy.here = here;
  const std::uint64_t bytes = bytes_of_box(tiles);
  for (std::uint64_t i = 0; i < bytes; i += kUnit)
    copy.reads.push_back(offset + static_cast<std::uint32_t>(i));
  const auto size = static_cast<std::uint64_t>(tiles.element_bytes);
  for_rows(tiles, at, [&](std::uint64_t begin, unsigned char* to, std::int64_t count, std::int64_t before) {
    if (to == nullptr) return;
    std::uint64_t from = begin + static_cast<std::uint64_t>(before) * size;
    for (std::uint64_t left = static_cast<std::uint64_t>(count) * size; left > 0;) {  // to the end of a unit
      const std::uint64_t run = std::min(left, kUnit - from % kUnit);
      copy.moves.push_back({to, swizzled(tiles, offset, from), static_cast<std::uint32_t>(run)});
      to += run, from += run, left -= run;
    }
  });
  return copy;
}

// The copy of whole 16 bytes out of shared memory.
OutgoingCopy bytes_out(void* global_dst, const void* shared_src, int bytes, Here here) {
  if (bytes < 1 || bytes % static_cast<int>(kUnit) != 0)
    trap("a bulk copy moves a multiple of 16 bytes, and some", here);
  if (!is_shared(shared_src)) trap("a bulk copy out of shared memory begins there", here);
  must_be_multiple(global_dst, shared_src, static_cast<int>(kUnit), true, here);
  OutgoingCopy copy;
  copy.here = here;
  const std::uint32_t offset = shared_offset(shared_src), size = static_cast<std::uint32_t>(bytes);
  copy.moves.push_back({static_cast<unsigned char*>(global_dst), offset, size});
  for (std::uint32_t i = 0; i < size; i += kUnit) copy.reads.push_back(offset + i);
  return copy;
}

// As a copy of the bulk group that is open reads its map.
MapRead read_map_of_group(Thread& t, const void* map, Here here) {
  return read_map(map, ProxyUnit::of_copies(t), bulk_of(t).closed + 1, here);
}

// Stops the launch where the instruction does not exist.
void must_reduce(Reduction how, Number type, Here here) {
  if (!can_reduce(how, type))
    trap("cp.reduce.async.bulk has no such operation on numbers of that type", here);
}

}  // namespace

void tensor_store(const void* map, const int* at, int dimensions, const void* shared_src, Here here) {
  must_be_hopper("cp.async.bulk.tensor", here);
  Thread& t = *current().schedule.thread;
  t.here = here;
  const MapRead read = read_map_of_group(t, map, here);
  OutgoingCopy copy = box_out(tiles_at(map, dimensions, shared_src, here), at, shared_src, here);
  copy.map = read;
  start_outgoing(t, std::move(copy));
}

void bulk_store(void* global_dst, const void* shared_src, int bytes, Here here) {
  must_be_hopper("cp.async.bulk", here);
  Thread& t = *current().schedule.thread;
  t.here = here;
  start_outgoing(t, bytes_out(global_dst, shared_src, bytes, here));
}

void tensor_reduce(const void* map, const int* at, int dimensions, const void* shared_src, Reduction how,
                   Here here) {
  Thread& t = *current().schedule.thread;
  t.here = here;
  const MapRead read = read_map_of_group(t, map, here);
  const TensorTiles tiles = tiles_at(map, dimensions, shared_src, here);
  must_reduce(how, tiles.type, here);
  OutgoingCopy copy = box_out(tiles, at, shared_src, here);
  copy.map = read;
  copy.how = how, copy.type = tiles.type;
  start_outgoing(t, std::move(copy));
}

void bulk_reduce(void* global_dst, const void* shared_src, int bytes, Reduction how, Number type, Here here) {
  must_be_hopper("cp.reduce.async.bulk", here);
  Thread& t = *current().schedule.thread;
  t.here = here;
  must_reduce(how, type, here);
  OutgoingCopy copy = bytes_out(global_dst, shared_src, bytes, here);
  copy.how = how, copy.type = type;
  start_outgoing(t, std::move(copy));
}

void bulk_commit(Here here) {
  Thread& t = *current().schedule.thread;
  t.here = here;
  BulkGroups& bulk = bulk_of(t);
  bulk.committed.push_back(std::move(bulk.open));
  bulk.open.clear();
  ++bulk.closed;
}

namespace {

// What the thread's copies up to `step` have written is there, and it knows that.
void settle_targets(Thread& t, BulkGroups& bulk, std::uint32_t step) {
  if (!checking() || bulk.targets.empty()) return;
  for (Array* a : bulk.targets) settle_writes(t, *a, step);
  learn(t, clock_of(*t.block, ProxyUnit::of_writes(t), t.block->generation, step));
}

}  // namespace

void bulk_wait(int pending, bool read, Here here) {
  Thread& t = *current().schedule.thread;
  t.here = here;
  BulkGroups& bulk = bulk_of(t);
  const ProxyUnit unit = ProxyUnit::of_copies(t);
  bool any = false;
  while (bulk.committed.size() > static_cast<std::size_t>(std::max(pending, 0))) {
    const auto step = bulk.closed - static_cast<std::uint32_t>(bulk.committed.size()) + 1;
    for (OutgoingCopy& c : bulk.committed.front()) {
      move(*t.block, c);
      settle(*t.block, c.reads, unit, step);
      if (checking()) (void)settle_map(c.map);  // known with the rest of the group
    }
    bulk.committed.pop_front();
    if (checking()) learn(t, clock_of(*t.block, unit, t.block->generation, step));
    any = true;
  }
  if (!read) settle_targets(t, bulk, bulk.closed - static_cast<std::uint32_t>(bulk.committed.size()));
  if (any) ++t.step;
}

void check_stores(Block& b) {
  const OutgoingCopy* under_way = nullptr;
  const Thread* whose = nullptr;
  for (Thread& t : b.threads) {
    if (t.bulk == nullptr) continue;
    t.bulk->committed.push_back(std::move(t.bulk->open));
    for (auto& group : t.bulk->committed) {
      for (OutgoingCopy& c : group) {
        move(b, c);
        if (under_way == nullptr) under_way = &c, whose = &t;
      }
    }
  }
  if (under_way == nullptr) return;
  RawFinding* f =
      note(FindingKind::async_copy_not_waited_for,
           fmt::format("block {} ended while a copy out of its shared memory was under way", show(b.index)),
           nullptr, locate(under_way->here));
  if (f == nullptr) return;
  f->finding.thread = {b.index, whose->index};
  f->finding.hint = "cp.async.bulk.commit_group and cp.async.bulk.wait_group.read come before the end";
}

}  // namespace plumb::simt
