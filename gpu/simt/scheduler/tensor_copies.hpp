// Tensor maps as the executor keeps them in a CUtensorMap's 128 bytes, and copies out of shared memory under way.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <vector>

#include "gpu/simt/language/async_proxy.hpp"
#include "gpu/simt/memory/map_proxy.hpp"

namespace plumb::simt {

/// A tensor in global memory and the boxes that are copied of it; the innermost dimension first.
struct TensorTiles {
  unsigned char* base = nullptr;
  int dimensions = 0;
  int element_bytes = 0;
  Number type = Number::none;                   // none: no type that a reduction knows
  std::uint64_t sizes[kMostDimensions] = {};    // elements
  std::uint64_t strides[kMostDimensions] = {};  // bytes; the first is an element's
  unsigned box[kMostDimensions] = {};           // elements, of which every[d]-th ones are copied
  unsigned every[kMostDimensions] = {};
  unsigned swizzled_units = 1;  // 16-byte units of a row that change places: 1 for none, 2, 4 or 8
  std::uint64_t outside = 0;    // the bits of elements past the ends
};
/// Into 128 bytes. False where the driver answers CUDA_ERROR_INVALID_VALUE.
bool encode(const TensorTiles& tiles, void* map);
/// False: those bytes are no tensor map.
bool decode(const void* map, TensorTiles& tiles);

struct Move {
  unsigned char* to;
  std::uint32_t from;  // in the block's shared memory
  std::uint32_t bytes;
};
/// A copy out of shared memory.
struct OutgoingCopy {
  std::vector<Move> moves;
  std::vector<std::uint32_t> reads;  // by 16 bytes
  MapRead map;
  Here here{"", 0};
  bool moved = false;
  Number type = Number::none;  // of a reduction; none: it copies
  Reduction how = Reduction::add_;
};
/// A thread's bulk groups.
struct BulkGroups {
  std::vector<OutgoingCopy> open;
  std::deque<std::vector<OutgoingCopy>> committed;
  std::uint32_t closed = 0;  // groups, ever
  std::set<Array*> targets;  // that its copies write
  bool starting = false;     // a copy is being started: what it does is no access by the thread's own
};

struct Block;
void check_stores(Block& block);

}  // namespace plumb::simt
