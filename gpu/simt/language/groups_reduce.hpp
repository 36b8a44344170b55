// cooperative_groups::reduce: what <cooperative_groups/reduce.h> declares, and <cooperative_groups.h> does not.
#pragma once
#include "gpu/simt/language/groups.hpp"

namespace cooperative_groups {

namespace details {
template <class T, class Op>
PLUMB_SIMT_UNTRACKED void reduce_lanes(unsigned mask, void* const* in, void* const* out) {
  T total{};
  bool first = true;
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
    const auto& lane = *static_cast<const Lane<T, Op>*>(in[__builtin_ctz(rest)]);
    total = first ? lane.value : (*lane.op)(total, lane.value);
    first = false;
  }
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) *static_cast<T*>(out[__builtin_ctz(rest)]) = total;
}
template <class T, class Op>
PLUMB_SIMT_UNTRACKED T reduce(unsigned mask, T v, const Op& op, Here here) {
  Lane<T, Op> in{v, &op};
  T out{};
  ::plumb::simt::warp_exchange(mask, "cooperative_groups::reduce", &reduce_lanes<T, Op>, &in, &out, here);
  return out;
}
}  // namespace details

template <class Group, class T, class Op>
T reduce(const Group& group, T v, Op op, PLUMB_SIMT_HERE) {
  return details::reduce(group.mask(), v, op, here);
}
template <unsigned Size, class P, class T, class Op>
T reduce(const thread_block_tile<Size, P, true>& tile, T v, Op op, PLUMB_SIMT_HERE) {
  return tile.folded(v, op, here);
}

}  // namespace cooperative_groups
