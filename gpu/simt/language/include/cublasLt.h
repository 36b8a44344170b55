// Stands in for CUDA's header of this name where kernels are built for the CPU executor.
#pragma once
#include "gpu/simt/host/api/blas/cublas_lt.hpp"
