// Asynchronous copies of rows of X, whose last 16 bytes may lie in the matrix in part: rungs 10 to 15. Header only.
#pragma once
#include "gpu/common/async_copy.hpp"
#include "gpu/skinny_gemm/common.hpp"

namespace plumb {
namespace skinny {

/// Starts the copies of N elements, up to 16 bytes, of which the first `inside` lie within the matrix, which begins at `data`; zeros for
/// the rest. A part of them is copied an element at a time, and nothing is read where nothing lies inside: compute-sanitizer's memcheck
/// counts all bytes of a copy as read, also those that its source size leaves out.
template <int N, class T>
PLUMB_DEVICE void copy_inside(T* to, const T* from, Index inside, const T* data) {
  constexpr int kSize = static_cast<int>(sizeof(T));
  if constexpr (N > 1) {
    if (inside > 0 && inside < N) {
#pragma unroll
      for (int e = 0; e < N; ++e)
        copy_async<kSize>(to + e, e < inside ? from + e : data, e < inside ? kSize : 0);
      return;
    }
  }
  copy_async<N * kSize>(to, inside > 0 ? from : data, inside > 0 ? N * kSize : 0);
}

}  // namespace skinny
}  // namespace plumb
