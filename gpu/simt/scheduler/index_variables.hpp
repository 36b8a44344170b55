// What the shim declares as constants: threadIdx, blockIdx, blockDim, gridDim. The executor sets them where it switches.
#pragma once
#include "gpu/simt/language/vector_types.hpp"

namespace plumb::simt {

extern uint3 running_thread asm("threadIdx");
extern uint3 running_block asm("blockIdx");
extern uint3 running_block_extent asm("blockDim");
extern uint3 running_grid_extent asm("gridDim");

}  // namespace plumb::simt
