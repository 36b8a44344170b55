#include "verify/engine/process/resource_use.hpp"

#include <dirent.h>

#include "verify/engine/backend/workspaces.hpp"
#include "verify/engine/process/confinement.hpp"

namespace plumb {
namespace {

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
  use.pages -= pages_of_workspaces();
  use.descriptors = open_descriptors(), use.threads = count_threads();
  return use;
}

}  // namespace plumb
