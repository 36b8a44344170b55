// Poison for device memory: the values that a kernel reads where nothing was written. Apart from the backend because these are
// kernels.
#pragma once
#include <cstdint>

namespace plumb {

/// Fills device memory with a repeated 64-bit pattern, in stream order; `bytes` is a multiple of 8 and `to`
/// 8-byte aligned.
void fill_pattern(void* to, std::uint64_t bits, std::int64_t bytes, void* stream);

/// Adds to *mismatches (device) the number of 8-byte words of `from` that are not `bits`. As fill_pattern
/// otherwise.
void count_mismatches(const void* from, std::uint64_t bits, std::int64_t bytes,
                      unsigned long long* mismatches, void* stream);

/// Fills the shared memory of every multiprocessor with a repeated 64-bit pattern: a block of the largest
/// size on each.
void poison_shared_memory(std::uint64_t bits, std::int64_t shared_per_block_bytes, void* stream);

}  // namespace plumb
