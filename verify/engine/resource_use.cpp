#include "verify/engine/resource_use.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "verify/engine/confinement.hpp"

namespace plumb {
namespace {

// The first number of statm is the size of the address space in pages.
std::int64_t mapped_pages() {
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::array<char, 64> text{};
  const ssize_t n = read(file, text.data(), text.size() - 1);
  close(file);
  return n > 0 ? std::atoll(text.data()) : 0;
}

std::int64_t open_descriptors() {
  DIR* const files = opendir("/proc/self/fd");
  if (files == nullptr) return 0;
  std::int64_t count = 0;
  while (const dirent* entry = readdir(files)) count += entry->d_name[0] != '.' ? 1 : 0;
  closedir(files);
  return count;
}

}  // namespace

ResourceUse resource_use(std::int64_t calls) {
  ResourceUse use;
  use.calls = calls;
  if (read_heap != nullptr) read_heap(use);
  use.pages = mapped_pages(), use.descriptors = open_descriptors(), use.threads = count_threads();
  return use;
}

}  // namespace plumb
