// The order in which warps carry settled rows through layers in one launch. Rows are independent: panels of them
// wait for themselves alone, so that one layer's last items overlap the next one's first.
//
// Warps take tickets. Tickets count through items (bundles or groups of neurons), units (panels of rows), layers,
// and chunks of units, innermost first. An item waits until its unit has left the layer before; that unit's items
// have lower tickets, so that whoever holds the lowest ticket never waits. Chunks are small enough that what a
// layer reads and writes stays in the second-level cache.
#pragma once
#include <algorithm>

#include "gpu/models/sparse_dnn/common.hpp"
#include "gpu/runtime/transfer.hpp"

namespace plumb {
namespace sdnn {

struct SettledOrder {
  int first, layers, units, chunk, items;  // items of a unit: of the layer that has most
  unsigned* ticket;                        // 0 before the launch
  unsigned* done;                          // (layers, units): items that are done, 0 before
};

/// `unit_bytes`: of a unit's activations in one layer.
inline SettledOrder settled_order(Index first, Index last, Index units, Index unit_bytes, Index items,
                                  unsigned* zeros) {
  const Index fit = std::max<Index>(1, device_l2_bytes() / 5 * 3 / (2 * std::max<Index>(unit_bytes, 1)));
  const Index chunks = ceil_div(units, fit);
  return {static_cast<int>(first),
          static_cast<int>(last - first),
          static_cast<int>(units),
          static_cast<int>(ceil_div(units, chunks)),
          static_cast<int>(items),
          zeros,
          zeros + 1};
}

/// work(layer, unit, item) for the tickets this warp gets; items(layer): how many a unit has there.
template <class Items, class Work>
PLUMB_DEVICE void in_settled_order(const SettledOrder& o, int lane, Items&& items, Work&& work) {
  const unsigned per_layer = static_cast<unsigned>(o.chunk) * static_cast<unsigned>(o.items);
  const unsigned per_chunk = per_layer * static_cast<unsigned>(o.layers);
  const unsigned all = static_cast<unsigned>(o.units) * static_cast<unsigned>(o.items * o.layers);
  unsigned ticket = lane == 0 ? atomicAdd(o.ticket, 1u) : 0;
  ticket = __shfl_sync(kAllLanes, ticket, 0);
  while (ticket < all) {
    unsigned next = lane == 0 ? atomicAdd(o.ticket, 1u) : 0;  // under way while this one is worked on
    const unsigned chunk = ticket / per_chunk, first_unit = chunk * static_cast<unsigned>(o.chunk);
    const unsigned units = min(static_cast<unsigned>(o.chunk), static_cast<unsigned>(o.units) - first_unit);
    const unsigned rest = ticket - chunk * per_chunk, here = units * static_cast<unsigned>(o.items);
    const unsigned layer = rest / here, at = rest - layer * here;
    const unsigned unit = first_unit + at / static_cast<unsigned>(o.items);
    const int item = static_cast<int>(at % static_cast<unsigned>(o.items));
    const int l = o.first + static_cast<int>(layer);
    if (item < items(l)) {
      if (layer > 0) {
        if (lane == 0) {
          const auto wanted = static_cast<unsigned>(items(l - 1));
          while (atomicAdd(o.done + (layer - 1) * o.units + unit, 0u) < wanted) __nanosleep(100);
        }
        __syncwarp();
        __threadfence();  // the count before what it announces
      }
      work(l, static_cast<int>(unit), item);
      __threadfence();  // what was written before the count
      __syncwarp();
      if (lane == 0) atomicAdd(o.done + layer * o.units + unit, 1u);
    }
    ticket = __shfl_sync(kAllLanes, next, 0);
  }
}

}  // namespace sdnn
}  // namespace plumb
