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

}  // namespace plumb
