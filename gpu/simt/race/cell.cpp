#include "gpu/simt/race/cell.hpp"

#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

constexpr std::uint8_t kDiffers = 255;  // accesses of one place, in bytes

std::uint8_t packed_bytes(std::size_t bytes) {
  return bytes < kDiffers ? static_cast<std::uint8_t>(bytes) : kDiffers;
}

}  // namespace

PackedLocation CellTables::number_of(Location location, std::size_t bytes) {
  const auto found = numbers_.find(location);
  if (found != numbers_.end()) {
    std::uint8_t& known = bytes_[found->second];
    if (known == 0) known = packed_bytes(bytes);
    if (bytes != 0 && known != bytes) known = kDiffers;
    return found->second;
  }
  if (places_.size() > 0xffffu) return 0;
  const auto place = static_cast<PackedLocation>(places_.size());
  places_.push_back(location);
  bytes_.push_back(packed_bytes(bytes));
  numbers_.emplace(location, place);
  return place;
}

std::int64_t CellTables::bytes_at(Location location) const {
  const auto found = numbers_.find(location);
  return found == numbers_.end() || bytes_[found->second] == kDiffers ? 0 : bytes_[found->second];
}

PackedEpoch CellTables::number_of_epoch(std::uint64_t epoch) {
  const auto [at, is_new] =
      epoch_numbers_.try_emplace(epoch, static_cast<PackedEpoch>(epochs_.size()) | kNumbered);
  if (is_new) epochs_.push_back(epoch);
  return at->second;
}

void CellTables::forget() { *this = CellTables{}; }

namespace {

std::uint32_t bits(const Cell& c, unsigned at, unsigned count) { return c.who >> at & ((1u << count) - 1); }

}  // namespace

Mark write_of(const Cell& c) {
  Mark m;
  if (c.write_block == 0) return m;
  const CellTables& tables = current().race.tables;
  m.epoch = tables.epoch_of(c.write_state & Cell::kEpoch);
  m.block = c.write_block;
  m.location = tables.location_of(c.write_place);
  m.lanes = 1u << bits(c, Cell::kLaneAt, 5);
  m.warp = static_cast<std::uint8_t>(bits(c, 0, 7));
  m.writes = 1;
  m.async = bits(c, Cell::kAsyncAt, 1) != 0;
  m.is_volatile = bits(c, Cell::kWriteVolatileAt, 1) != 0;
  return m;
}

Mark other_of(const Cell& c) {
  Mark m;
  if (c.other_block == 0) return m;
  const CellTables& tables = current().race.tables;
  m.epoch = tables.epoch_of(c.other_state & Cell::kEpoch);
  m.block = c.other_block;
  m.location = tables.location_of(c.other_place);
  m.lanes = c.other_lanes;
  m.warp = static_cast<std::uint8_t>(bits(c, Cell::kOtherAt, 7));
  m.strength = static_cast<std::uint8_t>(bits(c, Cell::kStrengthAt, 2));
  m.writes = bits(c, Cell::kWritesAt, 1) != 0;
  m.is_volatile = bits(c, Cell::kVolatileAt, 1) != 0;
  m.extent = static_cast<std::uint8_t>(bits(c, Cell::kExtentAt, 7));
  return m;
}

Marks unpack(const Cell& c) {
  Marks m;
  m.write = write_of(c);
  m.other = other_of(c);
  m.more = c.more;
  m.initialised = c.initialised();
  m.async_pending = c.pending();
  m.atomics = (c.other_state & Cell::kAtomics) != 0;
  return m;
}

void pack(Cell& c, const Marks& m) {
  CellTables& tables = current().race.tables;
  const auto flag = [](bool set, std::uint32_t bit) { return set ? bit : 0u; };
  const Mark& w = m.write;
  const Mark& o = m.other;
  c.write_block = w.block;
  c.write_state =
      tables.pack(w.epoch) | flag(m.initialised, Cell::kInitialised) | flag(m.async_pending, Cell::kPending);
  c.write_place = tables.place_of(w.location);
  const auto lane = static_cast<std::uint32_t>(w.lanes != 0 ? __builtin_ctz(w.lanes) : 0);
  c.who = w.warp | lane << Cell::kLaneAt | std::uint32_t{w.async} << Cell::kAsyncAt |
          std::uint32_t{w.is_volatile} << Cell::kWriteVolatileAt;
  c.other_block = o.block;
  c.other_state = tables.pack(o.epoch) | flag(m.atomics, Cell::kAtomics);
  c.other_place = tables.place_of(o.location);
  c.other_lanes = o.lanes;
  c.who |= std::uint32_t{o.warp} << Cell::kOtherAt | std::uint32_t{o.strength} << Cell::kStrengthAt |
           std::uint32_t{o.writes} << Cell::kWritesAt | std::uint32_t{o.is_volatile} << Cell::kVolatileAt |
           std::uint32_t{o.extent} << Cell::kExtentAt;
  c.more = m.more;
}

}  // namespace plumb::simt
