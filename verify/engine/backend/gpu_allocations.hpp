// What a variant's own cudaMalloc hands out holds poison. A driver clears large allocations and hands small ones out as they were given
// back, so that a variant which takes its memory for zeros, or finds its last answer there, would pass.
#pragma once
#include <cstdint>

namespace plumb {

/// From now on device memory that this program's own code allocates (cudaMalloc, cudaMallocAsync, cudaMallocPitch) is filled with this pattern
/// before the caller has it; 0: it is left as it comes. Code with a CUDA runtime of its own (a plug-in, cuBLAS, cuSPARSE) is not reached.
void poison_own_allocations(std::uint64_t bits);

/// Fills small blocks of the sizes that a driver hands out again as they are, and gives them back: for code that has a CUDA runtime of its own.
void poison_small_blocks(std::uint64_t bits, void* stream);

}  // namespace plumb
