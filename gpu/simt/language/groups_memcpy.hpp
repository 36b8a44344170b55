// cooperative_groups::memcpy_async and its waits: what <cooperative_groups/memcpy_async.h> declares.
#pragma once
#include "gpu/simt/language/groups.hpp"

namespace cooperative_groups {

/// Copies `bytes` bytes to shared memory across the group, asynchronously; wait() makes them visible to the
/// group.
template <class Group, class T, class U>
void memcpy_async(const Group& group, T* to, const U* from, std::size_t bytes, PLUMB_SIMT_HERE) {
  auto* dst = reinterpret_cast<unsigned char*>(to);
  auto* src = reinterpret_cast<const unsigned char*>(from);
  const std::size_t both =
      reinterpret_cast<std::uintptr_t>(dst) | reinterpret_cast<std::uintptr_t>(src) | bytes;
  const std::size_t piece = both % 16 == 0 ? 16 : both % 8 == 0 ? 8 : both % 4 == 0 ? 4 : 1;
  for (std::size_t i = group.thread_rank() * piece; i < bytes; i += group.size() * piece) {
    if (piece == 1) {
      dst[i] = src[i];
    } else {
      ::plumb::simt::async_copy(dst + i, src + i, static_cast<int>(piece), static_cast<int>(piece), here);
    }
  }
  ::plumb::simt::async_commit();
}
template <unsigned Stages, class Group>
void wait_prior(const Group& group, PLUMB_SIMT_HERE) {
  ::plumb::simt::async_wait(static_cast<int>(Stages));
  group.sync(here);
}
template <class Group>
void wait(const Group& group, PLUMB_SIMT_HERE) {
  ::plumb::simt::async_wait_all();
  group.sync(here);
}

}  // namespace cooperative_groups
