// The kernels behind poison.hpp.
#include "gpu/runtime/poison.hpp"

#include "gpu/device/kernel.hpp"

namespace plumb {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    poison_fill(unsigned long long* to, unsigned long long bits, long long words) {
  const long long stride = static_cast<long long>(gridDim.x) * kThreads;
  for (long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x; i < words; i += stride)
    to[i] = bits;
}

__global__ void __launch_bounds__(kThreads)
    poison_count_mismatches(const unsigned long long* from, unsigned long long bits, long long words,
                            unsigned long long* mismatches) {
  const long long stride = static_cast<long long>(gridDim.x) * kThreads;
  unsigned long long mine = 0;
  for (long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x; i < words; i += stride)
    mine += from[i] != bits;
  if (mine != 0) atomicAdd(mismatches, mine);
}

// The stores are volatile: nothing reads them here, and the point is that they happen.
__global__ void __launch_bounds__(kThreads) poison_shared(unsigned long long bits, int words) {
  PLUMB_DYNAMIC_SHARED(unsigned long long, memory);
  for (int i = static_cast<int>(threadIdx.x); i < words; i += kThreads)
    static_cast<volatile unsigned long long*>(memory)[i] = bits;
}

long long blocks_for(long long words) {
  constexpr long long kMost = 132 * 16;
  const long long blocks = (words + kThreads - 1) / kThreads;
  return blocks < kMost ? blocks : kMost;
}

}  // namespace

void fill_pattern(void* to, std::uint64_t bits, std::int64_t bytes, void* stream) {
  const long long words = bytes / 8;
  launch(poison_fill, blocks_for(words), kThreads, 0, stream, static_cast<unsigned long long*>(to), bits,
         words);
}

void count_mismatches(const void* from, std::uint64_t bits, std::int64_t bytes,
                      unsigned long long* mismatches, void* stream) {
  const long long words = bytes / 8;
  launch(poison_count_mismatches, blocks_for(words), kThreads, 0, stream,
         static_cast<const unsigned long long*>(from), bits, words, mismatches);
}

void poison_shared_memory(std::uint64_t bits, std::int64_t shared_per_block_bytes, void* stream) {
  // a block of this size fills a multiprocessor, so four per multiprocessor reach every one
  launch(poison_shared, 4 * device_multiprocessors(), kThreads,
         static_cast<std::size_t>(shared_per_block_bytes), stream, bits,
         static_cast<int>(shared_per_block_bytes / 8));
}

}  // namespace plumb
