// Stands in for CUDA's header of this name where kernels are built for the CPU executor.
#pragma once
#define CUBLAS_API_H_  // these two are what other headers ask for to know that cuBLAS is there
#define CUBLAS_V2_H_
#include <math.h>

#include "gpu/simt/host/api/blas/cublas.hpp"
#if __has_include(<cuComplex.h>)  // the toolkit's: cuBLAS's own header brings it along, and with it <math.h>
#include <cuComplex.h>
#endif
#if defined(__CUDACC__)  // and the 16-bit types
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif
