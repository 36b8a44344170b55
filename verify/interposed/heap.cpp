// malloc and its kin, in front of the C library's: while counting is on, what is allocated and not freed is counted. Not by the
// allocator's own statistics: its pools per thread grow and shrink without any call that leaks. What OpenMP's runtime allocates for itself
// is counted apart: its tables of tasks with dependences grow with the calls of right kernels.
#include <link.h>
#include <malloc.h>
#include <omp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "verify/engine/process/resource_use.hpp"
#include "verify/interposed/next.hpp"

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
std::atomic<std::int64_t> blocks{0}, bytes{0}, runtime_bytes{0}, pages{0};
thread_local bool asked_by_kernel =
    false;  // in omp_alloc() and its kin: the runtime allocates for its caller

// Addresses of code, [begin, end).
struct Code {
  std::uintptr_t begin = 0, end = 0;
  [[nodiscard]] bool holds(const void* at) const {
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    return address >= begin && address < end;
  }
};
Code runtime;  // of OpenMP; written before counting begins

int find_runtime(dl_phdr_info* library, std::size_t, void*) {
  const char* const name = library->dlpi_name;
  if (std::strstr(name, "libgomp") == nullptr && std::strstr(name, "libomp") == nullptr &&
      std::strstr(name, "libiomp") == nullptr)
    return 0;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const auto& part = library->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    runtime.begin = library->dlpi_addr + part.p_vaddr, runtime.end = runtime.begin + part.p_memsz;
  }
  return 1;
}

// The blocks that the runtime holds: who frees one is not always seen, since a call at a function's end leaves no address of it.
class Blocks {
 public:
  // False where there is no room for it.
  bool add(const void* block) {
    const Lock lock(*this);
    if (2 * count_ >= static_cast<int>(slots_.size())) return false;
    std::size_t at = home_of(block);
    while (slots_[at] != nullptr) at = next(at);
    slots_[at] = block, ++count_;
    return true;
  }
  // Whether it was there.
  bool remove(const void* block) {
    if (count_ == 0) return false;
    const Lock lock(*this);
    std::size_t hole = home_of(block);
    while (slots_[hole] != block) {
      if (slots_[hole] == nullptr) return false;
      hole = next(hole);
    }
    --count_;
    for (std::size_t at = next(hole); slots_[at] != nullptr; at = next(at)) {  // who was turned away moves up
      const std::size_t home = home_of(slots_[at]);
      if ((at - home) % slots_.size() < (at - hole) % slots_.size()) continue;
      slots_[hole] = slots_[at], hole = at;
    }
    slots_[hole] = nullptr;
    return true;
  }

 private:
  struct Lock {
    explicit Lock(Blocks& of) : blocks(of) {
      while (blocks.busy_.test_and_set(std::memory_order_acquire)) {}
    }
    ~Lock() { blocks.busy_.clear(std::memory_order_release); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    Blocks& blocks;
  };
  [[nodiscard]] std::size_t home_of(const void* block) const {
    return (reinterpret_cast<std::uintptr_t>(block) >> 4) * 0x9e3779b97f4a7c15u % slots_.size();
  }
  [[nodiscard]] std::size_t next(std::size_t at) const { return (at + 1) % slots_.size(); }

  std::array<const void*, 1 << 14> slots_{};
  std::atomic<int> count_{0};
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
};
Blocks of_runtime;

// A block that `caller` has got.
void* count(void* block, const void* caller) {
  if (block == nullptr || !counting.load(std::memory_order_relaxed)) return block;
  (void)of_runtime.remove(block);  // the runtime's at this address has gone while nothing was counted
  const auto size = static_cast<std::int64_t>(malloc_usable_size(block));
  if (!asked_by_kernel && runtime.holds(caller) && of_runtime.add(block)) {
    runtime_bytes.fetch_add(size, std::memory_order_relaxed);
    return block;
  }
  blocks.fetch_add(1, std::memory_order_relaxed), bytes.fetch_add(size, std::memory_order_relaxed);
  return block;
}

// One that goes. True: it was the runtime's.
bool forget(void* block) {
  if (block == nullptr || !counting.load(std::memory_order_relaxed)) return false;
  const auto size = static_cast<std::int64_t>(malloc_usable_size(block));
  if (of_runtime.remove(block)) {
    runtime_bytes.fetch_sub(size, std::memory_order_relaxed);
    return true;
  }
  blocks.fetch_sub(1, std::memory_order_relaxed), bytes.fetch_sub(size, std::memory_order_relaxed);
  return false;
}

const struct Registration {
  Registration() {
    count_heap = [](bool begin) {
      if (begin && runtime.end == 0) dl_iterate_phdr(find_runtime, nullptr);
      counting = begin;
    };
    read_heap = [](ResourceUse& use) {
      use.blocks = blocks, use.bytes = bytes, use.runtime_bytes = runtime_bytes, use.pages = pages;
    };
  }
} registration;

// Address space that is mapped, or, where `sign` is -1, given back. What the C library maps for its heap and for stacks does not come here:
// how much that is changes without any call that leaks.
void count_pages(std::size_t length, int sign) {
  constexpr std::size_t kPage = 4096;
  if (counting.load(std::memory_order_relaxed))
    pages.fetch_add(sign * static_cast<std::int64_t>((length + kPage - 1) / kPage),
                    std::memory_order_relaxed);
}

// While it lives, what the runtime allocates is its caller's.
struct Asked {
  Asked() { asked_by_kernel = true; }
  ~Asked() { asked_by_kernel = false; }
};

}  // namespace
}  // namespace plumb

extern "C" {

#define PLUMB_CALLER __builtin_return_address(0)

void* malloc(std::size_t size) { return plumb::count(__libc_malloc(size), PLUMB_CALLER); }
void* calloc(std::size_t n, std::size_t size) { return plumb::count(__libc_calloc(n, size), PLUMB_CALLER); }
void free(void* block) {
  (void)plumb::forget(block);
  __libc_free(block);
}
void* realloc(void* block, std::size_t size) {
  const bool own = plumb::forget(block);
  const void* const caller = own ? reinterpret_cast<const void*>(plumb::runtime.begin) : PLUMB_CALLER;
  void* const moved = __libc_realloc(block, size);
  if (moved == nullptr && size != 0) (void)plumb::count(block, caller);  // it stays
  return plumb::count(moved, caller);
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
  return plumb::count(__libc_memalign(alignment, size), PLUMB_CALLER);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return plumb::count(__libc_memalign(alignment, size), PLUMB_CALLER);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  if (alignment % sizeof(void*) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
  const int before = errno;
  void* const got = plumb::count(__libc_memalign(alignment, size), PLUMB_CALLER);
  errno = before;
  if (got == nullptr) return ENOMEM;
  *block = got;
  return 0;
}

void* mmap(void* at, std::size_t length, int access, int flags, int file, off_t offset) {
  const long got = syscall(SYS_mmap, at, length, access, flags, file, offset);
  // over what is mapped there already
  if (got != -1 && (flags & MAP_FIXED) == 0) plumb::count_pages(length, 1);
  return reinterpret_cast<void*>(got);
}
void* mmap64(void* at, std::size_t length, int access, int flags, int file, off_t offset) {
  return mmap(at, length, access, flags, file, offset);
}
int munmap(void* at, std::size_t length) {
  const long status = syscall(SYS_munmap, at, length);
  if (status == 0) plumb::count_pages(length, -1);
  return static_cast<int>(status);
}

// The runtime allocates for a kernel.
#define PLUMB_OMP_ALLOCATION(NAME, PARAMETERS, ...)                     \
  void* NAME PARAMETERS {                                               \
    static auto* const next = plumb::next_of<void * PARAMETERS>(#NAME); \
    const plumb::Asked asked;                                           \
    return next(__VA_ARGS__);                                           \
  }
PLUMB_OMP_ALLOCATION(omp_alloc, (std::size_t size, omp_allocator_handle_t from), size, from)
PLUMB_OMP_ALLOCATION(omp_aligned_alloc,
                     (std::size_t alignment, std::size_t size, omp_allocator_handle_t from), alignment, size,
                     from)
PLUMB_OMP_ALLOCATION(omp_calloc, (std::size_t n, std::size_t size, omp_allocator_handle_t from), n, size,
                     from)
PLUMB_OMP_ALLOCATION(omp_aligned_calloc,
                     (std::size_t alignment, std::size_t n, std::size_t size, omp_allocator_handle_t from),
                     alignment, n, size, from)
PLUMB_OMP_ALLOCATION(omp_realloc,
                     (void* block, std::size_t size, omp_allocator_handle_t from, omp_allocator_handle_t of),
                     block, size, from, of)

}  // extern "C"
