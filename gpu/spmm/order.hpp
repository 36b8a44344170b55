// Rows in the order of their lengths, for the rungs whose warps take several rows at once.
#pragma once
#include "gpu/device/host_array.hpp"
#include "gpu/spmm/common.hpp"

namespace plumb {
namespace spmm {

/// Rows of at most `most` entries, longest first; rows of one length keep their order, so that neighbours
/// stay neighbours. Lengths of kDistinct and more count as one. `count` says how many there are.
inline const std::int32_t* prepare_order(const HostArray<std::int32_t>& row_ptr, Index most, Index& count,
                                         Context& context) {
  constexpr Index kDistinct = 4096;
  const Index rows = row_ptr.size() - 1;
  const auto bucket = [&](Index i) {  // the longest first
    const Index length = row_ptr[i + 1] - row_ptr[i];
    return kDistinct - (length < kDistinct ? length : kDistinct);
  };
  HostArray<std::int32_t> start(kDistinct + 2);
  start.fill(0);
  count = 0;
  for (Index i = 0; i < rows; ++i) {
    if (row_ptr[i + 1] - row_ptr[i] <= most) ++start[bucket(i) + 1], ++count;
  }
  for (Index b = 0; b <= kDistinct; ++b) start[b + 1] += start[b];
  HostArray<std::int32_t> order(count);
  for (Index i = 0; i < rows; ++i) {
    if (row_ptr[i + 1] - row_ptr[i] <= most) order[start[bucket(i)]++] = static_cast<std::int32_t>(i);
  }
  return upload(order, context);
}

}  // namespace spmm
}  // namespace plumb
