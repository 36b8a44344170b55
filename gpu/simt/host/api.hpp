// The part of the CUDA runtime that a program's host code uses, over host memory: so that a user's own .cu, with its own main(), runs on
// the CPU executor unchanged. Device memory is an array the executor watches; streams, events and graphs order launches as CUDA says they
// do, and nothing else does. A program that never calls begin_run() gets a run at its first launch or allocation, with the seed in
// PLUMB_SIMT_SEED, and its findings on stderr when it exits, with exit code 1 if there are any.
#pragma once
#if !defined(__cplusplus)
#include "gpu/simt/host/api/runtime/c_calls.h"
#else
extern "C++" {  // cuComplex.h includes <vector_types.h> from within extern "C"
#include "gpu/simt/host/api/driver/driver.hpp"
#include "gpu/simt/host/api/driver/driver_arrays.hpp"
#include "gpu/simt/host/api/driver/driver_memory.hpp"
#include "gpu/simt/host/api/driver/driver_modules.hpp"
#include "gpu/simt/host/api/runtime/array_names.hpp"
#include "gpu/simt/host/api/runtime/conditional_graphs.hpp"
#include "gpu/simt/host/api/runtime/devices.hpp"
#include "gpu/simt/host/api/runtime/graphs.hpp"
#include "gpu/simt/host/api/runtime/kernels.hpp"
#include "gpu/simt/host/api/runtime/library_types.hpp"
#include "gpu/simt/host/api/runtime/memory.hpp"
#include "gpu/simt/host/api/runtime/not_offered.hpp"
#include "gpu/simt/host/api/runtime/streams.hpp"
#include "gpu/simt/host/api/runtime/tensor_maps.hpp"
#include "gpu/simt/host/api/textures/textures.hpp"
}
#endif
