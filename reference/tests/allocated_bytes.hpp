// Counts what C++ code takes from operator new, in all threads, while a test looks.
#pragma once
#include <cstdint>

namespace plumb::test {

/// From when it is made: the bytes allocated and not freed, at most at any time. One at a time.
class AllocatedBytes {
 public:
  AllocatedBytes();
  ~AllocatedBytes();
  AllocatedBytes(const AllocatedBytes&) = delete;
  AllocatedBytes& operator=(const AllocatedBytes&) = delete;
  [[nodiscard]] std::int64_t peak() const;
};

}  // namespace plumb::test
