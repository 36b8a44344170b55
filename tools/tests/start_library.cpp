// A library whose constructor takes 1 GiB, and does not ask whether it got it, as some vendors' do.
#include <sys/mman.h>

#include <cstddef>

extern "C" int start_library() { return 0; }

[[gnu::constructor]] static void begin() {
  constexpr std::size_t kBytes = std::size_t{1} << 30;
  void* const got =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  *static_cast<volatile int*>(got) = 1;
}
