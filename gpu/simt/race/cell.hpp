// What the shadow keeps of one granule, in 32 bytes: two marks, packed, and what was found of its contents.
//
// Why packed: every access reads and writes a cell, and a cell of 4 bytes of memory is what a checked run costs of memory. Nothing is
// lost: what does not fit (a large generation or step) is kept once in a table of the run, and the cell has its number.
#pragma once
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "gpu/simt/race/race.hpp"

namespace plumb::simt {

/// A Location's number among those of the run's accesses. 0 stands for all beyond 65535 of them: their line is not told.
using PackedLocation = std::uint16_t;

/// A Mark's epoch in 30 bits: its generation above its step, or with the top bit the number of the two in a table.
using PackedEpoch = std::uint32_t;
constexpr unsigned kStepBits = 16;
constexpr PackedEpoch kNumbered = 1u << 29;

/// The tables of a run behind its cells.
class CellTables {
 public:
  /// `bytes`: of the access, where it is a plain one.
  PackedLocation place_of(Location location, std::size_t bytes = 0) {
    Recent& r = recent_[location % recent_.size()];
    if (r.location != location) r = {location, number_of(location, bytes)};
    return r.place;
  }
  Location location_of(PackedLocation place) const { return places_[place]; }
  /// How many bytes plain accesses at that place in the code take; 0 where that is not known, or differs.
  std::int64_t bytes_at(Location location) const;
  PackedEpoch pack(std::uint64_t epoch) {
    const std::uint64_t generation = epoch >> 32, step = epoch & 0xffffffffu;
    const bool fits = generation < kNumbered >> kStepBits && step < 1u << kStepBits;
    return fits ? static_cast<PackedEpoch>(generation << kStepBits | step) : number_of_epoch(epoch);
  }
  std::uint64_t epoch_of(PackedEpoch e) const {
    if (e >= kNumbered) return epochs_[e - kNumbered];
    return std::uint64_t{e >> kStepBits} << 32 | (e & ((1u << kStepBits) - 1));
  }
  std::uint32_t generation_of(PackedEpoch e) const {
    return e < kNumbered ? e >> kStepBits : static_cast<std::uint32_t>(epochs_[e - kNumbered] >> 32);
  }
  void forget();

 private:
  struct Recent {
    Location location = 0;
    PackedLocation place = 0;
  };
  PackedLocation number_of(Location location, std::size_t bytes);
  PackedEpoch number_of_epoch(std::uint64_t epoch);

  std::array<Recent, 4096> recent_;
  std::vector<Location> places_{0};
  std::vector<std::uint8_t> bytes_{
      0};  // of plain accesses, by place; 0: not known, kDiffers: of several sizes, or more
  std::unordered_map<Location, PackedLocation> numbers_{{0, 0}};
  std::vector<std::uint64_t> epochs_;
  std::unordered_map<std::uint64_t, PackedEpoch> epoch_numbers_;
};

/// A cell, unpacked.
struct Marks {
  Mark write;              // the last plain write
  Mark other;              // the latest group of reads or atomics since
  std::uint32_t more = 0;  // those before it (lists.hpp), 0: none
  bool initialised = false;
  bool async_pending = false;  // an asynchronous copy to it, by the thread of `write`, is under way
  bool atomics = false;        // some mark beside `write` is a write
};

/// What a plain access of a thread leaves, as cells have it.
struct Stamp {
  std::uint32_t block, generation, lanes;
  std::uint32_t who;  // warp, and above it the lane
  PackedEpoch epoch;
  PackedLocation place;
  bool writes;
};

/// Zero bytes are a cell that nobody has touched.
struct Cell {
  std::uint32_t write_block, other_block;  // 0: no mark
  std::uint32_t write_state;               // epoch, and above it kInitialised, kPending
  std::uint32_t other_state;               // epoch, and above it kAtomics, kManyWarps
  std::uint32_t other_lanes;
  std::uint32_t more;  // groups before the other (lists.hpp); with kManyWarps a bit for each warp
  std::uint32_t who;   // of both marks: bits, below
  PackedLocation write_place, other_place;

  static constexpr std::uint32_t kEpoch = (kNumbered << 1) - 1;
  static constexpr std::uint32_t kInitialised = 1u << 30, kPending = 1u << 31, kAtomics = 1u << 30;
  // The other mark stands for the same lanes of several warps, which have read at one place in the code and in one epoch: what a block's
  // tile is read by, column by column.
  static constexpr std::uint32_t kManyWarps = 1u << 31;
  // who: of the write its warp (7 bits), lane (5), async, and at the top is_volatile; of the other warp (7), strength (2), writes,
  // is_volatile and extent (7).
  static constexpr unsigned kLaneAt = 7, kAsyncAt = 12, kOtherAt = 13, kStrengthAt = 20, kWritesAt = 22,
                            kVolatileAt = 23, kExtentAt = 24, kWriteVolatileAt = 31;
  static constexpr std::uint32_t kWriter = (1u << kAsyncAt) - 1;
  static constexpr std::uint32_t kOther = (1u << kWriteVolatileAt) - (1u << kOtherAt);

  [[nodiscard]] bool initialised() const { return (write_state & kInitialised) != 0; }
  [[nodiscard]] bool pending() const { return (write_state & kPending) != 0; }
  [[nodiscard]] bool many_warps() const { return (other_state & kManyWarps) != 0; }
  [[nodiscard]] bool write_is_async() const { return (who >> kAsyncAt & 1u) != 0; }
  [[nodiscard]] bool untouched() const { return (write_block | other_block | write_state) == 0; }
  void initialise() { write_state |= kInitialised; }
  /// An asynchronous copy to it, by the thread of its write, is under way, and has come to its end.
  void begin_copy() {
    write_state |= kPending;
    who |= 1u << kAsyncAt;
  }
  void end_copy() { write_state &= ~kPending; }
};
static_assert(sizeof(Cell) == 32, "8 bytes of shadow for each byte of memory");

/// Of a cell that is not of many_warps(), as those of which it may be are first told apart (touch.cpp).
Marks unpack(const Cell& cell);
Mark other_of(const Cell& cell);
/// Its write alone, of any cell.
Mark write_of(const Cell& cell);
void pack(Cell& cell, const Marks& marks);

}  // namespace plumb::simt
