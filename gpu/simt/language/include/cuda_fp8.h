// CUDA's own header of 8-bit floats, which is plain C++ beside what the executor knows; a toolkit must be installed.
#pragma once
#include <cuda_runtime.h>

#include "gpu/simt/language/half.hpp"
#if !__has_include_next(<cuda_fp8.h>)
#error \
    "cuda_fp8.h is the CUDA toolkit's own: install one, and set CUDA_HOME where it is not in /usr/local/cuda"
#endif
#include_next <cuda_fp8.h>
