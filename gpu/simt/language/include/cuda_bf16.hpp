// CUDA's header of this name is the second half of cuda_bf16.h.
#pragma once
#include <cuda_bf16.h>
