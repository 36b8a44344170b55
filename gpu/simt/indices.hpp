// What the running thread sees as threadIdx, blockIdx, blockDim and gridDim.
#pragma once
#include "gpu/simt/vector_types.hpp"

namespace plumb::simt {

void set_grid(uint3 grid, uint3 block);
void set_block(uint3 index);
void set_thread(uint3 index);

}  // namespace plumb::simt
