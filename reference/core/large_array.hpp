// Arrays of gigabytes: zeroed by the system page by page, where and when they are first touched.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

namespace plumb {

/// std::bad_alloc that says how much was asked for.
class OutOfMemory : public std::bad_alloc {
 public:
  OutOfMemory(std::size_t count, std::size_t element_bytes) {
    std::snprintf(what_, sizeof what_, "out of memory: %.0f MiB were asked for",
                  static_cast<double>(count) * static_cast<double>(element_bytes) / (1 << 20));
  }
  [[nodiscard]] const char* what() const noexcept override { return what_; }

 private:
  char what_[64];
};

/// calloc's memory, and elements that are made without a value are left as it gives them: 0. A vector would write them on one thread; so
/// the threads that fill an array are the first to touch its pages. T: arithmetic types and std::byte.
template <class T>
struct ZeroedAllocator {
  using value_type = T;
  ZeroedAllocator() = default;
  template <class U>
  ZeroedAllocator(const ZeroedAllocator<U>&) {}
  [[nodiscard]] T* allocate(std::size_t count) {
    void* const memory = std::calloc(count, sizeof(T));
    if (memory == nullptr) throw OutOfMemory(count, sizeof(T));
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) noexcept { std::free(memory); }
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    if constexpr (sizeof...(Args) > 0) ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }
  friend bool operator==(const ZeroedAllocator&, const ZeroedAllocator&) { return true; }
};

/// A new array (`a = LargeArray<double>(n)`) holds zeros; an array that grows again after it shrank holds its former elements.
template <class T>
using LargeArray = std::vector<T, ZeroedAllocator<T>>;

template <class T>
[[nodiscard]] bool operator==(const LargeArray<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace plumb
