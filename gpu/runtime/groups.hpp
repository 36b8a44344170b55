// Cooperative groups, in either world. Apart from device.hpp because the real header costs nvcc five seconds
// a file: include it only in the rung that is about it. The CPU executor offers the subset listed in
// gpu/simt/language/groups.hpp.
#pragma once
#include "gpu/runtime/device.hpp"

#if defined(PLUMB_SIMT)
#include "gpu/simt/language/groups_memcpy.hpp"
#include "gpu/simt/language/groups_reduce.hpp"
#else
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#endif
