#include "reference/tests/allocated_bytes.hpp"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> counts = false;
std::atomic<std::int64_t> bytes = 0, most = 0;

void add(std::int64_t change) {
  const std::int64_t now = bytes += change;
  std::int64_t before = most;
  while (now > before && !most.compare_exchange_weak(before, now)) {}
}

void* counted(void* p) {
  if (p == nullptr) {
    if (const std::new_handler handler = std::get_new_handler(); handler != nullptr) handler();
    throw std::bad_alloc();
  }
  if (counts) add(static_cast<std::int64_t>(malloc_usable_size(p)));
  return p;
}

void release(void* p) {
  if (counts && p != nullptr) add(-static_cast<std::int64_t>(malloc_usable_size(p)));
  std::free(p);
}

}  // namespace

// Every other form of new and delete calls one of these.
void* operator new(std::size_t count) { return counted(std::malloc(std::max<std::size_t>(count, 1))); }
void* operator new(std::size_t count, std::align_val_t align) {
  const auto unit = static_cast<std::size_t>(align);
  return counted(std::aligned_alloc(unit, (std::max<std::size_t>(count, 1) + unit - 1) / unit * unit));
}
void operator delete(void* p) noexcept { release(p); }
void operator delete(void* p, std::size_t) noexcept { release(p); }
void operator delete(void* p, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { release(p); }

namespace plumb::test {

AllocatedBytes::AllocatedBytes() {
  bytes = most = 0;
  counts = true;
}
AllocatedBytes::~AllocatedBytes() { counts = false; }
std::int64_t AllocatedBytes::peak() const { return most; }

}  // namespace plumb::test
