// What the files of this folder share: an operation of the host's is run where it is queued, or kept as a node of a graph while its stream
// is being captured.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "gpu/simt/host/api/runtime/graphs.hpp"
#include "gpu/simt/host/api/runtime/memory.hpp"
#include "gpu/simt/host/api/runtime/streams.hpp"
#include "gpu/simt/memory/textures.hpp"
#include "gpu/simt/scheduler/scheduler.hpp"

namespace plumb::simt {

constexpr std::size_t kDeviceMemory = std::size_t{8} << 30;  // bytes that the device says it has
constexpr std::size_t kPitch = 512;

/// Work in the order of a stream, given by the executor's key for it.
using Operation = std::function<void(const void* stream)>;

// ---- program.cpp ----
/// Remembers `e` for cudaGetLastError() where it is no success.
cudaError_t answer(cudaError_t e);
/// What every call answers once a finding has stopped the run.
cudaError_t host_status();
/// Ends a program with exit code 3 that asks for `what`; elsewhere it returns.
void call_not_offered(const char* what, Here here);

// ---- streams.cpp ----
bool is_stream(cudaStream_t stream);
/// Runs `operation` in `stream`, or keeps it where the stream is being captured.
cudaError_t queue(cudaStream_t stream, cudaGraphNodeType type, Operation operation);
/// Calls a function of the host's where `stream` (its key) calls it. It may tell any of the host's threads that the stream's work
/// before it is done, in ways that nobody sees: the host knows it from there on.
void call_in_stream(const void* stream, const std::function<void()>& function);
/// A copy, queued to `stream` (its key), out of the host's memory there: what functions of streams wrote must come before, where `staged` in the
/// host's own order (host/host_code.cpp).
void check_copy_source(const void* from, std::size_t bytes, const void* stream, bool staged, Here here);
void forget_host_functions();  // those of an earlier run
/// The host waits for all that `stream` holds.
cudaError_t wait_for(cudaStream_t stream);

// ---- memory.cpp ----
/// Whether `p` lies in memory that the host may not touch by itself.
bool is_plain_device(const void* p);
/// What kind of memory a copy finds there, as CUDA's page "API synchronization behavior" tells them apart.
enum class Side : unsigned char { pageable, pinned, managed, device };
Side side_of(const void* p);
/// Device memory at an address that the program has reserved (driver_memory.cpp).
void give_mapped(void* p, std::size_t bytes);
void take_mapped(void* p);
/// Memory that nodes of a graph give and take: null where there is none. It has its address at once and for good, since the graph may
/// run again, and may be touched between the two nodes alone.
void* memory_of_graphs(std::size_t bytes);
Operation give_operation(void* p, Here here);
Operation take_operation(void* p, Here here);

// ---- copies.cpp, kernels.cpp ----
/// Whether what a copy or fill moves has addresses that are not null.
bool has_addresses(const cudaMemcpy3DParms& p);
bool has_address(const cudaMemsetParams& p);
Operation copy_operation(const cudaMemcpy3DParms& p, Here here);
Operation fill_operation(const cudaMemsetParams& p, Here here);
Operation kernel_operation(const void* kernel, dim3 grid, dim3 block, void** arguments,
                           std::size_t shared_bytes, bool cooperative, Here here, uint3 cluster = {0, 0, 0},
                           bool programmatic = false);
cudaError_t check_kernel(const void* kernel);

// ---- memory.cpp ----
std::int64_t held_arrays();  // that were given and not taken back
void add_held_arrays();      // to a run that begins: they are its program's still

// ---- device_heap.cpp ----
void set_heap_limit(std::size_t bytes);  // of what kernels allocate

}  // namespace plumb::simt

// Rows of texels, a plane or layer behind another.
struct cudaArray {
  cudaChannelFormatDesc format;
  cudaExtent extent;  // height and depth are 0 where there is no such dimension
  unsigned flags;
  unsigned char* data;
  std::size_t pitch() const { return extent.width * plumb::simt::texel_bytes(format); }
  std::size_t height() const { return extent.height > 0 ? extent.height : 1; }
  std::size_t rows() const { return height() * (extent.depth > 0 ? extent.depth : 1); }
};

// A graph as it is made; streams.cpp adds to it what a captured stream is given.
struct CUgraphNode_st {
  cudaGraphNodeType type;
  plumb::simt::Operation operation;
  std::vector<CUgraphNode_st*> after;
};
struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
  CUgraphNode_st* add(cudaGraphNodeType type, plumb::simt::Operation operation,
                      std::vector<CUgraphNode_st*> after) {
    nodes.emplace_back(new CUgraphNode_st{type, std::move(operation), std::move(after)});
    return nodes.back().get();
  }
};
