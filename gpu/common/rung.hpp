// What every ladder's kernels are written with: the index type, rounding up, the full warp, its sum and its scan. Header only, and as
// lean as the ABI, because every rung includes it.
#pragma once
#include "gpu/device/kernel.hpp"
#include "reference/core/abi.hpp"

namespace plumb {

using Index = std::int64_t;  // of rows, entries and elements: a stride added to an int32 near 2^31 would wrap

constexpr unsigned kAllLanes = 0xffffffffu;  // mask of the 32 lanes of a warp

/// a / b rounded up, for a >= 0 and b > 0.
PLUMB_HOST_DEVICE constexpr Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }

/// Whether rows of a matrix begin on 16-byte boundaries.
template <class T, Space S>
bool rows_on_vectors(const DenseView<T, S>& a) {
  return reinterpret_cast<std::uintptr_t>(a.data) % 16 == 0 && a.ld * static_cast<Index>(sizeof(T)) % 16 == 0;
}

/// Whether rows of a matrix are whole vectors on 16-byte boundaries. Copies of vectors need it of their operands: memcheck counts all bytes
/// of a copy as read, also those that its source size leaves out, and what follows the last row's last element need not be the caller's.
template <class T, Space S>
bool whole_vectors(const DenseView<T, S>& a) {
  return rows_on_vectors(a) && a.cols * static_cast<Index>(sizeof(T)) % 16 == 0;
}

/// The sum over aligned groups of `width` lanes (a power of two up to 32), in every lane. All 32 lanes call it.
template <class T>
PLUMB_DEVICE T sum_lanes(T value, int width = 32) {
  for (int d = width / 2; d > 0; d /= 2) value += __shfl_xor_sync(kAllLanes, value, d);
  return value;
}

/// The sum of `value` over this lane and those before it. All 32 lanes call it.
template <class I>
PLUMB_DEVICE I scan_lanes(I value, int lane) {
  for (int d = 1; d < 32; d *= 2) {
    const I before = __shfl_up_sync(kAllLanes, value, d);
    if (lane >= d) value += before;
  }
  return value;
}

}  // namespace plumb
