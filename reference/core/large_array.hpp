// Arrays of gigabytes: zeroed by the system page by page, where and when they are first touched.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

namespace plumb {

/// calloc's memory, and elements that are made without a value are left as it gives them: 0. A vector would write them on one thread; so
/// whoever fills an array is the first to touch it, on all threads. T: arithmetic types and std::byte.
template <class T>
struct ZeroedAllocator {
  using value_type = T;
  ZeroedAllocator() = default;
  template <class U>
  ZeroedAllocator(const ZeroedAllocator<U>&) {}
  [[nodiscard]] T* allocate(std::size_t count) {
    void* const memory = std::calloc(count, sizeof(T));
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) noexcept { std::free(memory); }
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    if constexpr (sizeof...(Args) > 0) ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }
  friend bool operator==(const ZeroedAllocator&, const ZeroedAllocator&) { return true; }
};

/// Made anew with its size (`a = LargeArray<double>(n)`), all elements are 0; what grows again after it shrank holds what was there.
template <class T>
using LargeArray = std::vector<T, ZeroedAllocator<T>>;

template <class T>
[[nodiscard]] bool operator==(const LargeArray<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace plumb
