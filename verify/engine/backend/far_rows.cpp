#include "verify/engine/backend/far_rows.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "reference/core/error.hpp"
#include "reference/core/exhaustion.hpp"
#include "reference/core/resource_error.hpp"

namespace plumb {

FarRows::~FarRows() {
  for (int i = 0; i < count_; ++i) munmap(regions_[i].at, regions_[i].bytes);
}

void* FarRows::place(ArrayInfo& array, std::int64_t offset) {
  if (count_ == kMost)
    throw Error(fmt::format("{}: more than {} matrices are placed far apart", array.name, kMost));
  const std::int64_t element = array.element_bytes(), near = array.ld * element,
                     far = kFarElements * element + kPageBytes * (1 + count_),
                     before = 2 * kFarElements * element;
  if (near % kPageBytes != 0 || offset % kPageBytes != 0)
    throw Error(fmt::format("{}: its rows do not begin at pages", array.name));
  // an offset that wrapped to a negative one stays in the region
  Region region{nullptr, static_cast<std::size_t>(before + array.rows * far)};
  region.at = mmap(nullptr, region.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region.at == MAP_FAILED)
    throw ResourceError(fmt::format("out of address space: rows far apart, {} GiB{}", region.bytes >> 30,
                                    memory_limit_text()));
  regions_[count_++] = region;
  std::byte* const first = static_cast<std::byte*>(region.at) + before;
  for (std::int64_t i = 0; i < array.rows; ++i) {
    if (mmap(first + i * far, static_cast<std::size_t>(near), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             image_, offset + i * near) == MAP_FAILED)
      throw ResourceError(fmt::format("cannot map a row of {}: {}", array.name, std::strerror(errno)));
  }
  array.ld = far / element;
  return first;
}

}  // namespace plumb
