// CUDA's index variables. Kernels are told that they are constant (shim.hpp), and each thread finds them so; they change where the
// executor switches threads. For that this file must not see that declaration.
#include "gpu/simt/indices.hpp"

uint3 threadIdx{0, 0, 0}, blockIdx{0, 0, 0}, blockDim{1, 1, 1}, gridDim{1, 1, 1};

namespace plumb::simt {

void set_grid(uint3 grid, uint3 block) { gridDim = grid, blockDim = block; }
void set_block(uint3 index) { blockIdx = index; }
void set_thread(uint3 index) { threadIdx = index; }

}  // namespace plumb::simt
