// Launches of kernels by address, and what is known of each.
#include "gpu/simt/host/api/runtime/kernels.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

#include "gpu/simt/host/api/runtime/operations.hpp"
#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

std::unordered_map<const void*, KernelShape>& known_kernels() {
  static auto& kernels =
      *new std::unordered_map<const void*, KernelShape>;  // outlives the program's own statics
  return kernels;
}

}  // namespace

void* know_kernel(const void* kernel, const KernelShape& shape) {
  const auto lock = enter_engine();
  known_kernels()[kernel] = shape;
  return const_cast<void*>(kernel);
}

void copy_argument(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

cudaError_t check_kernel(const void* kernel) {
  if (known_kernels().count(kernel) != 0) return cudaSuccess;
  std::fputs(
      "a kernel is launched by an address of which the executor never saw the parameters: cast the kernel's "
      "name to void* where a "
      ".cu file can see it, or pass the kernel itself\n",
      stderr);
  return cudaErrorInvalidDeviceFunction;
}

Operation kernel_operation(const void* kernel, dim3 grid, dim3 block, void** arguments,
                           std::size_t shared_bytes, bool cooperative, Here here, uint3 cluster,
                           bool programmatic) {
  using Value = std::vector<std::max_align_t>;
  const KernelShape shape = known_kernels().at(kernel);
  auto values = std::make_shared<std::vector<Value>>();
  for (std::size_t i = 0; i < shape.count; ++i) {
    values->emplace_back(shape.sizes[i] / sizeof(std::max_align_t) + 1);
    std::memcpy(values->back().data(), arguments[i], shape.sizes[i]);
  }
  return [=](const void* stream) {
    std::vector<void*> pointers;
    for (Value& v : *values) pointers.push_back(v.data());
    launch_packed(kernel, shape.invoke, pointers.data(),
                  {{},
                   kernel,
                   grid,
                   block,
                   shared_bytes,
                   const_cast<void*>(stream),
                   cooperative,
                   false,
                   here,
                   nullptr,
                   nullptr,
                   cluster,
                   programmatic});
  };
}

cudaError_t launch_kernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                          std::size_t shared_bytes, cudaStream_t stream, bool cooperative, Here here,
                          uint3 cluster, bool programmatic) {
  begin_by_itself();
  const auto lock = enter_engine();
  const cudaError_t bad = check_kernel(kernel);
  if (bad != cudaSuccess) return answer(bad);
  current().run.refusal = Refusal{};
  const cudaError_t e = queue(stream, cudaGraphNodeTypeKernel,
                              kernel_operation(kernel, grid, block, arguments, shared_bytes, cooperative,
                                               here, cluster, programmatic));
  return current().run.refusal.text.empty() ? e : static_cast<cudaError_t>(current().run.refusal.error);
}

cudaError_t launch_configured(const void* kernel, const Configured& how, void** arguments) {
  const cudaLaunchConfig_t& c = *how.config;
  bool cooperative = false, programmatic = false;
  uint3 cluster{0, 0, 0};
  for (unsigned i = 0; i < c.numAttrs; ++i) {
    const cudaLaunchAttribute& a = c.attrs[i];
    if (a.id == cudaLaunchAttributeCooperative) cooperative = a.val.cooperative != 0;
    if (a.id == cudaLaunchAttributeClusterDimension)
      cluster = {a.val.clusterDim.x, a.val.clusterDim.y, a.val.clusterDim.z};
    if (a.id == cudaLaunchAttributeProgrammaticStreamSerialization)
      programmatic = a.val.programmaticStreamSerializationAllowed != 0;
  }
  return launch_kernel(kernel, c.gridDim, c.blockDim, arguments, c.dynamicSmemBytes, c.stream, cooperative,
                       how.place, cluster, programmatic);
}

cudaError_t allow_large_clusters(bool allowed) {
  begin_by_itself();
  const auto lock = enter_engine();
  current().schedule.large_clusters = current().schedule.large_clusters || allowed;
  return cudaSuccess;
}

cudaError_t resident_clusters_of(int* clusters, const cudaLaunchConfig_t* config) {
  unsigned blocks = 1;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& a = config->attrs[i];
    if (a.id == cudaLaunchAttributeClusterDimension)
      blocks = a.val.clusterDim.x * a.val.clusterDim.y * a.val.clusterDim.z;
  }
  int most = 0, held = 0;
  largest_cluster(&most);
  if (blocks < 1 || blocks > static_cast<unsigned>(most)) return answer(cudaErrorInvalidClusterSize);
  const dim3 b = config->blockDim;
  const cudaError_t e =
      resident_blocks_of(&held, static_cast<int>(b.x * b.y * b.z), config->dynamicSmemBytes);
  *clusters = held * current().run.options.multiprocessors / static_cast<int>(blocks);
  return e;
}

cudaError_t largest_cluster(int* blocks) {
  begin_by_itself();
  *blocks = current().schedule.large_clusters ? 16 : 8;
  return cudaSuccess;
}

cudaError_t allow_dynamic_shared(const void* kernel, int bytes) {
  begin_by_itself();
  const auto lock = enter_engine();
  if (bytes < 0 || static_cast<std::size_t>(bytes) > current().run.chip->shared_opt_in)
    return answer(cudaErrorInvalidValue);
  const auto allowed = static_cast<std::size_t>(bytes);
  current().schedule.dynamic_allowed[kernel] = allowed;
  current().schedule.most_dynamic_allowed = std::max(current().schedule.most_dynamic_allowed, allowed);
  return cudaSuccess;
}

cudaError_t resident_blocks_of(int* blocks, int threads, std::size_t shared) {
  begin_by_itself();
  if (threads <= 0) return answer(cudaErrorInvalidValue);
  const bool fits =
      threads <= current().run.chip->threads_per_block && shared <= current().run.chip->shared_opt_in;
  *blocks = fits ? resident_blocks(static_cast<std::size_t>(threads), shared, *current().run.chip) : 0;
  return cudaSuccess;
}

int dynamic_shared_of(const void* kernel) {
  const auto it = current().schedule.dynamic_allowed.find(kernel);
  return static_cast<int>(it != current().schedule.dynamic_allowed.end() ? it->second : 48 * 1024);
}

}  // namespace plumb::simt
