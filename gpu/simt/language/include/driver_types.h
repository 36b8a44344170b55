// Stands in for CUDA's header of this name where kernels are built for the CPU executor.
#pragma once
#include "gpu/simt/host/host_api.hpp"
#if defined(__CUDACC__)
#include "gpu/runtime/device.hpp"
#endif
