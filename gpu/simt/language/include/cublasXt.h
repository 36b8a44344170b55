// Brings the executor's cuBLAS before the toolkit's header of this name, which would find its own beside it.
#pragma once
#include "gpu/simt/language/include/cublas_v2.h"
// behind it
#include_next <cublasXt.h>
