// malloc and its kin, in front of the C library's: while counting is on, what is allocated and not freed is counted. Not by the
// allocator's own statistics: its pools per thread grow and shrink without any call that leaks.
#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "verify/engine/resource_use.hpp"

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace plumb {
namespace {

std::atomic<bool> counting{false};
std::atomic<std::int64_t> blocks{0}, bytes{0};

// `sign`: 1 for a block that is new, -1 for one that goes.
void* count(void* block, std::int64_t sign) {
  if (block != nullptr && counting.load(std::memory_order_relaxed)) {
    blocks.fetch_add(sign, std::memory_order_relaxed);
    bytes.fetch_add(sign * static_cast<std::int64_t>(malloc_usable_size(block)), std::memory_order_relaxed);
  }
  return block;
}

const struct Registration {
  Registration() {
    count_heap = [](bool begin) { counting = begin; };
    read_heap = [](ResourceUse& use) { use.blocks = blocks, use.bytes = bytes; };
  }
} registration;

}  // namespace
}  // namespace plumb

extern "C" {

void* malloc(std::size_t size) { return plumb::count(__libc_malloc(size), 1); }
void* calloc(std::size_t n, std::size_t size) { return plumb::count(__libc_calloc(n, size), 1); }
void free(void* block) {
  plumb::count(block, -1);
  __libc_free(block);
}
void* realloc(void* block, std::size_t size) {
  plumb::count(block, -1);
  void* const moved = __libc_realloc(block, size);
  return plumb::count(moved != nullptr || size == 0 ? moved : block, 1) == moved ? moved : nullptr;
}
void* reallocarray(void* block, std::size_t n, std::size_t size) {
  std::size_t whole = 0;
  if (__builtin_mul_overflow(n, size, &whole)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(block, whole);
}
void* memalign(std::size_t alignment, std::size_t size) {
  return plumb::count(__libc_memalign(alignment, size), 1);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  if (alignment % sizeof(void*) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
  const int before = errno;
  void* const got = memalign(alignment, size);
  errno = before;
  if (got == nullptr) return ENOMEM;
  *block = got;
  return 0;
}

}  // extern "C"
