// What the rewriter makes of __builtin_memcpy, __builtin_memmove, __builtin_memset and __builtin_memcmp: g++ expands most of them behind
// its own instrumentation, so that nobody looks at what they read and write. Here they are the calls of memcpy and its like.
#pragma once
#include <cstddef>
#include <cstring>

namespace plumb::simt {

/// Whether g++ makes one access of a copy of so many bytes, which it instruments: such a copy may stay in registers.
[[gnu::always_inline]] constexpr bool is_one_access(std::size_t bytes) {
#if defined(__clang__)  // sees all of its copies and fills
  return true;
#else
  return __builtin_constant_p(bytes) != 0 &&
         (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16);
#endif
}

}  // namespace plumb::simt

// Global, since a program may write ::__builtin_memcpy.
[[gnu::always_inline]] constexpr void* __plumb_memcpy(void* to, const void* from, std::size_t bytes) {
  if (__builtin_is_constant_evaluated() || ::plumb::simt::is_one_access(bytes))
    return __builtin_memcpy(to, from, bytes);
  return ::memcpy(to, from, bytes);
}
[[gnu::always_inline]] constexpr void* __plumb_memmove(void* to, const void* from, std::size_t bytes) {
  if (__builtin_is_constant_evaluated() || ::plumb::simt::is_one_access(bytes))
    return __builtin_memmove(to, from, bytes);
  return ::memmove(to, from, bytes);
}
[[gnu::always_inline]] inline void* __plumb_memset(void* to, int byte, std::size_t bytes) {
  return ::memset(to, byte, bytes);
}
[[gnu::always_inline]] constexpr int __plumb_memcmp(const void* a, const void* b, std::size_t bytes) {
  if (__builtin_is_constant_evaluated()) return __builtin_memcmp(a, b, bytes);
  return ::memcmp(a, b, bytes);
}
