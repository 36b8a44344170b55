// Images before their runs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "reference/core/large_array.hpp"
#include "verify/image/image.hpp"

namespace plumb {

/// Writes images, and keeps the small ones of the case that was asked for last: all of its variants begin with the same bytes. Not
/// thread-safe.
class StagedImages {
 public:
  /// The image of a layout, layout.bytes() bytes; valid until the next call. Throws std::bad_alloc.
  [[nodiscard]] const std::byte* of(const ImageLayout& layout);
  void release_memory();

 private:
  struct Kept {
    Contents contents;
    Placement placement;
    std::int64_t at;  // in memory_
  };
  [[nodiscard]] const std::byte* written(LargeArray<std::byte>& memory, std::int64_t at, const ImageLayout&);

  std::vector<Kept> kept_;
  LargeArray<std::byte> memory_, last_;  // of all that are kept; of the last one that is not
  std::int64_t used_ = 0;                // bytes of memory_
};

/// Makes `memory` at least `bytes` long; what a case of gigabytes left is given back.
void make_room(LargeArray<std::byte>& memory, std::int64_t bytes);

}  // namespace plumb
