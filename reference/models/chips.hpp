// GPUs by name, for `infer --dry-run`: what fits on a GPU that is not there.
#pragma once
#include <cstdint>
#include <string_view>

namespace plumb {

struct Chip {
  const char* name;
  int sm;                     // compute capability times 10
  std::int64_t memory_bytes;  // that arrays may take: what CUDA offers, rounded down
  std::int64_t shared_bytes;  // shared memory of a block, at most
};

/// Errors: no such chip; the known ones are named.
[[nodiscard]] const Chip& find_chip(std::string_view name);

}  // namespace plumb
