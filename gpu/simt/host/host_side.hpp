// What host_api.cpp and host_streams.cpp share: an operation of the host's is run where it is queued, or kept
// as a node of a graph while its stream is being captured.
#pragma once
#include <functional>

#include "gpu/simt/host/host_api.hpp"
#include "gpu/simt/scheduler/scheduler.hpp"

namespace plumb::simt {

/// Work in the order of a stream, given by the executor's key for it.
using Operation = std::function<void(const void* stream)>;

/// Remembers `e` for cudaGetLastError() where it is no success.
cudaError_t answer(cudaError_t e);
/// What every call answers once a finding has stopped the run.
cudaError_t host_status();

/// The executor's key of a stream: null for the legacy default stream.
void* key_of(cudaStream_t stream);
bool is_stream(cudaStream_t stream);
/// Runs `operation` in `stream`, or keeps it where the stream is being captured.
cudaError_t queue(cudaStream_t stream, cudaGraphNodeType type, Operation operation);
/// The host waits for all that `stream` holds.
cudaError_t wait_for(cudaStream_t stream);

Operation copy_operation(const cudaMemcpy3DParms& p, Here here);
Operation kernel_operation(const void* kernel, dim3 grid, dim3 block, void** arguments,
                           std::size_t shared_bytes, bool cooperative, Here here);
Operation fill_operation(const cudaMemsetParams& p, Here here);
cudaError_t check_kernel(const void* kernel);
void set_heap_limit(std::size_t bytes);  // of what kernels allocate (device_heap.cpp)

}  // namespace plumb::simt
