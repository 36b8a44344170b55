// The launch limits of the chip that the executor stands in for: which launches a device refuses, and with which error.
//
// Source: CUDA C++ Programming Guide, "Compute Capabilities" (technical specifications per compute capability), and the error
// codes of cudaLaunchKernel. Registers are not known here: threads x registers is limited by `__launch_bounds__` alone.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "gpu/simt/language/vector_types.hpp"

namespace plumb::simt {

/// Limits of one compute capability; sizes in bytes.
struct ChipLimits {
  int chip;  // 90: sm_90
  std::size_t shared_default, shared_opt_in, shared_per_multiprocessor, shared_reserved_per_block;
  int threads_per_block, threads_per_multiprocessor, blocks_per_multiprocessor;
  int multiprocessors;  // of its largest part: what a cooperative launch may fill
};
inline constexpr int kDefaultChip = 90;
/// The limits of `chip`. Errors: throws Error where the table has no such chip.
const ChipLimits& limits_of(int chip);

/// The runtime's error codes that a refused launch ends with; the values are CUDA's. What each stands for, and how that is known:
///   invalid_configuration   blocks and grids with an extent of 0 or beyond its limit. From the documentation of
///                           cudaErrorInvalidConfiguration ("too many threads or blocks"), not measured.
///   invalid_value           static and dynamic shared memory beyond what is allowed: measured on an H200 for dynamic memory without
///                           the attribute. The documentation of cudaErrorInvalidConfiguration names shared memory beyond the device's
///                           too. More threads than __launch_bounds__: not measured, and the documentation names no code.
///   cooperative_too_large   from the documentation of cudaErrorCooperativeLaunchTooLarge, not measured.
///   not_supported, invalid_cluster_size
///                           clusters on a chip without, of too many blocks, or that do not divide the grid: not measured.
enum class LaunchError : int {
  none = 0,
  invalid_value = 1,
  out_of_memory = 2,
  invalid_configuration = 9,
  cooperative_too_large = 720,
  not_supported = 801,
  invalid_cluster_size = 912,
};
/// Why a device refuses a launch; empty text: it does not.
struct Refusal {
  LaunchError error = LaunchError::none;
  std::string text;
};

/// What is known of a launch before one of its threads runs, and of its blocks' shared memory so far.
struct LaunchShape {
  uint3 grid{1, 1, 1}, block{1, 1, 1};
  std::size_t dynamic_shared = 0;   // bytes, as launched with
  std::size_t static_shared = 0;    // bytes of the __shared__ variables that a block has come by
  std::size_t dynamic_allowed = 0;  // cudaFuncAttributeMaxDynamicSharedMemorySize; 0: nobody set it
  bool cooperative = false;
  int multiprocessors = 0;      // those that a cooperative launch may fill
  uint3 cluster{1, 1, 1};       // blocks of a cluster
  bool cluster_said = false;    // by the launch or by the kernel
  bool large_clusters = false;  // of more than 8 blocks are allowed
};
Refusal why_refused(const LaunchShape& launch, const ChipLimits& chip);
/// Blocks of that shape which one multiprocessor holds at once, by threads, blocks and shared memory.
int resident_blocks(std::size_t threads, std::size_t shared, const ChipLimits& chip);

}  // namespace plumb::simt
