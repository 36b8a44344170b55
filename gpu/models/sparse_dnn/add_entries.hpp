// Entries of a sparse row added onto a dense one by a warp, without atomics: on a GPU, fp32 atomicAdd in
// global memory turns subnormal numbers into zeros (PTX ISA, "atom.add.f32").
#pragma once
#include "gpu/common/rung.hpp"

namespace plumb {
namespace sdnn {

/// row[col[k] * stride] += val[k] for k in [begin, end), in the order of k. The row belongs to this warp, and all 32 lanes call.
PLUMB_DEVICE void add_entries(const std::int32_t* col, const float* val, Index begin, Index end, Index stride,
                              float* row) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (Index first = begin; first < end; first += 32) {
    const Index k = first + lane;
    const bool mine = k < end;
    const std::int32_t c = mine ? col[k] : -1;
    const float v = mine ? val[k] : 0;
    const unsigned same = __match_any_sync(kAllLanes, c);
    const bool adds = mine && (same & ((1u << lane) - 1)) == 0;  // the first lane of a column, for all of it
    float sum = adds ? row[c * stride] + v : 0;
    if (__any_sync(kAllLanes, mine && !adds)) {  // rare: a column is repeated among these 32 entries
      for (int other = 1; other < 32; ++other) {
        const float next = __shfl_sync(kAllLanes, v, other);
        if (other > lane && (same >> other & 1u) != 0) sum += next;
      }
    }
    if (adds) row[c * stride] = sum;
    __syncwarp();  // the next entries may be of the same columns
  }
}

}  // namespace sdnn
}  // namespace plumb
