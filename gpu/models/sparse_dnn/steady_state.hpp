// The order in which warps carry rows of steady-state layers through layers in one launch. Rows are
// independent: a unit of rows waits only for itself, so that the last items of one layer overlap the first
// items of the next.
//
// Warps draw work indices, which count items (neuron tiles or groups of neurons), units (panels of rows) and
// layers, innermost first. An item waits until its unit has left the layer before. The items of that unit
// have lower work indices, so the warp with the lowest work index never waits, and blocks need not all be
// resident.
//
// H200, class A at 4096 neurons: 41 us a layer; 52 us with a grid barrier between layers, which had 15 % of
// the samples. Class B: 29 us, before 32 us. (With release and acquire in place of fences and an atomic read:
// class A 40 us; class B, whose loop changed too, 21 us.) At 16,384 neurons class B loses: 122 us, before 115
// us. Chunks of units that fit the second-level cache, each carried through all layers first, leave too few
// units to work on: 182 us in class A and 237 us in class B at 16,384, where it is 174 and 122 without
// chunks.
#pragma once
#include <cuda/atomic>

#include "gpu/models/sparse_dnn/active_rows.hpp"

namespace plumb {
namespace sdnn {

struct SteadyOrder {
  int first, layers, units, items;  // items of a unit: of the layer that has most
  unsigned* next;                   // work index to be given out; 0 before the launch
  unsigned* done;                   // (layers, units): items that are done, 0 before
};

/// Layers [first, last); `zeros`: 1 + (last - first) * units words, 0.
inline SteadyOrder steady_order(Index first, Index last, Index units, Index items, unsigned* zeros) {
  return {static_cast<int>(first),
          static_cast<int>(last - first),
          static_cast<int>(units),
          static_cast<int>(items),
          zeros,
          zeros + 1};
}

/// work(layer, unit, item) for the work indices this warp gets; items(layer): how many a unit has there.
template <class Items, class Work>
PLUMB_DEVICE void in_steady_order(const SteadyOrder& o, int lane, Items&& items, Work&& work) {
  using Count = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
  const auto of_unit = static_cast<unsigned>(o.items), of_layer = static_cast<unsigned>(o.units) * of_unit;
  const unsigned all = of_layer * static_cast<unsigned>(o.layers);
  unsigned index = lane == 0 ? atomicAdd(o.next, 1u) : 0;
  index = __shfl_sync(kAllLanes, index, 0);
  while (index < all) {
    const unsigned following = lane == 0 ? atomicAdd(o.next, 1u) : 0;  // drawn while this item is worked on
    const unsigned layer = index / of_layer, at = index - layer * of_layer;
    const unsigned unit = at / of_unit;
    const int item = static_cast<int>(at - unit * of_unit), l = o.first + static_cast<int>(layer);
    if (item < items(l)) {
      if (layer > 0) {
        if (lane == 0) {
          const auto wanted = static_cast<unsigned>(items(l - 1));
          const Count before(o.done[(layer - 1) * o.units + unit]);
          while (before.load(cuda::memory_order_acquire) < wanted) __nanosleep(100);
        }
        __syncwarp();
      }
      work(l, static_cast<int>(unit), item);
      __syncwarp();
      // orders what the warp has written before the count
      if (lane == 0) Count(o.done[layer * o.units + unit]).fetch_add(1u, cuda::memory_order_release);
    }
    index = __shfl_sync(kAllLanes, following, 0);
  }
}

}  // namespace sdnn
}  // namespace plumb
