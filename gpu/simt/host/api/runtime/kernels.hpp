// Kernels: launches by address, attributes, occupancy.
#pragma once
#include "gpu/simt/host/api/runtime/types.hpp"

struct cudaLaunchConfig_t;
namespace plumb::simt {
/// Sets cudaFuncAttributeMaxDynamicSharedMemorySize of a kernel. Errors: cudaErrorInvalidValue above the chip's limit.
cudaError_t allow_dynamic_shared(const void* kernel, int bytes);
int dynamic_shared_of(const void* kernel);
/// Sets cudaFuncAttributeNonPortableClusterSizeAllowed, of every kernel.
cudaError_t allow_large_clusters(bool allowed);
/// Clusters of that launch which the device holds at once, and the most blocks of a cluster. Errors: cudaErrorInvalidClusterSize.
cudaError_t resident_clusters_of(int* clusters, const cudaLaunchConfig_t* config);
cudaError_t largest_cluster(int* blocks);
/// Blocks of `threads` threads and `shared` bytes of shared memory that one multiprocessor holds at once.
cudaError_t resident_blocks_of(int* blocks, int threads, std::size_t shared);
template <class K>
const void* kernel_address(K* kernel) {
  return reinterpret_cast<const void*>(kernel);
}

/// How a kernel that a program passes on as a void* is called: sizes of its parameters, and a call with
/// pointers to them.
struct KernelShape {
  void (*invoke)(const void* kernel, void** arguments);
  const std::size_t* sizes;
  std::size_t count;
};
void* know_kernel(const void* kernel, const KernelShape& shape);

/// Past the checks: the argument of a launch is no memory of the kernel's.
void copy_argument(void* to, const void* from, std::size_t bytes);
template <class T>
struct Argument {
  alignas(T) unsigned char bytes[sizeof(T)];
  PLUMB_SIMT_UNTRACKED explicit Argument(const void* from) { copy_argument(bytes, from, sizeof(T)); }
  PLUMB_SIMT_UNTRACKED T& value() { return *reinterpret_cast<T*>(bytes); }
};
template <class... P>
struct KernelCall {
  template <std::size_t... I>
  PLUMB_SIMT_UNTRACKED static void with(const void* kernel, void** arguments, std::index_sequence<I...>) {
    (void)arguments;
    reinterpret_cast<void (*)(P...)>(const_cast<void*>(kernel))(Argument<P>(arguments[I]).value()...);
  }
  PLUMB_SIMT_UNTRACKED static void invoke(const void* kernel, void** arguments) {
    with(kernel, arguments, std::index_sequence_for<P...>{});
  }
};
/// A kernel as a void*, its parameters remembered. rewrite.py puts it into every cast of a kernel to void*.
template <class... P>
void* known_kernel(void (*kernel)(P...)) {
  static const std::size_t sizes[] = {sizeof(P)..., 0};
  return know_kernel(reinterpret_cast<const void*>(kernel), {&KernelCall<P...>::invoke, sizes, sizeof...(P)});
}
inline void* known_kernel(const void* kernel) { return const_cast<void*>(kernel); }
/// What is no kernel, and only has the name of a variable that holds one.
template <class T>
T known_kernel(T other) {
  return other;
}

cudaError_t launch_kernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                          std::size_t shared_bytes, cudaStream_t stream, bool cooperative, Here here,
                          uint3 cluster = {0, 0, 0}, bool programmatic = false);
}  // namespace plumb::simt

template <class K>
cudaError_t cudaLaunchKernel(K kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes = 0,
                             cudaStream_t stream = nullptr, PLUMB_SIMT_HERE) {
  return plumb::simt::launch_kernel(plumb::simt::known_kernel(kernel), grid, block, arguments, shared_bytes,
                                    stream, false, here);
}
template <class K>
cudaError_t cudaLaunchCooperativeKernel(K kernel, dim3 grid, dim3 block, void** arguments,
                                        std::size_t shared_bytes = 0, cudaStream_t stream = nullptr,
                                        PLUMB_SIMT_HERE) {
  return plumb::simt::launch_kernel(plumb::simt::known_kernel(kernel), grid, block, arguments, shared_bytes,
                                    stream, true, here);
}
// ---- launches with attributes: cooperative ones and clusters are, the rest changes no meaning ----
enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore,
  cudaLaunchAttributeAccessPolicyWindow,
  cudaLaunchAttributeCooperative,
  cudaLaunchAttributeSynchronizationPolicy,
  cudaLaunchAttributeClusterDimension,
  cudaLaunchAttributeClusterSchedulingPolicyPreference,
  cudaLaunchAttributeProgrammaticStreamSerialization,
  cudaLaunchAttributeProgrammaticEvent,
  cudaLaunchAttributePriority
};
union cudaLaunchAttributeValue {
  char pad[64];
  int cooperative, programmaticStreamSerializationAllowed, priority;
  struct {
    unsigned x, y, z;
  } clusterDim;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};
// The driver's names of them.
struct CUlaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue value;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};
namespace plumb::simt {
/// A configuration and the line that it is passed on.
struct Configured {
  const cudaLaunchConfig_t* config;
  Here place;
  Configured(const cudaLaunchConfig_t* c, PLUMB_SIMT_HERE) : config(c), place(here) {}
};
cudaError_t launch_configured(const void* kernel, const Configured& how, void** arguments);
}  // namespace plumb::simt
inline cudaError_t cudaLaunchKernelExC(plumb::simt::Configured how, const void* kernel, void** arguments) {
  return plumb::simt::launch_configured(kernel, how, arguments);
}
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(plumb::simt::Configured how, void (*kernel)(P...), A&&... arguments) {
  const auto launch = [&](std::decay_t<P>... values) {
    void* pointers[] = {const_cast<void*>(static_cast<const void*>(&values))..., nullptr};
    return plumb::simt::launch_configured(plumb::simt::known_kernel(kernel), how, pointers);
  };
  return launch(std::forward<A>(arguments)...);
}
template <class K>
cudaError_t cudaFuncSetAttribute(K kernel, cudaFuncAttribute attribute, int value) {
  if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed)
    return plumb::simt::allow_large_clusters(value != 0);
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  return plumb::simt::allow_dynamic_shared(plumb::simt::known_kernel(kernel), value);
}
template <class K>
cudaError_t cudaFuncSetCacheConfig(K, cudaFuncCache) {
  return cudaSuccess;
}
template <class K>
cudaError_t cudaFuncSetSharedMemConfig(K, cudaSharedMemConfig) {
  return cudaSuccess;
}
template <class K>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* a, K kernel) {
  *a = cudaFuncAttributes{};
  a->maxThreadsPerBlock = 1024;
  a->numRegs = 32;
  a->ptxVersion = a->binaryVersion = 80;
  a->maxDynamicSharedSizeBytes = plumb::simt::dynamic_shared_of(plumb::simt::kernel_address(kernel));
  return cudaSuccess;
}
template <class K>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, K, int threads, std::size_t shared) {
  return plumb::simt::resident_blocks_of(blocks, threads, shared);
}
template <class K>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, K k, int threads,
                                                                   std::size_t shared, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, k, threads, shared);
}
template <class K>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, K, std::size_t = 0, int limit = 0) {
  *grid = 8;
  *block = limit > 0 && limit < 256 ? limit : 256;
  return cudaSuccess;
}
template <class K>
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, K, const cudaLaunchConfig_t* config) {
  return plumb::simt::resident_clusters_of(clusters, config);
}
template <class K>
cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, K, const cudaLaunchConfig_t*) {
  return plumb::simt::largest_cluster(blocks);
}
template <class K, class F>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, K k, F, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSize(grid, block, k, 0, limit);
}
