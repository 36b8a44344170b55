// Stores of neighbours as one. Header only.
#pragma once
#include "gpu/common/rung.hpp"

namespace plumb {

/// to[0..N) = v[0..N) by one store of up to 16 bytes, on whose boundary `to` lies in global memory.
template <int N, class T>
PLUMB_DEVICE void store_vector(T* to, const T* v) {
  static_assert(N * sizeof(T) <= 16 && (N == 1 || N == 2 || (N == 4 && sizeof(T) == 4)),
                "there is such a store");
  if constexpr (N == 1) {
    *to = v[0];
  } else if constexpr (N == 4) {
    store_global(reinterpret_cast<float4*>(to), make_float4(v[0], v[1], v[2], v[3]));
  } else if constexpr (sizeof(T) == 4) {
    store_global(reinterpret_cast<float2*>(to), make_float2(v[0], v[1]));
  } else {
    store_global(reinterpret_cast<double2*>(to), make_double2(v[0], v[1]));
  }
}

}  // namespace plumb
