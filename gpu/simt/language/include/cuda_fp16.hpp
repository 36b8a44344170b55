// CUDA's header of this name is the second half of cuda_fp16.h.
#pragma once
#include <cuda_fp16.h>
