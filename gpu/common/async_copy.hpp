// An asynchronous copy to shared memory, of 4, 8 or 16 bytes. Header only.
#pragma once
#include "gpu/common/rung.hpp"

namespace plumb {

/// cp.async of up to Bytes, zeros for the rest; 16 bytes at once bypass the first-level cache, which would
/// not see them again.
template <int Bytes>
PLUMB_DEVICE void copy_async(void* to, const void* from, int valid) {
  if constexpr (Bytes == 16) {
    cp_async16_zfill(to, from, valid);
  } else {
    cp_async_zfill<Bytes>(to, from, valid);
  }
}

/// Starts the copies of N elements, up to 16 bytes, of which the first `inside` lie within the matrix, which begins at `data`; zeros for
/// the rest. A part of them is copied an element at a time, and nothing is read where nothing lies inside: compute-sanitizer's memcheck
/// counts all bytes of a copy as read, also those that its source size leaves out.
template <int N, class T>
PLUMB_DEVICE void copy_inside(T* to, const T* from, Index inside, const T* data) {
  constexpr int kSize = static_cast<int>(sizeof(T));
  if (N > 1 && inside > 0 && inside < N) {
#pragma unroll
    for (int e = 0; e < N; ++e)
      copy_async<kSize>(to + e, e < inside ? from + e : data, e < inside ? kSize : 0);
    return;
  }
  copy_async<N * kSize>(to, inside > 0 ? from : data, inside > 0 ? N * kSize : 0);
}

}  // namespace plumb
