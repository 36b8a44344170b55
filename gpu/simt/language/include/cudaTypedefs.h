// Stands in for CUDA's header of this name: the types of the driver's functions that the executor has are in cuda.h.
#pragma once
#include <cuda.h>
