// Cooperative groups. Apart from kernel.hpp because CUDA's header costs nvcc five seconds a file: include it only in the rung that is
// about it. On the CPU executor these names are its own headers (gpu/simt/language/include), which offer the subset that
// gpu/simt/language/groups.hpp lists.
#pragma once
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>

#include "gpu/device/kernel.hpp"
