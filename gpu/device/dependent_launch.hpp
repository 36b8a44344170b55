// What a primary kernel and the one that is launched after it by launch_dependent() say to each other. Source: CUDA C++ Programming Guide,
// "Programmatic Dependent Launch"; PTX ISA, "griddepcontrol".
#pragma once
#include "gpu/device/kernel.hpp"
#include "reference/core/abi.hpp"

namespace plumb {

/// In the primary: the dependent launch may begin once all blocks have called this or ended. It orders no memory.
PLUMB_DEVICE void let_dependent_begin() {
#if PLUMB_SM_AT_LEAST(90)
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// In the dependent kernel: the primary, and what that waited for, has ended, and the calling thread sees what it wrote. Returns at once in
/// another launch.
PLUMB_DEVICE void wait_for_primary() {
#if PLUMB_SM_AT_LEAST(90)
  cudaGridDependencySynchronize();
#endif
}

}  // namespace plumb
