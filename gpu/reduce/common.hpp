// What the rungs of the reduce ladder share: the two operations, and the passes from a vector to one number.
// Header only, lean.
#pragma once
#include "gpu/common/packs.hpp"
#include "gpu/common/rung.hpp"
#include "reference/ops/reduce.hpp"

namespace plumb {
namespace reduce {

template <class T>
using Problem = Reduce::Problem<T>;
template <class T>
using In = Reduce::In<T, Space::device>;
template <class T>
using Out = Reduce::Out<T, Space::device>;

struct Sum {
  template <class T>
  PLUMB_HOST_DEVICE static T nothing() {
    return T(0);
  }
  template <class T>
  PLUMB_HOST_DEVICE static T join(T a, T b) {
    return a + b;
  }
};

// Written so that a NaN on either side stays: fmax() and `a < b ? b : a` lose it.
struct Max {
  template <class T>
  PLUMB_HOST_DEVICE static T nothing() {
    return static_cast<T>(-INFINITY);
  }
  template <class T>
  PLUMB_HOST_DEVICE static T join(T a, T b) {
    return a >= b || a != a ? a : b;
  }
};

/// The sum or maximum over the warp, in lane 0. All lanes call it.
template <class Op, class T>
PLUMB_DEVICE T join_lanes(T value) {
  for (int d = 16; d > 0; d /= 2) value = Op::join(value, __shfl_down_sync(kAllLanes, value, d));
  return value;
}

/// The same over the block, in thread 0, for a block of Threads threads.
template <class Op, int Threads, class T>
PLUMB_DEVICE T join_block(T value, T* scratch /* (Threads / 32), shared */) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  value = join_lanes<Op>(value);
  if (lane == 0) scratch[warp] = value;
  __syncthreads();
  if (warp == 0) value = join_lanes<Op>(lane < Threads / 32 ? scratch[lane] : Op::template nothing<T>());
  return value;
}

/// Runs a kernel that leaves one number per block, on its own results, until one is left. An empty vector is
/// one empty block.
template <class T>
void reduce_in_passes(void (*kernel)(const T*, Index, T*), Index per_block, unsigned threads, const In<T>& in,
                      const Out<T>& out, Context& context) {
  const T* from = in.x.data;
  Index n = in.x.size;
  while (true) {
    const Index blocks = n > per_block ? ceil_div(n, per_block) : 1;
    T* to = blocks == 1 ? out.result.data
                        : static_cast<T*>(context.workspace(blocks * static_cast<Index>(sizeof(T))));
    launch(kernel, blocks, threads, 0, context.stream, from, n, to);
    if (blocks == 1) return;
    from = to, n = blocks;
  }
}

}  // namespace reduce
}  // namespace plumb
