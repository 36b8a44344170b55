// Fuzzes the binary cache: through a file in memory, since it is mapped.
#include "datasets/formats/binary_cache.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "datasets/fuzz/harness.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return plumb::fuzz::run(data, size, [](std::string_view bytes) {
    struct File {
      int fd = ::memfd_create("cache", 0);
      ~File() { ::close(fd); }
    } file;
    plumb::fuzz::must(::write(file.fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    const plumb::BinaryCache cache("/proc/self/fd/" + std::to_string(file.fd));
    for (std::int64_t k = 0; k < cache.size(); ++k) (void)cache.copy(k);
  });
}
