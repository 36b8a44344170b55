// Tensor maps in global memory as copies read them: in a proxy of their own (PTX ISA, "fence.proxy.tensormap"), beside the thread that
// started the copy, until somebody has waited for it.
//
// A map that is a kernel's parameter or __constant__ needs no fence. One in global memory, which may change, needs two: behind what was
// written a fence that releases, before the copy one that acquires those 128 bytes, by a thread of the copying thread's block.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/simt/memory/memory.hpp"
#include "gpu/simt/memory/proxy.hpp"

namespace plumb::simt {

constexpr std::size_t kMapBytes = 128;

/// A fence.proxy.tensormap of a thread that acquires: of which bytes, when, and what it knew then.
struct MapFence {
  const unsigned char* at;
  std::size_t bytes;
  std::uint64_t epoch;  // as a Mark's
  ClockPtr known;
};

/// A copy's read of its map, by the place of a thread that no block has.
struct MapRead {
  const unsigned char* at = nullptr;  // null: the map cannot change
  Block* block = nullptr;             // of the thread that started the copy
  ProxyUnit unit{};
  std::uint32_t step = 0;
};

/// The reads of an array's maps that a later write must come after, and what copies found there last.
struct MapReads {
  struct Read {
    std::size_t offset;
    Mark mark;
  };
  struct Seen {
    std::size_t offset;
    std::array<unsigned char, kMapBytes> bytes;
  };
  std::vector<Read> reads;
  std::vector<Seen> seen;
};

/// The running thread starts a copy by the map, which the unit reads in that step of its own.
MapRead read_map(const void* map, ProxyUnit unit, std::uint32_t step, Here here);
/// The copy has read its map. What one who waited for it knows by that; null: nothing.
ClockPtr settle_map(const MapRead& read);
/// A write of the thread's to the array, or of the host's: no copy may still read a map there.
void check_map_reads(const Thread& thread, Array& array, std::size_t offset, std::size_t bytes,
                     const Mark& now);

}  // namespace plumb::simt
