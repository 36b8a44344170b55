// Stands in for CUDA's header of this name where kernels are built for the CPU executor.
#pragma once
#define __cuda_cuda_h__  // what other headers ask for to know that the driver is there
#include "gpu/simt/host/api.hpp"
#define CUDA_VERSION CUDART_VERSION
#if defined(__CUDACC__)
#include "gpu/simt/language/shim.hpp"
#endif
