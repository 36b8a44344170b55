// cooperative_groups::inclusive_scan and exclusive_scan: what <cooperative_groups/scan.h> declares.
#pragma once
#include "gpu/simt/language/groups.hpp"

namespace cooperative_groups {

namespace details {
template <class T, class Op, bool Inclusive>
PLUMB_SIMT_UNTRACKED void scan_lanes(unsigned mask, void* const* in, void* const* out) {
  T total{};
  bool first = true;
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const auto& mine = *static_cast<const Lane<T, Op>*>(in[lane]);
    const T before = total;
    total = first ? mine.value : (*mine.op)(total, mine.value);
    *static_cast<T*>(out[lane]) = Inclusive ? total : before;  // nothing before the first: T{}
    first = false;
  }
}
template <bool Inclusive, class T, class Op>
PLUMB_SIMT_UNTRACKED T scan(unsigned mask, T v, const Op& op, const char* name, Here here) {
  Lane<T, Op> in{v, &op};
  T out{};
  ::plumb::simt::warp_exchange(mask, name, &scan_lanes<T, Op, Inclusive>, &in, &out, here);
  return out;
}
}  // namespace details

template <class Group, class T, class Op>
T inclusive_scan(const Group& group, T v, Op op, PLUMB_SIMT_HERE) {
  return details::scan<true>(group.mask(), v, op, "cooperative_groups::inclusive_scan", here);
}
template <unsigned Size, class P, class T, class Op>
T inclusive_scan(const thread_block_tile<Size, P, true>& tile, T v, Op op, PLUMB_SIMT_HERE) {
  return tile.scanned(v, op, true, here);
}
template <class Group, class T>
T inclusive_scan(const Group& group, T v, PLUMB_SIMT_HERE) {
  return inclusive_scan(group, v, plus<T>(), here);
}
template <class Group, class T, class Op>
T exclusive_scan(const Group& group, T v, Op op, PLUMB_SIMT_HERE) {
  return details::scan<false>(group.mask(), v, op, "cooperative_groups::exclusive_scan", here);
}
template <unsigned Size, class P, class T, class Op>
T exclusive_scan(const thread_block_tile<Size, P, true>& tile, T v, Op op, PLUMB_SIMT_HERE) {
  return tile.scanned(v, op, false, here);
}
template <class Group, class T>
T exclusive_scan(const Group& group, T v, PLUMB_SIMT_HERE) {
  return exclusive_scan(group, v, plus<T>(), here);
}

}  // namespace cooperative_groups
