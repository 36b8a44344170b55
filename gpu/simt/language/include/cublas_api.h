// Stands in for CUDA's header of this name where kernels are built for the CPU executor.
#pragma once
#define CUBLAS_API_H_  // what other headers ask for to know that cuBLAS is there
#include "gpu/simt/host/api/cublas.hpp"
#if defined(__CUDACC__)  // its own header brings the 16-bit types along
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif
